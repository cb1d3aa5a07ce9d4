// Knows how nodes come to be and how they go. The order of requests is what matters here: everything is checked
// before anything is written; missing parents are written first; a document appears only where none is, so that of
// two creators one gets `conflict`; and an erased node's document goes last, so that a kill leaves something that can
// be erased again rather than objects that nobody knows.
#include "array/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "array/consolidated.hpp"
#include "array/create.hpp"
#include "array/document.hpp"
#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"

namespace sherd {

namespace {

constexpr std::string_view staging_prefix = ".sherd-new-";

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
  for (const std::string& name : listing.prefixes)
    if (!is_staging(name)) SHERD_TRY(place.store->erase_prefix(prefix + name + "/"));
  for (const auto& object : listing.objects) {
    if (prefix + object.name != document) SHERD_TRY(place.store->erase(prefix + object.name));
  }
  return {};
}

/// Whether something stands where a node's own objects would.
Result<bool> has_contents(const NodePlace& place) {
  SHERD_TRY(listing, place.store->list_dir(prefix_of(place.path)));
  return !listing.objects.empty() || !std::ranges::all_of(listing.prefixes, is_staging);
}

/// What a new node finds at its place.
struct Site {
  std::vector<std::string> missing_groups;
  bool occupied = false;
  bool strays = false;  ///< objects, but no node
};

Result<Site> survey(const NodePlace& place, bool overwrite) {
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
  return site;
}

Result<Site> survey_room(const NodePlace& place, const RoomOptions& options) {
  SHERD_TRY(site, survey(place, options.overwrite));
  if (site.occupied) return site;
  SHERD_TRY(strays, has_contents(place));
  site.strays = strays;
  if (strays && !options.erase_strays)
    return conflict("objects stand where the new node's would, but no node; remove them or choose another path")
        .in_key(place.format->document_key(place.path));
  return site;
}

Result<void> make_parents(const NodePlace& place, const Site& site) {
  for (const std::string& path : site.missing_groups) {
    const NodePlace parent = at_path(place, path);
    SHERD_TRY(group, place.format->group_document(Json()));
    auto written = write_document(parent, group, Condition::absent());
    if (written) continue;
    if (written.error().code() != ErrorCode::conflict) return std::move(written).error();
    SHERD_TRY(stands, group_stands(parent));
    if (!stands) return std::move(written).error();
  }
  return {};
}

Result<Generation> write_node(const NodePlace& place, const Site& site, const Json& document) {
  SHERD_TRY(make_parents(place, site));
  if (site.occupied) {
    SHERD_TRY(unlist(place));
    SHERD_TRY(erase_contents(place));
  }
  SHERD_TRY(generation, write_document(place, document, site.occupied ? Condition{} : Condition::absent()));
  SHERD_TRY(renew_consolidated(place));
  SHERD_TRY(place.store->erase_prefix(staging_name(place.path) + "/"));  // left by somebody who was killed
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
  SHERD_TRY(document, place.format->group_document(attributes));
  SHERD_TRY(node, place.format->lower(document, place.config.limits));
  SHERD_TRY(check_text(place.format->text(document), place.config.limits));
  SHERD_TRY(site, survey(place, overwrite));
  SHERD_TRY(write_node(place, site, document));
  return make_group(std::move(place), std::move(node));
}

Result<NodeDocument> new_document(const NodePlace& place, const CreateOptions& options) {
  SHERD_TRY(spec, new_array_spec(options, place.tables.codecs));
  complete_codecs(spec.codecs, place.tables.codecs, spec.dtype);
  SHERD_TRY(document, place.format->array_document(spec));
  SHERD_TRY(node, place.format->lower(std::move(document), place.config.limits));
  SHERD_TRY(make_array(place, node));  // what cannot be opened is not written
  SHERD_TRY(check_text(place.format->text(node.document), place.config.limits));
  return node;
}

Result<Array> create_array_at(NodePlace place, const CreateOptions& options) {
  SHERD_TRY(node, new_document(place, options));
  SHERD_TRY(site, survey_room(place, {.overwrite = options.overwrite}));
  SHERD_TRY(generation, write_node(place, site, node.document));
  node.generation = std::move(generation);
  return make_array(std::move(place), std::move(node));
}

std::string staging_name(const std::string& path) {
  constexpr char digits[] = "0123456789abcdef";
  std::string name(staging_prefix);
  const std::uint32_t hash = crc32c(as_bytes(path));
  for (int shift = 28; shift >= 0; shift -= 4) name += digits[hash >> shift & 15U];
  return name;
}

bool is_staging(std::string_view name) noexcept { return name.starts_with(staging_prefix); }

Result<void> check_room(const NodePlace& place, const RoomOptions& options) {
  SHERD_TRY(survey_room(place, options));
  return {};
}

Result<void> make_room(const NodePlace& place, const RoomOptions& options) {
  SHERD_TRY(site, survey_room(place, options));
  SHERD_TRY(make_parents(place, site));
  if (site.occupied) SHERD_TRY(unlist(place));
  if (site.occupied || site.strays) SHERD_TRY(erase_contents(place));
  SHERD_TRY(place.store->erase(place.format->document_key(place.path)));
  return {};
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
