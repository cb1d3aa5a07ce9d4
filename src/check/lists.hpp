// The checks of a shard of ids that do not depend on its values: whether its lists are sound, and what they refer to.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/object.hpp"
#include "neuroglancer/sharded_store.hpp"

namespace sherd {

struct IdShard {
  const neuroglancer::ShardedStore::State& values;
  std::uint64_t number;
  std::string key;  ///< of the listed object: the shard, or a part of one
  /// The slot to name in faults; nullopt if no reader asks for this id, which is a warning that contains `outside`.
  std::function<std::optional<std::uint64_t>(std::uint64_t id)> slot;
  std::string outside = {};
};

struct ShardLists {
  std::shared_ptr<ByteSource> source;
  std::uint64_t size = 0;         ///< of the shard
  std::uint64_t index_bytes = 0;  ///< the array at its beginning, and the lists
  std::vector<FoundChunk> found;  ///< the chunks that do not overlap these
};

/// Reads and checks all lists. nullopt if there is nothing more to check: any faults have been
/// reported.
Result<std::optional<ShardLists>> check_lists(const IdShard& shard, const Limits& limits, Findings& to);

}  // namespace sherd
