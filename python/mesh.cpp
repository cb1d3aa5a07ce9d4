// Meshes for sherd.neuroglancer: info documents as classes, meshes and manifests as arrays.
#include "python/bindings.hpp"
#include "python/columns.hpp"
#include "python/precomputed.hpp"

namespace sherd::python {
namespace {

using namespace neuroglancer;
using Manifest = MultiscaleMeshManifest;

Position position_from(nb::handle value, const char* what) {
  const auto values = rows_from<float>(value, what);
  if (values.size() != 3) throw Exception(invalid_argument("must have three elements").in_member(what));
  return {values[0], values[1], values[2]};
}
nb::object position_to(const Position& position) {
  return array_to(position.data(), sizeof position, {3}, DType::float32);
}

nb::tuple level_to(const MeshLevel& level) {
  std::vector<std::array<std::uint32_t, 3>> positions;
  std::vector<std::uint32_t> sizes;
  for (const MeshFragment& fragment : level.fragments) {
    positions.push_back(fragment.position);
    sizes.push_back(fragment.size);
  }
  return nb::make_tuple(level.scale, position_to(level.vertex_offset), rows_to(positions), rows_to(sizes));
}

MeshLevel level_from(nb::handle value, std::size_t number) {
  const std::string what = "levels[" + std::to_string(number) + "]";
  MeshLevel level{nb::cast<float>(value[0]), position_from(value[1], "vertex_offset"), {}};
  const auto positions = rows_from<std::array<std::uint32_t, 3>>(value[2], what + ".positions");
  const auto sizes = rows_from<std::uint32_t>(value[3], what + ".sizes");
  if (positions.size() != sizes.size())
    throw Exception(invalid_argument("positions and sizes must have the same length").in_member(what));
  for (std::size_t i = 0; i < sizes.size(); ++i) level.fragments.push_back({positions[i], sizes[i]});
  return level;
}

nb::tuple place(nb::handle manifest, nb::handle vertices, nb::handle triangles, const nb::tuple& fragment,
                std::uint32_t bits) {
  const QuantizedMesh mesh{rows_from<std::array<std::uint32_t, 3>>(vertices, "vertices"),
                           rows_from<Triangle>(triangles, "triangles")};
  const Manifest whole = manifest_from(manifest);
  return mesh_to(
      whole.place(mesh, nb::cast<std::size_t>(fragment[0]), nb::cast<std::size_t>(fragment[1]), bits).value());
}

void bind_infos(nb::module_& module) {
  bind_info<LegacyMeshInfo>(module, "LegacyMeshInfo",
                            "def from_json(document: collections.abc.Mapping[str, typing.Any]) -> LegacyMeshInfo",
                            "The info document of meshes of one resolution, `neuroglancer_legacy_mesh`.");
  bind_info<MultiscaleMeshInfo>(
      module, "MultiscaleMeshInfo",
      "def from_json(document: collections.abc.Mapping[str, typing.Any]) -> MultiscaleMeshInfo",
      "The info document of meshes of several resolutions, `neuroglancer_multilod_draco`: vertex_quantization_bits, "
      "transform, lod_scale_multiplier, sharding and segment_properties.")
      .def_ro("vertex_quantization_bits", &MultiscaleMeshInfo::vertex_quantization_bits,
              "10 or 16: bits of each position in a fragment.")
      .def_ro("lod_scale_multiplier", &MultiscaleMeshInfo::lod_scale_multiplier,
              "What the scales of all manifests are multiplied by.")
      .def_prop_ro(
          "transform",
          [](const MultiscaleMeshInfo& info) { return array_to(info.transform.data(), 96, {3, 4}, DType::float64); },
          "float64 of shape (3, 4): from stored model coordinates to nanometres.",
          nb::sig("def transform(self) -> numpy.ndarray"))
      .def_prop_ro(
          "sharding", [](const MultiscaleMeshInfo& info) { return json_to(info.sharding); },
          "The sharding parameters, or None if manifests and fragments are objects of their own.",
          nb::sig("def sharding(self) -> dict[str, typing.Any] | None"));
}

void bind_manifest(nb::module_& module) {
  module.def(
      "parse_mesh_manifest",
      [](nb::handle data) {
        const BytesView view(data);
        return manifest_to(call([&] { return Manifest::parse(view.bytes()); }));
      },
      nb::arg("data"),
      nb::sig("def parse_mesh_manifest(data: bytes | bytearray | memoryview) -> tuple[numpy.ndarray, numpy.ndarray, "
              "list[tuple[float, numpy.ndarray, numpy.ndarray, numpy.ndarray]]]"),
      "Chunk shape, grid origin and levels of a manifest.");
  module.def(
      "print_mesh_manifest",
      [](const nb::tuple& manifest) { return bytes_to(manifest_from(manifest).print().value()); }, nb::arg("manifest"),
      nb::sig("def print_mesh_manifest(manifest: tuple[object, object, object]) -> bytes"), "A manifest's bytes.");
  module.def("place_mesh_fragment", place, nb::arg("manifest"), nb::arg("vertices"), nb::arg("triangles"),
             nb::arg("fragment"), nb::arg("bits"),
             nb::sig("def place_mesh_fragment(manifest: tuple[object, object, object], vertices: object, triangles: "
                     "object, fragment: tuple[int, int], bits: int) -> tuple[numpy.ndarray, numpy.ndarray]"),
             "A decoded fragment in stored model coordinates.");
}

}  // namespace

nb::tuple mesh_to(const Mesh& mesh) { return nb::make_tuple(rows_to(mesh.vertices), rows_to(mesh.triangles)); }

Mesh mesh_from(const nb::tuple& parts) {
  return {rows_from<Position>(parts[0], "vertices"), rows_from<Triangle>(parts[1], "triangles")};
}

Manifest manifest_from(nb::handle value) {
  Manifest manifest{position_from(value[0], "chunk_shape"), position_from(value[1], "grid_origin"), {}};
  for (const nb::handle level : nb::object(value[2]))
    manifest.levels.push_back(level_from(level, manifest.levels.size()));
  return manifest;
}

nb::tuple manifest_to(const Manifest& manifest) {
  nb::list levels;
  for (const MeshLevel& level : manifest.levels) levels.append(level_to(level));
  return nb::make_tuple(position_to(manifest.chunk_shape), position_to(manifest.grid_origin), levels);
}

void bind_mesh(nb::module_& module) {
  bind_infos(module);
  bind_manifest(module);
  module.def(
      "parse_mesh",
      [](nb::handle data) {
        const BytesView view(data);
        return mesh_to(call([&] { return Mesh::parse(view.bytes()); }));
      },
      nb::arg("data"),
      nb::sig("def parse_mesh(data: bytes | bytearray | memoryview) -> tuple[numpy.ndarray, numpy.ndarray]"),
      "Vertices and triangles of a legacy mesh's fragment.");
  module.def(
      "print_mesh",
      [](nb::handle vertices, nb::handle triangles) {
        const Mesh mesh = mesh_from(nb::make_tuple(vertices, triangles));
        return bytes_to(call([&] { return mesh.print(); }));
      },
      nb::arg("vertices"), nb::arg("triangles"),
      nb::sig("def print_mesh(vertices: object, triangles: object) -> bytes"), "A legacy mesh fragment's bytes.");
  module.def(
      "decode_draco",
      [](nb::handle data) {
        const BytesView view(data);
        const auto mesh = call([&] { return QuantizedMesh::decode_draco(view.bytes()); });
        return nb::make_tuple(rows_to(mesh.vertices), rows_to(mesh.triangles));
      },
      nb::arg("data"),
      nb::sig("def decode_draco(data: bytes | bytearray | memoryview) -> tuple[numpy.ndarray, numpy.ndarray]"),
      "Vertices and triangles of a Draco fragment.");
  module.attr("can_decode_draco") = QuantizedMesh::can_decode_draco();
}

}  // namespace sherd::python
