// Converts words to ranges and back. The encoded index is an array of uint64 of shape (inner chunks per dimension…, 2),
// encoded by the index codecs; a transpose among them is allowed and undone here.
#include "shard/index.hpp"

#include <cstring>

#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kEntryBytes = 16;

Shape index_shape(const Shape& grid) {
  Shape shape = grid;
  shape.push_back(2);
  return shape;
}

bool is_identity(const std::vector<std::size_t>& permutation) {
  for (std::size_t d = 0; d < permutation.size(); ++d)
    if (permutation[d] != d) return false;
  return true;
}

// Copies words between C order of `shape` and the stored order; `to_stored` gives the direction.
void permute(const Shape& shape, const std::vector<std::size_t>& permutation, std::span<std::uint64_t> natural,
             std::span<std::uint64_t> stored, bool to_stored) {
  const std::size_t rank = shape.size();
  std::vector<std::uint64_t> strides(rank, 1);
  for (std::size_t d = rank - 1; d > 0; --d) strides[d - 1] = strides[d] * shape[d];
  Shape at(rank, 0);
  for (auto& word : stored) {
    std::uint64_t offset = 0;
    for (std::size_t j = 0; j < rank; ++j) offset += at[j] * strides[permutation[j]];
    if (to_stored)
      word = natural[offset];
    else
      natural[offset] = word;
    for (std::size_t j = rank; j-- > 0;) {
      if (++at[j] < shape[permutation[j]]) break;
      at[j] = 0;
    }
  }
}

std::span<std::byte> bytes_of(std::vector<std::uint64_t>& words) { return std::as_writable_bytes(std::span(words)); }

}  // namespace

Result<std::uint64_t> IndexFormat::encoded_size(const Shape& grid, const Limits& limits) const {
  const auto slots = element_count(grid);
  const auto bytes = slots ? checked_mul(*slots, kEntryBytes) : std::nullopt;
  if (!bytes || *bytes > limits.index_bytes)
    return unsupported("the index of a shard of " + to_string(grid) + " inner chunks exceeds the limit index_bytes (" +
                       std::to_string(limits.index_bytes) + ")");
  const auto size = codecs.encoded_size(codecs.stored_shape(index_shape(grid)));
  if (!size) return invalid_argument("index_codecs must encode to a fixed size: compression cannot be used there");
  return *size;
}

Result<ShardIndex> ShardIndex::decode(const IndexFormat& format, const Shape& grid, std::span<const std::byte> encoded,
                                      std::uint64_t object_size) {
  const Shape shape = index_shape(grid);
  ShardIndex index(*element_count(grid));
  index.object_size_ = object_size;
  const auto& permutation = format.codecs.permutation();
  if (is_identity(permutation)) {
    SHERD_TRY(format.codecs.decode(shape, encoded, bytes_of(index.words_), nullptr).in([] { return "shard index"; }));
    return index;
  }
  std::vector<std::uint64_t> stored(index.words_.size());
  SHERD_TRY(format.codecs.decode(format.codecs.stored_shape(shape), encoded, bytes_of(stored), nullptr).in([] {
    return "shard index";
  }));
  permute(shape, permutation, index.words_, stored, false);
  return index;
}

Result<void> ShardIndex::encode(const IndexFormat& format, const Shape& grid, Buffer& to) const {
  const Shape shape = index_shape(grid);
  const auto& permutation = format.codecs.permutation();
  if (is_identity(permutation)) return format.codecs.encode(shape, std::as_bytes(std::span(words_)), to);
  std::vector<std::uint64_t> natural = words_;
  std::vector<std::uint64_t> stored(words_.size());
  permute(shape, permutation, natural, stored, true);
  return format.codecs.encode(format.codecs.stored_shape(shape), std::as_bytes(std::span(stored)), to);
}

Result<std::uint64_t> SlotIndexCoding::head_bytes() const {
  SHERD_TRY(size, format_.encoded_size(grid_, limits_));
  return format_.location == IndexLocation::start ? size : std::uint64_t{0};
}

Result<std::vector<IndexCoding::Part>> SlotIndexCoding::encode(const ShardIndex& index, std::uint64_t end) const {
  std::vector<Part> parts(1);
  parts[0].offset = format_.location == IndexLocation::start ? 0 : end;
  SHERD_TRY(index.encode(format_, grid_, parts[0].bytes));
  return parts;
}

std::uint64_t ShardIndex::count() const noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t slot = 0; slot < slots(); ++slot) count += empty(slot) ? 0 : 1;
  return count;
}

Result<std::optional<Extent>> ShardIndex::extent(std::uint64_t slot) const {
  const std::uint64_t offset = words_[2 * slot];
  const std::uint64_t length = words_[2 * slot + 1];
  switch (entry(slot)) {
    case Entry::empty:
      return std::optional<Extent>();
    case Entry::stored:
      return std::optional<Extent>(Extent{offset, length});
    case Entry::half_empty:
      return std::move(corrupt("half-empty index entry: offset " + std::to_string(offset) + ", nbytes " +
                               std::to_string(length)))
          .in_slot(slot);
    case Entry::overflow:
    case Entry::out_of_bounds:
      break;
  }
  return std::move(corrupt("index entry (offset " + std::to_string(offset) + ", nbytes " + std::to_string(length) +
                           ") reaches beyond the shard's " + std::to_string(object_size_) + " bytes"))
      .in_slot(slot);
}

}  // namespace sherd
