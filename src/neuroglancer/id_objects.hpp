// The values of a sharded store as objects of a store, for arrays whose chunks are found by id alone because their
// shards are not boxes of chunks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neuroglancer/sharded_store.hpp"
#include "store/forwarding.hpp"

namespace sherd::neuroglancer {

/// The version of a value: that of the shard, and the value's location in it.
Result<Generation> value_generation(ByteSource& shard, Extent extent);

/// Values are the encoded bytes in the shard; callers decode them. The key of a value is PREFIX and a decimal id; other
/// keys are passed to the store below. To change several values of a shard together, use change(): each change of an
/// object here is one change of its shard.
class IdObjects final : public ForwardingStore {
 public:
  struct Options {
    CodecTable codecs;
    std::uint64_t max_value_bytes = 0;  ///< the maximum length of a value
    Config config = {};                 ///< its recorder is used by the store below
  };
  /// `prefix` ends in `/` or is empty.
  static Result<std::shared_ptr<IdObjects>> make(std::shared_ptr<Store> store, std::string prefix,
                                                 const Uint64Sharding& sharding, Options options);
  /// These objects with another configuration.
  [[nodiscard]] std::shared_ptr<IdObjects> with_config(const Config& config) const;

  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override;
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override;
  /// Of a value: locks its shard.
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override;
  Result<Erased> erase(const std::string& key, const Condition& condition) override;
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override;

  [[nodiscard]] std::optional<std::uint64_t> id_of(std::string_view key) const;
  [[nodiscard]] std::string shard_key(std::uint64_t shard) const;
  /// The store of the values.
  [[nodiscard]] const ShardedStore::State& values() const noexcept { return *state_; }
  /// The objects that are shards or parts of shards, by name.
  [[nodiscard]] Result<std::vector<Listing::Object>> shard_objects() const;

 protected:
  Result<std::shared_ptr<ByteSource>> find(const std::string& key) override;

 private:
  IdObjects(std::shared_ptr<Store> store, std::string prefix, Options options,
            std::shared_ptr<ShardedStore::State> state)
      : ForwardingStore(std::move(store)),
        prefix_(std::move(prefix)),
        options_(std::move(options)),
        state_(std::move(state)) {}
  class Writer;
  [[nodiscard]] static ShardedStoreOptions of_values(const Store& store, const Options& options);
  [[nodiscard]] Uint64Sharding::Location location(std::uint64_t id) const { return state_->format.sharding.locate(id); }
  Result<std::shared_ptr<ByteSource>> open_value(const std::string& key, std::uint64_t id) const;
  Result<std::uint64_t> change_if(const std::string& key, std::uint64_t id, const ShardedStore::Item* item,
                                  const Condition& condition);

  std::string prefix_;
  Options options_;
  std::shared_ptr<ShardedStore::State> state_;  // of a store that begins at the prefix
};

}  // namespace sherd::neuroglancer
