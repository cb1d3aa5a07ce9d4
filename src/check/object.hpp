// The inspection of one stored chunk or shard of an array.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "array/array_state.hpp"
#include "base/pool.hpp"
#include "check/findings.hpp"
#include "neuroglancer/storage.hpp"

namespace sherd {

/// A slot's bytes, relative to their source.
struct FoundChunk {
  Extent extent;
  std::uint64_t slot;
};

struct IdShard;

/// Inspects the stored chunks of one array.
class ObjectCheck {
 public:
  /// References must outlive it.
  ObjectCheck(const Array::State& state, bool data, const Config& config, Budget& budget)
      : state_(state), data_(data), config_(config), budget_(budget) {}

  /// `cell` is unused if chunks are values of a store of ids: the object is then a shard. `listed` is the version that
  /// a list has shown, or null. Returns an error only if the check cannot continue.
  Result<void> check(const Shape& cell, const std::string& key, std::shared_ptr<ByteSource> listed, Findings& to) const;
  /// Whether these bytes would be a shard without errors, as far as indexes and sizes tell; for shards with slots.
  Result<bool> is_sound(const Shape& cell, ByteSource& source, std::uint64_t size) const;

 private:
  struct Spot;
  using Found = FoundChunk;
  [[nodiscard]] IdShard id_shard(const neuroglancer::ShardedStore::State& values, const std::string& key) const;
  Result<void> chunks_by_id(const IdShard& shard, const ChunkLayout& layout, const Shape& shape, Findings& to) const;
  Result<void> box_aligned(const Shape& cell, const std::string& key, Findings& to) const;
  Result<void> hashed(const neuroglancer::IdObjects& ids, const std::string& key, Findings& to) const;
  Result<void> chunk(const Spot& spot, Findings& to) const;
  Result<void> opaque(const Spot& spot, Findings& to) const;
  Result<void> shard(const Spot& spot, Findings& to) const;
  Result<void> slots(const Spot& spot, std::vector<Found>& found, Findings& to) const;
  Result<void> leaves(const Spot& spot, std::vector<Found>& found, Findings& to) const;
  Result<void> run(const Spot& spot, std::span<const Found> found, Findings& to) const;
  Result<void> decode(const ChunkLayout& layout, const Shape& shape, std::span<const std::byte> encoded) const;

  const Array::State& state_;
  bool data_;
  const Config& config_;
  Budget& budget_;
};

/// What is inspected: a chunk, a shard or a shard inside one.
struct ObjectCheck::Spot {
  ByteSource& source;
  Extent where;  // inside the source
  const ChunkLayout& layout;
  Shape shape;  // array order of the layout
  std::optional<std::uint64_t> slot = {};
  SlotPath outer = {};    // of the shards around it
  bool in_object = true;  // false: the source is decoded bytes, whose offsets mean nothing to users
  std::uint64_t first_id = 0;

  [[nodiscard]] FaultLocation at(std::optional<std::uint64_t> offset = {}) const {
    return {slot, in_object ? offset.value_or(where.offset) : std::optional<std::uint64_t>(), outer};
  }
  [[nodiscard]] const ChunkLayout& leaf() const { return layout.shard ? *layout.shard->inner : layout; }
  // Of the chunk in a slot, or of the object itself.
  [[nodiscard]] Shape chunk_shape(std::uint64_t of_slot) const {
    if (!layout.shard) return shape;
    const ShardLayout& shard = *layout.shard;
    if (shard.slots() != nullptr) return shard.inner_shape;
    return shard.inner_shape_at(unravel(of_slot, shard.grid(shape)), shape);
  }
  [[nodiscard]] SlotPath inside() const {
    SlotPath path = outer;
    if (slot) path.push_back(*slot);
    return path;
  }
};

}  // namespace sherd
