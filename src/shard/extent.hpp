// Where an inner chunk's encoded bytes stand.
#pragma once

#include <cstdint>

namespace sherd {

/// `length` bytes from `offset` on. Made by ShardIndex only, so end() cannot overflow.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return offset + length; }
  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

}  // namespace sherd
