// Reads TIFF files through libtiff: all pages of one size that are not thumbnails; strips or tiles; samples interleaved
// or in planes; any byte order and compression of libtiff; 1, 8, 16, 32 and 64 bit integers, floats and complex.
// ImageJ's description or OME-XML says what pages are (io/hyperstack.hpp); ImageJ's files above 4 GiB list one page and
// contain many. libtiff's messages become errors here; its warnings are dropped.
#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "io/files.hpp"
#include "io/hyperstack.hpp"
#include "io/image.hpp"
#include "io/tiff_session.hpp"

namespace sherd {

namespace {

template <class T>
T tag_or_default(TIFF* tiff, std::uint32_t tag, T value) {
  TIFFGetFieldDefaulted(tiff, tag, &value);
  return value;
}

Result<DType> sample_dtype(std::uint16_t bits, std::uint16_t format) {
  const auto pick = [bits](std::initializer_list<std::pair<unsigned, DType>> known) -> std::optional<DType> {
    for (const auto& [wide, dtype] : known)
      if (wide == bits) return dtype;
    return std::nullopt;
  };
  std::optional<DType> dtype;
  if (format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID)
    dtype = pick({{1, DType::bool_}, {8, DType::uint8}, {16, DType::uint16}, {32, DType::uint32}, {64, DType::uint64}});
  else if (format == SAMPLEFORMAT_INT)
    dtype = pick({{8, DType::int8}, {16, DType::int16}, {32, DType::int32}, {64, DType::int64}});
  else if (format == SAMPLEFORMAT_IEEEFP)
    dtype = pick({{16, DType::float16}, {32, DType::float32}, {64, DType::float64}});
  else if (format == SAMPLEFORMAT_COMPLEXIEEEFP)
    dtype = pick({{64, DType::complex64}, {128, DType::complex128}});
  if (dtype) return *dtype;
  return unsupported("tiff: samples of " + std::to_string(bits) + " bits in format " + std::to_string(format) +
                     " are not supported");
}

// Rows of samples as libtiff returns them, which are bits for bool.
std::uint64_t packed_bytes(const ImageInfo& info, std::uint64_t samples) {
  return info.dtype == DType::bool_ ? ceil_div(samples, 8) : samples * info.dtype.size();
}

class TiffFile final : public ImageFile {
 public:
  TiffFile(std::unique_ptr<InputFile> file, const ImportOptions& options)
      : file_(std::move(file)), session_(file_->path()), limits_(options.create.config.limits) {}

  Result<void> start(const ImportOptions& options);
  [[nodiscard]] const ImageInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::uint64_t pages() const noexcept override { return stack_ ? stack_->planes() : pages_.size(); }
  [[nodiscard]] std::optional<PageAxes> page_axes() const override {
    return stack_ ? std::optional(PageAxes{stack_->axes, stack_->lengths}) : std::nullopt;
  }
  [[nodiscard]] Json attributes() const override;
  Result<void> read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) override;

 private:
  // How the present page is divided: a band is a row of tiles, or one strip.
  struct Layout {
    bool tiled = false, planar = false;
    std::uint64_t piece_width = 0, piece_rows = 0, piece_bytes = 0;
  };
  TIFF* tiff() noexcept { return session_.tiff(); }
  Result<ImageInfo> describe();
  Result<void> find_pages();
  Result<std::uint64_t> read_number(std::uint64_t at, std::size_t size);
  Result<void> check_last_directory(std::uint64_t at);
  Result<std::string> read_description();
  void find_facts();
  Result<void> find_stack(const std::string& description);
  Result<void> find_imagej_stack(const std::string& description);
  Result<void> find_ome_stack(const std::string& description);
  Result<void> find_joined(const ImagejDescription& description);
  void read_imagej_tags();
  Result<void> enter(std::uint64_t page);
  Result<void> read_band(std::uint64_t band);
  Result<void> read_piece(std::uint64_t y, std::uint64_t x, std::uint64_t plane);
  void place_piece(std::uint64_t y, std::uint64_t x, std::uint64_t plane);
  Result<void> read_pixels(std::uint64_t page, std::uint64_t first, std::span<std::byte> into);
  Error failure(std::string_view otherwise) { return session_.failure(otherwise); }

