// Values by 64-bit id in Neuroglancer's shards (`neuroglancer_uint64_sharded_v1`): what volumes, meshes, skeletons and
// annotations are kept in. docs/format/uint64-sharded.md has the layout.
//
// An id without a value is nullopt; a shard that is not there has no values. A shard of which bytes contradict the
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
  /// For values that have bytes of their own standing immediately before them in the shard, as the manifests of meshes
  /// have: how many, given the decoded value. Without it such bytes are taken for dead ones and are lost when a shard
  /// is written anew. Called from several threads. Where it is absent and the object `info` at the root is that of
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
  /// Calls visit(i, value of ids[i]) once for each, in any order and from several threads. Costs a shard at most three
  /// requests one after the other: what stands close together is read as one, and most of a shard with one read.
  using Visit = std::function<void(std::size_t i, std::optional<Bytes> value)>;
  Result<void> get_many(std::span<const std::uint64_t> ids, const Visit& visit) const;
  /// The bytes before a value that belong to it (options().preceding); nullopt where there is no such value.
  [[nodiscard]] Result<std::optional<std::string>> get_preceding(std::uint64_t id) const;
  [[nodiscard]] Result<bool> contains(std::uint64_t id) const;
  /// Calls visit(id, bytes as stored) for every value: shards in ascending order, inside them minishards, inside them
  /// ids. Ends early where it returns false, and gives false then.
  Result<bool> list(const std::function<bool(std::uint64_t id, std::uint64_t bytes)>& visit) const;

  struct Item {
    std::uint64_t id = 0;
    Bytes value;
    Bytes preceding = {};  ///< only with options().preceding, which must agree
  };
  /// Stores a value, or replaces the one of this id.
  Result<void> put(const Item& item) const { return put_many({&item, 1}); }
  /// The same for many, each id once. A shard that stands is added to: the new values and new lists go to its end, and
  /// everything else stays in its place. So each minishard changes at once, and the whole does not.
  Result<void> put_many(std::span<const Item> items) const;
  /// Whether there was a value.
  [[nodiscard]] Result<bool> erase(std::uint64_t id) const;
  /// How many values there were.
  Result<std::uint64_t> erase_many(std::span<const std::uint64_t> ids) const;

  struct Compacted {
    std::uint64_t reclaimed = 0;  ///< bytes
    std::uint64_t shards = 0;     ///< that were written anew
  };
  /// Writes every shard that holds dead bytes anew without them. Nothing is written where a shard holds ids that belong
  /// elsewhere (`corrupt`): they tell of another sharding.
  [[nodiscard]] Result<Compacted> compact() const;

  /// Made by open().
  struct State;
  explicit ShardedStore(std::shared_ptr<State> state) noexcept;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace sherd::neuroglancer
