// Determines which objects below a node belong to it or to its members: documents, chunks (by the names that their
// array gives them), and leftovers of a killed writer. Anything else was put there by a program that did not expect
// that overwriting the node would erase it too. If a document cannot be read, it is unknown what belongs to it, so
// nothing does.
#include "node/foreign_objects.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "base/call.hpp"
#include "base/try.hpp"
#include "node/claim.hpp"
#include "node/document.hpp"
#include "node/document_keys.hpp"
#include "node/grid.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"
#include "node/storage_kind.hpp"
#include "store/key.hpp"

namespace sherd {

namespace {

/// Whether an object belongs to the node, judging by its name below the node.
using Own = std::function<bool(std::string_view name)>;

bool nothing(std::string_view) { return false; }

struct Search {
  std::function<Result<void>(const std::string& key)> found;  ///< of a foreign object; an error ends the search
  /// Includes objects in collections, collections to which nothing refers, and nodes that cannot be read.
  bool is_thorough;
};

const Search& refusing() {
  static const Search search{[](const std::string& key) -> Result<void> { return foreign_object_error(key); }, true};
  return search;
}

bool is_scratch(std::string_view name) { return is_ours(name) || is_ours(split_key(name).name); }

/// Reports the objects below `prefix` that do not belong to the node.
Result<void> find_below(const NodeLocation& location, const std::string& prefix, const Own& own, const Search& search) {
  SHERD_TRY(location.store->visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    if (!is_scratch(entry.name) && !own(entry.name)) SHERD_TRY(search.found(prefix + std::string(entry.name)));
    SHERD_TRY(check_interrupted(location.config.interrupted));
    return true;
  }));
  return {};
}

Own own_of_array(const NodeLocation& location, const NodeDocument& node) {
  if (!node.array) return nothing;
  return [grid = ChunkGrid(*node.array), keys = location.format->keys(location.path),
          tables = location.tables](std::string_view name) {
    return grid.parse_key(name) || keys.is_document(keys.chunks + std::string(name)) || tables.is_model_document(name);
  };
}

/// A directory below a group whose document describes its arrays: of an array's chunks, or of a collection whose
/// objects have been examined.
struct Directory {
  std::string prefix;
  bool has_chunks;
};

// The directories of the group's arrays.
Result<std::vector<Directory>> arrays_of(const NodeLocation& location) {
  std::vector<Directory> arrays;
  SHERD_TRY(members, location.format->members(*location.store, location.path, location.config.limits, {}));
  const std::string prefix = location.format->chunk_prefix(location.path);
  for (const auto& [name, type] : members) {
    SHERD_TRY(array, location.format->open(*location.store, join_path(location.path, name), location.config.limits));
    if (array && array->array->chunk_prefix->starts_with(prefix))
      arrays.push_back({array->array->chunk_prefix->substr(prefix.size()), true});
  }
  return arrays;
}

// For a group whose document describes its arrays: its documents, their chunks, and the collections to which it refers,
// whose objects are examined first.
Result<Own> own_of_group(const NodeLocation& location, const NodeDocument& group, const Search& search) {
  SHERD_TRY(directories, arrays_of(location));
  for (const auto& [member, path] : references_of(*location.format, group.document)) {
    const auto collection = path_below(location.path, path);
    const auto below = collection ? path_from(location.path, *collection) : std::nullopt;
    if (!below) continue;
    if (search.is_thorough) {
      SHERD_TRY(foreign, foreign_object_among(at_path(location, *collection)));
      if (foreign) SHERD_TRY(search.found(*foreign));
    }
    directories.push_back({prefix_of(*below), false});
  }
  if (!search.is_thorough) {
    SHERD_TRY(listing, location.store->list_dir(location.format->chunk_prefix(location.path)));
    for (const std::string& name : listing.prefixes) {
      SHERD_TRY(is_collection, holds_objects(at_path(location, join_path(location.path, name))));
      if (is_collection) directories.push_back({name + "/", false});
    }
  }
  return Own([directories = std::move(directories), format = location.format](std::string_view name) {
    if (member_of(*format, name)) return true;
    return std::ranges::any_of(directories, [&](const Directory& directory) {
      return name.starts_with(directory.prefix) &&
             (!directory.has_chunks || format->names_chunk(name.substr(directory.prefix.size())));
    });
  });
}

