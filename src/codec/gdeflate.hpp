// Shared by reading and writing GDeflate: Deflate64 in pages of 64 KiB with 32 lanes of bits each. Symbols are dealt to
// the lanes in turn: a block's header and literals as in Deflate; of a match first the length and, at the lane's next
// turn, the distance. A lane holds 32 to 63 bits. If it has fewer after its turn, it gets the next 32 bits of the page,
// so the order of a page's words follows from what was read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sherd/result.hpp"

namespace sherd::gdeflate {

inline constexpr std::size_t kPageBytes = std::size_t{1} << 16;
inline constexpr std::size_t kLanes = 32;
inline constexpr unsigned kWordBits = 32;
inline constexpr std::size_t kWordBytes = 4;

inline constexpr std::size_t kSymbols = 288, kDistances = 32, kLengthSymbols = 19;
inline constexpr unsigned kMaxCodeBits = 15, kMaxLengthCodeBits = 7;
inline constexpr unsigned kEndOfBlock = 256, kFirstLength = 257;

enum class Block : std::uint8_t { stored, fixed, dynamic };

/// A length or distance: the minimum of a symbol, and the number of bits added to it.
struct Range {
  std::uint32_t base;
  std::uint8_t bits;
};
/// For symbols from kFirstLength. As in Deflate64, the last ones reach the size of a page.
inline constexpr std::array<Range, 31> kLengths{
    {{3, 0},  {4, 0},   {5, 0},   {6, 0},   {7, 0},   {8, 0},   {9, 0},  {10, 0}, {11, 1}, {13, 1}, {15, 1},
     {17, 1}, {19, 2},  {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3}, {51, 3}, {59, 3}, {67, 4}, {83, 4},
     {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {3, 16}, {3, 16}, {3, 16}}};
inline constexpr std::array<Range, kDistances> kDistanceRanges = [] {
  std::array<Range, kDistances> ranges{};
  std::uint32_t base = 1;
  for (std::uint32_t i = 0; i < kDistances; ++i) {
    const std::uint32_t bits = i < 4 ? 0 : i / 2 - 1;
    ranges[i] = {base, static_cast<std::uint8_t>(bits)};
    base += std::uint32_t{1} << bits;
  }
  return ranges;
}();
/// The order in which the lengths of the codes of code lengths are stored.
inline constexpr std::array<std::uint8_t, kLengthSymbols> kLengthOrder{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                                       11, 4,  12, 3, 13, 2, 14, 1, 15};
/// Code lengths of fixed blocks: symbols, then distances.
inline constexpr auto kFixedLengths = [] {
  std::array<std::uint8_t, kSymbols + kDistances> lengths{};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < kSymbols ? 8 : 5;
  return lengths;
}();

/// Decodes a page, which must fill `to`.
Result<void> decode_page(std::span<const std::byte> page, std::span<std::byte> to);

/// The maximum size of an encoded page of `size` bytes.
[[nodiscard]] constexpr std::size_t max_page_bytes(std::size_t size) noexcept {
  return (size + 3) / 4 * 4 + 8 * kLanes + 64;
}
/// Encodes at most kPageBytes, and returns the number of bytes written. `level` is 0 … 12; 0: stored.
std::size_t encode_page(std::span<const std::byte> from, unsigned level, std::byte* to);

}  // namespace sherd::gdeflate
