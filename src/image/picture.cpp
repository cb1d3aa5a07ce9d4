// Draws a plane of an array as a PNG or JPEG file. Rows pass through bounded memory, once to find ranges that are not
// given and once to be drawn. Values map linearly to 0 (black) … 255 (white); values outside the range are clamped; NaN
// is black. Several channels are added in their colours.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <type_traits>

#include "base/try.hpp"
#include "base/url.hpp"
#include "codec/number.hpp"
#include "image/picture_plane.hpp"
#include "io/files.hpp"
#include "ome/image.hpp"

namespace sherd {
namespace {

float from_half(std::uint16_t bits, bool bfloat) {
  if (bfloat) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  const int exponent = bits >> 10 & 31;
  const float fraction = static_cast<float>(bits & 1023);
  const float size = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

// Calls visit(value) for each element; false if the type is not real and cannot be drawn.
template <class Visit>
bool visit_elements(DType::Kind kind, std::span<const std::byte> elements, Visit visit) {
  const auto each = [&]<class T>(T /*type*/) {
    const auto* values = reinterpret_cast<const T*>(elements.data());
    for (std::size_t i = 0; i < elements.size() / sizeof(T); ++i) visit(values[i]);
    return true;
  };
  switch (kind) {
    using enum DType::Kind;
    case boolean:
    case uint8:
      return each(std::uint8_t{});
    case int8:
      return each(std::int8_t{});
    case int16:
      return each(std::int16_t{});
    case uint16:
      return each(std::uint16_t{});
    case int32:
      return each(std::int32_t{});
    case uint32:
      return each(std::uint32_t{});
    case int64:
      return each(std::int64_t{});
    case uint64:
      return each(std::uint64_t{});
    case float32:
      return each(float{});
    case float64:
      return each(double{});
    case float16:
    case bfloat16: {
      const auto* values = reinterpret_cast<const std::uint16_t*>(elements.data());
      for (std::size_t i = 0; i < elements.size() / 2; ++i) visit(from_half(values[i], kind == bfloat16));
      return true;
    }
    default:
      return false;
  }
}

template <class Visit>
bool visit_values(DType::Kind kind, std::span<const std::byte> elements, Visit visit) {
  return visit_elements(kind, elements, [&](auto value) { visit(static_cast<double>(value)); });
}

// Rows of the plane, a band at a time, with the channels of an element adjacent; a plane of one band is read once.
class Bands {
 public:
  Bands(Array array, PicturePlane plane, std::uint64_t budget) : array_(std::move(array)), plane_(std::move(plane)) {
    channels_ = plane_.channel ? plane_.box.shape[*plane_.channel] : 1;
    row_bytes_ = width() * channels_ * array_.dtype().size();
    const std::uint64_t fitting = std::max<std::uint64_t>(1, budget / row_bytes_);
    const std::uint64_t chunk = array_.chunks().empty() ? 1 : array_.chunks()[plane_.row];
    rows_ = std::min(height(), fitting >= chunk ? fitting - fitting % chunk : fitting);
  }
  [[nodiscard]] std::uint64_t height() const { return plane_.box.shape[plane_.row]; }
  [[nodiscard]] std::uint64_t width() const { return plane_.box.shape[plane_.column]; }
  [[nodiscard]] std::uint64_t channels() const { return channels_; }
  [[nodiscard]] std::uint64_t row_bytes() const { return row_bytes_; }
  [[nodiscard]] const PicturePlane& plane() const { return plane_; }
  [[nodiscard]] DType::Kind kind() const { return array_.dtype().kind(); }

  /// Calls visit(number of the first row, rows).
  Result<void> each(const std::function<Result<void>(std::uint64_t, std::span<const std::byte>)>& visit) {
    for (std::uint64_t first = 0; first < height(); first += rows_) {
      Box box = plane_.box;
      box.origin[plane_.row] = first;
      box.shape[plane_.row] = std::min(rows_, height() - first);
      if (!(rows_ == height() && buffer_.size() != 0)) {
        SHERD_TRY(buffer_.resize(row_bytes_ * box.shape[plane_.row]));
        AnyView view{buffer_.data(), array_.dtype(), box.shape, std::vector<std::int64_t>(box.shape.size(), 0)};
        const auto size = static_cast<std::int64_t>(array_.dtype().size());
        if (plane_.channel) view.strides[*plane_.channel] = size;
        view.strides[plane_.column] = size * static_cast<std::int64_t>(channels_);
        view.strides[plane_.row] = static_cast<std::int64_t>(row_bytes_);
        SHERD_TRY(in_store(array_.read(box, view), array_.store()->url()));
      }
      SHERD_TRY(visit(first, buffer_.span()));
    }
    return {};
  }

 private:
  Array array_;
  PicturePlane plane_;
  std::uint64_t channels_ = 1, row_bytes_ = 0, rows_ = 0;
  Buffer buffer_;
};

// How the values of one channel are converted to brightness.
struct Shade {
  double black = INFINITY, white = -INFINITY;
  std::uint32_t colour = 0xffffff;  // of white
  bool shown = true;

  [[nodiscard]] double share(double value) const {
    const double share = white == black ? (value > black ? 1.0 : 0.0) : (value - black) / (white - black);
    return share > 0 ? std::min(share, 1.0) : 0;  // NaN is 0
  }
};

/// Whether the window is known, and not merely the default of a pyramid: with the default of a type of 16 bits or more,
/// most pictures would be black.
bool is_known(const std::pair<double, double>& window, const DType& dtype) {
  if (is_integer(dtype) && dtype.size() == 1) return true;
  const auto bounds = bounds_of(dtype);
  const double least = *bounds.first.as_double(), greatest = *bounds.second.as_double();
  if (!is_integer(dtype)) return window != std::pair(least, greatest);
  return window.first > least || window.second < greatest;
}

std::vector<Shade> known_shades(const Bands& bands, const ImageFacts& facts, const DType& dtype,
                                const PictureOptions& options) {
  const auto c = facts.find("c");
  const bool chosen = c && bands.plane().channel != c;  // a single channel of several is shown in gray
  const std::uint64_t first = chosen ? bands.plane().box.origin[*c] : 0;
  std::vector<Shade> shades(bands.channels());
  bool any = false;
  for (std::size_t i = 0; i < shades.size(); ++i) {
    shades[i].colour = default_colour(i, shades.size());
    if (first + i < facts.channels.size() && (c || facts.channels.size() == 1)) {
      const ImageChannel& known = facts.channels[first + i];
      if (known.window && is_known(*known.window, dtype)) std::tie(shades[i].black, shades[i].white) = *known.window;
      if (known.colour && !chosen) shades[i].colour = *known.colour;
      shades[i].shown = known.active || shades.size() == 1;
    }
    if (bands.kind() == DType::Kind::boolean) std::tie(shades[i].black, shades[i].white) = std::pair(0.0, 1.0);
    if (options.range) std::tie(shades[i].black, shades[i].white) = *options.range;
    any = any || shades[i].shown;
  }
  for (Shade& shade : shades) shade.shown = shade.shown || !any;
  return shades;
}

// Determines the range of each channel whose range is not known.
Result<void> find_ranges(Bands& bands, std::vector<Shade>& shades) {
  std::vector<bool> wanted;
  for (const Shade& shade : shades) wanted.push_back(shade.black == INFINITY);
  if (std::ranges::find(wanted, true) == wanted.end()) return {};
  SHERD_TRY(bands.each([&](std::uint64_t /*first*/, std::span<const std::byte> rows) -> Result<void> {
    std::size_t i = 0;
    visit_values(bands.kind(), rows, [&](double value) {
      Shade& shade = shades[i];
      if (wanted[i] && std::isfinite(value)) {
        shade.black = std::min(shade.black, value);
        shade.white = std::max(shade.white, value);
      }
      i = i + 1 == shades.size() ? 0 : i + 1;
    });
    return {};
  }));
  for (std::size_t i = 0; i < shades.size(); ++i)
    if (wanted[i] && !(shades[i].black <= shades[i].white))
      std::tie(shades[i].black, shades[i].white) = std::pair(0, 1);
  return {};
}

std::byte level(double share) { return static_cast<std::byte>(std::lround(255 * std::min(share, 1.0))); }

// The image's colour for an id, otherwise a fixed one: any hue, never dark. 0 is black.
std::uint32_t colour_of(std::uint64_t id, const LabelColours& known) {
  if (const auto at = known.find(id); at != known.end()) return at->second;
  if (id == 0) return 0;
  std::uint64_t bits = id + 0x9e3779b97f4a7c15;  // splitmix64
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  const double hue = static_cast<double>(bits & 0xffff) / 65536 * 6;
  const double value = 0.7 + 0.3 * static_cast<double>(bits >> 16 & 0xff) / 255;
  const double saturation = 0.55 + 0.45 * static_cast<double>(bits >> 24 & 0xff) / 255;
  const auto part = [&](double shift) {
    const double at = std::fmod(shift + hue, 6);
    const double amount = std::max(0.0, std::min({at, 4 - at, 1.0}));
    return std::to_integer<std::uint32_t>(level(value * (1 - saturation * amount)));
  };
  return part(5) << 16 | part(3) << 8 | part(1);
}

void put_colour(std::byte* to, std::uint32_t colour) {
  for (int i = 0; i < 3; ++i) to[i] = static_cast<std::byte>(colour >> (16 - 8 * i) & 0xff);
}

enum class Paint : std::uint8_t { gray, colours, labels, samples, opaque_samples };

// Converts one row of elements to pixels.
class Painter {
 public:
  Painter(const Bands& bands, Paint paint, std::vector<Shade> shades, LabelColours labels)
      : kind_(bands.kind()), paint_(paint), shades_(std::move(shades)), labels_(std::move(labels)) {
    samples_ = bands.channels();
    pixel_bytes_ = paint == Paint::gray ? 1 : paint == Paint::samples ? samples_ : 3;
  }
  [[nodiscard]] std::uint64_t pixel_bytes() const { return pixel_bytes_; }

  void row(std::span<const std::byte> elements, std::byte* to) {
    switch (paint_) {
      case Paint::gray:
        visit_values(kind_, elements, [&](double value) { *to++ = level(shades_[0].share(value)); });
        return;
      case Paint::colours:
        return add_colours(elements, to);
      case Paint::labels:
        visit_elements(kind_, elements, [&](auto value) {
          if constexpr (std::is_integral_v<decltype(value)>)
            put_colour(to, colour_of(static_cast<std::uint64_t>(value), labels_));
          to += 3;
        });
        return;
      case Paint::samples:
        std::ranges::copy(elements, to);
        return;
      case Paint::opaque_samples:  // on black
        for (std::size_t at = 0; at < elements.size(); at += samples_)
          for (std::size_t i = 0; i < 3; ++i)
            *to++ = static_cast<std::byte>((std::to_integer<unsigned>(elements[at + i]) *
                                                (samples_ == 4 ? std::to_integer<unsigned>(elements[at + 3]) : 255) +
                                            127) /
                                           255);
    }
  }

 private:
  void add_colours(std::span<const std::byte> elements, std::byte* to) {
    double light[3] = {};
    std::size_t i = 0;
    visit_values(kind_, elements, [&](double value) {
      const Shade& shade = shades_[i];
      const double share = shade.shown ? shade.share(value) : 0;
      for (int k = 0; k < 3; ++k) light[k] += share * static_cast<double>(shade.colour >> (16 - 8 * k) & 0xff) / 255;
      if (++i < shades_.size()) return;
      for (double& each : light) *to++ = level(std::exchange(each, 0));
      i = 0;
    });
  }

  DType::Kind kind_;
  Paint paint_;
  std::vector<Shade> shades_;
  LabelColours labels_;
  std::uint64_t samples_ = 1, pixel_bytes_ = 1;
};

// The maximum side that the caller may choose, unless the plane itself is longer: that of a JPEG.
constexpr std::uint64_t kLongestChosen = 65535;

// A line of pixels shows nothing.
constexpr std::uint64_t kShortest = 2;

// The picture's sides in pixels.
Result<std::pair<std::uint64_t, std::uint64_t>> sides(const Bands& bands, std::optional<std::uint64_t> chosen_width) {
  const std::uint64_t limit = std::max({kLongestChosen, bands.width(), bands.height()});
  if (chosen_width && (*chosen_width < kShortest || *chosen_width > limit))
    return invalid_argument("must be from " + std::to_string(kShortest) + " to " + std::to_string(limit) +
                            " pixels, not " + std::to_string(*chosen_width))
        .in_member("width");
  const PicturePlane& plane = bands.plane();
  const bool square = std::abs(plane.row_step - plane.column_step) <= 1e-6 * plane.row_step;
  if (square && chosen_width.value_or(bands.width()) == bands.width()) return std::pair(bands.width(), bands.height());
  const double step = std::min(plane.row_step, plane.column_step);
  double width = static_cast<double>(bands.width()) * (square ? 1 : plane.column_step / step);
  double height = static_cast<double>(bands.height()) * (square ? 1 : plane.row_step / step);
  // Spacings that differ too much, unlike those of an image, would make it huge.
  constexpr double kLongest = 16384;
  const double most = std::max({kLongest, static_cast<double>(bands.width()), static_cast<double>(bands.height())});
  double factor = std::min(1.0, most / std::max(width, height));
  if (chosen_width) factor = static_cast<double>(*chosen_width) / width;
  width *= factor;
  height *= factor;
  if (chosen_width && height > static_cast<double>(limit))
    return invalid_argument("is " + std::to_string(*chosen_width) + ", which makes the picture higher than " +
                            std::to_string(limit) + " pixels; choose a smaller width")
        .in_member("width");
  if (chosen_width && std::llround(height) < static_cast<long long>(kShortest))
    return invalid_argument("is " + std::to_string(*chosen_width) +
                            ", which makes the picture one pixel high; choose a larger width")
        .in_member("width");
  return std::pair(std::max(kShortest, static_cast<std::uint64_t>(std::llround(width))),
                   std::max(kShortest, static_cast<std::uint64_t>(std::llround(height))));
}

// The element at the middle of pixel i.
std::uint64_t nearest(std::uint64_t i, std::uint64_t pixels, std::uint64_t elements) {
  if (pixels == elements) return i;
  const double at = (static_cast<double>(i) + 0.5) * static_cast<double>(elements) / static_cast<double>(pixels);
  return std::min(elements - 1, static_cast<std::uint64_t>(at));
}

Result<void> draw(Bands& bands, Painter& painter, const ImageInfo& info, ImageWriter& writer) {
  const std::uint64_t size = painter.pixel_bytes();
  Buffer painted, stretched;
  SHERD_TRY(painted.resize(bands.width() * size));
  SHERD_TRY(stretched.resize(info.width * size));
  std::uint64_t next = 0;  // row of the picture
  return bands.each([&](std::uint64_t first, std::span<const std::byte> rows) -> Result<void> {
    const std::uint64_t end = first + rows.size() / bands.row_bytes();
    std::optional<std::uint64_t> present;
    for (; next < info.height; ++next) {
      const std::uint64_t row = nearest(next, info.height, bands.height());
      if (row >= end) return {};
      if (present != row) {
        painter.row(rows.subspan((row - first) * bands.row_bytes(), bands.row_bytes()), painted.data());
        for (std::uint64_t x = 0; x < info.width; ++x)
          std::copy_n(painted.data() + nearest(x, info.width, bands.width()) * size, size, stretched.data() + x * size);
        present = row;
      }
      SHERD_TRY(writer.write(stretched.span()));
    }
    return {};
  });
}

Result<CreateImage> writer_for(const std::string& file) {
  constexpr std::string_view kJpeg[] = {".jpg", ".jpeg"}, kPng[] = {".png"};
  if (has_suffix(file, kJpeg)) return create_jpeg;
  const std::string suffix = std::filesystem::path(file).extension().string();
  if (suffix.empty() || has_suffix(file, kPng)) return create_png;
  return invalid_argument("a picture must be a .png, .jpg or .jpeg file, not '" + suffix + "'").in_key(file);
}

}  // namespace

Result<PicturePlane> draw_picture(const Array& array, const std::string& file, const PictureOptions& options) {
  const DType dtype = array.dtype();
  if (!visit_elements(dtype.kind(), {}, [](auto /*value*/) {}))
    return unsupported("a picture needs real numbers, the array has '" + dtype.name() + "'");
  // The difference, by which values are scaled, is finite only if both are.
  if (options.range && !std::isfinite(options.range->second - options.range->first))
    return invalid_argument("must be two finite numbers, black and white").in_member("range");
  SHERD_TRY(create, writer_for(file));
  SHERD_TRY(facts, find_image_facts(array));
  SHERD_TRY(plane, find_picture_plane(array, facts, options));
  Bands bands(array, std::move(plane), array.config().memory_budget / 2);
  SHERD_TRY(size, sides(bands, options.width));
  std::vector<Shade> shades = known_shades(bands, facts, dtype, options);
  Paint paint = shades.size() > 1 || shades[0].colour != 0xffffff ? Paint::colours : Paint::gray;
  if (bands.plane().are_samples) paint = create == create_png ? Paint::samples : Paint::opaque_samples;
  if (facts.labels && (dtype == DType::bool_ || is_integer(dtype)) && !options.range) paint = Paint::labels;
  if (paint == Paint::gray || paint == Paint::colours) SHERD_TRY(find_ranges(bands, shades));
  Painter painter(bands, paint, std::move(shades), std::move(facts.label_colours));
  const ImageInfo info{size.second, size.first, painter.pixel_bytes(), DType::uint8};
  SHERD_TRY(check_image(info, array.config().limits));
  SHERD_TRY(writer, create(file, info, WriteMode{true, array.config().durable}));
  SHERD_TRY(draw(bands, painter, info, *writer));
  SHERD_TRY(writer->finish());
  return bands.plane();
}

Result<void> picture(const Array& array, const std::string& file, const PictureOptions& options) {
  SHERD_TRY(draw_picture(array, file, options));
  return {};
}

}  // namespace sherd
