// Arithmetic on extents. An entry of a damaged or hostile shard is either refused, if its bytes would be kept, or
// ignored, if they would be replaced.
#include "shard/update.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

using Move = ShardUpdate::Move;

Result<void> check_length(const Extent& extent, std::uint64_t max_bytes) {
  if (extent.length <= max_bytes) return {};
  return corrupt("holds " + std::to_string(extent.length) + " bytes; an encoded chunk has at most " +
                 std::to_string(max_bytes));
}

// The extents of readable chunks, and the number of their bytes.
std::uint64_t live_bytes(const ShardIndex& index, std::uint64_t max_bytes, std::vector<Extent>& extents) {
  std::uint64_t live = 0;
  for (std::uint64_t slot = 0; slot < index.slots(); ++slot) {
    const Extent extent = index.placed(slot);
    if (index.entry(slot) != ShardIndex::Entry::stored || extent.length > max_bytes) continue;
    if (live <= index.object_size()) live += extent.length;  // overlapping extents may add up to more than 64 bits
    extents.push_back(extent);
  }
  return live;
}

// Merges bytes that follow the last ones, or overlap them, in both versions.
void add_move(std::vector<Move>& moves, const Extent& from, std::uint64_t to) {
  if (!moves.empty()) {
    Move& last = moves.back();
    if (from.offset <= last.from.end() && to - from.offset == last.to - last.from.offset) {
      last.from.length = std::max(last.from.end(), from.end()) - last.from.offset;
      return;
    }
  }
  moves.push_back({from, to});
}

// Only what the index refers to is kept, because in between a hostile shard may have holes of any size. Bytes between
// the extents are free, up to `end`.
void stay(std::vector<Extent> used, std::uint64_t end, ShardUpdate& update) {
  std::ranges::sort(used, {}, &Extent::offset);
  std::uint64_t at = 0;
  for (const Extent& extent : used) {
    add_move(update.moves, extent, extent.offset);
    if (extent.offset > at) update.gaps.push_back({at, extent.offset - at});
    at = std::max(at, extent.end());
  }
  update.end = std::max(at, end);
}

// Entries to be kept must be valid. One that extends beyond the old shard might refer to bytes of other chunks in a
// longer shard; one that is too long is not copied; and bytes of the index change. Entries that are broken for any size
// of the shard are kept, since they affect only their own slot.
Result<void> keep_entries(const OldShard& old, std::span<const std::uint64_t> changed, ShardUpdate& update) {
  update.index = *old.index;
  for (const auto slot : changed) update.index.clear(slot);
  auto parts = old.index_bytes;
  std::ranges::sort(parts, {}, &Extent::offset);
  for (std::uint64_t slot = 0; slot < update.index.slots(); ++slot) {
    const auto entry = update.index.entry(slot);
    if (entry != ShardIndex::Entry::empty) ++update.unchanged_chunks;
    if (entry == ShardIndex::Entry::out_of_bounds) return update.index.extent(slot).error();
    if (entry != ShardIndex::Entry::stored) continue;
    const Extent extent = update.index.placed(slot);
    SHERD_TRY(check_length(extent, old.max_chunk_bytes).in_slot(slot));
    const auto after = std::ranges::lower_bound(parts, extent.end(), {}, &Extent::offset);
    if (extent.length > 0 && after != parts.begin() && std::prev(after)->end() > extent.offset)
      return std::move(corrupt("its bytes overlap the shard's index, which is about to change")).in_slot(slot);
  }
  return {};
}

/// The bytes of an object that are used, to find the room of each of them.
class UsedBytes {
 public:
  UsedBytes(std::vector<Extent> used, std::uint64_t size) : used_(std::move(used)), size_(size) {
    std::erase_if(used_, [](const Extent& extent) { return extent.length == 0; });
    std::ranges::sort(used_, {}, &Extent::offset);
    std::uint64_t end = 0;
    for (const Extent& extent : used_) ends_.push_back(end = std::max(end, extent.end()));
  }

  [[nodiscard]] std::uint64_t end() const noexcept { return ends_.empty() ? 0 : ends_.back(); }
  /// Leaves out the last bytes of the object, which are not among the used ones.
  void cut(std::uint64_t size) noexcept { size_ = size; }

  /// The bytes from `extent`, which is among the used ones, to the next used ones; 0 if others overlap it.
  [[nodiscard]] std::uint64_t room_of(const Extent& extent) const {
    const auto at = std::ranges::lower_bound(used_, extent.offset, {}, &Extent::offset);
    const auto before = at - used_.begin();
    if (before > 0 && ends_[static_cast<std::size_t>(before - 1)] > extent.offset) return 0;
    const auto next = std::next(at);
    const std::uint64_t end = next == used_.end() ? size_ : next->offset;
    return end >= extent.end() ? end - extent.offset : 0;
  }

