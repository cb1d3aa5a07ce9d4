// Interprets the info document of a collection: the kind of its objects, and the location of each index.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "neuroglancer/object_values.hpp"
#include "shard/morton.hpp"
#include "sherd/collection.hpp"

namespace sherd::neuroglancer {

/// "skeletons", "legacy meshes", "multi-resolution meshes", "annotations" or "segment properties".
[[nodiscard]] std::string_view kind_name(const CollectionInfo& info) noexcept;

/// By its "@type"; `unsupported` if it is not that of a collection.
Result<CollectionInfo> parse_collection_info(const Json& document);

/// An index of a collection.
struct CollectionPart {
  std::string name;  ///< "by_id", "relationships[0]", "spatial[1]"; empty if it is the only one
  std::string key;   ///< of its directory, relative to the collection's
  Json sharding;
  const AnnotationSpatialLevel* level = nullptr;  ///< if ids are cells
};

struct Collection::State {
  struct Location {
    std::shared_ptr<Store> store;
    std::string path;  ///< of the directory
    bool writable = false;
    CodecTable codecs;
    Config config = {};
  };

  /// nullopt if the document there is missing or not that of a collection.
  static Result<std::optional<std::shared_ptr<State>>> find(Location location);
  static Result<std::shared_ptr<State>> open(Location location);
  static Result<std::shared_ptr<State>> create(Location location, CollectionInfo info, bool overwrite);
  /// A collection whose info document is still to be written. create() does both steps.
  struct Prepared {
    std::shared_ptr<State> state;
    std::string text;
    Condition condition;
    /// Writes the info document.
    [[nodiscard]] Result<void> publish() const;
    /// Erases everything but an info document.
    [[nodiscard]] Result<void> erase() const;
  };
  /// Makes the checks of create(), and erases what it replaces, except for an older info document.
  /// `is_left`: what is there was left by a build that did not end, and is erased.
  static Result<Prepared> prepare(Location location, CollectionInfo info, bool overwrite, bool is_left = false);

  /// Makes the state of a collection and of its parts; `info` is in `location`.
  static Result<std::shared_ptr<State>> make(Location location, CollectionInfo info);

  /// The first object below a location that does not belong to the collection there; nullopt if all do. If there is no
  /// collection, or it cannot be read: any object except a damaged info.
  static Result<std::optional<std::string>> find_foreign_object(const Location& location);

  /// All indexes; none for segment properties.
  [[nodiscard]] std::vector<CollectionPart> parts() const;
  [[nodiscard]] Result<ObjectValues> values(const CollectionPart& part) const;
  /// The first one, which is by id.
  [[nodiscard]] Result<ObjectValues> values() const { return values(parts().front()); }
  /// The number of objects in an index; counts up to `most`.
  [[nodiscard]] Result<std::uint64_t> count(const CollectionPart& part, std::uint64_t most) const;
  [[nodiscard]] std::string info_key() const { return location.path.empty() ? "info" : location.path + "/info"; }
  /// The relative path of segment properties; empty if there is none.
  [[nodiscard]] std::string properties_path() const;

  /// The name of the object with this id in the index by id.
  [[nodiscard]] ObjectValues::Name name(std::uint64_t id) const;
  /// The id of an object in the index by id that is not a value of a shard.
  [[nodiscard]] std::optional<std::uint64_t> id_of(std::string_view object) const;

  Location location;
  CollectionInfo info;
  std::string url;
};

/// The name of a cell in spatial indexes; invalid_argument if it is not a cell of the level.
Result<ObjectValues::Name> cell_name(const AnnotationSpatialLevel& level, std::span<const std::uint64_t> cell);
/// The cell whose object in an unsharded index has this name; nullopt if it is not in the grid.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> parse_cell(const AnnotationSpatialLevel& level,
                                                                   std::string_view object);
/// Adds to an error which object, decoded or encoded, it is about.
template <class T>
[[nodiscard]] Result<T> about(Result<T> result, const ObjectValues& values, const ObjectValues::Name& name,
                              std::string_view what) {
  if (result) return result;
  return std::move(result)
      .error()
      .in(std::string(what) + " " +
          (name.object.empty() || values.is_sharded() ? std::to_string(name.id) : name.object))
      .in_key(values.key(name));
}

Result<LegacyMeshManifest> parse_legacy_manifest(Bytes bytes, const Limits& limits);
/// A mesh of several resolutions with all its parts; nullopt if it does not exist.
Result<std::optional<MultiscaleMesh>> read_multiscale_mesh(const ObjectValues& values, std::uint64_t id);
/// The parts named in a manifest.
Result<std::vector<MeshPart>> read_mesh_parts(const ObjectValues& values, const LegacyMeshManifest& manifest);

}  // namespace sherd::neuroglancer
