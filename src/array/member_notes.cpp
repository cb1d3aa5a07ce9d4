#include "array/member_notes.hpp"

#include <algorithm>
#include <map>

#include "array/consolidated.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

/// A node in a group that keeps a list, as seen from the outermost store.
struct Listed {
  const MemberNotes* notes;
  NodeLocation node, group;
  std::string name;
};

/// The metadata of the group at `location`; nullopt if there is no readable group.
Result<std::optional<Json>> group_at(const NodeLocation& location) {
  auto node = location.format->open(*location.store, location.path, location.config.limits);
  if (!node && !is_stored_fault(node.error())) return std::move(node).error();
  if (!node || !*node || (*node)->type != NodeType::group) return std::optional<Json>();
  return std::optional(std::move((*node)->document));
}

/// nullopt if the group there keeps no list.
Result<std::optional<Listed>> find_listed(const NodeLocation& location) {
  if (location.tables.notes.empty()) return std::optional<Listed>();
  NodeLocation node = location;
  if (node.path.empty()) {
    SHERD_TRY(outer, from_around(location));
    if (!outer) return std::optional<Listed>();
    node = *std::move(outer);
  }
  SHERD_TRY(document, group_at(at_path(node, std::string(parent_path(node.path)))));
  const MemberNotes* const notes = document ? notes_in(location.tables, *document) : nullptr;
  if (notes == nullptr) return std::optional<Listed>();
  SHERD_TRY(outermost, from_outermost(std::move(node)));
  NodeLocation group = at_path(outermost, std::string(parent_path(outermost.path)));
  std::string name(split_key(outermost.path).name);
  return std::optional(Listed{notes, std::move(outermost), std::move(group), std::move(name)});
}

/// The groups around a path of a store, outermost first.
Result<std::vector<StoredGroup>> groups_around(const NodeLocation& node) {
  std::vector<StoredGroup> groups;
  for (std::string& path : ancestors(node.path)) {
    SHERD_TRY(document, group_at(at_path(node, path)));
    groups.push_back({std::move(path), document ? *std::move(document) : Json()});
  }
  return groups;
}

/// Changes a group's metadata, including the copy in its own consolidated metadata.
Result<void> edit_group(const NodeLocation& group, const DocumentEdit& change) {
  SHERD_TRY(edit_document(group, NodeType::group, [&](const NodeDocument& now) -> Result<Json> {
    SHERD_TRY(next, change(now));
    auto entries = next != now.document ? consolidated_entries(*group.format, next) : std::nullopt;
    if (!entries) return next;
    return capability<Consolidation>(*group.format)->with_entries(std::move(next), *std::move(entries));
  }));
  return {};
}

/// Adds the notes of a member to a stored node whose group is stored next to it, and lists the node there.
Result<void> introduce_below(const MemberNotes& notes, const NodeLocation& location, std::vector<StoredGroup> groups) {
  SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
  if (!node || !notes.lists(*node)) return {};
  Json made;
  const std::string name(split_key(location.path).name);
  SHERD_TRY(edit_group(at_path(location, std::string(parent_path(location.path))),
                       [&](const NodeDocument& now) -> Result<Json> {
                         groups.back().document = now.document;
                         made = notes.introduced(groups, *node);
                         return notes.with_member(groups.back().document, name, node->type);
                       }));
  SHERD_TRY(edit_document(location, node->type, [&](const NodeDocument&) -> Result<Json> { return made; }));
  return {};
}

}  // namespace

const MemberNotes* notes_in(const Tables& tables, const Json& group) {
  const auto found =
      std::ranges::find_if(tables.notes, [&](const MemberNotes* each) { return each->listed(group).has_value(); });
  return found == tables.notes.end() ? nullptr : *found;
}

bool is_model_document(const Tables& tables, std::string_view name) noexcept {
  return std::ranges::any_of(tables.notes, [&](const MemberNotes* each) { return each->is_document(name); });
}

Result<std::optional<std::string>> left_out_of_copies(const NodeLocation& location, const Json& node) {
  for (const MemberNotes* const notes : location.tables.notes) {
    std::vector<ReadRequest> requests;
    for (const std::string_view name : notes->documents_next_to(node))
      requests.push_back({.key = join_path(location.path, name), .length = 0});
    std::optional<std::string> found;
    SHERD_TRY(location.store->read(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
      if (!reply) return std::move(reply).error().in_key(requests[i].key);
      if (reply->source != nullptr && !found) found = requests[i].key;
      return {};
    }));
    if (found)
      return std::optional("documents of " + std::string(notes->name()) + ", such as " + *found +
                           ", are not part of the copy: " + std::string(notes->said_there()));
  }
  return std::optional<std::string>();
}

