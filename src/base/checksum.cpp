// Knows which library computes which checksum fastest: ISA-L the CRC-32C (three interleaved streams of the crc32
// instruction, or its table version where the processor has none), libdeflate CRC-32 and Adler-32 (both vectorised).
// Fletcher-32 in HDF5's flavour is in no library and is implemented here.
#include "base/checksum.hpp"

#include <isa-l/crc.h>
#include <libdeflate.h>

#include <algorithm>

namespace sherd {

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
  // ISA-L counts in int, and its argument is not const although it only reads.
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

std::uint32_t crc32(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() ? 0 : libdeflate_crc32(0, bytes.data(), bytes.size());
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

}  // namespace sherd
