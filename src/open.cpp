// Joins URL, store, format and node: the public ways in. A URL names a store, and its root is the node, so
// "data/a.zarr/b/c" opens the node c as the root of a store of its own; OpenOptions::path goes on from there.
// Formats are asked in the order of their table; the first that knows a node wins.
// What is made at a URL becomes part of the hierarchy in which its place lies, and that one is found here.
#include <filesystem>
#include <utility>

#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "registry.hpp"
#include "sherd/group.hpp"

namespace sherd {

namespace {

Result<NodePlace> make_place(std::shared_ptr<Store> store, std::string_view path, bool writable, const Config& config) {
  if (writable && store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
  SHERD_TRY(normal, normal_path(path));
  if (config.recorder) store = recorded_store(std::move(store), config.recorder);
  return NodePlace{
      .store = std::move(store), .path = std::move(normal), .tables = tables(), .writable = writable, .config = config};
}

Result<NodePlace> new_place(std::shared_ptr<Store> store, std::string_view path, const Config& config) {
  SHERD_TRY(place, make_place(std::move(store), path, true, config));
  place.format = place.tables.formats.front();
  return place;
}

Result<std::vector<const Format*>> candidates(const std::string& name, FormatTable table) {
  if (name.empty()) return std::vector<const Format*>(table.begin(), table.end());
  if (const Format* format = find_format(name)) return std::vector<const Format*>{format};
  std::string known;
  for (const Format* format : table) known += (known.empty() ? "" : ", ") + std::string(format->name());
  return invalid_argument("'" + name + "' is not a known format (" + known + ")");
}

Error nothing_found(const NodePlace& place, const std::vector<const Format*>& formats) {
  std::string looked_for;
  for (const Format* format : formats) {
    for (const std::string& key : format->probes(place.path)) looked_for += (looked_for.empty() ? "" : ", ") + key;
  }
  return not_found("no array and no group in " + place.store->url() + ": looked for " + looked_for)
      .in_key(formats.front()->document_key(place.path));
}

template <class T>
Result<T> expect(Result<Node> node, std::string_view wanted, std::string_view found) {
  if (!node) return std::move(node).error();
  if (T* wanted_node = std::get_if<T>(&*node)) return std::move(*wanted_node);
  const std::string place = std::visit([](const auto& handle) { return handle.url(); }, *node);
  return invalid_argument(place + " is " + std::string(found) + ", not " + std::string(wanted));
}

/// A hierarchy, and a place in it.
struct Enclosure {
  std::shared_ptr<Store> store;
  std::string path;
};

/// The hierarchy around the root of a store: that of the nearest directory above it which is a node or, where none is,
/// the one that begins at the nearest directory whose name ends in ".zarr". Nullopt where the store is on its own.
Result<std::optional<Enclosure>> enclosure(const Store& store, const Config& config) {
  SHERD_TRY(url, parse_url(store.url()));
  if (url.kind != StoreUrl::Kind::file) return std::optional<Enclosure>();
  std::optional<Enclosure> named;
  std::string path;
  for (std::filesystem::path place = url.path; place.has_relative_path(); place = place.parent_path()) {
    const std::string name = place.filename().string();
    if (name == "..") break;  // what is above it is not above the node
    if (name.empty() || name == ".") continue;
    path = join_path(name, path);
    const std::string directory = place.parent_path().string();
    SHERD_TRY(outer, file_store(directory, config));
    const auto stands = has_node(*outer, tables(), "");
    if (!stands) break;  // nobody's hierarchy begins in a place that cannot be looked at
    if (*stands) return std::optional(Enclosure{std::move(outer), std::move(path)});
    if (!named && directory.ends_with(".zarr")) named = Enclosure{std::move(outer), path};
  }
  return named;
}

}  // namespace

Result<NodePlace> new_place(std::string_view url, const Config& config) {
  SHERD_TRY(store, open_store(url, config));
  SHERD_TRY(around, enclosure(*store, config));
  if (around) return new_place(std::move(around->store), around->path, config);
  return new_place(std::move(store), "", config);
}

Result<std::shared_ptr<Store>> open_store(std::string_view url, const Config& config) {
  SHERD_TRY(parsed, parse_url(url));
  for (const StoreEntry& entry : store_table()) {
    if (entry.kind == parsed.kind) return entry.open(parsed, config);
  }
  return unsupported("no store for this kind of URL");
}

Result<Node> open(std::shared_ptr<Store> store, const OpenOptions& options) {
  SHERD_TRY(place, make_place(std::move(store), options.path, options.writable, options.config));
  SHERD_TRY(formats, candidates(options.format, place.tables.formats));
  for (const Format* format : formats) {
    place.format = format;
    SHERD_TRY(node, find_node(place));
    if (node) return *std::move(node);
  }
  return nothing_found(place, formats);
}

Result<Node> open(std::string_view url, const OpenOptions& options) {
  SHERD_TRY(store, open_store(url, options.config));
  return open(std::move(store), options);
}

Result<Array> open_array(std::shared_ptr<Store> store, const OpenOptions& options) {
  return expect<Array>(open(std::move(store), options), "an array", "a group");
}
Result<Array> open_array(std::string_view url, const OpenOptions& options) {
  return expect<Array>(open(url, options), "an array", "a group");
}
Result<Group> open_group(std::shared_ptr<Store> store, const OpenOptions& options) {
  return expect<Group>(open(std::move(store), options), "a group", "an array");
}
Result<Group> open_group(std::string_view url, const OpenOptions& options) {
  return expect<Group>(open(url, options), "a group", "an array");
}

Result<Array> create_array(std::shared_ptr<Store> store, std::string_view path, const CreateOptions& options) {
  SHERD_TRY(place, new_place(std::move(store), path, options.config));
  return create_array_at(std::move(place), options);
}
Result<Array> create_array(std::string_view url, const CreateOptions& options) {
  SHERD_TRY(store, open_store(url, options.config));
  SHERD_TRY(around, enclosure(*store, options.config));
  if (!around) return create_array(std::move(store), "", options);
  SHERD_TRY(in_store(create_array(around->store, around->path, options), around->store->url()));
  return open_array(std::move(store), {.writable = true, .config = options.config});
}

Result<Group> create_group(std::shared_ptr<Store> store, std::string_view path, const Json& attributes, bool overwrite,
                           const Config& config) {
  SHERD_TRY(place, new_place(std::move(store), path, config));
  return create_group_at(std::move(place), attributes, overwrite);
}
Result<Group> create_group(std::string_view url, const Json& attributes, bool overwrite, const Config& config) {
  SHERD_TRY(store, open_store(url, config));
  SHERD_TRY(around, enclosure(*store, config));
  if (!around) return create_group(std::move(store), "", attributes, overwrite, config);
  SHERD_TRY(in_store(create_group(around->store, around->path, attributes, overwrite, config), around->store->url()));
  return open_group(std::move(store), {.writable = true, .config = config});
}

}  // namespace sherd
