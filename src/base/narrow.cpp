// One formula for every type: a signed number plus half of its range has no bits above. Loops over single bytes without
// branches, which compilers vectorise.
#include "base/narrow.hpp"

#include <algorithm>
#include <cstdint>

namespace sherd {
namespace {

constexpr std::size_t kBlockBytes = 4096;

struct UsedBits {
  std::uint8_t kept, offset;
  explicit UsedBits(NarrowNumbers numbers) noexcept
      : kept(static_cast<std::uint8_t>((1U << numbers.bits) - 1)),
        offset(static_cast<std::uint8_t>(numbers.is_signed ? 1U << (numbers.bits - 1) : 0U)) {}
  [[nodiscard]] std::uint8_t above(std::byte byte) const noexcept {
    return static_cast<std::uint8_t>((std::to_integer<unsigned>(byte) + offset) & ~unsigned{kept});
  }
  [[nodiscard]] std::byte normal(std::byte byte) const noexcept {
    return static_cast<std::byte>(((std::to_integer<unsigned>(byte) + offset) & kept) - offset);
  }
};

}  // namespace

bool is_normal(NarrowNumbers numbers, std::span<const std::byte> bytes) noexcept {
  const UsedBits range(numbers);
  while (!bytes.empty()) {
    const auto block = bytes.first(std::min(bytes.size(), kBlockBytes));
    std::uint8_t above = 0;
    for (const std::byte byte : block) above |= range.above(byte);
    if (above != 0) return false;
    bytes = bytes.subspan(block.size());
  }
  return true;
}

void normalize(NarrowNumbers numbers, std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  const UsedBits range(numbers);
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = range.normal(from[i]);
}

}  // namespace sherd
