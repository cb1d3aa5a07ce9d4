// Knows which of the objects below a node are its own or its members': documents, chunks by the names that their array
// gives them, and what a writer that was killed has left. Anything else was put there by somebody who did not know that
// overwriting the node would take it along. What is below a document that cannot be read counts as that node's.
#include <algorithm>
#include <functional>
#include <set>

#include "array/core.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "array/twin.hpp"
#include "base/try.hpp"
#include "store/key.hpp"

namespace sherd {

namespace {

/// Whether an object is the node's own, by its name below the node.
using Own = std::function<bool(std::string_view name)>;

bool everything(std::string_view) { return true; }
bool nothing(std::string_view) { return false; }

/// Names the first object below `prefix` that is not the node's own.
Result<void> refuse_below(Store& store, const std::string& prefix, const Own& own) {
  std::string found;
  SHERD_TRY(store.list(prefix, [&](const std::string& key, std::uint64_t) {
    if (!own(std::string_view(key).substr(prefix.size()))) found = key;
    return found.empty();
  }));
  if (!found.empty()) return stranger_error(found);
  return {};
}

Own own_of_array(const NodePlace& place, const NodeDocument& node) {
  const auto array = make_array(place, node);
  if (!array) return everything;
  const std::string prefix = place.format->chunk_prefix(place.path);
  const std::string document = place.format->document_key(place.path, NodeType::array);
  return [array = *array, prefix, document](std::string_view name) {
    return is_ours(name) || array.state().grid.parse_key(name) || prefix + std::string(name) == document;
  };
}

// Names of volumes' chunks, of what compressed ones are called, and of shards of today and before.
bool is_chunk_or_shard(const ChunkGrid& grid, std::string_view name) {
  if (grid.parse_key(name)) return true;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view suffix = name.substr(dot);
  return suffix == ".shard" || suffix == ".index" || suffix == ".data" || grid.parse_key(name.substr(0, dot));
}

/// A directory below a volume, and what may stand in it.
struct Directory {
  std::string prefix;
  Own own;
};

// The scales of a group whose document has its arrays.
Result<std::vector<Directory>> scales_of(const NodePlace& place) {
  std::vector<Directory> scales;
  SHERD_TRY(members, place.format->members(*place.store, place.path, place.config.limits, {}));
  const std::string prefix = place.format->chunk_prefix(place.path);
  for (const auto& [name, type] : members) {
    SHERD_TRY(scale, place.format->open(*place.store, join_path(place.path, name), place.config.limits));
    if (!scale || !scale->array->chunk_prefix->starts_with(prefix)) continue;
    scales.push_back(
        {scale->array->chunk_prefix->substr(prefix.size()), [grid = ChunkGrid(*scale->array)](std::string_view object) {
           return is_ours(object) || is_chunk_or_shard(grid, object);
         }});
  }
  return scales;
}

// Also what stands in the collections that a volume refers to, after it has been looked into.
Result<Own> own_of_volume(const NodePlace& place, const NodeDocument& volume) {
  SHERD_TRY(directories, scales_of(place));
  for (const auto& [member, path] : place.format->references(volume.document)) {
    const auto collection = path_below(place.path, path);
    const auto below = collection ? path_from(place.path, *collection) : std::nullopt;
    if (!below) continue;
    SHERD_TRY(stranger, place.format->stranger_among_objects(at_path(place, *collection)));
    if (stranger) return stranger_error(*stranger);
    directories.push_back({prefix_of(*below), everything});
  }
  return Own([directories = std::move(directories)](std::string_view name) {
    if (name == "info" || name == "provenance" || is_ours(name)) return true;
    return std::ranges::any_of(directories, [&](const Directory& directory) {
      return name.starts_with(directory.prefix) && directory.own(name.substr(directory.prefix.size()));
    });
  });
}

Result<Own> own_of(const NodePlace& place, const NodeDocument& node) {
  return node.type == NodeType::array ? own_of_array(place, node) : own_of_volume(place, node);
}

// An array, or a group whose document has its arrays: nothing below has a document of its own.
Result<void> refuse_in_leaf(const NodePlace& place, const NodeDocument& node) {
  SHERD_TRY(own, own_of(place, node));
  SHERD_TRY(twin, place.format->twin(node, place.path));
  if (twin) {  // the objects of the other stand among its own
    NodePlace other = at_path(place, twin->path);
    SHERD_TRY(format, format_called(place, twin->format));
    if (format == nullptr) return {};
    other.format = std::move(format);
    const auto found = other.format->open(*other.store, other.path, place.config.limits);
    if (!found && !is_stored_fault(found.error())) return found.error();
    if (!found || !*found) return {};
    SHERD_TRY(others, own_of(other, **found));
    own = [one = std::move(own), two = std::move(others)](std::string_view name) { return one(name) || two(name); };
  }
  const std::string chunks = place.format->chunk_prefix(place.path);
  for (const std::string& prefix : place.format->contents(place.path))
    SHERD_TRY(refuse_below(*place.store, prefix, prefix == chunks ? own : nothing));
  return {};
}

// What stands directly in a group, of which the members are still to be looked into.
Result<void> refuse_in_group(const NodePlace& place, std::set<std::string>& members) {
  const std::string document = place.format->document_key(place.path, NodeType::group);
  for (const std::string& prefix : place.format->contents(place.path)) {
    SHERD_TRY(listing, place.store->list_dir(prefix));
    for (const auto& object : listing.objects) {
      const bool known = prefix + object.name == document || is_ours(object.name) ||
                         (prefix != place.format->chunk_prefix(place.path) && place.format->member_of(object.name));
      if (!known) return stranger_error(prefix + object.name);
    }
    for (const std::string& name : listing.prefixes) {
      const NodePlace member = at_path(place, join_path(place.path, name));
      SHERD_TRY(present, presence(member));
      if (present != Presence::none)
        members.insert(member.path);
      else if (!is_ours(name))
        SHERD_TRY(refuse_below(*place.store, prefix + name + "/", nothing));
    }
  }
  return {};
}

Result<void> refuse_in_format(const NodePlace& place) {
  const Format& format = *place.format;
  NodePlace reading = place;
  reading.writable = false;
  std::set<std::string> paths{place.path};
  while (!paths.empty()) {
    reading.path = std::move(paths.extract(paths.begin()).value());
    const auto node = format.open(*place.store, reading.path, place.config.limits);
    if (!node && !is_stored_fault(node.error())) return node.error();
    if (!node || !*node) continue;
    const bool group = (*node)->type == NodeType::group && format.arrays_have_documents();
    SHERD_TRY(group ? refuse_in_group(reading, paths) : refuse_in_leaf(reading, **node));
  }
  return {};
}

}  // namespace

Error stranger_error(const std::string& key) {
  return conflict("is no part of the node that is to be overwritten; remove it first, or choose another path")
      .in_key(key);
}

// What is overwritten may be of another format than what comes there.
Result<void> refuse_strangers(const NodePlace& place) {
  SHERD_TRY(any_format(place, [](const NodePlace& there) -> Result<bool> {
    SHERD_TRY(refuse_in_format(there));
    return false;
  }));
  return {};
}

}  // namespace sherd
