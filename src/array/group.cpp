// Knows what a group handle keeps: its place, its document, and the consolidated metadata found in it.
// Consolidated metadata is a copy, and whoever changes a node without knowing of it leaves it behind. So it never says
// which nodes there are and what they hold: the store is listed and a node's own document read. What it spares, for
// groups opened for reading only, are the documents of a listing, of which no more than the type is wanted.
#include "sherd/group.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "array/consolidated.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "base/url.hpp"

namespace sherd {

namespace {

/// The types of the nodes below a group as consolidated metadata tells them.
struct KnownTypes {
  std::shared_ptr<const std::map<std::string, NodeType>> by_path;  ///< from the group that is consolidated
  std::string prefix;                                              ///< of this group in it: empty, or ending in `/`

  [[nodiscard]] std::optional<NodeType> find(const std::string& name) const {
    if (by_path == nullptr) return std::nullopt;
    const auto found = by_path->find(prefix + name);
    return found == by_path->end() ? std::nullopt : std::optional(found->second);
  }
};

KnownTypes known_types(const NodePlace& place, const NodeDocument& node) {
  if (place.writable) return {};
  const auto* consolidation = capability<Consolidation>(*place.format);
  const auto entries = consolidation != nullptr ? consolidation->entries(node.document) : std::nullopt;
  if (!entries) return {};
  std::map<std::string, NodeType> types;
  for (const auto& [path, entry] : *entries)
    if (const auto type = consolidation->type(entry)) types.emplace(path, *type);
  return {std::make_shared<const std::map<std::string, NodeType>>(std::move(types)), {}};
}

/// The documents of all nodes below the group at `place`.
Result<Consolidation::Entries> documents_below(const NodePlace& place) {
  Consolidation::Entries documents;
  std::vector<std::string> groups{std::string()};
  while (!groups.empty()) {
    const std::string group = std::move(groups.back());
    groups.pop_back();
    SHERD_TRY(members, place.format->members(*place.store, join_path(place.path, group), place.config.limits, {}));
    for (const auto& member : members) {
      std::string path = join_path(group, member.first);
      SHERD_TRY(node, place.format->open(*place.store, join_path(place.path, path), place.config.limits));
      if (!node) continue;
      if (node->type == NodeType::group) groups.push_back(path);
      documents.emplace_back(std::move(path), std::move(node->document));
    }
  }
  std::sort(documents.begin(), documents.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return documents;
}

}  // namespace

struct Group::State {
  State(NodePlace where, NodeDocument what, KnownTypes below)
      : place(std::move(where)), known(std::move(below)), node(std::move(what)) {}

  const NodePlace place;
  const KnownTypes known;
  std::mutex editing;
  mutable std::mutex mutex;
  NodeDocument node;  ///< guarded by mutex

