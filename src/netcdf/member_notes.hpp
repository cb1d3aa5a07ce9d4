// What NCZarr stores about members in the metadata of groups, and in the members' own, for nodes that are created,
// moved, copied and erased as Zarr nodes. Rationale: docs/decisions/0037-lists-of-members.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "netcdf/notes.hpp"
#include "node/node_location.hpp"

namespace sherd::netcdf {

/// A group's metadata, and its path in the store.
struct StoredGroup {
  std::string path;
  Json document;
};

/// The MemberHook of NCZarr. In a group that keeps a list: lists the node with the notes of a member, and so everything
/// below it, or removes it from the list. Each document is changed by one conditional edit, and one that is in line
/// already is not written. In another group, this costs one read of its metadata.
Result<bool> member_changed(const NodeLocation& node, MemberChange change, const Json* group);

/// The root of the dataset to which a group belongs, in the outermost store; nullopt if the group has no notes.
Result<std::optional<NodeLocation>> dataset_around(const NodeLocation& group);

/// The metadata that member_changed() would give the nodes of a copy to `location`, without storing anything: a copy is
/// stored with them, and is finished if they are stored. `nodes` are their metadata by relative paths, groups before
/// their members.
Result<void> note_planned_members(const NodeLocation& location,
                                  std::span<const std::pair<std::string, NodeDocument*>> nodes);

/// A sentence about documents of netcdf-c 4.8.0 next to those of the node at `location`, which are not part of a copy
/// of it; nullopt if there are none.
Result<std::optional<std::string>> left_out_of_copies(const NodeLocation& location, const Json& node);

/// The names of an array's dimensions in its notes, without their groups; empty if it has none.
[[nodiscard]] std::vector<std::string> dimension_names(const NodeDocument& array);

/// The members that a group lists; nullopt if it keeps no list.
[[nodiscard]] std::optional<std::vector<ListedMember>> listed_members(const Json& group);
/// The group's metadata without a member of this name in its list, if it keeps one.
[[nodiscard]] Json without_member(Json group, const std::string& member);
/// Whether a group that keeps a list must list this node: false if netcdf-c cannot open it.
[[nodiscard]] bool is_listed(std::string_view name, const NodeDocument& node);

using DimensionsByName = std::map<std::string, DimensionNote, std::less<>>;
/// The dimensions, by full name, that members of the last of `groups` (outermost first) can have.
[[nodiscard]] DimensionsByName dimensions_of(std::span<StoredGroup> groups);

}  // namespace sherd::netcdf
