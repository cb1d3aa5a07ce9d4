// Makes shards without what cannot be read. The outermost shard is rewritten by moving bytes; a shard inside it, from
// which a chunk is removed, is rewritten in memory.
#include <map>
#include <utility>

#include "base/limits.hpp"
#include "base/try.hpp"
#include "check/repair.hpp"
#include "shard/choose.hpp"
#include "shard/old_shard.hpp"
#include "store/read_into.hpp"
#include "store/span.hpp"

namespace sherd {
namespace {

/// What is broken in each slot, as paths from there on. An empty path: the slot itself.
using BrokenSlots = std::map<std::uint64_t, std::set<SlotPath>>;

BrokenSlots by_slot(const std::set<SlotPath>& broken) {
  BrokenSlots slots;
  for (const SlotPath& path : broken) slots[path.front()].insert(SlotPath(path.begin() + 1, path.end()));
  return slots;
}

std::vector<std::uint64_t> numbers(const BrokenSlots& slots) {
  std::vector<std::uint64_t> changed;
  for (const auto& [slot, paths] : slots) changed.push_back(slot);
  return changed;
}

class Dropping {
 public:
  explicit Dropping(const Limits& limits) : limits_(limits) {}

  /// An encoded chunk without what is broken in it; false if nothing remains.
  Result<bool> rebuild(const ChunkLayout& layout, const Shape& shape, const std::set<SlotPath>& broken,
                       std::span<const std::byte> encoded, Buffer& to) const {
    const bool is_opaque = layout.chain.has_bytes_codecs();
    Buffer decoded;
    if (is_opaque) {
      SHERD_TRY(layout.chain.decode_bytes(encoded, max_shard_bytes(limits_), decoded));
      encoded = decoded.span();
    }
    SpanSource source("", encoded);
    SHERD_TRY(type, layout.chain.inner_type(layout.chain.stored_shape(shape)));
    const ShardLocation shard{source, {0, encoded.size()}, *layout.shard, layout.shard->grid(type.shape)};
    const BrokenSlots slots = by_slot(broken);
    SHERD_TRY(old, read_old_shard(shard, limits_));
    SHERD_TRY(coding, layout.shard->coding(shard.grid, 0, limits_));
    SHERD_TRY(update, plan_update(UpdateKind::dense, old, numbers(slots), *coding));
    Buffer bytes;
    BufferWriter object(bytes);
    ShardWriter writer(*coding, std::move(update), 1);
    SHERD_TRY(writer.start(object, &source));
    SHERD_TRY(put(shard, *old.index, slots, writer));
    SHERD_TRY(remains, writer.finish());
    if (!remains) return false;
    if (!is_opaque) std::swap(bytes, to);
    SHERD_TRY(is_opaque ? layout.chain.encode_bytes(bytes.span(), to) : Result<void>());
    return true;
  }

  /// Puts the shards inside a shard that keep some of their chunks.
  Result<void> put(const ShardLocation& shard, const ShardIndex& index, const BrokenSlots& slots,
                   ShardWriter& writer) const {
    for (const auto& [slot, broken] : slots) {
      if (broken.contains(SlotPath())) continue;
      SHERD_TRY(extent, index.extent(slot));
      if (!extent) continue;
      if (extent->length > max_shard_bytes(limits_))
        return std::move(unsupported("a shard of " + std::to_string(extent->length) +
                                     " bytes inside another exceeds the limit chunk_bytes"))
            .in_slot(slot);
      Buffer old, rebuilt;
      SHERD_TRY(read_into(shard.source, *extent, old));
      SHERD_TRY(remains,
                rebuild(*shard.layout.inner, shard.layout.inner_shape, broken, old.span(), rebuilt).in_slot(slot));
      EncodedBatch batch;
      SHERD_TRY(batch.add(slot, rebuilt, remains));
      SHERD_TRY(writer.put(std::move(batch)));
    }
    return {};
  }

