// Checks the shards of a dual-format array for a missing name, two names of different objects, and indexes that
// disagree. Faults within one of the formats are reported by the check of that format.
#include <algorithm>
#include <map>

#include "base/try.hpp"
#include "check/check.hpp"
#include "check/repair.hpp"
#include "neuroglancer/dual_format.hpp"
#include "store/capabilities.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

// The names of a shard.
struct Names {
  Shape cell;
  std::string first, second;
};

class DualFormatCheck {
 public:
  DualFormatCheck(const Array::State& state, const Config& config, const std::optional<RepairOptions>& repair)
      : state_(state), keys_(*counterpart_keys(state)), config_(config), repair_(repair) {}

  // By cell: the objects stored under either name.
  Result<std::vector<Names>> find() const {
    std::map<Shape, Names> found;
    const Shape count = state_.grid.count(state_.shape());
    const auto add = [&](const Shape& cell) {
      if (std::ranges::equal(cell, count, std::ranges::less()))
        found.try_emplace(cell, Names{cell, state_.key(cell), keys_.key(cell)});
    };
    SHERD_TRY(state_.storage->list(state_, state_.shape(),
                                   [&](const Shape& cell, const std::string&, std::uint64_t) -> Result<void> {
                                     add(cell);
                                     return {};
                                   }));
    SHERD_TRY(state_.location.store->visit(keys_.prefix, ListDepth::all, [&](const ListEntry& entry) {
      if (const auto cell = keys_.parse(keys_.prefix + std::string(entry.name))) add(*cell);
      return true;
    }));
    std::vector<Names> names;
    for (auto& [cell, each] : found) names.push_back(std::move(each));
    return names;
  }

  /// The findings about one shard, after a repair if that is wanted and possible.
  Result<std::unique_ptr<Findings>> run(const Names& names) const {
    const auto look = [&] {
      return look_at(*state_.location.store, names.first, [&](Findings& to) { return check(names, to); });
    };
    SHERD_TRY(found, look());
    if (!repair_ || found->empty()) return found;
    SHERD_TRY(done, noted(retry_conflicts(config_, [&] { return repaired(names); }), *found));
    if (!done) return found;
    SHERD_TRY(after, look());
    after->repaired.push_back(*std::move(done));
    return after;
  }

 private:
  Result<void> check(const Names& names, Findings& to) const {
    auto first = state_.location.store->open(names.first);
    if (!first) return to.failed(std::move(first).error(), "unreadable", {});
    auto second = state_.location.store->open(names.second);
    if (!second) return to.failed(std::move(second).error(), "unreadable", {});
    if (*first == nullptr && *second == nullptr) return {};  // erased since it was listed
    if (*first == nullptr || *second == nullptr) {
      SHERD_TRY(pending, is_pending(names, **(*first == nullptr ? second : first), to));
      if (pending) return {};
      const std::string& there = *first == nullptr ? names.second : names.first;
      to.error("counterpart_missing", {},
               "the shard exists only under the name '" + there + "'; add the other one as a hard link");
      return {};
    }
    SHERD_TRY(to.seen(**first));
    SHERD_TRY(generation, (*first)->generation());
    SHERD_TRY(other, (*second)->generation());
    if (generation == other) return extents(names.cell, **first, to);
    SHERD_TRY(pending, is_pending(names, **first, to));
    if (pending) return {};
    to.error(
        "counterpart_differs", {},
        "is no longer the same file as '" + names.second + "': a program that knows only one of the names has written");
    return {};
  }

