// The unused bytes inside an object.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/extent.hpp"

namespace sherd {

class Gaps {
 public:
  Gaps() = default;
  /// By offset, none within another.
  explicit Gaps(std::vector<Extent> by_offset);

  /// The beginning of the first gap that has so many bytes (at least one), and marks them as used; nullopt if
  /// none has. The time grows with the logarithm of their number.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t length) noexcept;

 private:
  std::vector<Extent> gaps_;  // what is left of each
  // A binary tree in an array: node i has the greater value of nodes 2 i and 2 i + 1, a leaf the length of its gap.
  std::vector<std::uint64_t> longest_;
};

}  // namespace sherd
