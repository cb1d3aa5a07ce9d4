// Uses the fastest library for each checksum: ISA-L for CRC-32C (three interleaved streams of the crc32 instruction, or
// tables if the processor lacks it), libdeflate for CRC-32 and Adler-32 (both vectorised). No library has Fletcher-32
// as HDF5 computes it, and liblz4 does not export its xxHash; both are implemented here.
#include "base/checksum.hpp"

#include <isa-l/crc.h>
#include <libdeflate.h>

#include <algorithm>
#include <bit>

#include "base/endian.hpp"

namespace sherd {

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
  // ISA-L counts in int, and its argument is not const although it is only read.
  constexpr std::size_t step = std::size_t{1} << 30;
  std::uint32_t state = 0xffffffffu;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(step, bytes.size()));
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(part.data()));
    state = crc32_iscsi(data, static_cast<int>(part.size()), state);
    bytes = bytes.subspan(part.size());
  }
  return ~state;
}

std::uint32_t crc32(std::span<const std::byte> bytes) noexcept { return crc32_after(0, bytes); }

std::uint32_t crc32_after(std::uint32_t before, std::span<const std::byte> bytes) noexcept {
  return bytes.empty() ? before : libdeflate_crc32(before, bytes.data(), bytes.size());
}

std::uint32_t adler32(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() ? 1 : libdeflate_adler32(1, bytes.data(), bytes.size());
}

std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept {
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffu) + (sum >> 16); };
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t words = bytes.size() / 2;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  while (words != 0) {
    // 360 words is the maximum whose sums cannot overflow 32 bits before they are folded.
    const std::size_t run = std::min<std::size_t>(words, 360);
    for (const auto* end = at + 2 * run; at != end; at += 2) {
      low += static_cast<std::uint32_t>(at[0] << 8 | at[1]);
      high += low;
    }
    words -= run;
    low = fold(low);
    high = fold(high);
  }
  if (bytes.size() % 2 != 0) {
    low = low + (static_cast<std::uint32_t>(*at) << 8);
    high = high + low;
    low = fold(low);
    high = fold(high);
  }
  return fold(high) << 16 | fold(low);
}

std::uint32_t xxh32(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
  constexpr std::uint32_t p1 = 0x9e3779b1, p2 = 0x85ebca77, p3 = 0xc2b2ae3d, p4 = 0x27d4eb2f, p5 = 0x165667b1;
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  std::uint32_t sum = seed + p5;
  if (bytes.size() >= 16) {
    std::uint32_t lanes[] = {seed + p1 + p2, seed + p2, seed, seed - p1};
    for (; end - at >= 16; at += 16)
      for (int i = 0; i < 4; ++i) lanes[i] = std::rotl(lanes[i] + load_little<std::uint32_t>(at + 4 * i) * p2, 13) * p1;
    sum = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  }
  sum += static_cast<std::uint32_t>(bytes.size());
  for (; end - at >= 4; at += 4) sum = std::rotl(sum + load_little<std::uint32_t>(at) * p3, 17) * p4;
  for (; at != end; ++at) sum = std::rotl(sum + std::to_integer<std::uint32_t>(*at) * p5, 11) * p1;
  sum = (sum ^ sum >> 15) * p2;
  sum = (sum ^ sum >> 13) * p3;
  return sum ^ sum >> 16;
}

}  // namespace sherd
