// Writes TIFF files through libtiff: one page per plane, uncompressed strips, native byte order; BigTIFF if 32-bit
// offsets are insufficient. The first page has OME-XML; spacing is also stored as the resolution. Also contains the
// session that reading shares.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "io/image.hpp"
#include "io/ome_xml_write.hpp"
#include "io/tiff_session.hpp"
#include "ome/units.hpp"
#include "os/calls.hpp"

namespace sherd {

int TiffSession::on_error(TIFF* /*tiff*/, void* user, const char* module, const char* format, std::va_list arguments) {
  const int number = errno;
  auto* session = static_cast<TiffSession*>(user);
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  // The first message is the cause, later ones its consequences. `module` is a function or the path.
  if (session->message_.empty()) {
    session->number_ = number;
    session->message_ = module == nullptr || session->path_ == module ? text : std::string(module) + ": " + text;
  }
  return 1;
}

int TiffSession::on_warning(TIFF* /*tiff*/, void* /*user*/, const char* /*module*/, const char* /*format*/,
                            std::va_list /*arguments*/) {
  return 1;
}

Result<void> TiffSession::open(int descriptor, const char* mode, std::uint64_t largest) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return unavailable("no memory for libtiff");
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, this);
  if (largest != 0)
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, static_cast<tmsize_t>(std::min(largest, std::uint64_t{1} << 62)));
  // libtiff closes its descriptor and moves its position; the file's own descriptor is not affected.
  const int own = os::duplicate(descriptor);
  if (own >= 0) tiff_ = TIFFFdOpenExt(own, path_.c_str(), mode, options);
  const int number = errno;
  TIFFOpenOptionsFree(options);
  if (own < 0) return file_error("cannot open", path_, number);
  if (tiff_ != nullptr) return {};
  os::close(own);
  return mode[0] == 'w' ? failure("cannot write", ErrorCode::io) : failure("not a TIFF file");
}

TiffSession::~TiffSession() {
  if (tiff_ != nullptr) TIFFClose(tiff_);
}

Error TiffSession::failure(std::string_view otherwise, ErrorCode code) {
  std::string text = "tiff: " + (message_.empty() ? std::string(otherwise) : message_);
  // libtiff reports that a write failed, and leaves the reason in errno.
  const int reasons[] = {ENOSPC, EDQUOT, EFBIG, EIO};
  if (code == ErrorCode::io && std::ranges::find(reasons, number_) != std::end(reasons))
    text += std::string(": ") + std::strerror(number_);
  message_.clear();
  number_ = 0;
  return Error(code, text).in_key(path_);
}

namespace {

std::optional<std::uint16_t> sample_format(DType::Kind kind) {
  switch (kind) {
    using enum DType::Kind;
    case boolean:
    case uint8:
    case uint16:
    case uint32:
    case uint64:
      return SAMPLEFORMAT_UINT;
    case int8:
    case int16:
    case int32:
    case int64:
      return SAMPLEFORMAT_INT;
    case float16:
    case float32:
    case float64:
      return SAMPLEFORMAT_IEEEFP;
    case complex64:
    case complex128:
      return SAMPLEFORMAT_COMPLEXIEEEFP;
    default:
      return std::nullopt;
  }
}

// Pixels per centimetre.
std::optional<double> resolution(const std::vector<ImageAxis>& axes, std::size_t d) {
  if (axes.size() <= d || !axes[d].spacing || !(*axes[d].spacing > 0)) return std::nullopt;
  const auto length = nanometres(axes[d].unit);
  return length ? std::optional(1e7 / (*axes[d].spacing * *length)) : std::nullopt;
}

class TiffWriter final : public ArrayFileWriter {
 public:
  TiffWriter(std::unique_ptr<OutputFile> file, Planes planes)
      : file_(std::move(file)), session_(std::in_place, file_->path()), planes_(std::move(planes)) {}

  Result<void> start(const FileArray& array);
  Result<void> write(std::uint64_t first, std::span<const std::byte> elements) override;
  Result<void> finish() override;
  [[nodiscard]] std::string left_out() const override { return left_out_; }

 private:
  void begin_page();
  Result<void> write_row(const std::byte* row);
  Error failure(std::string_view otherwise) { return session_->failure(otherwise, ErrorCode::io); }

