// TIFF files through libtiff, read: every page of one size that is no thumbnail, strips or tiles, samples together or
// in planes, any byte order and compression that libtiff has; 1, 8, 16, 32 and 64 bit integers, floats and complex.
// ImageJ's files of more than 4 GiB, which list one page and mean many, are told by their description.
// libtiff's messages become our errors; its warnings go nowhere.
#include <tiffio.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "tools/files.hpp"
#include "tools/tiff_session.hpp"

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
                     " have no counterpart here");
}

// Rows of samples as libtiff gives them, which are bits for bool.
std::uint64_t packed_bytes(const ImageInfo& info, std::uint64_t samples) {
  return info.dtype == DType::bool_ ? ceil_div(samples, 8) : samples * info.dtype.size();
}

class TiffFile final : public ImageFile {
 public:
  TiffFile(std::unique_ptr<InputFile> file, const Limits& limits)
      : file_(std::move(file)), session_(file_->path()), limits_(limits) {}

  Result<void> start();
  [[nodiscard]] const ImageInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::uint64_t pages() const noexcept override { return joined_ > 0 ? joined_ : pages_.size(); }
  [[nodiscard]] Json attributes() const override { return attributes_; }
  Result<void> read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) override;

 private:
  // How the present page is cut: a band is a row of tiles, or one strip.
  struct Layout {
    bool tiled = false, planar = false;
    std::uint64_t piece_width = 0, piece_rows = 0, piece_bytes = 0;
  };
  TIFF* tiff() noexcept { return session_.tiff(); }
  Result<ImageInfo> describe();
  Result<void> check_last_directory(std::uint64_t at);
  Result<void> find_joined();
  Json find_attributes();
  Result<void> enter(std::uint64_t page);
  Result<void> read_band(std::uint64_t band);
  Result<void> read_piece(std::uint64_t y, std::uint64_t x, std::uint64_t plane);
  void place_piece(std::uint64_t y, std::uint64_t x, std::uint64_t plane);
  Error failure(std::string_view otherwise) { return session_.failure(otherwise); }

  std::unique_ptr<InputFile> file_;
  TiffSession session_;
  Limits limits_;
  ImageInfo info_;
  Json attributes_;
  std::vector<std::uint64_t> pages_;  ///< offsets of their directories
  std::uint64_t joined_ = 0;          ///< pages that follow each other without directories; 0: none do
  std::uint64_t joined_at_ = 0;
  std::optional<std::uint64_t> page_;
  std::optional<std::uint64_t> band_at_;
  Layout layout_;
  Buffer band_, piece_;
};

