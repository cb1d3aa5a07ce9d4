// The chunk grid: coordinates <-> chunks <-> keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/spec.hpp"

namespace sherd {

/// The cells of one dimension: all of the same length, or with individual edges.
class AxisGrid {
 public:
  /// Cells of `length` each, as many as there are coordinates.
  explicit AxisGrid(std::uint64_t length) noexcept : length_(length) {}
  /// Cells of `length` each; the last one ends at `end`.
  AxisGrid(std::uint64_t length, std::uint64_t end) noexcept : length_(length), end_(end) {}
  /// Cells of the given lengths in runs of (length, count); ends where they end.
  explicit AxisGrid(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& runs);

  [[nodiscard]] std::uint64_t cell_of(std::uint64_t coordinate) const noexcept;
  [[nodiscard]] std::uint64_t begin(std::uint64_t cell) const noexcept;
  /// Whether a cell's begin() and end can be coordinates at all.
  [[nodiscard]] bool has(std::uint64_t cell) const noexcept;
  /// The declared length of a cell, even if the array ends inside it.
  [[nodiscard]] std::uint64_t length(std::uint64_t cell) const noexcept;
  /// The length of the first cell, as if it were not clipped.
  [[nodiscard]] std::uint64_t first_length() const noexcept { return regular() ? length_ : runs_.front().length; }
  [[nodiscard]] bool regular() const noexcept { return runs_.empty(); }
  /// Where a clipped grid ends; 2^64-1 for other grids.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// The number of cells that a dimension of this extent needs.
  [[nodiscard]] std::uint64_t count(std::uint64_t extent) const noexcept;
  /// The lengths of these cells in runs of (length, count); the last one is cut off where the extent ends.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> runs(std::uint64_t extent) const;

 private:
  struct Run {
    std::uint64_t first_cell, begin, length, end;
  };
  [[nodiscard]] const Run& run_of_cell(std::uint64_t cell) const noexcept;
  std::uint64_t length_ = 1;
  std::uint64_t end_ = ~std::uint64_t{0};
  std::vector<Run> runs_;
};

/// The grid of an array's stored chunks.
class ChunkGrid {
 public:
  ChunkGrid() = default;
  explicit ChunkGrid(const ArraySpec& spec);

  [[nodiscard]] const std::vector<AxisGrid>& axes() const noexcept { return axes_; }
  [[nodiscard]] Shape cell_begin(const Shape& cell) const;
  /// The declared chunk shape.
  [[nodiscard]] Shape cell_shape(const Shape& cell) const;
  /// The number of chunks per dimension of an array of this shape.
  [[nodiscard]] Shape count(const Shape& array_shape) const;
  /// The key of a chunk, without the array's own prefix.
  [[nodiscard]] std::string key(const Shape& cell) const;
  /// The chunk of a key, strictly: `c/01` is not one. nullopt if it is not a chunk key of this rank.
  [[nodiscard]] std::optional<Shape> parse_key(std::string_view key) const;
  /// The lowest id in a stored chunk, if chunks have ids; otherwise 0.
  [[nodiscard]] std::uint64_t first_id(const Shape& cell) const;

 private:
  // Shards, each a box of chunks.
  struct Shards {
    Uint64Sharding sharding;
    CompressedMorton morton;
    Shape chunks;         // in one shard, along each dimension
    bool hashed = false;  // shards are not boxes: the cells of the grid are the chunks, and their keys are their ids
    std::vector<std::size_t> order;  // the grid's dimension for each dimension of the ids
  };
  [[nodiscard]] Shape cell_of_id(std::uint64_t id) const;
  [[nodiscard]] std::string shard_key(const Shape& cell) const;
  [[nodiscard]] std::optional<Shape> parse_shard_key(std::string_view key) const;
  [[nodiscard]] std::optional<Shape> parse_id_key(std::string_view key) const;
  [[nodiscard]] std::string range_key(const Shape& cell) const;
  [[nodiscard]] std::optional<Shape> parse_range_key(std::string_view key) const;

  std::vector<AxisGrid> axes_;
  KeyEncoding keys_;
  std::optional<Shards> shards_;
};

}  // namespace sherd
