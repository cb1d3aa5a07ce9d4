// What an info document makes of a directory: which kind of objects, and where each of its indices lies.
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

/// By its "@type"; `unsupported` if it is not a collection's.
Result<CollectionInfo> parse_collection_info(const Json& document);

/// An index of a collection.
struct CollectionPart {
  std::string name;  ///< "by_id", "relationships[0]", "spatial[1]"; empty if it is the only one
  std::string key;   ///< of its directory, relative to the collection's
  Json sharding;
  const AnnotationSpatialLevel* level = nullptr;  ///< where ids are cells
};

struct Collection::State {
  struct Location {
    std::shared_ptr<Store> store;
    std::string path;  ///< of the directory
    bool writable = false;
    CodecTable codecs;
    Config config = {};
  };

  /// nullopt if the document there is missing or not a collection's.
  static Result<std::optional<std::shared_ptr<State>>> find(Location location);
  static Result<std::shared_ptr<State>> open(Location location);
  static Result<std::shared_ptr<State>> create(Location location, CollectionInfo info, bool overwrite);
  /// A collection whose info document is still to be written. create() is both.
  struct Prepared {
    std::shared_ptr<State> state;
    std::string text;
    Condition condition;
    /// Writes the info document.
    [[nodiscard]] Result<void> publish() const;
    /// Erases everything but an info document.
    [[nodiscard]] Result<void> erase() const;
  };
  /// Checks what create() checks, and erases what it replaces, all but an older info document.
  static Result<Prepared> prepare(Location location, CollectionInfo info, bool overwrite);

  /// The collection's own, and what its parts lie in; `info` is in `location`.
  static Result<std::shared_ptr<State>> make(Location location, CollectionInfo info);

  /// The first object below a location that does not belong to the collection there; nullopt if all belong to it. Of
  /// what is no collection, or one that cannot be read, everything but a damaged info.
  static Result<std::optional<std::string>> find_foreign_object(const Location& location);

  /// All indices; none for segment properties.
  [[nodiscard]] std::vector<CollectionPart> parts() const;
  [[nodiscard]] Result<ObjectValues> values(const CollectionPart& part) const;
  /// The first: by id.
  [[nodiscard]] Result<ObjectValues> values() const { return values(parts().front()); }
  /// How many objects an index has; counts up to `most`.
  [[nodiscard]] Result<std::uint64_t> count(const CollectionPart& part, std::uint64_t most) const;
  [[nodiscard]] std::string info_key() const { return location.path.empty() ? "info" : location.path + "/info"; }
  /// The relative path of segment properties; empty where there is none.
  [[nodiscard]] std::string properties_path() const;

  /// How an object of this id is called in the index by id.
  [[nodiscard]] ObjectValues::Name name(std::uint64_t id) const;
  /// The id of an object of the index by id that is not a value of a shard.
  [[nodiscard]] std::optional<std::uint64_t> id_of(std::string_view object) const;

  Location location;
  CollectionInfo info;
  std::string url;
};

/// A cell as spatial indices call it; invalid_argument if it is not a cell of the level.
Result<ObjectValues::Name> cell_name(const AnnotationSpatialLevel& level, std::span<const std::uint64_t> cell);
/// The cell of an unsharded index that an object is; nullopt where it is none of the grid.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> parse_cell(const AnnotationSpatialLevel& level,
                                                                   std::string_view object);
/// What is wrong with a decoded or encoded object, and which it is.
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
/// A mesh of several resolutions with everything that belongs to it; nullopt if it does not exist.
Result<std::optional<MultiscaleMesh>> read_multiscale_mesh(const ObjectValues& values, std::uint64_t id);
/// The parts that a manifest names.
Result<std::vector<MeshPart>> read_mesh_parts(const ObjectValues& values, const LegacyMeshManifest& manifest);

}  // namespace sherd::neuroglancer