  std::unique_ptr<OutputFile> file_;
  std::optional<TiffSession> session_;
  Planes planes_;
  std::optional<double> resolution_y_, resolution_x_;
  std::optional<std::string> description_;  ///< of the first page
  std::string left_out_;
  Buffer row_;
  std::size_t filled_ = 0;
  std::uint32_t next_row_ = 0;
};

Result<void> TiffWriter::start(const FileArray& array) {
  const ImageInfo& image = planes_.image;
  resolution_y_ = resolution(array.axes, planes_.leading);
  resolution_x_ = resolution(array.axes, planes_.leading + 1);
  description_ = ome_xml(array, planes_);
  if (!description_ && planes_.leading > 0)
    left_out_ = "the TIFF file has no OME-XML, which has no elements of type " + array.dtype.name() +
                " or does not know the axes; names of axes, and spacing and position along the pages, are not stored";
  const auto plane = checked_mul(image.row_bytes(), image.height);
  const auto size = plane ? checked_mul(*plane, planes_.count) : std::nullopt;
  if (!size) return invalid_argument("the array is too large for any file").in_key(file_->path());
  // Directories need about 200 bytes per page, strip offsets 8 bytes each.
  const bool large = *size + planes_.count * (256 + 8 * image.height) >= (std::uint64_t{4} << 30) - (1 << 20);
  SHERD_TRY(session_->open(file_->descriptor(), large ? "w8" : "w", 0));
  return row_.resize(image.row_bytes());
}

void TiffWriter::begin_page() {
  TIFF* tiff = session_->tiff();
  const ImageInfo& image = planes_.image;
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(image.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(image.height));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * image.dtype.size()));
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, static_cast<int>(*sample_format(image.dtype.kind())));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(image.channels));
  const bool coloured = image.channels == 3 || image.channels == 4;
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, coloured ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  if (const std::uint64_t extra = image.channels - (coloured ? 3 : 1); extra > 0) {
    const std::vector<std::uint16_t> kinds(
        extra, image.channels == 4 || image.channels == 2 ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(extra), kinds.data());
  }
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP,
               TIFFDefaultStripSize(tiff, static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
                                              (std::uint64_t{1} << 20) / image.row_bytes(), 1, image.height))));
  if (planes_.count > 1) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
  if (description_) TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, description_->c_str());
  description_.reset();
  if (resolution_y_ && resolution_x_) {
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, *resolution_x_);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, *resolution_y_);
  }
}

Result<void> TiffWriter::write_row(const std::byte* row) {
  if (next_row_ == 0) begin_page();
  // libtiff's argument is not const, but with native byte order it is not changed.
  if (TIFFWriteScanline(session_->tiff(), const_cast<std::byte*>(row), next_row_, 0) != 1)
    return failure("cannot write");
  if (++next_row_ < planes_.image.height) return {};
  next_row_ = 0;
  if (TIFFWriteDirectory(session_->tiff()) != 1) return failure("cannot write");
  return {};
}

Result<void> TiffWriter::write(std::uint64_t /*first*/, std::span<const std::byte> elements) {
  while (!elements.empty()) {
    const auto part = elements.first(std::min(elements.size(), row_.size() - filled_));
    const std::byte* row = part.data();
    if (part.size() != row_.size()) {
      std::memcpy(row_.data() + filled_, part.data(), part.size());
      row = row_.data();
    }
    elements = elements.subspan(part.size());
    filled_ = (filled_ + part.size()) % row_.size();
    if (filled_ == 0) SHERD_TRY(write_row(row));
  }
  return {};
}

Result<void> TiffWriter::finish() {
  if (TIFFFlush(session_->tiff()) != 1 || session_->failed()) return failure("cannot write");
  session_.reset();
  return file_->commit();
}

Result<std::unique_ptr<ArrayFileWriter>> create_tiff(const std::string& path, const FileArray& array, WriteMode mode) {
  if (is_numbered(path))
    return invalid_argument("a TIFF file holds all planes as its pages; give one name, without a number").in_key(path);
  SHERD_TRY(planes, as_planes(array).in_key(path));
  const ImageInfo& image = planes.image;
  constexpr std::uint64_t kMax = 0xffffffff;
  if (!sample_format(image.dtype.kind()) || image.channels > 65535 || image.width > kMax || image.height > kMax)
    return unsupported("TIFF cannot store " + to_string(image)).in_key(path);
  SHERD_TRY(file, OutputFile::create(path, mode));
  if (!file->random_access())
    return invalid_argument("a TIFF file cannot be written into a pipe or device").in_key(path);
  auto writer = std::make_unique<TiffWriter>(std::move(file), std::move(planes));
  SHERD_TRY(writer->start(array));
  return std::unique_ptr<ArrayFileWriter>(std::move(writer));
}

constexpr std::string_view kTiffSuffixes[] = {".tif", ".tiff"};

}  // namespace

constinit const FileFormat kTiffFiles{"tiff", kTiffSuffixes, open_tiff_files, create_tiff, FileOrder::planes};

}  // namespace sherd
