// Collections of Neuroglancer objects for sherd.neuroglancer: each object is passed as a tuple of its arrays.
#include "sherd/collection.hpp"

#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "neuroglancer/collection.hpp"
#include "python/columns.hpp"
#include "python/config.hpp"
#include "python/node.hpp"
#include "python/precomputed.hpp"

namespace sherd::python {
namespace {

using namespace neuroglancer;

template <class F>
auto call_on(const Collection& collection, F&& run) {
  return call([&] { return in_store(run(), collection.url()); });
}

/// None, or the result of `convert`.
template <class T, class Convert>
nb::object optional_to(const std::optional<T>& object, const Convert& convert) {
  return object ? nb::object(convert(*object)) : nb::none();
}

const AnnotationInfo& annotation_info(const Collection& collection) {
  if (const auto* info = std::get_if<AnnotationInfo>(&collection.info())) return *info;
  throw Exception(
      invalid_argument(collection.url() + " holds " + std::string(kind_name(collection.info())) + ", not annotations"));
}

nb::object read_object(const Collection& self, nb::handle given) {
  const std::uint64_t id = id_from(given);
  if (const auto* info = std::get_if<SkeletonInfo>(&self.info()))
    return optional_to(call_on(self, [&] { return self.read_skeleton(id); }),
                       [&](const Skeleton& skeleton) { return skeleton_to(skeleton, *info); });
  if (std::holds_alternative<LegacyMeshInfo>(self.info()))
    return optional_to(call_on(self, [&] { return self.read_mesh(id); }), [](const std::vector<MeshPart>& parts) {
      nb::dict meshes;
      for (const MeshPart& part : parts) meshes[part.name.c_str()] = mesh_to(part.mesh);
      return meshes;
    });
  if (std::holds_alternative<MultiscaleMeshInfo>(self.info()))
    return optional_to(call_on(self, [&] { return self.read_multiscale_mesh(id); }), [](const MultiscaleMesh& mesh) {
      return nb::make_tuple(manifest_to(mesh.manifest), bytes_to(mesh.fragments));
    });
  const AnnotationInfo& info = annotation_info(self);
  return optional_to(call_on(self, [&] { return self.read_annotation(id); }),
                     [&](const Annotation& annotation) { return annotation_to(annotation, info); });
}

std::vector<MeshPart> parts_from(nb::handle given) {
  std::vector<MeshPart> parts;
  for (const auto& [name, mesh] : nb::cast<nb::dict>(given))
    parts.push_back({text_of(name, "a part's name"), mesh_from(nb::cast<nb::tuple>(mesh))});
  return parts;
}

void write_object(const Collection& self, nb::handle given, nb::handle object) {
  const std::uint64_t id = id_from(given);
  if (const auto* info = std::get_if<SkeletonInfo>(&self.info())) {
    const Skeleton skeleton = skeleton_from(nb::cast<nb::tuple>(object), *info);
    return call_on(self, [&] { return self.write_skeleton(id, skeleton); }), void();
  }
  if (std::holds_alternative<LegacyMeshInfo>(self.info())) {
    const auto parts = parts_from(object);
    return call_on(self, [&] { return self.write_mesh(id, parts); }), void();
  }
  if (std::holds_alternative<MultiscaleMeshInfo>(self.info())) {
    const BytesView fragments(object[1]);
    const MultiscaleMesh mesh{
        manifest_from(object[0]),
        std::string(reinterpret_cast<const char*>(fragments.bytes().data()), fragments.bytes().size())};
    return call_on(self, [&] { return self.write_multiscale_mesh(id, mesh); }), void();
  }
  const Annotation annotation = annotation_from(nb::cast<nb::tuple>(object), annotation_info(self));
  call_on(self, [&] { return self.write_annotation(id, annotation); });
}

/// The annotations of a relationship (by its number) or of a cell.
nb::object read_related(const Collection& self, std::size_t relationship, nb::handle given) {
  const std::uint64_t id = id_from(given);
  const AnnotationInfo& info = annotation_info(self);
  return optional_to(call_on(self, [&] { return self.read_related(relationship, id); }),
                     [&](const Annotations& list) { return annotations_to(list, info); });
}

void write_related(const Collection& self, std::size_t relationship, nb::handle given, const nb::tuple& parts) {
  const std::uint64_t id = id_from(given);
  const Annotations list = annotations_from(parts, annotation_info(self));
  call_on(self, [&] { return self.write_related(relationship, id, list); });
}

nb::object read_cell(const Collection& self, std::size_t level, nb::handle given) {
  const auto cell = shape_from(given, "cell");
  const AnnotationInfo& info = annotation_info(self);
  return optional_to(call_on(self, [&] { return self.read_cell(level, cell); }),
                     [&](const Annotations& list) { return annotations_to(list, info); });
}

void write_cell(const Collection& self, std::size_t level, nb::handle given, const nb::tuple& parts) {
  const auto cell = shape_from(given, "cell");
  const Annotations list = annotations_from(parts, annotation_info(self));
  call_on(self, [&] { return self.write_cell(level, cell, list); });
}

std::vector<std::uint64_t> list(const Collection& self) {
  std::vector<std::uint64_t> ids;
  call_on(self, [&] {
    return self.list([&](std::uint64_t id) {
      ids.push_back(id);
      return true;
    });
  });
  return ids;
}

Collection open(nb::handle url, const std::string& path, bool writable, nb::handle settings) {
  CollectionOptions options{.path = path, .writable = writable, .config = config_from(settings)};
  const std::shared_ptr<Store> store = store_from(url, options.config);
  return call([&] { return in_store(Collection::open(store, options), store->url()); });
}

Collection create(nb::handle url, nb::handle document, const nb::dict& given) {
  const NewCollection options{.path = nb::cast<std::string>(given["path"]),
                              .overwrite = nb::cast<bool>(given["overwrite"]),
                              .config = config_from(given["config"])};
  const Json json = json_from(document);
  const std::shared_ptr<Store> store = store_from(url, options.config);
  return call([&]() -> Result<Collection> {
    auto info = parse_collection_info(json);
    if (!info) return std::move(info).error();
    return in_store(Collection::create(store, *info, options), store->url());
  });
}

nb::object document(const Collection& self) {
  return json_to(std::visit([](const auto& info) { return info.print(); }, self.info()).value());
}

}  // namespace

std::uint64_t id_from(nb::handle value) {
  if (PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr())) {
    const nb::object integer = nb::steal(PyNumber_Index(value.ptr()));
    if (!integer.is_valid()) throw nb::python_error();
    const unsigned long long id = PyLong_AsUnsignedLongLong(integer.ptr());
    if (PyErr_Occurred() == nullptr) return id;
    PyErr_Clear();
  }
  throw Exception(invalid_argument("an id must be an int from 0 to 2**64 - 1, not " + quoted(value)));
}