 private:
  std::vector<Extent> used_;         // by offset
  std::vector<std::uint64_t> ends_;  // the highest of each and those before it
  std::uint64_t size_;
};

}  // namespace

std::uint64_t OldShard::unused_bytes() const {
  if (unused) return *unused;
  std::vector<Extent> extents;
  std::uint64_t live = live_bytes(*index, max_chunk_bytes, extents);
  for (const Extent& part : index_bytes) live += part.length;
  return index->object_size() - std::min(live, index->object_size());
}

Result<ShardUpdate> plan_new(const IndexCoding& coding) {
  SHERD_TRY(head, coding.head_bytes());
  return ShardUpdate{.index = ShardIndex(coding.slots()), .head = head, .end = head};
}

Result<void> plan_keep_offsets(const OldShard& old, std::span<const std::uint64_t> changed, ShardUpdate& update) {
  SHERD_TRY(keep_entries(old, changed, update));
  std::vector<Extent> used;
  live_bytes(*old.index, old.max_chunk_bytes, used);
  used.insert(used.end(), old.index_bytes.begin(), old.index_bytes.end());
  stay(std::move(used), update.old_size, update);
  return {};
}

Result<void> plan_dense(const OldShard& old, std::span<const std::uint64_t> changed, ShardUpdate& update) {
  std::vector<bool> skip(update.index.slots(), false);
  for (const auto slot : changed) skip[slot] = true;
  std::vector<std::pair<Extent, std::uint64_t>> kept;
  for (std::uint64_t slot = 0; slot < update.index.slots(); ++slot) {
    if (skip[slot]) continue;
    SHERD_TRY(extent, old.index->extent(slot));
    if (!extent) continue;
    SHERD_TRY(check_length(*extent, old.max_chunk_bytes).in_slot(slot));
    kept.emplace_back(*extent, slot);
  }
  std::ranges::sort(kept, {}, [](const auto& each) { return std::pair(each.first.offset, each.second); });
  for (const auto& [extent, slot] : kept) {
    add_move(update.moves, extent, update.end);
    update.index.set(slot, {update.end, extent.length});
    update.end += extent.length;
  }
  update.unchanged_chunks = kept.size();
  return {};
}

Result<void> plan_index_in_place(const OldShard& old, std::span<const std::uint64_t> changed, ShardUpdate& update) {
  SHERD_TRY(keep_entries(old, changed, update));
  std::vector<Extent> used;
  live_bytes(update.index, old.max_chunk_bytes, used);
  std::uint64_t end = update.old_size;
  for (const Extent& part : old.index_bytes) {
    if (part.offset < update.head)
      used.push_back(part);
    else
      end = std::min(end, part.offset);
  }
  stay(std::move(used), end, update);
  return {};
}

Result<void> plan_amend(const OldShard& old, std::span<const std::uint64_t> changed, ShardUpdate& update) {
  if (old.has_parts) {  // with the entries of changed parts only
    update.index = *old.index;
    for (const auto slot : changed) update.index.clear(slot);
    update.unchanged_chunks = update.index.count();
  } else {
    SHERD_TRY(keep_entries(old, changed, update));
  }
  update.end = std::max(update.head, update.old_size);
  if (old.appending.alignment == 0) return {};
  update.copies_index = old.starts_with_index;
  if (update.copies_index) return {};
  update.alignment = old.appending.alignment;
  update.end = ceil_div(update.end, update.alignment) * update.alignment;
  return {};
}

// Only an index at the beginning can tell that a chunk has another length: one at the end would be replaced by an
// appended one, and until then the chunk would not match it. The copy of the index, if there is one, is at the end.
Result<void> plan_in_place(const OldShard& old, std::span<const std::uint64_t> changed, ShardUpdate& update) {
  SHERD_TRY(plan_amend(old, changed, update));
  update.copies_index = old.starts_with_index;
  if (!update.copies_index && update.alignment == 0) update.alignment = 1;  // if anything is appended, by a copy
  std::vector<Extent> extents(old.index_bytes.begin(), old.index_bytes.end());
  const std::uint64_t copy = old.starts_with_index ? old.index_bytes.front().length : 0;
  live_bytes(*old.index, old.max_chunk_bytes, extents);
  UsedBytes used(std::move(extents), update.old_size);
  if (used.end() + copy <= update.old_size) used.cut(update.old_size - copy);
  for (const std::uint64_t slot : changed) {
    if (old.index->entry(slot) != ShardIndex::Entry::stored) continue;
    const Extent chunk = old.index->placed(slot);
    const std::uint64_t room = chunk.length > 0 ? used.room_of(chunk) : 0;
    if (room > 0) update.rooms[slot] = {chunk, old.starts_with_index ? room : chunk.length};
  }
  return {};
}

}  // namespace sherd
