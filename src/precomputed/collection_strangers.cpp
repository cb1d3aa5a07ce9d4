// Which of the objects below a collection are its own: the info, objects that are called as an index calls them, and
// fragments of legacy meshes, which may have any name: manifests are read where a name does not tell. What a manifest
// that cannot be read may name is nobody's to say, and counts as the collection's.
#include <set>

#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "kv/state.hpp"
#include "precomputed/collection.hpp"
#include "precomputed/document.hpp"
#include "store/key.hpp"

namespace sherd::neuroglancer {
namespace {

enum class Belongs : std::uint8_t { yes, no, if_named };

class Own {
 public:
  static Result<Own> of(const Collection::State& state) {
    Own own(state);
    own.properties_ = path_below(state.place.path, state.properties_path());
    for (const CollectionPart& part : state.parts()) {
      SHERD_TRY(values, state.values(part));
      own.indices_.push_back({part, std::move(values)});
    }
    return own;
  }

  [[nodiscard]] Belongs belongs(const std::string& key) const {
    const std::size_t slash = key.rfind('/');
    const std::string directory = slash == key.npos ? std::string() : key.substr(0, slash);
    const std::string_view object = std::string_view(key).substr(slash == key.npos ? 0 : slash + 1);
    if (is_ours(object) || key == state_.info_key()) return Belongs::yes;
    if (properties_ && directory == *properties_ && object == "info") return Belongs::yes;
    for (const Index& index : indices_)
      if (directory == index.values.place().directory && is_called_so(index, object)) return Belongs::yes;
    return is_legacy() ? Belongs::if_named : Belongs::no;
  }

  /// Takes those out of `keys` that a manifest names, and all where one cannot be read.
  Result<void> take_named(std::set<std::string>& keys) const {
    const ObjectValues& values = indices_.front().values;
    SHERD_TRY(values.list([&](const ObjectValues::Name& name, std::uint64_t) -> Result<bool> {
      if (!state_.id_of(name.object)) return true;
      const auto bytes = values.get(name);
      if (!bytes && !is_stored_fault(bytes.error())) return bytes.error();
      if (bytes && !*bytes) return true;  // erased since it was listed
      auto manifest = bytes ? parse_legacy_manifest(as_bytes(**bytes), values.place().config.limits) : bytes.error();
      if (!manifest) keys.clear();
      if (!manifest) return false;
      for (const std::string& fragment : manifest->fragments) {
        const std::string key = values.key(plain_path(fragment));
        keys.erase(key);
        keys.erase(key + ".gz");
      }
      return !keys.empty();
    }));
    return {};
  }

 private:
  struct Index {
    CollectionPart part;
    ObjectValues values;
  };

  explicit Own(const Collection::State& state) : state_(state) {}

  [[nodiscard]] bool is_legacy() const { return std::holds_alternative<LegacyMeshInfo>(state_.info); }

  [[nodiscard]] bool is_called_so(const Index& index, std::string_view object) const {
    if (index.values.is_sharded()) return shard_number(index.values.shards().format.sharding, object).has_value();
    const std::string_view name = plain_name(object);
    if (index.part.level != nullptr) return parse_cell(*index.part.level, name).has_value();
    if (state_.id_of(name)) return true;
    if (std::holds_alternative<MultiscaleMeshInfo>(state_.info)) return parse_id(name).has_value();
    // As cloud-volume calls fragments: the mesh, the level of detail, and the box.
    return is_legacy() && name.find(':') != name.npos && parse_id(name.substr(0, name.find(':'))).has_value();
  }

  const Collection::State& state_;
  std::optional<std::string> properties_;  // the directory of segment properties
  std::vector<Index> indices_;
};

}  // namespace

Result<std::optional<std::string>> Collection::State::find_stranger() const {
  SHERD_TRY(own, Own::of(*this));
  std::optional<std::string> stranger;
  std::set<std::string> unknown;
  SHERD_TRY(place.store->list(prefix_of(place.path), [&](const std::string& key, std::uint64_t) {
    const Belongs belongs = own.belongs(key);
    if (belongs == Belongs::no) stranger = key;
    if (belongs == Belongs::if_named) unknown.insert(key);
    return !stranger;
  }));
  if (stranger || unknown.empty()) return stranger;
  SHERD_TRY(own.take_named(unknown));
  if (!unknown.empty()) stranger = *unknown.begin();
  return stranger;
}

Result<void> Collection::State::refuse_strangers() const {
  SHERD_TRY(stranger, find_stranger());
  return stranger ? Result<void>(stranger_error(*stranger)) : Result<void>();
}

}  // namespace sherd::neuroglancer