  std::unique_ptr<InputFile> file_;
  TiffSession session_;
  Limits limits_;
  ImageInfo info_;                    ///< of the planes
  ImageInfo page_info_;               ///< of the pages
  std::vector<std::uint64_t> pages_;  ///< offsets of their directories, without thumbnails
  std::vector<std::uint64_t> all_;    ///< of all directories
  std::optional<Error> odd_page_;     ///< says which page differs from the first
  std::optional<Hyperstack> stack_;
  PageFacts facts_;                     ///< of the first page
  double millimetres_ = 0;              ///< in the resolution's unit; 0: it has none
  std::vector<std::byte> imagej_data_;  ///< the tags IJMetadata and IJMetadataByteCounts
  std::vector<std::uint32_t> imagej_counts_;
  std::uint64_t joined_ = 0;  ///< consecutive pages without directories; 0: none
  std::uint64_t joined_at_ = 0;
  std::optional<std::uint64_t> page_;
  std::optional<std::uint64_t> band_at_;
  Layout layout_;
  Buffer band_, piece_, pixels_;
};

Result<ImageInfo> TiffFile::describe() {
  std::uint32_t width = 0, height = 0;
  if (TIFFGetField(tiff(), TIFFTAG_IMAGEWIDTH, &width) != 1 || TIFFGetField(tiff(), TIFFTAG_IMAGELENGTH, &height) != 1)
    return failure("a page without width or height");
  const auto photometric = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  if (photometric == PHOTOMETRIC_YCBCR) {
    if (tag_or_default<std::uint16_t>(tiff(), TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_JPEG)
      return unsupported("tiff: YCbCr colours are supported only with JPEG compression");
    TIFFSetField(tiff(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  SHERD_TRY(dtype, sample_dtype(tag_or_default<std::uint16_t>(tiff(), TIFFTAG_BITSPERSAMPLE, 1),
                                tag_or_default<std::uint16_t>(tiff(), TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT)));
  ImageInfo info{height, width, tag_or_default<std::uint16_t>(tiff(), TIFFTAG_SAMPLESPERPIXEL, 1), dtype};
  if (info.channels > 1 && dtype == DType::bool_)
    return unsupported("tiff: pixels of several 1-bit samples are not supported");
  SHERD_TRY(check_image(info, limits_));
  return info;
}

Result<void> TiffFile::start(const ImportOptions& options) {
  SHERD_TRY(session_.open(file_->descriptor(), "rm", std::max(limits_.chunk_bytes, limits_.metadata_bytes)));
  auto description = read_description();
  if (description && ImagejDescription::is_one(*description)) read_imagej_tags();
  SHERD_TRY(find_pages());
  info_ = page_info_;
  auto found = (description ? find_stack(*description) : Result<void>(description.error())).in_key(file_->path());
  if (!found && options.axes.empty()) return found;
  if (!found) {
    stack_.reset();
    joined_ = 0;
  }
  if (!stack_ && odd_page_) return *odd_page_;
  if (stack_ && stack_->samples > 1) info_.channels = 1;
  if (stack_ && options.note && !stack_->left_out.empty()) options.note(file_->path() + ": " + stack_->left_out);
  return {};
}

Result<void> TiffFile::find_stack(const std::string& description) {
  if (is_ome_xml(description)) return find_ome_stack(description);
  if (ImagejDescription::is_one(description)) return find_imagej_stack(description);
  return {};
}

// OME-XML counts all directories, and those of its other images may have different pixels.
Result<void> TiffFile::find_ome_stack(const std::string& description) {
  facts_.pages = all_.size();
  SHERD_TRY(stack, ome_hyperstack(description, facts_, limits_));
  const bool all_alike = !odd_page_ && all_.size() == pages_.size();
  for (const std::uint64_t page : all_alike ? std::vector<std::uint64_t>() : stack.pages) {
    if (TIFFSetSubDirectory(tiff(), all_[page]) != 1) return failure("damaged directory");
    SHERD_TRY(info, describe());
    if (info != page_info_)
      return invalid_argument("page " + std::to_string(page) + " is " + to_string(info) + ", but the first is " +
                              to_string(page_info_));
  }
  pages_ = std::move(all_);
  stack_ = std::move(stack);
  return {};
}

Result<void> TiffFile::find_imagej_stack(const std::string& description) {
  facts_.pages = pages_.size();
  const ImagejDescription parsed = ImagejDescription::parse(description, facts_);
  if (odd_page_) return *odd_page_;
  if (pages_.size() == 1 && parsed.pages(facts_.samples) != 1) SHERD_TRY(find_joined(parsed));
  if (joined_ > 0) facts_.pages = joined_;
  SHERD_TRY(stack, imagej_hyperstack(parsed, facts_));
  add_imagej_tags(stack, {imagej_data_, imagej_counts_});
  stack_ = std::move(stack);
  return {};
}

// libtiff does not know either tag, and takes their types from the file.
void TiffFile::read_imagej_tags() {
  constexpr std::uint32_t kCounts = 50838, kData = 50839;
  const auto get = [&](std::uint32_t tag, TIFFDataType type, std::uint64_t size, auto& values) {
    const TIFFField* field = TIFFFindField(tiff(), tag, TIFF_ANY);
    if (field == nullptr || TIFFFieldDataType(field) != type || TIFFFieldPassCount(field) == 0 ||
        TIFFFieldReadCount(field) != TIFF_VARIABLE2)
      return;
    std::uint32_t count = 0;
    const void* data = nullptr;
    if (TIFFGetField(tiff(), tag, &count, &data) != 1 || data == nullptr || count * size > limits_.metadata_bytes)
      return;
    values.resize(count);
    std::memcpy(values.data(), data, count * size);
  };
  get(kCounts, TIFF_LONG, 4, imagej_counts_);
  get(kData, TIFF_BYTE, 1, imagej_data_);
}

void TiffFile::find_facts() {
  facts_.width = page_info_.width;
  facts_.height = page_info_.height;
  facts_.samples = page_info_.channels;
  facts_.is_rgb = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) == PHOTOMETRIC_RGB;
  facts_.name = std::filesystem::path(file_->path()).filename().string();
  const auto unit = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  millimetres_ = unit == RESUNIT_CENTIMETER ? 10 : unit == RESUNIT_INCH ? 25.4 : 0;
  facts_.has_resolution_unit = millimetres_ > 0;
  float x = 0, y = 0;
  if (TIFFGetField(tiff(), TIFFTAG_XRESOLUTION, &x) != 1 || TIFFGetField(tiff(), TIFFTAG_YRESOLUTION, &y) != 1) return;
  if (!(x > 0 && x < 1e30f) || !(y > 0 && y < 1e30f)) return;
  facts_.x_resolution = static_cast<double>(x);
  facts_.y_resolution = static_cast<double>(y);
}

Result<void> TiffFile::find_pages() {
  do {
    all_.push_back(TIFFCurrentDirOffset(tiff()));
    constexpr std::uint32_t kThumbnail = FILETYPE_REDUCEDIMAGE | FILETYPE_MASK;
    if ((tag_or_default<std::uint32_t>(tiff(), TIFFTAG_SUBFILETYPE, 0) & kThumbnail) != 0) continue;
    auto info = describe();
    if (pages_.empty()) {
      if (!info) return std::move(info).error().in_key(file_->path());
      page_info_ = *info;
      find_facts();
    } else if (!odd_page_ && !info) {
      odd_page_ = std::move(info).error().in_key(file_->path());
    } else if (!odd_page_ && *info != page_info_) {
      odd_page_ = invalid_argument("page " + std::to_string(pages_.size()) + " is " + to_string(*info) +
                                   ", but the first is " + to_string(page_info_))
                      .in_key(file_->path());
    }
    pages_.push_back(all_.back());
  } while (TIFFReadDirectory(tiff()) == 1);
  if (session_.failed()) return failure("damaged directory");
  if (pages_.empty()) return corrupt("tiff: the file has no page").in_key(file_->path());
  return check_last_directory(all_.back());
}

Result<std::uint64_t> TiffFile::read_number(std::uint64_t at, std::size_t size) {
  std::byte bytes[8];
  const auto number = std::span(bytes).first(size);
  SHERD_TRY(file_->read_at(at, number));
  return load_word(number, TIFFIsBigEndian(tiff()) != 0 ? std::endian::big : std::endian::little);
}

// libtiff treats a directory that is truncated before the offset of the next one as the last; pages would be lost.
Result<void> TiffFile::check_last_directory(std::uint64_t at) {
  const bool big = TIFFIsBigTIFF(tiff()) != 0;
  SHERD_TRY(entries, read_number(at, big ? 8 : 2));
  const auto end = checked_mul(entries, big ? 20 : 12);
  if (!end || *end > file_->size_bound()) return corrupt("tiff: damaged directory").in_key(file_->path());
  SHERD_TRY(read_number(at + (big ? 8 : 2) + *end, big ? 8 : 4));
  return {};
}

// Of the first directory, the only one that describes the pages. libtiff ignores text that it cannot read, and the
// pages would be taken for slices.
Result<std::string> TiffFile::read_description() {
  const char* text = nullptr;
  if (TIFFGetField(tiff(), TIFFTAG_IMAGEDESCRIPTION, &text) == 1 && text != nullptr) return std::string(text);
  const bool big = TIFFIsBigTIFF(tiff()) != 0;
  const std::uint64_t at = TIFFCurrentDirOffset(tiff());
  SHERD_TRY(entries, read_number(at, big ? 8 : 2));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(entries, 65535); ++i) {
    const std::uint64_t entry = at + (big ? 8 + 20 * i : 2 + 12 * i);
    SHERD_TRY(tag, read_number(entry, 2));
    if (tag != TIFFTAG_IMAGEDESCRIPTION) continue;
    SHERD_TRY(type, read_number(entry + 2, 2));
    SHERD_TRY(count, read_number(entry + 4, big ? 8 : 4));
    if (type != TIFF_ASCII || count == 0) continue;
    return corrupt(
        "tiff: its description cannot be read; name the dimensions of the pages with 'axes' to import without it");
  }
  return std::string();
}

// Above 4 GiB ImageJ writes one directory, and all planes after the first, uncompressed.
Result<void> TiffFile::find_joined(const ImagejDescription& description) {
  SHERD_TRY(enter(0));
  const auto count = description.pages(facts_.samples);
  const auto plane = checked_mul(page_info_.row_bytes(), page_info_.height);
  const auto size = plane && count ? checked_mul(*plane, *count) : std::nullopt;
  joined_at_ = TIFFGetStrileOffset(tiff(), 0);
  const auto end = size ? checked_add(*size, joined_at_) : std::nullopt;
  const bool plain = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_COMPRESSION, COMPRESSION_NONE) == COMPRESSION_NONE &&
                     !layout_.tiled && !layout_.planar && page_info_.dtype != DType::bool_;
  // Bio-Formats may count samples as images.
  const bool agrees = description.images == 1 || description.images == count || facts_.samples > 1;
  if (plain && agrees && end && *end <= file_->size_bound()) {
    // A sparse file may have any size, and each page needs a number in memory.
    if (*count > limits_.metadata_bytes / sizeof(std::uint64_t))
      return unsupported("tiff: its description says " + std::to_string(*count) +
                         " images, whose numbers are larger than the limit 'metadata_bytes' of " +
                         std::to_string(limits_.metadata_bytes));
    joined_ = *count;
    return {};
  }
  return corrupt("tiff: its description says " + std::to_string(std::max(description.images, count.value_or(0))) +
                 " images, the file has one page and " + std::to_string(file_->size_bound()) +
                 " bytes; name the dimensions of the page with 'axes' to ignore the description");
}

// Resolution is pixels per centimetre or inch; without a unit it is unrelated to space.
Json TiffFile::attributes() const {
  std::map<char, AxisStep> steps;
  if (millimetres_ > 0 && facts_.x_resolution > 0) {
    steps['x'] = {millimetres_ / facts_.x_resolution, "mm"};
    steps['y'] = {millimetres_ / facts_.y_resolution, "mm"};
  }
  std::string axes;
  if (stack_) {
    for (const std::string& axis : stack_->axes) axes += axis;
    for (const auto& [axis, step] : stack_->steps)
      if (step.size > 0) steps[axis] = step;
  }
  axes += "yx";
  Json::Array spacing, units, offsets;
  bool any = false, displaced = false;
  for (const char axis : axes) {
    const AxisStep& step = steps[axis];
    any = any || step.size > 0;
    spacing.push_back(step.size > 0 ? Json(step.size) : Json());
    units.push_back(step.unit.empty() ? Json() : Json(step.unit));
    offsets.push_back(step.size > 0 ? Json(tidy(step.origin / step.size)) : Json());
    displaced = displaced || step.origin != 0;
  }
  Json attributes;
  if (any) attributes = Json::Object{{"spacing", std::move(spacing)}, {"units", std::move(units)}};
  if (displaced) attributes.set("voxel_offset", std::move(offsets));
  if (stack_ && !stack_->channels.is_null()) attributes.set("channels", stack_->channels);
  if (stack_ && !stack_->labels.is_null()) attributes.set("slice_labels", stack_->labels);
  if (stack_ && !stack_->name.empty()) attributes.set("image_name", stack_->name);
  return attributes;
}

Result<void> TiffFile::enter(std::uint64_t page) {
  if (page_ == page) return {};
  page_.reset();
  band_at_.reset();
  if (TIFFSetSubDirectory(tiff(), pages_[page]) != 1) return failure("damaged directory");
  // The pseudo tag for JPEG belongs to a directory; describe() sets it.
  SHERD_TRY(info, describe().in_key(file_->path()));
  if (info != page_info_) return conflict("changed while it was imported").in_key(file_->path());
  layout_ = {};
  layout_.tiled = TIFFIsTiled(tiff()) != 0;
  layout_.planar =
      page_info_.channels > 1 &&
      tag_or_default<std::uint16_t>(tiff(), TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  std::uint32_t width = static_cast<std::uint32_t>(page_info_.width), rows = 0;
  if (layout_.tiled) {
    TIFFGetField(tiff(), TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(tiff(), TIFFTAG_TILELENGTH, &rows);
  } else {
    TIFFGetFieldDefaulted(tiff(), TIFFTAG_ROWSPERSTRIP, &rows);
    rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, page_info_.height));
  }
  layout_.piece_width = width;
  layout_.piece_rows = rows;
  const auto samples = layout_.planar ? std::optional(std::uint64_t{width}) : checked_mul(width, page_info_.channels);
  const auto bytes = samples ? checked_mul(packed_bytes(page_info_, *samples), rows) : std::nullopt;
  const auto band = checked_mul(page_info_.row_bytes(), rows);
  if (width == 0 || rows == 0) return corrupt("tiff: a strip or tile without pixels").in_key(file_->path());
  if (!bytes || !band || std::max(*bytes, *band) > limits_.chunk_bytes)
    return unsupported("tiff: a strip or row of tiles of " + std::to_string(rows) +
                       " rows is larger than the limit 'chunk_bytes' of " + std::to_string(limits_.chunk_bytes))
        .in_key(file_->path());
  layout_.piece_bytes = *bytes;
  page_ = page;
  return {};
}

Result<void> TiffFile::read_piece(std::uint64_t y, std::uint64_t x, std::uint64_t plane) {
  const auto sample = static_cast<std::uint16_t>(plane);
  tmsize_t got = -1;
  std::uint64_t wanted = layout_.piece_bytes;
  if (layout_.tiled) {
    const auto tile = TIFFComputeTile(tiff(), static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0, sample);
    got = TIFFReadEncodedTile(tiff(), tile, piece_.data(), static_cast<tmsize_t>(piece_.size()));
  } else {
    wanted = wanted / layout_.piece_rows * std::min(layout_.piece_rows, page_info_.height - y);
    const auto strip = TIFFComputeStrip(tiff(), static_cast<std::uint32_t>(y), sample);
    got = TIFFReadEncodedStrip(tiff(), strip, piece_.data(), static_cast<tmsize_t>(piece_.size()));
  }
  if (got < 0 || static_cast<std::uint64_t>(got) < wanted) return failure("a strip or tile is too short");
  return {};
}

// Copies the part of a strip or tile that is inside the image into the band.
void TiffFile::place_piece(std::uint64_t y, std::uint64_t x, std::uint64_t plane) {
  const std::uint64_t rows = std::min(layout_.piece_rows, page_info_.height - y);
  const std::uint64_t columns = std::min(layout_.piece_width, page_info_.width - x);
  const std::uint64_t size = page_info_.dtype.size(), channels = page_info_.channels;
  const std::uint64_t piece_row = layout_.piece_bytes / layout_.piece_rows;
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::byte* from = piece_.data() + r * piece_row;
    std::byte* to = band_.data() + r * page_info_.row_bytes() + x * channels * size;
    if (page_info_.dtype == DType::bool_) {
      for (std::uint64_t i = 0; i < columns; ++i) to[i] = from[i / 8] >> (7 - i % 8) & std::byte{1};
    } else if (layout_.planar) {
      for (std::uint64_t i = 0; i < columns; ++i)
        std::memcpy(to + (i * channels + plane) * size, from + i * size, size);
    } else {
      std::memcpy(to, from, columns * channels * size);
    }
  }
}

Result<void> TiffFile::read_band(std::uint64_t band) {
  if (band_at_ == band) return {};
  band_at_.reset();
  SHERD_TRY(band_.resize(page_info_.row_bytes() * std::min(layout_.piece_rows, page_info_.height)));
  SHERD_TRY(piece_.resize(layout_.piece_bytes));
  const std::uint64_t y = band * layout_.piece_rows;
  for (std::uint64_t plane = 0; plane < (layout_.planar ? page_info_.channels : 1); ++plane)
    for (std::uint64_t x = 0; x < page_info_.width; x += layout_.piece_width) {
      SHERD_TRY(read_piece(y, x, plane));
      place_piece(y, x, plane);
    }
  band_at_ = band;
  return {};
}

Result<void> TiffFile::read_pixels(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) {
  if (joined_ > 0) {
    SHERD_TRY(file_->read_at(joined_at_ + (page * page_info_.height + first) * page_info_.row_bytes(), into));
    if (TIFFIsByteSwapped(tiff()) != 0) swap_elements(into, page_info_.dtype.size(), word_swaps(page_info_.dtype));
    return {};
  }
  SHERD_TRY(enter(page));
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, page_info_.row_bytes());  // never 0: check_image()
  while (!into.empty()) {
    const std::uint64_t band = first / layout_.piece_rows, inside = first % layout_.piece_rows;
    SHERD_TRY(read_band(band));
    const std::uint64_t rows =
        std::min(into.size() / row_bytes, std::min(layout_.piece_rows - inside, page_info_.height - first));
    std::memcpy(into.data(), band_.data() + inside * row_bytes, rows * row_bytes);
    into = into.subspan(rows * row_bytes);
    first += rows;
  }
  return {};
}

