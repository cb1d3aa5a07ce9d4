// Writes netCDF datasets for sherd.netcdf, which converts values to arrays of their type, bytes, and lists of str.
#include "sherd/netcdf_writer.hpp"

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

using netcdf::Attribute, netcdf::Type, netcdf::Values, netcdf::Writer;

Type type_from(const std::string& name) {
  const auto type = netcdf::type_called(name);
  if (!type) throw Exception(invalid_argument("netCDF has no type '" + name + "'").in_member("type"));
  return *type;
}

/// The contiguous memory of an object, whose owner must outlive it.
class MemoryView {
 public:
  explicit MemoryView(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  MemoryView(const MemoryView&) = delete;
  MemoryView& operator=(const MemoryView&) = delete;
  ~MemoryView() { PyBuffer_Release(&view_); }
  [[nodiscard]] const void* data() const { return view_.buf; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_ = {};
};

template <class T>
std::vector<T> numbers_from(const MemoryView& memory) {
  std::vector<T> numbers(memory.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), memory.data(), numbers.size() * sizeof(T));
  return numbers;
}

/// Values of a type: a list of bytes for strings, otherwise contiguous memory.
Values values_from(Type type, nb::handle value) {
  if (type == Type::string) {
    std::vector<std::string> texts;
    for (const nb::handle each : value) {
      const MemoryView memory(each);
      texts.emplace_back(static_cast<const char*>(memory.data()), memory.size());
    }
    return texts;
  }
  const MemoryView memory(value);
  Values values = netcdf::default_fill(type);
  std::visit(
      [&](auto& list) {
        using List = std::remove_cvref_t<decltype(list)>;
        if constexpr (std::is_same_v<List, std::string>)
          list.assign(static_cast<const char*>(memory.data()), memory.size());
        else if constexpr (!std::is_same_v<List, std::vector<std::string>>)
          list = numbers_from<typename List::value_type>(memory);
      },
      values);
  return values;
}

/// Converts (name, type, values).
Attribute attribute_from(nb::handle value) {
  const auto name = nb::cast<std::string>(value[0]);
  return {name, values_from(type_from(nb::cast<std::string>(value[1])), value[2])};
}

std::vector<Attribute> attributes_from(nb::handle list) {
  std::vector<Attribute> attributes;
  for (const nb::handle each : list) attributes.push_back(attribute_from(each));
  return attributes;
}

/// Copies the given properties of a new variable, by name.
netcdf::NewVariable variable_from(const nb::dict& options) {
  netcdf::NewVariable made;
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    if (name == "name") made.name = nb::cast<std::string>(value);
    if (name == "type") made.type = type_from(nb::cast<std::string>(value));
    if (name == "dimensions") made.dimensions = nb::cast<std::vector<std::string>>(value);
    if (name == "attributes") made.attributes = attributes_from(value);
    if (name == "chunks") made.chunks = shape_from(value, "chunks");
    if (name == "shards") made.shards = shape_from(value, "shards");
    if (name == "deflate_level") made.deflate_level = nb::cast<int>(value);
    if (name == "shuffle") made.shuffle = nb::cast<bool>(value);
    if (name == "fletcher32") made.fletcher32 = nb::cast<bool>(value);
    if (name == "big_endian") made.big_endian = nb::cast<bool>(value);
    if (name == "no_fill") made.no_fill = nb::cast<bool>(value);
    if (name == "codecs") {
      made.codecs.emplace();
      for (const nb::handle each : value) made.codecs->push_back(json_from(each));
    }
  }
  return made;
}

Writer create_writer(nb::handle store, const nb::dict& options) {
  const auto flag = [&](const char* name) { return nb::cast<bool>(options[name]); };
  netcdf::NewDataset with{.path = nb::cast<std::string>(options["path"]),
                          .format = nb::cast<std::string>(options["format"]),
                          .mode = {flag("pure"), flag("noxarray"), flag("seed")},
                          .attributes = attributes_from(options["attributes"]),
                          .overwrite = flag("overwrite"),
                          .consolidated = flag("consolidated"),
                          .config = config_from(options["config"])};
  if (is_store(store)) {
    const auto opened = store_from(store, with.config);
    return call(*opened, [&] { return Writer::create(opened, with); });
  }
  const auto url = nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(store));
  return call([&] { return Writer::create(url, with); });
}

Writer open_writer(nb::handle store, const nb::dict& options) {
  const auto flag = [&](const char* name) { return nb::cast<bool>(options[name]); };
  netcdf::OpenOptions with{.path = nb::cast<std::string>(options["path"]),
                           .mode = {flag("pure"), flag("noxarray"), flag("seed")},
                           .config = config_from(options["config"])};
  if (is_store(store)) {
    const auto opened = store_from(store, with.config);
    return call(*opened, [&] { return Writer::open(opened, with); });
  }
  const auto url = nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(store));
  return call([&] { return Writer::open(url, with); });
}

