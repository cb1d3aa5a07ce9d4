// Knows which objects a node has, in both versions of Zarr and in netcdf-c 4.8.0, and that documents of netcdf-c are
// not always JSON (lenient.hpp).
#include "netcdf/nodes.hpp"

#include <algorithm>
#include <set>

#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::string_view kZarrJson = "zarr.json";
constexpr std::string_view kArrayDocument = ".zarray", kGroupDocument = ".zgroup", kAttributes = ".zattrs",
                           kConsolidated = ".zmetadata", kSuperblock = ".nczarr";
constexpr std::string_view kLegacyDocuments[] = {".nczgroup", ".nczarray", ".nczvar", ".nczattr", ".nczattrs"};

std::string prefix_of_path(const std::string& path) { return path.empty() ? path : path + "/"; }

Result<LenientJson> parse(std::span<const std::byte> bytes, const Limits& limits) {
  if (bytes.size() > limits.metadata_bytes)
    return unsupported("the document is larger than the limit metadata_bytes = " +
                       std::to_string(limits.metadata_bytes));
  return parse_lenient({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, limits);
}

/// The documents at these keys, in this order.
Result<std::vector<Reply>> read_documents(Store& store, const std::vector<std::string>& keys, const Limits& limits) {
  std::vector<ReadRequest> requests;
  requests.reserve(keys.size());
  for (const std::string& key : keys) requests.push_back({.key = key, .length = limits.metadata_bytes + 1});
  std::vector<Reply> replies(keys.size());
  SHERD_TRY(store.read(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
    Reply& to = replies[i];
    if (!reply) {
      to.fault = std::move(reply).error().in_key(keys[i]);
      return {};
    }
    if (reply->source == nullptr) return {};
    SHERD_TRY(generation, reply->source->generation());
    to.generation = std::move(generation);
    auto json = parse(reply->bytes, limits);
    if (json)
      to.json = *std::move(json);
    else
      to.fault = std::move(json).error().in_key(keys[i]);
    return {};
  }));
  return replies;
}

bool is_object(const Json* json) { return json != nullptr && json->is_object(); }

/// The root group's own documents in consolidated metadata of Zarr v2; nullopt if they are not there.
std::optional<std::vector<Reply>> root_in(const std::optional<LenientJson>& consolidated) {
  const Json* entries = consolidated ? consolidated->json.find("metadata") : nullptr;
  if (!is_object(entries) || entries->find(kArrayDocument) != nullptr) return std::nullopt;
  const Json* attributes = entries->find(kAttributes);
  if (!is_object(entries->find(kGroupDocument)) || (attributes != nullptr && !attributes->is_object()))
    return std::nullopt;
  std::vector<Reply> documents;
  for (const std::string_view name : {kGroupDocument, kAttributes})
    if (const Json* found = entries->find(name)) documents.push_back({.name = name, .json = LenientJson{*found}});
  return documents;
}

/// The members that a group listed in Zarr v2, in a copy of it that `sherd copy` has made in Zarr v3.
std::vector<std::string> names_before_copy(const StoredNode& group) {
  std::vector<std::string> names;
  const Json* kept = group.kept_by_copy();
  for (const char* key : {"_nczarr_group", "was"}) kept = is_object(kept) ? kept->find(key) : nullptr;
  if (!is_object(kept)) return names;
  for (const char* list : {"vars", "groups"})
    if (const Json* members = kept->find(list))
      for (const Json& each : members->elements()) names.push_back(each.text());
  return names;
}

void sort_as_before_copy(std::vector<StoredNode>& nodes, const StoredNode& group) {
  std::map<std::string, std::size_t, std::less<>> positions;
  for (std::string& name : names_before_copy(group)) positions.emplace(std::move(name), positions.size());
  std::ranges::stable_sort(nodes, {}, [&](const StoredNode& node) {
    const auto known = positions.find(node.name);
    return known == positions.end() ? positions.size() : known->second;
  });
}

