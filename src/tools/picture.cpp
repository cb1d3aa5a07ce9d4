// A plane of an array as a PNG: rows pass through bounded memory, once to find the range where none is given and once
// to be drawn. Values map linearly to 0 (black) … 255 (white), outside the range to its ends; NaN is black.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

#include "base/try.hpp"
#include "base/url.hpp"
#include "tools/files.hpp"

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

// Calls visit(value) for each element; false where the type is not real, of which there is nothing to draw.
template <class Visit>
bool visit_values(DType::Kind kind, std::span<const std::byte> elements, Visit visit) {
  const auto each = [&]<class T>(T /*type*/) {
    const auto* values = reinterpret_cast<const T*>(elements.data());
    for (std::size_t i = 0; i < elements.size() / sizeof(T); ++i) visit(static_cast<double>(values[i]));
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
      for (std::size_t i = 0; i < elements.size() / 2; ++i)
        visit(static_cast<double>(from_half(values[i], kind == bfloat16)));
      return true;
    }
    default:
      return false;
  }
}

// The plane as a box of the array, and which of its dimensions are rows and columns.
struct Plane {
  Box box;
  std::size_t row_axis = 0, column_axis = 0;
  std::uint64_t channels = 1;
};

Result<Plane> find_plane(const Array& array, const PictureOptions& options) {
  const Shape shape = array.shape();
  const auto names = array.dimension_names();
  const bool coloured = shape.size() > 2 && !names.empty() && names.back() == "c" && array.dtype() == DType::uint8 &&
                        (shape.back() == 3 || shape.back() == 4);
  const std::size_t rank = shape.size() - (coloured ? 1 : 0);
  if (rank < 2) return invalid_argument("a picture needs two dimensions, the array has shape " + to_string(shape));
  Plane plane{{Shape(shape.size(), 0), shape}, rank - 2, rank - 1, coloured ? shape.back() : 1};
  if (rank > 2) {
    if (options.axis >= rank)
      return invalid_argument("is " + std::to_string(options.axis) + ", but the array has axes 0 to " +
                              std::to_string(rank - 1))
          .in_member("axis");
    if (options.index >= shape[options.axis])
      return invalid_argument("is " + std::to_string(options.index) + ", but axis " + std::to_string(options.axis) +
                              " has length " + std::to_string(shape[options.axis]))
          .in_member("index");
    // The last two axes that are left.
    std::vector<std::size_t> left;
    for (std::size_t d = 0; d < rank; ++d)
      if (d != options.axis) left.push_back(d);
    plane.row_axis = left[left.size() - 2];
    plane.column_axis = left.back();
    for (std::size_t d = 0; d < rank; ++d)
      if (d != plane.row_axis && d != plane.column_axis) plane.box.shape[d] = 1;
    plane.box.origin[options.axis] = options.index;
  } else if (options.axis != 0 || options.index != 0) {
    return invalid_argument("the array has two dimensions; there is no axis to cut across");
  }
  if (element_count(plane.box.shape).value_or(0) == 0)
    return invalid_argument("the plane has no elements, the array has shape " + to_string(shape));
  return plane;
}

// Rows of the plane, a band at a time; a plane of one band is read once.
class Bands {
 public:
  Bands(Array array, Plane plane, std::uint64_t budget) : array_(std::move(array)), plane_(std::move(plane)) {
    row_bytes_ = plane_.box.shape[plane_.column_axis] * plane_.channels * array_.dtype().size();
    const std::uint64_t fitting = std::max<std::uint64_t>(1, budget / row_bytes_);
    const std::uint64_t chunk = array_.chunks().empty() ? 1 : array_.chunks()[plane_.row_axis];
    rows_ = std::min(height(), fitting >= chunk ? fitting - fitting % chunk : fitting);
  }
  [[nodiscard]] std::uint64_t height() const { return plane_.box.shape[plane_.row_axis]; }
  [[nodiscard]] std::uint64_t width() const { return plane_.box.shape[plane_.column_axis]; }

  Result<void> each(const std::function<Result<void>(std::span<const std::byte>)>& visit) {
    for (std::uint64_t first = 0; first < height(); first += rows_) {
      Box box = plane_.box;
      box.origin[plane_.row_axis] = first;
      box.shape[plane_.row_axis] = std::min(rows_, height() - first);
      if (!(rows_ == height() && buffer_.size() != 0)) {
        SHERD_TRY(buffer_.resize(row_bytes_ * box.shape[plane_.row_axis]));
        const auto plane = AnyView::dense(buffer_.data(), array_.dtype(), box.shape);
        SHERD_TRY(in_store(array_.read(box, plane), array_.store()->url()));
      }
      SHERD_TRY(visit(buffer_.span()));
    }
    return {};
  }

 private:
  Array array_;
  Plane plane_;
  std::uint64_t row_bytes_ = 0, rows_ = 0;
  Buffer buffer_;
};

Result<std::pair<double, double>> find_range(Bands& bands, const DType& dtype) {
  if (dtype == DType::bool_) return std::pair(0.0, 1.0);
  double low = INFINITY, high = -INFINITY;
  SHERD_TRY(bands.each([&](std::span<const std::byte> rows) -> Result<void> {
    visit_values(dtype.kind(), rows, [&](double value) {
      if (!std::isfinite(value)) return;
      low = std::min(low, value);
      high = std::max(high, value);
    });
    return {};
  }));
  return low <= high ? std::pair(low, high) : std::pair(0.0, 1.0);
}

Result<void> draw(Bands& bands, const DType& dtype, std::pair<double, double> range, ImageWriter& writer) {
  const auto [black, white] = range;
  Buffer gray;
  SHERD_TRY(bands.each([&](std::span<const std::byte> rows) -> Result<void> {
    SHERD_TRY(gray.resize(rows.size() / dtype.size()));
    std::byte* to = gray.data();
    visit_values(dtype.kind(), rows, [&](double value) {
      const double share = white == black ? (value > black ? 1.0 : 0.0) : (value - black) / (white - black);
      *to++ = static_cast<std::byte>(share > 0 ? std::lround(255 * std::min(share, 1.0)) : 0);
    });
    return writer.write(gray.span());
  }));
  return {};
}

}  // namespace

Result<void> picture(const Array& array, const std::string& png, const PictureOptions& options) {
  const DType dtype = array.dtype();
  if (!visit_values(dtype.kind(), {}, [](double /*value*/) {}))
    return unsupported("a picture needs real numbers, the array has '" + dtype.name() + "'");
  // The difference, by which values are scaled, is finite only where both are.
  if (options.range && !std::isfinite(options.range->second - options.range->first))
    return invalid_argument("must be two finite numbers, black and white").in_member("range");
  SHERD_TRY(plane, find_plane(array, options));
  const std::uint64_t channels = plane.channels;
  Bands bands(array, std::move(plane), array.config().memory_budget / 2);
  auto range = options.range;
  if (!range && channels == 1) {
    SHERD_TRY(found, find_range(bands, dtype));
    range = found;
  }
  const ImageInfo info{bands.height(), bands.width(), channels, DType::uint8};
  remove_leftovers(std::filesystem::path(png).parent_path().string());
  SHERD_TRY(writer, create_png(png, info, WriteMode{true, array.config().durable}));
  const auto as_it_is = [&](std::span<const std::byte> rows) { return writer->write(rows); };
  SHERD_TRY(channels > 1 ? bands.each(as_it_is) : draw(bands, dtype, *range, *writer));
  return writer->finish();
}

}  // namespace sherd
