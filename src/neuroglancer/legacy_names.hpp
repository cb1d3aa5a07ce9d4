// Chunks of volumes that are stored under legacy keys, shown under their present keys.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "codec/codec.hpp"
#include "shard/uint64.hpp"
#include "sherd/store.hpp"

namespace sherd::neuroglancer {

struct LegacyNames {
  std::string prefix;  ///< of the chunks' keys; ends in `/` or is empty
  /// Set if the objects are shards with these parameters, or the pairs of objects that preceded shards. nullopt: they
  /// are chunks, possibly compressed.
  std::optional<Uint64Sharding> sharding = {};
  CodecTable codecs = {};
  std::uint64_t max_bytes = 0;  ///< the maximum length of a chunk
  Limits limits = {};
};

/// `store`, in which a missing object is looked for under its legacy keys, listed under its present key, and replaced
/// by what is written under that.
std::shared_ptr<Store> with_legacy_names(std::shared_ptr<Store> store, LegacyNames names);

}  // namespace sherd::neuroglancer
