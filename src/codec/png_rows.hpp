// PNG images row by row through libpng, from any source to any destination: 8 and 16 bit gray, gray with alpha,
// RGB, RGBA. Palettes become colours, 1, 2 and 4 bit gray becomes 8 bit; 16 bit samples are in the machine's byte
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

/// What libpng's callbacks need. `failure` holds our own error where a callback met one.
struct PngSession {
  std::function<Result<void>(std::span<std::byte>)> read;
  std::function<Result<void>(std::span<const std::byte>)> write;
  std::uint64_t position = 0;
  char message[128] = {};
  std::optional<Error> failure = {};
};

class PngRows {
 public:
  /// Fills the span with the bytes that come next.
  using Source = std::function<Result<void>(std::span<std::byte>)>;

  explicit PngRows(Source source) { session_.read = std::move(source); }
  ~PngRows() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngRows(const PngRows&) = delete;
  PngRows& operator=(const PngRows&) = delete;

  /// Reads the header; once, before all else. More than `max_pixels` are `corrupt`, before anything is taken for them.
  Result<void> open(std::uint64_t max_pixels);
  [[nodiscard]] const PngHeader& header() const noexcept { return header_; }
  /// The rows that come next, as many as `into` takes; for images that are not interlaced. With the last row the
  /// image's end is verified.
  Result<void> read_rows(std::span<std::byte> into);
  /// All rows at once, interlaced or not, before any others.
  Result<void> read_image(std::span<std::byte> into);
  /// Rows that read_rows has given.
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

  /// Writes the header; once, before all else. `level`: zlib's, default: libpng's.
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