/// Takes the type out of a node's metadata.
Result<void> complete(StoredNode& node, bool is_v3) {
  if (!node.document.is_object()) return corrupt("a metadata document must be a JSON object");
  const Json* attributes = node.document.find(is_v3 ? "attributes" : kAttributes);
  if (attributes != nullptr && !attributes->is_object())
    return corrupt("must be an object").in_member(is_v3 ? "attributes" : kAttributes);
  if (!is_v3) {
    const bool is_array = node.document.find(kArrayDocument) != nullptr;
    node.type = is_array ? NodeType::array : NodeType::group;
    if (!is_object(node.document.find(is_array ? kArrayDocument : kGroupDocument)))
      return corrupt("a metadata document must be a JSON object");
    return {};
  }
  const Json* type = node.document.find("node_type");
  if (type == nullptr || (type->text() != "array" && type->text() != "group"))
    return corrupt("must be \"array\" or \"group\"").in_member("node_type");
  node.type = type->text() == "array" ? NodeType::array : NodeType::group;
  return {};
}

/// The documents of several nodes that exist. Where requests have latency, all are asked for at once; elsewhere each
/// node is read by any thread, and what an array does not need is not looked for.
Result<std::vector<std::vector<Reply>>> read_nodes(const NodeLocation& location,
                                                   const std::vector<std::string>& prefixes, bool is_v3, bool is_v1) {
  const bool at_once = location.store->traits().parallel_requests > 1;
  std::vector<std::string_view> parts;
  if (is_v3)
    parts = {kZarrJson};
  else if (at_once)
    parts = {kArrayDocument, kGroupDocument, kAttributes};
  else
    parts = {kArrayDocument, kAttributes};
  if (is_v1) parts.insert(parts.end(), std::begin(kLegacyDocuments), std::end(kLegacyDocuments));
  std::vector<std::vector<Reply>> found(prefixes.size());
  const auto read = [&](std::size_t first, std::size_t end, std::span<const std::string_view> names) -> Result<void> {
    std::vector<std::string> keys;
    for (std::size_t n = first; n < end; ++n)
      for (const std::string_view name : names) keys.push_back(prefixes[n] + std::string(name));
    SHERD_TRY(replies, read_documents(*location.store, keys, location.config.limits));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      replies[i].name = names[i % names.size()];
      if (replies[i].json || replies[i].fault) found[first + i / names.size()].push_back(std::move(replies[i]));
    }
    return {};
  };
  if (at_once) {
    SHERD_TRY(read(0, prefixes.size(), parts));
    return found;
  }
  SHERD_TRY(parallel_for(prefixes.size(), location.config, [&](std::size_t n) -> Result<void> {
    SHERD_TRY(read(n, n + 1, parts));
    if (is_v3 || (!found[n].empty() && found[n].front().name == kArrayDocument)) return {};
    return read(n, n + 1, std::span(&kGroupDocument, 1));
  }));
  return found;
}

/// The documents of the root that exist. Consolidated metadata of Zarr v2 have the others in them, which are then not
/// read. Where requests have latency, both versions of Zarr are asked for at once.
Result<std::vector<Reply>> read_root_documents(const NodeLocation& location) {
  std::vector<Reply> found;
  const auto read_more = [&](std::initializer_list<std::string_view> names) -> Result<void> {
    std::vector<std::string> keys;
    for (const std::string_view name : names) keys.push_back(prefix_of_path(location.path) + std::string(name));
    SHERD_TRY(replies, read_documents(*location.store, keys, location.config.limits));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      replies[i].name = names.begin()[i];
      if (replies[i].json || replies[i].fault) found.push_back(std::move(replies[i]));
    }
    return {};
  };
  const bool at_once = location.store->traits().parallel_requests > 1;
  SHERD_TRY(at_once ? read_more({kZarrJson, kConsolidated}) : read_more({kZarrJson}));
  if (!found.empty() && found.front().name == kZarrJson) {
    found.resize(1);
    return found;
  }
  if (!at_once) SHERD_TRY(read_more({kConsolidated}));
  auto own = found.empty() || location.writable ? std::nullopt : root_in(found.front().json);
  if (own)
    std::ranges::move(*own, std::back_inserter(found));
  else
    SHERD_TRY(read_more({kArrayDocument, kGroupDocument, kAttributes, kSuperblock}));
  std::ranges::stable_partition(found, [](const Reply& each) { return each.name != kConsolidated; });
  return found;
}

}  // namespace

const Json* StoredNode::part(std::string_view part_name) const noexcept {
  const Json* found = part_name.starts_with('.') ? document.find(part_name) : nullptr;
  return is_object(found) ? found : nullptr;
}

