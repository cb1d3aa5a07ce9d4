// The classes sherd.Store and sherd.MemoryStore: bytes by key. Also which values a `store` argument accepts.
#include <nanobind/stl/optional.h>

#include <algorithm>

#include "api/registry.hpp"
#include "base/try.hpp"
#include "python/node.hpp"
#include "store/archive_of.hpp"

namespace sherd::python {
namespace {

struct BoundStore {
  std::shared_ptr<Store> store;
  Config config = {};  ///< with which it was opened
};
struct BoundMemoryStore : BoundStore {};

/// A range of an object, cut off where the object ends; a negative offset counts from its end.
Result<std::optional<std::string>> read_range(Store& store, const std::string& key, std::int64_t offset,
                                              std::uint64_t length) {
  SHERD_TRY(source, store.open(key));
  if (source == nullptr) return std::optional<std::string>();
  SHERD_TRY(size, source->size());
  const std::uint64_t distance =
      offset < 0 ? 0 - static_cast<std::uint64_t>(offset) : static_cast<std::uint64_t>(offset);
  const std::uint64_t begin = offset < 0 ? size - std::min(size, distance) : std::min(size, distance);
  std::string bytes(std::min(length, size - begin), '\0');
  const RangeRead range{begin, {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()}};
  if (!bytes.empty()) SHERD_TRY(source->read({&range, 1}).in_key(key));
  return std::optional(std::move(bytes));
}

nb::object get_object(const BoundStore& self, const std::string& key, std::int64_t offset,
                      std::optional<std::uint64_t> length) {
  const auto value = call(*self.store, [&]() -> Result<std::optional<std::string>> {
    if (offset == 0 && !length) return self.store->get(key);
    return read_range(*self.store, key, offset, length.value_or(~std::uint64_t{0}));
  });
  return value ? nb::object(nb::bytes(value->data(), value->size())) : nb::none();
}

std::optional<std::uint64_t> size(const BoundStore& self, const std::string& key) {
  return call(*self.store, [&]() -> Result<std::optional<std::uint64_t>> {
    SHERD_TRY(source, self.store->open(key));
    if (source == nullptr) return std::optional<std::uint64_t>();
    SHERD_TRY(bytes, source->size());
    return std::optional(bytes);
  });
}

nb::list child_names(const BoundStore& self, const std::string& prefix) {
  const Listing found = call(*self.store, [&] { return self.store->list_dir(prefix); });
  nb::list names;
  for (const Listing::Object& object : found.objects) names.append(nb::str(object.name.data(), object.name.size()));
  for (const std::string& name : found.prefixes) names.append(nb::str((name + "/").c_str(), name.size() + 1));
  return names;
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
  return strings_to(found);
}

nb::tuple reduce_store(nb::handle self) {
  const std::string& url = nb::cast<const BoundStore&>(self).store->url();
  if (url.starts_with("memory:"))
    throw Exception(
        invalid_argument("a memory store cannot be pickled, because other processes cannot see it; use a directory"));
  const nb::object reopen = nb::module_::import_("sherd._nodes").attr("reopen_store");
  const BoundStore& bound = nb::cast<const BoundStore&>(self);
  return nb::make_tuple(reopen, nb::make_tuple(url_in_pickle(*bound.store).c_str(), config_to(bound.config, url)));
}

/// A path or URL, or an os.PathLike, as the bytes that the file system uses.
std::string url_from(nb::handle value) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(value.ptr(), &bytes) == 0) throw nb::python_error();
  const nb::object owner = nb::steal(bytes);
  return {PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}

}  // namespace

std::string url_in_pickle(const Store& store) {
  return has_hidden_query(store) ? with_hidden_query(store.url()) : store.url();
}

bool is_store(nb::handle value) { return nb::isinstance<BoundStore>(value); }

std::optional<std::string> name_from(nb::handle value) {
  return is_store(value) ? std::nullopt : std::optional(url_from(value));
}

nb::object store_to(std::shared_ptr<Store> store, const Config& config) {
  if (store->url().starts_with("memory:")) return nb::cast(BoundMemoryStore{{std::move(store)}});
  return nb::cast(BoundStore{std::move(store), config});
}

std::shared_ptr<Store> store_from(nb::handle value, const Config& config) {
  if (is_store(value)) return nb::cast<const BoundStore&>(value).store;
  const std::string url = url_from(value);
  return call([&] { return open_store(url, config); });
}

std::pair<std::shared_ptr<Store>, std::shared_ptr<Store>> stores_of_copy(nb::handle source, nb::handle destination,
                                                                         const Config& config) {
  const auto from = name_from(source), to = name_from(destination);
  if (!from || !to) return {store_from(source, config), store_from(destination, config)};
  return call([&]() -> Result<std::pair<std::shared_ptr<Store>, std::shared_ptr<Store>>> {
    SHERD_TRY(there, parse_url(*from));
    SHERD_TRY(here, parse_url(*to));
    SHERD_TRY(opened, open_store(there, config_beside(there, here, config)));
    SHERD_TRY(made, open_store(here, config_beside(here, there, config)));
    return std::pair(std::move(opened), std::move(made));
  });
}

std::shared_ptr<Store> store_for_handle(nb::handle value, Config& config) {
  if (is_store(value)) config.storage_options = nb::cast<const BoundStore&>(value).config.storage_options;
  return store_from(value, config);
}

void finish_at(const std::string& url, const Config& config) {
  if (url.starts_with("memory:")) return;
  call([&]() -> Result<void> {
    SHERD_TRY(store, open_store(url, config));
    return store->finish();
  });
}

