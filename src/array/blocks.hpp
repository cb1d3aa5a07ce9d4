// Cuts a chunk into contiguous blocks of equal size, for work that never holds a large chunk as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "array/region.hpp"

namespace sherd {

class Blocks {
 public:
  /// Cuts a dense chunk, to read or write `part` of it. nullopt if the chunk's lengths allow only very small blocks.
  static std::optional<Blocks> cut(const Shape& chunk, const Region& part, std::uint64_t element_size);

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return cell_of_block_.size(); }
  /// The bytes of one block: 16 to 256 KiB.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// The last block that contains any of the part.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  /// The portion of the part in a block, relative to the block; false if there is none.
  bool get(std::uint64_t number, Region& part) const;

 private:
  Blocks(const Shape& chunk, Shape block, const Region& part, std::uint64_t bytes);

  Shape shape_;
  std::uint64_t bytes_;
  Cells cells_;
  std::vector<std::uint64_t> cell_of_block_;
  std::uint64_t last_ = 0;
};

}  // namespace sherd
