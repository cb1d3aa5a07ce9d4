// Creates nodes. The order of requests matters: everything is checked before anything is written; missing
// parents are written first; a document is created only if none exists, so that one of two creators gets `conflict`.
#include "array/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "array/consolidated.hpp"
#include "array/create.hpp"
#include "array/document.hpp"
#include "array/new_documents.hpp"
#include "array/prepared.hpp"
#include "array/staged.hpp"
#include "array/storage.hpp"
#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "shard/uint64.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"

namespace sherd {
namespace {

Result<void> check_names(const NodeLocation& location) {
  std::string_view rest = location.path;
  while (!rest.empty()) {
    const std::size_t end = rest.find('/');
    SHERD_TRY(location.format->check_name(rest.substr(0, end)));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return {};
}

/// Whether there is a group at `location`; `conflict` if there is an array.
Result<bool> is_group(const NodeLocation& location) {
  SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
  if (node && node->type == NodeType::array)
    return conflict("this is an array, and an array has no members")
        .in_key(location.format->document_key(location.path, NodeType::array));
  return node && !node->implicit;
}

/// Whether there are objects other than documents where those of a node would be.
Result<bool> has_contents(const NodeLocation& location) {
  const NodeKeys keys = location.format->keys(location.path);
  for (const std::string& prefix : keys.contents) {
    SHERD_TRY(only_documents,
              location.store->visit(prefix, ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
                return entry.is_prefix ? is_staging(entry.name) : keys.is_document(prefix + std::string(entry.name));
              }));
    if (!only_documents) return true;
  }
  return false;
}

/// Whether the objects that a new node would erase at `location` are all that a node of another format has there.
bool covers(const NodeLocation& location, const Format& other) {
  const std::vector<std::string> own = location.format->contents(location.path);
  return std::ranges::all_of(other.contents(location.path), [&](const std::string& prefix) {
    return std::ranges::any_of(own, [&](const std::string& each) { return prefix.starts_with(each); });
  });
}

bool is_own_fault(const NodeLocation& location, const Error& error) {
  return is_stored_fault(error) && location.format->keys(location.path).is_document(error.key());
}

using IsRefused = std::function<bool(const Format& format, const NodeDocument& node)>;

/// The location of the document of a node of any known format at `location`, existing or possible. `conflict` if there
/// are other objects, or a node of another format that is refused.
Result<std::optional<std::string>> find_document(const NodeLocation& location, const IsRefused& refused) {
  std::optional<std::string> document;
  SHERD_TRY(any_format(location, [&](const NodeLocation& there) -> Result<bool> {
    const Format& format = *there.format;
    const bool is_other = format.name() != location.format->name();
    const std::string likeliest = format.likeliest_key(there.path);
    const auto occupied_by = [&](const std::string& what, const std::string& key) {
      return conflict(what + " exists here, so that a node of the format " + std::string(location.format->name()) +
                      " cannot be created here or below; choose another path")
          .in_key(key);
    };
    const auto node = format.open(*location.store, location.path, location.config.limits);
    if (!node && !is_stored_fault(node.error())) return node.error();
    if (node && !*node) {
      SHERD_TRY(objects, is_other ? holds_objects(there) : false);
      return objects ? Result<bool>(occupied_by("a collection of objects", likeliest)) : false;
    }
    if (node ? (*node)->implicit : !is_own_fault(there, node.error())) return false;
    if (node && is_other && refused(format, **node))
      return occupied_by("a node of the format " + std::string(format.name()),
                         format.document_key(there.path, (*node)->type));
    if (!document) document = likeliest;
    return false;
  }));
  return document;
}

/// Whether a new node below `group` requires creating this group; `conflict` if that is not possible.
Result<bool> must_create_group(const NodeLocation& group) {
  SHERD_TRY(is_there, is_group(group));
  const bool has_members = group.format->arrays_have_documents();
  if (is_there && has_members) return false;
  if (is_there)
    return conflict("this is a volume, and its only members are its scales")
        .in_key(group.format->document_key(group.path, NodeType::group));
  SHERD_TRY(find_document(
      group, [&](const Format&, const NodeDocument& node) { return has_members || node.type == NodeType::array; }));
  return has_members;
}

Error group_is_gone(const NodeLocation& group) {
  return conflict(
             "another process erased or renamed the group around the new node in the meantime; create the node again")
      .in_key(group.format->document_key(group.path, NodeType::group));
}

/// The paths above a new node where groups must be created, outermost first.
Result<std::vector<std::string>> missing_groups(const NodeLocation& location) {
  std::vector<std::string> missing;
  for (std::string& path : ancestors(location.path)) {
    SHERD_TRY(is_missing, must_create_group(at_path(location, path)));
    if (is_missing && path.empty() && location.begins_with_group) return group_is_gone(at_path(location, path));
    if (is_missing) missing.push_back(std::move(path));
  }
  return missing;
}

/// What exists at the location of a new node.
struct Site {
  std::vector<std::string> missing_groups;
  bool occupied = false;
  bool foreign = false;    ///< objects without a node, which may be erased
  bool leftovers = false;  ///< those objects are named like chunks
};

Result<Site> inspect(const NodeLocation& location, bool overwrite) {
  SHERD_TRY(require_writable(location));
  SHERD_TRY(check_names(location));
  Site site;
  SHERD_TRY(missing, missing_groups(location));
  site.missing_groups = std::move(missing);
  SHERD_TRY(document, find_document(location, [&](const Format& other, const NodeDocument&) {
              return !covers(location, other);
            }));
  site.occupied = document.has_value();
  if (document && !overwrite)
    return conflict("a node exists here already; overwrite it or choose another path").in_key(*document);
  if (document) SHERD_TRY(refuse_foreign_objects(location));
  return site;
}

Result<Site> inspect_location(const NodeLocation& location, ClearOptions options) {
  SHERD_TRY(site, inspect(location, options.overwrite));
  if (site.occupied) return site;
  SHERD_TRY(foreign, has_contents(location));
  if (!foreign && location.store->traits().locks) return site;
  SHERD_TRY(moving, is_moving(location));
  site.foreign = foreign || moving;
  if (!foreign || moving || options.foreign) return site;
  if (!options.overwrite)
    return conflict("there are objects at this path that belong to no node; remove them or choose another path")
        .in_key(location.format->likeliest_key(location.path));
  SHERD_TRY(refuse_all_but_chunks(location));
  site.leftovers = true;
  return site;
}

/// Held while a node is created if its format has several documents; otherwise nullptr. No single one of them shows
/// that another creator was first.
Result<std::unique_ptr<StoreLock>> lock_documents(const NodeLocation& location, const Json& document) {
  const bool is_one = location.format->documents(location.path, document).size() == 1 &&
                      location.format->keys(location.path).visible().size() == 1;
  if (is_one) return std::unique_ptr<StoreLock>();
  return lock_node(location);
}

/// Creates a group unless another process does.
Result<void> make_parent(const NodeLocation& parent, const Json& document) {
  const bool has_locks = parent.store->traits().locks;
  SHERD_TRY(lock, lock_documents(parent, document));
  for (;;) {
    const auto written = create_documents(parent, document, has_locks && lock != nullptr);
    if (written.has_value()) {
      SHERD_TRY(parent.tables.changed(parent, MemberChange::made));
      return {};
    }
    if (written.error().code() != ErrorCode::conflict) return written.error();
    SHERD_TRY(is_there, is_group(parent));
    if (is_there) return {};
    if (!has_locks || lock != nullptr) return written.error();
    SHERD_TRY(taken, lock_node(parent));  // a node was being moved here or erased, perhaps by a process that was killed
    lock = std::move(taken);
  }
}

Result<void> make_parents(const NodeLocation& location, const std::vector<std::string>& missing) {
  for (const std::string& path : missing) {
    const NodeLocation parent = at_path(location, path);
    SHERD_TRY(document, location.format->group_document(Json()));
    SHERD_TRY(make_parent(parent, document));
  }
  return {};
}

/// Updates `node` to what is stored: the group around it may add to the metadata of its members.
Result<void> write_node(NodeLocation& location, const Site& site, NodeDocument& node) {
  SHERD_TRY(enter(location));
  SHERD_TRY(make_parents(location, site.missing_groups));
  location.begins_with_group = false;  // a handle that exists longer may make the group again
  const bool must_clear = site.occupied || site.foreign;
  SHERD_TRY(lock, must_clear ? lock_node(location) : lock_documents(location, node.document));
  if (lock == nullptr) SHERD_TRY(lock_if_staged(location, lock));
  std::unique_ptr<MovingNote> note;
  if (must_clear) {
    if (site.leftovers) {
      SHERD_TRY(refuse_all_but_chunks(location));
    } else if (site.foreign) {
      SHERD_TRY(still_moving, is_moving(location));
      if (!still_moving) return conflict("another process created something here in the meantime");
    }
    SHERD_TRY(wait_for_writers(location));
    SHERD_TRY(noted, MovingNote::store(location, new_maker()));
    note = std::move(noted);
    if (!site.occupied) SHERD_TRY(note->refuse_node());
    SHERD_TRY(clear_location(location));
  }
  SHERD_TRY(write_counterpart(location, node));
  const bool is_alone = note != nullptr || (lock != nullptr && location.store->traits().locks);
  SHERD_TRY(versions, create_documents(location, node.document, is_alone));
  node.versions = std::move(versions);
  SHERD_TRY(listed, location.tables.changed(location, MemberChange::made));
  if (listed) {
    SHERD_TRY(now, location.format->open(*location.store, location.path, location.config.limits));
    if (now) node = *std::move(now);
  }
  SHERD_TRY(renew_consolidated(location));
  if (note != nullptr) SHERD_TRY(note->end());
  if (note == nullptr && is_alone) SHERD_TRY(erase_staged(location));
  return {};
}

}  // namespace

Result<std::string> normal_path(std::string_view path) {
  std::string normal;
  while (!path.empty()) {
    const std::size_t end = path.find('/');
    const std::string_view segment = path.substr(0, end);
    path = end == path.npos ? std::string_view() : path.substr(end + 1);
    if (segment.empty()) continue;
    if (segment == "." || segment == "..")
      return invalid_argument("a path inside a store cannot contain '.' or '..': '" + std::string(segment) + "'");
    if (!normal.empty()) normal += '/';
    normal += segment;
  }
  return normal;
}

std::string join_path(const std::string& path, std::string_view name) {
  if (path.empty() || name.empty()) return path + std::string(name);
  return path + "/" + std::string(name);
}

std::optional<std::string_view> path_from(std::string_view group, std::string_view path) noexcept {
  if (path.size() <= group.size() || !path.starts_with(group)) return std::nullopt;
  if (group.empty()) return path;
  if (path[group.size()] != '/') return std::nullopt;
  return path.substr(group.size() + 1);
}

NodeLocation at_path(const NodeLocation& location, std::string path) {
  NodeLocation other = location;
  other.path = std::move(path);
  return other;
}

Result<Node> make_node(NodeLocation location, NodeDocument document) {
  if (document.type == NodeType::group) return Node(make_group(std::move(location), std::move(document)));
  if (const auto level = location.config.gzip_level; level && (*level < 0 || *level > 9))
    return std::move(invalid_argument("must be from 0 to 9, not " + std::to_string(*level))).in_member("gzip_level");
  const auto format = location.format;
  const std::string path = location.path;
  auto array = make_array(std::move(location), std::move(document));
  if (!array) return stored_error(std::move(array).error()).in_key(format->document_key(path, NodeType::array));
  return Node(*std::move(array));
}

Error no_node_at(const NodeLocation& location) {
  return not_found("no node exists here").in_key(location.format->likeliest_key(location.path));
}

Result<std::optional<Node>> find_node(NodeLocation location, Store& documents) {
  SHERD_TRY(document, location.format->open(documents, location.path, location.config.limits));
  if (!document) return std::optional<Node>();
  SHERD_TRY(node, make_node(std::move(location), *std::move(document)));
  return std::optional(std::move(node));
}

Result<std::optional<Node>> find_node(NodeLocation location) {
  Store& documents = *location.store;
  return find_node(std::move(location), documents);
}

Result<void> enter(NodeLocation& location) {
  const auto* entry = capability<EntryPoint>(*location.format);
  if (entry == nullptr) return {};
  SHERD_TRY(format, entry->create(*location.store, location.config.limits));
  if (format == nullptr) return other_hierarchy(*location.format);
  location.format = std::move(format);
  return {};
}

Result<Group> create_group_at(NodeLocation location, const Json& attributes, bool overwrite) {
  if (!attributes.is_null() && !attributes.is_object())
    return invalid_argument("must be an object").in_member("attributes");
  SHERD_TRY(document, location.format->group_document(attributes));
  SHERD_TRY(node, location.format->lower(std::move(document), location.config.limits));
  SHERD_TRY(check_documents(location, node.document));
  SHERD_TRY(site, inspect(location, overwrite));
  if (!site.occupied) {
    SHERD_TRY(moving, is_moving(location));
    site.foreign = moving;
  }
  SHERD_TRY(write_node(location, site, node));
  return make_group(std::move(location), std::move(node));
}

Result<Group> create_group_of(NodeLocation location, NodeDocument node, bool overwrite) {
  SHERD_TRY(check_documents(location, node.document));
  SHERD_TRY(site, inspect_location(location, {.overwrite = overwrite}));
  SHERD_TRY(write_node(location, site, node));
  return make_group(std::move(location), std::move(node));
}

Result<Array> create_array_of(NodeLocation location, NodeDocument node, bool overwrite) {
  SHERD_TRY(site, inspect_location(location, {.overwrite = overwrite}));
  SHERD_TRY(check_links(location, node));
  SHERD_TRY(write_node(location, site, node));
  return make_array(std::move(location), std::move(node));
}

namespace {

// The names of layouts, for messages.
std::string layout_names(const Tables& tables) {
  std::string names;
  for (const StorageKind* kind : tables.storages)
    if (!kind->layout_name().empty()) names += (names.empty() ? "" : " or ") + std::string(kind->layout_name());
  return names;
}

Result<NodeDocument> make_document(const NodeLocation& location, const CreateOptions& options) {
  const StorageKind* kind = find_storage(location.tables, options.config.layout);
  if (options.volume && kind == nullptr)
    return std::move(invalid_argument("can only be used with the layout " + layout_names(location.tables)))
        .in_member("volume");
  SHERD_TRY(check_index_options(options));
  DefaultCodecs defaults = location.format->traits().default_codecs;
  if (kind != nullptr) kind->set_defaults(options.config, defaults);
  SHERD_TRY(spec, new_array_spec(options, location.codecs(), defaults));
  complete_codecs(spec.codecs, location.codecs(), spec.dtype);
  SHERD_TRY(document, location.format->array_document(spec));
  SHERD_TRY(node, location.format->lower(std::move(document), location.config.limits));
  if (kind != nullptr) SHERD_TRY(kind->lay_out(location, node, options));
  NodeLocation reading = location;
  reading.writable = false;
  SHERD_TRY(array, make_array(std::move(reading), node));  // a node that cannot be opened is not written
  Shape last = array.state().grid.count(array.shape());
  const bool is_empty = std::ranges::find(last, 0U) != last.end();
  for (std::uint64_t& each : last) each -= is_empty ? 0 : 1;
  if (!is_empty && !node.array->ids) SHERD_TRY(check_key_length(*location.store, array.state().key(last)));
  SHERD_TRY(check_documents(location, node.document));
  return node;
}

}  // namespace

Result<NodeDocument> new_document(const NodeLocation& location, const CreateOptions& options) {
  auto node = make_document(location, options);
  if (node || node.error().code() == ErrorCode::corrupt) return node;
  // Nothing is stored yet, so the error is about an option, not about the document.
  return Error(node.error().code(), node.error().message()).in_member(node.error().member());
}

namespace {

/// Stores chunks that a reader of another format would read as another value if they were missing.
Result<void> store_all(const Array& array) {
  if (!array.state().storage->stores_fill_values()) return {};
  return array.fill(Box{Shape(array.ndim(), 0), array.shape()}, array.fill_value());
}

}  // namespace

Result<Array> create_array_at(NodeLocation location, const CreateOptions& options) {
  SHERD_TRY(node, new_document(location, options));
  if (options.contents) {
    SHERD_TRY(create_with(location, node, options.overwrite, [&](const Array& array) -> Result<void> {
      SHERD_TRY(store_all(array));
      return options.contents(array);
    }));
    SHERD_TRY(enter(location));
    SHERD_TRY(made, location.format->open(*location.store, location.path, location.config.limits));
    if (!made || !made->array) return conflict("another process created something else here in the meantime");
    return make_array(std::move(location), *std::move(made));
  }
  SHERD_TRY(array, create_array_of(std::move(location), std::move(node), options.overwrite));
  SHERD_TRY(store_all(array));
  return array;
}

Result<void> check_clearable(const NodeLocation& location, ClearOptions options) {
  SHERD_TRY(inspect_location(location, options));
  return {};
}

Result<bool> prepare_location(const NodeLocation& location, ClearOptions options) {
  SHERD_TRY(site, inspect_location(location, options));
  SHERD_TRY(make_parents(location, site.missing_groups));
  return site.occupied || site.foreign;
}

Result<Presence> presence(const NodeLocation& location) {
  auto node = location.format->open(*location.store, location.path, location.config.limits);
  if (!node && is_stored_fault(node.error())) return Presence::stored;
  if (!node) return std::move(node).error();
  if (!*node) return Presence::none;
  return (*node)->implicit ? Presence::implicit : Presence::stored;
}

Result<Presence> own_presence(const NodeLocation& location) {
  const auto node = location.format->open(*location.store, location.path, location.config.limits);
  if (node) return !*node ? Presence::none : (*node)->implicit ? Presence::implicit : Presence::stored;
  if (!is_stored_fault(node.error())) return node.error();
  return is_own_fault(location, node.error()) ? Presence::stored : Presence::none;
}

namespace {

NodeLocation parent_of(const NodeLocation& location) {
  return at_path(location, std::string(parent_path(location.path)));
}

/// False if a node has lost the group around it. The root and the scales of a volume need none.
Result<bool> has_its_group(const NodeLocation& location) {
  if (location.path.empty() || !location.format->arrays_have_documents()) return true;
  return is_group(parent_of(location));
}

}  // namespace

Result<void> refuse_orphan(const NodeLocation& location) {
  SHERD_TRY(has_group, has_its_group(location));
  return has_group ? Result<void>() : group_is_gone(parent_of(location));
}

Result<void> restore_parents(const NodeLocation& location) {
  SHERD_TRY(has_group, has_its_group(location));
  if (has_group) return {};
  SHERD_TRY(missing, missing_groups(location));
  return make_parents(location, missing);
}

Result<bool> any_format(const NodeLocation& location,
                        const std::function<Result<bool>(const NodeLocation& there)>& visit) {
  NodeLocation there = location;
  for (const Format* format : location.tables.formats) {
    there.format = location.format;
    if (!location.format || location.format->name() != format->name()) {
      SHERD_TRY(bound, format->in(*location.store, location.config.limits));
      there.format = std::move(bound);
    }
    if (!there.format) continue;
    SHERD_TRY(done, visit(there));
    if (done) return true;
  }
  return false;
}

}  // namespace sherd
