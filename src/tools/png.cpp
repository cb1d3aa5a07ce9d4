// PNG images through libpng: 8 and 16 bit gray, gray with alpha, RGB, RGBA. Palettes become colours, 1, 2 and 4 bit
// gray becomes 8 bit. libpng reports errors by longjmp, so the calls into it stand in functions without destructors.
#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstring>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "tools/files.hpp"

namespace sherd {
namespace {

// What libpng's callbacks need. `failure` holds our own error where a callback met one.
struct Session {
  InputFile* input = nullptr;
  OutputFile* output = nullptr;
  std::uint64_t position = 0;
  char message[128] = {};
  std::optional<Error> failure;
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* session = static_cast<Session*>(png_get_error_ptr(png));
  std::strncpy(session->message, message, sizeof session->message - 1);
  png_longjmp(png, 1);
}
void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}

void on_read(png_structp png, png_bytep into, std::size_t size) {
  auto* session = static_cast<Session*>(png_get_io_ptr(png));
  {
    auto got = session->input->read_at(session->position, {reinterpret_cast<std::byte*>(into), size});
    if (got) {
      session->position += size;
      return;
    }
    session->failure = std::move(got).error();
  }
  png_error(png, "read");
}

void on_write(png_structp png, png_bytep from, std::size_t size) {
  auto* session = static_cast<Session*>(png_get_io_ptr(png));
  {
    auto put = session->output->append({reinterpret_cast<const std::byte*>(from), size});
    if (put) return;
    session->failure = std::move(put).error();
  }
  png_error(png, "write");
}
void on_flush(png_structp /*png*/) {}

Error png_failure(Session& session, const std::string& path) {
  if (session.failure) return std::move(*session.failure).in("png");
  const std::string place = session.input == nullptr ? "" : " before byte " + std::to_string(session.position);
  return corrupt("png: " + std::string(session.message) + place).in_key(path);
}

bool begin_read(png_structp png, png_infop info, Session* session) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_read_fn(png, session, on_read);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  png_read_info(png, info);
  png_set_expand(png);
  if (std::endian::native == std::endian::little) png_set_swap(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  return true;
}
bool read_some_rows(png_structp png, png_bytep into, std::uint64_t rows, std::uint64_t row_bytes) {
  if (setjmp(png_jmpbuf(png))) return false;
  for (std::uint64_t i = 0; i < rows; ++i) png_read_row(png, into + i * row_bytes, nullptr);
  return true;
}
bool end_read(png_structp png) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_end(png, nullptr);
  return true;
}

class PngFile final : public ImageFile {
 public:
  PngFile(std::unique_ptr<InputFile> file, const Limits& limits) : file_(std::move(file)), limits_(limits) {}
  ~PngFile() override { close(); }
  PngFile(const PngFile&) = delete;
  PngFile& operator=(const PngFile&) = delete;

  Result<void> start();
  [[nodiscard]] const ImageInfo& info() const noexcept override { return info_; }
  Result<void> read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) override;

 private:
  void close() noexcept { png_destroy_read_struct(&png_, &png_info_, nullptr); }
  Error failure() { return png_failure(session_, file_->path()); }
  Result<void> take(std::span<std::byte> into);
  Result<void> read_interlaced();

  std::unique_ptr<InputFile> file_;
  Limits limits_;
  png_structp png_ = nullptr;
  png_infop png_info_ = nullptr;
  Session session_;
  ImageInfo info_;
  std::uint64_t next_row_ = 0;
  Buffer skipped_;
  Buffer whole_;  ///< the image, where it is interlaced
};

Result<void> PngFile::start() {
  close();
  session_ = Session{file_.get(), nullptr, 0, {}, {}};
  next_row_ = 0;
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session_, on_error, on_warning);
  png_info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
  if (png_info_ == nullptr) return unavailable("no memory for libpng");
  if (!begin_read(png_, png_info_, &session_)) return failure();
  info_ = {png_get_image_height(png_, png_info_), png_get_image_width(png_, png_info_),
           png_get_channels(png_, png_info_), png_get_bit_depth(png_, png_info_) == 16 ? DType::uint16 : DType::uint8};
  return check_image(info_, limits_).in_key(file_->path());
}

Result<void> PngFile::take(std::span<std::byte> into) {
  const std::uint64_t rows = into.size() / info_.row_bytes();
  if (!read_some_rows(png_, reinterpret_cast<png_bytep>(into.data()), rows, info_.row_bytes())) return failure();
  next_row_ += rows;
  // The end of the file holds the checksum of the last rows.
  if (next_row_ == info_.height && !end_read(png_)) return failure();
  return {};
}

Result<void> PngFile::read_interlaced() {
  if (whole_.size() != 0) return {};
  const auto size = checked_mul(info_.row_bytes(), info_.height);
  if (!size || *size > limits_.chunk_bytes)
    return unsupported("an interlaced image is decoded whole, and this one is larger than the limit 'chunk_bytes' of " +
                       std::to_string(limits_.chunk_bytes))
        .in_key(file_->path());
  SHERD_TRY(whole_.resize(*size));
  // Each pass fills in what it has, over what earlier passes left.
  std::memset(whole_.data(), 0, *size);
  const int passes = 7;
  for (int pass = 0; pass < passes; ++pass)
    if (!read_some_rows(png_, reinterpret_cast<png_bytep>(whole_.data()), info_.height, info_.row_bytes())) {
      whole_.reset();
      return failure();
    }
  if (!end_read(png_)) return failure();
  return {};
}