  Result<Repair> repaired(const Names& names) const {
    Store& store = *state_.location.store;
    auto& links = dynamic_cast<LinkingStore&>(store);
    SHERD_TRY(held, hold_object(state_, names.cell, names.first));
    SHERD_TRY(lock, store.lock(names.second));
    SHERD_TRY(second, store.open(names.second));
    SHERD_TRY(pending, links.is_link_pending(names.first, names.second));
    if (pending) {
      SHERD_TRY(store.write(names.first));  // a writer first puts in place what an earlier one has left
      return Repair{"name_added", names.second, "ended an interrupted write: linked to '" + names.first + "'"};
    }
    const bool is_first = held.source != nullptr;
    if (is_first && second != nullptr)
      return unsupported("which of two files or indexes to keep is not known (docs/format/dual-format.md)");
    if (!is_first && second == nullptr) return not_found("was erased meanwhile").in_key(names.first);
    const std::string& there = is_first ? names.first : names.second;
    const std::string& missing = is_first ? names.second : names.first;
    SHERD_TRY(is_both, is_dual_format(names.cell, is_first ? *held.source : *second));
    if (is_both) {
      SHERD_TRY(links.add_name(there, missing));
      return Repair{"name_added", missing, "linked to '" + there + "'"};
    }
    if (!is_first)
      return unsupported("'" + there + "' has no index of the Zarr array: copy the volume to keep its version");
    lock.reset();
    SHERD_TRY(kept, with_backup(held, repair_->backup, [&]() -> Result<void> {
                SHERD_TRY(rewrite_densely(held, {}));
                return {};
              }));
    return Repair{"name_added", missing, "'" + there + "' was rewritten with both indexes", std::move(kept)};
  }

  // Whether both indexes can be read and agree.
  Result<bool> is_dual_format(const Shape& cell, ByteSource& source) const {
    Findings findings("");
    SHERD_TRY(extents(cell, source, findings));
    if (!findings.empty()) return false;
    Budget budget(config_.memory_budget);
    SHERD_TRY(size, source.size());
    return ObjectCheck(state_, false, config_, budget).is_sound(cell, source, size);
  }

  // Both versions are whole between the two renames of a writer, which is about to end or was killed. `conflict` if it
  // has ended meanwhile.
  Result<bool> is_pending(const Names& names, ByteSource& opened, Findings& to) const {
    auto* const store = dynamic_cast<LinkingStore*>(state_.location.store.get());
    SHERD_TRY(pending, store != nullptr ? store->is_link_pending(names.first, names.second) : Result<bool>(false));
    if (pending) {
      to.warning("counterpart_differs", {},
                 "is not yet the same file as '" + names.second +
                     "': a write is under way, or was interrupted, which the next write of this shard repairs");
      return true;
    }
    SHERD_TRY(first, state_.location.store->open(names.first));
    SHERD_TRY(second, state_.location.store->open(names.second));
    if (first == nullptr || second == nullptr) return false;
    SHERD_TRY(one, first->generation());
    SHERD_TRY(other, second->generation());
    if (!(one == other)) return false;
    return conflict("was replaced while it was checked").in_key(opened.name());
  }

  // Unreadable indexes are reported by the check of their own format.
  Result<void> extents(const Shape& cell, ByteSource& source, Findings& to) const {
    const ShardLayout& layout = *state_.layout.shard;
    const Limits& limits = config_.limits;
    const Shape grid = layout.grid(state_.grid.cell_shape(cell));
    const std::uint64_t first_id = state_.first_id(cell);
    SHERD_TRY(size, source.size());
    const ShardLocation shard{source, {0, size}, layout, grid, first_id};
    Cache none(0);
    const auto index = read_index(shard, limits, none);
    const auto entries = read_second_index(shard, limits);
    if (!entries) return to.failed(entries.error(), "counterpart_index", {});
    if (!index) return {};
    for (const SecondIndexEntry& entry : *entries) {
      const auto expected = layout.second->expected(entry.slot, **index);
      if (!expected || *expected == entry.extent) continue;
      to.error("counterpart_extents", {entry.slot.slot, entry.extent ? entry.extent->offset : (*expected)->offset},
               SecondIndex::disagreement(entry.slot, *expected, entry.extent));
    }
    return {};
  }

  const Array::State& state_;
  const CounterpartKeys& keys_;
  const Config& config_;
  const std::optional<RepairOptions>& repair_;
};

}  // namespace

Result<void> check_dual_format(const Array::State& state, const Config& config,
                               const std::optional<RepairOptions>& repair,
                               const std::function<void(Findings&)>& merge) {
  const DualFormatCheck check(state, config, repair);
  SHERD_TRY(names, check.find());
  std::vector<std::unique_ptr<Findings>> findings(names.size());
  const Config waiting = with_requests(config, state.location.store->traits().parallel_requests);
  SHERD_TRY(parallel_for(names.size(), waiting, [&](std::size_t i) -> Result<void> {
    SHERD_TRY(found, check.run(names[i]));
    findings[i] = std::move(found);
    return {};
  }));
  for (const auto& each : findings) merge(*each);
  return {};
}

}  // namespace sherd
