// The storage of volumes: chooses the one for a scale's sharding.
#include "base/try.hpp"
#include "neuroglancer/legacy_names.hpp"
#include "neuroglancer/storage.hpp"
#include "node/storage_kind.hpp"

namespace sherd {
namespace {

using neuroglancer::HashedStorage;
using neuroglancer::IdObjects;

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
    return std::make_shared<const ChunkStorage>(with_legacy_names(location, node, layout));
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

constinit const VolumeStorage kVolumeStorage;

}  // namespace

const StorageKind& volume_storage() noexcept;
const StorageKind& volume_storage() noexcept { return kVolumeStorage; }

IdObjects* neuroglancer::hashed_ids(const Array::State& array) noexcept {
  const auto* storage = dynamic_cast<const HashedStorage*>(array.storage.get());
  return storage != nullptr ? &storage->ids() : nullptr;
}

}  // namespace sherd
