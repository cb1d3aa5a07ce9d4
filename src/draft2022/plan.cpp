// Plans a new version of a shard from the old one: slots that are set, patched or cleared, and likewise shards inside
// slots. A shard that keeps no chunk is made without reading the old one. Otherwise the index is read, kept chunks are
// moved unchanged, and a chunk is read only if a part of it changes.
#include "draft2022/plan.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/checked.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "shard/choose.hpp"
#include "shard/old_shard.hpp"
#include "shard/writer.hpp"
#include "store/read_into.hpp"
#include "store/span.hpp"

namespace sherd::draft2022 {
namespace {

using State = ShardingTransformer::State;
using Share = ChunkPrefix::Share;

bool only_erases(const Edits& edits) {
  return std::all_of(edits.begin(), edits.end(), [](const Edit* edit) { return edit->kind == Edit::Kind::erase; });
}

// The length of a value of `old` bytes after applying the patches, which must leave no gap.
Result<std::uint64_t> patched_length(std::uint64_t old, std::span<const Patch> patches) {
  for (const Patch& patch : patches) {
    if (patch.start > old)
      return invalid_argument("bytes written at " + std::to_string(patch.start) + " would leave a gap: the value has " +
                              std::to_string(old));
    old = std::max(old, patch.start + patch.bytes.size());
  }
  return old;
}

// The version from which a plan with an index was made.
Result<OldShard> old_shard(const Plan& plan, ByteSource& source, const Limits& limits) {
  const ShardLayout& layout = plan.level->layout;
  OldShard old{.index = plan.index, .max_chunk_bytes = layout.max_encoded_size()};
  SHERD_TRY(add_slots({source, {0, plan.where.length}, layout, plan.level->grid}, limits, old));
  return old;
}

class Planner {
 public:
  // `object` may be null if the plan is not written to it.
  Planner(const State& state, ByteSource* object) : state_(state), object_(object) {}

