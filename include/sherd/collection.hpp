// Collections of Neuroglancer's precomputed objects in stores: skeletons, meshes, annotations and segment properties.
// The info document of a collection says what its objects are and whether they are sharded. Sharded and unsharded
// collections are read and written in the same way.
//
// A missing object is nullopt; one whose bytes contradict the format is `corrupt`, and the error names its key and its
// id. A call for another kind of collection is invalid_argument. Layouts:
// docs/format/precomputed-objects.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sherd/group.hpp"
#include "sherd/neuroglancer.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd::neuroglancer {

/// The info document of a collection.
using CollectionInfo =
    std::variant<SkeletonInfo, LegacyMeshInfo, MultiscaleMeshInfo, AnnotationInfo, SegmentProperties>;

/// A mesh of several resolutions: its manifest, and all fragments in the order of the manifest.
struct MultiscaleMesh {
  MultiscaleMeshManifest manifest;
  std::string fragments;  ///< manifest.fragments_size() bytes; fragment_range() locates each fragment
  friend bool operator==(const MultiscaleMesh&, const MultiscaleMesh&) = default;
};

/// A part of a legacy mesh, and the name of its object.
struct MeshPart {
  std::string name;
  Mesh mesh;
  friend bool operator==(const MeshPart&, const MeshPart&) = default;
};

struct CollectionOptions {
  std::string path = {};  ///< of the collection's directory, below the store's root
  bool writable = false;
  Config config = {};
};
struct NewCollection {
  std::string path = {};
  /// Replace an existing collection, which is otherwise a `conflict`. A foreign file is always a `conflict`.
  bool overwrite = false;
  Config config = {};
};

/// A handle; copies refer to the same collection. All calls may be made from several threads.
class SHERD_API Collection {
 public:
  /// not_found if the collection has no info document, except that a directory with manifests `<id>:0` is a collection
  /// of legacy meshes.
  static Result<Collection> open(std::shared_ptr<Store> store, const CollectionOptions& options = {});
  static Result<Collection> open(std::string_view url, const CollectionOptions& options = {});
  /// Writes the info document. The returned collection is writable.
  static Result<Collection> create(std::shared_ptr<Store> store, const CollectionInfo& info,
                                   const NewCollection& options = {});
  static Result<Collection> create(std::string_view url, const CollectionInfo& info, const NewCollection& options = {});

  [[nodiscard]] const CollectionInfo& info() const noexcept;
  [[nodiscard]] const std::string& url() const noexcept;

  [[nodiscard]] Result<std::optional<Skeleton>> read_skeleton(std::uint64_t id) const;
  [[nodiscard]] Result<void> write_skeleton(std::uint64_t id, const Skeleton& skeleton) const;

  /// All parts of a legacy mesh; `corrupt` if its manifest names a part that does not exist.
  [[nodiscard]] Result<std::optional<std::vector<MeshPart>>> read_mesh(std::uint64_t id) const;
  /// Parts without a name are called `<id>:0:<number>`. The manifest is written after the parts.
  [[nodiscard]] Result<void> write_mesh(std::uint64_t id, std::span<const MeshPart> parts) const;

  [[nodiscard]] Result<std::optional<MultiscaleMesh>> read_multiscale_mesh(std::uint64_t id) const;
  /// invalid_argument if the number of fragment bytes differs from that in the manifest. In a sharded collection, both
  /// change at once; otherwise the manifest is written after the fragments.
  [[nodiscard]] Result<void> write_multiscale_mesh(std::uint64_t id, const MultiscaleMesh& mesh) const;

  [[nodiscard]] Result<std::optional<Annotation>> read_annotation(std::uint64_t id) const;
  [[nodiscard]] Result<void> write_annotation(std::uint64_t id, const Annotation& annotation) const;
  /// The annotations of an object; `relationship` is an index into the info's relationships. The indexes are
  /// independent: writing to one of them does not change the others.
  [[nodiscard]] Result<std::optional<Annotations>> read_related(std::size_t relationship, std::uint64_t object) const;
  [[nodiscard]] Result<void> write_related(std::size_t relationship, std::uint64_t object,
                                           const Annotations& annotations) const;
  /// The annotations of a cell of a level of the spatial index; invalid_argument if the cell is outside its grid_shape.
  [[nodiscard]] Result<std::optional<Annotations>> read_cell(std::size_t level,
                                                             std::span<const std::uint64_t> cell) const;
  [[nodiscard]] Result<void> write_cell(std::size_t level, std::span<const std::uint64_t> cell,
                                        const Annotations& annotations) const;

  /// Calls visit(id) for every stored skeleton, mesh or annotation (of the index by id) until it returns false; then
  /// returns false. Order: that of ShardedStore::list if sharded, otherwise the store's.
  Result<bool> list(const std::function<bool(std::uint64_t id)>& visit) const;
  /// Erases an object; returns whether it existed. Of a legacy mesh only the manifest is erased, since other meshes may
  /// use its parts; of an annotation only its value in the index by id.
  [[nodiscard]] Result<bool> erase(std::uint64_t id) const;

  struct State;
  explicit Collection(std::shared_ptr<State> state) noexcept;

 private:
  std::shared_ptr<State> state_;
};

/// The skeletons, meshes, annotations and segment properties in a volume's directory, by name, whether or not its info
/// refers to them. Empty for any other group.
struct VolumeCollection {
  std::string name, kind;
};
[[nodiscard]] SHERD_API std::vector<VolumeCollection> collections_in(const Group& group);

}  // namespace sherd::neuroglancer
