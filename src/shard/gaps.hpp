// The room inside an object that nothing takes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shard/extent.hpp"

namespace sherd {

class Gaps {
 public:
  Gaps() = default;
  /// By offset, none within another.
  explicit Gaps(std::vector<Extent> by_offset);

  /// The beginning of the first gap that has so many bytes (at least one), which are no longer free then; nullopt where
  /// none has. Takes a time that grows with the logarithm of their number.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t length) noexcept;

 private:
  std::vector<Extent> gaps_;  // what is left of each
  std::vector<std::uint64_t>
      longest_;  // a binary tree: of i the longer one of 2 i and 2 i + 1, of leaves the gap itself
};

}  // namespace sherd
