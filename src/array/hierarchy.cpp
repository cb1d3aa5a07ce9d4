// Knows how nodes come to be and how they go. The order of requests is what matters here: everything is checked
// before anything is written; missing parents are written first; a document appears only where none is, so that of
// two creators one gets `conflict`. An erased node's documents go first, because an array without some of its objects
// would read as fill values; so that a kill leaves no objects that nobody knows, a note of what goes on stands at the
// store's root (note_moving()) from before the first is erased until after the last.
#include "array/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "array/consolidated.hpp"
#include "array/create.hpp"
#include "array/document.hpp"
#include "array/staged.hpp"
#include "array/storage.hpp"
#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "shard/uint64.hpp"
#include "store/key.hpp"

namespace sherd {

namespace {

Result<void> check_names(const NodePlace& place) {
  std::string_view rest = place.path;
  while (!rest.empty()) {
    const std::size_t end = rest.find('/');
    SHERD_TRY(place.format->check_name(rest.substr(0, end)));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return {};
}

/// Whether a group's document stands at `place`; `conflict` where an array does.
Result<bool> group_stands(const NodePlace& place) {
  SHERD_TRY(node, place.format->open(*place.store, place.path, place.config.limits));
  if (node && node->type == NodeType::array)
    return conflict("an array stands here, and an array has no members")
        .in_key(place.format->document_key(place.path, NodeType::array));
  return node && !node->implicit;
}

Result<void> erase_contents(const NodePlace& place) {
  const NodeKeys keys = place.format->keys(place.path);
  for (const std::string& prefix : keys.contents) {
    SHERD_TRY(listing, place.store->list_dir(prefix));
    for (const std::string& name : listing.prefixes)
      if (!is_staging(name)) SHERD_TRY(place.store->erase_prefix(prefix + name + "/"));
    for (const auto& object : listing.objects) {
      const std::string key = prefix + object.name;
      if (!keys.is_document(key)) SHERD_TRY(place.store->erase(key));
    }
  }
  return {};
}

/// Of the node, and of any that another format has in its place, which would lack its contents.
Result<void> erase_documents(const NodePlace& place) {
  const NodeKeys own = place.format->keys(place.path);
  for (const std::string& key : own.documents) SHERD_TRY(place.store->erase(key));
  for (const Format* other : place.tables.formats) {
    if (other->name() == place.format->name()) continue;
    for (const std::string& key : other->keys(place.path).documents) {
      if (std::ranges::none_of(own.contents, [&](const std::string& prefix) { return key.starts_with(prefix); }))
        continue;
      const auto erased = place.store->erase(key);
      if (!erased && !is_stored_fault(erased.error())) return erased.error();  // a directory is no document
    }
  }
  return {};
}

/// Whether there are objects, other than documents, where those of a node would be.
Result<bool> has_contents(const NodePlace& place) {
  const NodeKeys keys = place.format->keys(place.path);
  for (const std::string& prefix : keys.contents) {
    SHERD_TRY(listing, place.store->list_dir(prefix));
    const bool only_documents = std::ranges::all_of(
        listing.objects, [&](const Listing::Object& object) { return keys.is_document(prefix + object.name); });
    if (!only_documents || !std::ranges::all_of(listing.prefixes, is_staging)) return true;
  }
  return false;
}

/// Whether what a new node would erase at `place` is all that a node of another format has there.
bool covers(const NodePlace& place, const Format& other) {
  const std::vector<std::string> own = place.format->contents(place.path);
  return std::ranges::all_of(other.contents(place.path), [&](const std::string& prefix) {
    return std::ranges::any_of(own, [&](const std::string& each) { return prefix.starts_with(each); });
  });
}

bool is_own_fault(const NodePlace& place, const Error& error) {
  return is_stored_fault(error) && place.format->keys(place.path).is_document(error.key());
}

using IsRefused = std::function<bool(const Format& format, const NodeDocument& node)>;

/// Where the document of a node of any known format is, or could be, at `place`. `conflict` where objects stand, or a
/// node of another format that is refused.
Result<std::optional<std::string>> find_document(const NodePlace& place, const IsRefused& refused) {
  std::optional<std::string> document;
  SHERD_TRY(any_format(place, [&](const NodePlace& there) -> Result<bool> {
    const Format& format = *there.format;
    const bool is_other = format.name() != place.format->name();
    const std::string likeliest = format.likeliest_key(there.path);
    const auto stands = [&](const std::string& what, std::string key) {
      return conflict(what + " stands here, and no node of the format " + std::string(place.format->name()) +
                      " can stand here or below; choose another path")
          .in_key(std::move(key));
    };
    const auto node = format.open(*place.store, place.path, place.config.limits);
    if (!node && !is_stored_fault(node.error())) return node.error();
    if (node && !*node) {
      SHERD_TRY(objects, is_other ? holds_objects(there) : false);
      return objects ? Result<bool>(stands("a collection of objects", likeliest)) : false;
    }
    if (node ? (*node)->implicit : !is_own_fault(there, node.error())) return false;
    if (node && is_other && refused(format, **node))
      return stands("a node of the format " + std::string(format.name()),
                    format.document_key(there.path, (*node)->type));
    if (!document) document = likeliest;
    return false;
  }));
  return document;
}

/// A new node below `group`: whether that is missing and to be made.
Result<bool> survey_above(const NodePlace& group) {
  SHERD_TRY(stands, group_stands(group));
  const bool has_members = group.format->arrays_have_documents();
  if (stands && has_members) return false;
  if (stands)
    return conflict("a volume stands here, and a volume has no members but its scales")
        .in_key(group.format->document_key(group.path, NodeType::group));
  SHERD_TRY(find_document(
      group, [&](const Format&, const NodeDocument& node) { return has_members || node.type == NodeType::array; }));
  return has_members;
}

/// What a new node finds at its place.
struct Site {
  std::vector<std::string> missing_groups;
  bool occupied = false;
  bool strays = false;     ///< objects, but no node, that may go
  bool leftovers = false;  ///< which are chunks by their names
};

Result<Site> survey(const NodePlace& place, bool overwrite) {
  SHERD_TRY(require_writable(place));
  SHERD_TRY(check_names(place));
  Site site;
  for (std::string& path : ancestors(place.path)) {
    SHERD_TRY(missing, survey_above(at_path(place, path)));
    if (missing) site.missing_groups.push_back(std::move(path));
  }
  SHERD_TRY(document,
            find_document(place, [&](const Format& other, const NodeDocument&) { return !covers(place, other); }));
  site.occupied = document.has_value();
  if (document && !overwrite)
    return conflict("a node stands here already; overwrite it or choose another path").in_key(*document);
  if (document) SHERD_TRY(refuse_foreign_objects(place));
  return site;
}

Result<Site> survey_room(const NodePlace& place, RoomOptions options) {
  SHERD_TRY(site, survey(place, options.overwrite));
  if (site.occupied) return site;
  SHERD_TRY(strays, has_contents(place));
  if (!strays) return site;
  SHERD_TRY(moving, is_moving(place));
  site.strays = true;
  if (moving || options.strays) return site;
  if (!options.overwrite)
    return conflict("there are objects at this path that belong to no node; remove them or choose another path")
        .in_key(place.format->likeliest_key(place.path));
  SHERD_TRY(refuse_all_but_chunks(place));
  site.leftovers = true;
  return site;
}

/// Held while a node of several documents is made; nullptr if there is one. The others do not show that another creator
/// was first.
Result<std::unique_ptr<StoreLock>> lock_documents(const NodePlace& place, const Json& document) {
  if (place.format->documents(place.path, document).size() < 2) return std::unique_ptr<StoreLock>();
  return lock_node(place);
}

Result<void> make_parents(const NodePlace& place, const Site& site) {
  for (const std::string& path : site.missing_groups) {
    const NodePlace parent = at_path(place, path);
    SHERD_TRY(group, place.format->group_document(Json()));
    SHERD_TRY(lock, lock_documents(parent, group));
    auto written = write_documents(parent, group, Condition::absent());
    if (written) continue;
    if (written.error().code() != ErrorCode::conflict) return std::move(written).error();
    SHERD_TRY(stands, group_stands(parent));
    if (!stands) return std::move(written).error();
  }
  return {};
}

Result<std::vector<DocumentVersion>> write_node(NodePlace& place, const Site& site, const NodeDocument& node) {
  SHERD_TRY(enter(place));
  SHERD_TRY(make_parents(place, site));
  SHERD_TRY(lock, lock_documents(place, node.document));
  if (site.occupied || site.strays) {
    if (lock == nullptr) {
      SHERD_TRY(taken, lock_node(place));
      lock = std::move(taken);
    }
    if (site.leftovers) {
      SHERD_TRY(refuse_all_but_chunks(place));
    } else if (site.strays) {
      SHERD_TRY(still_moving, is_moving(place));
      if (!still_moving) return conflict("somebody else has made something here meanwhile");
    }
    SHERD_TRY(wait_for_writers(place));
    SHERD_TRY(note_moving(place));
    SHERD_TRY(clear_room(place));
  }
  SHERD_TRY(write_counterpart(place, node));
  SHERD_TRY(versions, write_documents(place, node.document, Condition::absent()));
  SHERD_TRY(renew_consolidated(place));
  SHERD_TRY(place.store->erase_prefix(staging_name(place.path) + "/"));  // left by somebody who was killed
  return versions;
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
      return invalid_argument("a path inside a store has no '.' and no '..': '" + std::string(segment) + "'");
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

NodePlace at_path(const NodePlace& place, std::string path) {
  NodePlace other = place;
  other.path = std::move(path);
  return other;
}

Result<Node> make_node(NodePlace place, NodeDocument document) {
  if (document.type == NodeType::group) return Node(make_group(std::move(place), std::move(document)));
  if (const auto level = place.config.gzip_level; level && (*level < 0 || *level > 9))
    return std::move(invalid_argument("must be from 0 to 9, not " + std::to_string(*level))).in_member("gzip_level");
  const std::string key = place.format->document_key(place.path, NodeType::array);
  auto array = make_array(std::move(place), std::move(document));
  if (!array) return stored_error(std::move(array).error()).in_key(key);
  return Node(*std::move(array));
}

Result<std::optional<Node>> find_node(NodePlace place) {
  SHERD_TRY(document, place.format->open(*place.store, place.path, place.config.limits));
  if (!document) return std::optional<Node>();
  SHERD_TRY(node, make_node(std::move(place), *std::move(document)));
  return std::optional(std::move(node));
}

Result<void> enter(NodePlace& place) {
  const auto* entry = capability<EntryPoint>(*place.format);
  if (entry == nullptr) return {};
  SHERD_TRY(format, entry->create(*place.store, place.config.limits));
  if (format == nullptr) return other_hierarchy(*place.format);
  place.format = std::move(format);
  return {};
}

Result<Group> create_group_at(NodePlace place, const Json& attributes, bool overwrite) {
  if (!attributes.is_null() && !attributes.is_object())
    return invalid_argument("must be an object").in_member("attributes");
  SHERD_TRY(document, place.format->group_document(attributes));
  SHERD_TRY(node, place.format->lower(std::move(document), place.config.limits));
  SHERD_TRY(check_documents(place, node.document));
  SHERD_TRY(site, survey(place, overwrite));
  if (!site.occupied) {
    SHERD_TRY(moving, is_moving(place));
    site.strays = moving;
  }
  SHERD_TRY(write_node(place, site, node));
  return make_group(std::move(place), std::move(node));
}

Result<Group> create_group_of(NodePlace place, NodeDocument node, bool overwrite) {
  SHERD_TRY(check_documents(place, node.document));
  SHERD_TRY(site, survey_room(place, {.overwrite = overwrite}));
  SHERD_TRY(write_node(place, site, node));
  return make_group(std::move(place), std::move(node));
}

namespace {

// The layouts that lay arrays out in a way of their own, for messages.
std::string layout_names(const Tables& tables) {
  std::string names;
  for (const StorageKind* kind : tables.storages)
    if (!kind->layout_name().empty()) names += (names.empty() ? "" : " or ") + std::string(kind->layout_name());
  return names;
}

Result<NodeDocument> make_document(const NodePlace& place, const CreateOptions& options) {
  const StorageKind* kind = find_storage(place.tables, options.config.layout);
  if (options.volume && kind == nullptr)
    return std::move(invalid_argument("can only be used with the layout " + layout_names(place.tables)))
        .in_member("volume");
  SHERD_TRY(check_index_options(options));
  DefaultCodecs defaults = place.format->traits().default_codecs;
  if (kind != nullptr) kind->set_defaults(options.config, defaults);
  SHERD_TRY(spec, new_array_spec(options, place.codecs(), defaults));
  complete_codecs(spec.codecs, place.codecs(), spec.dtype);
  SHERD_TRY(document, place.format->array_document(spec));
  SHERD_TRY(node, place.format->lower(std::move(document), place.config.limits));
  if (kind != nullptr) SHERD_TRY(kind->lay_out(place, node, options));
  NodePlace reading = place;
  reading.writable = false;
  SHERD_TRY(make_array(std::move(reading), node));  // what cannot be opened is not written
  SHERD_TRY(check_documents(place, node.document));
  return node;
}

}  // namespace

Result<NodeDocument> new_document(const NodePlace& place, const CreateOptions& options) {
  auto node = make_document(place, options);
  if (node || node.error().code() == ErrorCode::corrupt) return node;
  // Nothing is stored yet: what is wrong is an option, not the document.
  return Error(node.error().code(), node.error().message()).in_member(node.error().member());
}

namespace {

/// Stores the chunks that a reader of another format takes for another value as long as they are missing.
Result<void> store_all(const Array& array) {
  if (!array.state().storage->stores_fill_values()) return {};
  return array.fill(Box{Shape(array.ndim(), 0), array.shape()}, array.fill_value());
}

}  // namespace

Result<Array> create_array_at(NodePlace place, const CreateOptions& options) {
  SHERD_TRY(node, new_document(place, options));
  if (options.contents) {
    SHERD_TRY(create_with(place, node, options.overwrite, [&](const Array& array) -> Result<void> {
      SHERD_TRY(store_all(array));
      return options.contents(array);
    }));
    SHERD_TRY(enter(place));
    SHERD_TRY(made, place.format->open(*place.store, place.path, place.config.limits));
    if (!made || !made->array) return conflict("somebody else has made something else here meanwhile");
    return make_array(std::move(place), *std::move(made));
  }
  SHERD_TRY(site, survey_room(place, {.overwrite = options.overwrite}));
  SHERD_TRY(check_links(place, node));
  SHERD_TRY(versions, write_node(place, site, node));
  node.versions = std::move(versions);
  SHERD_TRY(array, make_array(std::move(place), std::move(node)));
  SHERD_TRY(store_all(array));
  return array;
}

std::string staging_name(const std::string& path) {
  constexpr char digits[] = "0123456789abcdef";
  std::string name(kScratchPrefix);
  const std::uint32_t hash = crc32c(as_bytes(path));
  for (int shift = 28; shift >= 0; shift -= 4) name += digits[hash >> shift & 15U];
  return name;
}

Result<std::unique_ptr<StoreLock>> lock_node(const NodePlace& place) {
  return as_call(place.config, [&] { return place.store->lock(staging_name(place.path)); });
}

namespace {

std::string moving_key(const std::string& path) { return staging_name(path) + "/moving"; }

}  // namespace

Result<void> note_moving(const NodePlace& place) { return place.store->set(moving_key(place.path), ""); }

Result<bool> is_moving(const NodePlace& place) {
  SHERD_TRY(note, place.store->open(moving_key(place.path)));
  return note != nullptr;
}

bool is_staging(std::string_view name) noexcept { return name.starts_with(kScratchPrefix); }

Result<void> check_room(const NodePlace& place, RoomOptions options) {
  SHERD_TRY(survey_room(place, options));
  return {};
}

Result<bool> prepare_room(const NodePlace& place, RoomOptions options) {
  SHERD_TRY(site, survey_room(place, options));
  SHERD_TRY(make_parents(place, site));
  return site.occupied || site.strays;
}

Result<void> wait_for_writers(const NodePlace& place) {
  return as_call(place.config, [&]() -> Result<void> {
    for (const std::string& prefix : place.format->contents(place.path))
      SHERD_TRY(place.store->wait_for_writers(prefix));
    return {};
  });
}

// A writer that confirmed its array's document before that went may still store a chunk; later ones no longer do. So
// after the documents are gone, those below among them, the writers at work are waited for, and what they have stored
// goes too (docs/decisions/0014).
Result<void> clear_room(const NodePlace& place) {
  SHERD_TRY(unlist(place));
  SHERD_TRY(erase_documents(place));
  SHERD_TRY(erase_contents(place));
  SHERD_TRY(wait_for_writers(place));
  return erase_contents(place);
}

Result<Presence> presence(const NodePlace& place) {
  auto node = place.format->open(*place.store, place.path, place.config.limits);
  if (!node && is_stored_fault(node.error())) return Presence::stored;
  if (!node) return std::move(node).error();
  if (!*node) return Presence::none;
  return (*node)->implicit ? Presence::implicit : Presence::stored;
}

Result<Presence> own_presence(const NodePlace& place) {
  const auto node = place.format->open(*place.store, place.path, place.config.limits);
  if (node) return !*node ? Presence::none : (*node)->implicit ? Presence::implicit : Presence::stored;
  if (!is_stored_fault(node.error())) return node.error();
  return is_own_fault(place, node.error()) ? Presence::stored : Presence::none;
}

Result<bool> any_format(const NodePlace& place, const std::function<Result<bool>(const NodePlace& there)>& visit) {
  NodePlace there = place;
  for (const Format* format : place.tables.formats) {
    there.format = place.format;
    if (!place.format || place.format->name() != format->name()) {
      SHERD_TRY(bound, format->in(*place.store, place.config.limits));
      there.format = std::move(bound);
    }
    if (!there.format) continue;
    SHERD_TRY(done, visit(there));
    if (done) return true;
  }
  return false;
}

Result<void> erase_node(const NodePlace& place) {
  SHERD_TRY(require_writable(place));
  if (!place.format->arrays_have_documents()) {
    SHERD_TRY(node, place.format->open(*place.store, place.path, place.config.limits));
    if (node && node->type == NodeType::array)
      return unsupported("an array of this format stands in the document of its group; erase the group")
          .in_key(place.format->document_key(place.path, NodeType::array));
  }
  SHERD_TRY(lock, lock_node(place));
  SHERD_TRY(wait_for_writers(place));
  SHERD_TRY(note_moving(place));
  SHERD_TRY(clear_room(place));
  for (const std::string& prefix : place.format->contents(place.path)) SHERD_TRY(place.store->erase_prefix(prefix));
  SHERD_TRY(place.store->erase_prefix(staging_name(place.path) + "/"));
  return renew_consolidated(place);
}

}  // namespace sherd
