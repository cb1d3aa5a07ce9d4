// The only place that decides how a stored shard is changed.
#pragma once

#include <cstdint>
#include <optional>

#include "shard/update.hpp"
#include "sherd/options.hpp"

namespace sherd {

/// What is to be changed of a stored shard, as far as the choice depends on it.
struct ShardChange {
  std::uint64_t size = 0;       ///< of the version that is changed
  bool has_parts = false;       ///< the index can be replaced in parts, so that changed chunks can be appended
  bool is_most = false;         ///< most chunks change
  std::uint64_t put_bytes = 0;  ///< of the chunks that are put, at most
  std::uint64_t dead = 0;       ///< bytes that an appended version would not use
  UpdateKind rewritten = UpdateKind::keep_offsets;  ///< how a version that is not appended is made
  std::optional<UpdateKind> prescribed = {};        ///< by the format, whatever the settings
};

/// How a shard is changed, by Config::update and what the shard allows. `unsupported` names a value of Config::update
/// that does not exist for this shard.
Result<UpdatePolicy> choose(const Config& config, const ShardChange& change);

}  // namespace sherd
