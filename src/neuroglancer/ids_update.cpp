// Changes shards, each under its lock, in the version that was read: another version is a conflict, after which the
// change starts again. An existing shard is amended: new chunks and the new lists of their minishards go after its end,
// then the entries of these minishards are overwritten; if asked for, also chunks whose length stays. If choose()
// decides for a new version, or if it is stored as the older pair of objects, it is rewritten, moving what is kept
// without decoding it.
#include <algorithm>

#include "base/call.hpp"
#include "base/try.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "neuroglancer/value_rules.hpp"
#include "shard/apply.hpp"
#include "shard/choose.hpp"
#include "shard/old_shard.hpp"
#include "store/condition.hpp"
#include "store/retry.hpp"
#include "store/with_writers.hpp"

namespace sherd::neuroglancer {
namespace {

using Chunk = MinishardIndex::Chunk;
using Item = ShardedStore::Item;
using Location = Uint64Sharding::Location;

constexpr std::size_t kBatchBytes = std::size_t{1} << 20;
constexpr std::size_t kBatchItems = 256;

struct Change {
  Location location;
  std::uint64_t id;
  const Item* item;  // null: erase
};

struct Slot {
  std::uint64_t id;
  std::optional<Extent> old = {};  // including the bytes before it that belong to it
  std::uint64_t preceding = 0;     // of them
  bool changes = false;
  const Item* item = nullptr;  // null: kept or erased
};

std::span<const Change> of_minishard(std::span<const Change> changes, std::size_t first) {
  std::size_t last = first;
  while (last < changes.size() && changes[last].location == changes[first].location) ++last;
  return changes.subspan(first, last - first);
}

class IdsUpdate {
 public:
  IdsUpdate(const ShardedStore::State& state, std::uint64_t number, std::span<const Change> changes)
      : state_(state), number_(number), changes_(changes), keys_(state.format.sharding, number) {
    for (const Change& change : changes) {
      if (change.item == nullptr) continue;
      ++puts_;
      put_bytes_ += change.item->value.size() + change.item->preceding.size();
    }
  }

  /// Returns how many of the ids existed.
  Result<std::uint64_t> apply() {
    if (puts_ == 0) {
      SHERD_TRY(there, open_shard(state_, number_));
      if (!there.source) return std::uint64_t{0};
    }
    SHERD_TRY(seen, lock_and_open());
    return apply(std::move(seen));
  }

  /// Applies the changes to a version that was read under the shard's lock.
  Result<std::uint64_t> apply(OpenedShard seen) {
    SHERD_TRY(stats(std::move(seen)));
    if (old_.source == nullptr) {
      SHERD_TRY(merge(nullptr, changes_));
      if (puts_ != 0) SHERD_TRY(store(UpdateKind::dense));
      return std::uint64_t{0};
    }
    SHERD_TRY(take_touched());
    if (puts_ == 0 && existing_ == 0) return std::uint64_t{0};
    SHERD_TRY(stats_.chunks + puts_ == existing_ ? drop() : update({}));
    return existing_;
  }

  /// Removes dead bytes; returns whether the shard was changed.
  Result<bool> compact() {
    SHERD_TRY(seen, lock_and_open());
    SHERD_TRY(stats(std::move(seen)));
    const bool may_go = stats_.chunks == 0 && can_erase();
    if (old_.source == nullptr || (stats_.dead == 0 && !may_go)) return false;
    SHERD_TRY(stats_.chunks == 0 ? drop() : update(PrescribedUpdate{UpdateKind::dense}));
    return true;
  }
  /// In bytes: of the old version, and of the new one after compact() has made it.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t new_size() const noexcept { return new_size_; }

 private:
  Result<OpenedShard> lock_and_open() {
    SHERD_TRY(lock, state_.store->lock(keys_.shard));
    lock_ = std::move(lock);
    return open_shard(state_, number_);
  }

