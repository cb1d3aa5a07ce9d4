// What can be checked of a shard of ids for any values: whether its lists are sound, and what they refer to.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neuroglancer/sharded_store.hpp"
#include "tools/check.hpp"

namespace sherd {

struct IdShard {
  const neuroglancer::ShardedStore::State& values;
  std::uint64_t number;
  std::string key;  ///< of the object that was listed: the shard, or a part of one
  /// The slot that faults name; nullopt if no reader asks for this id, with what a warning says of that.
  std::function<std::optional<std::uint64_t>(std::uint64_t id)> slot;
  std::string outside = {};
};

struct ShardLists {
  std::shared_ptr<ByteSource> source;
  std::uint64_t size = 0;         ///< of the shard
  std::uint64_t index_bytes = 0;  ///< the array at its beginning and the lists
  std::vector<FoundChunk> found;  ///< what does not reach into these
};

/// Reads and judges all lists. nullopt where there is nothing more to look at: faults, if there are any, have been
/// told.
Result<std::optional<ShardLists>> check_lists(const IdShard& shard, const Limits& limits, Findings& to);

}  // namespace sherd
