// Groups and opening nodes, called by sherd._nodes and sherd._group.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "array/nodes.hpp"
#include "format/hidden_group.hpp"
#include "neuroglancer/create.hpp"
#include "node/document.hpp"
#include "python/appender.hpp"
#include "python/json.hpp"
#include "python/node.hpp"
#include "sherd/collection.hpp"
#include "sherd/precomputed.hpp"

namespace sherd::python {
namespace {

// A URL may name a node inside a hierarchy whose root is above it.
Node open_node(nb::handle store, OpenOptions options) {
  const std::shared_ptr<Store> opened = store_for_handle(store, options.config);
  const std::optional<std::string> name = name_from(store);
  return call(*opened, [&] { return name ? open(*name, options) : open(opened, options); });
}

Array open_array_node(nb::handle store, OpenOptions options) {
  const std::shared_ptr<Store> opened = store_for_handle(store, options.config);
  const std::optional<std::string> name = name_from(store);
  return call(*opened, [&] { return name ? open_array(*name, options) : open_array(opened, options); });
}

nb::list members(const Group& self) {
  nb::list list;
  for (const auto& [name, type] : call(*self.store(), [&] { return self.members(); }))
    list.append(nb::make_tuple(nb::str(name.data(), name.size()), type == NodeType::array   ? "array"
                                                                  : type == NodeType::group ? "group"
                                                                                            : "unknown"));
  return list;
}

// None if it cannot be opened; opening it again raises the error.
nb::list open_all(const Group& self, nb::handle given) {
  std::vector<std::string> names;
  for (const nb::handle name : nb::object(nb::borrow(given))) names.push_back(text_of(name, "a member's name"));
  std::vector<std::optional<Node>> nodes(names.size());
  call(*self.store(), [&] {
    return self.open_all(names, [&](std::size_t i, Result<Node> node) -> Result<void> {
      if (node) nodes[i] = *std::move(node);
      return {};
    });
  });
  nb::list list;
  for (auto& node : nodes) list.append(node ? node_to(*std::move(node)) : nb::none());
  return list;
}

/// The name and kind of each collection in a volume's directory.
nb::list collections(const Group& self) {
  const auto found =
      call([&] { return Result<std::vector<neuroglancer::VolumeCollection>>(neuroglancer::collections_in(self)); });
  nb::list list;
  for (const auto& [name, kind] : found)
    list.append(nb::make_tuple(nb::str(name.data(), name.size()), nb::str(kind.data(), kind.size())));
  return list;
}

std::optional<std::string> hidden(const Group& self) {
  return call(*self.store(), [&] { return hidden_group(location_of(self), self.metadata()); });
}

/// A stream of several arrays, given by their names, handles and axes. Python owns it.
BoundAppender* appender(const Group& self, const nb::list& arrays, nb::handle technique, nb::handle queue_bytes,
                        nb::handle threads, bool auto_flush) {
  AppenderOptions options = appender_options(technique, queue_bytes, threads);
  options.auto_flush = auto_flush;
  std::vector<NamedArray> named;
  for (const nb::handle each : arrays)
    named.push_back({nb::cast<std::string>(each[0]), nb::cast<BoundArray>(each[1]), nb::cast<std::size_t>(each[2])});
  return new BoundAppender(self, std::move(named), options);
}

void bind_group_changes(nb::class_<Group>& type) {
  type.def("erase", [](Group& self, const std::string& path) { call(*self.store(), [&] { return self.erase(path); }); })
      .def("move", [](Group& self, const std::string& path,
                      const std::string& to) { call(*self.store(), [&] { return self.move(path, to); }); })
      .def(
          "create_group",
          [](Group& self, const std::string& path, nb::handle attributes, bool overwrite) {
            const Json json = json_from(attributes);
            return call(*self.store(), [&] { return self.create_group(path, json, overwrite); });
          },
          nb::arg("path"), nb::arg("attributes").none(), nb::arg("overwrite"))
      .def(
          "create_array",
          [](Group& self, const std::string& path, const nb::dict& options) {
            const CreateOptions wanted = create_options(options, self.config());
            return BoundArray(call(*self.store(), [&] { return self.create_array(path, wanted); }));
          },
          nb::sig("def create_array(self, path: str, options: dict[str, typing.Any]) -> Array"))
      .def("appender", appender, nb::arg("arrays"), nb::arg("technique").none(), nb::arg("queue_bytes").none(),
           nb::arg("threads").none(), nb::arg("auto_flush"),
           nb::sig(
               "def appender(self, arrays: list[tuple[str, Array, int]], technique: int | str, queue_bytes: int | str "
               "| None, threads: int | None, auto_flush: bool) -> Appender"))
      .def("finish", [](Group& self) { call(*self.store(), [&] { return self.finish(); }); })
      .def("consolidate", [](Group& self) { call(*self.store(), [&] { return self.consolidate(); }); })
      .def(
          "__reduce__", [](const Group& self) { return reduce(self); },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

void bind_group_class(nb::module_& module) {
  nb::class_<Group> type(module, "GroupHandle", "The implementation of sherd.Group.");
  type.def_prop_ro("path", [](const Group& self) { return self.path(); })
      .def_prop_ro("url", &Group::url)
      .def_prop_ro(
          "store", [](const Group& self) { return store_to(self.store(), self.config()); },
          nb::sig("def store(self) -> Store"))
      .def_prop_ro("format", [](const Group& self) { return std::string(self.format()); })
      .def_prop_ro("read_only", &Group::read_only)
      .def_prop_ro(
          "metadata", [](const Group& self) { return json_to(self.metadata()); },
          nb::sig("def metadata(self) -> dict[str, typing.Any]"))
      .def("hidden", hidden, "What to do if this group hides one of Zarr v2.",
           nb::sig("def hidden(self) -> str | None"))
      .def("_attributes", [](const Group& self) { return json_to(stored_attributes(self)); })
      .def("_set_attributes",
           [](Group& self, nb::handle attributes) {
             const Json json = json_from(attributes, NonFinite::bare);
             call(*self.store(), [&] { return self.set_attributes(json); });
           })
      .def("_update_attributes",
           [](Group& self, nb::handle changes) {
             const Json json = json_from(changes, NonFinite::bare);
             call(*self.store(), [&] { return self.update_attributes(json); });
           })
      .def("_remove_attribute",
           [](Group& self, nb::handle given) {
             const std::string name = text_of(given, "an attribute's name");
             return call(*self.store(), [&] { return self.update_attributes(Json(Json::Object{}), {&name, 1}); }) == 1;
           })
      .def("members", members, nb::sig("def members(self) -> list[tuple[str, str]]"))
      .def("collections", collections, nb::sig("def collections(self) -> list[tuple[str, str]]"))
      .def("open",
           [](const Group& self, const std::string& path) {
             return node_to(call(*self.store(), [&] { return self.open(path); }));
           })
      .def("open_all", open_all, nb::sig("def open_all(self, names: list[str]) -> list[Array | GroupHandle | None]"))
      .def("contains", [](const Group& self, const std::string& path) {
        return call(*self.store(), [&] { return self.contains(path); });
      });
  bind_group_changes(type);
}

void bind_openers(nb::module_& module) {
  module.def(
      "open_node",
      [](nb::handle store, const std::string& path, bool writable, const std::string& format, nb::handle settings) {
        return node_to(
            open_node(store, {.path = path, .writable = writable, .format = format, .config = config_from(settings)}));
      },
      nb::arg("store"), nb::arg("path"), nb::arg("writable"), nb::arg("format"), nb::arg("config").none(),
      "Opens the node at a path.");
  module.def(
      "open_array",
      [](nb::handle store, const std::string& path, bool writable, const std::string& format, nb::handle settings,
         std::uint64_t scale) {
        return BoundArray(open_array_node(
            store,
            {.path = path, .writable = writable, .format = format, .config = config_from(settings), .scale = scale}));
      },
      nb::arg("store"), nb::arg("path"), nb::arg("writable"), nb::arg("format"), nb::arg("config").none(),
      nb::arg("scale"), "Opens the array at a path, or that of a scale of the volume there.");
  module.def(
      "open_scale",
      [](nb::handle store, const std::string& path, bool writable, nb::handle settings, const nb::tuple& numbers) {
        OpenOptions options{.path = path, .writable = writable, .config = config_from(settings)};
        const std::array<double, 3> resolution{nb::cast<double>(numbers[0]), nb::cast<double>(numbers[1]),
                                               nb::cast<double>(numbers[2])};
        const std::shared_ptr<Store> opened = store_for_handle(store, options.config);
        const std::optional<std::string> name = name_from(store);
        return BoundArray(call(*opened, [&] {
          return name ? neuroglancer::open_scale(*name, resolution, options)
                      : neuroglancer::open_scale(opened, resolution, options);
        }));
      },
      nb::arg("store"), nb::arg("path"), nb::arg("writable"), nb::arg("config").none(), nb::arg("resolution"),
      nb::sig("def open_scale(store: object, path: str, writable: bool, config: object | None, resolution: "
              "tuple[float, float, float]) -> Array"),
      "Opens the scale of a volume by its resolution.");
}

nb::dict links_to(const neuroglancer::VolumeLinks& links) {
  nb::dict dict;
  if (links.mesh) dict["mesh"] = *links.mesh;
  if (links.skeletons) dict["skeletons"] = *links.skeletons;
  if (links.segment_properties) dict["segment_properties"] = *links.segment_properties;
  return dict;
}

neuroglancer::VolumeLinks links_from(const nb::dict& given) {
  const auto path = [&](const char* member) {
    return given.contains(member) ? std::optional(text_of(given[member], member)) : std::nullopt;
  };
  return {.mesh = path("mesh"), .skeletons = path("skeletons"), .segment_properties = path("segment_properties")};
}

void bind_volumes(nb::module_& module) {
  module.def(
      "create_precomputed",
      [](nb::handle store, const std::string& path, nb::handle info, bool overwrite, nb::handle settings) {
        const Json json = json_from(info);
        const neuroglancer::NewVolume options{.overwrite = overwrite, .config = config_from(settings)};
        const std::shared_ptr<Store> opened = store_from(store, options.config);
        return BoundArray(call(*opened, [&]() -> Result<Array> {
          auto parsed = neuroglancer::parse_given_info(json);
          if (!parsed) return std::move(parsed).error();
          return neuroglancer::create_precomputed(opened, path, *parsed, options);
        }));
      },
      nb::arg("store"), nb::arg("path"), nb::arg("info"), nb::arg("overwrite"), nb::arg("config").none(),
      "Creates a volume from its info document.");
  module.def(
      "volume_links",
      [](nb::handle store, const std::string& path, nb::handle settings) {
        const Config config = config_from(settings);
        const std::shared_ptr<Store> opened = store_from(store, config);
        return links_to(call(*opened, [&] { return neuroglancer::volume_links(opened, path, config); }));
      },
      nb::arg("store"), nb::arg("path"), nb::arg("config").none(),
      nb::sig("def volume_links(store: object, path: str, config: object | None) -> dict[str, str]"),
      "The collections to which a volume refers.");
  module.def(
      "link_collections",
      [](nb::handle store, const std::string& path, const nb::dict& given, nb::handle settings) {
        const Config config = config_from(settings);
        const neuroglancer::VolumeLinks links = links_from(given);
        const std::shared_ptr<Store> opened = store_from(store, config);
        return links_to(call(*opened, [&] { return neuroglancer::link_collections(opened, path, links, config); }));
      },
      nb::arg("store"), nb::arg("path"), nb::arg("links"), nb::arg("config").none(),
      nb::sig("def link_collections(store: object, path: str, links: dict[str, str], config: object | None) -> "
              "dict[str, str]"),
      "Makes a volume refer to collections; an empty path removes a reference.");
}

void bind_creators(nb::module_& module) {
  module.def(
      "create_group",
      [](nb::handle store, const std::string& path, nb::handle attributes, bool overwrite, const std::string& format,
         nb::handle settings) {
        const Config config = config_from(settings);
        const Json json = json_from(attributes);
        const std::shared_ptr<Store> opened = store_from(store, config);
        const std::optional<std::string> name = path.empty() ? name_from(store) : std::nullopt;
        return call(*opened, [&] {
          return name ? create_group(*name, json, overwrite, config, format)
                      : create_group(opened, path, json, overwrite, config, format);
        });
      },
      nb::arg("store"), nb::arg("path"), nb::arg("attributes").none(), nb::arg("overwrite"), nb::arg("format"),
      nb::arg("config").none(), "Creates a group.");
  module.def(
      "create_array",
      [](nb::handle store, const std::string& path, const nb::dict& options) {
        const CreateOptions wanted = create_options(options, config_from(nb::none()));
        const std::shared_ptr<Store> opened = store_from(store, wanted.config);
        const std::optional<std::string> name = path.empty() ? name_from(store) : std::nullopt;
        return BoundArray(
            call(*opened, [&] { return name ? create_array(*name, wanted) : create_array(opened, path, wanted); }));
      },
      nb::arg("store"), nb::arg("path"), nb::arg("options"),
      nb::sig("def create_array(store: object, path: str, options: dict[str, typing.Any]) -> Array"),
      "Creates an array from the options of sherd._options.");
}

}  // namespace

nb::object node_to(Node node) {
  if (auto* array = std::get_if<Array>(&node)) return nb::cast(BoundArray(std::move(*array)));
  return nb::cast(std::get<Group>(std::move(node)));
}

void bind_group(nb::module_& module) {
  bind_group_class(module);
  bind_openers(module);
  bind_creators(module);
  bind_volumes(module);
}

}  // namespace sherd::python
