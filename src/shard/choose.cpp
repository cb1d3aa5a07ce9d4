// A table of all ways to change a shard, the best one first.
#include "shard/choose.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "store/amendment.hpp"

namespace sherd {
namespace {

struct Choice {
  const Config& config;
  const StoreTraits& traits;
  const OldShard& old;
  const ShardChange& change;
  std::uint64_t unused;  ///< bytes of the old version

  [[nodiscard]] bool is_wasteful(std::uint64_t dead) const {
    return static_cast<double>(dead) > config.max_unused * static_cast<double>(old.index->object_size());
  }
};

/// A smaller shard is rewritten instead of copied and appended to by the store.
constexpr std::uint64_t kFewBytes = std::uint64_t{1} << 20;
/// The longest append that is known to become visible in one step.
constexpr std::uint64_t kMaxAtOnce = std::uint64_t{16} << 20;

/// Until the index is whole again, the copy of it must stay where readers look for it, at the end.
constexpr std::string_view kTornIndex = "the index at the beginning is written in part";

constexpr std::string_view kWasteful = "more than max_unused would be dead";

/// The bytes of the old object to which an appended version does not refer.
std::uint64_t unused_if_appended(const Choice& choice) {
  const ShardIndex& index = *choice.old.index;
  auto dead = checked_add(choice.unused, choice.change.replaced_lists);
  if (!choice.old.has_parts)
    for (const Extent& part : choice.old.index_bytes) dead = dead ? checked_add(*dead, part.length) : dead;
  for (const std::uint64_t slot : choice.change.slots)
    if (dead && index.entry(slot) == ShardIndex::Entry::stored) dead = checked_add(*dead, index.placed(slot).length);
  return dead.value_or(~std::uint64_t{0});
}

/// Why the store would make a new object of every change.
std::string_view object_obstacle(const OldShard& old) {
  const std::string_view obstacle = old.appending.alignment == 0 ? old.appending.obstacle : "";
  return obstacle == kSeveralNames || obstacle == kFarAway ? obstacle : "";
}

/// Why the store would not append to the shard, whose index is one part: it makes a new object itself, or all of the
/// appended bytes must become visible in one step.
std::string_view index_obstacle(const OldShard& old, const StoreTraits& traits) {
  if (old.index->is_copy()) return kTornIndex;
  if (old.overlaps_index || old.index_bytes.empty()) return "chunks are where the index goes";
  if (traits.amend == AmendCost::on_server) return {};
  if (old.appending.alignment == 0) return old.appending.obstacle;
  // Readers that find a part of the new index at the beginning notice that by its checksum.
  return old.starts_with_index && !old.checks_index ? "the index at the beginning has no checksum" : std::string_view();
}

// An amendment is in memory as a whole, so it needs a share of the budget.
std::string_view append_obstacle(const Choice& choice) {
  const auto& [config, traits, old, change, unused] = choice;
  if (config.update == Update::rewrite) return "as configured";
  if (const auto obstacle = old.has_parts ? object_obstacle(old) : index_obstacle(old, traits); !obstacle.empty())
    return obstacle;
  const bool is_copied = traits.amend == AmendCost::on_server && !old.has_parts;
  const std::uint64_t few = std::max(traits.amend_from_bytes, is_copied ? kFewBytes : 0);
  if (config.update != Update::append) {
    if (old.starts_with_index && old.appending.alignment != 0) return "the index is at the beginning";
    if (traits.amend == AmendCost::copy) return Appending().obstacle;
    if (old.index->object_size() < few) return "the shard is small";
  }
  const std::uint64_t most = old.appending.alignment != 0 ? kMaxAtOnce : ~std::uint64_t{0};
  if (change.put_bytes > std::min(most, config.memory_budget / 4)) return "the change is large";
  if (choice.is_wasteful(unused_if_appended(choice))) return kWasteful;
  return {};
}

// Opt-in, because a reader may find a chunk half written. What does not fit in place is appended.
std::string_view in_place_obstacle(const Choice& choice) {
  if (choice.config.update != Update::in_place) return "not configured";
  if (!choice.old.is_exclusive) return "chunks share bytes";
  if (choice.old.index->is_copy()) return kTornIndex;
  if (choice.traits.amend != AmendCost::at_once) return Appending().obstacle;
  if (const auto obstacle = object_obstacle(choice.old); !obstacle.empty()) return obstacle;
  const bool has_one_index = choice.old.has_parts || choice.old.index_bytes.size() == 1;
  if (choice.old.overlaps_index || !has_one_index) return "the shard has two indexes";
  if (choice.old.starts_with_index && !choice.old.checks_index) return "the index at the beginning has no checksum";
  if (choice.change.put_bytes > choice.config.memory_budget / 4) return "the change is large";
  if (choice.is_wasteful(choice.unused)) return "more than max_unused is dead";
  return {};
}

// A writer that holds bytes in memory needs them from front to end, and chunks would go into gaps. Dead bytes that keep
// the next updates from being appended are removed.
std::string_view offsets_obstacle(const Choice& choice) {
  const bool is_complete = !choice.old.unused;
  const bool fits = is_complete && choice.traits.writer_bytes == 0 && !choice.old.overlaps_index &&
                    !choice.is_wasteful(choice.unused);
  const bool prevents_appends = fits && choice.is_wasteful(2 * choice.unused) && append_obstacle(choice) == kWasteful;
  return fits && !prevents_appends ? std::string_view() : "the shard becomes dense";
}

std::string_view no_obstacle(const Choice&) { return {}; }

std::string_view not_prescribed(const Choice&) { return "only where it is prescribed"; }

struct Strategy {
  UpdateKind kind;
  std::string_view (*obstacle)(const Choice&);  ///< why it does not fit; empty if it does
  PlanFunction* plan;
};

constexpr Strategy kStrategies[] = {
    {UpdateKind::in_place, in_place_obstacle, plan_in_place},          {UpdateKind::amend, append_obstacle, plan_amend},
    {UpdateKind::keep_offsets, offsets_obstacle, plan_keep_offsets},   {UpdateKind::dense, no_obstacle, plan_dense},
    {UpdateKind::index_in_place, not_prescribed, plan_index_in_place},
};

std::string_view name_of(UpdateKind kind) {
  return kind == UpdateKind::in_place ? "in_place" : keeps_object(kind) ? "append" : "rewrite";
}

}  // namespace

UpdateKind choose(const Config& config, const StoreTraits& traits, const OldShard& old, const ShardChange& change) {
  if (change.prescribed) {
    const auto& [kind, why] = *change.prescribed;
    if (config.recorder && !why.empty()) config.recorder->updated(name_of(kind), why);
    return kind;
  }
  const Choice choice{config, traits, old, change, old.unused_bytes()};
  const auto kind =
      std::ranges::find_if(kStrategies, [&](const Strategy& row) { return row.obstacle(choice).empty(); })->kind;
  if (config.recorder && kind != UpdateKind::in_place)
    config.recorder->updated(name_of(kind), keeps_object(kind) ? "" : append_obstacle(choice));
  return kind;
}

void record_in_place(const Config& config, const OldShard& old, std::uint64_t new_size) {
  if (!config.recorder) return;
  if (new_size <= old.index->object_size()) return config.recorder->updated("in_place", "");
  config.recorder->updated(old.is_copied_to_append() ? "rewrite" : "append", "not all of it fits in place");
}

Result<ShardUpdate> plan_update(UpdateKind kind, const OldShard& old, std::span<const std::uint64_t> changed,
                                const IndexCoding& coding) {
  SHERD_TRY(update, plan_new(coding));
  update.kind = kind;
  update.old_size = old.index->object_size();
  for (const std::uint64_t slot : changed)
    if (!old.index->empty(slot)) ++update.replaced_chunks;
  SHERD_TRY(std::ranges::find(kStrategies, kind, &Strategy::kind)->plan(old, changed, update));
  return update;
}

}  // namespace sherd
