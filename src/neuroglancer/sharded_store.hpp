// Shared by the calls of a ShardedStore: its shards as objects, and reading their lists and values.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/read_objects.hpp"
#include "base/cache.hpp"
#include "base/pool.hpp"
#include "shard/reader.hpp"
#include "shard/uint64.hpp"
#include "sherd/sharded_store.hpp"

namespace sherd::neuroglancer {

struct ShardedStore::State {
  State(std::shared_ptr<Store> at, Uint64Format how, const ShardedStoreOptions& chosen)
      : store(std::move(at)), format(std::move(how)), options(chosen), cache(chosen.config.cache_bytes) {}

  /// With the codecs of the precomputed format.
  static Result<std::shared_ptr<State>> make(std::shared_ptr<Store> store, const Json& sharding, CodecTable table,
                                             const ShardedStoreOptions& options);

  [[nodiscard]] const Config& config() const noexcept { return options.config; }
  [[nodiscard]] std::uint64_t gap() const { return config().coalesce_gap.value_or(store->traits().coalesce_gap); }
  [[nodiscard]] MinishardReading reading() const { return {format, config().limits, cache, gap()}; }

  std::shared_ptr<Store> store;
  Uint64Format format;
  ShardedStoreOptions options;
  mutable Cache cache;
};

/// The keys under which a shard may be stored. The pair is the previous form of the format: the array at the beginning
/// of a shard as one object, and the rest as another.
struct ShardKeys {
  ShardKeys(const Uint64Sharding& sharding, std::uint64_t number)
      : shard(sharding.name(number) + ".shard"),
        index(sharding.name(number) + ".index"),
        data(sharding.name(number) + ".data") {}
  std::string shard, index, data;
};

struct PairLocation {
  std::string prefix;  ///< of its keys
  std::uint64_t number;
};
/// The older pair as one object; null if it does not exist.
Result<std::shared_ptr<ByteSource>> open_pair(Store& store, const Uint64Sharding& sharding,
                                              const PairLocation& location);

/// A version of a shard.
struct OpenedShard {
  std::shared_ptr<ByteSource> source;  ///< null: the shard does not exist
  bool is_pair = false;
};
Result<OpenedShard> open_shard(const ShardedStore::State& state, std::uint64_t number);
/// The number of the shard that an object is, or is a part of, given the object's name.
[[nodiscard]] std::optional<std::uint64_t> shard_number(const Uint64Sharding& sharding, std::string_view name);
/// The numbers of all shards, ascending.
Result<std::vector<std::uint64_t>> shard_numbers(const ShardedStore::State& state);

/// An operation on the present version of a shard (nullptr if it does not exist), repeated with a newer version if the
/// shard was changed meanwhile. `again` is the number of the attempt.
using ShardRead = std::function<Result<void>(const std::shared_ptr<ByteSource>& source, unsigned attempt)>;
Result<void> with_shard(const ShardedStore::State& state, std::uint64_t number, const ShardRead& read);

/// Calls visit(minishard, list) for each of the shard's minishards that has a list, in ascending order. Holds few lists
/// at a time. Ends if a visit fails or returns false, and then returns that failure or false.
using ListVisit = std::function<Result<bool>(std::uint64_t minishard, const MinishardIndex& list)>;
Result<bool> for_each_list(const ShardedStore::State& state, ByteSource& source, const ListVisit& visit,
                           std::uint64_t first = 0);

/// Ids to be read. visit(i, value of ids[i]) is called for each, in any order and from several threads. After a failure
/// it is called again for that id if its shard was changed meanwhile.
struct IdsRead {
  std::span<const std::uint64_t> ids;
  std::function<Result<void>(std::size_t i, std::optional<std::span<const std::byte>> value)> visit;
  /// Called before a value is read from its location in the shard; may be empty. If it returns true, the value is not
  /// read, and `visit` is not called.
  std::function<Result<bool>(std::size_t i, ByteSource& shard, Extent where)> found = {};
};
Result<void> read_ids(const ShardedStore::State& state, const IdsRead& call);

/// `corrupt` unless the index and every list are inside the shard.
Result<void> check_list_extents(const ShardedStore::State& state, ByteSource& source);

/// Values of one shard: chunks[i] is decoded and passed to visit(i, bytes), from several threads.
struct ValueReading {
  std::span<const MinishardIndex::Chunk> chunks;
  std::function<Result<void>(std::size_t, std::span<const std::byte>)> visit;
  Budget& budget;
  bool alone = false;  ///< each with a separate read
};
Result<void> read_values(const ShardedStore::State& state, ByteSource& source, const ValueReading& values);

/// The chunk of an id, if the shard has one.
Result<std::optional<MinishardIndex::Chunk>> find_chunk(const ShardedStore::State& state, ByteSource& source,
                                                        std::uint64_t id);

/// Stores and erases values, each id once, all changes of a shard together. Returns how many of the ids existed. The
/// store must be writable.
Result<std::uint64_t> change(const ShardedStore::State& state, std::span<const ShardedStore::Item> puts,
                             std::span<const std::uint64_t> erased);
/// change() for ids of one shard, without retries, on the version that the caller has read: `conflict` if it is no
/// longer the present one. The caller holds the shard's lock.
Result<std::uint64_t> change_seen(const ShardedStore::State& state, OpenedShard seen,
                                  std::span<const ShardedStore::Item> puts, std::span<const std::uint64_t> erased);

/// ShardedStore::compact() on the threads of `config`. Adds the bytes of each shard to `done` when it was looked at.
Result<ShardedStore::Compacted> compact_shards(const ShardedStore::State& state, const Config& config,
                                               std::atomic<std::uint64_t>& done);

/// The number of bytes before each of these chunks that belong to it; all 0 if the store has no rule for them.
/// `corrupt` if there are not that many bytes in the shard before a chunk.
Result<std::vector<std::uint64_t>> preceding_bytes(const ShardedStore::State& state, ByteSource& source,
                                                   std::span<const MinishardIndex::Chunk> chunks);

/// The number of bytes before a chunk that belong to it, from its decoded value, if the store has a rule.
Result<std::uint64_t> preceding_of(const ShardedStore::State& state, const MinishardIndex::Chunk& chunk,
                                   std::span<const std::byte> value);

/// Statistics of a whole shard.
struct ShardStats {
  std::uint64_t chunks = 0;
  std::uint64_t dead = 0;     ///< unused bytes
  bool is_hdf5 = false;       ///< the shard is an HDF5 file at the same time
  bool shares_bytes = false;  ///< of a value, with another one or the index; only determined for Update::in_place
};
/// From the cache if it has this generation, otherwise computed from all lists. `corrupt` if a list is damaged, or
/// contains an id that belongs in another shard, or a chunk that overlaps the index: then nothing may be written,
/// because a value would be lost.
Result<ShardStats> shard_stats(const ShardedStore::State& state, std::uint64_t number, ByteSource& source);
void keep_stats(const ShardedStore::State& state, const std::string& name, const Generation& generation,
                ShardStats stats);

}  // namespace sherd::neuroglancer