/// The path that a name means, or None if it is not that of a directory or file, and its fragment. Of a name that is
/// not understood: None and "".
nb::tuple parts_of_name(const std::string& name) {
  const auto url = parse_url(name);
  const bool is_path = url && url->is_file();
  const nb::object path = is_path ? nb::object(nb::str(url->path.data(), url->path.size())) : nb::none();
  return nb::make_tuple(path, url ? url->fragment : std::string());
}

/// `url` is that of what was opened by this name. Names of files are paths.
std::string pickled_url(const std::string& url, const std::string& name) {
  const auto parsed = parse_url(name);
  return parsed && !parsed->query.empty() ? with_hidden_query(url) : url;
}

/// Without secrets, as handles show the names by which they were opened.
std::string url_without_secrets(const std::string& name) {
  const auto parsed = parse_url(name);
  if (!parsed || (parsed->query.empty() && parsed->userinfo.empty())) return name;
  std::string url = parsed->scheme + "://" + parsed->host + (parsed->port.empty() ? "" : ":" + parsed->port);
  url += parsed->path;
  for (const StoreUrl::Layer& layer : parsed->layers) url += "|" + layer.scheme + ":" + layer.path;
  if (!parsed->format.empty()) url += "|" + parsed->format + ":";
  return url;
}

void bind_names(nb::module_& module) {
  module.def("parts_of_name", parts_of_name, nb::sig("def parts_of_name(name: str) -> tuple[str | None, str]"),
             "The path that a name means, or None if it is not one of files, and the fragment.");
  module.def("pickled_url", pickled_url, nb::sig("def pickled_url(url: str, name: str) -> str"),
             "The URL of what was opened by a name, for a pickle: it shows whether there is a query.");
  module.def("url_without_secrets", url_without_secrets, nb::sig("def url_without_secrets(name: str) -> str"),
             "A name without the user and the query of a URL.");
}

void bind_store(nb::module_& module) {
  bind_names(module);
  nb::class_<BoundStore>(
      module, "Store",
      "Bytes by key: what arrays and groups are stored in. Any `store` argument also accepts a path or URL.",
      nb::is_weak_referenceable())
      .def(
          "__init__",
          [](BoundStore* self, nb::handle url, nb::handle storage_options, nb::handle settings) {
            nb::dict changes;
            if (!settings.is_none()) changes.update(nb::cast<nb::dict>(settings));
            if (!storage_options.is_none()) changes["storage_options"] = storage_options;
            const Config config = config_from(changes);
            new (self) BoundStore{store_from(url, config), config};
          },
          nb::arg("url"), nb::kw_only(), nb::arg("storage_options").none() = nb::none(),
          nb::arg("config").none() = nb::none(),
          nb::sig("def __init__(self, url: str | os.PathLike[str], *, storage_options: dict[str, typing.Any] | None = "
                  "None, config: dict[str, typing.Any] | None = None) -> None"))
      .def_prop_ro(
          "url", [](const BoundStore& self) { return self.store->url(); }, "How a user would name it.")
      .def(
          "get", get_object, nb::arg("key"), nb::arg("offset") = 0, nb::arg("length").none() = nb::none(),
          nb::sig("def get(self, key: str, offset: int = 0, length: int | None = None) -> bytes | None"),
          "The bytes of an object, or None if it does not exist. offset: of the first byte; a negative one counts from "
          "the end. length: the maximum number of bytes; None: all to the end.")
      .def("size", size, nb::arg("key"), nb::sig("def size(self, key: str) -> int | None"),
           "The bytes that an object has, or None if it does not exist.")
      .def("set", set, nb::arg("key"), nb::arg("value"), "Replaces the whole object, all at once.")
      .def(
          "erase",
          [](const BoundStore& self, const std::string& key) {
            const Erased erased = call(*self.store, [&] { return self.store->erase(key); });
            return erased == Erased::unknown ? std::optional<bool>() : erased == Erased::object;
          },
          nb::arg("key"), nb::sig("def erase(self, key: str) -> bool | None"),
          "Erases an object; whether there was one, or None if the store does not tell.")
      .def("keys", keys, nb::arg("prefix") = "", nb::sig("def keys(self, prefix: str = '') -> list[str]"),
           "The keys of all objects below a prefix, which ends in '/' or is empty.")
      .def("list_dir", child_names, nb::arg("prefix") = "",
           nb::sig("def list_dir(self, prefix: str = '') -> list[str]"),
           "The names directly below a prefix, which ends in '/' or is empty: of objects, and, with a '/' at the end, "
           "of "
           "prefixes that have objects below them.")
      .def(
          "close", [](const BoundStore& self) { call(*self.store, [&] { return self.store->finish(); }); },
          "Finishes what was written: the directory of a zip archive, for example. The store can be used afterwards.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Store"))
      .def(
          "__exit__",
          [](const BoundStore& self, const nb::args&) { call(*self.store, [&] { return self.store->finish(); }); },
          nb::sig("def __exit__(self, *error: object) -> None"))
      .def("__repr__", [](const BoundStore& self) { return "<sherd.Store " + self.store->url() + ">"; })
      .def("__reduce__", reduce_store, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  nb::class_<BoundMemoryStore, BoundStore>(module, "MemoryStore", "An empty store in this process's memory.")
      .def("__init__", [](BoundMemoryStore* self) { new (self) BoundMemoryStore{{memory_store()}}; });
}

}  // namespace sherd::python
