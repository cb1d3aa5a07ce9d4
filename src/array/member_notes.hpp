// Maintains the lists of members in the metadata of groups (MemberNotes) while nodes are created, moved and erased. A
// node is listed after it becomes visible, and unlisted before it is removed, because readers that follow a list may
// fail if a listed node is missing, but merely do not see one that is not listed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/state.hpp"

namespace sherd {

/// The model that keeps a list in this metadata; nullptr if there is none.
[[nodiscard]] const MemberNotes* notes_in(const Tables& tables, const Json& group);

/// Whether an object in a node's directory is a document of any model, judging by its name there.
[[nodiscard]] bool is_model_document(const Tables& tables, std::string_view name) noexcept;

/// Describes the documents of a model next to those of the node at `location` that are not part of a copy of it;
/// nullopt if there are none.
Result<std::optional<std::string>> left_out_of_copies(const NodeLocation& location, const Json& node);

/// Adds to a node that is about to be written at `location` the notes of a member of the group there. Returns whether
/// the group keeps a list, to which the node must be added after it is written.
Result<bool> introduce(const NodeLocation& location, NodeDocument& node);
/// The same for a node, with everything below it, that is stored at `staged` and about to be moved to `location`.
/// `below` are the paths of its members.
Result<bool> introduce_stored(const NodeLocation& location, const NodeLocation& staged,
                              const std::vector<std::string>& below);
/// The metadata that introduce_stored() would give a node and its members, without storing anything. `nodes` are their
/// metadata by relative paths, groups before their members.
Result<void> introduce_planned(const NodeLocation& location,
                               std::span<const std::pair<std::string, NodeDocument*>> nodes);
/// Lists the node at `location` in its group's metadata if it exists; otherwise removes it from the list. The caller
/// must call renew_consolidated() afterwards.
Result<void> list_member(const NodeLocation& location);
/// Removes a node that is about to be erased from the list. Returns whether the group keeps one: then the caller must
/// call list_member() after erasing the node, since the node's creator may list it only later.
Result<bool> unlist_member(const NodeLocation& location);

}  // namespace sherd