Result<void> PngFile::read_rows(std::uint64_t /*page*/, std::uint64_t first, std::span<std::byte> into) {
  if (png_get_interlace_type(png_, png_info_) != PNG_INTERLACE_NONE) {
    SHERD_TRY(read_interlaced());
    std::memcpy(into.data(), whole_.data() + first * info_.row_bytes(), into.size());
    return {};
  }
  if (first < next_row_) SHERD_TRY(start());
  if (first > next_row_) SHERD_TRY(skipped_.resize(info_.row_bytes()));
  while (next_row_ < first) SHERD_TRY(take(skipped_.span()));
  return take(into);
}

Result<std::unique_ptr<ImageFile>> open_png_image(const std::string& path, const Limits& limits) {
  SHERD_TRY(file, InputFile::open(path));
  auto image = std::make_unique<PngFile>(std::move(file), limits);
  SHERD_TRY(image->start());
  return std::unique_ptr<ImageFile>(std::move(image));
}

// ---- writing ----

struct PngHeader {
  png_uint_32 width, height;
  int depth, colour;
};

bool begin_write(png_structp png, png_infop info, Session* session, PngHeader header) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_write_fn(png, session, on_write, on_flush);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  png_set_IHDR(png, info, header.width, header.height, header.depth, header.colour, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if (header.depth == 16 && std::endian::native == std::endian::little) png_set_swap(png);
  return true;
}
bool write_row(png_structp png, png_const_bytep row) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_write_row(png, row);
  return true;
}
bool end_write(png_structp png) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_write_end(png, nullptr);
  return true;
}

class PngWriter final : public ImageWriter {
 public:
  PngWriter(std::unique_ptr<OutputFile> file, const ImageInfo& info) : file_(std::move(file)), info_(info) {
    session_.output = file_.get();
  }
  ~PngWriter() override { png_destroy_write_struct(&png_, &png_info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  Result<void> start() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &session_, on_error, on_warning);
    png_info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (png_info_ == nullptr) return unavailable("no memory for libpng");
    constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGBA};
    const PngHeader header{static_cast<png_uint_32>(info_.width), static_cast<png_uint_32>(info_.height),
                           static_cast<int>(8 * info_.dtype.size()), kColours[info_.channels - 1]};
    if (!begin_write(png_, png_info_, &session_, header)) return png_failure(session_, file_->path());
    return row_.resize(info_.row_bytes());
  }
  Result<void> write(std::span<const std::byte> rows) override {
    while (!rows.empty()) {
      // A row that came in parts is put together first.
      const auto part = rows.first(std::min(rows.size(), row_.size() - filled_));
      const std::byte* row = part.data();
      if (part.size() != row_.size()) {
        std::memcpy(row_.data() + filled_, part.data(), part.size());
        row = row_.data();
      }
      rows = rows.subspan(part.size());
      filled_ = (filled_ + part.size()) % row_.size();
      if (filled_ == 0 && !write_row(png_, reinterpret_cast<png_const_bytep>(row)))
        return png_failure(session_, file_->path());
    }
    return {};
  }
  Result<void> finish() override {
    if (!end_write(png_)) return png_failure(session_, file_->path());
    return file_->commit();
  }

 private:
  std::unique_ptr<OutputFile> file_;
  ImageInfo info_;
  Session session_;
  png_structp png_ = nullptr;
  png_infop png_info_ = nullptr;
  Buffer row_;
  std::size_t filled_ = 0;
};

Result<std::unique_ptr<FileReader>> open_png_files(const std::string& path, const ImportOptions& options) {
  return open_images(path, options, kPngFiles, open_png_image);
}
Result<std::unique_ptr<FileWriter>> create_png_files(const std::string& path, const FileArray& array, WriteMode mode) {
  return create_images(path, array, mode, create_png, ".png");
}

constexpr std::string_view kSuffixes[] = {".png"};

}  // namespace

Result<std::unique_ptr<ImageWriter>> create_png(const std::string& path, const ImageInfo& info, WriteMode mode) {
  const auto kind = info.dtype.kind();
  if (kind != DType::Kind::uint8 && kind != DType::Kind::uint16 && kind != DType::Kind::boolean)
    return unsupported("PNG holds uint8 and uint16, not '" + info.dtype.name() + "'").in_key(path);
  if (info.channels > 4 || info.width > 0x7fffffff || info.height > 0x7fffffff)
    return unsupported("PNG cannot hold " + to_string(info)).in_key(path);
  SHERD_TRY(file, OutputFile::create(path, mode));
  auto writer = std::make_unique<PngWriter>(std::move(file), info);
  SHERD_TRY(writer->start());
  return std::unique_ptr<ImageWriter>(std::move(writer));
}

constinit const FileFormat kPngFiles{"png", kSuffixes, open_png_files, create_png_files};

}  // namespace sherd
