// Lists, erases and moves the members of a group. OME-NGFF metadata name members where nothing lists them, and are
// updated when members are erased or moved.
#include "api/members.hpp"

#include "array/nodes.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "copy/labels.hpp"
#include "node/claim.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "node/erase.hpp"
#include "node/move.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"
#include "ome/ome.hpp"
#include "sherd/group.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

/// Renames `name` to `to` in a group's metadata or, without `to`, removes it from them.
Result<bool> rename_in_group(const NodeLocation& group, const std::string& name, const std::optional<std::string>& to) {
  const std::string url = group.store->url() + (group.path.empty() ? "" : "/" + group.path);
  const auto changed = [&](const NodeDocument& now) { return with_renamed_member(now.attributes, url, name, to); };
  const auto document = group.format->open(*group.store, group.path, group.config.limits);
  // A directory without a document has no metadata, and damaged metadata are not changed.
  if (!document || !*document || (*document)->type != NodeType::group || !changed(**document)) return false;
  auto edited = edit_document(group, NodeType::group, [&](const NodeDocument& now) -> Result<Json> {
    const auto attributes = changed(now);
    return attributes ? group.format->changed(now.document, {.attributes = *attributes}) : Result<Json>(now.document);
  });
  if (!edited)
    return std::move(edited).error().in("the node has been moved or erased, but the OME-NGFF metadata still list it");
  SHERD_TRY(renew_consolidated(group));
  if (Call* const call = Call::current())
    call->notify("the OME-NGFF metadata of " + url + (to ? " list " + *to + " instead of " : " no longer list ") +
                 name);
  return true;
}

/// Adds a node to the list of an image's labels, if it has been moved there.
Result<bool> list_moved_labels(const NodeLocation& node) {
  const auto document = node.format->open(*node.store, node.path, node.config.limits);
  if (!document || !*document || (*document)->type != NodeType::group) return false;
  const auto image = image_of_group(node, (*document)->attributes);
  if (!image || !*image || !(*image)->labels) return false;
  SHERD_TRY(labelled, find_labelled_image(node));
  if (!labelled) return false;
  SHERD_TRY(list_labels(*labelled));
  return true;
}

}  // namespace

Result<bool> follow_in_metadata(const NodeLocation& node, const std::optional<std::string>& to) {
  bool any = false;
  for (std::string path = node.path; !path.empty();) {
    path = std::string(split_key(path).prefix);  // ends in '/'
    const std::string name = node.path.substr(path.size());
    const bool stays = to && to->starts_with(path);
    if (!path.empty()) path.pop_back();
    SHERD_TRY(changed,
              rename_in_group(at_path(node, path), name,
                              stays ? std::optional(to->substr(node.path.size() - name.size())) : std::nullopt));
    any = any || changed;
  }
  if (!to) return any;
  auto listed = list_moved_labels(at_path(node, *to));
  if (!listed.has_value())
    return std::move(listed).error().in("the node has been moved, but is not listed among the labels there");
  return any || *listed;
}

namespace {

/// follow_in_metadata() for a member of `group`, whose handle has the attributes read last.
Result<void> follow(Group& group, const NodeLocation& member, const std::optional<std::string>& to) {
  SHERD_TRY(changed, follow_in_metadata(member, to));
  if (changed) SHERD_TRY(group.update_attributes(Json(Json::Object{})));
  return {};
}

}  // namespace

Result<std::vector<std::pair<std::string, NodeType>>> Group::members() const {
  return as_call(config(), [&] { return listed_or_named(listed_members(*this), location_of(*this)); });
}

Result<void> Group::erase(std::string_view path) {
  return as_call(config(), [&]() -> Result<void> {
    SHERD_TRY(member, writable_below(path));
    SHERD_TRY(present, presence(member));
    SHERD_TRY(claim, claim_of(member));
    if (present == Presence::none && !claim) return no_node_at(member);
    SHERD_TRY(erase_node(member));
    return follow(*this, member, std::nullopt);
  });
}

Result<void> Group::move(std::string_view path, std::string_view to) {
  return as_call(config(), [&]() -> Result<void> {
    SHERD_TRY(member, writable_below(path));
    SHERD_TRY(normal, normal_path(to));
    const std::string target = to.starts_with('/') ? normal : join_path(this->path(), normal);
    SHERD_TRY(move_node(member, target));
    return follow(*this, member, target);
  });
}

}  // namespace sherd
