// Uses libpng, which reports errors by longjmp. So the calls into it are in functions without destructors, and
// callbacks store Sherd's own errors in the session before they jump.
#include "codec/png_rows.hpp"

#include <bit>
#include <csetjmp>
#include <cstring>

#include "base/try.hpp"

namespace sherd {
namespace {

[[noreturn]] void on_png_error(png_structp png, png_const_charp message) {
  auto* session = static_cast<PngSession*>(png_get_error_ptr(png));
  std::strncpy(session->message, message, sizeof session->message - 1);
  png_longjmp(png, 1);
}
void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}

void on_read(png_structp png, png_bytep into, std::size_t size) {
  auto* session = static_cast<PngSession*>(png_get_io_ptr(png));
  {
    auto got = session->read({reinterpret_cast<std::byte*>(into), size});
    if (got) {
      session->position += size;
      return;
    }
    session->failure = std::move(got).error();
  }
  png_error(png, "read");
}

void on_write(png_structp png, png_bytep from, std::size_t size) {
  auto* session = static_cast<PngSession*>(png_get_io_ptr(png));
  {
    auto put = session->write({reinterpret_cast<const std::byte*>(from), size});
    if (put) return;
    session->failure = std::move(put).error();
  }
  png_error(png, "write");
}
void on_flush(png_structp /*png*/) {}

Error failure_of(PngSession& session) {
  if (session.failure) return std::move(*session.failure).in("png");
  const std::string at = session.read == nullptr ? "" : " before byte " + std::to_string(session.position);
  return corrupt("png: " + std::string(session.message) + at);
}

bool read_png_header(png_structp png, png_infop info, PngSession* session) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_read_fn(png, session, on_read);
  png_set_user_limits(png, kMaxPngSide, kMaxPngSide);
  png_read_info(png, info);
  return true;
}
/// Chooses the form of rows, and allocates memory for one.
bool begin_rows(png_structp png, png_infop info) {
  if (setjmp(png_jmpbuf(png))) return false;
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

bool begin_write(png_structp png, png_infop info, PngSession* session, const PngHeader& header, int level) {
  constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
  constexpr int kLibrarysOwn = -1;
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_write_fn(png, session, on_write, on_flush);
  png_set_user_limits(png, kMaxPngSide, kMaxPngSide);
  if (level != kLibrarysOwn) png_set_compression_level(png, level);
  png_set_IHDR(png, info, static_cast<png_uint_32>(header.width), static_cast<png_uint_32>(header.height),
               static_cast<int>(8 * header.sample_bytes), kColours[header.channels - 1], PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if (header.sample_bytes == 2 && std::endian::native == std::endian::little) png_set_swap(png);
  return true;
}
bool put_row(png_structp png, png_const_bytep row) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_write_row(png, row);
  return true;
}
bool end_write(png_structp png) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_write_end(png, nullptr);
  return true;
}

Error no_memory() { return unavailable("no memory for libpng"); }

}  // namespace

Error PngRows::failure() { return failure_of(session_); }

Result<void> PngRows::open(std::uint64_t max_pixels) {
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session_, on_png_error, on_warning);
  info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
  if (info_ == nullptr) return no_memory();
  if (!read_png_header(png_, info_, &session_)) return failure();
  const std::uint64_t width = png_get_image_width(png_, info_);
  const std::uint64_t height = png_get_image_height(png_, info_);
  if (width * height > max_pixels)
    return corrupt("png: an image of " + std::to_string(width) + " x " + std::to_string(height) +
                   " pixels, more than the " + std::to_string(max_pixels) + " expected");
  if (!begin_rows(png_, info_)) return failure();
  header_ = {width, height, png_get_channels(png_, info_), png_get_bit_depth(png_, info_) == 16 ? 2u : 1u,
             png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE};
  return {};
}

Result<void> PngRows::read_rows(std::span<std::byte> into) {
  const std::uint64_t rows = into.size() / header_.row_bytes();
  if (!read_some_rows(png_, reinterpret_cast<png_bytep>(into.data()), rows, header_.row_bytes())) return failure();
  next_row_ += rows;
  // The end of the image contains the checksum of the last rows.
  if (next_row_ == header_.height && !end_read(png_)) return failure();
  return {};
}

Result<void> PngRows::read_image(std::span<std::byte> into) {
  if (!header_.interlaced) return read_rows(into);
  // Each pass adds its pixels to those of earlier passes.
  std::memset(into.data(), 0, into.size());
  const int passes = 7;
  for (int pass = 0; pass < passes; ++pass) {
    if (!read_some_rows(png_, reinterpret_cast<png_bytep>(into.data()), header_.height, header_.row_bytes()))
      return failure();
  }
  if (!end_read(png_)) return failure();
  return {};
}

Error PngWriter::failure() { return failure_of(session_); }

Result<void> PngWriter::open(const PngHeader& header, std::optional<int> level) {
  png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &session_, on_png_error, on_warning);
  info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
  if (info_ == nullptr) return no_memory();
  if (!begin_write(png_, info_, &session_, header, level.value_or(-1))) return failure();
  return {};
}

Result<void> PngWriter::write_row(const std::byte* row) {
  if (!put_row(png_, reinterpret_cast<png_const_bytep>(row))) return failure();
  return {};
}

Result<void> PngWriter::finish() {
  if (!end_write(png_)) return failure();
  return {};
}

}  // namespace sherd
