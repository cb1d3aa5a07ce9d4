// Knows which of the objects below a node are its own or its members': documents, chunks by the names that their array
// gives them, and what a writer that was killed has left. Anything else was put there by somebody who did not know that
// overwriting the node would take it along. Of a document that cannot be read nobody knows what belongs to it, so
// nothing does.
#include <algorithm>
#include <functional>
#include <set>

#include "array/core.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "array/storage.hpp"
#include "base/try.hpp"
#include "store/key.hpp"

namespace sherd {

namespace {

/// Whether an object is the node's own, by its name below the node.
using Own = std::function<bool(std::string_view name)>;

bool nothing(std::string_view) { return false; }

bool is_scratch(std::string_view name) { return is_ours(name) || is_ours(split_key(name).name); }

/// Names the first object below `prefix` that is not the node's own.
Result<void> refuse_below(const NodePlace& place, const std::string& prefix, const Own& own) {
  std::string found;
  bool interrupted = false;
  SHERD_TRY(place.store->list(prefix, [&](const std::string& key, std::uint64_t) {
    const std::string_view name = std::string_view(key).substr(prefix.size());
    if (!is_scratch(name) && !own(name)) found = key;
    interrupted = place.config.interrupted && place.config.interrupted();
    return found.empty() && !interrupted;
  }));
  if (interrupted) return unavailable("interrupted");
  if (!found.empty()) return foreign_object_error(found);
  return {};
}

Own own_of_array(const NodePlace& place, const NodeDocument& node) {
  if (!node.array) return nothing;
  return [grid = ChunkGrid(*node.array), keys = place.format->keys(place.path)](std::string_view name) {
    return grid.parse_key(name) || keys.is_document(keys.chunks + std::string(name));
  };
}

/// A directory below a group whose document has its arrays: of an array's chunks, or of a collection whose objects have
/// been examined.
struct Directory {
  std::string prefix;
  bool has_chunks;
};

// The directories of its arrays.
Result<std::vector<Directory>> arrays_of(const NodePlace& place) {
  std::vector<Directory> arrays;
  SHERD_TRY(members, place.format->members(*place.store, place.path, place.config.limits, {}));
  const std::string prefix = place.format->chunk_prefix(place.path);
  for (const auto& [name, type] : members) {
    SHERD_TRY(array, place.format->open(*place.store, join_path(place.path, name), place.config.limits));
    if (array && array->array->chunk_prefix->starts_with(prefix))
      arrays.push_back({array->array->chunk_prefix->substr(prefix.size()), true});
  }
  return arrays;
}

// A group whose document has its arrays: its documents, their chunks, and the collections that it refers to, whose
// objects are examined first.
Result<Own> own_of_group(const NodePlace& place, const NodeDocument& group) {
  SHERD_TRY(directories, arrays_of(place));
  for (const auto& [member, path] : references_of(*place.format, group.document)) {
    const auto collection = path_below(place.path, path);
    const auto below = collection ? path_from(place.path, *collection) : std::nullopt;
    if (!below) continue;
    SHERD_TRY(foreign, foreign_object_among(at_path(place, *collection)));
    if (foreign) return foreign_object_error(*foreign);
    directories.push_back({prefix_of(*below), false});
  }
  return Own([directories = std::move(directories), format = place.format](std::string_view name) {
    if (member_of(*format, name)) return true;
    return std::ranges::any_of(directories, [&](const Directory& directory) {
      return name.starts_with(directory.prefix) &&
             (!directory.has_chunks || format->names_chunk(name.substr(directory.prefix.size())));
    });
  });
}

Result<Own> own_of(const NodePlace& place, const NodeDocument& node) {
  return node.type == NodeType::array ? own_of_array(place, node) : own_of_group(place, node);
}

// The objects of its counterpart are among an array's own. If that cannot be read, they are foreign objects.
Result<Own> own_of_counterpart(const NodePlace& place, const NodeDocument& node) {
  SHERD_TRY(other, find_counterpart(place, node));
  if (!other || other->format == nullptr) return Own(nothing);
  const auto found = other->format->open(*other->store, other->path, place.config.limits);
  if (!found && !is_stored_fault(found.error())) return found.error();
  return found && *found ? own_of(*other, **found) : Own(nothing);
}

// An array, or a group whose document has its arrays: nothing below has a document of its own.
Result<void> refuse_in_leaf(const NodePlace& place, const NodeDocument& node) {
  SHERD_TRY(one, own_of(place, node));
  SHERD_TRY(two, own_of_counterpart(place, node));
  const Own own = [&](std::string_view name) { return one(name) || two(name); };
  const std::string chunks = place.format->chunk_prefix(place.path);
  for (const std::string& prefix : place.format->contents(place.path))
    SHERD_TRY(refuse_below(place, prefix, prefix == chunks ? own : nothing));
  return {};
}

// What stands directly in a group, of which the members are still to be looked into.
Result<void> refuse_in_group(const NodePlace& place, std::set<std::string>& members) {
  const NodeKeys keys = place.format->keys(place.path);
  for (const std::string& prefix : keys.contents) {
    SHERD_TRY(listing, place.store->list_dir(prefix));
    for (const auto& object : listing.objects) {
      const bool known = keys.is_document(prefix + object.name) || is_ours(object.name) ||
                         (prefix != keys.chunks && member_of(*place.format, object.name));
      if (!known) return foreign_object_error(prefix + object.name);
    }
    for (const std::string& name : listing.prefixes) {
      const NodePlace member = at_path(place, join_path(place.path, name));
      SHERD_TRY(present, own_presence(member));
      if (present != Presence::none)
        members.insert(member.path);
      else if (!is_ours(name))
        SHERD_TRY(refuse_below(place, prefix + name + "/", nothing));
    }
  }
  return {};
}

Result<void> refuse_in_unreadable(const NodePlace& place) {
  const NodeKeys keys = place.format->keys(place.path);
  for (const std::string& prefix : keys.contents) {
    auto refused = refuse_below(place, prefix,
                                [&](std::string_view name) { return keys.is_document(prefix + std::string(name)); });
    if (!refused && refused.error().code() == ErrorCode::conflict)
      return conflict(
                 "may not be part of the node that is to be overwritten, whose document cannot be read; remove it "
                 "first, or choose another path")
          .in_key(refused.error().key());
    SHERD_TRY(std::move(refused));
  }
  return {};
}

/// Of the node of one format, which can be read, and its members.
Result<void> refuse_in_format(const NodePlace& place) {
  NodePlace reading = place;
  reading.writable = false;
  std::set<std::string> paths{place.path};
  while (!paths.empty()) {
    reading.path = std::move(paths.extract(paths.begin()).value());
    const auto node = place.format->open(*place.store, reading.path, place.config.limits);
    if (!node && !is_stored_fault(node.error())) return node.error();
    if (!node) {
      SHERD_TRY(refuse_in_unreadable(reading));
    } else if (*node) {
      const bool group = (*node)->type == NodeType::group && place.format->arrays_have_documents();
      SHERD_TRY(group ? refuse_in_group(reading, paths) : refuse_in_leaf(reading, **node));
    }
  }
  return {};
}

/// What has been looked into: prefixes, and keys of documents.
class Known {
 public:
  explicit Known(const NodePlace& place) {
    if (!place.path.empty()) return;
    for (const Format* format : place.tables.formats)
      if (const auto* entry = capability<EntryPoint>(*format)) keys_.emplace_back(entry->key());
  }
  void add(const NodePlace& place) {
    NodeKeys keys = place.format->keys(place.path);
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
  return conflict("is not part of the node that is to be overwritten; remove it first, or choose another path")
      .in_key(key);
}

Result<void> refuse_all_but_chunks(const NodePlace& place) {
  const NodeKeys keys = place.format->keys(place.path);
  for (const std::string& prefix : keys.contents)
    SHERD_TRY(refuse_below(place, prefix, [&](std::string_view name) {
      return (prefix == keys.chunks && place.format->names_chunk(name)) || keys.is_document(prefix + std::string(name));
    }));
  return {};
}

// What is overwritten may be of another format than what comes there, and then be less than that erases.
Result<void> refuse_foreign_objects(const NodePlace& place) {
  Known known(place);
  std::vector<NodePlace> unreadable;
  SHERD_TRY(any_format(place, [&](const NodePlace& there) -> Result<bool> {
    SHERD_TRY(present, own_presence(there));
    if (present == Presence::none) return false;
    if (!there.format->open(*there.store, there.path, there.config.limits)) {
      unreadable.push_back(there);
      return false;
    }
    SHERD_TRY(refuse_in_format(there));
    known.add(there);
    return false;
  }));
  if (known.has_nothing()) {  // otherwise it is a foreign object of the node that can be read
    for (const NodePlace& there : unreadable) {
      SHERD_TRY(refuse_in_unreadable(there));
      known.add(there);
    }
  }
  for (const std::string& prefix : place.format->contents(place.path))
    if (!known.has(prefix))
      SHERD_TRY(
          refuse_below(place, prefix, [&](std::string_view name) { return known.has(prefix + std::string(name)); }));
  return {};
}

}  // namespace sherd
