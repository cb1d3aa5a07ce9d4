// netCDF datasets for sherd.netcdf: handles, and values as NumPy arrays, str and bytes.
#include "sherd/netcdf.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "python/bindings.hpp"
#include "python/config.hpp"
#include "python/json.hpp"
#include "python/node.hpp"
#include "python/numpy.hpp"

namespace sherd::python {
namespace {

using netcdf::Dataset, netcdf::Values, netcdf::Variable;

nb::object text_to(const std::string& text) {
  // Bytes that are not UTF-8 become surrogates, as in file names.
  PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

/// nullopt for a text with lone surrogates, which is not the name of any node.
std::optional<std::string_view> utf8(const nb::str& text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data != nullptr) return std::string_view(data, static_cast<std::size_t>(size));
  PyErr_Clear();
  return std::nullopt;
}

/// An ndarray of a shape; characters have the type S1, strings are objects.
nb::object array_to(const Values& values, const Shape& shape) {
  return std::visit(
      [&](const auto& list) -> nb::object {
        using List = std::remove_cvref_t<decltype(list)>;
        if constexpr (std::is_same_v<List, std::vector<std::string>>) {
          const nb::object array = numpy().module.attr("empty")(to_tuple(shape), numpy().object_dtype);
          const nb::object flat = array.attr("reshape")(-1);
          for (std::size_t i = 0; i < list.size(); ++i) flat[i] = text_to(list[i]);
          return array;
        } else {
          const bool characters = std::is_same_v<List, std::string>;
          const DType dtype = characters ? DType::uint8 : DType::of<typename List::value_type>();
          const NewArray made = new_array(shape, dtype, numpy_dtype(dtype), Order::c);
          if (!list.empty()) std::memcpy(made.data, list.data(), list.size() * sizeof(typename List::value_type));
          return characters ? made.array.attr("view")("S1") : made.array;
        }
      },
      values);
}

/// Characters become a str; a single value a NumPy scalar or a str; several values an array or a list.
nb::object attribute_to(const Values& values) {
  if (const auto* text = std::get_if<std::string>(&values)) return text_to(*text);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&values)) {
    if (texts->size() == 1) return text_to(texts->front());
    nb::list list;
    for (const std::string& text : *texts) list.append(text_to(text));
    return list;
  }
  const nb::object array = array_to(values, Shape{netcdf::size_of(values)});
  return netcdf::size_of(values) == 1 ? nb::object(array[0]) : array;
}

nb::dict attributes_to(const std::vector<netcdf::Attribute>& attributes) {
  nb::dict all;
  for (const auto& each : attributes) all[text_to(each.name)] = attribute_to(each.values);
  return all;
}

nb::dict types_to(const std::vector<netcdf::Attribute>& attributes) {
  nb::dict all;
  for (const auto& each : attributes)
    all[text_to(each.name)] = text_to(std::string(to_string(netcdf::type_of(each.values))));
  return all;
}

/// Characters are passed as bytes.
DType dtype_of(netcdf::Type type) {
  return std::visit(
      [](const auto& list) {
        using Value = typename std::remove_cvref_t<decltype(list)>::value_type;
        if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, char>) return DType::of<Value>();
        return DType(DType::uint8);
      },
      netcdf::default_fill(type));
}

nb::object read(const Variable& self, const std::vector<std::uint64_t>& origin,
                const std::vector<std::uint64_t>& shape) {
  const Box box{origin, shape};
  const auto run = [&](const auto& reading) {
    return self.has_array() ? call(*self.array().store(), reading) : call(reading);
  };
  if (self.type() == netcdf::Type::string) return array_to(run([&] { return self.read(box); }), shape);
  const DType dtype = dtype_of(self.type());
  const NewArray made = new_array(shape, dtype, numpy_dtype(dtype), Order::c);
  run([&] { return self.read(box, {made.data, byte_count(shape, dtype)}); });
  return self.type() == netcdf::Type::character ? made.array.attr("view")("S1") : made.array;
}

Dataset open(nb::handle store, const netcdf::OpenOptions& options) {
  if (is_store(store)) {
    const auto opened = store_from(store, options.config);
    return call(*opened, [&] { return Dataset::open(opened, options); });
  }
  const nb::object text = nb::module_::import_("os").attr("fspath")(store);
  const auto url = nb::cast<std::string>(text);
  return call([&] { return Dataset::open(url, options); });
}

