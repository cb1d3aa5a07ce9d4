// The index is read without a cache, since the version that has it is about to be replaced.
#include "shard/old_shard.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>

#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr std::uint64_t kFirstUserBlock = 512;

// Shards inside a shard are moved, and read whole to be changed, without examining their contents.
Result<void> check_lengths(const ShardIndex& index, std::uint64_t most) {
  for (std::uint64_t slot = 0; slot < index.slots(); ++slot) {
    const auto extent = index.extent(slot);
    if (!extent || !*extent || (*extent)->length <= most) continue;
    return std::move(corrupt("an inner shard of " + std::to_string((*extent)->length) +
                             " bytes was not moved: its chunks need at most half of " + std::to_string(most) +
                             "; write the whole shard to get rid of the unused bytes"))
        .in_slot(slot);
  }
  return {};
}

// Whether chunks overlap the second index: a program that knows only the first one has written the shard.
bool lacks_second_index(const SecondIndex& second, const ShardIndex& index) {
  const std::uint64_t head = second.index.format.sharding.head_bytes();
  for (std::uint64_t slot = 0; slot < index.slots(); ++slot) {
    const auto extent = index.extent(slot);
    if (extent && *extent && (*extent)->offset < head) return true;
  }
  return false;
}

Result<void> add_second_index(const ShardLocation& shard, const Limits& limits, OldShard& old) {
  const auto second = second_extents(shard, limits);
  if (!second && second.error().code() != ErrorCode::corrupt) return Error(second.error());
  old.overlaps_index = !second || lacks_second_index(*shard.layout.second, *old.index);
  if (second) old.index_bytes.insert(old.index_bytes.end(), second->begin(), second->end());
  return {};
}

// The lists of all minishards, also of those to which no id of the shard belongs.
Result<void> add_lists(const ShardLocation& shard, const Limits& limits, Cache& cache, OldShard& old) {
  const Uint64Format& format = shard.layout.ids()->format;
  SHERD_TRY(head, Uint64IndexCoding(format, {}, limits).head_bytes());
  std::vector<std::uint64_t> minishards(std::size_t{1} << format.sharding.minishard_bits);
  std::iota(minishards.begin(), minishards.end(), std::uint64_t{0});
  SHERD_TRY(lists, read_minishards(shard.source, minishards, {format, limits, cache}));
  old.has_parts = true;
  old.index_bytes = {{0, head}};
  const std::uint64_t number = format.sharding.locate(shard.first_id).shard;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!lists[i]) continue;
    SHERD_TRY(lists[i]->check({number, minishards[i]}, format.sharding).in([&] {
      return "minishard " + std::to_string(minishards[i]);
    }));
    old.index_bytes.push_back(lists[i]->stored());
  }
  return {};
}

}  // namespace

Hdf5Signature::Hdf5Signature(std::uint64_t object_size) {
  for (std::uint64_t at = 0; at < object_size && object_size - at >= kSignature.size();
       at = at == 0 ? kFirstUserBlock : at * 2)
    positions_.push_back(at);
}

// This is called for each chunk, but there are few positions: most chunks contain none.
void Hdf5Signature::leave_out(const Extent& used) {
  if (used.offset > 0 && used.offset <= std::uint64_t{1} << 62U) {
    const std::uint64_t next = std::max(kFirstUserBlock, std::bit_ceil(used.offset));
    if (next - used.offset >= used.length) return;
  }
  std::erase_if(positions_, [&](std::uint64_t at) { return at >= used.offset && at - used.offset < used.length; });
}

Result<bool> Hdf5Signature::is_in(ByteSource& shard) const {
  if (positions_.empty()) return false;
  std::vector<std::array<std::byte, kSignature.size()>> bytes(positions_.size());
  std::vector<RangeRead> reads;
  for (std::size_t i = 0; i < positions_.size(); ++i) reads.push_back({positions_[i], bytes[i]});
  SHERD_TRY(shard.read(reads));
  return std::ranges::any_of(
      bytes, [](const auto& each) { return std::memcmp(each.data(), kSignature.data(), kSignature.size()) == 0; });
}

Error updates_hdf5(std::string_view instead) {
  return unsupported(
      "the shard is an HDF5 file at the same time, and an update would lose the metadata of that file; " +
      std::string(instead));
}

Result<void> refuse_hdf5(const OldShard& old, ByteSource& shard) {
  Hdf5Signature signature(old.index->object_size());
  for (const Extent& part : old.index_bytes) signature.leave_out(part);
  for (std::uint64_t slot = 0; slot < old.index->slots(); ++slot)
    if (old.index->entry(slot) == ShardIndex::Entry::stored) signature.leave_out(old.index->placed(slot));
  SHERD_TRY(is_hdf5, signature.is_in(shard));
  if (!is_hdf5) return {};
  return updates_hdf5("copy the array to shards of another shape ('sherd copy --shards') and change the copy");
}

Result<void> add_slots(const ShardLocation& shard, const Limits& limits, OldShard& old) {
  SHERD_TRY(extents, index_extents(shard, limits));
  old.index_bytes = std::move(extents);
  old.starts_with_index = shard.layout.slots()->location == IndexLocation::start;
  old.checks_index = shard.layout.slots()->codecs.has_checksum();
  old.appending = shard.layout.second ? Appending{.obstacle = "the shard has two indexes"} : shard.source.appending();
  return {};
}

Result<OldShard> read_old_shard(const ShardLocation& shard, const Limits& limits) {
  const ShardLayout& layout = shard.layout;
  Cache cache(layout.ids() != nullptr ? limits.index_bytes : 0);  // its lists are needed twice
  SHERD_TRY(index, read_index(shard, limits, cache));
  OldShard old{.index = std::move(index), .max_chunk_bytes = layout.max_encoded_size()};
  if (layout.ids() != nullptr) {
    SHERD_TRY(add_lists(shard, limits, cache, old));
  } else {
    SHERD_TRY(add_slots(shard, limits, old));
  }
  if (layout.inner->shard) SHERD_TRY(check_lengths(*old.index, old.max_chunk_bytes));
  if (layout.second) SHERD_TRY(add_second_index(shard, limits, old));
  SHERD_TRY(refuse_hdf5(old, shard.source));
  return old;
}

// For the remaining slots, in the order of their numbers, the first index determines the second one.
Result<void> check_indices_agree(const ShardLocation& shard, const OldShard& old,
                                 std::span<const std::uint64_t> changed, const Limits& limits) {
  SHERD_TRY(entries, read_second_index(shard, limits));
  for (const SecondIndexEntry& entry : entries) {
    if (std::ranges::binary_search(changed, entry.slot.slot)) continue;
    SHERD_TRY(expected, shard.layout.second->expected(entry.slot, *old.index));
    if (expected != entry.extent)
      return std::move(corrupt("the shard's two indices disagree: " +
                               SecondIndex::disagreement(entry.slot, expected, entry.extent)))
          .in_slot(entry.slot.slot);
  }
  return {};
}

}  // namespace sherd
