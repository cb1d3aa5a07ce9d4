// Knows how a place gets its format, and which hierarchy a URL lies in. Formats are asked in the order of their table;
// the first that knows a node wins.
#include "api/location.hpp"

#include <filesystem>
#include <functional>
#include <utility>

#include "api/registry.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "neuroglancer/codecs.hpp"

namespace sherd {
Result<void> for_each_above(const Store& store, const VisitAbove& visit) {
  const auto url = parse_url(store.url());  // a part of a store in memory has one that opens nothing
  if (!url || url->kind != StoreUrl::Kind::file) return {};
  std::string path;
  for (std::filesystem::path place = url->path; place.has_relative_path(); place = place.parent_path()) {
    const std::string name = place.filename().string();
    if (name == "..") break;  // what is above it is not above the node
    if (name.empty() || name == ".") continue;
    path = join_path(name, path);
    SHERD_TRY(done, visit(place.parent_path().string(), path));
    if (done) break;
  }
  return {};
}

Result<std::vector<const Format*>> formats_called(const std::string& name) {
  const FormatTable table = tables().formats;
  if (name.empty()) return std::vector<const Format*>(table.begin(), table.end());
  if (const Format* format = find_format(name)) return std::vector<const Format*>{format};
  std::string known;
  for (const Format* format : table) known += (known.empty() ? "" : ", ") + std::string(format->name());
  return invalid_argument("'" + name + "' is not a known format (" + known + ")");
}

Result<NodePlace> make_place(std::shared_ptr<Store> store, std::string_view path, const Config& config) {
  SHERD_TRY(normal, normal_path(path));
  if (config.recorder) store = recorded_store(std::move(store), config.recorder);
  return NodePlace{.store = std::move(store), .path = std::move(normal), .tables = tables(), .config = config};
}

Result<neuroglancer::Collection::State::Place> collection_place(std::shared_ptr<Store> store, std::string_view path,
                                                                bool writable, const Config& config) {
  SHERD_TRY(normal, normal_path(path));
  if (config.recorder) store = recorded_store(std::move(store), config.recorder);
  return neuroglancer::Collection::State::Place{.store = std::move(store),
                                                .path = std::move(normal),
                                                .writable = writable,
                                                .codecs = precomputed_codecs(),
                                                .config = config};
}

Result<std::optional<NodePlace>> find_format_of(NodePlace place, const std::vector<const Format*>& formats,
                                                Unreadable unreadable) {
  for (const Format* format : formats) {
    SHERD_TRY(bound, format->in(*place.store, place.config.limits));
    if (bound == nullptr) continue;
    place.format = std::move(bound);
    const auto found = presence(place);
    if (!found && unreadable == Unreadable::fails) return found.error();
    // What stands there but cannot be opened is for the reader of the document to tell.
    if (!found || *found != Presence::none) return std::optional(std::move(place));
  }
  return std::optional<NodePlace>();
}

Result<std::optional<Enclosure>> find_around(const Store& store, const std::vector<const Format*>& formats,
                                             const Config& config) {
  std::optional<Enclosure> found;
  std::optional<Error> refused;
  SHERD_TRY(for_each_above(store, [&](const std::string& directory, const std::string& path) -> Result<bool> {
    SHERD_TRY(outer, file_store(directory, config));
    SHERD_TRY(place, make_place(outer, path, config));
    const auto known = find_format_of(std::move(place), formats);
    if (known && *known) found = Enclosure{std::move(outer), path};
    // An entry point that is damaged or not understood may be that of the hierarchy in which this place is.
    if (!known && !refused && is_stored_fault(known.error())) refused = in_store(Error(known.error()), outer->url());
    return found.has_value();
  }));
  if (!found && refused) return *std::move(refused);
  return found;
}

Result<NodePlace> new_place(std::shared_ptr<Store> store, std::string_view path, const std::string& format,
                            const Config& config) {
  if (store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
  SHERD_TRY(place, make_place(std::move(store), path, config));
  place.writable = true;
  SHERD_TRY(wanted, formats_called(format));
  SHERD_TRY(all, formats_called({}));
  SHERD_TRY(root, find_format_of(at_path(place, ""), all, Unreadable::fails));
  if (root && !format.empty() && root->format->name() != format)
    return conflict("a hierarchy of the format " + std::string(root->format->name()) + " stands here; the format " +
                    format + " needs a store of its own")
        .in_key(root->format->probes("").front());
  if (root) {
    place.format = root->format;
    return place;
  }
  SHERD_TRY(bound, wanted.front()->in(*place.store, config.limits));
  if (bound == nullptr) return conflict("the entry point of another hierarchy is here").in_key("zarr.json");
  place.format = std::move(bound);
  return place;
}

Result<NodePlace> new_place(std::string_view url, const std::string& format, const Config& config) {
  SHERD_TRY(store, open_store(url, config));
  SHERD_TRY(around, enclosure_of_new(*store, config));
  if (around) return new_place(std::move(around->store), around->path, format, config);
  return new_place(std::move(store), "", format, config);
}

Result<std::optional<Enclosure>> enclosure(const Store& store, const Config& config) {
  std::optional<Enclosure> around;
  std::vector<const Format*> formats;  // of hierarchies that take new nodes
  for (const Format* format : tables().formats)
    if (format->arrays_have_documents()) formats.push_back(format);
  SHERD_TRY(for_each_above(store, [&](const std::string& directory, const std::string& path) -> Result<bool> {
    SHERD_TRY(outer, file_store(directory, config));
    SHERD_TRY(root, make_place(outer, "", config));
    const auto hierarchy = find_format_of(std::move(root), formats, Unreadable::fails);
    // What is made inside a hierarchy whose entry point is damaged or not understood would be of another format.
    // Nobody's hierarchy begins in a place that cannot be looked at.
    if (!hierarchy && is_stored_fault(hierarchy.error())) return in_store(Error(hierarchy.error()), outer->url());
    if (!hierarchy) return true;
    const bool stands = hierarchy->has_value();
    if (stands || (!around && directory.ends_with(".zarr"))) around = Enclosure{std::move(outer), path};
    return stands;
  }));
  return around;
}

Result<void> refuse_inside(const Store& store, const Config& config) {
  return for_each_above(store, [&](const std::string& directory, const std::string& path) -> Result<bool> {
    SHERD_TRY(outer, file_store(directory, config));
    SHERD_TRY(place, make_place(std::move(outer), "", config));
    for (const Format* format : tables().formats) {
      if (format->arrays_have_documents()) continue;
      place.format = std::shared_ptr<const Format>(std::shared_ptr<const Format>(), format);
      const auto objects = format->holds_objects(place);
      const auto volume = format->open(*place.store, "", config.limits);  // what cannot be read is nobody's
      if ((objects && *objects) || (volume && *volume))
        return conflict("lies inside the volume or collection in " + directory + ", which has no such members")
            .in_key(path);
    }
    return false;
  });
}

Result<std::optional<Enclosure>> enclosure_of_new(const Store& store, const Config& config) {
  SHERD_TRY(around, enclosure(store, config));
  if (!around) SHERD_TRY(refuse_inside(store, config));
  return around;
}

}  // namespace sherd
