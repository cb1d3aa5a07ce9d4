// Bits packed from the lowest of each byte, for pcodec.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/endian.hpp"
#include "codec/pcodec.hpp"

namespace sherd::pcodec {

/// The lowest `count` bits; count is 0 … 64.
[[nodiscard]] constexpr std::uint64_t low_bits(unsigned count) noexcept {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Reads bits from memory with kPadding more bytes after its end, so that one check per batch is sufficient.
class BitReader {
 public:
  /// More than a batch of one sequence can have: 256 bins of 14 bits and offsets of 64.
  static constexpr std::size_t kPadding = kBatch * (kMaxTableLog + 64) / 8 + 16;

  BitReader(const std::byte* data, std::size_t size) noexcept : data_(data), end_(8 * std::uint64_t{size}) {}

  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t position() const noexcept { return at_; }
  void move_to(std::uint64_t position) noexcept { at_ = position; }
  /// False once more has been read than exists.
  [[nodiscard]] bool is_within() const noexcept { return at_ <= end_; }
  [[nodiscard]] bool has(std::uint64_t bits) const noexcept { return is_within() && end_ - at_ >= bits; }
  [[nodiscard]] std::uint64_t left() const noexcept { return is_within() ? end_ - at_ : 0; }

  /// 0 … 64 bits. The caller checks has() or, afterwards and before the padding ends, is_within().
  std::uint64_t read(unsigned bits) noexcept {
    const std::byte* const from = data_ + at_ / 8;
    const auto shift = static_cast<unsigned>(at_ % 8);
    std::uint64_t word = load_little<std::uint64_t>(from) >> shift;
    if (shift + bits > 64) word |= std::to_integer<std::uint64_t>(from[8]) << (64 - shift);
    at_ += bits;
    return word & low_bits(bits);
  }
  /// Skips to the next whole byte; false if any skipped bit is set.
  [[nodiscard]] bool align() noexcept { return read(static_cast<unsigned>(-at_ % 8)) == 0; }

 private:
  const std::byte* data_;
  std::uint64_t end_, at_ = 0;
};

/// Writes bits into memory that is large enough, with 8 bytes to spare.
class BitWriter {
 public:
  explicit BitWriter(std::byte* to) noexcept : to_(to) {}

  /// 0 … 64 bits; `value` must have no others.
  void write(std::uint64_t value, unsigned bits) noexcept {
    word_ |= value << used_;
    if (used_ + bits < 64) {
      used_ += bits;
      return;
    }
    store_little(to_, word_);
    to_ += 8;
    const unsigned taken = 64 - used_;
    word_ = taken < 64 ? value >> taken : 0;
    used_ = bits - taken;
  }
  /// Fills the last byte with zeros and returns where the next one is.
  std::byte* finish() noexcept {
    store_little(to_, word_);
    to_ += (used_ + 7) / 8;
    word_ = 0, used_ = 0;
    return to_;
  }

 private:
  std::byte* to_;
  std::uint64_t word_ = 0;
  unsigned used_ = 0;  // of word_; below 64
};

}  // namespace sherd::pcodec
