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

Error too_long(const Extent& extent, std::uint64_t max_bytes) {
  return corrupt("holds " + std::to_string(extent.length) + " bytes; an encoded chunk has at most " +
                 std::to_string(max_bytes));
}

/// Calls visit(extent) for each readable chunk.
template <class Visit>
void for_each_chunk(const ShardIndex& index, std::uint64_t max_bytes, const Visit& visit) {
  for (std::uint64_t slot = 0; slot < index.slots(); ++slot) {
    const Extent extent = index.placed(slot);
    if (index.entry(slot) == ShardIndex::Entry::stored && extent.length <= max_bytes) visit(extent);
  }
}

std::vector<Extent> chunks_of(const ShardIndex& index, std::uint64_t max_bytes) {
  std::vector<Extent> extents;
  extents.reserve(index.slots());
  for_each_chunk(index, max_bytes, [&](const Extent& extent) { extents.push_back(extent); });
  return extents;
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
    if (extent.length > old.max_chunk_bytes) return too_long(extent, old.max_chunk_bytes).in_slot(slot);
    const auto after = std::ranges::lower_bound(parts, extent.end(), {}, &Extent::offset);
    if (extent.length > 0 && after != parts.begin() && std::prev(after)->end() > extent.offset)
      return std::move(corrupt("its bytes overlap the shard's index, which is about to change")).in_slot(slot);
  }
  return {};
}

/// The bytes from each of some chunks to what follows it: other chunks, or the index.
class Rooms {
 public:
  struct Chunk {
    Extent old;
    std::uint64_t slot = 0;
    std::uint64_t limit = ~std::uint64_t{0};  ///< something else begins there
    std::uint64_t reached = 0;                ///< what begins before it may end there
  };

  /// Chunks that are not empty.
  explicit Rooms(std::vector<Chunk> chunks) : chunks_(std::move(chunks)) {
    std::ranges::sort(chunks_, {}, [](const Chunk& chunk) { return chunk.old.offset; });
  }

  /// Something else has these bytes.
  void use(const Extent& other) {
    if (other.length == 0) return;
    const auto next = std::ranges::upper_bound(chunks_, other.offset, {}, [](const Chunk& c) { return c.old.offset; });
    if (next != chunks_.begin()) std::prev(next)->limit = std::min(std::prev(next)->limit, other.offset);
    if (next != chunks_.end()) next->reached = std::max(next->reached, other.end());
    end_ = std::max(end_, other.end());
  }

  /// Where everything ends.
  [[nodiscard]] std::uint64_t end() const noexcept {
    std::uint64_t end = end_;
    for (const Chunk& chunk : chunks_) end = std::max(end, chunk.old.end());
    return end;
  }

  /// Calls visit(chunk, room), with the room of the last one up to `end`, for chunks that nothing overlaps.
  template <class Visit>
  void for_each(std::uint64_t end, const Visit& visit) const {
    std::uint64_t reached = 0;
    for (auto at = chunks_.begin(); at != chunks_.end(); ++at) {
      reached = std::max(reached, at->reached);
      const std::uint64_t next = std::next(at) == chunks_.end() ? end : std::next(at)->old.offset;
      const std::uint64_t limit = std::min({at->limit, next, end});
      if (reached <= at->old.offset && at->old.end() <= limit) visit(*at, limit - at->old.offset);
      reached = std::max(reached, at->old.end());
    }
  }

 private:
  std::vector<Chunk> chunks_;  // by offset
  std::uint64_t end_ = 0;      // of all else
};

}  // namespace

std::uint64_t OldShard::unused_bytes() const {
  if (unused) return *unused;
  const std::uint64_t size = index->object_size();
  std::uint64_t live = 0;
  for_each_chunk(*index, max_chunk_bytes, [&](const Extent& extent) {
    if (live <= size) live += extent.length;  // overlapping extents may add up to more than 64 bits
  });
  for (const Extent& part : index_bytes) live += part.length;
  return size - std::min(live, size);
}

Result<ShardUpdate> plan_new(const IndexCoding& coding) {
  SHERD_TRY(head, coding.head_bytes());
  return ShardUpdate{.index = ShardIndex(coding.slots()), .head = head, .end = head};
}

Result<void> plan_keep_offsets(const OldShard& old, std::span<const std::uint64_t> changed, ShardUpdate& update) {
  SHERD_TRY(keep_entries(old, changed, update));
  std::vector<Extent> used = chunks_of(*old.index, old.max_chunk_bytes);
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
    if (extent->length > old.max_chunk_bytes) return too_long(*extent, old.max_chunk_bytes).in_slot(slot);
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
  std::vector<Extent> used = chunks_of(update.index, old.max_chunk_bytes);
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

// Only an index at the beginning can tell that a chunk has another length: one at the end, and lists of ids, would be
// replaced by appended ones, and until then the chunk would not match. The copy of the index, if there is one, is at
// the end.
Result<void> plan_in_place(const OldShard& old, std::span<const std::uint64_t> changed, ShardUpdate& update) {
  SHERD_TRY(plan_amend(old, changed, update));
  update.copies_index = old.starts_with_index;
  if (old.is_copied_to_append()) update.alignment = 1;
  std::vector<Rooms::Chunk> chunks;
  for (const std::uint64_t slot : changed) {
    const Extent chunk = old.index->placed(slot);
    const bool is_stored = old.index->entry(slot) == ShardIndex::Entry::stored;
    if (is_stored && chunk.length > 0 && chunk.length <= old.max_chunk_bytes) chunks.push_back({chunk, slot});
  }
  Rooms rooms(std::move(chunks));
  for (const Extent& part : old.index_bytes) rooms.use(part);
  for_each_chunk(update.index, old.max_chunk_bytes, [&](const Extent& kept) { rooms.use(kept); });
  const std::uint64_t copy = old.starts_with_index ? old.index_bytes.front().length : 0;
  const std::uint64_t end = rooms.end() + copy <= update.old_size ? update.old_size - copy : update.old_size;
  rooms.for_each(end, [&](const Rooms::Chunk& chunk, std::uint64_t room) {
    update.rooms[chunk.slot] = {chunk.old, old.starts_with_index ? room : chunk.old.length};
  });
  return {};
}

}  // namespace sherd
