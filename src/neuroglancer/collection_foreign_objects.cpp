// Determines which objects below a collection belong to it: the info, objects named as in its indexes, auxiliary files
// of writers, and fragments of legacy meshes, which may have any name: manifests are read if the name is not
// sufficient.
#include <atomic>
#include <set>

#include "base/call.hpp"
#include "base/pool.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "neuroglancer/collection.hpp"
#include "neuroglancer/document.hpp"
#include "neuroglancer/names.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "node/document.hpp"
#include "store/key.hpp"

namespace sherd::neuroglancer {
namespace {

using Keys = std::set<std::string>;

constexpr std::size_t kBatch = 256;    // manifests read at a time
constexpr std::size_t kKeyBytes = 96;  // per key in a set, in addition to its characters

enum class Belongs : std::uint8_t { yes, no, if_named };

class Own {
 public:
  static Result<Own> of(const Collection::State& state) {
    Own own(state);
    own.properties_ = path_below(state.location.path, state.properties_path());
    for (const CollectionPart& part : state.parts()) {
      SHERD_TRY(values, state.values(part));
      own.indices_.push_back({part, std::move(values)});
    }
    return own;
  }

  [[nodiscard]] Belongs belongs(const std::string& key) const {
    const std::string_view directory = parent_path(key), object = last_segment(key);
    if (key == state_.info_key()) return Belongs::yes;
    if (properties_ && directory == *properties_ && object == "info") return Belongs::yes;
    for (const Index& index : indices_)
      if (directory == index.values.location().directory && is_called_so(index, object)) return Belongs::yes;
    return std::holds_alternative<LegacyMeshInfo>(state_.info) ? Belongs::if_named : Belongs::no;
  }

  /// Removes from `keys` those named in a manifest, or all if a manifest cannot be read, since it may name them.
  Result<void> take_named(Keys& keys) const {
    const ObjectValues& values = indices_.front().values;
    std::vector<ObjectValues::Name> batch;
    const auto take = [&]() -> Result<bool> {
      SHERD_TRY(take_named(keys, batch));
      batch.clear();
      return !keys.empty();
    };
    SHERD_TRY(values.list([&](const ObjectValues::Name& name, std::uint64_t) -> Result<bool> {
      if (state_.id_of(name.object)) batch.push_back(name);
      return batch.size() < kBatch ? Result<bool>(true) : take();
    }));
    SHERD_TRY(take());
    return {};
  }

 private:
  struct Index {
    CollectionPart part;
    ObjectValues values;
  };

  explicit Own(const Collection::State& state) : state_(state) {}

  [[nodiscard]] bool is_called_so(const Index& index, std::string_view object) const {
    const bool of_segments = index.part.name.empty();  // meshes or skeletons
    if (of_segments && is_beside_objects(object)) return true;
    if (index.values.is_sharded()) return shard_number(index.values.shards().format.sharding, object).has_value();
    const std::string_view name = plain_name(object);
    if (index.part.level != nullptr) return parse_cell(*index.part.level, name).has_value();
    return state_.id_of(name) || (std::holds_alternative<MultiscaleMeshInfo>(state_.info) && parse_id(name));
  }

  Result<void> take_named(Keys& keys, std::span<const ObjectValues::Name> names) const {
    const ObjectValues& values = indices_.front().values;
    std::vector<std::optional<LegacyMeshManifest>> manifests(names.size());
    std::atomic<bool> unreadable = false;
    SHERD_TRY(parallel_for(names.size(), values.location().config, [&](std::size_t i) -> Result<void> {
      const auto bytes = values.get(names[i]);
      if (!bytes && !is_stored_fault(bytes.error())) return bytes.error();
      if (bytes && !*bytes) return {};  // erased since it was listed
      auto manifest = bytes ? parse_legacy_manifest(as_bytes(**bytes), values.location().config.limits) : bytes.error();
      if (manifest)
        manifests[i] = *std::move(manifest);
      else
        unreadable = true;
      return {};
    }));
    if (unreadable) keys.clear();
    for (const auto& manifest : manifests) {
      if (!manifest) continue;
      for (const std::string& fragment : manifest->fragments) {
        const std::string key = values.key(plain_path(fragment));
        keys.erase(key);
        keys.erase(key + ".gz");
      }
    }
    return {};
  }

  const Collection::State& state_;
  std::optional<std::string> properties_;  // the directory of segment properties
  std::vector<Index> indices_;
};

/// Calls visit(key) for the objects below a location except Sherd's own leftovers, until it fails or returns
/// false.
Result<void> for_each_object(const Collection::State::Location& location,
                             const std::function<Result<bool>(const std::string& key)>& visit) {
  const std::string prefix = prefix_of(location.path);
  SHERD_TRY(location.store->visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    SHERD_TRY(check_interrupted(location.config.interrupted));
    if (is_ours(entry.name) || is_ours(split_key(entry.name).name)) return true;
    return visit(prefix + std::string(entry.name));
  }));
  return {};
}

}  // namespace

Result<std::optional<std::string>> Collection::State::find_foreign_object(const Location& location) {
  std::optional<std::string> foreign;
  const auto found = find(location);
  if (!found && !is_stored_fault(found.error())) return found.error();
  if (!found || !*found) {  // it is unknown what belongs to an unreadable collection
    const std::string info = prefix_of(location.path) + "info";
    SHERD_TRY(for_each_object(location, [&](const std::string& key) -> Result<bool> {
      if (found || key != info) foreign = key;
      return !foreign;
    }));
    return foreign;
  }
  SHERD_TRY(own, Own::of(***found));
  Keys unknown;
  std::uint64_t bytes = 0;
  const std::uint64_t most = location.config.limits.index_bytes;
  SHERD_TRY(for_each_object(location, [&](const std::string& key) -> Result<bool> {
    const Belongs belongs = own.belongs(key);
    if (belongs == Belongs::no) foreign = key;
    if (belongs == Belongs::if_named && unknown.insert(key).second) bytes += key.size() + kKeyBytes;
    if (bytes <= most) return !foreign;
    return unsupported(
               "has too many mesh fragments to compare with the manifests: their names exceed the limit index_bytes (" +
               std::to_string(most) + ")")
        .in_key(location.path);
  }));
  if (foreign || unknown.empty()) return foreign;
  SHERD_TRY(own.take_named(unknown));
  if (!unknown.empty()) foreign = *unknown.begin();
  return foreign;
}

}  // namespace sherd::neuroglancer
