// Each bit of the code is a bit of one coordinate, independent of the cell: a list gives the coordinate for each bit.
#include "shard/morton.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace sherd {
namespace {

constexpr std::size_t kMaxRank = 32;

}  // namespace

Result<CompressedMorton> CompressedMorton::of(const Shape& grid) {
  CompressedMorton code;
  if (grid.size() > kMaxRank)
    return unsupported("a grid of ids has at most " + std::to_string(kMaxRank) + " dimensions");
  code.rank_ = grid.size();
  for (unsigned bit = 0; bit < 64; ++bit)
    for (std::size_t d = 0; d < grid.size(); ++d) {
      if (bit >= static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(grid[d], 1) - 1))) continue;
      code.dimension_of_bit_.push_back(static_cast<std::uint8_t>(d));
    }
  if (code.bits() <= 64) return code;
  return unsupported("the chunk ids of a grid of " + to_string(grid) + " chunks need " + std::to_string(code.bits()) +
                     " bits, but an id has 64; choose larger chunks");
}

std::uint64_t CompressedMorton::encode(const Shape& cell) const noexcept {
  std::uint64_t code = 0;
  std::uint64_t taken[kMaxRank] = {};
  for (unsigned bit = 0; bit < bits(); ++bit) {
    const std::uint8_t d = dimension_of_bit_[bit];
    code |= (cell[d] >> taken[d]++ & 1U) << bit;
  }
  return code;
}

Shape CompressedMorton::decode(std::uint64_t code) const {
  Shape cell(rank_, 0);
  Shape taken(rank_, 0);
  for (unsigned bit = 0; bit < bits(); ++bit) {
    const std::uint8_t d = dimension_of_bit_[bit];
    cell[d] |= (code >> bit & 1U) << taken[d]++;
  }
  return cell;
}

Shape CompressedMorton::box(unsigned low_bits) const {
  Shape cells(rank_, 1);
  for (unsigned bit = 0; bit < std::min(low_bits, bits()); ++bit) cells[dimension_of_bit_[bit]] *= 2;
  return cells;
}

}  // namespace sherd