void bind_variable(nb::module_& module) {
  nb::class_<netcdf::Dimension>(module, "NetcdfDimension", "A dimension, known in its group and all groups below.")
      .def_ro("name", &netcdf::Dimension::name)
      .def_ro("group", &netcdf::Dimension::group, "The path of its group.")
      .def_ro("length", &netcdf::Dimension::length)
      .def_ro("unlimited", &netcdf::Dimension::unlimited)
      .def_ro("anonymous", &netcdf::Dimension::anonymous, "Whether it was made up for a length that has no name.")
      .def_prop_ro("full_name", &netcdf::Dimension::full_name)
      .def(
          "__len__", [](const netcdf::Dimension& self) { return self.length; },
          "An OverflowError from 2**63 on, as for every len(); `length` has no bound.")
      .def("__bool__", [](const netcdf::Dimension&) { return true; })  // also if its length is 0
      .def("__repr__", [](const netcdf::Dimension& self) {
        return "<sherd.netcdf.Dimension " + self.full_name() + " = " + std::to_string(self.length) +
               (self.unlimited ? ", unlimited>" : ">");
      });
  nb::class_<Variable>(module, "NetcdfVariable", "A variable of a dataset.")
      .def_prop_ro("name", [](const Variable& self) { return self.name(); })
      .def_prop_ro("full_name", &Variable::full_name)
      .def_prop_ro("type", [](const Variable& self) { return std::string(to_string(self.type())); })
      .def_prop_ro("dimensions", [](const Variable& self) { return self.dimensions(); })
      .def_prop_ro(
          "shape", [](const Variable& self) { return to_tuple(self.shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "attributes", [](const Variable& self) { return attributes_to(self.attributes()); },
          nb::sig("def attributes(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "attribute_types", [](const Variable& self) { return types_to(self.attributes()); },
          nb::sig("def attribute_types(self) -> dict[str, str]"))
      .def_prop_ro(
          "array",
          [](const Variable& self) { return self.has_array() ? node_to(Node(self.array())) : nb::object(nb::none()); },
          nb::sig("def array(self) -> typing.Any"))
      .def_prop_ro(
          "chunks", [](const Variable& self) { return to_tuple(self.storage().chunks); },
          nb::sig("def chunks(self) -> tuple[int, ...]"),
          "Empty for scalars, and in files for variables without chunks.")
      .def_prop_ro("no_fill", [](const Variable& self) { return self.storage().no_fill; })
      .def("read", read, nb::arg("origin"), nb::arg("shape"),
           nb::sig("def read(self, origin: collections.abc.Sequence[int], shape: collections.abc.Sequence[int])"
                   " -> typing.Any"));
}

void bind_netcdf_group(nb::module_& module) {
  nb::class_<netcdf::Group>(module, "NetcdfGroup", "A group of a dataset.")
      .def_prop_ro("name", [](const netcdf::Group& self) { return self.name(); })
      .def_prop_ro("path", [](const netcdf::Group& self) { return self.path(); })
      .def_prop_ro("dimensions", [](const netcdf::Group& self) { return self.dimensions(); })
      .def_prop_ro(
          "attributes", [](const netcdf::Group& self) { return attributes_to(self.attributes()); },
          nb::sig("def attributes(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "attribute_types", [](const netcdf::Group& self) { return types_to(self.attributes()); },
          nb::sig("def attribute_types(self) -> dict[str, str]"))
      .def_prop_ro(
          "stored_attributes", [](const netcdf::Group& self) { return json_to(self.stored_attributes()); },
          nb::sig("def stored_attributes(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "other_arrays",
          [](const netcdf::Group& self) {
            nb::list arrays;
            for (const Array& each : self.other_arrays()) arrays.append(node_to(Node(each)));
            return arrays;
          },
          nb::sig("def other_arrays(self) -> list[typing.Any]"))
      .def_prop_ro("variables", &netcdf::Group::variables)
      .def_prop_ro("groups", &netcdf::Group::groups)
      .def(
          "other_array",
          [](const netcdf::Group& self, nb::str name) {
            const auto text = utf8(name);
            for (const Array& each : self.other_arrays())
              if (const std::string_view path = each.path(); path.substr(path.rfind('/') + 1) == text)
                return node_to(Node(each));
            return nb::object(nb::none());
          },
          nb::arg("name"), nb::sig("def other_array(self, name: str) -> typing.Any"))
      .def(
          "variable",
          [](const netcdf::Group& self, nb::str path) {
            const auto text = utf8(path);
            return text ? self.variable(*text) : std::nullopt;
          },
          nb::arg("path"))
      .def(
          "group",
          [](const netcdf::Group& self, nb::str path) {
            const auto text = utf8(path);
            return text ? self.group(*text) : std::nullopt;
          },
          nb::arg("path"));
}

}  // namespace

void bind_netcdf(nb::module_& module) {
  bind_variable(module);
  bind_netcdf_group(module);
  nb::class_<Dataset>(module, "NetcdfDataset", "A dataset as it was when it was opened.")
      .def_prop_ro("root", &Dataset::root)
      .def_prop_ro("url", &Dataset::url)
      .def_prop_ro("format", [](const Dataset& self) { return std::string(self.format()); })
      .def_prop_ro("kind", [](const Dataset& self) { return std::string(self.kind()); })
      .def_prop_ro("generation", [](const Dataset& self) { return std::string(to_string(self.generation())); })
      .def_prop_ro("properties", [](const Dataset& self) { return self.properties(); })
      .def_prop_ro("warnings", [](const Dataset& self) { return self.warnings(); })
      .def_prop_ro(
          "unread",
          [](const Dataset& self) {
            nb::dict parts;
            for (const netcdf::Unread& each : self.unread()) parts[text_to(each.path)] = text_to(each.error.text());
            return parts;
          },
          nb::sig("def unread(self) -> dict[str, str]"));
  module.def(
      "netcdf_open",
      [](nb::handle store, const std::string& path, const std::string& format, bool pure, bool noxarray, bool seed,
         bool consolidated, nb::handle settings) {
        return open(store, {.path = path,
                            .mode = {pure, noxarray, seed},
                            .config = config_from(settings),
                            .consolidated = consolidated,
                            .format = format});
      },
      nb::arg("store"), nb::arg("path"), nb::arg("format"), nb::arg("pure"), nb::arg("noxarray"), nb::arg("seed"),
      nb::arg("consolidated"), nb::arg("config").none(),
      nb::sig("def netcdf_open(store: typing.Any, path: str, format: str, pure: bool, noxarray: bool, seed: bool,"
              " consolidated: bool, config: typing.Any) -> NetcdfDataset"));
  module.def(
      "netcdf_dump",
      [](const Dataset& dataset, bool header_only) {
        std::string text;
        call([&] {
          return netcdf::dump(dataset, {.header_only = header_only}, [&](std::string_view part) -> Result<void> {
            text += part;
            return {};
          });
        });
        return text_to(text);
      },
      nb::arg("dataset"), nb::arg("header_only"),
      nb::sig("def netcdf_dump(dataset: NetcdfDataset, header_only: bool) -> str"));
}

}  // namespace sherd::python
