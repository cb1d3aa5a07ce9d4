// How the chunks of volumes are stored: each as an object, in shards that are boxes of the grid, or in shards that the
// hash of their ids chooses.
#pragma once

#include <memory>

#include "array/storage.hpp"
#include "neuroglancer/id_objects.hpp"

namespace sherd::neuroglancer {

/// Chunks whose shards are not boxes of the grid: values of a store of ids.
class HashedStorage final : public ChunkStorage {
 public:
  explicit HashedStorage(std::shared_ptr<IdObjects> ids) : ChunkStorage(ids), ids_(std::move(ids)) {}
  [[nodiscard]] std::shared_ptr<const ChunkStorage> with_config(const Config& config) const override {
    return std::make_shared<const HashedStorage>(ids_->with_config(config));
  }
  Result<void> read(const CellsRead& call) const override;
  Result<void> write(const Array::State& array, const Region& region, const RegionWrite& call) const override;
  Result<void> put(std::span<const EncodedChunk> chunks) const override;
  [[nodiscard]] bool is_hashed() const noexcept override { return true; }
  [[nodiscard]] Result<Array::Stored> stored(const Array::State& array) const override;

  [[nodiscard]] IdObjects& ids() const noexcept { return *ids_; }

 private:
  std::shared_ptr<IdObjects> ids_;
};

/// The ids of an array with hashed shards; null for every other array.
[[nodiscard]] IdObjects* hashed_ids(const Array::State& array) noexcept;

}  // namespace sherd::neuroglancer
