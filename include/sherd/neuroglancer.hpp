// Neuroglancer's precomputed objects: skeletons, meshes, annotations and segment properties, as bytes or JSON and as
// typed values. Nothing here does I/O: a value in a sharded store and an unsharded object hold the same bytes.
//
// parse() of bytes returns `corrupt` if they contradict the format; parse() of an info document returns
// invalid_argument or `unsupported` and names the member. print() returns invalid_argument if the value cannot be
// stored. Unknown members of documents are kept in `other` and printed unchanged. Layouts:
// docs/format/precomputed-objects.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/dtype.hpp"
#include "sherd/export.hpp"
#include "sherd/json.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::neuroglancer {

using Bytes = std::span<const std::byte>;
using Position = std::array<float, 3>;  ///< x, y, z

/// Rows of 3 rotations and a translation, from stored model coordinates to nanometres.
using Transform = std::array<double, 12>;
inline constexpr Transform kIdentity{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

/// The values of one attribute: `components` values of `dtype` per element, in native byte order.
struct Column {
  DType dtype;
  std::uint32_t components = 1;
  std::vector<std::byte> bytes;

  [[nodiscard]] std::size_t element_bytes() const noexcept { return dtype.size() * components; }
  /// T must be the dtype's C++ type.
  template <class T>
  [[nodiscard]] std::span<const T> as() const noexcept {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  friend bool operator==(const Column&, const Column&) = default;
};

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// ---- Volumes -------------------------------------------------------------------------------------------------------

using Triple = std::array<std::uint64_t, 3>;  ///< x, y, z

/// One resolution of a volume: a separate array with dimensions x, y, z, channel.
struct VolumeScale {
  std::string key;  ///< the directory of its chunks, relative to the info document's
  Triple size{};    ///< voxels
  std::array<std::int64_t, 3> voxel_offset{};
  std::vector<Triple> chunk_sizes;     ///< at least one; exactly one if sharded. The first is used.
  std::array<double, 3> resolution{};  ///< nanometres per voxel
  /// "raw", "jpeg", "png" and "compressed_segmentation" can be read and written.
  std::string encoding = "raw";
  Json sharding = {};  ///< null: each chunk is a separate object
  std::optional<std::uint64_t> jpeg_quality = {};
  std::optional<std::uint64_t> png_level = {};
  std::optional<Triple> block_size = {};  ///< required for compressed_segmentation
  Json other = {};
  friend bool operator==(const VolumeScale&, const VolumeScale&) = default;
};

/// The info document `neuroglancer_multiscale_volume`.
struct SHERD_API VolumeInfo {
  enum class Type : std::uint8_t { image, segmentation };

  Type type = Type::image;
  DType data_type = DType::uint8;  ///< uint8 to uint64, int8 to int32, float32
  std::uint64_t num_channels = 1;
  std::vector<VolumeScale> scales;  ///< fine to coarse
  Json other = {};                  ///< including `mesh`, `skeletons` and `segment_properties`

  static Result<VolumeInfo> parse(const Json& document);
  [[nodiscard]] Result<Json> print() const;
  friend bool operator==(const VolumeInfo&, const VolumeInfo&) = default;
};

// ---- Skeletons -----------------------------------------------------------------------------------------------------

/// A vertex attribute. Neuroglancer reads float32 and integers of 8 to 32 bits. 64-bit integers, float16 and float64,
/// which cloud-volume also writes, can be read and written too.
struct VertexAttribute {
  std::string id;
  DType data_type = DType::float32;
  std::uint32_t num_components = 1;
  Json other = {};
  friend bool operator==(const VertexAttribute&, const VertexAttribute&) = default;
};

/// The info document `neuroglancer_skeletons`.
struct SHERD_API SkeletonInfo {
  Transform transform = kIdentity;
  std::vector<VertexAttribute> vertex_attributes;
  Json sharding;                   ///< null: each skeleton is an object named by its segment id
  std::string segment_properties;  ///< relative path; empty: none
  Json other;

  static Result<SkeletonInfo> parse(const Json& document);
  [[nodiscard]] Result<Json> print() const;
  friend bool operator==(const SkeletonInfo&, const SkeletonInfo&) = default;
};

/// The skeleton of one segment, in stored model coordinates.
struct SHERD_API Skeleton {
  std::vector<Position> vertices;
  std::vector<std::array<std::uint32_t, 2>> edges;  ///< vertex numbers; a number beyond the vertices is corrupt
  std::vector<Column> attributes;                   ///< as in the info's vertex_attributes, one value per vertex

  static Result<Skeleton> parse(Bytes bytes, std::span<const VertexAttribute> attributes);
  /// The columns must match `attributes`.
  [[nodiscard]] Result<std::string> print(std::span<const VertexAttribute> attributes) const;
  friend bool operator==(const Skeleton&, const Skeleton&) = default;
};

// ---- Meshes --------------------------------------------------------------------------------------------------------

using Triangle = std::array<std::uint32_t, 3>;

/// A triangulated surface; also one fragment of a legacy mesh, with positions in nanometres.
struct SHERD_API Mesh {
  std::vector<Position> vertices;
  std::vector<Triangle> triangles;  ///< vertex numbers; a number beyond the vertices is corrupt

  static Result<Mesh> parse(Bytes bytes);
  [[nodiscard]] Result<std::string> print() const;
  friend bool operator==(const Mesh&, const Mesh&) = default;
};

/// The info document `neuroglancer_legacy_mesh`.
struct SHERD_API LegacyMeshInfo {
  std::string segment_properties;  ///< relative path; empty: none
  Json other;

  static Result<LegacyMeshInfo> parse(const Json& document);
  [[nodiscard]] Result<Json> print() const;
  friend bool operator==(const LegacyMeshInfo&, const LegacyMeshInfo&) = default;
};

/// The document `<segment id>:0`, which lists the fragments of a segment's mesh.
struct SHERD_API LegacyMeshManifest {
  std::vector<std::string> fragments;  ///< names of objects next to the document
  Json other;

  static Result<LegacyMeshManifest> parse(const Json& document);
  [[nodiscard]] Result<Json> print() const;
  static std::string key(std::uint64_t segment);
  friend bool operator==(const LegacyMeshManifest&, const LegacyMeshManifest&) = default;
};

/// The info document `neuroglancer_multilod_draco`.
struct SHERD_API MultiscaleMeshInfo {
  std::uint32_t vertex_quantization_bits = 16;  ///< 10 or 16
  Transform transform = kIdentity;
  double lod_scale_multiplier = 1;
  Json sharding;                   ///< null: manifests and fragments are separate objects
  std::string segment_properties;  ///< relative path; empty: none
  Json other;

  static Result<MultiscaleMeshInfo> parse(const Json& document);
  [[nodiscard]] Result<Json> print() const;
  friend bool operator==(const MultiscaleMeshInfo&, const MultiscaleMeshInfo&) = default;
};

/// A mesh with positions in units of a fragment's box divided by 2^vertex_quantization_bits - 1.
struct SHERD_API QuantizedMesh {
  std::vector<std::array<std::uint32_t, 3>> vertices;
  std::vector<Triangle> triangles;

  /// Decodes one Draco fragment. `unsupported` if this Sherd was built without libdraco (CMake: SHERD_DRACO), if the
  /// mesh needs more than limits.chunk_bytes, or if its positions are not three integers.
  static Result<QuantizedMesh> decode_draco(Bytes fragment, const Limits& limits = {});
  /// Whether decode_draco() is available in this build.
  static bool can_decode_draco() noexcept;
  friend bool operator==(const QuantizedMesh&, const QuantizedMesh&) = default;
};

/// One octree node of a level of detail.
struct MeshFragment {
  std::array<std::uint32_t, 3> position{};  ///< x, y, z in boxes of chunk_shape * 2^level
  std::uint32_t size = 0;                   ///< bytes of its Draco mesh; 0: the node is empty
  friend bool operator==(const MeshFragment&, const MeshFragment&) = default;
};

struct MeshLevel {
  float scale = 0;
  Position vertex_offset{};
  std::vector<MeshFragment> fragments;
  friend bool operator==(const MeshLevel&, const MeshLevel&) = default;
};

/// The levels of detail of a segment, finest first. Their fragments are stored together, in the order of the manifest:
/// in the object `<segment id>` or, if sharded, immediately before the stored manifest.
struct SHERD_API MultiscaleMeshManifest {
  Position chunk_shape{};
  Position grid_origin{};
  std::vector<MeshLevel> levels;

  static Result<MultiscaleMeshManifest> parse(Bytes bytes);
  [[nodiscard]] Result<std::string> print() const;
  /// invalid_argument if a level's fragments are not in Z-curve order. print() requires this order, because
  /// Neuroglancer relies on it; parse() accepts any order.
  [[nodiscard]] Result<void> check_order() const;

  /// The total bytes of all fragments.
  [[nodiscard]] std::uint64_t fragments_size() const noexcept;
  /// The byte range in the shard that holds the fragments of a sharded mesh. The stored manifest begins at
  /// `manifest_start`; `corrupt` if there are fewer bytes before it.
  [[nodiscard]] Result<ByteRange> fragments_before(std::uint64_t manifest_start) const;
  /// The byte range of one fragment within all fragments together.
  [[nodiscard]] Result<ByteRange> fragment_range(std::size_t level, std::size_t fragment) const;
  /// A decoded fragment in stored model coordinates. `corrupt` if a position does not fit in `bits`.
  [[nodiscard]] Result<Mesh> place(const QuantizedMesh& mesh, std::size_t level, std::size_t fragment,
                                   std::uint32_t bits) const;

  static std::string key(std::uint64_t segment);            ///< of the unsharded manifest
  static std::string fragments_key(std::uint64_t segment);  ///< of its unsharded fragments
  friend bool operator==(const MultiscaleMeshManifest&, const MultiscaleMeshManifest&) = default;
};

// ---- Annotations ---------------------------------------------------------------------------------------------------

enum class AnnotationType : std::uint8_t {
  point,                      ///< 1 vector
  line,                       ///< 2: its ends
  axis_aligned_bounding_box,  ///< 2: opposite corners
  ellipsoid,                  ///< 2: centre and radii
  polyline,                   ///< any number of points
};

struct AnnotationProperty {
  enum class Type : std::uint8_t { rgb, rgba, uint8, int8, uint16, int16, uint32, int32, float32, boolean };
  std::string id;
  Type type = Type::float32;
  std::string description = {};
  std::vector<double> enum_values = {};
  std::vector<std::string> enum_labels = {};  ///< as many as enum_values
  Json other = {};
  friend bool operator==(const AnnotationProperty&, const AnnotationProperty&) = default;
};

/// Where an index of annotations is stored.
struct AnnotationIndex {
  std::string key;     ///< relative path
  Json sharding = {};  ///< null: each value is a separate object
  Json other = {};
  friend bool operator==(const AnnotationIndex&, const AnnotationIndex&) = default;
};

struct AnnotationRelationship {
  std::string id;
  AnnotationIndex index;
  friend bool operator==(const AnnotationRelationship&, const AnnotationRelationship&) = default;
};

/// One level of the spatial index: cells of chunk_size, beginning at lower_bound.
struct AnnotationSpatialLevel {
  AnnotationIndex index;
  std::vector<std::uint64_t> grid_shape;
  std::vector<double> chunk_size;
  std::uint64_t limit = 1;
  /// The key of a cell below index.key if the level is not sharded, such as `1_2_3`.
  SHERD_API static std::string cell_key(std::span<const std::uint64_t> cell);
  friend bool operator==(const AnnotationSpatialLevel&, const AnnotationSpatialLevel&) = default;
};

struct AnnotationDimension {
  std::string name;
  double scale = 1;
  std::string unit;
  friend bool operator==(const AnnotationDimension&, const AnnotationDimension&) = default;
};

/// The info document `neuroglancer_annotations_v1`.
struct SHERD_API AnnotationInfo {
  std::vector<AnnotationDimension> dimensions;  ///< at least one; their number is the rank
  std::vector<double> lower_bound, upper_bound;
  AnnotationType type = AnnotationType::point;
  std::vector<AnnotationProperty> properties;  ///< any order; parse() and print() sort them as stored, by size
  std::vector<AnnotationRelationship> relationships;
  AnnotationIndex by_id;
  std::vector<AnnotationSpatialLevel> spatial;  ///< coarse to fine
  std::string segment_properties;               ///< relative path; empty: none
  Json other;

  static Result<AnnotationInfo> parse(const Json& document);
  [[nodiscard]] Result<Json> print() const;
  /// The properties that other programs cannot read or misread, with the programs' names; one sentence each.
  [[nodiscard]] std::vector<std::string> warnings() const;
  friend bool operator==(const AnnotationInfo&, const AnnotationInfo&) = default;
};

/// One annotation, as stored in the index by id.
struct SHERD_API Annotation {
  std::vector<float> geometry;                      ///< the type's vectors, rank floats each
  std::vector<Column> properties;                   ///< one value each, in the info's order; rgb and rgba are uint8
  std::vector<std::vector<std::uint64_t>> related;  ///< one list of object ids for each of the info's relationships

  static Result<Annotation> parse(Bytes bytes, const AnnotationInfo& info);
  [[nodiscard]] Result<std::string> print(const AnnotationInfo& info) const;
  friend bool operator==(const Annotation&, const Annotation&) = default;
};

/// A list of annotations, as stored in the spatial index and the indexes by related object.
struct SHERD_API Annotations {
  std::vector<std::uint64_t> ids;
  std::vector<float> geometry;        ///< the vectors of all annotations in order, rank floats each
  std::vector<std::uint32_t> points;  ///< polylines: the number of points of each; empty for other types
  std::vector<Column> properties;     ///< one value per annotation, in the info's order; rgb and rgba are uint8

  static Result<Annotations> parse(Bytes bytes, const AnnotationInfo& info);
  [[nodiscard]] Result<std::string> print(const AnnotationInfo& info) const;
  friend bool operator==(const Annotations&, const Annotations&) = default;
};

// ---- Segment properties --------------------------------------------------------------------------------------------

/// One property of all segments.
struct SegmentProperty {
  enum class Type : std::uint8_t { label, description, string, tags, number };
  std::string id;
  Type type = Type::label;
  std::string description = {};                             ///< empty: none; tags have none
  std::vector<std::string> texts = {};                      ///< label, description, string: one per segment
  std::vector<std::string> tags = {};                       ///< distinct, without spaces
  std::vector<std::string> tag_descriptions = {};           ///< empty, or one per tag
  std::vector<std::vector<std::uint32_t>> tag_values = {};  ///< for each segment, indices of `tags`, ascending
  Column numbers = {};                                      ///< number: one per segment; float32 or 8 to 32 bits
  Json other = {};
  friend bool operator==(const SegmentProperty&, const SegmentProperty&) = default;
};

/// The info document `neuroglancer_segment_properties`, which contains all values.
struct SHERD_API SegmentProperties {
  std::vector<std::uint64_t> ids;
  std::vector<SegmentProperty> properties;
  Json inline_other;  ///< unknown members of `inline`
  Json other;

  static Result<SegmentProperties> parse(const Json& document);
  [[nodiscard]] Result<Json> print() const;
  friend bool operator==(const SegmentProperties&, const SegmentProperties&) = default;
};

}  // namespace sherd::neuroglancer
