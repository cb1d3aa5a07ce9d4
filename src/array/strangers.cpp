// Knows which of the objects below a node are its own or its members': documents, chunks by the names that their array
// gives them, and what a writer that was killed has left. Anything else was put there by somebody who did not know that
// overwriting the node would take it along. What is below a document that cannot be read counts as that node's.
#include <set>

#include "array/core.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"

namespace sherd {

namespace {

bool is_left_over(std::string_view name) { return name.starts_with(".sherd-"); }

Error stranger(const std::string& key) {
  return conflict("is no part of the node that is to be overwritten; remove it first, or choose another path")
      .in_key(key);
}

Result<void> refuse_any(Store& store, const std::string& prefix) {
  std::string found;
  SHERD_TRY(store.list(prefix, [&](const std::string& key, std::uint64_t) {
    found = key;
    return false;
  }));
  if (!found.empty()) return stranger(found);
  return {};
}

Result<void> refuse_in_array(const NodePlace& place, const NodeDocument& node) {
  SHERD_TRY(twin, place.format->twin(node, place.path));
  if (twin) return {};  // a volume's objects stand among the array's
  const auto array = make_array(place, node);
  if (!array) return {};
  const std::string document = place.format->document_key(place.path, NodeType::array);
  const std::string prefix = place.format->chunk_prefix(place.path);
  std::string found;
  SHERD_TRY(place.store->list(prefix, [&](const std::string& key, std::uint64_t) {
    const std::string_view name = std::string_view(key).substr(prefix.size());
    const bool own = key == document || is_left_over(name) || array->state().grid.parse_key(name);
    if (!own) found = key;
    return own;
  }));
  if (!found.empty()) return stranger(found);
  return {};
}

// What stands directly in a group, of which the members are still to be looked into.
Result<void> refuse_in_group(const NodePlace& place, std::vector<std::string>& members) {
  const std::string prefix = place.format->chunk_prefix(place.path);
  const std::string document = place.format->document_key(place.path, NodeType::group);
  SHERD_TRY(listing, place.store->list_dir(prefix));
  for (const auto& object : listing.objects) {
    if (prefix + object.name != document && !is_left_over(object.name)) return stranger(prefix + object.name);
  }
  for (const std::string& name : listing.prefixes) {
    const NodePlace member = at_path(place, join_path(place.path, name));
    SHERD_TRY(present, presence(member));
    if (present != Presence::none)
      members.push_back(member.path);
    else if (!is_left_over(name))
      SHERD_TRY(refuse_any(*place.store, prefix + name + "/"));
  }
  return {};
}

// Names of volumes' chunks, of what compressed ones are called, and of shards of today and before.
bool is_chunk_or_shard(const ChunkGrid& grid, std::string_view name) {
  if (grid.parse_key(name)) return true;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view suffix = name.substr(dot);
  return suffix == ".shard" || suffix == ".index" || suffix == ".data" || grid.parse_key(name.substr(0, dot));
}

Result<void> refuse_in_scale(Store& store, const ChunkGrid& grid, const std::string& prefix) {
  std::string found;
  SHERD_TRY(store.list(prefix, [&](const std::string& key, std::uint64_t) {
    const std::string_view name = std::string_view(key).substr(prefix.size());
    if (!is_left_over(name) && !is_chunk_or_shard(grid, name)) found = key;
    return found.empty();
  }));
  if (!found.empty()) return stranger(found);
  return {};
}

// What stands in a group whose document has its arrays: these, each in a directory of its own, and collections of other
// objects. An array that has no such directory is not to be told from the rest.
Result<void> refuse_in_volume(const NodePlace& place, const NodeDocument& volume) {
  SHERD_TRY(twin, place.format->twin(volume, place.path));
  if (twin) return {};  // an array's objects stand among the volume's
  const std::string prefix = place.format->chunk_prefix(place.path);
  SHERD_TRY(members, place.format->members(*place.store, place.path, place.config.limits, {}));
  std::set<std::string> scales;
  for (const auto& [name, type] : members) {
    const std::string path = join_path(place.path, name);
    SHERD_TRY(scale, place.format->open(*place.store, path, place.config.limits));
    if (!scale || !(*scale).array->chunk_prefix->starts_with(prefix)) continue;
    const std::string& chunks = *scales.insert(*scale->array->chunk_prefix).first;
    if (chunks == prefix) return {};
    SHERD_TRY(refuse_in_scale(*place.store, ChunkGrid(*scale->array), chunks));
  }
  SHERD_TRY(listing, place.store->list_dir(prefix));
  for (const auto& object : listing.objects) {
    const std::string& name = object.name;
    if (name != "info" && name != "provenance" && !is_left_over(name)) return stranger(prefix + name);
  }
  for (const std::string& name : listing.prefixes) {
    const std::string inner = prefix + name + "/";
    const auto scale = scales.lower_bound(inner);
    if (is_left_over(name) || (scale != scales.end() && scale->starts_with(inner))) continue;
    SHERD_TRY(info, place.store->open(inner + "info"));
    if (info == nullptr) SHERD_TRY(refuse_any(*place.store, inner));
  }
  return {};
}

}  // namespace

Result<void> refuse_strangers(const NodePlace& place) {
  const Format& format = *place.format;
  // Elsewhere a node's objects are scattered.
  if (format.contents(place.path) != std::vector{format.chunk_prefix(place.path)}) return {};
  NodePlace reading = place;
  reading.writable = false;
  std::vector<std::string> paths{place.path};
  while (!paths.empty()) {
    reading.path = std::move(paths.back());
    paths.pop_back();
    const auto node = format.open(*place.store, reading.path, place.config.limits);
    if (!node && !is_stored_fault(node.error())) return node.error();
    if (!node || !*node) continue;
    SHERD_TRY((*node)->type == NodeType::array ? refuse_in_array(reading, **node)
              : format.arrays_have_documents() ? refuse_in_group(reading, paths)
                                               : refuse_in_volume(reading, **node));
  }
  return {};
}

}  // namespace sherd
