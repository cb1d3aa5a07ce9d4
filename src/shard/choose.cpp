// A table of all ways to change a shard, the best one first.
#include "shard/choose.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/checked.hpp"
#include "base/try.hpp"

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

/// The bytes of the old object to which an appended version does not refer.
std::uint64_t unused_if_appended(const Choice& choice) {
  const ShardIndex& index = *choice.old.index;
  auto dead = checked_add(choice.unused, choice.change.replaced_lists);
  for (const std::uint64_t slot : choice.change.slots)
    if (dead && index.entry(slot) == ShardIndex::Entry::stored) dead = checked_add(*dead, index.placed(slot).length);
  return dead.value_or(~std::uint64_t{0});
}

// An amendment is in memory as a whole, so it needs a share of the budget.
bool can_append(const Choice& choice) {
  const Config& config = choice.config;
  const bool is_cheap = config.update == Update::append || choice.traits.amend != AmendCost::copy;
  return choice.old.has_parts && config.update != Update::rewrite && is_cheap &&
         choice.change.put_bytes <= config.memory_budget / 4 && !choice.is_wasteful(unused_if_appended(choice));
}

bool can_keep_offsets(const Choice& choice) {
  const bool is_complete = !choice.old.unused;
  return is_complete && !choice.old.overlaps_index && !choice.is_wasteful(choice.unused);
}

bool always(const Choice&) { return true; }

bool if_prescribed(const Choice&) { return false; }

struct Strategy {
  UpdateKind kind;
  bool (*fits)(const Choice&);
  PlanFunction* plan;
};

constexpr Strategy kStrategies[] = {
    {UpdateKind::amend, can_append, plan_amend},
    {UpdateKind::keep_offsets, can_keep_offsets, plan_keep_offsets},
    {UpdateKind::dense, always, plan_dense},
    {UpdateKind::index_in_place, if_prescribed, plan_index_in_place},
};

Error not_built(std::string_view value, std::string_view where) {
  return unsupported("the setting update = '" + std::string(value) + "' is not supported by this version for " +
                     std::string(where) + "; 'auto' and 'rewrite' are");
}

}  // namespace

Result<UpdateKind> choose(const Config& config, const StoreTraits& traits, const OldShard& old,
                          const ShardChange& change) {
  if (config.update == Update::in_place) return not_built("in_place", "any shard");
  if (config.update == Update::append && !old.has_parts) return not_built("append", "shards with one index");
  if (change.prescribed) return *change.prescribed;
  const Choice choice{config, traits, old, change, old.unused_bytes()};
  return std::ranges::find_if(kStrategies, [&](const Strategy& row) { return row.fits(choice); })->kind;
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
