// Walks a hierarchy as check does, and replaces each shard that has dead bytes by a dense version. A shard of slots is
// an ordinary update that changes no slot; shards of values by id have such an update already.
#include "check/compact.hpp"

#include <atomic>
#include <set>
#include <utility>
#include <vector>

#include "array/nodes.hpp"
#include "array/storage.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "check/rewrite.hpp"
#include "neuroglancer/codecs.hpp"
#include "neuroglancer/dual_format.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "neuroglancer/storage.hpp"
#include "node/path.hpp"
#include "shard/choose.hpp"
#include "store/key.hpp"
#include "store/retry.hpp"
#include "store/with_writers.hpp"

namespace sherd {
namespace {

using neuroglancer::Collection;
using neuroglancer::ShardedStore;

constexpr std::size_t kShardsAtOnce = 256;  // in progress

class Compaction {
 public:
  explicit Compaction(const Config& config) : config_(config) {}

  Result<void> nodes(const NodeLocation& root) {
    std::vector<std::string> paths{root.path};
    while (!paths.empty()) {
      const std::string path = std::move(paths.back());
      paths.pop_back();
      SHERD_TRY(check_interrupted(config_.interrupted));
      NodeLocation location = at_path(root, path);
      location.writable = true;  // so that a dual-format array is changed under both names
      SHERD_TRY(node(std::move(location), paths));
    }
    return {};
  }

  /// Returns whether there is a collection.
  Result<bool> collection(Collection::State::Location location) {
    if (!collections_.insert(location.path).second) return true;
    location.writable = true;
    SHERD_TRY(state, Collection::State::find(std::move(location)));
    if (!state) return false;
    for (const neuroglancer::CollectionPart& part : (*state)->parts()) {
      SHERD_TRY(values, (*state)->values(part));
      if (values.is_sharded()) SHERD_TRY(by_id(values.shards()));
    }
    return true;
  }

  CompactReport finish() const {
    if (config_.progress) config_.progress({done_, done_});
    return {.reclaimed = reclaimed_, .shards = shards_};
  }

 private:
  Result<void> node(NodeLocation location, std::vector<std::string>& paths) {
    const Format& format = *location.format;
    Store& store = *location.store;
    SHERD_TRY(document,
              retry_limited(config_, [&] { return format.open(store, location.path, location.config.limits); }));
    if (!document) {
      SHERD_TRY(collection(objects_at(location, location.path)));
      return {};
    }
    if (document->type == NodeType::array) {
      SHERD_TRY(array, make_array(std::move(location), *std::move(document)));
      return this->array(written_array(array.state()));
    }
    for (const auto& [member, relative] : references_of(format, document->document)) {
      const auto path = path_below(location.path, relative);
      if (path) SHERD_TRY(collection(objects_at(location, *path)));
    }
    SHERD_TRY(members, format.members(store, location.path, location.config.limits, {}));
    std::set<std::string> names;
    for (const auto& member : members) {
      names.insert(member.first);
      paths.push_back(join_path(location.path, member.first));
    }
    return collections_in(location, names);
  }

  // Collections directly below a group, to which no document refers.
  Result<void> collections_in(const NodeLocation& group, const std::set<std::string>& members) {
    for (const std::string& prefix : group.format->contents(group.path)) {
      SHERD_TRY(listing, group.store->list_dir(prefix));
      for (const std::string& name : listing.prefixes)
        if (!members.contains(name)) SHERD_TRY(collection(objects_at(group, prefix + name)));
    }
    return {};
  }

  [[nodiscard]] static Collection::State::Location objects_at(const NodeLocation& location, std::string path) {
    return {
        .store = location.store, .path = std::move(path), .codecs = precomputed_codecs(), .config = location.config};
  }

  Result<void> array(const Array::State& state) {
    if (const neuroglancer::IdObjects* ids = neuroglancer::hashed_ids(state)) return by_id(ids->values());
    if (!state.layout.shard || state.layout.opaque_shard()) return {};
    if (const IdIndex* index = state.layout.shard->ids()) {
      const auto& store = state.location.store;
      neuroglancer::ShardedStoreOptions options{.writable = true, .config = state.config()};
      options.config.cache_bytes = 0;
      return by_id({state.prefix.empty() ? store : prefixed_store(store, state.prefix), index->format, options});
    }
    std::vector<Stored> batch;
    SHERD_TRY(state.storage->list(state, state.shape(),
                                  [&](const Shape& cell, const std::string& key, std::uint64_t size) -> Result<void> {
                                    batch.push_back({cell, key, size});
                                    return batch.size() < kShardsAtOnce ? Result<void>() : shards(state, batch);
                                  }));
    return shards(state, batch);
  }

  struct Stored {
    Shape cell;
    std::string key;
    std::uint64_t size;
  };

  Result<void> shards(const Array::State& state, std::vector<Stored>& batch) {
    const StoreTraits traits = state.location.store->traits();
    const Config config = with_writers(with_requests(with_progress(config_, done_, 0), traits.parallel_requests),
                                       traits, {.count = batch.size()});
    SHERD_TRY(parallel_for(batch.size(), config, [&](std::size_t i) -> Result<void> {
      SHERD_TRY(retry_conflicts(config_, [&] { return shard(state, batch[i]).in_key(batch[i].key); }));
      done_ += batch[i].size;
      return {};
    }));
    batch.clear();
    return {};
  }

  Result<void> shard(const Array::State& state, const Stored& stored) {
    SHERD_TRY(held, hold_object(state, stored.cell, stored.key));
    if (held.source == nullptr) return {};
    SHERD_TRY(size, rewrite_densely(held, {.only_if_smaller = true, .why = kCompacted}));
    if (!size) return {};
    reclaimed_ += held.size - std::min(*size, held.size);
    ++shards_;
    return {};
  }

  Result<void> by_id(const ShardedStore::State& values) {
    SHERD_TRY(compacted, neuroglancer::compact_shards(values, with_progress(config_, done_, 0), done_));
    reclaimed_ += compacted.reclaimed;
    shards_ += compacted.shards;
    return {};
  }

  const Config& config_;
  std::set<std::string> collections_;  // paths that were looked at
  std::atomic<std::uint64_t> done_{0}, reclaimed_{0}, shards_{0};
};

}  // namespace

Json CompactReport::to_json() const { return Json::Object{{"reclaimed", reclaimed}, {"shards", shards}}; }

Result<CompactReport> compact_nodes(const NodeLocation& location) {
  Compaction compaction(location.config);
  SHERD_TRY(compaction.nodes(location));
  return compaction.finish();
}

Result<std::optional<CompactReport>> compact_collection(Collection::State::Location location) {
  const Config config = location.config;
  Compaction compaction(config);
  SHERD_TRY(exists, compaction.collection(std::move(location)));
  return exists ? std::optional(compaction.finish()) : std::nullopt;
}

}  // namespace sherd
