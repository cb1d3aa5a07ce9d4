// Lists of members in the metadata of groups (MemberNotes): kept true while nodes are made, moved and erased. A node is
// listed once it is visible, and no longer listed before it goes, because readers that follow a list may fail where a
// listed node is missing, and merely do not see one that is not listed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/state.hpp"

namespace sherd {

/// The model that keeps a list in this metadata; nullptr if none does.
[[nodiscard]] const MemberNotes* notes_in(const Tables& tables, const Json& group);

/// Whether an object in a node's directory is a document of some model, by its name there.
[[nodiscard]] bool is_model_document(const Tables& tables, std::string_view name) noexcept;

/// Says which documents of a model are next to those of the node at `location`, and are not part of a copy of it;
/// nullopt if there are none.
Result<std::optional<std::string>> left_out_of_copies(const NodeLocation& location, const Json& node);

/// Gives a node that is about to be written at `location` the notes of a member of the group there. Returns whether the
/// group keeps a list, in which the node belongs once it is written.
Result<bool> introduce(const NodeLocation& location, NodeDocument& node);
/// The same for a node that is stored at `staged`, with all below it, and is about to be moved to `location`. `below`
/// are the paths of its members.
Result<bool> introduce_stored(const NodeLocation& location, const NodeLocation& staged,
                              const std::vector<std::string>& below);
/// The metadata that introduce_stored() would give a node and its members, without storing anything: `nodes` are their
/// metadata by the paths from it, groups before their members.
Result<void> introduce_planned(const NodeLocation& location,
                               std::span<const std::pair<std::string, NodeDocument*>> nodes);
/// Lists the node at `location` in its group's metadata if it exists, and otherwise takes it out of the list. The
/// caller calls renew_consolidated() after it.
Result<void> list_member(const NodeLocation& location);
/// Takes a node that is about to be erased out of the list. Returns whether the group keeps one: then the caller calls
/// list_member() once the node is gone, for its creator may not have listed it before.
Result<bool> unlist_member(const NodeLocation& location);

}  // namespace sherd
