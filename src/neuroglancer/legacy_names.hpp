// Chunks of volumes that are stored under legacy keys, seen under these.
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
  /// The objects are shards of these parameters, or pairs of what they were before. nullopt: they are chunks, perhaps
  /// compressed.
  std::optional<Uint64Sharding> sharding = {};
  CodecTable codecs = {};
  std::uint64_t max_bytes = 0;  ///< no chunk is longer
  Limits limits = {};
};

/// The same store, but an object that is not there is looked for under its other names, listed by its own, and replaced
/// by what is written under that.
std::shared_ptr<Store> with_legacy_names(std::shared_ptr<Store> store, LegacyNames names);

}  // namespace sherd::neuroglancer
