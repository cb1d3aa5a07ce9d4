// The objects of a node, in both versions of Zarr and in netcdf-c 4.8.0. Documents of netcdf-c are not always JSON
// (lenient.hpp).
#include "netcdf/nodes.hpp"

#include <algorithm>
#include <set>

#include "base/limits.hpp"
#include "base/pool.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "format/zarr2.hpp"
#include "format/zarr3.hpp"
#include "node/document.hpp"
#include "node/path.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::string_view kZarrJson = zarr3::kDocument;
constexpr std::string_view kArrayDocument = zarr2::kArray, kGroupDocument = zarr2::kGroup,
                           kAttributes = zarr2::kAttributes, kConsolidated = zarr2::kConsolidated;

std::string joined(std::string_view prefix, std::string_view name) {
  std::string key;
  key.reserve(prefix.size() + name.size());
  return key.append(prefix).append(name);
}

std::string prefix_of_path(const std::string& path) { return path.empty() ? path : joined(path, "/"); }

Result<LenientJson> parse(std::span<const std::byte> bytes, const Limits& limits) {
  if (bytes.size() > limits.metadata_bytes)
    return unsupported("the document is larger than the limit metadata_bytes = " +
                       std::to_string(limits.metadata_bytes));
  return parse_lenient({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, limits, {.controls = true});
}

/// The documents with these names, for each of the nodes with these prefixes, without those that do not exist. One
/// batch of requests.
Result<std::vector<std::vector<Reply>>> read_nodes(const NodeLocation& location, std::span<const std::string> prefixes,
                                                   std::span<const std::string_view> names, ParsedTexts* parsed) {
  const Limits& limits = location.config.limits;
  const std::uint64_t length = limit_plus(limits.metadata_bytes, 1);
  std::vector<ReadRequest> requests;
  std::vector<Reply> replies;
  requests.reserve(prefixes.size() * names.size());
  replies.reserve(prefixes.size() * names.size());
  for (const std::string& prefix : prefixes)
    for (const std::string_view name : names) {
      requests.push_back({.key = joined(prefix, name), .length = length});
      replies.push_back({.name = name});
    }
  SHERD_TRY(location.store->read_all(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
    Reply& to = replies[i];
    if (!reply) {
      to.fault = std::move(reply).error().in_key(requests[i].key);
      return {};
    }
    if (reply->source == nullptr) return {};
    SHERD_TRY(generation, reply->source->generation());
    to.generation = std::move(generation);
    const bool may_be_known = parsed != nullptr && to.name == kArrayDocument;
    auto json = may_be_known ? parsed->parse(reply->bytes, limits) : parse(reply->bytes, limits);
    if (json)
      to.json = *std::move(json);
    else
      to.fault = std::move(json).error().in_key(requests[i].key);
    return {};
  }));
  std::vector<std::vector<Reply>> found(prefixes.size());
  for (std::size_t i = 0; i < replies.size(); ++i)
    if (replies[i].json || replies[i].fault) found[i / names.size()].push_back(std::move(replies[i]));
  return found;
}

Result<std::vector<Reply>> read_node(const NodeLocation& location, const std::string& prefix,
                                     std::span<const std::string_view> names, ParsedTexts* parsed = nullptr) {
  SHERD_TRY(found, read_nodes(location, std::span(&prefix, 1), names, parsed));
  return std::move(found.front());
}

bool is_object(const Json* json) { return json != nullptr && json->is_object(); }

/// The root group's own documents in consolidated metadata of Zarr v2; nullopt if they are not there.
std::optional<std::vector<Reply>> root_in(const std::optional<LenientJson>& consolidated) {
  const Json* entries = consolidated ? zarr2::consolidated_entries(consolidated->json) : nullptr;
  if (entries == nullptr || entries->find(kArrayDocument) != nullptr) return std::nullopt;
  const Json* attributes = entries->find(kAttributes);
  if (!is_object(entries->find(kGroupDocument)) || (attributes != nullptr && !attributes->is_object()))
    return std::nullopt;
  std::vector<Reply> documents;
  for (const std::string_view name : {kGroupDocument, kAttributes})
    if (const Json* found = entries->find(name)) documents.push_back({.name = name, .json = LenientJson{*found}});
  return documents;
}

