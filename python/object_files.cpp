// Import and export of skeletons and meshes as files of other programs, for sherd.neuroglancer.
#include "sherd/object_files.hpp"

#include "python/bindings.hpp"
#include "python/columns.hpp"
#include "python/config.hpp"
#include "python/precomputed.hpp"

namespace sherd::python {
namespace {

using namespace neuroglancer;

std::string_view text_in(const BytesView& view) {
  return {reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size()};
}

SkeletonInfo swc_info() {
  const auto attributes = swc_attributes();
  SkeletonInfo info;
  info.vertex_attributes = {attributes.begin(), attributes.end()};
  return info;
}

nb::tuple swc_from(nb::handle vertices, nb::handle edges, const nb::dict& attributes, const SkeletonInfo& info) {
  const Skeleton skeleton = skeleton_from(nb::make_tuple(vertices, edges, attributes), info);
  const SwcText printed = call([&] { return print_swc(skeleton, info.vertex_attributes); });
  return nb::make_tuple(nb::str(printed.text.data(), printed.text.size()), printed.edges_left_out);
}

nb::tuple mesh_of(nb::handle data, const std::string& format) {
  const BytesView view(data);
  return mesh_to(call([&] { return format == "ply" ? parse_ply(view.bytes()) : parse_obj(text_in(view)); }));
}

nb::bytes print_mesh(nb::handle vertices, nb::handle triangles, const std::string& format) {
  const Mesh mesh = mesh_from(nb::make_tuple(vertices, triangles));
  return bytes_to(call([&] { return format == "ply" ? print_ply(mesh) : print_obj(mesh); }));
}

/// `given`: format, unit, overwrite, config and optionally id. Returns the report and notes.
nb::tuple move_object(const std::string& file, const std::string& url, const nb::dict& given, bool into) {
  std::vector<std::string> notes;
  ObjectFileOptions options{.format = nb::cast<std::string>(given["format"]),
                            .unit = nb::cast<std::string>(given["unit"]),
                            .overwrite = nb::cast<bool>(given["overwrite"]),
                            .note = [&notes](const std::string& text) { notes.push_back(text); },
                            .config = config_from(given["config"])};
  if (given.contains("id")) options.id = id_from(given["id"]);
  const ObjectFileReport moved =
      call([&] { return into ? import_object(file, url, options) : export_object(url, file, options); });
  nb::dict report;
  report["id"] = moved.id;
  report["vertices"] = moved.vertices;
  report[moved.is_skeleton ? "edges" : "triangles"] = moved.parts;
  report["lower_bound"] = nb::make_tuple(moved.low[0], moved.low[1], moved.low[2]);
  report["upper_bound"] = nb::make_tuple(moved.high[0], moved.high[1], moved.high[2]);
  report["created"] = moved.created;
  return nb::make_tuple(std::move(report), strings_to(notes));
}

}  // namespace

void bind_object_files(nb::module_& module) {
  module.def(
      "parse_swc",
      [](nb::handle data) {
        const BytesView view(data);
        return skeleton_to(call([&] { return parse_swc(text_in(view)); }), swc_info());
      },
      nb::arg("data"),
      nb::sig("def parse_swc(data: bytes | bytearray | memoryview) -> tuple[numpy.ndarray, numpy.ndarray, dict[str, "
              "numpy.ndarray]]"),
      "Vertices, edges and attributes of a SWC file.");
  module.def("print_swc", swc_from, nb::arg("vertices"), nb::arg("edges"), nb::arg("attributes"), nb::arg("info"),
             nb::sig("def print_swc(vertices: object, edges: object, attributes: dict[str, typing.Any], info: "
                     "SkeletonInfo) -> tuple[str, int]"),
             "A skeleton as SWC, and how many edges were left out.");
  module.def("parse_mesh_file", mesh_of, nb::arg("data"), nb::arg("format"),
             nb::sig("def parse_mesh_file(data: bytes | bytearray | memoryview, format: str) -> tuple[numpy.ndarray, "
                     "numpy.ndarray]"),
             "Vertices and triangles of a PLY or OBJ file.");
  module.def("print_mesh_file", print_mesh, nb::arg("vertices"), nb::arg("triangles"), nb::arg("format"),
             nb::sig("def print_mesh_file(vertices: object, triangles: object, format: str) -> bytes"),
             "A mesh as PLY or OBJ.");
  module.def("move_object", move_object, nb::arg("file"), nb::arg("url"), nb::arg("options"), nb::arg("into"),
             nb::sig("def move_object(file: str, url: str, options: dict[str, typing.Any], into: bool) -> "
                     "tuple[dict[str, typing.Any], list[str]]"),
             "Moves an object between a file and a collection.");
}

}  // namespace sherd::python
