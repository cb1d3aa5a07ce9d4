// The class sherd.neuroglancer.ShardedStore: values by id.
#include "sherd/sharded_store.hpp"

#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "python/columns.hpp"
#include "python/config.hpp"
#include "python/node.hpp"
#include "python/precomputed.hpp"

namespace sherd::python {
namespace {

using neuroglancer::ShardedStore;

std::vector<std::uint64_t> ids_from(nb::handle values) {
  std::vector<std::uint64_t> ids;
  for (const nb::handle value : nb::iter(values)) ids.push_back(id_from(value));
  return ids;
}

nb::object bytes_or_none(const std::optional<std::string>& value) {
  return value ? nb::object(nb::bytes(value->data(), value->size())) : nb::none();
}

/// Makes an engine call on a store; errors name its location.
template <class F>
auto call_on(const ShardedStore& store, F&& run) {
  return call([&] { return in_store(run(), store.url()); });
}

void make_store(ShardedStore* self, nb::handle url, nb::handle sharding, const std::string& mode, nb::handle settings) {
  if (mode != "r" && mode != "r+")
    throw Exception(invalid_argument("mode is \"r\" or \"r+\"; not '" + mode + "'").in_member("mode"));
  neuroglancer::ShardedStoreOptions options;
  options.writable = mode == "r+";
  options.config = config_from(settings);
  const Json json = sharding.is_none() ? Json() : json_from(sharding);
  const std::shared_ptr<Store> store = store_for_handle(url, options.config);
  new (self) ShardedStore(call([&] { return in_store(ShardedStore::open(store, json, options), store->url()); }));
}

nb::list get_many(const ShardedStore& self, nb::handle wanted) {
  const auto ids = ids_from(wanted);
  const auto values = call_on(self, [&] { return self.get_many(ids); });
  nb::list result;
  for (const auto& value : values) result.append(bytes_or_none(value));
  return result;
}

void put_many(const ShardedStore& self, nb::handle given) {
  const nb::object pairs = nb::hasattr(given, "items") ? given.attr("items")() : nb::borrow(given);
  std::vector<std::unique_ptr<BytesView>> views;  // keeps alive what an iterator may create and drop
  std::vector<ShardedStore::Item> items;
  for (const nb::handle pair : nb::iter(pairs)) {
    const std::size_t size = nb::len(pair);
    if (size != 2 && size != 3)
      throw Exception(invalid_argument("an item is (id, bytes) or (id, bytes, preceding), not " + quoted(pair)));
    views.push_back(std::make_unique<BytesView>(pair[1]));
    ShardedStore::Item item{id_from(pair[0]), views.back()->bytes(), {}};
    if (size == 3) {
      views.push_back(std::make_unique<BytesView>(pair[2]));
      item.preceding = views.back()->bytes();
    }
    items.push_back(item);
  }
  call_on(self, [&] { return self.put_many(items); });
}

std::vector<std::uint64_t> ids(const ShardedStore& self) {
  std::vector<std::uint64_t> ids;
  call_on(self, [&] {
    return self.list([&](std::uint64_t id, std::uint64_t) {
      ids.push_back(id);
      return true;
    });
  });
  return ids;
}

nb::tuple reduce_sharded(nb::handle self) {
  const auto& store = nb::cast<const ShardedStore&>(self);
  if (store.url().starts_with("memory:"))
    throw Exception(invalid_argument(
        "a store in memory cannot be pickled, because other processes cannot see it; use a directory"));
  return nb::make_tuple(
      self.type(), nb::make_tuple(store.url().c_str(), json_to(store.sharding()), store.options().writable ? "r+" : "r",
                                  config_to(store.options().config, store.url())));
}

void bind_reading(nb::class_<ShardedStore>& type) {
  type.def(
          "get",
          [](const ShardedStore& self, nb::handle id) {
            const std::uint64_t wanted = id_from(id);
            return bytes_or_none(call_on(self, [&] { return self.get(wanted); }));
          },
          nb::arg("id").none(), nb::sig("def get(self, id: int) -> bytes | None"), "The value of an id, or None.")
      .def("get_many", get_many, nb::arg("ids"),
           nb::sig("def get_many(self, ids: collections.abc.Iterable[int]) -> list[bytes | None]"),
           "The values of many ids, in their order: neighbours are read together, shards in parallel.")
      .def(
          "get_preceding",
          [](const ShardedStore& self, nb::handle id) {
            const std::uint64_t wanted = id_from(id);
            return bytes_or_none(call_on(self, [&] { return self.get_preceding(wanted); }));
          },
          nb::arg("id").none(), nb::sig("def get_preceding(self, id: int) -> bytes | None"),
          "The fragments before the manifest of an id, where `info` says that these are multi-resolution meshes; None "
          "if the manifest does not exist.")
      .def(
          "__contains__",
          [](const ShardedStore& self, nb::handle id) {
            const std::uint64_t wanted = id_from(id);
            return call_on(self, [&] { return self.contains(wanted); });
          },
          nb::arg("id").none(), nb::sig("def __contains__(self, id: object) -> bool"))
      .def("list", ids, nb::sig("def list(self) -> list[int]"),
           "The ids of all values: by shard, inside it by minishard, inside that ascending.");
}

void bind_writing(nb::class_<ShardedStore>& type) {
  type.def(
          "put",
          [](const ShardedStore& self, nb::handle id, nb::handle value, nb::handle preceding) {
            const BytesView view(value);
            const BytesView before(preceding);
            const ShardedStore::Item item{id_from(id), view.bytes(), before.bytes()};
            call_on(self, [&] { return self.put(item); });
          },
          nb::arg("id").none(), nb::arg("value"), nb::arg("preceding") = nb::bytes("", 0),
          nb::sig("def put(self, id: int, value: bytes | bytearray | memoryview, preceding: bytes | bytearray | "
                  "memoryview = b'') -> None"),
          "Stores a value, or replaces the one of this id. An existing shard is appended to and not rewritten, as "
          "long as no more than `max_unused` of it is dead. preceding: of multi-resolution meshes, where `info` says "
          "that they are, the fragments that belong before the manifest.")
      .def("put_many", put_many, nb::arg("items"),
           nb::sig("def put_many(self, items: collections.abc.Mapping[int, bytes] | "
                   "collections.abc.Iterable[tuple[int, bytes] | tuple[int, bytes, bytes]]) -> None"),
           "Stores many values, each id once: one new list for each minishard, shards in parallel. Items are (id, "
           "value) "
           "or (id, value, preceding), as of put.")
      .def(
          "delete",
          [](const ShardedStore& self, nb::handle id) {
            const std::uint64_t wanted = id_from(id);
            return call_on(self, [&] { return self.erase(wanted); });
          },
          nb::arg("id").none(), nb::sig("def delete(self, id: int) -> bool"), "Deletes a value; whether there was one.")
      .def(
          "delete_many",
          [](const ShardedStore& self, nb::handle wanted) {
            const auto ids = ids_from(wanted);
            return call_on(self, [&] { return self.erase_many(ids); });
          },
          nb::arg("ids"), nb::sig("def delete_many(self, ids: collections.abc.Iterable[int]) -> int"),
          "Deletes many values; how many there were.")
      .def(
          "compact",
          [](const ShardedStore& self) {
            const auto compacted = call_on(self, [&] { return self.compact(); });
            nb::dict report;
            report["reclaimed"] = compacted.reclaimed;
            report["shards"] = compacted.shards;
            return report;
          },
          nb::sig("def compact(self) -> dict[str, int]"),
          "Rewrites every shard with dead bytes without them: {'reclaimed': bytes, 'shards': how many}.");
}

}  // namespace

void bind_sharded_store(nb::module_& module) {
  nb::class_<ShardedStore> type(
      module, "ShardedStore",
      "Values by 64-bit id in Neuroglancer's shards, `neuroglancer_uint64_sharded_v1`.\n\n"
      "url: a path, a URL or a Store, the directory of the shards. sharding: the member of that name of an info "
      "document, as a dict; None: as in the `info` document there or in a directory above. mode: \"r\" reads, "
      "\"r+\" writes too. config: settings of this handle, as elsewhere. Source: Neuroglancer's precomputed format.");
  type.def("__init__", make_store, nb::arg("url"), nb::arg("sharding") = nb::none(), nb::arg("mode") = "r",
           nb::arg("config") = nb::none(),
           nb::sig("def __init__(self, url: str | os.PathLike[str] | Store, sharding: collections.abc.Mapping[str, "
                   "typing.Any] | None = None, mode: str = 'r', config: dict[str, typing.Any] | None = None) -> None"));
  bind_reading(type);
  bind_writing(type);
  type.def_prop_ro(
          "url", [](const ShardedStore& self) { return self.url(); }, "Where the shards are.")
      .def_prop_ro(
          "sharding", [](const ShardedStore& self) { return json_to(self.sharding()); },
          "The whole of its sharding, as a dict.", nb::sig("def sharding(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "read_only", [](const ShardedStore& self) { return !self.options().writable; },
          "Whether it refuses to write.")
      .def(
          "close", [](const ShardedStore& self) { finish_at(self.url(), self.options().config); },
          "Finishes what was written: the directory of a zip archive, for example. It can be used afterwards.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> ShardedStore"))
      .def(
          "__exit__", [](const ShardedStore& self, const nb::args&) { finish_at(self.url(), self.options().config); },
          nb::sig("def __exit__(self, *error: object) -> None"))
      .def("__repr__", [](const ShardedStore& self) { return "<sherd.neuroglancer.ShardedStore " + self.url() + ">"; })
      .def("__reduce__", reduce_sharded, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

}  // namespace sherd::python
