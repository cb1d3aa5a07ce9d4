// Knows how nodes come to be and how they go. The order of requests is what matters here: everything is checked
// before anything is written; missing parents are written first; a document appears only where none is, so that of
// two creators one gets `conflict`; and an erased node's document goes last, so that a kill leaves something that can
// be erased again rather than objects that nobody knows.
#include "array/hierarchy.hpp"

#include <utility>

#include "array/consolidated.hpp"
#include "array/create.hpp"
#include "array/document.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"

namespace sherd {

namespace {

std::string prefix_of(const std::string& path) { return path.empty() ? path : path + "/"; }

Result<void> check_names(const NodePlace& place) {
  std::string_view rest = place.path;
  while (!rest.empty()) {
    const std::size_t end = rest.find('/');
    SHERD_TRY(place.format->check_name(rest.substr(0, end)));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return {};
}

/// Whether a group stands at `place`; `conflict` where an array does.
Result<bool> group_stands(const NodePlace& place) {
  SHERD_TRY(node, place.format->open(*place.store, place.path, place.config.limits));
  if (node && node->type == NodeType::array)
    return conflict("an array stands here, and an array has no members").in_key(place.format->document_key(place.path));
  return node.has_value();
}

Result<void> erase_contents(const NodePlace& place) {
  const std::string prefix = prefix_of(place.path);
  const std::string document = place.format->document_key(place.path);
  SHERD_TRY(listing, place.store->list_dir(prefix));
  for (const std::string& name : listing.prefixes) SHERD_TRY(place.store->erase_prefix(prefix + name + "/"));
  for (const auto& object : listing.objects) {
    if (prefix + object.name != document) SHERD_TRY(place.store->erase(prefix + object.name));
  }
  return {};
}

/// What a new node finds at its place.
struct Site {
  std::vector<std::string> missing_groups;
  bool occupied = false;
};

Result<Site> survey(const NodePlace& place, NodeType type, bool overwrite) {
  SHERD_TRY(require_writable(place));
  SHERD_TRY(check_names(place));
  Site site;
  for (std::string& path : ancestors(place.path)) {
    SHERD_TRY(stands, group_stands(at_path(place, path)));
    if (!stands) site.missing_groups.push_back(std::move(path));
  }
  const std::string key = place.format->document_key(place.path);
  SHERD_TRY(occupied, has_node(*place.store, place.tables, place.path));
  site.occupied = occupied;
  if (occupied && !overwrite)
    return conflict("a node stands here already; overwrite it or choose another path").in_key(key);
  if (occupied || type == NodeType::group) return site;
  SHERD_TRY(listing, place.store->list_dir(prefix_of(place.path)));
  if (!listing.objects.empty() || !listing.prefixes.empty())
    return conflict("objects stand where the new array's chunks would, but no node; remove them or choose another path")
        .in_key(key);
  return site;
}

Result<Generation> write_node(const NodePlace& place, const Site& site, const Json& document) {
  for (const std::string& path : site.missing_groups) {
    const NodePlace parent = at_path(place, path);
    SHERD_TRY(group, place.format->group_document(Json()));
    auto written = write_document(parent, group, Condition::absent());
    if (written) continue;
    if (written.error().code() != ErrorCode::conflict) return std::move(written).error();
    SHERD_TRY(stands, group_stands(parent));
    if (!stands) return std::move(written).error();
  }
  if (site.occupied) {
    SHERD_TRY(unlist(place));
    SHERD_TRY(erase_contents(place));
  }
  SHERD_TRY(generation, write_document(place, document, site.occupied ? Condition{} : Condition::absent()));
  SHERD_TRY(renew_consolidated(place));
  return generation;
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
  const std::string key = place.format->document_key(place.path);
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

Result<Group> create_group_at(NodePlace place, const Json& attributes, bool overwrite) {
  if (!attributes.is_null() && !attributes.is_object())
    return invalid_argument("must be an object").in_member("attributes");
  SHERD_TRY(site, survey(place, NodeType::group, overwrite));
  SHERD_TRY(document, place.format->group_document(attributes));
  SHERD_TRY(node, place.format->lower(document, place.config.limits));
  SHERD_TRY(write_node(place, site, document));
  return make_group(std::move(place), std::move(node));
}

Result<Array> create_array_at(NodePlace place, const CreateOptions& options) {
  SHERD_TRY(spec, new_array_spec(options, place.tables.codecs));
  complete_codecs(spec.codecs, place.tables.codecs, spec.dtype);
  SHERD_TRY(document, place.format->array_document(spec));
  SHERD_TRY(node, place.format->lower(document, place.config.limits));
  SHERD_TRY(make_array(place, node));  // what cannot be opened is not written
  SHERD_TRY(site, survey(place, NodeType::array, options.overwrite));
  SHERD_TRY(generation, write_node(place, site, document));
  node.generation = std::move(generation);
  return make_array(std::move(place), std::move(node));
}

Result<bool> has_node(Store& store, const Tables& tables, const std::string& path) {
  for (const Format* format : tables.formats) {
    for (const std::string& key : format->probes(path)) {
      SHERD_TRY(source, store.open(key));
      if (source != nullptr) return true;
    }
  }
  return false;
}

Result<void> erase_node(const NodePlace& place) {
  SHERD_TRY(require_writable(place));
  SHERD_TRY(unlist(place));
  SHERD_TRY(erase_contents(place));
  SHERD_TRY(place.store->erase(place.format->document_key(place.path)));
  SHERD_TRY(place.store->erase_prefix(prefix_of(place.path)));
  return renew_consolidated(place);
}

}  // namespace sherd