  Result<Plan> plan(std::size_t depth, const Box& chunks, std::optional<Extent> where, const Change& change) {
    const Level& level = state_.levels[depth];
    Plan plan{.level = &level};
    if (where && !covers(state_, change.edits, chunks)) {
      Cache none(0);
      plan.where = *where;
      SHERD_TRY(index, read_index({*object_, *where, level.layout, level.grid}, state_.limits(), none));
      plan.index = std::move(index);
    }
    std::map<std::uint64_t, Change> by_slot;
    for (const Edit* edit : change.edits) by_slot[level.slot_of(edit->chunk)].edits.push_back(edit);
    for (std::uint64_t slot = 0; change.erased != nullptr && plan.index && slot < plan.index->slots(); ++slot)
      if (!plan.index->empty(slot)) by_slot[slot].erased = change.erased;
    std::uint64_t left = plan.index ? plan.index->count() : 0;
    for (const auto& [slot, of_slot] : by_slot) {
      const bool existed = plan.index && !plan.index->empty(slot);
      const std::size_t before = plan.steps.size();
      SHERD_TRY(add_step(plan, depth, state_.chunks_of(level, chunks.origin, slot), {slot, of_slot}).in_slot(slot));
      if (plan.steps.size() == before) continue;
      const Plan::Step& step = plan.steps.back();
      if (existed) --left;
      if (step.edit != nullptr || step.inside != nullptr) ++left;
      if (step.edit != nullptr || (step.inside != nullptr && !step.inside->erases)) plan.erases = false;
    }
    plan.remains = left > 0;
    std::sort(plan.steps.begin(), plan.steps.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
    return plan;
  }

 private:
  struct SlotChange {
    std::uint64_t slot;
    const Change& change;
  };

  Result<void> add_step(Plan& plan, std::size_t depth, const Box& chunks, const SlotChange& at) {
    const Level& level = *plan.level;
    Plan::Step step{
        .order = order_key(level.layout, unravel(at.slot, level.grid), level.grid, state_.array.config().chunk_order),
        .slot = at.slot};
    const bool exists = plan.index && !plan.index->empty(at.slot);
    const bool is_chunk = depth + 1 == state_.levels.size();
    const Share erased = erased_share(at.change, chunks, is_chunk);
    if (erased == Share::none && at.change.erased != nullptr) return {};
    if (erased == Share::all) {
      if (exists) plan.steps.push_back(std::move(step));
      return {};
    }
    if (is_chunk) {
      step.edit = at.change.edits.front();
      if (step.edit->kind == Edit::Kind::patch) {
        SHERD_TRY(extent, old_extent(plan, at.slot));
        SHERD_TRY(patched_length(extent ? extent->length : 0, step.edit->patches));
      }
      plan.steps.push_back(std::move(step));
      return {};
    }
    SHERD_TRY(extent, old_extent(plan, at.slot));
    if (extent) extent->offset += plan.where.offset;
    SHERD_TRY(inside, this->plan(depth + 1, chunks, extent, at.change));
    if (inside.steps.empty()) return {};
    if (inside.remains && inside.index) SHERD_TRY(check_in_memory(inside.where.length));
    if (inside.remains) step.inside = std::make_shared<const Plan>(std::move(inside));
    plan.steps.push_back(std::move(step));
    return {};
  }

  // `all` if nothing of the slot remains, whatever it contains.
  [[nodiscard]] Share erased_share(const Change& change, const Box& chunks, bool is_chunk) const {
    if (change.erased != nullptr) return change.erased->of(chunks);
    if (!only_erases(change.edits)) return Share::none;
    return is_chunk || covers(state_, change.edits, chunks) ? Share::all : Share::some;
  }

  // A shard inside another one is changed in memory.
  [[nodiscard]] Result<void> check_in_memory(std::uint64_t bytes) const {
    const Limits& limits = state_.limits();
    if (bytes <= max_shard_bytes(limits)) return {};
    return unsupported("a shard of " + std::to_string(bytes) + " bytes inside another exceeds the limit chunk_bytes");
  }

  static Result<std::optional<Extent>> old_extent(const Plan& plan, std::uint64_t slot) {
    if (!plan.index) return std::optional<Extent>();
    return plan.index->extent(slot);
  }

  const State& state_;
  ByteSource* object_;
};

// Carries out a plan.
class PlanWriter {
 public:
  explicit PlanWriter(const State& state) : state_(state) {}

  /// Stores the next version of a shard.
  Result<void> store(const Plan& plan, const StoredShard& shard) {
    SHERD_TRY(coding, plan.level->layout.coding(plan.level->grid, 0, state_.limits()));
    SHERD_TRY(update, this->update(plan, shard.old, shard.store.traits(), *coding));
    SHERD_TRY(applied, apply(shard, *coding, std::move(update), 1, ShardWriter::Empty::stored,
                             [&](ShardWriter& writer) { return put(plan, shard.old, writer); }));
    moved_ += applied.unchanged;
    return {};
  }

  [[nodiscard]] std::uint64_t moved() const noexcept { return moved_; }

 private:
  /// A shard inside another one; `old` is its previous version, or null.
  Result<void> write(const Plan& plan, ByteSource* old, ObjectWriter& to) {
    SHERD_TRY(coding, plan.level->layout.coding(plan.level->grid, 0, state_.limits()));
    SHERD_TRY(update, this->update(plan, old, {}, *coding));
    ShardWriter writer(*coding, std::move(update), 1);
    SHERD_TRY(writer.start(to, old));
    SHERD_TRY(put(plan, old, writer));
    SHERD_TRY(writer.finish(ShardWriter::Empty::stored));
    moved_ += writer.unchanged();
    return {};
  }

  Result<void> put(const Plan& plan, ByteSource* old, ShardWriter& writer) {
    for (const Plan::Step& step : plan.steps) {
      EncodedBatch batch;
      const bool present = step.edit != nullptr || step.inside != nullptr;
      if (present) SHERD_TRY(value(plan, step, old, *batch.bytes).in_slot(step.slot));
      batch.chunks.push_back({step.slot, batch.bytes->size(), present});
      SHERD_TRY(writer.put(std::move(batch)));
    }
    return {};
  }

