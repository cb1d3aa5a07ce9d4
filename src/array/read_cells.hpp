// What the regions of one read want of the cells of a grid. A cell that several regions touch appears once, with a part
// of each of them, so that an index or a chunk is read and decoded once for all regions. The same at every level of
// nesting: the parts of a shard are divided among its inner chunks.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "array/grid.hpp"
#include "array/region.hpp"
#include "array/strided.hpp"

namespace sherd {

/// A region of a chunk (or of the array), and where its elements go.
struct ReadPart {
  Region region;
  ReadTarget target;
};

/// Elements of all parts; one that several parts want counts once for each.
[[nodiscard]] std::uint64_t element_count(std::span<const ReadPart> parts) noexcept;
/// First and past-the-last byte, relative to the chunk, of what a region that is not empty wants.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> byte_range(const Region& region,
                                                                 std::span<const std::int64_t> strides,
                                                                 std::uint64_t element_size);
/// The same for all parts together.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> byte_range(std::span<const ReadPart> parts,
                                                                 std::span<const std::int64_t> strides,
                                                                 std::uint64_t element_size);
/// Copies what the parts want of a chunk that is in memory.
void copy_out(std::size_t element_size, const std::byte* chunk, std::span<const std::int64_t> strides,
              std::span<const ReadPart> parts);

/// The cells of a grid that any of the parts touches. Lists that the parts point to must outlive this.
class ReadCells {
 public:
  ReadCells(std::span<const ReadPart> parts, std::span<const AxisGrid> grid);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The i-th touched cell (the last dimension fastest) and its parts, in the order in which they were given; both are
  /// overwritten.
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
  // Where these are several: members of one cell are neighbours, cell i has [begins_[i], begins_[i + 1]).
  std::vector<Member> members_;
  std::vector<std::uint64_t> begins_;
};

}  // namespace sherd
