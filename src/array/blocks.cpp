// Determines which boxes of a chunk are contiguous, and divides the chunk into them.
#include "array/blocks.hpp"

#include <algorithm>
#include <utility>

#include "array/chunk_reader.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kMinBytes = std::uint64_t{16} << 10;
constexpr std::uint64_t kUntouched = ~std::uint64_t{0};

// A contiguous box of at most kBlockBytes that divides the chunk evenly.
Shape block_shape(const Shape& chunk, std::uint64_t element_size) {
  Shape block(chunk.size(), 1);
  std::uint64_t bytes = element_size;
  for (std::size_t d = chunk.size(); d-- > 0;) {
    const std::uint64_t most = std::max<std::uint64_t>(1, kBlockBytes / bytes);
    block[d] = std::min(chunk[d], most);
    while (chunk[d] % block[d] != 0) --block[d];
    if (block[d] < chunk[d]) break;
    bytes *= chunk[d];
  }
  return block;
}

}  // namespace

std::optional<Blocks> Blocks::cut(const Shape& chunk, const Region& part, std::uint64_t element_size) {
  Shape block = block_shape(chunk, element_size);
  const std::uint64_t bytes = *element_count(block) * element_size;
  if (bytes < kMinBytes) return std::nullopt;
  return Blocks(chunk, std::move(block), part, bytes);
}

Blocks::Blocks(const Shape& chunk, Shape block, const Region& part, std::uint64_t bytes)
    : shape_(std::move(block)),
      bytes_(bytes),
      cells_(part, regular_axes(shape_)),
      cell_of_block_(*element_count(chunk) / *element_count(shape_), kUntouched) {
  Shape grid(chunk.size());
  for (std::size_t d = 0; d < grid.size(); ++d) grid[d] = chunk[d] / shape_[d];
  Shape cell;
  Region inside;
  for (std::uint64_t i = 0; i < cells_.size(); ++i) {
    cells_.get(i, cell, inside);
    const std::uint64_t number = ravel(cell, grid);
    cell_of_block_[number] = i;
    last_ = std::max(last_, number);
  }
}

bool Blocks::get(std::uint64_t number, Region& part) const {
  if (cell_of_block_[number] == kUntouched) return false;
  Shape cell;
  cells_.get(cell_of_block_[number], cell, part);
  return true;
}

}  // namespace sherd
