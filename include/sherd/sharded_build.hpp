// Building shards of ids (Neuroglancer's uint64_sharded_v1) in bulk: values come in any order, shards are written once.
//
// What is built are the objects NAME.shard of one store. The bytes depend on the sharding and the values alone, not on
// the order in which they came, on threads or on memory. Layout: docs/sharded-build.md.
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

/// Config::memory_budget limits the memory of a build, at least 8 MiB; half of it holds values and their ids
/// until they are sorted. Beyond that they are in a temporary file, encoded, with 64 bytes per value.
/// Not included: a larger value, with its encoding, for each thread that encodes or writes one; the index of a
/// minishard (88 bytes per id); 8 bytes per shard; buffers as in Config.
/// Config::progress counts encoded bytes while shards are written; before that it is not called.
struct BuildOptions {
  bool overwrite = false;  ///< replace existing shards; shards without new ids are left alone
  /// The directory of the temporary file, which has no name there. Where empty: the directory of a file store, or the
  /// nearest above it that exists, otherwise the system's.
  std::string temporary = {};
  /// The number of bytes that must precede a value, as ShardedStoreOptions::preceding; a value with another number of
  /// them is refused. If it is not set and the object `info` at the store's root is that of multi-resolution meshes,
  /// create() sets it; without it the bytes are not checked.
  std::function<Result<std::uint64_t>(std::span<const std::byte> value)> preceding = {};
  /// A value larger than limits.chunk_bytes is refused, as reads would refuse it.
  Config config = {};
};

struct BuildReport {
  std::uint64_t ids = 0;
  std::uint64_t shards = 0;
  std::uint64_t bytes = 0;  ///< of all shards
};

/// If destroyed before finish() has succeeded, it leaves nothing behind.
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
    /// Stored as they are, immediately before the value: the fragments of a multi-resolution mesh before its manifest
    /// (BuildOptions::preceding).
    std::span<const std::byte> preceding = {};
  };
  /// Encodes a value on the calling thread and keeps it; thread-safe. The bytes are not looked at afterwards.
  Result<void> add(const Value& value);
  Result<void> add(std::uint64_t id, std::span<const std::byte> bytes) { return add({.id = id, .bytes = bytes}); }
  /// The same for several, which are encoded by all threads.
  Result<void> add(std::span<const Value> values);

  /// Writes every shard; once, after every add() has returned. If one of them has failed this returns its error.
  /// `invalid_argument` names an id that was added twice and `conflict` a shard that exists, both before the first
  /// shard is written. Where writing fails, the shards that this build has made are erased again, unless with
  /// `overwrite`: then each shard is the old one or the new one, whole.
  Result<BuildReport> finish();

  class Build;  ///< internal

 private:
  explicit ShardedBuilder(std::unique_ptr<Build> build);
  std::unique_ptr<Build> build_;
};

/// The largest size that choose_sharding() estimates for a shard; it can be exceeded, since compression is estimated.
inline constexpr std::uint64_t kTargetShardBytes = std::uint64_t{128} << 20;

/// A scale of a precomputed volume. Dimensions are x, y, z and, where shape has a fourth, the channel.
struct VolumeToShard {
  Shape shape;
  Shape chunk_shape;  ///< of three dimensions or four; channels are in one chunk
  DType dtype;
  std::string encoding = "raw";
  std::uint64_t target_shard_bytes = kTargetShardBytes;
};
/// The member `sharding` for the chunks of a volume, whose ids are compressed Morton codes: neighbours share a shard.
/// The rule is in docs/chunking.md. `invalid_argument` where the codes have more than 64 bits.
SHERD_API Result<Json> choose_sharding(const VolumeToShard& volume);

/// Values by ids that have no spatial order: skeletons, meshes, annotations.
struct ValuesToShard {
  std::uint64_t count = 0;
  std::uint64_t mean_bytes = 0;  ///< of one value, encoded
  std::uint64_t target_shard_bytes = kTargetShardBytes;
};
/// The member `sharding` for such values: ids are hashed. The rule is in docs/chunking.md.
SHERD_API Result<Json> choose_sharding(const ValuesToShard& values);

}  // namespace sherd::neuroglancer
