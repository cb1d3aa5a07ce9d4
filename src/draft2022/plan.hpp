// A call's changes to one shard, and the plan of the resulting version. A plan is made from the indexes alone, so that
// changes without effect are known before anything is written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "draft2022/transformer.hpp"
#include "shard/apply.hpp"

namespace sherd::draft2022 {

/// Bytes to be written into a value.
struct Patch {
  std::uint64_t start = 0;
  std::span<const std::byte> bytes;
};

/// The change of one value.
struct Edit {
  enum class Kind : std::uint8_t { set, patch, erase } kind = Kind::erase;
  Shape chunk = {};
  std::span<const std::byte> value = {};
  std::vector<Patch> patches = {};  ///< by start, not overlapping
};
using Edits = std::vector<const Edit*>;

/// The changes of the chunks of a shard: of each one that is named, or of all existing ones that match a prefix.
struct Change {
  Edits edits = {};
  const ChunkPrefix* erased = nullptr;
};

/// Whether all chunks of the array among these are set or erased, so that no older version of them matters.
[[nodiscard]] bool covers(const ShardingTransformer::State& state, const Edits& edits, const Box& chunks);
/// Whether the patches overwrite all of the first `length` bytes.
[[nodiscard]] bool overwrites(std::span<const Patch> patches, std::uint64_t length);
/// Applies patches to a value; invalid_argument if they leave a gap after it.
Result<void> apply_patches(std::span<const Patch> patches, Buffer& to);

/// The next version of a shard and of the shards inside it.
struct Plan {
  struct Step {
    std::uint64_t order = 0;
    std::uint64_t slot = 0;
    const Edit* edit = nullptr;  ///< if neither this nor `inside` is set, the slot is cleared
    std::shared_ptr<const Plan> inside = {};
  };
  const Level* level = nullptr;
  std::shared_ptr<const ShardIndex> index = {};  ///< of the previous version; null if nothing of it remains
  Extent where = {};                             ///< of that version in the object
  std::vector<Step> steps = {};
  bool erases = true;    ///< and does nothing else
  bool remains = false;  ///< whether any chunk does
};

/// Plans the change of a shard of these chunks. `old` is the present object, or null; if the change covers the shard,
/// nothing of it is read. `unsupported` if it is an HDF5 file at the same time.
Result<Plan> plan_change(const ShardingTransformer::State& state, const Box& chunks, ByteSource* old,
                         const Change& change);

/// Stores the shard as planned from the same old version. Returns the number of chunks that were moved.
Result<std::uint64_t> store_plan(const ShardingTransformer::State& state, const Plan& plan, const StoredShard& shard);

}  // namespace sherd::draft2022
