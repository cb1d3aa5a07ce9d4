// What the calls of a ShardedStore share: its shards as objects, and their lists and values as they are read.
#pragma once

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

/// The keys under which a shard may be stored. The pair is what the format had before: the array at the beginning of a
/// shard as an object of its own, and everything that follows as another.
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
/// The older pair as one object; null where there is none.
Result<std::shared_ptr<ByteSource>> open_pair(Store& store, const Uint64Sharding& sharding,
                                              const PairLocation& location);

/// A version of a shard.
struct OpenedShard {
  std::shared_ptr<ByteSource> source;  ///< null: there is none
  bool is_pair = false;
};
Result<OpenedShard> open_shard(const ShardedStore::State& state, std::uint64_t number);
/// Of an object next to the shards: the number of the shard that it is, or is a part of.
[[nodiscard]] std::optional<std::uint64_t> shard_number(const Uint64Sharding& sharding, std::string_view name);
/// The numbers of all shards, ascending.
Result<std::vector<std::uint64_t>> shard_numbers(const ShardedStore::State& state);

/// Something to be done with the present version of a shard (nullptr where there is none), done again with a newer one
/// where it was changed meanwhile. `again` says which attempt it is.
using ShardRead = std::function<Result<void>(const std::shared_ptr<ByteSource>& source, unsigned attempt)>;
Result<void> with_shard(const ShardedStore::State& state, std::uint64_t number, const ShardRead& read);

/// Calls visit(minishard, list) for those of the shard's minishards that have a list, in ascending order. Holds few of
/// them at a time. A visit that fails or returns false ends it; returns false then.
using ListVisit = std::function<Result<bool>(std::uint64_t minishard, const MinishardIndex& list)>;
Result<bool> for_each_list(const ShardedStore::State& state, ByteSource& source, const ListVisit& visit,
                           std::uint64_t first = 0);

/// Some ids to be read. visit(i, value of ids[i]) is called for each, in any order and from several threads; again for
/// one that has failed if its shard was changed meanwhile.
struct IdsRead {
  std::span<const std::uint64_t> ids;
  std::function<Result<void>(std::size_t i, std::optional<std::span<const std::byte>> value)> visit;
  /// Called before a value is read from where it is in the shard; may be empty. If it returns true, the value is not
  /// read, and `visit` is not called.
  std::function<Result<bool>(std::size_t i, ByteSource& shard, Extent where)> found = {};
};
Result<void> read_ids(const ShardedStore::State& state, const IdsRead& call);

/// Whether the index and every list are inside the shard; `corrupt` where not.
Result<void> check_list_extents(const ShardedStore::State& state, ByteSource& source);

/// Values of one shard: chunks[i] is decoded and given to visit(i, bytes), from several threads.
struct ValueReading {
  std::span<const MinishardIndex::Chunk> chunks;
  std::function<Result<void>(std::size_t, std::span<const std::byte>)> visit;
  Budget& budget;
  bool alone = false;  ///< each with a read of its own
};
Result<void> read_values(const ShardedStore::State& state, ByteSource& source, const ValueReading& values);

/// The chunk of an id, where the shard has one.
Result<std::optional<MinishardIndex::Chunk>> find_chunk(const ShardedStore::State& state, ByteSource& source,
                                                        std::uint64_t id);

/// Stores and erases values, each id once: what belongs to one shard at once. How many of the ids were there. The store
/// was opened for writing.
Result<std::uint64_t> change(const ShardedStore::State& state, std::span<const ShardedStore::Item> puts,
                             std::span<const std::uint64_t> erased);
/// The same for ids of one shard, once, in the version that the caller has read of it: `conflict` if there is another
/// one by now. The caller holds the shard's lock.
Result<std::uint64_t> change_seen(const ShardedStore::State& state, OpenedShard seen,
                                  std::span<const ShardedStore::Item> puts, std::span<const std::uint64_t> erased);

/// How many bytes before each of these chunks belong to it; all 0 if the store does not know any. `corrupt` where
/// a shard has not so much before it.
Result<std::vector<std::uint64_t>> preceding_bytes(const ShardedStore::State& state, ByteSource& source,
                                                   std::span<const MinishardIndex::Chunk> chunks);

/// The same for a chunk whose decoded value is known, if the store knows of such bytes.
Result<std::uint64_t> preceding_of(const ShardedStore::State& state, const MinishardIndex::Chunk& chunk,
                                   std::span<const std::byte> value);

/// What is known of a whole shard.
struct ShardStats {
  std::uint64_t chunks = 0;
  std::uint64_t dead = 0;  ///< bytes of no use
};
/// From the cache where it has that generation's, otherwise from all lists. `corrupt` where one of them is damaged, or
/// holds an id that belongs elsewhere, or a chunk that is part of the index: then nothing may be written, since a value
/// would be lost.
Result<ShardStats> shard_stats(const ShardedStore::State& state, std::uint64_t number, ByteSource& source);
void keep_stats(const ShardedStore::State& state, const std::string& name, const Generation& generation,
                ShardStats stats);

}  // namespace sherd::neuroglancer
