#include "check/rewrite.hpp"

#include <utility>

#include "base/try.hpp"
#include "shard/apply.hpp"
#include "shard/choose.hpp"
#include "shard/old_shard.hpp"
#include "store/condition.hpp"

namespace sherd {
namespace {

bool can_erase(const HeldObject& held) { return held.store().traits().conditional_erase; }

/// Of the version that such an update makes.
std::uint64_t size_of(const ShardUpdate& update, const OldShard& old) {
  std::uint64_t index = 0;
  for (const Extent& part : old.index_bytes) index += part.length;
  return update.end + index - std::min(index, update.head);  // the part at the beginning is included in the end
}

}  // namespace

Result<HeldObject> hold_object(const Array::State& state, const Shape& cell, const std::string& key) {
  HeldObject held{state, cell, key};
  SHERD_TRY(lock, held.store().lock(key));
  held.lock = std::move(lock);
  SHERD_TRY(source, held.store().open(key));
  if (source == nullptr) return held;
  SHERD_TRY(size, source->size());
  SHERD_TRY(condition, unchanged_since(source.get()));
  held.source = std::move(source);
  held.size = size;
  held.condition = std::move(condition);
  SHERD_TRY(state.confirm());
  return held;
}

Result<std::optional<std::uint64_t>> rewrite_densely(const HeldObject& held, const DenseRewrite& rewrite) {
  const Array::State& state = held.state;
  const ShardLayout& layout = *state.layout.shard;
  const Limits& limits = state.config().limits;
  const CodecChain& chain = state.layout.chain;
  SHERD_TRY(type, chain.inner_type(chain.stored_shape(state.grid.cell_shape(held.cell))));
  const ShardLocation location{
      *held.source, {0, held.size}, layout, layout.grid(type.shape), state.first_id(held.cell)};
  SHERD_TRY(old, read_old_shard(location, limits));
  if (layout.second && !old.overlaps_index) SHERD_TRY(check_indices_agree(location, old, rewrite.changed, limits));
  SHERD_TRY(coding, layout.coding(location.grid, location.first_id, limits));
  SHERD_TRY(update, plan_update(UpdateKind::dense, old, rewrite.changed, *coding));
  if (rewrite.only_if_smaller && size_of(update, old) >= held.size) return std::optional<std::uint64_t>();
  const auto empty = can_erase(held) ? ShardWriter::Empty::absent : ShardWriter::Empty::stored;
  SHERD_TRY(applied,
            apply({held.store(), held.key, held.source.get(), held.condition}, *coding, std::move(update), 1, empty,
                  [&](ShardWriter& writer) { return rewrite.put ? rewrite.put(writer) : Result<void>(); }));
  if (!applied.exists) SHERD_TRY(erase_held(held));
  if (auto* const recorder = state.config().recorder.get()) {
    recorder->chunks_moved += applied.unchanged;
    recorder->updated("rewrite", rewrite.why);
  }
  return std::optional(applied.size);
}

Result<void> erase_held(const HeldObject& held) {
  if (!can_erase(held))
    return unsupported("this store cannot erase an object on the condition that it has not changed");
  SHERD_TRY(held.store().erase(held.key, held.condition));
  return {};
}

}  // namespace sherd
