// Keeps the document copies in consolidated metadata up to date. Each group around a changed node is edited under the
// lock of its own document, and the new contents are read while that lock is held, after the change. Of two writers,
// the later one to get the lock reads both changes, so the last version always ends up there.
#include "node/consolidated.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"
#include "store/capabilities.hpp"
#include "store/listing.hpp"
#include "store/prefetched.hpp"

namespace sherd {

namespace {

using Entries = Consolidation::Entries;

/// Changes the list of the group at this path.
using ListEdit = std::function<Result<void>(Entries&, const std::string& group)>;

bool before(const Entries::value_type& entry, const std::string& path) { return entry.first < path; }

void remove_below(Entries& list, const std::string& path) {
  std::erase_if(list, [&](const auto& entry) { return path_from(path, entry.first).has_value(); });
}

void remove(Entries& list, const std::string& path) {
  std::erase_if(list, [&](const auto& entry) { return entry.first == path; });
  remove_below(list, path);
}

void put(Entries& list, const Format& format, const std::string& path, Json document) {
  const auto at = std::lower_bound(list.begin(), list.end(), path, before);
  if (at == list.end() || at->first != path)
    list.emplace(at, path, std::move(document));
  else if (!same_node(format, at->second, document))
    at->second = std::move(document);
}

/// Updates the entry of a node from its document; returns whether a group exists there.
Result<bool> take_over(Entries& list, const std::string& group, const NodeLocation& node, Store& documents) {
  const std::string within(*path_from(group, node.path));
  auto present = node.format->open(documents, node.path, node.config.limits);
  if (!present && is_stored_fault(present.error())) return false;  // stays as it was, and is reported separately
  if (!present) return std::move(present).error();
  if (!*present) {
    remove(list, within);
    return false;
  }
  put(list, *node.format, within, std::move((*present)->document));
  if ((*present)->type == NodeType::group) return true;
  remove_below(list, within);
  return false;
}

Result<bool> is_consolidated(const NodeLocation& location) {
  auto node = location.format->open(*location.store, location.path, location.config.limits);
  if (!node && is_stored_fault(node.error())) return false;
  if (!node) return std::move(node).error();
  return *node && (*node)->type == NodeType::group && consolidated_entries(*location.format, (*node)->document);
}

/// Whether a retry may succeed: the store could not be reached, or the call was interrupted.
bool is_unavailable(const Error& error) { return error.code() == ErrorCode::unavailable; }

/// The entries in the consolidated metadata of the group at `location` for the nodes below the relative path `path`;
/// nullopt if it has none, or lacks that path.
Result<std::optional<Entries>> entries_below(const NodeLocation& location, const std::string& path) {
  auto node = location.format->open(*location.store, location.path, location.config.limits);
  if (!node && !is_stored_fault(node.error())) return std::move(node).error();
  if (!node || !*node || (*node)->type != NodeType::group) return std::optional<Entries>();
  auto all = consolidated_entries(*location.format, (*node)->document);
  if (!all || path.empty()) return all;
  Entries below;
  bool is_known = false;
  for (auto& [name, document] : *all) {
    is_known = is_known || name == path;
    if (const auto rest = path_from(path, name)) below.emplace_back(std::string(*rest), std::move(document));
  }
  return is_known ? std::optional(std::move(below)) : std::optional<Entries>();
}

/// Paths of a store; groups come before their members.
using Paths = std::set<std::string>;

/// The number of node documents in memory at a time.
constexpr std::size_t kTakenTogether = 128;

/// Updates the entries of all changed nodes below a group from their documents.
Result<void> take_over_all(Entries& list, const std::string& group, const NodeLocation& around, const Paths& changed) {
  std::vector<std::string> paths;
  for (const std::string& path : changed)
    if (path_from(group, path)) paths.push_back(path);
  const Format* const format = around.format.get();
  std::set<std::string, std::less<>> ends;  // paths that are not groups and have nothing below them
  for (std::size_t i = 0; i < paths.size();) {
    const std::size_t end = std::min(i + kTakenTogether, paths.size());
    std::vector<std::string> keys;
    for (std::size_t k = i; k < end; ++k)
      std::ranges::move(document_keys({&format, 1}, paths[k]), std::back_inserter(keys));
    SHERD_TRY(documents, prefetched_store(*around.store, keys));
    for (; i < end; ++i) {
      Result<bool> goes_on = false;
      if (!ends.contains(parent_path(paths[i])))
        goes_on = take_over(list, group, at_path(around, paths[i]), *documents);
      if (!goes_on.has_value()) return std::move(goes_on).error();
      if (!*goes_on) ends.insert(paths[i]);
    }
  }
  return {};
}

/// Edits the lists of the groups that have one. `looking` may be a snapshot of the same location.
Result<void> edit_lists(const NodeLocation& location, NodeLocation looking, const Paths& groups, const ListEdit& edit) {
  const Format* const format = location.format.get();
  std::vector<std::string> keys;
  for (const std::string& path : groups) std::ranges::move(document_keys({&format, 1}, path), std::back_inserter(keys));
  SHERD_TRY(documents, prefetched_store(*looking.store, keys));
  looking.store = std::move(documents);
  for (const std::string& path : groups) {
    const NodeLocation group = at_path(location, path);
    SHERD_TRY(listed, is_consolidated(at_path(looking, path)));
    if (!listed) continue;
    auto edited = edit_document(group, NodeType::group, [&](const NodeDocument& now) -> Result<Json> {
      auto list = consolidated_entries(*group.format, now.document);
      if (!list) return now.document;
      const Entries old = *list;
      SHERD_TRY(edit(*list, path));
      if (*list == old) return now.document;
      return capability<Consolidation>(*group.format)->with_entries(now.document, *std::move(list));
    });
    if (!edited && edited.error().code() != ErrorCode::not_found) return std::move(edited).error();
  }
  return {};
}

/// Updates the lists of `groups` from the documents of `changed` nodes.
Result<void> renew(const NodeLocation& location, const NodeLocation& looking, const Paths& groups,
                   const Paths& changed) {
  auto renewed = edit_lists(location, looking, groups, [&](Entries& list, const std::string& group) {
    return take_over_all(list, group, location, changed);
  });
  if (renewed) return {};
  return std::move(renewed).error().in("the change is stored, but consolidated metadata could not be renewed");
}

}  // namespace

bool same_node(const Format& format, const Json& a, const Json& b) {
  if (a == b) return true;
  const auto* consolidation = capability<Consolidation>(format);
  return consolidation != nullptr && consolidation->without_entries(a) == consolidation->without_entries(b);
}

namespace {

/// The node at `location` in the store `above` its own; see from_around().
Result<std::optional<NodeLocation>> from_store(Result<std::optional<ParentStore>> above, const NodeLocation& location) {
  if (!above && is_unavailable(above.error())) return std::move(above).error();
  if (!above || !*above || !location.format->check_name((*above)->name)) return std::optional<NodeLocation>();
  NodeLocation outer = location;
  outer.store = std::move((*above)->store);
  auto format = location.format->in(*outer.store, location.config.limits);
  if (!format && is_unavailable(format.error())) return std::move(format).error();
  if (!format || *format == nullptr) return std::optional<NodeLocation>();
  const auto group = (*format)->open(*outer.store, "", location.config.limits);
  if (!group && is_unavailable(group.error())) return group.error();
  if (!group || !*group || (*group)->type != NodeType::group) return std::optional<NodeLocation>();
  outer.format = *std::move(format);
  outer.path = join_path((*above)->name, location.path);
  return std::optional(std::move(outer));
}

/// Removes a node from the consolidated metadata of hierarchies to which it does not belong, as its store is
/// standalone: it may have replaced one that did, in any format.
Result<void> leave_hidden(const NodeLocation& node) {
  const auto* const store = dynamic_cast<const StandaloneStore*>(node.store.get());
  if (store == nullptr) return {};
  SHERD_TRY(above, store->hidden_parent());
  if (!above) return {};
  SHERD_TRY(any_format(node, [&](const NodeLocation& there) -> Result<bool> {
    SHERD_TRY(outer, from_store(above, there));
    if (outer) SHERD_TRY(unlist(*outer));
    return false;
  }));
  return {};
}

}  // namespace

Result<std::optional<NodeLocation>> from_around(const NodeLocation& location) {
  return from_store(location.store->parent(), location);
}

Result<NodeLocation> with_groups_above(NodeLocation location) {
  const Format* const format = location.format.get();
  SHERD_TRY(seen, prefetched_stores(location.store, [&](const std::string& outer) {
              if (!outer.empty()) return document_keys({&format, 1}, "");
              std::vector<std::string> keys;
              for (const std::string& path : ancestors(location.path))
                std::ranges::move(document_keys({&format, 1}, path), std::back_inserter(keys));
              return keys;
            }));
  location.store = std::move(seen);
  return location;
}

namespace {

NodeLocation live(NodeLocation location) {
  location.store = live_store(location.store);
  return location;
}

/// `node` in the outermost hierarchy around its own, in a snapshot of what is now stored of the groups around it.
Result<NodeLocation> seen_from_outermost(NodeLocation node) {
  SHERD_TRY(location, with_groups_above(std::move(node)));
  for (;;) {
    SHERD_TRY(outer, from_around(location));
    if (!outer) return location;
    location = *std::move(outer);
  }
}

}  // namespace

Result<NodeLocation> from_outermost(NodeLocation location) {
  SHERD_TRY(seen, seen_from_outermost(std::move(location)));
  return live(std::move(seen));
}

Result<void> renew_consolidated(const NodeLocation& node, const std::vector<std::string>& below) {
  SHERD_TRY(leave_hidden(node));
  SHERD_TRY(looking, seen_from_outermost(node));
  const NodeLocation location = live(looking);
  const std::vector<std::string> way = ancestors(location.path);
  const Paths groups(way.begin(), way.end());
  Paths changed = groups;
  changed.insert(location.path);
  for (const std::string& path : below) changed.insert(join_path(location.path, path));
  return renew(location, looking, groups, changed);
}

Result<void> renew_consolidated_of(const NodeLocation& root, const std::vector<std::string>& nodes) {
  if (nodes.empty()) return {};
  SHERD_TRY(location, from_outermost(at_path(root, "")));
  Paths groups, changed;
  for (const std::string& node : nodes) {
    std::string path = join_path(location.path, node);
    for (std::string& each : ancestors(path)) groups.insert(std::move(each));
    changed.insert(std::move(path));
  }
  changed.insert(groups.begin(), groups.end());
  return renew(location, location, groups, changed);
}

Result<std::optional<EnclosingGroup>> enclosing_group(const NodeLocation& node) {
  if (!node.path.empty())
    return EnclosingGroup{at_path(node, std::string(parent_path(node.path))), std::string(last_segment(node.path))};
  SHERD_TRY(outer, from_around(node));
  if (!outer) return std::optional<EnclosingGroup>();
  std::string name = std::exchange(outer->path, std::string());
  return EnclosingGroup{*std::move(outer), std::move(name)};
}

Result<Entries> listed_below(const NodeLocation& group) {
  std::string path;  // from the group whose metadata are read
  for (std::optional<NodeLocation> at = group; at;) {
    SHERD_TRY(found, entries_below(*at, path));
    if (found) return *std::move(found);
    SHERD_TRY(around, enclosing_group(*at));
    if (around) path = join_path(around->name, path);
    at = around ? std::optional(std::move(around->group)) : std::nullopt;
  }
  return unsupported(
             "the store " + group.store->url() +
             " cannot list its objects, and no consolidated metadata describes this group; consolidate it where "
             "objects can be listed, or open members by their paths")
      .in_key(group.format->likeliest_key(group.path));
}

Result<Members> members_of(const NodeLocation& group, const Format::KnownType& known) {
  auto listed = group.format->members(*group.store, group.path, group.config.limits, known);
  const auto* consolidation = capability<Consolidation>(*group.format);
  if (listed || consolidation == nullptr || !is_unlisted(listed.error())) return listed;
  const auto described = listed_below(group);
  if (!described && listed.error().is_denied()) return listed;
  SHERD_TRY(entries, described);
  Members members;
  for (const auto& [path, document] : entries) {
    if (path.find('/') != path.npos) continue;
    const auto type = consolidation->type(document);
    members.emplace_back(path, type ? *type : NodeType::unknown);
  }
  return members;
}

Result<void> unlist(const NodeLocation& node) {
  SHERD_TRY(looking, seen_from_outermost(node));
  const NodeLocation location = live(looking);
  const std::vector<std::string> groups = ancestors(location.path);
  return edit_lists(location, looking, Paths(groups.begin(), groups.end()),
                    [&](Entries& list, const std::string& group) -> Result<void> {
                      remove(list, std::string(*path_from(group, location.path)));
                      return {};
                    });
}

}  // namespace sherd
