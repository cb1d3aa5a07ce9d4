// Moves a node to another path of its store in one step: readers find it at the old or the new path, and active
// writers, whose locks move along, store at the new one. What the store cannot move in one step is refused
// (docs/decisions/0048). As when a node is erased, it is removed from consolidated metadata first, so that a kill
// leaves a node that is not listed, instead of a listed one that does not exist.
#include "node/move.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "node/claim.hpp"
#include "node/consolidated.hpp"
#include "node/creation.hpp"
#include "node/document.hpp"
#include "node/erase.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"
#include "store/capabilities.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

/// The prefix of all objects of the node; `unsupported` if the format has none.
Result<std::string> prefix_of_node(const NodeLocation& location) {
  const NodeKeys keys = location.format->keys(location.path);
  const auto is_inside = [&](const std::string& key) { return key.starts_with(keys.contents.front()); };
  if (keys.contents == std::vector{prefix_of(location.path)} && std::ranges::all_of(keys.documents, is_inside))
    return keys.contents.front();
  return unsupported("nodes of the format " + std::string(location.format->name()) +
                     " cannot be moved; copy the node, and erase the old one")
      .in_key(location.format->likeliest_key(location.path));
}

Result<void> check_paths(const NodeLocation& from, const std::string& to) {
  const std::string name = "'" + from.path + "'";
  if (from.path.empty())
    return invalid_argument("the node is the root of the store " + from.store->url() +
                            " and has no name there; rename the directory itself, for example with mv");
  if (to.empty()) return invalid_argument("the root of a store cannot be replaced by a node in it");
  if (to == from.path) return invalid_argument("the node is at " + name + " already");
  if (path_from(from.path, to)) return invalid_argument("cannot move " + name + " to '" + to + "', which is inside it");
  if (path_from(to, from.path))
    return conflict("cannot move " + name + " to '" + to + "', which contains it; move it to another path, erase '" +
                    to + "', then move it there");
  if (from.format->arrays_have_documents()) return {};
  return unsupported("scales of a volume cannot be moved").in_key(from.format->likeliest_key(from.path));
}

/// Adds the paths of all members relative to the node, groups before their members.
Result<void> add_members(const NodeLocation& group, const std::string& path, std::vector<std::string>& paths) {
  SHERD_TRY(members, members_of(at_path(group, join_path(group.path, path))));
  for (const auto& [name, type] : members) {
    const std::string member = join_path(path, name);
    paths.push_back(member);
    if (type == NodeType::group) SHERD_TRY(add_members(group, member, paths));
  }
  return {};
}

/// The paths of all members of a node; `not_found` if the node does not exist.
Result<std::vector<std::string>> members_below(const NodeLocation& location) {
  std::vector<std::string> paths;
  SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
  if (!node) return no_node_at(location);
  if (node->type == NodeType::group) SHERD_TRY(add_members(location, "", paths));
  return paths;
}

/// The locks of both paths, always taken in the same order.
struct BothLocks {
  std::unique_ptr<StoreLock> first, second;

  static Result<BothLocks> take(const NodeLocation& one, const NodeLocation& other) {
    const bool in_order = staging_name(one.path) < staging_name(other.path);
    BothLocks locks;
    SHERD_TRY(first, lock_node(in_order ? one : other));
    locks.first = std::move(first);
    SHERD_TRY(second, lock_node(in_order ? other : one));
    locks.second = std::move(second);
    return locks;
  }
};

/// Updates the lists around a node that was moved, at both paths.
Result<void> follow_move(const NodeLocation& from, const NodeLocation& to, const std::vector<std::string>& below) {
  const bool is_alone = below.empty() && split_key(from.path).prefix == split_key(to.path).prefix;
  SHERD_TRY(to.tables.changed(to, is_alone ? MemberChange::renamed : MemberChange::made, nullptr));
  SHERD_TRY(renew_consolidated(from));
  return renew_consolidated(to, below);
}

/// Lists a node again that was not moved after all.
void list_what_stayed(const NodeLocation& from, const std::vector<std::string>& below) {
  // The reason why it was not moved is the failure to report.
  (void)from.tables.changed(from, MemberChange::renamed, nullptr);
  (void)renew_consolidated(from, below);
}

Error cannot_move(const NodeLocation& location) {
  return unsupported("this store cannot rename a node; copy it ('sherd copy'), then remove it ('sherd rm')")
      .in_key(location.format->likeliest_key(location.path));
}

Result<void> move_at_once(const NodeLocation& location, RenamingStore& renames, const std::string& from,
                          const std::string& to) {
  Store& store = *location.store;
  // A conflict: a writer is active, and the store cannot move its lock.
  SHERD_TRY(moved, retry_limited(location.config, [&] { return renames.move_at_once(from, to); }));
  if (moved) return {};
  SHERD_TRY(free, lists_nothing(store, to, ListDepth::children));
  const auto file = store.open(to.substr(0, to.size() - 1));
  if (free && (!file || *file == nullptr)) return cannot_move(location);
  return conflict("there are objects at this path; remove them or choose another path").in_key(to);
}

}  // namespace

Result<void> move_node(const NodeLocation& from, const std::string& to) {
  SHERD_TRY(require_writable(from));
  if (!from.store->traits().can_list) return cannot_list(*from.store);
  SHERD_TRY(check_paths(from, to));
  NodeLocation destination = at_path(from, to);
  SHERD_TRY(old_prefix, prefix_of_node(from));
  SHERD_TRY(new_prefix, prefix_of_node(destination));
  RenamingStore* const renames = renaming(*from.store, "");
  if (renames == nullptr) return cannot_move(from);
  SHERD_TRY(locks, BothLocks::take(from, destination));
  SHERD_TRY(check_clearable(destination, {}));
  SHERD_TRY(below, members_below(from));  // before the locks were held, another process may have moved or erased it
  SHERD_TRY(can, renames->may_move_at_once(old_prefix, new_prefix));
  if (!can) return cannot_move(from);
  SHERD_TRY(wait_for_writers(from));
  SHERD_TRY(from.tables.changed(from, MemberChange::leaving, nullptr));
  SHERD_TRY(unlist(from));
  const auto move = [&]() -> Result<void> {
    SHERD_TRY(prepare_location(destination, {}));
    return move_at_once(from, *renames, old_prefix, new_prefix);
  };
  auto moved = move();
  if (moved) return follow_move(from, destination, below);
  list_what_stayed(from, below);
  return moved;
}

}  // namespace sherd
