// The classes sherd.Store and sherd.MemoryStore: bytes by key, and what a `store` argument may be.

#include "python/node.hpp"

namespace sherd::python {
namespace {

struct BoundStore {
  std::shared_ptr<Store> store;
};
struct BoundMemoryStore : BoundStore {};

nb::object get(const BoundStore& self, const std::string& key) {
  const auto value = call(*self.store, [&] { return self.store->get(key); });
  return value ? nb::object(nb::bytes(value->data(), value->size())) : nb::none();
}

void set(const BoundStore& self, const std::string& key, const nb::bytes& value) {
  const std::string_view text(value.c_str(), value.size());
  call(*self.store, [&] { return self.store->set(key, text); });
}

nb::list keys(const BoundStore& self, const std::string& prefix) {
  std::vector<std::string> found;
  call(*self.store, [&] {
    return self.store->list(prefix, [&](const std::string& key, std::uint64_t) {
      found.push_back(key);
      return true;
    });
  });
  nb::list names;
  for (const std::string& key : found) names.append(nb::str(key.data(), key.size()));
  return names;
}

nb::tuple reduce_store(nb::handle self) {
  const std::string& url = nb::cast<const BoundStore&>(self).store->url();
  if (url.starts_with("memory:"))
    throw Exception(invalid_argument("a memory store cannot be pickled: another process does not see it"));
  return nb::make_tuple(self.type(), nb::make_tuple(url.c_str()));
}

/// A path or URL, or an os.PathLike, as bytes, as the file system has it.
std::string url_from(nb::handle value) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(value.ptr(), &bytes) == 0) throw nb::python_error();
  const nb::object owner = nb::steal(bytes);
  return {PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}

}  // namespace

bool is_store(nb::handle value) { return nb::isinstance<BoundStore>(value); }

nb::object store_to(std::shared_ptr<Store> store) {
  if (store->url().starts_with("memory:")) return nb::cast(BoundMemoryStore{{std::move(store)}});
  return nb::cast(BoundStore{std::move(store)});
}

std::shared_ptr<Store> store_from(nb::handle value, const Config& config) {
  if (is_store(value)) return nb::cast<const BoundStore&>(value).store;
  const std::string url = url_from(value);
  return call([&] { return open_store(url, config); });
}

void bind_store(nb::module_& module) {
  nb::class_<BoundStore>(
      module, "Store",
      "Bytes by key: what arrays and groups are stored in. Any `store` argument also accepts a path or URL.")
      .def(
          "__init__",
          [](BoundStore* self, nb::handle url) { new (self) BoundStore{store_from(url, config_from(nb::none()))}; },
          nb::arg("url"), nb::sig("def __init__(self, url: str | os.PathLike[str]) -> None"))
      .def_prop_ro(
          "url", [](const BoundStore& self) { return self.store->url(); }, "How a user would name it.")
      .def("get", get, nb::arg("key"), nb::sig("def get(self, key: str) -> bytes | None"), "The whole object, or None.")
      .def("set", set, nb::arg("key"), nb::arg("value"), "Replaces the whole object, all at once.")
      .def(
          "erase",
          [](const BoundStore& self, const std::string& key) {
            return call(*self.store, [&] { return self.store->erase(key); });
          },
          nb::arg("key"), "Erases an object; whether there was one.")
      .def("keys", keys, nb::arg("prefix") = "", nb::sig("def keys(self, prefix: str = '') -> list[str]"),
           "The keys of all objects below a prefix, which ends in '/' or is empty.")
      .def("__repr__", [](const BoundStore& self) { return "<sherd.Store " + self.store->url() + ">"; })
      .def("__reduce__", reduce_store, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  nb::class_<BoundMemoryStore, BoundStore>(module, "MemoryStore", "An empty store in this process's memory.")
      .def("__init__", [](BoundMemoryStore* self) { new (self) BoundMemoryStore{{memory_store()}}; });
}

}  // namespace sherd::python