const Json& StoredNode::attributes() const noexcept {
  static const Json none = Json::Object{};
  for (const std::string_view part_name : {kAttributes, std::string_view("attributes")})
    if (const Json* found = document.find(part_name); is_object(found)) return *found;
  return none;
}

const Json* StoredNode::kept_by_copy() const noexcept {
  if (part(kArrayDocument) != nullptr || part(kGroupDocument) != nullptr) return nullptr;
  const Json* kept = document.find("sherd_zarr2");
  if (kept == nullptr) kept = attributes().find("sherd_zarr2");
  return kept != nullptr ? kept->find("members") : nullptr;
}

void NodeReader::warn(const std::string& path, const std::string& what) {
  warnings_.push_back("/" + path + ": " + what);
  warned_.insert(path);
}

Result<NodeReader> NodeReader::open(NodeLocation location) {
  NodeReader reader(std::move(location));
  SHERD_TRY(found, reader.read_root());
  if (!found)
    return not_found("no dataset of Zarr or NCZarr is at " + reader.location_.store->url() +
                     (reader.location_.path.empty() ? "" : ", path " + reader.location_.path));
  return reader;
}

Result<bool> NodeReader::read_root() {
  const std::string prefix = prefix_of_path(location_.path);
  SHERD_TRY(replies, read_root_documents(location_));
  const bool is_v3 = !replies.empty() && replies.front().name == kZarrJson;
  const auto format = std::ranges::find(location_.tables.formats, is_v3 ? "zarr3" : "zarr2", &Format::name);
  location_.format = std::shared_ptr<const Format>(std::shared_ptr<void>(), *format);
  root_.path = location_.path;
  root_.document = Json(Json::Object{});
  for (Reply& reply : replies) {
    const std::string_view name = reply.name;
    if (name == kConsolidated && reply.fault) {
      warn(std::string(name), "ignored: " + reply.fault->text());
      continue;
    }
    if (reply.fault) return *std::move(reply.fault);
    if (reply.json->has_tail) warn(std::string(name), "bytes after the document were ignored");
    if (name == kSuperblock) {
      v1_ = true;
      root_.legacy.set(name, std::move(reply.json->json));
      continue;
    }
    root_.versions.insert(root_.versions.begin(), {prefix + std::string(name), std::move(reply.generation)});
    if (is_v3)
      root_.document = std::move(reply.json->json);
    else
      root_.document.set(name, std::move(reply.json->json));
  }
  if (!is_v3 && root_.document.find(kArrayDocument) == nullptr && root_.document.find(kGroupDocument) == nullptr)
    return false;
  SHERD_TRY(complete(root_, is_v3).in_key(prefix + std::string(is_v3 ? kZarrJson : kGroupDocument)));
  if (root_.type == NodeType::group) use_consolidated();
  if (v1_) {
    SHERD_TRY(again, read(root_, {""}));
    if (!again.empty()) root_.legacy = again.front().legacy;
  }
  return true;
}

void NodeReader::use_consolidated() {
  const auto* consolidation = capability<Consolidation>(*location_.format);
  auto entries = consolidation != nullptr ? consolidation->take_entries(root_.document) : std::nullopt;
  consolidated_ = entries.has_value();
  if (!entries || location_.writable) return;
  entries_.emplace();
  for (auto& [path, json] : *entries) {
    const std::size_t slash = path.rfind('/');
    const std::string above = slash == path.npos ? "" : path.substr(0, slash);
    children_[join_path(root_.path, above)].push_back(path.substr(slash == path.npos ? 0 : slash + 1));
    entries_->emplace(path, std::move(json));
  }
}

Result<std::vector<std::string>> NodeReader::names_in(const StoredNode& group) const {
  std::vector<std::string> names;
  if (entries_) {
    const auto found = children_.find(group.path);
    return found == children_.end() ? names : found->second;
  }
  SHERD_TRY(listing, location_.store->list_dir(prefix_of_path(group.path)));
  for (std::string& name : listing.prefixes)
    if (location_.format->check_name(name)) names.push_back(std::move(name));
  return names;
}