  Result<void> stats(OpenedShard seen) {
    old_ = std::move(seen);
    if (old_.source == nullptr) return {};
    SHERD_TRY(size, old_.source->size().in_key(old_.source->name()));
    size_ = size;
    SHERD_TRY(stats, shard_stats(state_, number_, *old_.source).in_key(old_.source->name()));
    if (stats.is_hdf5)
      return updates_hdf5("copy its values to another store and change that one").in_key(old_.source->name());
    stats_ = stats;
    return {};
  }

  /// Reads the lists of the minishards that change.
  Result<void> take_touched() {
    std::vector<std::uint64_t> minishards;
    for (std::size_t first = 0; first < changes_.size(); first += of_minishard(changes_, first).size())
      minishards.push_back(changes_[first].location.minishard);
    SHERD_TRY(lists, read_minishards(*old_.source, minishards, state_.reading()).in_key(keys_.shard));
    std::size_t first = 0;
    for (const auto& list : lists) {
      const auto changes = of_minishard(changes_, first);
      first += changes.size();
      SHERD_TRY(merge(list.get(), changes));
      if (list) replaced_lists_ += list->stored().length;
    }
    SHERD_TRY(add_preceding(0, [](const Slot& slot) { return slot.changes; }));
    for (const Slot& slot : slots_) existing_ += slot.changes && slot.old ? 1 : 0;
    return {};
  }

  /// Adds a minishard's slots: the entries of its list and the changes, both sorted by id.
  Result<void> merge(const MinishardIndex* list, std::span<const Change> changes) {
    const auto chunks = list != nullptr ? list->chunks() : std::span<const Chunk>();
    for (std::size_t c = 0, k = 0; c < changes.size() || k < chunks.size();) {
      const bool changes_next = c < changes.size() && (k == chunks.size() || changes[c].id <= chunks[k].id);
      Slot slot{.id = changes_next ? changes[c].id : chunks[k].id, .changes = changes_next};
      if (k < chunks.size() && chunks[k].id == slot.id) {
        SHERD_TRY(extent, list->extent(chunks[k++]));
        slot.old = extent;
      }
      if (changes_next) slot.item = changes[c++].item;
      slots_.push_back(slot);
    }
    if (slots_.size() <= state_.config().limits.index_bytes / sizeof(Slot)) return {};
    return unsupported("the lists of " + keys_.shard + " exceed the limit index_bytes (" +
                       std::to_string(state_.config().limits.index_bytes) + ")");
  }

  /// Adds the bytes before the old chunks of those slots, from the `first` one, that are `wanted`.
  Result<void> add_preceding(std::size_t first, bool (*wanted)(const Slot&)) {
    std::vector<Chunk> chunks;
    std::vector<Slot*> of;
    for (Slot& slot : std::span(slots_).subspan(first)) {
      if (!slot.old || !wanted(slot)) continue;
      chunks.push_back({slot.id, slot.old->offset, slot.old->length});
      of.push_back(&slot);
    }
    SHERD_TRY(preceding, preceding_bytes(state_, *old_.source, chunks));
    for (std::size_t i = 0; i < of.size(); ++i) {
      of[i]->preceding = preceding[i];
      of[i]->old = Extent{of[i]->old->offset - preceding[i], of[i]->old->length + preceding[i]};
    }
    return {};
  }

  /// Every minishard's slots, with the bytes before the chunks that are kept.
  Result<void> take_all() {
    slots_.clear();
    std::size_t next = 0;
    const auto take_changes_before = [&](std::uint64_t minishard) -> Result<void> {
      while (next < changes_.size() && changes_[next].location.minishard < minishard) {
        const auto changes = of_minishard(changes_, next);
        next += changes.size();
        SHERD_TRY(merge(nullptr, changes));
      }
      return {};
    };
    const auto take = [&](std::uint64_t minishard, const MinishardIndex& list) -> Result<bool> {
      SHERD_TRY(take_changes_before(minishard));
      std::span<const Change> changes;
      if (next < changes_.size() && changes_[next].location.minishard == minishard)
        changes = of_minishard(changes_, next);
      next += changes.size();
      const std::size_t first = slots_.size();
      SHERD_TRY(merge(&list, changes));
      SHERD_TRY(add_preceding(first, [](const Slot& slot) { return !slot.changes; }));
      return true;
    };
    SHERD_TRY(for_each_list(state_, *old_.source, take));
    return take_changes_before(~std::uint64_t{0});
  }