Result<ImageInfo> TiffFile::describe() {
  std::uint32_t width = 0, height = 0;
  if (TIFFGetField(tiff(), TIFFTAG_IMAGEWIDTH, &width) != 1 || TIFFGetField(tiff(), TIFFTAG_IMAGELENGTH, &height) != 1)
    return failure("a page without width or height");
  const auto photometric = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  if (photometric == PHOTOMETRIC_YCBCR) {
    if (tag_or_default<std::uint16_t>(tiff(), TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_JPEG)
      return unsupported("tiff: YCbCr colours outside JPEG compression");
    TIFFSetField(tiff(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  SHERD_TRY(dtype, sample_dtype(tag_or_default<std::uint16_t>(tiff(), TIFFTAG_BITSPERSAMPLE, 1),
                                tag_or_default<std::uint16_t>(tiff(), TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT)));
  const ImageInfo info{height, width, tag_or_default<std::uint16_t>(tiff(), TIFFTAG_SAMPLESPERPIXEL, 1), dtype};
  if (info.channels > 1 && dtype == DType::bool_) return unsupported("tiff: several 1-bit samples a pixel");
  SHERD_TRY(check_image(info, limits_));
  return info;
}

Result<void> TiffFile::start() {
  SHERD_TRY(session_.open(file_->descriptor(), "rm", std::max(limits_.chunk_bytes, limits_.metadata_bytes)));
  std::uint64_t last = 0;
  do {
    last = TIFFCurrentDirOffset(tiff());
    constexpr std::uint32_t kThumbnail = FILETYPE_REDUCEDIMAGE | FILETYPE_MASK;
    if ((tag_or_default<std::uint32_t>(tiff(), TIFFTAG_SUBFILETYPE, 0) & kThumbnail) != 0) continue;
    SHERD_TRY(info, describe().in_key(file_->path()));
    if (pages_.empty()) {
      info_ = info;
      attributes_ = find_attributes();
    } else if (info != info_) {
      return invalid_argument("page " + std::to_string(pages_.size()) + " is " + to_string(info) +
                              ", but the first is " + to_string(info_))
          .in_key(file_->path());
    }
    pages_.push_back(last);
  } while (TIFFReadDirectory(tiff()) == 1);
  if (session_.failed()) return failure("damaged directory");
  if (pages_.empty()) return corrupt("tiff: the file has no page").in_key(file_->path());
  SHERD_TRY(check_last_directory(last));
  return pages_.size() == 1 ? find_joined() : Result<void>{};
}

// libtiff takes a directory that is cut off before the place of the next one for the last; pages would be lost.
Result<void> TiffFile::check_last_directory(std::uint64_t at) {
  const bool big = TIFFIsBigTIFF(tiff()) != 0;
  std::uint64_t entries = 0;
  std::byte bytes[8];
  const auto count = std::span(bytes).first(big ? 8 : 2);
  SHERD_TRY(file_->read_at(at, count));
  for (std::size_t i = 0; i < count.size(); ++i)
    entries =
        entries << 8 | std::to_integer<std::uint64_t>(bytes[TIFFIsBigEndian(tiff()) != 0 ? i : count.size() - 1 - i]);
  const auto end = checked_mul(entries, big ? 20 : 12);
  if (!end || *end > file_->size_bound()) return corrupt("tiff: damaged directory").in_key(file_->path());
  return file_->read_at(at + count.size() + *end, std::span(bytes).first(big ? 8 : 4));
}

// ImageJ writes "ImageJ=1.53\nimages=4096\n…" and all planes behind the first, uncompressed.
Result<void> TiffFile::find_joined() {
  SHERD_TRY(enter(0));
  const char* text = nullptr;
  if (TIFFGetField(tiff(), TIFFTAG_IMAGEDESCRIPTION, &text) != 1 || std::strncmp(text, "ImageJ=", 7) != 0) return {};
  const char* images = std::strstr(text, "\nimages=");
  const std::uint64_t count = images == nullptr ? 1 : std::strtoull(images + 8, nullptr, 10);
  if (count < 2) return {};
  const auto plane = checked_mul(info_.row_bytes(), info_.height);
  const auto size = plane ? checked_mul(*plane, count) : std::nullopt;
  joined_at_ = TIFFGetStrileOffset(tiff(), 0);
  const auto end = size ? checked_add(*size, joined_at_) : std::nullopt;
  const bool plain = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_COMPRESSION, COMPRESSION_NONE) == COMPRESSION_NONE &&
                     !layout_.tiled && !layout_.planar && info_.dtype != DType::bool_;
  if (!plain || !end || *end > file_->size_bound())
    return corrupt("tiff: its description says " + std::to_string(count) + " images, the file has one page and " +
                   std::to_string(file_->size_bound()) + " bytes")
        .in_key(file_->path());
  joined_ = count;
  return {};
}

// Resolution is pixels per centimetre or inch; without a unit it says nothing about space.
Json TiffFile::find_attributes() {
  const auto unit = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  float x = 0, y = 0;
  if (TIFFGetField(tiff(), TIFFTAG_XRESOLUTION, &x) != 1 || TIFFGetField(tiff(), TIFFTAG_YRESOLUTION, &y) != 1)
    return {};
  const double millimetres = unit == RESUNIT_CENTIMETER ? 10 : unit == RESUNIT_INCH ? 25.4 : 0;
  if (millimetres == 0 || !(x > 0 && x < 1e30f) || !(y > 0 && y < 1e30f)) return {};
  Json attributes{Json::Object{}};
  attributes.set("spacing",
                 Json(Json::Array{millimetres / static_cast<double>(y), millimetres / static_cast<double>(x)}));
  attributes.set("units", Json(Json::Array{"mm", "mm"}));
  return attributes;
}

Result<void> TiffFile::enter(std::uint64_t page) {
  if (page_ == page) return {};
  page_.reset();
  band_at_.reset();
  if (TIFFSetSubDirectory(tiff(), pages_[page]) != 1) return failure("damaged directory");
  // The pseudo tag for JPEG belongs to a directory; describe() sets it.
  SHERD_TRY(info, describe().in_key(file_->path()));
  if (info != info_) return conflict("changed while it was imported").in_key(file_->path());
  layout_ = {};
  layout_.tiled = TIFFIsTiled(tiff()) != 0;
  layout_.planar = info_.channels > 1 && tag_or_default<std::uint16_t>(tiff(), TIFFTAG_PLANARCONFIG,
                                                                       PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  std::uint32_t width = static_cast<std::uint32_t>(info_.width), rows = 0;
  if (layout_.tiled) {
    TIFFGetField(tiff(), TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(tiff(), TIFFTAG_TILELENGTH, &rows);
  } else {
    TIFFGetFieldDefaulted(tiff(), TIFFTAG_ROWSPERSTRIP, &rows);
    rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, info_.height));
  }
  layout_.piece_width = width;
  layout_.piece_rows = rows;
  const auto samples = layout_.planar ? std::optional(std::uint64_t{width}) : checked_mul(width, info_.channels);
  const auto bytes = samples ? checked_mul(packed_bytes(info_, *samples), rows) : std::nullopt;
  const auto band = checked_mul(info_.row_bytes(), rows);
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
    wanted = wanted / layout_.piece_rows * std::min(layout_.piece_rows, info_.height - y);
    const auto strip = TIFFComputeStrip(tiff(), static_cast<std::uint32_t>(y), sample);
    got = TIFFReadEncodedStrip(tiff(), strip, piece_.data(), static_cast<tmsize_t>(piece_.size()));
  }
  if (got < 0 || static_cast<std::uint64_t>(got) < wanted) return failure("a strip or tile is too short");
  return {};
}

// Copies the part of a piece that lies inside the image to its place in the band.
void TiffFile::place_piece(std::uint64_t y, std::uint64_t x, std::uint64_t plane) {
  const std::uint64_t rows = std::min(layout_.piece_rows, info_.height - y);
  const std::uint64_t columns = std::min(layout_.piece_width, info_.width - x);
  const std::uint64_t size = info_.dtype.size(), channels = info_.channels;
  const std::uint64_t piece_row = layout_.piece_bytes / layout_.piece_rows;
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::byte* from = piece_.data() + r * piece_row;
    std::byte* to = band_.data() + r * info_.row_bytes() + x * channels * size;
    if (info_.dtype == DType::bool_) {
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
  SHERD_TRY(band_.resize(info_.row_bytes() * std::min(layout_.piece_rows, info_.height)));
  SHERD_TRY(piece_.resize(layout_.piece_bytes));
  const std::uint64_t y = band * layout_.piece_rows;
  for (std::uint64_t plane = 0; plane < (layout_.planar ? info_.channels : 1); ++plane)
    for (std::uint64_t x = 0; x < info_.width; x += layout_.piece_width) {
      SHERD_TRY(read_piece(y, x, plane));
      place_piece(y, x, plane);
    }
  band_at_ = band;
  return {};
}

Result<void> TiffFile::read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) {
  if (joined_ > 0) {
    SHERD_TRY(file_->read_at(joined_at_ + (page * info_.height + first) * info_.row_bytes(), into));
    if (TIFFIsByteSwapped(tiff()) != 0) swap_elements(into, info_.dtype.size(), word_swaps(info_.dtype));
    return {};
  }
  SHERD_TRY(enter(page));
  while (!into.empty()) {
    const std::uint64_t band = first / layout_.piece_rows, inside = first % layout_.piece_rows;
    SHERD_TRY(read_band(band));
    const std::uint64_t rows =
        std::min(into.size() / info_.row_bytes(), std::min(layout_.piece_rows - inside, info_.height - first));
    std::memcpy(into.data(), band_.data() + inside * info_.row_bytes(), rows * info_.row_bytes());
    into = into.subspan(rows * info_.row_bytes());
    first += rows;
  }
  return {};
}

Result<std::unique_ptr<ImageFile>> open_tiff(const std::string& path, const Limits& limits) {
  SHERD_TRY(file, InputFile::open(path));
  auto image = std::make_unique<TiffFile>(std::move(file), limits);
  SHERD_TRY(image->start());
  return std::unique_ptr<ImageFile>(std::move(image));
}

}  // namespace

Result<std::unique_ptr<ArrayFileReader>> open_tiff_files(const std::string& path, const ImportOptions& options) {
  return open_images(path, options, kTiffFiles, open_tiff);
}

}  // namespace sherd
