// Values by 64-bit id in Neuroglancer's shards (`neuroglancer_uint64_sharded_v1`), which store volumes, meshes,
// skeletons and annotations. Layout: docs/format/uint64-sharded.md.
//
// An id without a value is nullopt; a missing shard has no values. A shard whose bytes contradict the format is
// `corrupt`, and the error names the object, the minishard or the id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/json.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"
#include "sherd/store.hpp"

namespace sherd::neuroglancer {

struct ShardedStoreOptions {
  bool writable = false;
  /// For values that are immediately preceded by bytes that belong to them, such as manifests of meshes: returns the
  /// number of these bytes, given the decoded value. Without it these bytes count as dead and are lost when the shard
  /// is rewritten. Called from several threads. If this is not set and the object `info` at the root describes
  /// multi-resolution meshes, open() sets it.
  std::function<Result<std::uint64_t>(std::span<const std::byte> value)> preceding = {};
  /// limits.chunk_bytes bounds a value, limits.index_bytes the parts of a shard's lists in memory, cache_bytes the
  /// lists kept between calls. max_unused is the share of dead bytes above which an update rewrites a shard.
  Config config = {};
};

/// A handle; copies refer to the same store. All calls may be made from several threads, and other processes may write.
class SHERD_API ShardedStore {
 public:
  using Bytes = std::span<const std::byte>;

  /// Opens the shards below the root of `store`. `sharding` is the member `sharding` of an info document. If null, it
  /// is read from the object `info` at the root or, for a URL of files, from that of a parent directory which has an
  /// entry for this one (a volume's scale, an index of annotations). If `info` describes several sharded parts,
  /// invalid_argument lists them.
  static Result<ShardedStore> open(std::shared_ptr<Store> store, const Json& sharding = {},
                                   const ShardedStoreOptions& options = {});
  static Result<ShardedStore> open(std::string_view url, const Json& sharding = {},
                                   const ShardedStoreOptions& options = {});

  /// The location of the shards, and their complete sharding parameters.
  [[nodiscard]] const std::string& url() const noexcept;
  [[nodiscard]] Json sharding() const;
  [[nodiscard]] const ShardedStoreOptions& options() const noexcept;

  [[nodiscard]] Result<std::optional<std::string>> get(std::uint64_t id) const;
  /// One value for each id, in the order of `ids`.
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::uint64_t> ids) const;
  /// Calls visit(i, value of ids[i]) once for each id, in any order and from several threads. A shard takes at most
  /// three dependent requests: nearby values are read together, and a shard is read whole if most of it is needed.
  using Visit = std::function<void(std::size_t i, std::optional<Bytes> value)>;
  Result<void> get_many(std::span<const std::uint64_t> ids, const Visit& visit) const;
  /// The bytes before a value that belong to it (options().preceding); nullopt if the value does not exist.
  [[nodiscard]] Result<std::optional<std::string>> get_preceding(std::uint64_t id) const;
  [[nodiscard]] Result<bool> contains(std::uint64_t id) const;
  /// Calls visit(id, bytes as stored) for every value, ordered by shard, minishard and id. Stops, and returns false, if
  /// visit returns false.
  Result<bool> list(const std::function<bool(std::uint64_t id, std::uint64_t bytes)>& visit) const;

  struct Item {
    std::uint64_t id = 0;
    Bytes value;
    Bytes preceding = {};  ///< only with options().preceding, which must return its size
  };
  /// Stores a value, or replaces the value of this id.
  Result<void> put(const Item& item) const { return put_many({&item, 1}); }
  /// Stores several values; each id may occur once. An existing shard is appended to: the new values and indexes go to
  /// its end, and everything else keeps its offset. So each minishard changes atomically, but not the batch as a whole.
  Result<void> put_many(std::span<const Item> items) const;
  /// Erases a value; returns whether it existed.
  [[nodiscard]] Result<bool> erase(std::uint64_t id) const;
  /// Returns how many of the values existed.
  Result<std::uint64_t> erase_many(std::span<const std::uint64_t> ids) const;

  struct Compacted {
    std::uint64_t reclaimed = 0;  ///< bytes
    std::uint64_t shards = 0;     ///< that were rewritten
  };
  /// Rewrites every shard that has dead bytes without them. Nothing is written if a shard contains ids that belong in
  /// another shard (`corrupt`), which happens when they were written with another sharding.
  [[nodiscard]] Result<Compacted> compact() const;

  /// Made by open().
  struct State;
  explicit ShardedStore(std::shared_ptr<State> state) noexcept;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace sherd::neuroglancer
