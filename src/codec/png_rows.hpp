// Reads and writes PNG images row by row through libpng, from any source to any destination: 8 and 16 bit gray, gray
// with alpha, RGB, RGBA. Palettes become colours; 1, 2 and 4 bit gray becomes 8 bit; 16 bit samples have native byte
// order.
#pragma once

#include <png.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "sherd/result.hpp"

namespace sherd {

struct PngHeader {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  unsigned channels = 1;
  unsigned sample_bytes = 1;
  bool interlaced = false;
  [[nodiscard]] std::uint64_t row_bytes() const noexcept { return width * channels * sample_bytes; }
};

inline constexpr std::uint64_t kMaxPngSide = 0x7fffffff;

/// The data of libpng's callbacks. `failure` is the error of Sherd's own callbacks, if any.
struct PngSession {
  std::function<Result<void>(std::span<std::byte>)> read;
  std::function<Result<void>(std::span<const std::byte>)> write;
  std::uint64_t position = 0;
  char message[128] = {};
  std::optional<Error> failure = {};
};

class PngRows {
 public:
  /// Fills the span with the next bytes.
  using Source = std::function<Result<void>(std::span<std::byte>)>;

  explicit PngRows(Source source) { session_.read = std::move(source); }
  ~PngRows() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngRows(const PngRows&) = delete;
  PngRows& operator=(const PngRows&) = delete;

  /// Reads the header; call once, first. More than `max_pixels` are `corrupt`, before memory is allocated for them.
  Result<void> open(std::uint64_t max_pixels);
  [[nodiscard]] const PngHeader& header() const noexcept { return header_; }
  /// Reads the next rows, as many as fit into `into`; for images that are not interlaced. With the last row, the end of
  /// the image is verified.
  Result<void> read_rows(std::span<std::byte> into);
  /// Reads all rows at once, interlaced or not; call before reading any others.
  Result<void> read_image(std::span<std::byte> into);
  /// The number of rows that read_rows has returned.
  [[nodiscard]] std::uint64_t next_row() const noexcept { return next_row_; }

 private:
  Error failure();

  PngSession session_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  PngHeader header_;
  std::uint64_t next_row_ = 0;
};

class PngWriter {
 public:
  using Sink = std::function<Result<void>(std::span<const std::byte>)>;

  explicit PngWriter(Sink sink) { session_.write = std::move(sink); }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  /// Writes the header; call once, first. `level`: zlib's; default: libpng's.
  Result<void> open(const PngHeader& header, std::optional<int> level);
  Result<void> write_row(const std::byte* row);
  Result<void> finish();

 private:
  Error failure();

  PngSession session_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace sherd
