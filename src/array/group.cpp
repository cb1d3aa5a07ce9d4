// The state of a group handle: its location, its document, and the consolidated metadata in it. Consolidated metadata
// is a copy, and another program can change a node without updating it. So it determines neither which nodes exist nor
// what they contain: the store is listed, and each node's own document is read. In groups opened for reading only, it
// provides the types of listed nodes, which saves reading their documents. It is trusted only if the store cannot list,
// because there is no other source then.
#include "sherd/group.hpp"
#include "array/nodes.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

#include "base/call.hpp"
#include "base/lenient.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "store/prefetched.hpp"

namespace sherd {

namespace {

/// A node below a group, according to its consolidated metadata.
struct KnownNode {
  NodeType type = NodeType::unknown;
  Json document;  ///< only if the store cannot list, so that consolidated metadata is trusted
};

/// The nodes below a group according to consolidated metadata.
struct KnownNodes {
  std::shared_ptr<const std::map<std::string, KnownNode>> by_path;  ///< by path from the group that is consolidated
  std::string prefix;                                               ///< of this group in it: empty, or ending in `/`

  [[nodiscard]] const KnownNode* find(const std::string& path) const {
    if (by_path == nullptr) return nullptr;
    const auto found = by_path->find(prefix + path);
    return found == by_path->end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::optional<NodeType> type(const std::string& name) const {
    const KnownNode* node = find(name);
    return node != nullptr ? std::optional(node->type) : std::nullopt;
  }
  [[nodiscard]] Members members() const {
    Members members;
    for (auto at = by_path->lower_bound(prefix); at != by_path->end() && at->first.starts_with(prefix); ++at) {
      const std::string_view name = std::string_view(at->first).substr(prefix.size());
      if (!name.empty() && name.find('/') == name.npos) members.emplace_back(name, at->second.type);
    }
    return members;
  }
};

/// Whether consolidated metadata says which members there are and what they are: where they cannot be listed, and on
/// servers, where each member would be a request.
bool trusts_consolidated(const Store& store) {
  const StoreTraits traits = store.traits();
  const bool is_server = traits.parallel_requests > 1 && !traits.locks;
  return !traits.can_list || traits.read_only || is_server;
}

KnownNodes known_nodes(const NodeLocation& location, const NodeDocument& node) {
  if (location.writable) return {};
  const auto* consolidation = capability<Consolidation>(*location.format);
  auto entries = consolidated_entries(*location.format, node.document);
  if (!entries) return {};
  const bool trusted = trusts_consolidated(*location.store);
  std::map<std::string, KnownNode> nodes;
  for (auto& [path, entry] : *entries)
    if (const auto type = consolidation->type(entry))
      nodes.emplace(path, KnownNode{*type, trusted ? std::move(entry) : Json()});
  return {std::make_shared<const std::map<std::string, KnownNode>>(std::move(nodes)), {}};
}

/// The number of member documents in memory at a time.
constexpr std::size_t kOpenedTogether = 128;

using OnDocument = std::function<Result<void>(std::size_t i, Result<std::optional<NodeDocument>> document)>;
/// Reads the documents of members, many at a time if requests have latency, and visits them in the order of `names`.
Result<void> read_members(const NodeLocation& group, std::span<const std::string> names, const OnDocument& visit) {
  const Format* const format = group.format.get();
  for (std::size_t first = 0; first < names.size(); first += kOpenedTogether) {
    SHERD_TRY(check_interrupted());
    const auto some = names.subspan(first, std::min(kOpenedTogether, names.size() - first));
    std::vector<std::string> keys;
    for (const std::string& name : some)
      std::ranges::move(document_keys({&format, 1}, join_path(group.path, name)), std::back_inserter(keys));
    std::ranges::sort(keys);
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
    SHERD_TRY(documents, prefetched_store(*group.store, keys));
    for (std::size_t i = 0; i < some.size(); ++i)
      SHERD_TRY(visit(first + i, format->open(*documents, join_path(group.path, some[i]), group.config.limits)));
  }
  return {};
}

std::vector<std::string> names_of(const Members& members) {
  std::vector<std::string> names;
  for (const auto& member : members) names.push_back(member.first);
  return names;
}

/// The documents of all nodes below the group at `location`.
Result<Consolidation::Entries> documents_below(const NodeLocation& location) {
  Consolidation::Entries documents;
  std::vector<std::string> groups{std::string()};
  while (!groups.empty()) {
    const std::string group = std::move(groups.back());
    groups.pop_back();
    const NodeLocation at = at_path(location, join_path(location.path, group));
    SHERD_TRY(members, at.format->members(*at.store, at.path, at.config.limits, {}));
    SHERD_TRY(read_members(at, names_of(members),
                           [&](std::size_t i, Result<std::optional<NodeDocument>> read) -> Result<void> {
                             SHERD_TRY(node, std::move(read));
                             if (!node) return {};
                             std::string path = join_path(group, members[i].first);
                             if (node->type == NodeType::group) groups.push_back(path);
                             documents.emplace_back(std::move(path), std::move(node->document));
                             return {};
                           }));
  }
  std::sort(documents.begin(), documents.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return documents;
}

/// The node that an entry of consolidated metadata describes.
Result<std::optional<NodeDocument>> lowered(const NodeLocation& location, const Json& entry) {
  auto node = location.format->lower(entry, location.config.limits);
  if (!node) return stored_error(std::move(node).error()).in_key(location.format->likeliest_key(location.path));
  if (const auto* consolidation = capability<Consolidation>(*location.format))
    SHERD_TRY(consolidation->complete(*location.store, location.path, *node));
  return std::optional(*std::move(node));
}

}  // namespace

struct Group::State {
  State(NodeLocation where, NodeDocument what, KnownNodes below)
      : location(std::move(where)), known(std::move(below)), node(std::move(what)) {}