  /// The condition that the replaced object is the one that was read.
  [[nodiscard]] Result<Condition> unchanged() const {
    return unchanged_since(old_.is_pair ? nullptr : old_.source.get());
  }

  /// The old chunks of the slots, and which of them change.
  [[nodiscard]] std::pair<OldShard, std::vector<std::uint64_t>> old_slots() const {
    ShardIndex index(slots_.size(), size_);
    std::vector<std::uint64_t> changed;
    bool is_exclusive = !stats_.shares_bytes;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      if (slot.old) index.set(i, *slot.old);
      if (slot.changes) changed.push_back(i);
      // With other bytes before it, a value of the same length begins elsewhere.
      if (slot.old && slot.item != nullptr && slot.item->preceding.size() != slot.preceding) is_exclusive = false;
    }
    return {{.index = std::make_shared<const ShardIndex>(std::move(index)),
             .has_parts = true,
             .appending = {.obstacle = old_.source ? old_.source->appending().obstacle : Appending().obstacle},
             .is_exclusive = is_exclusive,
             .unused = stats_.dead},
            std::move(changed)};
  }

  /// Changes the shard as choose() decides. The older pair of objects becomes a shard.
  Result<void> update(std::optional<PrescribedUpdate> prescribed) {
    if (old_.is_pair && !prescribed) prescribed = {UpdateKind::dense, "a pair of objects becomes a shard"};
    const auto [old, changed] = old_slots();
    const UpdateKind kind =
        choose(state_.config(), state_.store->traits(), old, {changed, put_bytes_, replaced_lists_, prescribed});
    if (!keeps_object(kind)) SHERD_TRY(take_all().in_key(old_.source->name()));
    SHERD_TRY(applied, store(kind));
    if (kind == UpdateKind::in_place) record_in_place(state_.config(), old, applied.size);
    if (old_.is_pair) return erase_pair();
    ShardStats stats{stats_.chunks + puts_ - existing_};
    if (keeps_object(kind)) {
      stats.dead = stats_.dead - applied.overwritten + (applied.size > size_ ? replaced_lists_ : 0);
      for (const std::uint64_t slot : changed) stats.dead += slots_[slot].old ? slots_[slot].old->length : 0;
      stats.shares_bytes = stats_.shares_bytes;
    }
    keep_stats(state_, old_.source->name(), applied.generation, stats);
    return {};
  }

  /// Stores the slots as a new shard, or adds them to the existing one.
  Result<AppliedUpdate> store(UpdateKind kind) {
    std::vector<std::uint64_t> ids, preceding;
    for (const Slot& slot : slots_) {
      ids.push_back(slot.id);
      preceding.push_back(slot.item != nullptr ? slot.item->preceding.size() : slot.preceding);
    }
    using Entries = Uint64IndexCoding::Entries;
    const Uint64IndexCoding coding(state_.format, ids, state_.config().limits,
                                   {preceding, keeps_object(kind) ? Entries::each : Entries::all});
    const auto [old, changed] = old_slots();
    SHERD_TRY(update, plan_update(kind, old, changed, coding));
    SHERD_TRY(condition, unchanged());
    SHERD_TRY(applied,
              sherd::apply({*state_.store, keys_.shard, old_.source.get(), condition}, coding, std::move(update),
                           std::size_t{2} * thread_count(state_.config().threads), ShardWriter::Empty::stored,
                           [&](ShardWriter& writer) { return put_items(writer); }));
    if (state_.config().recorder) state_.config().recorder->chunks_moved += applied.unchanged;
    new_size_ = applied.size;
    return applied;
  }

