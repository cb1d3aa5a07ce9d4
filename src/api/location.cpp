// Determines the format of a location, and the hierarchy that contains a URL. Formats are asked in the order of their
// table; the first that recognizes a node is used.
#include "api/location.hpp"

#include <filesystem>
#include <utility>

#include "api/registry.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "neuroglancer/codecs.hpp"
#include "node/claim.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"
#include "node/stores_above.hpp"
#include "store/archive_of.hpp"
#include "store/capabilities.hpp"
#include "store/file_options.hpp"
#include "store/listing.hpp"
#include "store/prefetched.hpp"

namespace sherd {

namespace {

/// Whether a node at `path` is created apart from the group at the store's root: below a directory that exists already
/// and is not a node, while nothing shows that the group has contents.
Result<bool> is_apart(const NodeLocation& group, const std::string& path) {
  const auto slash = path.find('/');
  if (slash == path.npos || !group.store->traits().can_list) return false;
  const auto node = group.format->open(*group.store, "", group.config.limits);
  if (!node || !*node || (*node)->type != NodeType::group || !(*node)->attributes.members().empty()) return false;
  const auto is_other = [&](const ListEntry& entry) { return !entry.is_prefix || entry.name != path.substr(0, slash); };
  SHERD_TRY(is_new, group.store->visit("", ListDepth::children, is_other));
  if (is_new) return false;
  // Where nothing is renamed, there are no directories that a user has made.
  const bool has_directories = renaming(*group.store, "") != nullptr;
  SHERD_TRY(nothing, has_directories ? false : lists_nothing(*group.store, path.substr(0, slash + 1)));
  if (nothing) return false;
  SHERD_TRY(members, group.format->members(*group.store, "", group.config.limits, {}));
  return members.empty();
}

/// By convention a hierarchy begins at a directory with such a name, and at the root of an archive.
bool begins_hierarchy(Store& store) {
  std::string_view url = store.url();
  if (url.ends_with('/')) url.remove_suffix(1);
  return url.ends_with(".zarr") || archive_of(store) != nullptr;
}

}  // namespace

Result<std::vector<const Format*>> formats_called(const std::string& name) {
  const FormatTable table = tables().formats;
  if (name.empty()) return std::vector<const Format*>(table.begin(), table.end());
  if (const Format* format = find_format(name)) return std::vector<const Format*>{format};
  std::string known;
  for (const Format* format : table) known += (known.empty() ? "" : ", ") + std::string(format->name());
  return invalid_argument("'" + name + "' is not a known format (" + known + ")");
}

Result<std::shared_ptr<Store>> open_existing(std::string_view url, const Config& config) {
  SHERD_TRY(parsed, parse_url(url));
  return open_existing(parsed, config);
}

Result<std::shared_ptr<Store>> open_existing(const StoreUrl& url, const Config& config) {
  Config within = config;
  const auto standalone = within.storage_options.find("standalone");
  if (standalone != within.storage_options.end() && standalone->second == "true") standalone->second = "false";
  return open_sought(url, within);
}

Result<NamedStore> open_named(std::string_view url, const std::string& format, const Config& config) {
  SHERD_TRY(parsed, parse_url(url));
  SHERD_TRY(wanted, format_of(parsed, format));
  SHERD_TRY(store, open_existing(parsed, config));
  return NamedStore{std::move(store), std::move(wanted)};
}

Result<void> refuse_standalone(const Config& config) {
  SHERD_TRY(standalone, is_standalone(config));
  if (!standalone) return {};
  return std::move(invalid_argument("concerns only new nodes, and this one exists"))
      .in_member("storage_options.standalone");
}

Result<NodeLocation> make_location(std::shared_ptr<Store> store, std::string_view path, const Config& config) {
  SHERD_TRY(normal, normal_path(path));
  if (config.recorder) store = recorded_store(std::move(store), config.recorder);
  return NodeLocation{.store = std::move(store), .path = std::move(normal), .tables = tables(), .config = config};
}

Result<neuroglancer::Collection::State::Location> collection_location(std::shared_ptr<Store> store,
                                                                      std::string_view path, bool writable,
                                                                      const Config& config) {
  SHERD_TRY(normal, normal_path(path));
  if (config.recorder) store = recorded_store(std::move(store), config.recorder);
  return neuroglancer::Collection::State::Location{.store = std::move(store),
                                                   .path = std::move(normal),
                                                   .writable = writable,
                                                   .codecs = precomputed_codecs(),
                                                   .config = config};
}

Result<std::optional<NodeLocation>> find_format_of(NodeLocation location, const std::vector<const Format*>& formats,
                                                   Unreadable unreadable) {
  NodeLocation there = location;
  std::optional<Error> denied;
  SHERD_TRY(documents, prefetched_store(*location.store, document_keys(formats, location.path)));
  there.store = std::move(documents);
  for (const Format* format : formats) {
    SHERD_TRY(bound, format->in(*there.store, location.config.limits));
    if (bound == nullptr) continue;
    location.format = there.format = std::move(bound);
    const auto found = presence(there);
    if (!found && found.error().is_denied()) {
      // A server may answer so for what does not exist.
      denied = found.error();
      continue;
    }
    if (!found && unreadable == Unreadable::fails) return found.error();
    // A node that exists but cannot be opened is reported by the reader of the document.
    if (!found || *found != Presence::none) return std::optional(std::move(location));
  }
  if (denied && unreadable == Unreadable::counts) return *std::move(denied);
  return std::optional<NodeLocation>();
}

Result<std::optional<Enclosure>> find_around(const Store& store, const std::vector<const Format*>& formats,
                                             const Config& config) {
  std::optional<Enclosure> found;
  std::optional<Error> refused;
  SHERD_TRY(for_each_above(store, [&](const std::shared_ptr<Store>& outer, const std::string& path) -> Result<bool> {
    SHERD_TRY(location, make_location(outer, path, config));
    const auto known = find_format_of(std::move(location), formats);
    if (known && *known) found = Enclosure{outer, path};
    // A damaged or unsupported entry point may be that of this location's hierarchy.
    if (!known && !refused && is_stored_fault(known.error())) refused = in_store(Error(known.error()), outer->url());
    return found.has_value();
  }));
  if (!found && refused) return *std::move(refused);
  return found;
}

namespace {

/// `store` may be a snapshot, in which the location then looks around.
Result<NodeLocation> location_in(const std::shared_ptr<Store>& store, std::string_view path, const std::string& format,
                                 const Config& config, std::string_view advice) {
  if (store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
  const std::shared_ptr<Store> live = live_store(store);
  SHERD_TRY(location, make_location(live, path, config));
  location.writable = true;
  SHERD_TRY(wanted, formats_called(format));
  SHERD_TRY(all, formats_called({}));
  NodeLocation looking = at_path(location, "");
  if (live != store) looking.store = store;
  SHERD_TRY(root, find_format_of(std::move(looking), all, Unreadable::fails));
  if (root && !format.empty() && root->format->name() != format)
    return conflict("a hierarchy of the format " + std::string(root->format->name()) + " exists here; the format " +
                    format + " needs a store of its own" + std::string(advice))
        .in_key(root->format->likeliest_key(""));
  if (root) {
    location.format = root->format;
    return location;
  }
  SHERD_TRY(bound, wanted.front()->in(*location.store, config.limits));
  if (bound == nullptr) return other_hierarchy(*wanted.front());
  location.format = std::move(bound);
  return location;
}

}  // namespace

Result<NodeLocation> new_location(const std::shared_ptr<Store>& store, std::string_view path, const std::string& format,
                                  const Config& config) {
  return location_in(store, path, format, config, {});
}

namespace {

/// A snapshot of what shows in which hierarchy a new node at the root of a store would be.
Result<std::shared_ptr<Store>> seen_around(std::shared_ptr<Store> store, const Config& config) {
  if (store->read_only()) return store;
  SHERD_TRY(location, make_location(std::move(store), "", config));
  return prefetched_stores(location.store, [&](const std::string& path) {
    std::vector<std::string> keys = document_keys(location.tables.formats, "");
    if (!path.empty()) keys.push_back(claim_key(location));
    return keys;
  });
}

}  // namespace

Result<NodeLocation> new_location(std::string_view url, const std::string& format, const Config& config) {
  SHERD_TRY(parsed, parse_url(url));
  return new_location(parsed, format, config);
}

Result<NodeLocation> new_location(const StoreUrl& url, const std::string& wanted, const Config& config) {
  SHERD_TRY(format, format_of(url, wanted));
  SHERD_TRY(opened, open_sought(url, config));
  SHERD_TRY(store, seen_around(std::move(opened), config));
  SHERD_TRY(around, enclosure_of_new(*store, config));
  if (!around) return location_in(store, "", format, config, {});
  return in_store(location_in(around->store, around->path, format, config, around->format ? kStandalone : ""),
                  around->store->url());
}

Result<std::optional<Enclosure>> enclosure(const Store& store, const Config& config) {
  std::optional<Enclosure> around;
  std::vector<const Format*> formats;  // of hierarchies that accept new nodes
  for (const Format* format : tables().formats)
    if (format->arrays_have_documents()) formats.push_back(format);
  SHERD_TRY(for_each_above(store, [&](const std::shared_ptr<Store>& outer, const std::string& path) -> Result<bool> {
    SHERD_TRY(root, make_location(outer, "", config));
    const auto hierarchy = find_format_of(std::move(root), formats, Unreadable::fails);
    // A node created inside a hierarchy with a damaged or unknown entry point could have another format. Other
    // failures, such as a directory that cannot be read, mean that no hierarchy begins here.
    if (!hierarchy && is_stored_fault(hierarchy.error())) return in_store(Error(hierarchy.error()), outer->url());
    if (!hierarchy) return true;
    const bool is_there = hierarchy->has_value();
    if (is_there && !begins_hierarchy(*outer)) {
      SHERD_TRY(apart, is_apart(**hierarchy, path));
      if (apart) return false;
    }
    if (is_there || (!around && begins_hierarchy(*outer)))
      around = Enclosure{outer, path, is_there ? (*hierarchy)->format : nullptr};
    return is_there;
  }));
  return around;
}

Result<void> refuse_inside(const Store& store, const Config& config) {
  return for_each_above(store, [&](const std::shared_ptr<Store>& outer, const std::string& path) -> Result<bool> {
    SHERD_TRY(location, make_location(outer, "", config));
    const auto claimed = refuse_claim(location, claim_key(location));
    if (!claimed && claimed.error().code() == ErrorCode::conflict) return in_store(claimed.error(), outer->url());
    for (const Format* format : tables().formats) {
      if (format->arrays_have_documents()) continue;
      location.format = std::shared_ptr<const Format>(std::shared_ptr<const Format>(), format);
      const auto objects = holds_objects(location);
      const auto volume = format->open(*location.store, "", config.limits);  // unreadable: not a volume
      if ((objects.has_value() && *objects) || (volume && *volume))
        return conflict("lies inside the volume or collection in " + outer->url() +
                        ", which cannot have arrays or groups of other formats as members")
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

namespace {

/// The location of a node, as a prefix of everything below it; for files with symbolic links resolved.
Result<std::string> location_text(const NodeLocation& location) {
  std::string text = url_below(location.store->url(), location.path), inside;
  if (const std::size_t bar = text.find('|'); is_url(text) && bar != text.npos) {
    inside = text.substr(bar);
    text.resize(bar);
  }
  if (const auto path = path_of_store(text)) {
    std::error_code failed;
    const auto canonical = std::filesystem::weakly_canonical(*path, failed);
    if (failed) return io_error("cannot determine what " + *path + " is: " + failed.message());
    text = canonical.string();
  }
  text += inside;
  return text.ends_with('/') || (!inside.empty() && text.ends_with(':')) ? text : text + "/";
}

}  // namespace

Result<void> check_apart(const NodeLocation& source, const NodeLocation& destination, bool one_store) {
  SHERD_TRY(from, location_text(source));
  SHERD_TRY(to, location_text(destination));
  if (!one_store && is_anonymous(source.store->url())) return {};  // two stores with the same URL
  if (!to.starts_with(from) && !from.starts_with(to)) return {};
  return invalid_argument("cannot copy " + from + " to " + to + ": one lies inside the other");
}

}  // namespace sherd