/// Determines the type from a node's metadata.
Result<bool> complete(StoredNode& node, bool is_v3) {
  if (!node.document.is_object()) return corrupt("a metadata document must be a JSON object");
  const Json* attributes = node.document.find(is_v3 ? "attributes" : kAttributes);
  if (attributes != nullptr && !attributes->is_object())
    return corrupt("must be an object").in_member(is_v3 ? "attributes" : kAttributes);
  if (!is_v3) {
    const bool is_array = node.document.find(kArrayDocument) != nullptr;
    node.type = is_array ? NodeType::array : NodeType::group;
    if (!is_object(node.document.find(is_array ? kArrayDocument : kGroupDocument)))
      return corrupt("a metadata document must be a JSON object");
    return true;
  }
  const Json* type = node.document.find("node_type");
  if (type == nullptr || (type->text() != "array" && type->text() != "group"))
    return corrupt("must be \"array\" or \"group\"").in_member("node_type");
  node.type = type->text() == "array" ? NodeType::array : NodeType::group;
  return true;
}

/// The documents of one member if requests have no latency: documents that an array does not need are not requested.
Result<std::vector<Reply>> read_member(const NodeLocation& location, const std::string& prefix,
                                       std::span<const std::string_view> names, ParsedTexts* parsed) {
  SHERD_TRY(found, read_node(location, prefix, names, parsed));
  if (names.front() != kArrayDocument || (!found.empty() && found.front().name == kArrayDocument)) return found;
  SHERD_TRY(group, read_node(location, prefix, std::span(&kGroupDocument, 1)));
  std::ranges::move(group, std::back_inserter(found));
  return found;
}

/// The existing documents of the root. Consolidated metadata of Zarr v2 contain the others, which are then not read. If
/// requests have latency, both versions of Zarr are requested together.
Result<std::vector<Reply>> read_root_documents(const NodeLocation& location, bool consolidated) {
  std::vector<Reply> found;
  const auto read_more = [&](std::initializer_list<std::string_view> names) -> Result<void> {
    SHERD_TRY(more, read_node(location, prefix_of_path(location.path), names));
    std::ranges::move(more, std::back_inserter(found));
    return {};
  };
  const bool only_v2 = location.format != nullptr && location.format->name() == "zarr2";
  const bool only_v3 = location.format != nullptr && !only_v2;
  const bool at_once = location.store->traits().parallel_requests > 1 && location.format == nullptr;
  if (!only_v2) SHERD_TRY(at_once ? read_more({kZarrJson, kConsolidated}) : read_more({kZarrJson}));
  if (only_v3 || (!found.empty() && found.front().name == kZarrJson)) {
    found.resize(std::min<std::size_t>(found.size(), 1));
    return found;
  }
  if (!at_once) SHERD_TRY(read_more({kConsolidated}));
  auto own = found.empty() || !consolidated ? std::nullopt : root_in(found.front().json);
  if (own)
    std::ranges::move(*own, std::back_inserter(found));
  else
    SHERD_TRY(read_more({kArrayDocument, kGroupDocument, kAttributes, kSuperblockDocument}));
  std::ranges::stable_partition(found, [](const Reply& each) { return each.name != kConsolidated; });
  return found;
}

}  // namespace

Result<LenientJson> ParsedTexts::parse(std::span<const std::byte> bytes, const Limits& limits) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto known = parsed_.find([&](const Parsed& each) { return each.text == text; })) return known->json;
  auto json = netcdf::parse(bytes, limits);
  if (json && text.size() <= kLongest) parsed_.add({std::string(text), *json});
  return json;
}

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

void NodeReader::warn(const std::string& path, const std::string& what) {
  warnings_.push_back("/" + path + ": " + what);
  warned_.insert(path);
}

void NodeReader::leave_out(const std::string& path, const Error& error) {
  const auto below = root_.path.empty() ? path : path_from(root_.path, path).value_or(path);
  unread_.push_back({"/" + std::string(below), error});
}

Result<NodeReader> NodeReader::open(NodeLocation location, bool consolidated) {
  consolidated = consolidated && !location.writable;
  NodeReader reader(std::move(location), consolidated);
  SHERD_TRY(found, reader.read_root());
  if (!found)
    return not_found("no dataset of Zarr or NCZarr is at " + reader.location_.store->url() +
                     (reader.location_.path.empty() ? "" : ", path " + reader.location_.path) +
                     "; tried\n  Zarr v3: zarr.json\n  Zarr v2 and NCZarr: .zgroup, .zmetadata, .nczarr");
  return reader;
}

