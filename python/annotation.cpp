// Annotations for sherd.neuroglancer: the info document as a class, annotations as arrays. Geometry is passed as flat
// arrays; the Python side reshapes it for its type.
#include "neuroglancer/annotation_record.hpp"
#include "python/bindings.hpp"
#include "python/columns.hpp"
#include "python/config.hpp"
#include "python/node.hpp"
#include "python/precomputed.hpp"
#include "sherd/annotation_build.hpp"

namespace sherd::python {
namespace {

using namespace neuroglancer;

nb::dict properties_to(const std::vector<Column>& columns, const AnnotationInfo& info) {
  nb::dict properties;
  for (std::size_t i = 0; i < columns.size(); ++i) properties[info.properties[i].id.c_str()] = column_to(columns[i]);
  return properties;
}

std::vector<Column> properties_from(const nb::dict& properties, const AnnotationInfo& info) {
  if (properties.size() != info.properties.size())
    throw Exception(invalid_argument("there are " + std::to_string(properties.size()) +
                                     " properties, and the info has " + std::to_string(info.properties.size())));
  std::vector<Column> columns;
  for (const AnnotationProperty& property : info.properties) {
    const std::string what = "properties['" + property.id + "']";
    if (!properties.contains(property.id.c_str()))
      throw Exception(invalid_argument("is in the info document, but missing here").in_member(what));
    const Column kind = empty_column(property);
    columns.push_back(column_from(properties[property.id.c_str()], kind.dtype, kind.components, what));
  }
  return columns;
}

nb::tuple parse_one(nb::handle data, const AnnotationInfo& info) {
  const BytesView view(data);
  return annotation_to(call([&] { return Annotation::parse(view.bytes(), info); }), info);
}

nb::bytes print_one(nb::handle geometry, const nb::dict& properties, const nb::list& related,
                    const AnnotationInfo& info) {
  return bytes_to(annotation_from(nb::make_tuple(geometry, properties, related), info).print(info).value());
}

nb::tuple parse_list(nb::handle data, const AnnotationInfo& info) {
  const BytesView view(data);
  return annotations_to(call([&] { return Annotations::parse(view.bytes(), info); }), info);
}

nb::bytes print_list(nb::handle ids, nb::handle geometry, const nb::dict& properties, nb::handle points,
                     const AnnotationInfo& info) {
  const Annotations list = annotations_from(nb::make_tuple(ids, geometry, properties, points), info);
  return bytes_to(call([&] { return list.print(info); }));
}

/// `options`: path, overwrite, limit, sharding, config, and whether the info has `bounds`. `related`: counts and ids
/// for each relationship.
nb::dict build_annotations(nb::handle location, nb::handle document, const nb::dict& options, const nb::tuple& rows,
                           const nb::list& related) {
  AnnotationInfo info = AnnotationInfo::parse(json_from(document)).value();
  AnnotationBuildOptions build{.path = nb::cast<std::string>(options["path"]),
                               .overwrite = nb::cast<bool>(options["overwrite"]),
                               .limit = nb::cast<std::uint64_t>(options["limit"]),
                               .sharding = json_from(options["sharding"]),
                               .config = config_from(options["config"])};
  const std::shared_ptr<Store> store = store_from(location, build.config);
  const Annotations list = annotations_from(rows, info);
  std::vector<RelatedIds> ids;
  for (const nb::handle each : related)
    ids.push_back(
        {rows_from<std::uint32_t>(each[0], "relationships"), rows_from<std::uint64_t>(each[1], "relationships")});
  if (!nb::cast<bool>(options["bounds"])) info.lower_bound = info.upper_bound = {};
  const AnnotationBuildReport report = call(*store, [&]() -> Result<AnnotationBuildReport> {
    auto builder = AnnotationBuilder::create(store, std::move(info), std::move(build));
    if (!builder) return std::move(builder).error();
    auto added = builder->add(list, ids);
    if (!added) return std::move(added).error();
    return builder->finish();
  });
  nb::dict counts;
  counts["annotations"] = report.annotations;
  counts["levels"] = report.levels;
  counts["cells"] = report.cells;
  counts["related"] = report.related;
  counts["warnings"] = strings_to(report.warnings);
  return counts;
}

nb::list keys_of(const AnnotationInfo& info) {
  nb::list keys;
  for (const AnnotationRelationship& relationship : info.relationships) keys.append(relationship.id);
  return keys;
}

void bind_annotation_info(nb::module_& module) {
  using Info = AnnotationInfo;
  const auto part = [](const char* name) {
    return [name](const Info& info) { return document_of(info).attr("get")(name); };
  };
  bind_info<Info>(module, "AnnotationInfo",
                  "def from_json(document: collections.abc.Mapping[str, typing.Any]) -> AnnotationInfo",
                  "The info document of annotations, `neuroglancer_annotations_v1`.")
      .def_prop_ro(
          "rank", [](const Info& info) { return info.dimensions.size(); }, "The number of dimensions.",
          nb::sig("def rank(self) -> int"))
      .def_prop_ro(
          "annotation_type", [](const Info& info) { return document_of(info)["annotation_type"].attr("lower")(); },
          "point, line, axis_aligned_bounding_box, ellipsoid or polyline.", nb::sig("def annotation_type(self) -> str"))
      .def_prop_ro(
          "warnings", [](const Info& info) { return strings_to(info.warnings()); },
          "The properties that other programs cannot read or misread; one sentence each.",
          nb::sig("def warnings(self) -> list[str]"))
      .def_prop_ro("dimensions", part("dimensions"), "Scale and unit by name.",
                   nb::sig("def dimensions(self) -> dict[str, list[typing.Any]]"))
      .def_prop_ro("properties", part("properties"), "Dicts with id, type, description, enum_values and enum_labels.",
                   nb::sig("def properties(self) -> list[dict[str, typing.Any]]"))
      .def_prop_ro("relationships", keys_of, "Ids of the relationships.",
                   nb::sig("def relationships(self) -> list[str]"))
      .def_prop_ro("by_id", part("by_id"), "Where the index by id is: key and sharding; None if it does not exist.",
                   nb::sig("def by_id(self) -> dict[str, typing.Any] | None"))
      .def_prop_ro("spatial", part("spatial"),
                   "The levels of the spatial index, coarse to fine: key, sharding, grid_shape, chunk_size and limit.",
                   nb::sig("def spatial(self) -> list[dict[str, typing.Any]]"));
}

}  // namespace

nb::tuple annotation_to(const Annotation& annotation, const AnnotationInfo& info) {
  nb::list related;
  for (const auto& ids : annotation.related) related.append(rows_to(ids));
  return nb::make_tuple(rows_to(annotation.geometry), properties_to(annotation.properties, info), related);
}

Annotation annotation_from(const nb::tuple& parts, const AnnotationInfo& info) {
  Annotation annotation{
      rows_from<float>(parts[0], "geometry"), properties_from(nb::cast<nb::dict>(parts[1]), info), {}};
  for (const nb::handle ids : nb::object(parts[2]))
    annotation.related.push_back(rows_from<std::uint64_t>(ids, "related"));
  return annotation;
}

nb::tuple annotations_to(const Annotations& annotations, const AnnotationInfo& info) {
  return nb::make_tuple(rows_to(annotations.ids), rows_to(annotations.geometry),
                        properties_to(annotations.properties, info), rows_to(annotations.points));
}

Annotations annotations_from(const nb::tuple& parts, const AnnotationInfo& info) {
  return {rows_from<std::uint64_t>(parts[0], "ids"), rows_from<float>(parts[1], "geometry"),
          rows_from<std::uint32_t>(parts[3], "points"), properties_from(nb::cast<nb::dict>(parts[2]), info)};
}

void bind_annotation(nb::module_& module) {
  bind_annotation_info(module);
  module.def(
      "parse_annotation", parse_one, nb::arg("data"), nb::arg("info"),
      nb::sig(
          "def parse_annotation(data: bytes | bytearray | memoryview, info: AnnotationInfo) -> tuple[numpy.ndarray, "
          "dict[str, numpy.ndarray], list[numpy.ndarray]]"),
      "Geometry, properties and related ids of one annotation.");
  module.def("print_annotation", print_one, nb::arg("geometry"), nb::arg("properties"), nb::arg("related"),
             nb::arg("info"),
             nb::sig("def print_annotation(geometry: object, properties: dict[str, typing.Any], related: "
                     "list[typing.Any], info: AnnotationInfo) -> bytes"),
             "One annotation's bytes.");
  module.def("parse_annotations", parse_list, nb::arg("data"), nb::arg("info"),
             nb::sig("def parse_annotations(data: bytes | bytearray | memoryview, info: AnnotationInfo) -> "
                     "tuple[numpy.ndarray, numpy.ndarray, dict[str, numpy.ndarray], numpy.ndarray]"),
             "Ids, geometry, properties and numbers of points of a list of annotations.");
  module.def("build_annotations", build_annotations, nb::arg("store"), nb::arg("info"), nb::arg("options"),
             nb::arg("rows"), nb::arg("related"),
             nb::sig("def build_annotations(store: object, info: object, options: dict[str, typing.Any], rows: "
                     "tuple[typing.Any, ...], related: list[tuple[typing.Any, typing.Any]]) -> dict[str, int]"),
             "Writes annotations with all indices.");
  module.def("print_annotations", print_list, nb::arg("ids"), nb::arg("geometry"), nb::arg("properties"),
             nb::arg("points"), nb::arg("info"),
             nb::sig("def print_annotations(ids: object, geometry: object, properties: dict[str, typing.Any], points: "
                     "object, info: AnnotationInfo) -> bytes"),
             "A list of annotations' bytes.");
}

}  // namespace sherd::python