// A plane is a page, or one sample of each pixel of a page.
Result<void> TiffFile::read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) {
  if (!stack_) return read_pixels(page, first, into);
  const PlaneSource source = stack_->source(page);
  if (stack_->samples == 1) return read_pixels(source.page, first, into);
  constexpr std::uint64_t kBytesAtOnce = std::uint64_t{1} << 20;
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, info_.row_bytes());
  const std::uint64_t page_row_bytes = std::max<std::uint64_t>(1, page_info_.row_bytes());
  const std::uint64_t most = std::max<std::uint64_t>(1, kBytesAtOnce / page_row_bytes);
  const std::size_t size = info_.dtype.size(), pixel = size * page_info_.channels;
  while (!into.empty()) {
    const std::uint64_t rows = std::min(into.size() / row_bytes, most);
    SHERD_TRY(pixels_.resize(rows * page_row_bytes));
    SHERD_TRY(read_pixels(source.page, first, pixels_.span()));
    const std::byte* from = pixels_.data() + source.sample * size;
    for (std::uint64_t i = 0; i < rows * info_.width; ++i) std::memcpy(into.data() + i * size, from + i * pixel, size);
    into = into.subspan(rows * row_bytes);
    first += rows;
  }
  return {};
}

Result<std::unique_ptr<ImageFile>> open_tiff(const std::string& path, const ImportOptions& options) {
  SHERD_TRY(file, InputFile::open(path));
  auto image = std::make_unique<TiffFile>(std::move(file), options);
  SHERD_TRY(image->start(options));
  return std::unique_ptr<ImageFile>(std::move(image));
}

}  // namespace

Result<std::unique_ptr<ArrayFileReader>> open_tiff_files(const std::string& path, const ImportOptions& options) {
  return open_images(path, options, kTiffFiles, open_tiff);
}

}  // namespace sherd
