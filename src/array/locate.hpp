// Locates the innermost chunks of an array: which objects store them, and at which bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/array_state.hpp"
#include "base/try.hpp"

namespace sherd {

/// A range of cells of a grid: from `begin` up to, but not including, `end`.
struct CellRange {
  Shape begin, end;

  [[nodiscard]] bool contains(const Shape& cell) const noexcept;
  /// The number of cells; 2^64-1 if there are more.
  [[nodiscard]] std::uint64_t count() const;
};
/// The cells of a grid that a box with elements intersects.
[[nodiscard]] CellRange cells_of(const ChunkGrid& grid, const Box& box);

/// Calls visit(cell) for each cell in C order until it returns false; then returns false.
template <class Visit>
Result<bool> for_each_cell(const CellRange& range, const Visit& visit) {
  for (std::size_t d = 0; d < range.begin.size(); ++d)
    if (range.begin[d] >= range.end[d]) return true;
  Shape cell = range.begin;
  for (;;) {
    SHERD_TRY(more, visit(cell));
    if (!more) return false;
    std::size_t d = cell.size();
    for (; d > 0; --d) {
      if (++cell[d - 1] < range.end[d - 1]) break;
      cell[d - 1] = range.begin[d - 1];
    }
    if (d == 0) return true;
  }
}

/// A stored chunk.
struct LocatedChunk {
  Box box;        ///< of the array; may extend beyond its end
  Extent extent;  ///< of its bytes in the object
};

/// An object, and its chunks that were searched for, in the version that was read.
struct LocatedObject {
  std::string key;
  Generation generation;
  std::uint64_t size = 0;                        ///< in bytes
  std::shared_ptr<ByteSource> source = nullptr;  ///< with its first bytes, if these were wanted
  std::vector<LocatedChunk> chunks;              ///< in C order; chunks of the same shard inside a shard are adjacent

  Result<void> set_version(ByteSource& from);
};

/// Which chunks to locate: the innermost ones that intersect `box`, in these cells of the grid. A shard that can only
/// be read whole counts as one chunk.
struct ChunksToLocate {
  const std::vector<Shape>& cells;
  const Box& box;
  std::uint64_t first_bytes = 0;  ///< of each object, read together with opening it if requests have latency
  bool is_read_later = false;     ///< the caller reads each chunk that is found, in the version that was located
};

/// Resolves chunks to their objects and extents: one entry per cell, nullopt if no object exists. Missing chunks are
/// left out. If requests have latency, the indexes of all objects are read in one batch per level. An index that was
/// read before is confirmed by a request, unless chunks are found in it and `is_read_later`: reading confirms it then.
Result<std::vector<std::optional<LocatedObject>>> locate_chunks(const Array::State& array, const ChunksToLocate& wanted,
                                                                const Config& config);

/// How much of a shard's index is read together with opening the object: all of it or, for ids, the beginning of the
/// array of extents; 0 if the index exceeds a limit.
[[nodiscard]] std::uint64_t first_index_bytes(const ChunkLayout& layout, const Shape& shape, const Limits& limits);

}  // namespace sherd
