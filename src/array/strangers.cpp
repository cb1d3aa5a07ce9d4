// Knows which of the objects below a node are its own or its members': documents, chunks by the names that their array
// gives them, and what a writer that was killed has left. Anything else was put there by somebody who did not know that
// overwriting the node would take it along. What is below a document that cannot be read counts as that node's.
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

}  // namespace

Result<void> refuse_strangers(const NodePlace& place) {
  const Format& format = *place.format;
  // Elsewhere a node's objects are scattered, or an array is not to be told from the others of its group.
  if (!format.arrays_have_documents() || format.contents(place.path) != std::vector{format.chunk_prefix(place.path)})
    return {};
  NodePlace reading = place;
  reading.writable = false;
  std::vector<std::string> paths{place.path};
  while (!paths.empty()) {
    reading.path = std::move(paths.back());
    paths.pop_back();
    const auto node = format.open(*place.store, reading.path, place.config.limits);
    if (!node && !is_stored_fault(node.error())) return node.error();
    if (!node || !*node) continue;
    SHERD_TRY((*node)->type == NodeType::array ? refuse_in_array(reading, **node) : refuse_in_group(reading, paths));
  }
  return {};
}

}  // namespace sherd