void write_box(Writer& self, const std::string& variable, const std::vector<std::uint64_t>& origin,
               const std::vector<std::uint64_t>& shape, const std::string& type, nb::handle given) {
  const Box box{origin, shape};
  if (type_from(type) == Type::string) {
    const Values values = values_from(Type::string, given);
    call([&] { return self.write(variable, box, values); });
  } else {
    const MemoryView memory(given);
    const std::span elements(static_cast<const std::byte*>(memory.data()), memory.size());
    call([&] { return self.write(variable, box, elements); });
  }
}

auto renamed(Result<void> (Writer::*rename)(std::string_view, const std::string&)) {
  return [rename](Writer& self, const std::string& path, const std::string& to) {
    call([&] { return (self.*rename)(path, to); });
  };
}

void bind_definitions(nb::class_<Writer>& writer) {
  writer
      .def(
          "define_group",
          [](Writer& self, const std::string& path, nb::handle attributes) {
            const auto given = attributes_from(attributes);
            call([&] { return self.define_group(path, given); });
          },
          nb::arg("path"), nb::arg("attributes"))
      .def(
          "define_dimension",
          [](Writer& self, const std::string& group, const std::string& name, std::uint64_t length, bool unlimited) {
            call([&] { return self.define_dimension(group, name, length, unlimited); });
          },
          nb::arg("group"), nb::arg("name"), nb::arg("length"), nb::arg("unlimited"))
      .def(
          "define_variable",
          [](Writer& self, const std::string& group, const nb::dict& options) {
            const auto variable = variable_from(options);
            call([&] { return self.define_variable(group, variable); });
          },
          nb::arg("group"), nb::arg("options"))
      .def(
          "set_attribute",
          [](Writer& self, const std::string& path, nb::handle attribute) {
            const Attribute given = attribute_from(attribute);
            call([&] { return self.set_attribute(path, given); });
          },
          nb::arg("path"), nb::arg("attribute"));
}

void bind_renames(nb::class_<Writer>& writer) {
  writer.def("rename_dimension", renamed(&Writer::rename_dimension), nb::arg("path"), nb::arg("to"))
      .def("rename_variable", renamed(&Writer::rename_variable), nb::arg("path"), nb::arg("to"))
      .def("rename_group", renamed(&Writer::rename_group), nb::arg("path"), nb::arg("to"))
      .def(
          "rename_attribute",
          [](Writer& self, const std::string& path, const std::string& name, const std::string& to) {
            call([&] { return self.rename_attribute(path, name, to); });
          },
          nb::arg("path"), nb::arg("name"), nb::arg("to"));
}

}  // namespace

void bind_netcdf_writer(nb::module_& module) {
  nb::class_<Writer> writer(module, "NetcdfWriter", "Defines and writes a dataset.");
  bind_definitions(writer);
  bind_renames(writer);
  writer
      .def(
          "shape",
          [](const Writer& self, const std::string& variable) {
            return to_tuple(call([&] { return self.shape(variable); }));
          },
          nb::arg("variable"), nb::sig("def shape(self, variable: str) -> tuple[int, ...]"))
      .def("write", write_box, nb::arg("variable"), nb::arg("origin"), nb::arg("shape"), nb::arg("type"),
           nb::arg("values"),
           nb::sig("def write(self, variable: str, origin: collections.abc.Sequence[int],"
                   " shape: collections.abc.Sequence[int], type: str, values: typing.Any) -> None"))
      .def("losses",
           [](const Writer& self) {
             const WithoutGil released;  // another thread may wait for the interpreter in sync()
             return self.losses();
           })
      .def_prop_ro("opened", [](const Writer& self) { return self.opened(); })
      .def("discard", [](Writer& self) { call([&] { return self.discard(); }); })
      .def("sync", [](Writer& self) { call([&] { return self.sync(); }); });
  module.def("netcdf_create", create_writer, nb::arg("store"), nb::arg("options"),
             nb::sig("def netcdf_create(store: typing.Any, options: dict[str, typing.Any]) -> NetcdfWriter"));
  module.def("netcdf_edit", open_writer, nb::arg("store"), nb::arg("options"),
             nb::sig("def netcdf_edit(store: typing.Any, options: dict[str, typing.Any]) -> NetcdfWriter"));
  module.def(
      "netcdf_default_fill",
      [](const std::string& type) -> nb::object {
        return std::visit(
            [](const auto& list) -> nb::object {
              using List = std::remove_cvref_t<decltype(list)>;
              if constexpr (std::is_same_v<List, std::string>)
                return nb::bytes(list.data(), list.size());
              else
                return nb::cast(list.front());
            },
            netcdf::default_fill(type_from(type)));
      },
      nb::arg("type"), "What elements of a type are that were never written.",
      nb::sig("def netcdf_default_fill(type: str) -> int | float | str | bytes"));
}

}  // namespace sherd::python
