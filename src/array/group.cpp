// Knows what a group handle keeps: its place, its document, and the consolidated metadata found in it.
// Consolidated metadata is a snapshot that later changes do not reach. So it answers for groups opened for reading
// only, where it saves a request a node; a writable group always looks at the store itself.
#include "sherd/group.hpp"

#include <algorithm>
#include <mutex>

#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "base/url.hpp"

namespace sherd {

namespace {

/// A group's view of consolidated metadata: those of all its documents whose paths begin with `prefix`.
struct Snapshot {
  std::shared_ptr<const Consolidated> documents;
  std::string prefix;  ///< empty, or ending in `/`

  [[nodiscard]] const Json* find(const std::string& path) const {
    if (documents == nullptr) return nullptr;
    const std::string whole = prefix + path;
    const auto found = std::lower_bound(documents->begin(), documents->end(), whole,
                                        [](const auto& entry, const std::string& key) { return entry.first < key; });
    return found != documents->end() && found->first == whole ? &found->second : nullptr;
  }
};

Snapshot snapshot_of(const NodePlace& place, const NodeDocument& node) {
  if (place.writable) return {};
  auto documents = place.format->consolidated(node.document);
  if (!documents) return {};
  return {std::make_shared<const Consolidated>(*std::move(documents)), {}};
}

}  // namespace

struct Group::State {
  State(NodePlace where, NodeDocument what, Snapshot below)
      : place(std::move(where)), snapshot(std::move(below)), node(std::move(what)) {}

  const NodePlace place;
  const Snapshot snapshot;
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
    const std::lock_guard guard(mutex);
    node = std::move(changed);
    return {};
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
  Snapshot snapshot = snapshot_of(place, document);
  return Group(std::make_shared<Group::State>(std::move(place), std::move(document), std::move(snapshot)));
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
  return state_->edit([&](const NodeDocument& now) { return format.with_attributes(now.document, attributes); });
}

Result<void> Group::update_attributes(const Json& changes) {
  const Format& format = *state_->place.format;
  return state_->edit([&](const NodeDocument& now) -> Result<Json> {
    SHERD_TRY(merged, merged_attributes(now.attributes, changes));
    return format.with_attributes(now.document, merged);
  });
}

Result<std::vector<std::pair<std::string, NodeType>>> Group::members() const {
  const NodePlace& place = state_->place;
  const Snapshot& snapshot = state_->snapshot;
  if (snapshot.documents == nullptr) return place.format->members(*place.store, place.path, place.config.limits);
  std::vector<std::pair<std::string, NodeType>> found;
  for (const auto& [path, document] : *snapshot.documents) {
    if (!path.starts_with(snapshot.prefix)) continue;
    std::string name = path.substr(snapshot.prefix.size());
    if (name.find('/') != name.npos) continue;
    const auto type = place.format->type(document);
    found.emplace_back(std::move(name), type ? *type : NodeType::unknown);
  }
  return found;
}

Result<Node> Group::open(std::string_view path) const {
  SHERD_TRY(member, state_->below(path));
  const std::string within = state_->within(member);
  const Json* document = state_->snapshot.find(within);
  const std::string key = member.format->document_key(member.path);
  if (document == nullptr) {
    SHERD_TRY(node, find_node(member));
    if (node) return *std::move(node);
    return not_found("no node stands here").in_key(key);
  }
  auto node = member.format->lower(*document, member.config.limits);
  if (!node) return stored_error(std::move(node).error()).in("consolidated metadata").in_key(key);
  if (node->type == NodeType::array) return make_node(std::move(member), *std::move(node));
  Snapshot below{state_->snapshot.documents, state_->snapshot.prefix + within + "/"};
  return Node(Group(std::make_shared<State>(std::move(member), *std::move(node), std::move(below))));
}

Result<bool> Group::contains(std::string_view path) const {
  SHERD_TRY(member, state_->below(path));
  if (state_->snapshot.find(state_->within(member)) != nullptr) return true;
  return has_node(*member.store, member.tables, member.path);
}

Result<void> Group::erase(std::string_view path) {
  SHERD_TRY(member, state_->below(path));
  SHERD_TRY(require_writable(member));
  SHERD_TRY(stands, has_node(*member.store, member.tables, member.path));
  if (!stands) return not_found("no node stands here").in_key(member.format->document_key(member.path));
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
  Consolidated documents;
  std::vector<std::string> groups{std::string()};
  while (!groups.empty()) {
    const std::string group = std::move(groups.back());
    groups.pop_back();
    SHERD_TRY(members, place.format->members(*place.store, join_path(place.path, group), place.config.limits));
    for (const auto& [name, type] : members) {
      std::string path = join_path(group, name);
      SHERD_TRY(node, place.format->open(*place.store, join_path(place.path, path), place.config.limits));
      if (!node) continue;
      if (node->type == NodeType::group) groups.push_back(path);
      documents.emplace_back(std::move(path), std::move(node->document));
    }
  }
  std::sort(documents.begin(), documents.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return state_->edit([&](const NodeDocument& now) { return place.format->with_consolidated(now.document, documents); });
}

}  // namespace sherd
