// Pieces of selections, relative to one chunk, and how they are divided among the cells of a grid. One description
// serves whole, subset, strided, indexed and point access, at every level of nesting.
//
// The words of this layer, from the call to the chunk:
//   Selection             what the caller requests: a box, steps or lists of coordinates (sherd/box.hpp)
//   cell                  a place in a chunk grid, by its coordinates; a stored chunk or shard has one
//   Region, AxisPart      a selection, or its part in one cell, relative to that cell; one dimension of it
//   Target                the caller's memory: ReadTarget to write elements to, WriteSource to read them from
//   ReadPart              a region and the target of its elements
//   Cells, ReadCells      the cells that a region touches; that the parts of a read touch
//   CellAccess            a cell with its key and shape; CellRead, CellsRead: with the elements of a read call
//   Piece, WritePiece     what is requested of one chunk, and how the chunk is encoded (ChunkLayout)
//   ReadPlan, Level, Job  the plan of one object: its shards on the way down, and the chunks to decode
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "node/grid.hpp"
#include "sherd/box.hpp"

namespace sherd {

/// Coordinates of one dimension and their positions in the result: either start + i*step at first + i, or
/// coordinates[i] - shift at positions[i].
struct AxisPart {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  const std::uint64_t* coordinates = nullptr;  ///< set: a list
  const std::uint64_t* positions = nullptr;
  std::uint64_t shift = 0;

  [[nodiscard]] bool is_list() const noexcept { return coordinates != nullptr; }
  [[nodiscard]] std::uint64_t coordinate(std::uint64_t i) const noexcept {
    return is_list() ? coordinates[i] - shift : static_cast<std::uint64_t>(start + static_cast<std::int64_t>(i) * step);
  }
  [[nodiscard]] std::uint64_t position(std::uint64_t i) const noexcept { return is_list() ? positions[i] : first + i; }
  /// The lowest and highest coordinate of an orthogonal part with count > 0 (lists are sorted).
  [[nodiscard]] std::uint64_t lowest() const noexcept {
    return step > 0 || is_list() ? coordinate(0) : coordinate(count - 1);
  }
  [[nodiscard]] std::uint64_t highest() const noexcept {
    return step > 0 || is_list() ? coordinate(count - 1) : coordinate(0);
  }
  /// Whether it contains every coordinate of [0, length).
  [[nodiscard]] bool covers(std::uint64_t length) const noexcept;
};

/// Orthogonal: the product of the axes. Points: all axes are lists of one length, and element i is point i.
struct Region {
  std::vector<AxisPart> axes;
  bool points = false;

  /// Whether it contains every element of [0, shape).
  [[nodiscard]] bool covers(const Shape& shape) const noexcept;
  /// Dimension j of the result is dimension permutation[j] of this.
  [[nodiscard]] Region permuted(std::span<const std::size_t> permutation) const;
  [[nodiscard]] std::uint64_t element_count() const noexcept;
  /// Where point i of a region of points is in a chunk with these strides.
  [[nodiscard]] std::int64_t point_offset(std::uint64_t i, std::span<const std::int64_t> strides) const noexcept;
};

/// Where positions of a selection are in the caller's memory: data + sum(position[d] * strides[d]), in bytes.
/// Regions of points use strides[0] only.
template <class Byte>
struct Target {
  Byte* data = nullptr;
  std::vector<std::int64_t> strides;

  [[nodiscard]] Target permuted(std::span<const std::size_t> permutation, bool points) const {
    if (points) return *this;
    Target result{data, {}};
    for (const auto d : permutation) result.strides.push_back(strides[d]);
    return result;
  }
};
using ReadTarget = Target<std::byte>;
using WriteSource = Target<const std::byte>;

/// A region of a chunk (or of the array), and the destination of its elements.
struct ReadPart {
  Region region;
  ReadTarget target;
};

/// The number of elements of all parts; an element in several parts counts once for each.
[[nodiscard]] std::uint64_t element_count(std::span<const ReadPart> parts) noexcept;
/// A whole selection as a Region; owns what its lists point to.
class SelectedRegion {
 public:
  explicit SelectedRegion(const Selection& selection);
  [[nodiscard]] const Region& region() const noexcept { return region_; }

 private:
  Region region_;
  std::vector<std::vector<std::uint64_t>> storage_;
};

/// The cells of a grid that a region touches, each with its part of the region. Orthogonal regions keep one list per
/// dimension, never the product.
class Cells {
 public:
  Cells(const Region& region, std::span<const AxisGrid> grid);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The i-th touched cell (the last dimension fastest) and its part; both are overwritten.
  void get(std::uint64_t i, Shape& cell, Region& part) const;

 private:
  struct Step {
    std::uint64_t cell;
    AxisPart part;
  };
  void divide_axis(const AxisPart& axis, const AxisGrid& grid, std::vector<Step>& steps);
  void divide_points(const Region& region, std::span<const AxisGrid> grid);

  std::uint64_t size_ = 0;
  std::vector<std::vector<Step>> axes_;  // orthogonal
  bool points_ = false;
  std::vector<std::uint64_t> group_begin_;               // points: group g is [group_begin_[g], group_begin_[g+1])
  std::vector<std::vector<std::uint64_t>> coordinates_;  // one list per dimension, in group order
  std::vector<std::uint64_t> positions_;
  std::vector<AxisGrid> point_grid_;
};

/// The cells of a grid touched by any of the parts of a read. A cell that several parts touch occurs once, with a part
/// of each of them, so an index or a chunk is read and decoded once for all of them; the same holds at every level of
/// nesting. Lists that the parts point to must outlive this.
class ReadCells {
 public:
  ReadCells(std::span<const ReadPart> parts, std::span<const AxisGrid> grid);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The i-th touched cell (the last dimension fastest) and its parts, in the order in which they were given.
  /// Overwrites both arguments.
  void get(std::uint64_t i, Shape& cell, std::vector<ReadPart>& parts) const;

 private:
  struct Divided {
    Cells cells;
    ReadTarget target;
  };
  /// One cell of a divided part.
  struct Member {
    std::size_t part;
    std::uint64_t number;
  };
  void group();

  std::uint64_t size_ = 0;
  std::vector<Divided> divided_;  // the parts that are not empty
  // For several parts: members of the same cell are adjacent, cell i has [begins_[i], begins_[i + 1]).
  std::vector<Member> members_;
  std::vector<std::uint64_t> begins_;
};

/// A grid of equal cells for each dimension.
std::vector<AxisGrid> regular_axes(const Shape& cell_shape);

}  // namespace sherd
