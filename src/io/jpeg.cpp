// JPEG files through libjpeg, written row by row. libjpeg reports errors by longjmp, so the calls into it are in
// functions without destructors.
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

#include "base/try.hpp"
#include "io/files.hpp"

namespace sherd {
namespace {

constexpr int kQuality = 90;

class JpegFileWriter final : public ImageWriter {
 public:
  JpegFileWriter(std::unique_ptr<OutputFile> file, const ImageInfo& info) : file_(std::move(file)), info_(info) {
    image_.err = jpeg_std_error(&manager_);
    manager_.error_exit = on_error;
    manager_.emit_message = [](j_common_ptr /*image*/, int /*level*/) {};
    image_.client_data = this;
    destination_.init_destination = [](j_compress_ptr image) { self(image).rewind(); };
    destination_.empty_output_buffer = [](j_compress_ptr image) -> boolean {
      JpegFileWriter& writer = self(image);
      writer.pass_on(writer.out_.size());
      return TRUE;
    };
    destination_.term_destination = [](j_compress_ptr image) {
      JpegFileWriter& writer = self(image);
      writer.pass_on(writer.out_.size() - writer.destination_.free_in_buffer);
    };
  }
  ~JpegFileWriter() override { jpeg_destroy_compress(&image_); }
  JpegFileWriter(const JpegFileWriter&) = delete;
  JpegFileWriter& operator=(const JpegFileWriter&) = delete;

  Result<void> start() { return start_image() ? Result<void>{} : failure(); }
  Result<void> write(std::span<const std::byte> rows) override {
    const std::size_t row_bytes = info_.row_bytes();
    for (; rows.size() >= row_bytes; rows = rows.subspan(row_bytes))
      if (!write_row(rows.data())) return failure();
    return failed_ ? Result<void>(*failed_) : Result<void>{};
  }
  Result<void> finish() override {
    if (!finish_image()) return failure();
    if (failed_) return *failed_;
    return file_->commit();
  }

 private:
  static JpegFileWriter& self(j_compress_ptr image) { return *static_cast<JpegFileWriter*>(image->client_data); }
  [[noreturn]] static void on_error(j_common_ptr image) {
    auto& writer = *static_cast<JpegFileWriter*>(image->client_data);
    image->err->format_message(image, writer.message_);
    std::longjmp(writer.escape_, 1);
  }

  bool start_image() {
    if (setjmp(escape_)) return false;
    jpeg_create_compress(&image_);
    image_.client_data = this;
    image_.dest = &destination_;
    image_.image_width = static_cast<JDIMENSION>(info_.width);
    image_.image_height = static_cast<JDIMENSION>(info_.height);
    image_.input_components = static_cast<int>(info_.channels);
    image_.in_color_space = info_.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&image_);
    jpeg_set_quality(&image_, kQuality, TRUE);
    jpeg_start_compress(&image_, TRUE);
    return true;
  }
  bool write_row(const std::byte* from) {
    if (setjmp(escape_)) return false;
    // libjpeg's rows are not const, but are not written to.
    auto* row = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(from));
    jpeg_write_scanlines(&image_, &row, 1);
    return true;
  }
  bool finish_image() {
    if (setjmp(escape_)) return false;
    jpeg_finish_compress(&image_);
    return true;
  }

  void rewind() {
    destination_.next_output_byte = reinterpret_cast<JOCTET*>(out_.data());
    destination_.free_in_buffer = out_.size();
  }
  // A failure is saved for later, because libjpeg cannot pass it on.
  void pass_on(std::size_t count) {
    if (auto written = file_->append(std::span(out_).first(count)); !written && !failed_) failed_ = written.error();
    rewind();
  }
  [[nodiscard]] Result<void> failure() const {
    return Error(ErrorCode::io, "jpeg: " + std::string(message_)).in_key(file_->path());
  }

  std::unique_ptr<OutputFile> file_;
  ImageInfo info_;
  std::optional<Error> failed_;
  std::array<std::byte, 16384> out_;
  jpeg_error_mgr manager_ = {};
  jpeg_destination_mgr destination_ = {};
  jpeg_compress_struct image_ = {};
  std::jmp_buf escape_ = {};
  char message_[JMSG_LENGTH_MAX] = {};
};

}  // namespace

Result<std::unique_ptr<ImageWriter>> create_jpeg(const std::string& path, const ImageInfo& info, WriteMode mode) {
  if (info.dtype != DType::uint8 || (info.channels != 1 && info.channels != 3) || info.width > JPEG_MAX_DIMENSION ||
      info.height > JPEG_MAX_DIMENSION)
    return unsupported("JPEG cannot store " + to_string(info) + "; its sides are at most " +
                       std::to_string(JPEG_MAX_DIMENSION) + ", write a .png")
        .in_key(path);
  SHERD_TRY(file, OutputFile::create(path, mode));
  auto writer = std::make_unique<JpegFileWriter>(std::move(file), info);
  SHERD_TRY(writer->start());
  return std::unique_ptr<ImageWriter>(std::move(writer));
}

}  // namespace sherd
