// Skeletons for sherd.neuroglancer: the info document as a class, and skeletons as arrays.
#include "python/bindings.hpp"
#include "python/columns.hpp"
#include "python/precomputed.hpp"

namespace sherd::python {
namespace {

using neuroglancer::Skeleton;
using neuroglancer::SkeletonInfo;
using neuroglancer::VertexAttribute;

nb::tuple parse_skeleton(nb::handle data, const SkeletonInfo& info) {
  const BytesView view(data);
  return skeleton_to(call([&] { return Skeleton::parse(view.bytes(), info.vertex_attributes); }), info);
}

nb::bytes print_skeleton(nb::handle vertices, nb::handle edges, const nb::dict& attributes, const SkeletonInfo& info) {
  const Skeleton skeleton = skeleton_from(nb::make_tuple(vertices, edges, attributes), info);
  return bytes_to(call([&] { return skeleton.print(info.vertex_attributes); }));
}

}  // namespace

nb::tuple skeleton_to(const Skeleton& skeleton, const SkeletonInfo& info) {
  nb::dict attributes;
  for (std::size_t i = 0; i < skeleton.attributes.size(); ++i)
    attributes[info.vertex_attributes[i].id.c_str()] = column_to(skeleton.attributes[i]);
  return nb::make_tuple(rows_to(skeleton.vertices), rows_to(skeleton.edges), attributes);
}

Skeleton skeleton_from(const nb::tuple& parts, const SkeletonInfo& info) {
  Skeleton skeleton{rows_from<neuroglancer::Position>(parts[0], "vertices"),
                    rows_from<std::array<std::uint32_t, 2>>(parts[1], "edges"),
                    {}};
  const auto attributes = nb::cast<nb::dict>(parts[2]);
  if (attributes.size() != info.vertex_attributes.size())
    throw Exception(invalid_argument("there are " + std::to_string(attributes.size()) + " attributes, and " +
                                     std::to_string(info.vertex_attributes.size()) + " are described"));
  for (const VertexAttribute& attribute : info.vertex_attributes) {
    const std::string what = "attributes['" + attribute.id + "']";
    if (!attributes.contains(attribute.id.c_str()))
      throw Exception(invalid_argument("is described by the info, but missing").in_member(what));
    skeleton.attributes.push_back(
        column_from(attributes[attribute.id.c_str()], attribute.data_type, attribute.num_components, what));
  }
  return skeleton;
}

void bind_skeleton(nb::module_& module) {
  bind_info<SkeletonInfo>(
      module, "SkeletonInfo", "def from_json(document: collections.abc.Mapping[str, typing.Any]) -> SkeletonInfo",
      "The info document of skeletons, `neuroglancer_skeletons`: transform, vertex_attributes, sharding and "
      "segment_properties. Source: Neuroglancer's precomputed format.")
      .def_prop_ro(
          "vertex_attributes",
          [](const SkeletonInfo& info) { return nb::object(document_of(info)["vertex_attributes"]); },
          "What each vertex has in addition to its position: dicts with id, data_type and num_components.",
          nb::sig("def vertex_attributes(self) -> list[dict[str, typing.Any]]"))
      .def_prop_ro(
          "transform",
          [](const SkeletonInfo& info) { return array_to(info.transform.data(), 96, {3, 4}, DType::float64); },
          "float64 of shape (3, 4): from stored model coordinates to nanometres.",
          nb::sig("def transform(self) -> numpy.ndarray"))
      .def_prop_ro(
          "sharding", [](const SkeletonInfo& info) { return json_to(info.sharding); },
          "The sharding parameters, or None if each skeleton is an object named by its segment id.",
          nb::sig("def sharding(self) -> dict[str, typing.Any] | None"));
  module.def(
      "parse_skeleton", parse_skeleton, nb::arg("data"), nb::arg("info"),
      nb::sig("def parse_skeleton(data: bytes | bytearray | memoryview, info: SkeletonInfo) -> tuple[numpy.ndarray, "
              "numpy.ndarray, dict[str, numpy.ndarray]]"),
      "Vertices, edges and attributes of a skeleton.");
  module.def("print_skeleton", print_skeleton, nb::arg("vertices"), nb::arg("edges"), nb::arg("attributes"),
             nb::arg("info"),
             nb::sig("def print_skeleton(vertices: object, edges: object, attributes: dict[str, typing.Any], info: "
                     "SkeletonInfo) -> bytes"),
             "A skeleton's bytes.");
}

}  // namespace sherd::python
