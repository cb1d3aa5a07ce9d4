// A range of bytes in an object.
#pragma once

#include <cstdint>
#include <string>

namespace sherd {

/// `length` bytes beginning at `offset`. Made from checked sizes, so that end() cannot overflow.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return offset + length; }
  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

/// For messages: "bytes 12 to 40".
[[nodiscard]] inline std::string range_text(const Extent& extent) {
  return "bytes " + std::to_string(extent.offset) + " to " + std::to_string(extent.end());
}

}  // namespace sherd
