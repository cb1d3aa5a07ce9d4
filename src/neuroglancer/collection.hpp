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

/// By its "@type"; `unsupported` where that is no collection's.
Result<CollectionInfo> parse_collection_info(const Json& document);

/// An index of a collection.
struct CollectionPart {
  std::string name;  ///< "by_id", "relationships[0]", "spatial[1]"; empty where there is no other
  std::string key;   ///< of its directory, relative to the collection's
  Json sharding;
  const AnnotationSpatialLevel* level = nullptr;  ///< where ids are cells
};

struct Collection::State {
  struct Place {
    std::shared_ptr<Store> store;
    std::string path;  ///< of the directory
    bool writable = false;
    CodecTable codecs;
    Config config = {};
  };

  /// nullopt where the document there is no collection's, or there is none.
  static Result<std::optional<std::shared_ptr<State>>> find(Place place);
  static Result<std::shared_ptr<State>> open(Place place);
  static Result<std::shared_ptr<State>> create(Place place, CollectionInfo info, bool overwrite);

  /// The collection's own, and what its parts lie in; `info` stands in `place`.
  static Result<std::shared_ptr<State>> make(Place place, CollectionInfo info);

  /// The first of the objects below a place that is none of the collection there; nullopt where there is no such. Of
  /// what is no collection, or one that cannot be read, everything but a damaged info.
  static Result<std::optional<std::string>> find_foreign_object(const Place& place);

  /// All indices; none for segment properties.
  [[nodiscard]] std::vector<CollectionPart> parts() const;
  [[nodiscard]] Result<ObjectValues> values(const CollectionPart& part) const;
  /// The first: by id.
  [[nodiscard]] Result<ObjectValues> values() const { return values(parts().front()); }
  /// How many objects an index has; no more are counted than `most`.
  [[nodiscard]] Result<std::uint64_t> count(const CollectionPart& part, std::uint64_t most) const;
  [[nodiscard]] std::string info_key() const { return place.path.empty() ? "info" : place.path + "/info"; }
  /// The relative path of segment properties; empty where there is none.
  [[nodiscard]] std::string properties_path() const;

  /// How an object of this id is called in the index by id.
  [[nodiscard]] ObjectValues::Name name(std::uint64_t id) const;
  /// The id of an object of the index by id that is no value of a shard.
  [[nodiscard]] std::optional<std::uint64_t> id_of(std::string_view object) const;

  Place place;
  CollectionInfo info;
  std::string url;
};

/// A cell as spatial indices call it; invalid_argument where the level has no such.
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
/// A mesh of several resolutions with all that belongs to it; nullopt where it is not there.
Result<std::optional<MultiscaleMesh>> read_multiscale_mesh(const ObjectValues& values, std::uint64_t id);
/// The parts that a manifest names.
Result<std::vector<MeshPart>> read_mesh_parts(const ObjectValues& values, const LegacyMeshManifest& manifest);

}  // namespace sherd::neuroglancer