  Result<void> put_items(ShardWriter& writer) const {
    std::vector<std::vector<std::size_t>> batches;
    EncodedBatch erased;
    std::size_t bytes = kBatchBytes;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].changes && slots_[i].old && slots_[i].item == nullptr) erased.chunks.push_back({i, 0, false});
      if (slots_[i].item == nullptr) continue;
      if (bytes >= kBatchBytes || batches.back().size() == kBatchItems) {
        batches.emplace_back();
        bytes = 0;
      }
      batches.back().push_back(i);
      bytes += slots_[i].item->value.size() + slots_[i].item->preceding.size();
    }
    SHERD_TRY(
        writer.put(batches.size(), state_.config(), [&](std::size_t number) { return encode_batch(batches[number]); }));
    return writer.put(std::move(erased));
  }

  Result<EncodedBatch> encode_batch(std::span<const std::size_t> slots) const {
    EncodedBatch batch;
    Scratch encoded;
    for (const std::size_t slot : slots) {
      const Item& item = *slots_[slot].item;
      const std::size_t at = batch.bytes->size();
      SHERD_TRY(batch.bytes->append(item.preceding));
      std::span<const std::byte> value = item.value;
      if (state_.format.sharding.gzip_data) {
        SHERD_TRY(state_.format.data_codecs.encode_bytes(item.value, *encoded));
        value = encoded->span();
      }
      SHERD_TRY(batch.bytes->append(value));
      batch.chunks.push_back({slot, batch.bytes->size() - at, true});
    }
    if (state_.config().recorder) state_.config().recorder->chunks_encoded += slots.size();
    return batch;
  }

  /// Erases the object that makes the pair visible first. Next to a shard they have no meaning.
  Result<void> erase_pair() const {
    for (const std::string* key : {&keys_.index, &keys_.data}) SHERD_TRY(state_.store->erase(*key));
    return {};
  }

  [[nodiscard]] bool can_erase() const { return state_.store->traits().conditional_erase; }

  /// Replaces the version that was read. A shard without chunks replaces one that cannot be erased conditionally, and a
  /// pair, which is two objects: readers of those then find that they are superseded.
  Result<void> drop() {
    if (can_erase() && !old_.is_pair) {
      SHERD_TRY(condition, unchanged());
      SHERD_TRY(state_.store->erase(keys_.shard, condition));
      return {};
    }
    slots_.clear();
    SHERD_TRY(stored, store(UpdateKind::dense));
    if (!old_.is_pair) return {};
    SHERD_TRY(erase_pair());
    if (can_erase()) SHERD_TRY(state_.store->erase(keys_.shard, Condition::matches(stored.generation)));
    return {};
  }

  const ShardedStore::State& state_;
  const std::uint64_t number_;
  std::span<const Change> changes_;
  const ShardKeys keys_;
  std::uint64_t puts_ = 0, put_bytes_ = 0, existing_ = 0, replaced_lists_ = 0;
  std::unique_ptr<StoreLock> lock_;
  OpenedShard old_;
  std::uint64_t size_ = 0, new_size_ = 0;
  ShardStats stats_;  // of the old version
  std::vector<Slot> slots_;
};

Result<void> check_writable(const ShardedStore& store) {
  if (store.options().writable) return {};
  return invalid_argument(store.url() + " was opened for reading only");
}

Result<void> check_item(const ShardedStoreOptions& options, const Item& item) {
  const NewValue value{item.value, item.preceding};
  SHERD_TRY(check_size(value, options.config.limits));
  return check_preceding(value, options.preceding);
}

/// Sorted by shard, minishard and id.
Result<std::vector<Change>> gather(const ShardedStore::State& state, std::span<const Item> puts,
                                   std::span<const std::uint64_t> erased) {
  const Uint64Sharding& sharding = state.format.sharding;
  std::vector<Change> changes;
  changes.reserve(puts.size() + erased.size());
  for (const Item& item : puts) {
    SHERD_TRY(check_item(state.options, item).in([&] { return "value of id " + std::to_string(item.id); }));
    changes.push_back({sharding.locate(item.id), item.id, &item});
  }
  for (const std::uint64_t id : erased) changes.push_back({sharding.locate(id), id, nullptr});
  std::ranges::sort(changes, {}, [](const Change& change) { return std::pair(change.location, change.id); });
  const auto repeated = std::ranges::adjacent_find(changes, {}, &Change::id);
  if (repeated != changes.end()) return invalid_argument("id " + std::to_string(repeated->id) + " is given twice");
  return changes;
}

}  // namespace

