// Values by 64-bit id in Neuroglancer's shards (`neuroglancer_uint64_sharded_v1`): what volumes, meshes, skeletons and
// annotations are kept in. docs/format/uint64-sharded.md has the layout.
//
// An id without a value is nullopt; a missing shard has no values. A shard whose bytes contradict the
// format is `corrupt`, and the error names the object, the minishard or the id.
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
  /// For values with bytes that belong immediately before them in the shard, such as manifests of meshes: the number
  /// of these bytes, given the decoded value. Without it they count as dead and are lost when the shard is
  /// rewritten. Called from several threads. If it is not set and the object `info` at the root is that of
  /// multi-resolution meshes, open() sets it.
  std::function<Result<std::uint64_t>(std::span<const std::byte> value)> preceding = {};
  /// limits.chunk_bytes bounds a value, limits.index_bytes what is held of a shard's lists; cache_bytes is for what is
  /// kept of them between calls, and max_unused the share of dead bytes that makes an update rewrite a shard.
  Config config = {};
};

/// A handle; copies are the same store. All calls may be made from several threads, and other processes may write too.
class SHERD_API ShardedStore {
 public:
  using Bytes = std::span<const std::byte>;

  /// The shards below the root of `store`. `sharding` is the member of that name of an info document. Null: it is taken
  /// from the object `info` at the root, or, for a URL of files, from that of a directory above which has a member for
  /// this one (a volume's scale, an index of annotations); where `info` describes several sharded parts,
  /// invalid_argument lists them.
  static Result<ShardedStore> open(std::shared_ptr<Store> store, const Json& sharding = {},
                                   const ShardedStoreOptions& options = {});
  static Result<ShardedStore> open(std::string_view url, const Json& sharding = {},
                                   const ShardedStoreOptions& options = {});

  /// Where the shards are, and the whole of their sharding.
  [[nodiscard]] const std::string& url() const noexcept;
  [[nodiscard]] Json sharding() const;
  [[nodiscard]] const ShardedStoreOptions& options() const noexcept;

  [[nodiscard]] Result<std::optional<std::string>> get(std::uint64_t id) const;
  /// One for each id, in their order.
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::uint64_t> ids) const;
  /// Calls visit(i, value of ids[i]) once for each, in any order and from several threads. A shard needs at most three
  /// dependent requests: nearby values are read together, and a shard is read whole if most of it is needed.
  using Visit = std::function<void(std::size_t i, std::optional<Bytes> value)>;
  Result<void> get_many(std::span<const std::uint64_t> ids, const Visit& visit) const;
  /// The bytes before a value that belong to it (options().preceding); nullopt if the value is missing.
  [[nodiscard]] Result<std::optional<std::string>> get_preceding(std::uint64_t id) const;
  [[nodiscard]] Result<bool> contains(std::uint64_t id) const;
  /// Calls visit(id, bytes as stored) for every value: shards in ascending order, inside them minishards, inside them
  /// ids. Ends early if it returns false, and then returns false.
  Result<bool> list(const std::function<bool(std::uint64_t id, std::uint64_t bytes)>& visit) const;

  struct Item {
    std::uint64_t id = 0;
    Bytes value;
    Bytes preceding = {};  ///< only with options().preceding, which must agree
  };
  /// Stores a value, or replaces the one of this id.
  Result<void> put(const Item& item) const { return put_many({&item, 1}); }
  /// The same for many, each id once. An existing shard is appended to: the new values and new indexes go to its end,
  /// and everything else keeps its offset. So each minishard changes atomically, but not the batch as a whole.
  Result<void> put_many(std::span<const Item> items) const;
  /// Whether there was a value.
  [[nodiscard]] Result<bool> erase(std::uint64_t id) const;
  /// How many values there were.
  Result<std::uint64_t> erase_many(std::span<const std::uint64_t> ids) const;

  struct Compacted {
    std::uint64_t reclaimed = 0;  ///< bytes
    std::uint64_t shards = 0;     ///< that were rewritten
  };
  /// Rewrites every shard with dead bytes without them. Nothing is written if a shard contains ids that belong
  /// elsewhere (`corrupt`), because they were written with another sharding.
  [[nodiscard]] Result<Compacted> compact() const;

  /// Made by open().
  struct State;
  explicit ShardedStore(std::shared_ptr<State> state) noexcept;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace sherd::neuroglancer
