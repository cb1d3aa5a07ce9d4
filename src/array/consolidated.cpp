// Knows how the copies of documents in consolidated metadata follow the documents. Each group around a changed node is
// edited under the lock of its own document, and what it is to say is read while that lock is held, after the change:
// of two writers the later one to get the lock reads both changes, so that the last version always ends up there.
#include "array/consolidated.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "base/url.hpp"

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

/// Makes the entry of `path` (from the store's root) what its document says; whether a group stands there.
Result<bool> take_over(Entries& list, const std::string& group, const NodePlace& node) {
  const std::string within(*path_from(group, node.path));
  auto present = node.format->open(*node.store, node.path, node.config.limits);
  if (!present && is_stored_fault(present.error())) return false;  // no worse than it was, and a fault of its own
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

Result<bool> is_consolidated(const NodePlace& place) {
  auto node = place.format->open(*place.store, place.path, place.config.limits);
  if (!node && is_stored_fault(node.error())) return false;
  if (!node) return std::move(node).error();
  return *node && (*node)->type == NodeType::group && consolidated_entries(*place.format, (*node)->document);
}

/// The same node as the outermost group around its store sees it: whoever opens "h.zarr/b" gets a store that begins
/// there, and edits a node of "h.zarr" nevertheless.
NodePlace from_outermost(NodePlace place) {
  for (;;) {
    const auto url = parse_url(place.store->url());
    if (!url || url->kind != StoreUrl::Kind::file) return place;
    std::filesystem::path root = url->path;
    if (!root.has_filename()) root = root.parent_path();
    const std::string name = root.filename().string();
    if (!place.format->check_name(name)) return place;
    auto outer = file_store(root.parent_path().string(), place.config);
    if (!outer) return place;
    auto format = place.format->in(**outer, place.config.limits);
    if (!format || *format == nullptr) return place;
    const auto group = (*format)->open(**outer, "", place.config.limits);
    if (!group || !*group || (*group)->type != NodeType::group) return place;
    place.store = *std::move(outer);
    place.format = *std::move(format);
    place.path = join_path(name, place.path);
  }
}

Result<void> edit_lists(const NodePlace& place, const ListEdit& edit) {
  for (const std::string& path : ancestors(place.path)) {
    const NodePlace group = at_path(place, path);
    SHERD_TRY(listed, is_consolidated(group));
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

}  // namespace

bool same_node(const Format& format, const Json& a, const Json& b) {
  if (a == b) return true;
  const auto* consolidation = capability<Consolidation>(format);
  return consolidation != nullptr && consolidation->without_entries(a) == consolidation->without_entries(b);
}

std::vector<std::string> ancestors(const std::string& path) {
  std::vector<std::string> paths;
  if (path.empty()) return paths;
  paths.emplace_back();
  for (std::size_t end = path.find('/'); end != path.npos; end = path.find('/', end + 1))
    paths.push_back(path.substr(0, end));
  return paths;
}

Result<void> renew_consolidated(const NodePlace& node, const std::vector<std::string>& below) {
  const NodePlace place = from_outermost(node);
  auto renewed = edit_lists(place, [&](Entries& list, const std::string& group) -> Result<void> {
    std::vector<std::string> way = ancestors(place.path);
    way.push_back(place.path);
    for (const std::string& path : way) {
      if (path.size() <= group.size()) continue;
      SHERD_TRY(goes_on, take_over(list, group, at_path(place, path)));
      if (!goes_on) return {};
    }
    for (const std::string& path : below)
      SHERD_TRY(take_over(list, group, at_path(place, join_path(place.path, path))));
    return {};
  });
  if (renewed) return {};
  return std::move(renewed).error().in("the change is stored, but consolidated metadata could not be renewed");
}

Result<void> unlist(const NodePlace& node) {
  const NodePlace place = from_outermost(node);
  return edit_lists(place, [&](Entries& list, const std::string& group) -> Result<void> {
    remove(list, std::string(*path_from(group, place.path)));
    return {};
  });
}

}  // namespace sherd