Result<std::uint64_t> change(const ShardedStore::State& state, std::span<const Item> puts,
                             std::span<const std::uint64_t> erased) {
  SHERD_TRY(changes, gather(state, puts, erased));
  std::vector<std::span<const Change>> groups;
  for (std::size_t first = 0, last = 0; first < changes.size(); first = last) {
    while (last < changes.size() && changes[last].location.shard == changes[first].location.shard) ++last;
    groups.push_back(std::span<const Change>(changes).subspan(first, last - first));
  }
  std::atomic<std::uint64_t> existing{0};
  const StoreTraits traits = state.store->traits();
  const Config config =
      with_writers(with_requests(state.config(), traits.parallel_requests), traits, {.count = groups.size()});
  SHERD_TRY(parallel_for(groups.size(), config, [&](std::size_t g) -> Result<void> {
    const auto apply = [&] { return IdsUpdate(state, groups[g].front().location.shard, groups[g]).apply(); };
    SHERD_TRY(found, retry_conflicts(state.config(), apply));
    existing += found;
    return {};
  }));
  return existing.load();
}

Result<std::uint64_t> change_seen(const ShardedStore::State& state, OpenedShard seen, std::span<const Item> puts,
                                  std::span<const std::uint64_t> erased) {
  SHERD_TRY(changes, gather(state, puts, erased));
  if (changes.empty()) return std::uint64_t{0};
  return IdsUpdate(state, changes.front().location.shard, changes).apply(std::move(seen));
}

Result<void> ShardedStore::put_many(std::span<const Item> items) const {
  return as_call(state_->config(), [&]() -> Result<void> {
    SHERD_TRY(check_writable(*this));
    SHERD_TRY(change(*state_, items, {}));
    return {};
  });
}

Result<std::uint64_t> ShardedStore::erase_many(std::span<const std::uint64_t> ids) const {
  return as_call(state_->config(), [&]() -> Result<std::uint64_t> {
    SHERD_TRY(check_writable(*this));
    return change(*state_, {}, ids);
  });
}

Result<bool> ShardedStore::erase(std::uint64_t id) const {
  SHERD_TRY(count, erase_many({&id, 1}));
  return count == 1;
}

Result<ShardedStore::Compacted> compact_shards(const ShardedStore::State& state, const Config& config,
                                               std::atomic<std::uint64_t>& done) {
  SHERD_TRY(numbers, shard_numbers(state));
  const StoreTraits traits = state.store->traits();
  const Config writing =
      with_writers(with_requests(config, traits.parallel_requests), traits, {.count = numbers.size()});
  std::atomic<std::uint64_t> reclaimed{0}, shards{0};
  SHERD_TRY(parallel_for(numbers.size(), writing, [&](std::size_t i) -> Result<void> {
    return retry_conflicts(config, [&]() -> Result<void> {
      IdsUpdate shard(state, numbers[i], {});
      SHERD_TRY(is_changed, shard.compact());
      done += shard.size();
      if (!is_changed) return {};
      reclaimed += shard.size() - std::min(shard.size(), shard.new_size());
      ++shards;
      if (config.recorder) config.recorder->updated("rewrite", kCompacted);
      return {};
    });
  }));
  return ShardedStore::Compacted{reclaimed, shards};
}

Result<ShardedStore::Compacted> ShardedStore::compact() const {
  return as_call(state_->config(), [&]() -> Result<ShardedStore::Compacted> {
    SHERD_TRY(check_writable(*this));
    std::atomic<std::uint64_t> done{0};
    return compact_shards(*state_, state_->config(), done);
  });
}

}  // namespace sherd::neuroglancer