Result<Own> own_of(const NodeLocation& location, const NodeDocument& node, const Search& search) {
  return node.type == NodeType::array ? own_of_array(location, node) : own_of_group(location, node, search);
}

// An array's own objects include those of its counterpart. If that cannot be read, they are foreign objects.
Result<Own> own_of_counterpart(const NodeLocation& location, const NodeDocument& node, const Search& search) {
  SHERD_TRY(other, find_counterpart(location, node));
  if (!other || other->format == nullptr) return Own(nothing);
  const auto found = other->format->open(*other->store, other->path, location.config.limits);
  if (!found && !is_stored_fault(found.error())) return found.error();
  return found && *found ? own_of(*other, **found, search) : Own(nothing);
}

// For an array, or a group whose document describes its arrays: nothing below has a document of its own.
Result<void> find_in_leaf(const NodeLocation& location, const NodeDocument& node, const Search& search) {
  SHERD_TRY(one, own_of(location, node, search));
  SHERD_TRY(two, own_of_counterpart(location, node, search));
  const Own own = [&](std::string_view name) { return one(name) || two(name); };
  const std::string chunks = location.format->chunk_prefix(location.path);
  for (const std::string& prefix : location.format->contents(location.path))
    SHERD_TRY(find_below(location, prefix, prefix == chunks ? own : nothing, search));
  return {};
}

// Examines the direct contents of a group; its members are examined later.
Result<void> find_in_group(const NodeLocation& location, std::set<std::string>& members, const Search& search) {
  const NodeKeys keys = location.format->keys(location.path);
  for (const std::string& prefix : keys.contents) {
    SHERD_TRY(listing, location.store->list_dir(prefix));
    for (const auto& object : listing.objects) {
      const bool known = keys.is_document(prefix + object.name) || is_ours(object.name) ||
                         location.tables.is_model_document(object.name) ||
                         (prefix != keys.chunks && member_of(*location.format, object.name));
      if (!known) SHERD_TRY(search.found(prefix + object.name));
    }
    for (const std::string& name : listing.prefixes) {
      const NodeLocation member = at_path(location, join_path(location.path, name));
      SHERD_TRY(present, own_presence(member));
      if (present != Presence::none)
        members.insert(member.path);
      else if (!is_ours(name))
        SHERD_TRY(find_below(location, prefix + name + "/", nothing, search));
    }
  }
  return {};
}

// For a document that only arrays have, and that contains something unsupported, such as a codec: the chunks of the
// array may be erased.
Result<void> refuse_in_unreadable(const NodeLocation& location, const Error& error) {
  const NodeKeys keys = location.format->keys(location.path);
  const bool is_array = error.code() == ErrorCode::unsupported && !error.member().empty() &&
                        error.key() == keys.array && keys.array != keys.group;
  for (const std::string& prefix : keys.contents) {
    const bool has_chunks = is_array && prefix == keys.chunks;
    const auto own = [&](std::string_view name) {
      return keys.is_document(prefix + std::string(name)) || (has_chunks && location.format->names_chunk(name));
    };
    auto refused = find_below(location, prefix, own, refusing());
    if (!refused && refused.error().code() == ErrorCode::conflict)
      return conflict(
                 "may belong to another program: the node's document cannot be read, so its members are not known; "
                 "remove the object first")
          .in_key(refused.error().key());
    SHERD_TRY(std::move(refused));
  }
  return {};
}

/// For a node that can be read in one format, and its members.
Result<void> find_in_format(const NodeLocation& location, const Search& search) {
  NodeLocation reading = location;
  reading.writable = false;
  std::set<std::string> paths{location.path};
  while (!paths.empty()) {
    reading.path = std::move(paths.extract(paths.begin()).value());
    const auto node = location.format->open(*location.store, reading.path, location.config.limits);
    if (!node && !is_stored_fault(node.error())) return node.error();
    if (!node) {
      if (search.is_thorough) SHERD_TRY(refuse_in_unreadable(reading, node.error()));
    } else if (*node) {
      const bool group = (*node)->type == NodeType::group && location.format->arrays_have_documents();
      SHERD_TRY(group ? find_in_group(reading, paths, search) : find_in_leaf(reading, **node, search));
    }
  }
  return {};
}