std::vector<StoredNode> NodeReader::from_entries(const StoredNode& group, const std::vector<std::string>& names) {
  std::vector<StoredNode> nodes;
  for (const std::string& name : names) {
    const std::string path = join_path(group.path, name);
    const auto rest = root_.path.empty() ? std::optional<std::string_view>(path) : path_from(root_.path, path);
    const auto entry = rest ? entries_->find(std::string(*rest)) : entries_->end();
    if (entry == entries_->end()) continue;
    StoredNode node{.path = path, .name = name, .document = std::move(entry->second)};  // each is asked for once
    const auto completed = complete(node, location_.format->name() == "zarr3");
    if (completed)
      nodes.push_back(std::move(node));
    else
      warn(path, "left out: " + completed.error().text());
  }
  return nodes;
}

Result<std::vector<StoredNode>> NodeReader::read(const StoredNode& group, const std::vector<std::string>& names) {
  const bool is_v3 = location_.format->name() == "zarr3";
  std::vector<std::string> prefixes;
  prefixes.reserve(names.size());
  for (const std::string& name : names) prefixes.push_back(prefix_of_path(join_path(group.path, name)));
  SHERD_TRY(replies, read_nodes(location_, prefixes, is_v3, v1_));
  std::vector<StoredNode> nodes;
  for (std::size_t n = 0; n < names.size(); ++n) {
    StoredNode node{.path = join_path(group.path, names[n]), .name = names[n], .document = Json(Json::Object{})};
    auto read = add_documents(node, prefixes[n], std::move(replies[n]), is_v3);
    if (!read.has_value())
      warn(node.path, "left out: " + read.error().text());
    else if (*read)
      nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<bool> NodeReader::add_documents(StoredNode& node, const std::string& prefix, std::vector<Reply> replies,
                                       bool is_v3) {
  for (Reply& reply : replies) {
    if (reply.fault) return *std::move(reply.fault);
    if (reply.json->has_tail) warn(node.path, "bytes after the document " + std::string(reply.name) + " were ignored");
    Json& json = reply.json->json;
    if (reply.name.starts_with(".ncz")) {
      node.legacy.set(reply.name, std::move(json));
      continue;
    }
    const bool makes_visible = reply.name != kAttributes;
    node.versions.insert(makes_visible ? node.versions.end() : node.versions.begin(),
                         {prefix + std::string(reply.name), std::move(reply.generation)});
    if (is_v3)
      node.document = std::move(json);
    else
      node.document.set(reply.name, std::move(json));
  }
  if (!is_v3 && !node.document.find(kArrayDocument) && !node.document.find(kGroupDocument)) return false;
  if (is_v3 && node.versions.empty()) return false;
  SHERD_TRY(complete(node, is_v3));
  return true;
}

Result<std::vector<StoredNode>> NodeReader::members(const StoredNode& group, const std::vector<ListedMember>* listed) {
  SHERD_TRY(stored, names_in(group));
  std::vector<std::string> names;
  std::set<std::string, std::less<>> known;
  if (listed != nullptr)
    for (const ListedMember& member : *listed) {
      if (!known.insert(member.name).second) continue;
      if (location_.format->check_name(member.name))
        names.push_back(member.name);
      else
        warn(group.path, "lists '" + member.name.substr(0, 80) + "', which cannot be the name of a node");
    }
  const std::size_t count = names.size();
  for (std::string& name : stored)
    if (!known.contains(name)) names.push_back(std::move(name));
  std::vector<StoredNode> nodes;
  if (entries_) {
    nodes = from_entries(group, names);
  } else {
    SHERD_TRY(found, read(group, names));
    nodes = std::move(found);
  }
  if (listed == nullptr) {
    sort_as_before_copy(nodes, group);
    return nodes;
  }
  const std::set<std::string, std::less<>> unlisted(names.begin() + static_cast<std::ptrdiff_t>(count), names.end());
  std::set<std::string, std::less<>> found;
  for (const StoredNode& node : nodes) {
    found.insert(node.name);
    if (unlisted.contains(node.name)) warn(node.path, "is not listed by its group's metadata");
  }
  for (const ListedMember& member : *listed) {
    const std::string path = join_path(group.path, member.name);
    if (!found.contains(member.name) && !warned_.contains(path) && location_.format->check_name(member.name))
      warn(path, "is listed by its group's metadata, but not stored");
  }
  return nodes;
}

}  // namespace sherd::netcdf
