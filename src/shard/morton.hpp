// The compressed Morton code numbers the chunks of a grid so that chunks with close numbers are close in space.
#pragma once

#include <cstdint>
#include <vector>

#include "sherd/box.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Bit i of each dimension's coordinate follows bit i of the previous dimension; a dimension contributes as many bits
/// as its highest coordinate has.
class CompressedMorton {
 public:
  CompressedMorton() = default;
  /// `unsupported` if the numbers of this grid need more than 64 bits.
  static Result<CompressedMorton> of(const Shape& grid);

  [[nodiscard]] unsigned bits() const noexcept { return static_cast<unsigned>(dimension_of_bit_.size()); }
  [[nodiscard]] std::uint64_t encode(const Shape& cell) const noexcept;
  /// The cell may lie outside the grid if a dimension is not a power of two.
  [[nodiscard]] Shape decode(std::uint64_t code) const;
  /// The shape of a box of cells whose codes differ only in the lowest `low_bits`.
  [[nodiscard]] Shape box(unsigned low_bits) const;

 private:
  std::size_t rank_ = 0;
  std::vector<std::uint8_t> dimension_of_bit_;
};

}  // namespace sherd