  [[nodiscard]] NodeDocument present() const {
    const std::lock_guard guard(mutex);
    return node;
  }
  Result<void> edit(const DocumentEdit& change) {
    const std::lock_guard in_turn(editing);
    SHERD_TRY(changed, edit_document(place, NodeType::group, change));
    {
      const std::lock_guard guard(mutex);
      node = std::move(changed);
    }
    return renew_consolidated(place);
  }
  [[nodiscard]] Result<NodePlace> below(std::string_view path) const {
    SHERD_TRY(normal, normal_path(path));
    if (normal.empty()) return invalid_argument("the path of a member cannot be empty");
    NodePlace member = place;
    member.path = join_path(place.path, normal);
    return member;
  }
  [[nodiscard]] std::string within(const NodePlace& member) const {
    return member.path.substr(place.path.empty() ? 0 : place.path.size() + 1);
  }
};

Group make_group(NodePlace place, NodeDocument document) {
  KnownTypes known = known_types(place, document);
  return Group(std::make_shared<Group::State>(std::move(place), std::move(document), std::move(known)));
}

Group::Group(std::shared_ptr<State> state) : state_(std::move(state)) {}

const std::string& Group::path() const noexcept { return state_->place.path; }
const std::shared_ptr<Store>& Group::store() const noexcept { return state_->place.store; }
std::string_view Group::format() const noexcept { return state_->place.format->name(); }
bool Group::read_only() const noexcept { return !state_->place.writable; }
const Config& Group::config() const noexcept { return state_->place.config; }
Json Group::attributes() const { return state_->present().attributes; }
Json Group::metadata() const { return state_->present().document; }

std::string Group::url() const { return url_below(store()->url(), path()); }

Result<void> Group::set_attributes(const Json& attributes) {
  if (!attributes.is_object()) return invalid_argument("must be an object").in_member("attributes");
  const Format& format = *state_->place.format;
  return state_->edit(
      [&](const NodeDocument& now) { return format.changed(now.document, {.attributes = attributes}); });
}

Result<std::uint64_t> Group::update_attributes(const Json& set, std::span<const std::string> remove) {
  std::uint64_t removed = 0;
  SHERD_TRY(state_->edit([&](const NodeDocument& now) -> Result<Json> {
    SHERD_TRY(updated, updated_attributes(now.attributes, set, remove));
    removed = updated.removed;
    return state_->place.format->changed(now.document, {.attributes = updated.attributes});
  }));
  return removed;
}

Result<std::vector<std::pair<std::string, NodeType>>> Group::members() const {
  const NodePlace& place = state_->place;
  const KnownTypes& known = state_->known;
  return place.format->members(*place.store, place.path, place.config.limits,
                               [&](const std::string& name) { return known.find(name); });
}

Result<Node> Group::open(std::string_view path) const {
  SHERD_TRY(member, state_->below(path));
  auto node = member.format->open(*member.store, member.path, member.config.limits);
  if (!node) return std::move(node).error();
  if (!*node) return not_found("no node stands here").in_key(member.format->likeliest_key(member.path));
  if (state_->known.by_path == nullptr || (*node)->type == NodeType::array)
    return make_node(std::move(member), **std::move(node));
  KnownTypes below{state_->known.by_path, state_->known.prefix + state_->within(member) + "/"};
  return Node(Group(std::make_shared<State>(std::move(member), **std::move(node), std::move(below))));
}

Result<bool> Group::contains(std::string_view path) const {
  SHERD_TRY(member, state_->below(path));
  SHERD_TRY(present, presence(member));
  return present != Presence::none;
}

Result<void> Group::erase(std::string_view path) {
  SHERD_TRY(member, state_->below(path));
  SHERD_TRY(require_writable(member));
  SHERD_TRY(present, presence(member));
  SHERD_TRY(cut_short, is_moving(member));
  if (present == Presence::none && !cut_short)
    return not_found("no node stands here").in_key(member.format->likeliest_key(member.path));
  return erase_node(member);
}

Result<Group> Group::create_group(std::string_view path, const Json& attributes, bool overwrite) {
  SHERD_TRY(member, state_->below(path));
  return create_group_at(std::move(member), attributes, overwrite);
}

Result<Array> Group::create_array(std::string_view path, const CreateOptions& options) {
  SHERD_TRY(member, state_->below(path));
  member.config = options.config;
  return create_array_at(std::move(member), options);
}

Result<void> Group::consolidate() {
  const NodePlace& place = state_->place;
  SHERD_TRY(require_writable(place));
  const auto* consolidation = capability<Consolidation>(*place.format);
  if (consolidation == nullptr)
    return unsupported("groups of the format " + std::string(format()) + " have no consolidated metadata")
        .in_key(place.format->likeliest_key(place.path));
  const auto documents_of_now = [&](const NodeDocument& now) -> Result<Json> {
    SHERD_TRY(documents, documents_below(place));
    return consolidation->with_entries(now.document, std::move(documents));
  };
  // Who changes a node while the first is made finds nothing to renew yet. From then on everybody does; the second
  // takes over what came in between.
  SHERD_TRY(state_->edit(documents_of_now));
  return state_->edit(documents_of_now);
}

}  // namespace sherd