Result<bool> NodeReader::read_root() {
  SHERD_TRY(replies, read_root_documents(location_, may_use_consolidated_));
  const bool is_v3 = !replies.empty() && replies.front().name == kZarrJson;
  const auto format = std::ranges::find(location_.tables.formats, is_v3 ? "zarr3" : "zarr2", &Format::name);
  location_.format = std::shared_ptr<const Format>(std::shared_ptr<void>(), *format);
  v1_ = std::ranges::any_of(replies, [](const Reply& each) { return each.name == kSuperblockDocument && each.json; });
  if (v1_) {
    SHERD_TRY(legacy, read_node(location_, prefix_of_path(location_.path), kLegacyDocuments));
    for (Reply& each : legacy)
      if (each.json)
        replies.push_back(std::move(each));
      else
        warn(location_.path, std::string(each.name) + " is ignored: " + each.fault->text());
  }
  Member root;
  root.node.path = location_.path;
  SHERD_TRY(exists, add_documents(root, std::move(replies)));
  for (const std::string& warning : root.warnings) warn(location_.path, warning);
  root_ = std::move(root.node);
  if (exists && root_.type == NodeType::group) use_consolidated();
  return exists;
}

void NodeReader::use_consolidated() {
  const auto* consolidation = capability<Consolidation>(*location_.format);
  auto entries = consolidation != nullptr ? consolidation->take_entries(root_.document) : std::nullopt;
  consolidated_ = entries.has_value();
  if (!entries && root_.document.find(kConsolidated) != nullptr)
    warn(root_.path, std::string(kConsolidated) + " is ignored: it has another version or no list of documents");
  if (!entries || !may_use_consolidated_) return;
  entries_.emplace();
  for (auto& [path, json] : *entries)
    if (entries_->emplace(path, std::move(json)).second)
      children_[join_path(root_.path, parent_path(path))].emplace_back(last_segment(path));
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

Result<std::vector<StoredNode>> NodeReader::collect(const StoredNode& group, const std::vector<std::string>& names,
                                                    const ReadMember& read) {
  std::vector<Member> members(names.size());
  SHERD_TRY(parallel_for(names.size(), location_.config, [&](std::size_t n) -> Result<void> {
    Member& member = members[n];
    member.node.path = join_path(group.path, names[n]);
    member.node.name = names[n];
    return read(n, member);
  }));
  std::vector<StoredNode> nodes;
  for (Member& member : members) {
    for (const std::string& warning : member.warnings) warn(member.node.path, warning);
    if (member.fault) leave_out(member.node.path, *member.fault);
    if (member.exists) nodes.push_back(std::move(member.node));
  }
  return nodes;
}

/// The documents in consolidated metadata are not requested, but a member without a directory is missing. If requests
/// have latency, directories are not listed either.
Result<std::vector<StoredNode>> NodeReader::from_entries(const StoredNode& group, const std::vector<std::string>& names,
                                                         const OnArray& on_array) {
  std::optional<std::set<std::string, std::less<>>> directories;  // nullopt: unknown
  const StoreTraits traits = location_.store->traits();
  if (traits.can_list && traits.parallel_requests <= 1 && !names.empty())
    if (auto listing = location_.store->list_dir(prefix_of_path(group.path)))
      directories.emplace(listing->prefixes.begin(), listing->prefixes.end());
  return collect(group, names, [&](std::size_t, Member& member) -> Result<void> {
    const std::string& path = member.node.path;
    const auto rest = root_.path.empty() ? std::optional<std::string_view>(path) : path_from(root_.path, path);
    const auto entry = rest ? entries_->find(std::string(*rest)) : entries_->end();
    if (entry == entries_->end()) return {};
    if (directories && !directories->contains(member.node.name)) {
      const std::string fault = "is in the consolidated metadata, but not stored";
      member.warnings.push_back(fault);
      member.fault = corrupt(fault);
      return {};
    }
    member.node.document = std::move(entry->second);  // each is requested once
    return member.settle(complete(member.node, location_.format->name() == "zarr3"), on_array);
  });
}

/// If requests have latency, the documents of all members are requested together.
Result<std::vector<StoredNode>> NodeReader::from_store(const StoredNode& group, const std::vector<std::string>& names,
                                                       const OnArray& on_array) {
  const bool is_v3 = location_.format->name() == "zarr3";
  const bool at_once = location_.store->traits().parallel_requests > 1;
  std::vector<std::string_view> parts = {kZarrJson};
  if (!is_v3) parts = {kArrayDocument, kAttributes};
  if (!is_v3 && at_once) parts.push_back(kGroupDocument);
  if (v1_) parts.insert(parts.end(), std::begin(kLegacyDocuments), std::end(kLegacyDocuments));
  std::vector<std::vector<Reply>> replies;
  if (at_once) {
    std::vector<std::string> prefixes;
    prefixes.reserve(names.size());
    for (const std::string& name : names) prefixes.push_back(prefix_of_path(join_path(group.path, name)));
    SHERD_TRY(all, read_nodes(location_, prefixes, parts, parsed_.get()));
    replies = std::move(all);
  }
  return collect(group, names, [&](std::size_t n, Member& member) -> Result<void> {
    SHERD_TRY(documents, at_once ? std::move(replies[n])
                                 : read_member(location_, prefix_of_path(member.node.path), parts, parsed_.get()));
    return member.settle(add_documents(member, std::move(documents)), on_array);
  });
}

Result<bool> NodeReader::add_documents(Member& member, std::vector<Reply> replies) const {
  const bool is_v3 = location_.format->name() == "zarr3";
  StoredNode& node = member.node;
  const std::string prefix = prefix_of_path(node.path);
  Json::Object parts;
  parts.reserve(replies.size());
  node.versions.reserve(replies.size());
  for (Reply& reply : replies) {
    const bool needed = reply.name != kConsolidated;
    if (reply.fault && !needed) {
      member.warnings.push_back(std::string(reply.name) + " is ignored: " + reply.fault->text());
      continue;
    }
    if (reply.fault) return *std::move(reply.fault);
    if (reply.json->has_tail)
      member.warnings.push_back("bytes after the document " + std::string(reply.name) + " were ignored");
    Json& json = reply.json->json;
    if (reply.name.starts_with(".ncz")) {
      node.legacy.set(reply.name, std::move(json));
      continue;
    }
    const bool makes_visible = reply.name != kAttributes && needed;
    node.versions.insert(makes_visible ? node.versions.end() : node.versions.begin(),
                         {joined(prefix, reply.name), std::move(reply.generation)});
    if (is_v3)
      node.document = std::move(json);
    else
      parts.emplace_back(reply.name, std::move(json));
  }
  if (!parts.empty()) node.document = std::move(parts);
  if (!is_v3 && !node.document.find(kArrayDocument) && !node.document.find(kGroupDocument)) return false;
  if (is_v3 && node.versions.empty()) return false;
  return complete(node, is_v3).in_key(node.versions.back().key);
}

Result<void> NodeReader::Member::settle(const Result<bool>& found, const OnArray& on_array) {
  exists = found.has_value() && *found;
  if (exists && node.type == NodeType::array) on_array(node);
  if (found.has_value()) return {};
  if (!is_stored_fault(found.error())) return found.error();  // it exists, and may be readable later
  warnings.push_back("left out: " + found.error().text());
  fault = found.error();
  return {};
}

Result<std::vector<StoredNode>> NodeReader::members(const StoredNode& group, const std::vector<ListedMember>* listed,
                                                    const OnArray& on_array) {
  SHERD_TRY(stored, names_in(group));
  std::vector<std::string> names;
  std::set<std::string_view> known;
  if (listed != nullptr)
    for (const ListedMember& member : *listed) {
      if (!known.insert(member.name).second) continue;
      if (location_.format->check_name(member.name)) {
        names.push_back(member.name);
        continue;
      }
      const std::string fault = "lists '" + member.name.substr(0, 80) + "', which cannot be the name of a node";
      warn(group.path, fault);
      leave_out(group.path, corrupt(fault));
    }
  const std::size_t count = names.size();
  for (std::string& name : stored)
    if (!known.contains(name)) names.push_back(std::move(name));
  SHERD_TRY(nodes, entries_ ? from_entries(group, names, on_array) : from_store(group, names, on_array));
  if (listed == nullptr) return nodes;
  auto node = nodes.begin();  // they are in the order of their names
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (node != nodes.end() && node->name == names[i]) {
      if (i >= count) warn(node->path, "is not listed by its group's metadata");
      ++node;
    } else if (const std::string path = join_path(group.path, names[i]); i < count && !warned_.contains(path)) {
      const std::string fault = "is listed by its group's metadata, but not stored";
      warn(path, fault);
      leave_out(path, corrupt(fault));
    }
  }
  return nodes;
}

}  // namespace sherd::netcdf