void bind_collection(nb::module_& module) {
  nb::class_<Collection>(module, "Collection", "A directory of objects with an info document.")
      .def_static("open", open, nb::arg("url"), nb::arg("path"), nb::arg("writable"), nb::arg("config").none(),
                  nb::sig("def open(url: object, path: str, writable: bool, config: object | None) -> Collection"),
                  "Opens one.")
      .def_static("create", create, nb::arg("url"), nb::arg("info"), nb::arg("options"),
                  nb::sig("def create(url: object, info: object, options: dict[str, typing.Any]) -> Collection"),
                  "Makes one.")
      .def_prop_ro("document", document, nb::sig("def document(self) -> dict[str, typing.Any]"), "The info document.")
      .def_prop_ro(
          "url", [](const Collection& self) { return self.url(); }, "Where it is.")
      .def(
          "finish", [](const Collection& self, nb::handle config) { finish_at(self.url(), config_from(config)); },
          nb::arg("config").none(), nb::sig("def finish(self, config: object | None) -> None"),
          "Finishes what was written.")
      .def("read", read_object, nb::arg("id"), nb::sig("def read(self, id: int) -> typing.Any"),
           "The parts of an object.")
      .def("write", write_object, nb::arg("id"), nb::arg("parts"),
           nb::sig("def write(self, id: int, parts: typing.Any) -> None"), "Stores an object.")
      .def("read_related", read_related, nb::arg("relationship"), nb::arg("id"),
           nb::sig("def read_related(self, relationship: int, id: int) -> typing.Any"), "Annotations of an object.")
      .def("write_related", write_related, nb::arg("relationship"), nb::arg("id"), nb::arg("parts"),
           nb::sig("def write_related(self, relationship: int, id: int, parts: tuple[typing.Any, ...]) -> None"),
           "Stores annotations of an object.")
      .def("read_cell", read_cell, nb::arg("level"), nb::arg("cell"),
           nb::sig("def read_cell(self, level: int, cell: object) -> typing.Any"), "Annotations of a cell.")
      .def("write_cell", write_cell, nb::arg("level"), nb::arg("cell"), nb::arg("parts"),
           nb::sig("def write_cell(self, level: int, cell: object, parts: tuple[typing.Any, ...]) -> None"),
           "Stores annotations of a cell.")
      .def("list", list, nb::sig("def list(self) -> list[int]"), "All ids.")
      .def(
          "erase",
          [](const Collection& self, nb::handle given) {
            const std::uint64_t id = id_from(given);
            return call_on(self, [&] { return self.erase(id); });
          },
          nb::arg("id"), nb::sig("def erase(self, id: int) -> bool"), "Erases an object; whether there was one.");
}

}  // namespace sherd::python
