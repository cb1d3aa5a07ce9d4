// The storage of volumes: chooses the one for a scale's sharding, and changes few chunks of a box-aligned shard by
// appending to it.
#include "base/checked.hpp"
#include "base/try.hpp"
#include "neuroglancer/legacy_names.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "neuroglancer/storage.hpp"
#include "node/storage_kind.hpp"
#include "shard/choose.hpp"

namespace sherd {
namespace {

using neuroglancer::HashedStorage;
using neuroglancer::IdObjects;
using neuroglancer::ShardedStore;

/// Box-aligned shards. The store of ids has their chunks without an encoding of its own, because the array's codecs
/// encode them.
class BoxStorage final : public ChunkStorage {
 public:
  BoxStorage(std::shared_ptr<Store> objects, std::string prefix, const Uint64Format& format, const Config& config)
      : ChunkStorage(std::move(objects)), prefix_(std::move(prefix)), ids_(store(), format, options(config)) {}

  [[nodiscard]] std::shared_ptr<const ChunkStorage> with_config(const Config& config) const override {
    return std::make_shared<const BoxStorage>(objects(), prefix_, ids_.format, config);
  }

  Result<bool> change_shard(const ShardWrite& change) const override {
    SHERD_TRY(policy, choose(change.config, size_of(change)));
    if (policy.kind == UpdateKind::amend) {
      SHERD_TRY(add(change));
      return true;
    }
    // An id that belongs elsewhere would be lost, and so would a chunk that overlaps the index.
    const auto name = std::string_view(change.at.key).substr(prefix_.size());
    const auto number = neuroglancer::shard_number(ids_.format.sharding, name);
    if (number) SHERD_TRY(neuroglancer::shard_stats(ids_, *number, *change.old));
    return false;
  }

 private:
  static neuroglancer::ShardedStoreOptions options(const Config& config) {
    neuroglancer::ShardedStoreOptions options{.config = config};
    options.config.recorder = nullptr;  // the array's store and the writer count
    return options;
  }
  [[nodiscard]] std::shared_ptr<Store> store() const {
    return prefix_.empty() ? objects() : prefixed_store(objects(), prefix_);
  }

  static ShardChange size_of(const ShardWrite& change) {
    const WritePiece& stored = change.stored;
    const ShardLayout& shard = *stored.layout.shard;
    const std::uint64_t touched = Cells(stored.part, regular_axes(shard.inner_shape)).size();
    const std::uint64_t all = element_count(shard.grid(stored.valid)).value_or(0);
    const std::uint64_t bytes = std::max<std::uint64_t>(1, chunk_bytes(*shard.inner, shard.inner_shape));
    return {.has_parts = true,
            .is_most = touched > all / 2,
            .put_bytes = checked_mul(touched, bytes).value_or(~std::uint64_t{0})};
  }

  /// Appends chunks to the shard, then the lists of their minishards, and changes their entries.
  Result<void> add(const ShardWrite& change) const {
    const ShardLayout& shard = *change.stored.layout.shard;
    SHERD_TRY(ids, shard.all_ids(shard.grid(change.stored.shape), change.stored.first_id, change.config.limits));
    SHERD_TRY(batches, change.writer.to_batches(change.stored, *change.old));
    std::vector<ShardedStore::Item> puts;
    std::vector<std::uint64_t> erased;
    for (const EncodedBatch& batch : batches) {
      const std::uint64_t id = ids[batch.chunks.front().slot];
      if (batch.chunks.front().present)
        puts.push_back({.id = id, .value = batch.bytes->span()});
      else
        erased.push_back(id);
    }
    SHERD_TRY(neuroglancer::change_seen(ids_, {change.old}, puts, erased));
    return {};
  }

  const std::string prefix_;
  const ShardedStore::State ids_;
};

std::uint64_t max_chunk_bytes(const NodeDocument& node, const ChunkLayout& layout) {
  return layout.max_encoded_size(chunk_type(*node.array).shape);
}

// Chunks of earlier writers may have legacy keys.
std::shared_ptr<Store> with_legacy_names(const NodeLocation& location, const NodeDocument& node,
                                         const ChunkLayout& layout) {
  neuroglancer::LegacyNames names{.prefix = chunk_prefix(location, node),
                                  .codecs = location.codecs(),
                                  .max_bytes = max_chunk_bytes(node, layout),
                                  .limits = location.config.limits};
  if (node.array->ids) names.sharding = node.array->ids->sharding;
  return neuroglancer::with_legacy_names(location.store, std::move(names));
}

class VolumeStorage final : public StorageKind {
 public:
  [[nodiscard]] Result<std::shared_ptr<const ChunkStorage>> open(const NodeLocation& location, const NodeDocument& node,
                                                                 ChunkLayout& layout) const override {
    const ArraySpec& spec = *node.array;
    if (!spec.ids && spec.keys.kind != KeyEncoding::Kind::ranges) return std::shared_ptr<const ChunkStorage>();
    if (spec.ids && spec.ids->hashed) return open_hashed(location, node, layout);
    auto objects = with_legacy_names(location, node, layout);
    if (!spec.ids) return std::make_shared<const ChunkStorage>(std::move(objects));
    Uint64Format format = layout.shard->ids()->format;
    format.sharding.gzip_data = false;
    return std::make_shared<const BoxStorage>(std::move(objects), chunk_prefix(location, node), format,
                                              location.config);
  }

 private:
  static Result<std::shared_ptr<const ChunkStorage>> open_hashed(const NodeLocation& location, const NodeDocument& node,
                                                                 const ChunkLayout& layout) {
    Uint64Sharding sharding = node.array->ids->sharding;
    sharding.gzip_data = false;  // the array's codecs do that
    auto ids = IdObjects::make(
        location.store, chunk_prefix(location, node), sharding,
        {.codecs = location.codecs(), .max_value_bytes = max_chunk_bytes(node, layout), .config = location.config});
    if (!ids) return std::move(ids).error().in_key(location.format->document_key(location.path, NodeType::array));
    return std::make_shared<const HashedStorage>(*std::move(ids));
  }
};

constinit const VolumeStorage instance;

}  // namespace

const StorageKind& volume_storage() noexcept;
const StorageKind& volume_storage() noexcept { return instance; }

IdObjects* neuroglancer::hashed_ids(const Array::State& array) noexcept {
  const auto* storage = dynamic_cast<const HashedStorage*>(array.storage.get());
  return storage != nullptr ? &storage->ids() : nullptr;
}

}  // namespace sherd