Result<bool> introduce(const NodeLocation& location, NodeDocument& node) {
  SHERD_TRY(listed, find_listed(location));
  if (!listed || !listed->notes->lists(node)) return false;
  SHERD_TRY(groups, groups_around(listed->node));
  Json made;
  SHERD_TRY(edit_group(listed->group, [&](const NodeDocument& now) -> Result<Json> {
    groups.back().document = now.document;
    made = listed->notes->introduced(groups, node);
    return groups.back().document;
  }));
  SHERD_TRY(lowered, location.format->lower(std::move(made), location.config.limits));
  node.document = std::move(lowered.document);
  node.attributes = std::move(lowered.attributes);
  node.array = std::move(lowered.array);
  return true;
}

Result<bool> introduce_stored(const NodeLocation& location, const NodeLocation& staged,
                              const std::vector<std::string>& below) {
  SHERD_TRY(listed, find_listed(location));
  if (!listed) return false;
  SHERD_TRY(node, staged.format->open(*staged.store, staged.path, staged.config.limits));
  if (!node || !listed->notes->lists(*node)) return false;
  NodeDocument introduced = *node;
  SHERD_TRY(introduce(location, introduced));
  SHERD_TRY(
      edit_document(staged, node->type, [&](const NodeDocument&) -> Result<Json> { return introduced.document; }));
  SHERD_TRY(outer, groups_around(listed->node));
  std::vector<std::string> paths = below;
  std::ranges::sort(paths);  // groups before their members
  for (const std::string& path : paths) {
    std::vector<StoredGroup> groups = outer;
    for (const std::string& each : ancestors(path)) {
      SHERD_TRY(document, group_at(at_path(staged, join_path(staged.path, each))));
      groups.push_back({join_path(listed->node.path, each), document ? *std::move(document) : Json()});
    }
    SHERD_TRY(introduce_below(*listed->notes, at_path(staged, join_path(staged.path, path)), std::move(groups)));
  }
  return true;
}

Result<void> introduce_planned(const NodeLocation& location,
                               std::span<const std::pair<std::string, NodeDocument*>> nodes) {
  SHERD_TRY(listed, find_listed(location));
  if (!listed || !listed->notes->lists(*nodes.front().second)) return {};
  const MemberNotes& notes = *listed->notes;
  SHERD_TRY(outer, groups_around(listed->node));
  std::map<std::string, NodeDocument*, std::less<>> planned;
  for (const auto& [path, node] : nodes) {
    std::vector<StoredGroup> groups = outer;
    if (!path.empty())
      for (const std::string& each : ancestors(path))
        groups.push_back({join_path(listed->node.path, each), planned[each] ? planned[each]->document : Json()});
    planned[path] = node;
    if (!notes.lists(*node)) continue;
    Json made = notes.introduced(groups, *node);
    NodeDocument* const group = path.empty() ? nullptr : planned[std::string(parent_path(path))];
    if (group != nullptr)
      group->document =
          notes.with_member(std::move(groups.back().document), std::string(split_key(path).name), node->type);
    node->document = std::move(made);
  }
  return {};
}

Result<void> list_member(const NodeLocation& location) {
  SHERD_TRY(listed, find_listed(location));
  if (!listed) return {};
  auto edited = edit_group(listed->group, [&](const NodeDocument& now) -> Result<Json> {
    const NodeLocation& at = listed->node;
    SHERD_TRY(node, at.format->open(*at.store, at.path, at.config.limits));
    const bool lists = node && listed->notes->lists(*node);
    return listed->notes->with_member(now.document, listed->name, lists ? std::optional(node->type) : std::nullopt);
  });
  if (edited) return {};
  return std::move(edited).error().in("the node is stored, but its group's list of members could not be updated");
}

Result<bool> unlist_member(const NodeLocation& location) {
  SHERD_TRY(listed, find_listed(location));
  if (!listed) return false;
  SHERD_TRY(edit_group(listed->group, [&](const NodeDocument& now) -> Result<Json> {
    return listed->notes->with_member(now.document, listed->name, std::nullopt);
  }));
  return true;
}

}  // namespace sherd
