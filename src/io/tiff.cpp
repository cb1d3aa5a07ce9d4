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
#include "io/image.hpp"
#include "io/tiff_file.hpp"

namespace sherd {

namespace {

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

/// The name of a compression that libtiff does not know.
std::string compression_name(std::uint16_t scheme) {
  constexpr std::pair<std::uint16_t, std::string_view> kSchemes[] = {
      {6, "old JPEG"},      {22610, "JPEG XR"},    {32895, "IT8 CT"},    {33003, "JPEG 2000"}, {33004, "JPEG 2000"},
      {33005, "JPEG 2000"}, {33007, "JPEG"},       {34661, "JBIG"},      {34676, "SGILog"},    {34712, "JPEG 2000"},
      {34887, "LERC"},      {34892, "lossy JPEG"}, {34925, "LZMA"},      {34926, "Zstandard"}, {34927, "WebP"},
      {34933, "PNG"},       {34934, "JPEG XR"},    {50000, "Zstandard"}, {50001, "WebP"},      {50002, "JPEG XL"},
      {52546, "JPEG XL"},   {65000, "EER"},        {65001, "EER"},       {65002, "EER"}};
  const auto* const found = std::ranges::find(kSchemes, scheme, [](const auto& each) { return each.first; });
  const TIFFCodec* const known = TIFFFindCODEC(scheme);
  const std::string number = std::to_string(scheme);
  if (found != std::end(kSchemes)) return std::string(found->second) + " (" + number + ")";
  return known != nullptr ? std::string(known->name) + " (" + number + ")" : "the unknown scheme " + number;
}

}  // namespace

Result<ImageInfo> TiffFile::describe() {
  std::uint32_t width = 0, height = 0;
  if (TIFFGetField(tiff(), TIFFTAG_IMAGEWIDTH, &width) != 1 || TIFFGetField(tiff(), TIFFTAG_IMAGELENGTH, &height) != 1)
    return failure("a page without width or height");
  const auto compression = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (TIFFIsCODECConfigured(compression) == 0)
    return unsupported("tiff: its pages are compressed with " + compression_name(compression) +
                       ", which libtiff cannot decode here; convert the file to deflate, LZW or no compression first");
  const auto photometric = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  if (photometric == PHOTOMETRIC_YCBCR) {
    if (compression != COMPRESSION_JPEG)
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

Result<void> TiffFile::open() {
  return session_.open(file_->descriptor(), "rm", std::max(limits_.chunk_bytes, limits_.metadata_bytes));
}

Result<void> TiffFile::start(const ImportOptions& options) {
  SHERD_TRY(open());
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
  if (page >= pages_.size()) {
    const auto at = std::ranges::upper_bound(facts_.others, page, {}, &OtherFile::first) - 1;
    SHERD_TRY(file, other(static_cast<std::size_t>(at - facts_.others.begin())));
    if (file->page_info_ != page_info_ || file->pages_.size() != at->pages)
      return conflict("changed while it was imported").in_key(file->file_->path());
    return file->read_pixels(page - at->first, first, into);
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

namespace {

Result<std::unique_ptr<ImageFile>> open_tiff(const std::string& path, const ImportOptions& options) {
  SHERD_TRY(file, InputFile::open(path));
  auto image = std::make_unique<TiffFile>(std::move(file), options.create.config.limits);
  SHERD_TRY(image->start(options));
  return std::unique_ptr<ImageFile>(std::move(image));
}

}  // namespace

Result<std::unique_ptr<ArrayFileReader>> open_tiff_files(const std::string& path, const ImportOptions& options) {
  return open_images(path, options, kTiffFiles, open_tiff);
}

}  // namespace sherd