 private:
  const Limits& limits_;
};

/// A shard without remaining chunks is erased or, if the store cannot erase on a condition, stored without chunks.
Result<void> erase_shard(const HeldObject& held, const ShardLayout& layout, const Shape& grid) {
  SHERD_TRY(is_hdf5, Hdf5Signature(held.size).is_in(*held.source));
  if (is_hdf5) return updates_hdf5("move it away");
  if (held.store().traits().conditional_erase) return erase_held(held);
  SHERD_TRY(coding, layout.coding(grid, held.state.first_id(held.cell), held.state.config().limits));
  SHERD_TRY(update, plan_new(*coding));
  SHERD_TRY(apply({held.store(), held.key, nullptr, held.condition}, *coding, std::move(update), 1,
                  ShardWriter::Empty::stored, [](ShardWriter&) { return Result<void>(); }));
  return {};
}

/// Of an object that must be decoded as a whole.
Result<void> replace_opaque(const HeldObject& held, const std::set<SlotPath>& broken) {
  const Array::State& state = held.state;
  Buffer old, rebuilt;
  SHERD_TRY(read_into(*held.source, {0, held.size}, old));
  SHERD_TRY(remains, Dropping(state.config().limits)
                         .rebuild(state.layout, state.grid.cell_shape(held.cell), broken, old.span(), rebuilt));
  if (!remains) return erase_held(held);
  SHERD_TRY(writer, held.store().write(held.key, {.size = rebuilt.size(), .is_conditional = true}));
  SHERD_TRY(writer->write(0, rebuilt.span()));
  return writer->commit(held.condition);
}

Result<void> drop(const HeldObject& held, const std::set<SlotPath>& broken) {
  const Array::State& state = held.state;
  const ChunkLayout& layout = state.layout;
  const bool is_whole = broken.contains(SlotPath());
  if (is_whole && (!layout.shard || layout.opaque_shard())) return erase_held(held);
  if (layout.opaque_shard()) return replace_opaque(held, broken);
  SHERD_TRY(type, layout.chain.inner_type(layout.chain.stored_shape(state.grid.cell_shape(held.cell))));
  const Shape grid = layout.shard->grid(type.shape);
  if (is_whole) return erase_shard(held, *layout.shard, grid);
  const Limits& limits = state.config().limits;
  const ShardLocation shard{*held.source, {0, held.size}, *layout.shard, grid};
  Cache none(0);
  SHERD_TRY(index, read_index(shard, limits, none));
  const BrokenSlots slots = by_slot(broken);
  const std::vector<std::uint64_t> changed = numbers(slots);
  SHERD_TRY(rewrite_densely(held, {.changed = changed, .put = [&](ShardWriter& writer) {
                                     return Dropping(limits).put(shard, *index, slots, writer);
                                   }}));
  return {};
}

std::string text_of(const std::set<SlotPath>& broken) {
  constexpr std::size_t kNamed = 20;
  std::string text = "emptied " + std::to_string(broken.size()) + (broken.size() == 1 ? " slot: " : " slots: ");
  std::size_t count = 0;
  for (const SlotPath& path : broken) {
    if (++count > kNamed) return text + " and " + std::to_string(broken.size() - kNamed) + " more";
    if (count > 1) text += ", ";
    for (std::size_t i = 0; i < path.size(); ++i) text += (i > 0 ? "/" : "") + std::to_string(path[i]);
  }
  return text;
}

}  // namespace

Result<Repair> drop_broken(const HeldObject& held, const std::set<SlotPath>& broken, bool backup) {
  SHERD_TRY(kept, with_backup(held, backup, [&] { return drop(held, broken); }));
  if (broken.contains(SlotPath()))
    return Repair{"object_erased", held.key, "erased, because nothing in it can be read", std::move(kept)};
  return Repair{"slots_emptied", held.key, text_of(broken), std::move(kept)};
}

}  // namespace sherd
