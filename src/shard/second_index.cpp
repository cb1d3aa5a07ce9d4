// One shard, two indexes (docs/format/dual-format.md). The second one counts the same bytes of a chunk, or
// fewer: not the checksum after it, and of a raw chunk only the beginning, which is the part inside the
// volume.
#include "shard/second_index.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

// The volume's cell; dimensions that the shard lacks have the single cell 0.
Shape volume_cell(const SecondIndex& second, const Shape& first, const Shape& cell) {
  Shape of_volume = first;
  for (std::size_t d = 0; d < second.dimensions.size(); ++d) of_volume[d] += cell[second.dimensions[d]];
  return of_volume;
}

bool is_inside(const Shape& cell, const Shape& shape, const Shape& chunk) {
  for (std::size_t d = 0; d < cell.size(); ++d)
    if (cell[d] >= ceil_div(shape[d], chunk[d])) return false;
  return true;
}

std::uint64_t bytes_inside(const SecondIndex& second, const Shape& cell) {
  std::uint64_t bytes = second.element_bytes;
  for (std::size_t d = 0; d < cell.size(); ++d)
    bytes *= std::min(second.chunk_shape[d], second.shape[d] - cell[d] * second.chunk_shape[d]);
  return bytes;
}

}  // namespace

Result<std::vector<SecondIndex::Slot>> SecondIndex::slots(const Shape& grid, std::uint64_t first_id,
                                                          const Limits& limits) const {
  const auto count = element_count(grid);
  if (!count || *count > limits.index_bytes / sizeof(Slot))
    return unsupported("the indices of a shard of " + to_string(grid) + " chunks exceed the limit index_bytes (" +
                       std::to_string(limits.index_bytes) + ")");
  const Shape first = index.morton.decode(first_id);
  std::vector<Slot> slots;
  Shape cell(grid.size(), 0);
  for (std::uint64_t slot = 0; slot < *count; ++slot) {
    const Shape of_volume = volume_cell(*this, first, cell);
    if (is_inside(of_volume, shape, chunk_shape))
      slots.push_back({slot, index.morton.encode(of_volume), bytes_inside(*this, of_volume)});
    for (std::size_t d = cell.size(); d-- > 0 && ++cell[d] == grid[d];) cell[d] = 0;
  }
  std::ranges::sort(
      slots, {}, [&](const Slot& each) { return std::pair(index.format.sharding.locate(each.id).minishard, each.id); });
  return slots;
}

Result<Extent> SecondIndex::extent(const Slot& slot, Extent of_first) const {
  if (of_first.length < trailer || of_first.length - trailer < slot.bytes)
    return std::move(
               corrupt("holds " + std::to_string(of_first.length) + " bytes, fewer than a chunk of this shape has"))
        .in_slot(slot.slot);
  return Extent{of_first.offset, element_bytes != 0 ? slot.bytes : of_first.length - trailer};
}

Result<std::optional<Extent>> SecondIndex::expected(const Slot& slot, const ShardIndex& first) const {
  SHERD_TRY(stored, first.extent(slot.slot));
  if (!stored) return std::optional<Extent>();
  SHERD_TRY(extent, this->extent(slot, *stored));
  return std::optional(extent);
}

std::string SecondIndex::disagreement(const Slot& slot, const std::optional<Extent>& first,
                                      const std::optional<Extent>& second) {
  const auto text = [](const std::optional<Extent>& extent) { return extent ? range_text(*extent) : "nothing"; };
  return "the array has " + text(first) + ", the volume as chunk " + std::to_string(slot.id) + " " + text(second);
}

SecondIndexCoding::SecondIndexCoding(std::unique_ptr<IndexCoding> first, const SecondIndex& second,
                                     std::vector<SecondIndex::Slot> slots, const Limits& limits)
    : first_(std::move(first)), second_(second), slots_(std::move(slots)), limits_(limits) {
  ids_.reserve(slots_.size());
  for (const SecondIndex::Slot& slot : slots_) ids_.push_back(slot.id);
}

Result<std::vector<IndexCoding::Part>> SecondIndexCoding::encode(const ShardIndex& index, std::uint64_t end) const {
  ShardIndex by_id(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (index.empty(slots_[i].slot)) continue;
    SHERD_TRY(extent, second_.extent(slots_[i], index.placed(slots_[i].slot)));
    by_id.set(i, extent);
  }
  SHERD_TRY(parts, second().encode(by_id, end));
  for (const Part& part : parts) end = std::max<std::uint64_t>(end, part.offset + part.bytes.size());
  SHERD_TRY(last, first_->encode(index, end));
  for (Part& part : last) parts.push_back(std::move(part));
  return parts;
}

}  // namespace sherd