/// What has been examined: prefixes, and keys of documents.
class Known {
 public:
  explicit Known(const NodeLocation& location) {
    if (!location.path.empty()) return;
    for (const Format* format : location.tables.formats)
      if (const auto* entry = capability<EntryPoint>(*format)) keys_.emplace_back(entry->key());
  }
  void add(const NodeLocation& location) {
    NodeKeys keys = location.format->keys(location.path);
    std::ranges::move(keys.contents, std::back_inserter(prefixes_));
    std::ranges::move(keys.documents, std::back_inserter(keys_));
  }
  [[nodiscard]] bool has(std::string_view key) const {
    return std::ranges::find(keys_, key) != keys_.end() ||
           std::ranges::any_of(prefixes_, [&](const std::string& prefix) { return key.starts_with(prefix); });
  }
  [[nodiscard]] bool has_nothing() const { return prefixes_.empty(); }

 private:
  std::vector<std::string> prefixes_, keys_;
};

}  // namespace

Error foreign_object_error(const std::string& key) {
  return conflict("is not part of the node; remove it first, or choose another path").in_key(key);
}

Result<void> refuse_all_but_chunks(const NodeLocation& location) {
  const NodeKeys keys = location.format->keys(location.path);
  for (const std::string& prefix : keys.contents) {
    const auto own = [&](std::string_view name) {
      return (prefix == keys.chunks && location.format->names_chunk(name)) ||
             keys.is_document(prefix + std::string(name));
    };
    SHERD_TRY(find_below(location, prefix, own, refusing()));
  }
  return {};
}

Result<void> refuse_all_but_node_objects(const NodeLocation& location) {
  const DocumentKeys documents(location);
  const auto is_chunk = [&](std::string_view name) {
    for (;;) {
      if (std::ranges::any_of(location.tables.formats, [&](const Format* each) { return each->names_chunk(name); }))
        return true;
      const std::size_t end = name.find('/');
      if (end == name.npos) return false;
      name.remove_prefix(end + 1);
    }
  };
  for (const std::string& prefix : location.format->contents(location.path)) {
    const auto own = [&](std::string_view name) { return documents.has(prefix + std::string(name)) || is_chunk(name); };
    SHERD_TRY(find_below(location, prefix, own, refusing()));
  }
  return {};
}

Result<ForeignObjects> foreign_objects(const NodeLocation& location) {
  ForeignObjects objects;
  const auto count = [&objects](const std::string& key) -> Result<void> {
    if (objects.count++ == 0) objects.first = key;
    return {};
  };
  SHERD_TRY(find_in_format(location, {count, false}));
  return objects;
}

// The overwritten node may have another format than the new one, and may be less than what the new one erases.
Result<void> refuse_foreign_objects(const NodeLocation& location) {
  SHERD_TRY(refuse_overlapping(location));  // what is being made belongs to no node yet
  Known known(location);
  std::vector<std::pair<NodeLocation, Error>> unreadable;
  SHERD_TRY(any_format(location, [&](const NodeLocation& there) -> Result<bool> {
    SHERD_TRY(present, own_presence(there));
    if (present == Presence::none) return false;
    const auto node = there.format->open(*there.store, there.path, there.config.limits);
    if (!node) {
      unreadable.emplace_back(there, node.error());
      return false;
    }
    SHERD_TRY(find_in_format(there, refusing()));
    known.add(there);
    return false;
  }));
  if (known.has_nothing()) {  // otherwise it is a foreign object of the readable node
    for (const auto& [there, error] : unreadable) {
      SHERD_TRY(refuse_in_unreadable(there, error));
      known.add(there);
    }
  }
  for (const std::string& prefix : location.format->contents(location.path)) {
    const auto own = [&](std::string_view name) { return known.has(prefix + std::string(name)); };
    if (!known.has(prefix)) SHERD_TRY(find_below(location, prefix, own, refusing()));
  }
  return {};
}

}  // namespace sherd