  const NodeLocation location;
  const KnownNodes known;
  std::mutex editing;
  mutable std::mutex mutex;
  NodeDocument node;  ///< guarded by mutex

  [[nodiscard]] NodeDocument present() const {
    const std::lock_guard guard(mutex);
    return node;
  }
  Result<void> edit(const DocumentEdit& change) {
    const std::lock_guard in_turn(editing);
    return as_call(location.config, [&]() -> Result<void> {
      const bool may_be_known = !location.store->traits().locks;  // else a copy for nothing
      const auto seen = may_be_known ? std::optional(present()) : std::nullopt;
      SHERD_TRY(changed, edit_document(location, NodeType::group, change, seen ? &*seen : nullptr));
      {
        const std::lock_guard guard(mutex);
        node = std::move(changed);
      }
      return renew_consolidated(location);
    });
  }
  [[nodiscard]] Result<NodeLocation> below(std::string_view path) const {
    SHERD_TRY(normal, normal_path(path));
    if (normal.empty()) return invalid_argument("the path of a member cannot be empty");
    NodeLocation member = location;
    member.path = join_path(location.path, normal);
    return member;
  }
  [[nodiscard]] std::string within(const NodeLocation& member) const {
    return member.path.substr(location.path.empty() ? 0 : location.path.size() + 1);
  }
  /// The node of a member that was read.
  [[nodiscard]] Result<Node> node_of(NodeLocation member, Result<std::optional<NodeDocument>> read) const {
    SHERD_TRY(document, std::move(read));
    if (!document) return no_node_at(member);
    if (known.by_path == nullptr || document->type == NodeType::array)
      return make_node(std::move(member), *std::move(document));
    KnownNodes below{known.by_path, known.prefix + within(member) + "/"};
    return Node(Group(std::make_shared<State>(std::move(member), *std::move(document), std::move(below))));
  }
};

Group make_group(NodeLocation location, NodeDocument document) {
  KnownNodes known = known_nodes(location, document);
  return Group(std::make_shared<Group::State>(std::move(location), std::move(document), std::move(known)));
}

Group::Group(std::shared_ptr<State> state) : state_(std::move(state)) {}

const NodeLocation& location_of(const Group& group) noexcept { return group.state().location; }
const std::string& Group::path() const noexcept { return state_->location.path; }
const std::shared_ptr<Store>& Group::store() const noexcept { return state_->location.store; }
std::string_view Group::format() const noexcept { return state_->location.format->name(); }
bool Group::read_only() const noexcept { return !state_->location.writable; }
const Config& Group::config() const noexcept { return state_->location.config; }
Json stored_attributes(const Group& group) {
  const std::lock_guard guard(group.state().mutex);
  return group.state().node.attributes;
}
Json Group::attributes() const { return with_quoted_numbers(stored_attributes(*this)); }
Json Group::metadata() const { return state_->present().document; }

Result<NodeLocation> Group::writable_below(std::string_view path) const {
  SHERD_TRY(member, state_->below(path));
  SHERD_TRY(require_writable(member));
  return member;
}

Result<void> Group::finish() { return in_store(store()->finish(), store()->url()); }

std::string Group::url() const { return url_below(store()->url(), path()); }

Result<void> Group::set_attributes(const Json& attributes) {
  if (!attributes.is_object()) return invalid_argument("must be an object").in_member("attributes");
  const Format& format = *state_->location.format;
  return state_->edit(
      [&](const NodeDocument& now) { return format.changed(now.document, {.attributes = attributes}); });
}

Result<std::uint64_t> Group::update_attributes(const Json& set, std::span<const std::string> remove) {
  std::uint64_t removed = 0;
  SHERD_TRY(state_->edit([&](const NodeDocument& now) -> Result<Json> {
    SHERD_TRY(updated, updated_attributes(now.attributes, set, remove));
    removed = updated.removed;
    return state_->location.format->changed(now.document, {.attributes = updated.attributes});
  }));
  return removed;
}

Result<Members> listed_members(const Group& group) {
  const NodeLocation& location = group.state().location;
  const KnownNodes& known = group.state().known;
  if (known.by_path != nullptr && trusts_consolidated(*location.store)) return known.members();
  return members_of(location, [&](const std::string& name) { return known.type(name); });
}

Result<Node> Group::open(std::string_view path) const {
  return as_call(state_->location.config, [&]() -> Result<Node> {
    SHERD_TRY(member, state_->below(path));
    const KnownNode* known = state_->known.find(state_->within(member));
    if (known != nullptr && !known->document.is_null())
      return state_->node_of(member, lowered(member, known->document));
    auto node = member.format->open(*member.store, member.path, member.config.limits);
    return state_->node_of(std::move(member), std::move(node));
  });
}

Result<void> Group::open_all(std::span<const std::string> names,
                             const std::function<Result<void>(std::size_t, Result<Node>)>& visit) const {
  if (state_->known.by_path != nullptr && trusts_consolidated(*state_->location.store)) {
    for (std::size_t i = 0; i < names.size(); ++i) SHERD_TRY(visit(i, open(names[i])));
    return {};
  }
  for (const std::string& name : names) SHERD_TRY(state_->below(name));
  return as_call(state_->location.config, [&] {
    return read_members(state_->location, names,
                        [&](std::size_t i, Result<std::optional<NodeDocument>> read) -> Result<void> {
                          SHERD_TRY(member, state_->below(names[i]));
                          return visit(i, state_->node_of(std::move(member), std::move(read)));
                        });
  });
}

Result<bool> Group::contains(std::string_view path) const {
  return as_call(state_->location.config, [&]() -> Result<bool> {
    SHERD_TRY(member, state_->below(path));
    SHERD_TRY(present, presence(member));
    return present != Presence::none;
  });
}

Result<Group> Group::create_group(std::string_view path, const Json& attributes, bool overwrite) {
  return as_call(state_->location.config, [&]() -> Result<Group> {
    SHERD_TRY(member, state_->below(path));
    return create_group_at(std::move(member), attributes, overwrite);
  });
}

Result<Array> Group::create_array(std::string_view path, const CreateOptions& options) {
  return as_call(state_->location.config, [&]() -> Result<Array> {
    SHERD_TRY(member, state_->below(path));
    member.config = options.config;
    return create_array_at(std::move(member), options);
  });
}

Result<void> Group::consolidate() {
  return as_call(state_->location.config, [&]() -> Result<void> {
    const NodeLocation& location = state_->location;
    SHERD_TRY(require_writable(location));
    const auto* consolidation = capability<Consolidation>(*location.format);
    if (consolidation == nullptr)
      return unsupported("groups of the format " + std::string(format()) + " have no consolidated metadata")
          .in_key(location.format->likeliest_key(location.path));
    const auto documents_of_now = [&](const NodeDocument& now) -> Result<Json> {
      SHERD_TRY(documents, documents_below(location));
      return consolidation->with_entries(now.document, std::move(documents));
    };
    // A change during the first edit does not yet find consolidated metadata to update. Later changes do; the second
    // edit includes the changes in between.
    SHERD_TRY(state_->edit(documents_of_now));
    return state_->edit(documents_of_now);
  });
}

}  // namespace sherd
