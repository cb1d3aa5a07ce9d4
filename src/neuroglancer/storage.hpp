// How the chunks of volumes are stored: as separate objects, in box-aligned shards, or in shards chosen by the hash of
// their ids.
#pragma once

#include <memory>

#include "array/storage.hpp"
#include "neuroglancer/id_objects.hpp"

namespace sherd::neuroglancer {

/// Chunks in hashed shards: values of a store of ids.
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

/// The ids of an array with hashed shards; null for other arrays.
[[nodiscard]] IdObjects* hashed_ids(const Array::State& array) noexcept;

}  // namespace sherd::neuroglancer
