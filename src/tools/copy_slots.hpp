// The slots of a shard being made, as divided among the threads that fill it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/copy.hpp"

namespace sherd {

/// The encoded bytes that are put into a shard at a time.
inline constexpr std::uint64_t kCopyBatchBytes = std::uint64_t{1} << 20;

struct ObjectCopy::Slot {
  std::uint64_t order;
  std::uint64_t slot;
  Extent extent = {};
  std::size_t object = 0;
  bool edge = false;  ///< must be encoded while all others are moved
};

/// A shard being made; shapes in stored order.
struct ObjectCopy::Slots {
  const CellAccess& at;
  const ShardLayout& shard;
  const std::vector<std::size_t>& permutation;
  Shape stored;  ///< of the shard
  Shape grid;
  Shape valid;
  std::uint64_t longest = 0;  ///< the longest stored chunk of the source that it needs

  Slots(const CellAccess& cell, const ChunkLayout& layout)
      : at(cell),
        shard(*layout.shard),
        permutation(layout.chain.permutation()),
        stored(layout.chain.stored_shape(cell.shape)),
        grid(shard.grid(stored)),
        valid(layout.chain.stored_shape(cell.valid)) {}

  /// Whether the array ends inside this inner chunk.
  [[nodiscard]] bool is_edge(const Shape& cell) const {
    for (std::size_t j = 0; j < cell.size(); ++j)
      if ((cell[j] + 1) * shard.inner_shape[j] > valid[j]) return true;
    return false;
  }
  /// Whether this inner chunk begins beyond the end of the array.
  [[nodiscard]] bool is_outside(const Shape& cell) const {
    for (std::size_t j = 0; j < cell.size(); ++j)
      if (cell[j] * shard.inner_shape[j] >= valid[j]) return true;
    return false;
  }
  /// The bounding box of the cells of some slots.
  [[nodiscard]] Box around(std::span<const Slot> slots) const {
    Shape low = unravel(slots.front().slot, grid);
    Shape high = low;
    for (const Slot& slot : slots) {
      const Shape cell = unravel(slot.slot, grid);
      for (std::size_t j = 0; j < cell.size(); ++j) {
        low[j] = std::min(low[j], cell[j]);
        high[j] = std::max(high[j], cell[j]);
      }
    }
    for (std::size_t j = 0; j < low.size(); ++j) high[j] += 1 - low[j];
    return {low, high};
  }
  /// Their elements inside the array, relative to the shard.
  [[nodiscard]] Box elements(const Box& cells) const {
    Box box{cells.origin, cells.shape};
    for (std::size_t j = 0; j < box.origin.size(); ++j) {
      box.origin[j] *= shard.inner_shape[j];
      box.shape[j] = std::min((cells.origin[j] + cells.shape[j]) * shard.inner_shape[j], valid[j]) - box.origin[j];
    }
    return box;
  }
};

}  // namespace sherd
