// Builds shards of values by id (Neuroglancer's uint64_sharded_v1) in bulk from values in any order.
//
// The results are objects NAME.shard of one store, each written once. Their bytes depend only on the sharding and the
// values, not on the order of the values, on threads or on memory. Layout: docs/sharded-build.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sherd/box.hpp"
#include "sherd/dtype.hpp"
#include "sherd/export.hpp"
#include "sherd/json.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"
#include "sherd/store.hpp"

namespace sherd::neuroglancer {

/// Config::memory_budget limits the memory of a build, at least 8 MiB. Half of it holds values and their ids until they
/// are sorted. Further values are in a temporary file, encoded, with 64 bytes per value.
/// Not included: a larger value and its encoding, for each thread that encodes or writes one; the index of a minishard
/// (88 bytes per id); 8 bytes per shard; buffers as in Config.
/// Config::progress counts encoded bytes while shards are written, and is not called before.
struct BuildOptions {
  bool overwrite = false;  ///< replace existing shards; shards without new ids are not touched
  /// The directory of the temporary file, which has no name there. Default: the directory of a file store, or its
  /// nearest existing parent; for other stores the system's.
  std::string temporary = {};
  /// The number of bytes that must precede a value, as in ShardedStoreOptions::preceding; a value with a different
  /// number is refused. If this is not set and the object `info` at the store's root describes multi-resolution meshes,
  /// create() sets it. If it remains unset, the bytes are not checked.
  std::function<Result<std::uint64_t>(std::span<const std::byte> value)> preceding = {};
  /// A value larger than limits.chunk_bytes is refused, because reads would refuse it too.
  Config config = {};
};

struct BuildReport {
  std::uint64_t ids = 0;
  std::uint64_t shards = 0;
  std::uint64_t bytes = 0;  ///< of all shards
};

/// A builder that is destroyed before finish() has succeeded leaves nothing behind.
class SHERD_API ShardedBuilder {
 public:
  /// `sharding` is the member `sharding` of an info document. Nothing is written to the store before finish().
  static Result<ShardedBuilder> create(std::shared_ptr<Store> store, const Json& sharding, BuildOptions options = {});
  static Result<ShardedBuilder> create(std::string_view url, const Json& sharding, BuildOptions options = {});
  ShardedBuilder(ShardedBuilder&&) noexcept;
  ShardedBuilder& operator=(ShardedBuilder&&) noexcept;
  ~ShardedBuilder();

  struct Value {
    std::uint64_t id = 0;
    std::span<const std::byte> bytes;
    /// Stored unchanged, immediately before the value: the fragments of a multi-resolution mesh before its manifest
    /// (BuildOptions::preceding).
    std::span<const std::byte> preceding = {};
  };
  /// Encodes a value on the calling thread and keeps the encoding, so the bytes may change afterwards. Thread-safe.
  Result<void> add(const Value& value);
  Result<void> add(std::uint64_t id, std::span<const std::byte> bytes) { return add({.id = id, .bytes = bytes}); }
  /// Adds several values, which are encoded on all threads.
  Result<void> add(std::span<const Value> values);

  /// Writes every shard. Call it once, after every add() has returned; if one of them failed, returns its error.
  /// `invalid_argument` names an id that was added twice; `conflict` names a shard that exists; both before the first
  /// shard is written. If writing fails, the shards written by this build are erased; with `overwrite`, each shard is
  /// instead either the old or the new one, whole.
  Result<BuildReport> finish();

  class Build;  ///< internal

 private:
  explicit ShardedBuilder(std::unique_ptr<Build> build);
  std::unique_ptr<Build> build_;
};

/// The shard size that choose_sharding() aims not to exceed; it may be exceeded, since compression is estimated.
inline constexpr std::uint64_t kTargetShardBytes = std::uint64_t{128} << 20;

/// A scale of a precomputed volume. Dimensions are x, y, z and, where shape has a fourth, the channel.
struct VolumeToShard {
  Shape shape;
  Shape chunk_shape;  ///< three or four dimensions; channels are in one chunk
  DType dtype;
  std::string encoding = "raw";
  std::uint64_t target_shard_bytes = kTargetShardBytes;
};
/// Returns the member `sharding` for the chunks of a volume. Ids are compressed Morton codes, so neighbours share a
/// shard. The rule: docs/chunking.md. `invalid_argument` if the codes have more than 64 bits.
SHERD_API Result<Json> choose_sharding(const VolumeToShard& volume);

/// Values by ids without spatial order: skeletons, meshes, annotations.
struct ValuesToShard {
  std::uint64_t count = 0;
  std::uint64_t mean_bytes = 0;  ///< of one value, encoded
  std::uint64_t target_shard_bytes = kTargetShardBytes;
};
/// Returns the member `sharding` for such values; ids are hashed. The rule: docs/chunking.md.
SHERD_API Result<Json> choose_sharding(const ValuesToShard& values);

}  // namespace sherd::neuroglancer