  Result<ShardUpdate> update(const Plan& plan, ByteSource* old, const StoreTraits& traits,
                             const IndexCoding& coding) const {
    if (!plan.index) return plan_new(coding);
    std::vector<std::uint64_t> changed;
    changed.reserve(plan.steps.size());
    for (const Plan::Step& step : plan.steps) changed.push_back(step.slot);
    ShardChange change{.slots = changed};
    if (plan.erases)
      change.prescribed = {state_.erase == EraseMode::rewrite ? UpdateKind::dense : UpdateKind::index_in_place,
                           "chunks are erased"};
    SHERD_TRY(before, old_shard(plan, *old, state_.limits()));
    return plan_update(choose(state_.array.config(), traits, before, change), before, changed, coding);
  }

  // The bytes for a slot.
  Result<void> value(const Plan& plan, const Plan::Step& step, ByteSource* old, Buffer& to) {
    if (step.inside != nullptr) return shard(plan, *step.inside, old, to);
    const Edit& edit = *step.edit;
    if (edit.kind == Edit::Kind::set) {
      SHERD_TRY(to.resize(edit.value.size()));
      if (!edit.value.empty()) std::memcpy(to.data(), edit.value.data(), edit.value.size());
      return {};
    }
    if (plan.index && !plan.index->empty(step.slot)) {
      SHERD_TRY(extent, plan.index->extent(step.slot));
      SHERD_TRY(state_.chunk_layout.check_encoded_size(state_.array.chunks, extent->length));
      if (!overwrites(edit.patches, extent->length)) {
        SHERD_TRY(read_into(*old, *extent, to));
      }
    }
    return apply_patches(edit.patches, to);
  }

  Result<void> shard(const Plan& around, const Plan& inside, ByteSource* old, Buffer& to) {
    BufferWriter writer(to);
    if (!inside.index) return write(inside, nullptr, writer);
    Scratch before;
    SHERD_TRY(read_into(*old, {inside.where.offset - around.where.offset, inside.where.length}, *before));
    SpanSource source("", before->span());
    return write(inside, &source, writer);
  }

  const State& state_;
  std::uint64_t moved_ = 0;
};

}  // namespace

bool covers(const State& state, const Edits& edits, const Box& chunks) {
  std::uint64_t inside = 0;
  for (const Edit* edit : edits) {
    if (edit->kind == Edit::Kind::patch) return false;
    if (state.is_inside(edit->chunk)) ++inside;
  }
  return inside > 0 && inside == element_count(chunks.shape);
}

bool overwrites(std::span<const Patch> patches, std::uint64_t length) {
  std::uint64_t end = 0;
  for (const Patch& patch : patches)
    if (patch.start <= end) end = std::max(end, patch.start + patch.bytes.size());
  return end >= length;
}

Result<void> apply_patches(std::span<const Patch> patches, Buffer& to) {
  SHERD_TRY(length, patched_length(to.size(), patches));
  SHERD_TRY(to.grow(length));
  for (const Patch& patch : patches)
    if (!patch.bytes.empty()) std::memcpy(to.data() + patch.start, patch.bytes.data(), patch.bytes.size());
  return {};
}

Result<Plan> plan_change(const State& state, const Box& chunks, ByteSource* old, const Change& change) {
  std::optional<Extent> where;
  if (old != nullptr) {
    SHERD_TRY(size, old->size());
    where = Extent{0, size};
  }
  SHERD_TRY(plan, Planner(state, old).plan(0, chunks, where, change));
  if (plan.index && !plan.steps.empty()) {
    SHERD_TRY(before, old_shard(plan, *old, state.limits()));
    SHERD_TRY(refuse_hdf5(before, *old));
  }
  return plan;
}

Result<std::uint64_t> store_plan(const State& state, const Plan& plan, const StoredShard& shard) {
  PlanWriter writer(state);
  SHERD_TRY(writer.store(plan, shard));
  return writer.moved();
}

}  // namespace sherd::draft2022
