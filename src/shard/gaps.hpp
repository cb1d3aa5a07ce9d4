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
  /// Sorted by offset, not overlapping.
  explicit Gaps(std::vector<Extent> by_offset);

  /// Marks the first `length` bytes (at least one) of the first gap that is large enough as used, and returns their
  /// offset; nullopt if there is none. Takes logarithmic time in the number of gaps.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t length) noexcept;

 private:
  std::vector<Extent> gaps_;  // the rest of each gap
  // A binary tree in an array: node i has the maximum of nodes 2 i and 2 i + 1, a leaf the length of its gap.
  std::vector<std::uint64_t> longest_;
};

}  // namespace sherd
