// One index of a collection: objects by id, as values in shards or as separate objects.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neuroglancer/sharded_store.hpp"
#include "neuroglancer/value_rules.hpp"
#include "sherd/neuroglancer.hpp"
#include "sherd/store.hpp"

namespace sherd::neuroglancer {

/// The number of bytes before the manifest of a multi-resolution mesh: ShardedStoreOptions::preceding for manifests.
Result<std::uint64_t> fragments_before(std::span<const std::byte> manifest);
/// Whether this info document describes multi-resolution meshes.
[[nodiscard]] bool has_manifests(const Json& info) noexcept;
/// fragments_before if the object `info` at the root of a store describes such meshes; empty if it is missing, not JSON
/// or describes something else.
[[nodiscard]] Result<PrecedingRule> rule_of_info(Store& store, const Limits& limits);

/// The name without the suffix that cloud-volume appends to files that it has compressed.
[[nodiscard]] std::string_view plain_name(std::string_view object) noexcept;

/// A whole number in decimal digits, the form of ids in keys.
[[nodiscard]] std::optional<std::uint64_t> parse_id(std::string_view text) noexcept;

class ObjectValues {
 public:
  struct Location {
    std::shared_ptr<Store> store;
    std::string directory;   ///< of the index; empty: the store's root
    Json sharding = {};      ///< null: separate objects
    bool manifests = false;  ///< of multi-resolution meshes, with their fragments before them
    bool writable = false;
    CodecTable codecs;
    Config config = {};
  };
  /// What an object is found by: the number in shards, otherwise the name.
  struct Name {
    std::uint64_t id = 0;
    std::string object;
  };

  static Result<ObjectValues> make(Location location);

  [[nodiscard]] bool is_sharded() const noexcept { return shards_ != nullptr; }
  /// For a sharded index.
  [[nodiscard]] const ShardedStore::State& shards() const noexcept { return *shards_; }
  [[nodiscard]] const Location& location() const noexcept { return location_; }
  /// The key of an object with this name in the directory of the index.
  [[nodiscard]] std::string key(std::string_view object) const;
  /// The name used in errors and faults about this object.
  [[nodiscard]] std::string key(const Name& name) const;

  [[nodiscard]] Result<std::optional<std::string>> get(const Name& name) const;
  /// Whether a separate object exists.
  [[nodiscard]] Result<bool> has(std::string_view object) const;
  /// A sharded manifest and its fragments, from the same version of the shard.
  struct Pair {
    std::string value, preceding;
  };
  [[nodiscard]] Result<std::optional<Pair>> get_pair(std::uint64_t id) const;
  [[nodiscard]] Result<void> put(const Name& name, Bytes value, Bytes preceding = {}) const;
  [[nodiscard]] Result<bool> erase(const Name& name) const;
  /// Calls visit for every value of a sharded index or, if it is not sharded, for every object, by its plain name,
  /// whatever it is.
  using Visit = std::function<Result<bool>(const Name& name, std::uint64_t bytes)>;
  Result<bool> list(const Visit& visit) const;

 private:
  explicit ObjectValues(Location location) : location_(std::move(location)) {}
  [[nodiscard]] Result<void> check_writable() const;
  [[nodiscard]] Result<std::optional<std::string>> get_compressed(const std::string& key) const;

  Location location_;
  std::shared_ptr<ShardedStore::State> shards_;  // of a store that begins at the directory
};

}  // namespace sherd::neuroglancer
