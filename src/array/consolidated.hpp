// Consolidated metadata, the copies of documents that the groups around a node hold: keeping it true, and listing by it
// in stores that cannot list.
// docs/decisions/0007-consolidated-metadata.md says why it is done so.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/state.hpp"

namespace sherd {

/// Whether metadata of two nodes is the same, apart from a group's own consolidated metadata.
[[nodiscard]] bool same_node(const Format& format, const Json& a, const Json& b);

/// The paths of the groups in which a node lies, the root first.
[[nodiscard]] std::vector<std::string> ancestors(const std::string& path);

/// The same node as the store around has it; nullopt if there is none that could have it, or its root is not a group.
/// The store of the URL "h.zarr/b" begins at "b", and an edit through it changes a node of "h.zarr".
[[nodiscard]] Result<std::optional<NodeLocation>> from_around(const NodeLocation& location);
/// The same of the outermost store around.
[[nodiscard]] Result<NodeLocation> from_outermost(NodeLocation location);

/// Makes the consolidated metadata of all groups around a node, also those above the root of its store, say what the
/// documents of that node, of the groups on the way to it and of the nodes at `below` (paths from it, groups before
/// members) say now; what has no document goes, with all below it. To be called after every change of a document; a
/// group without consolidated metadata costs one read.
Result<void> renew_consolidated(const NodeLocation& node, const std::vector<std::string>& below = {});
/// The same after changes of several nodes of one store, each by its path in the store of `root`: each group is edited
/// once, and the documents of all nodes are read together.
Result<void> renew_consolidated_of(const NodeLocation& root, const std::vector<std::string>& nodes);

/// The nodes below a group by consolidated metadata, for stores that cannot list: that of the group or of the nearest
/// group around it, also above the root of its store. `unsupported` if none describes it.
Result<Consolidation::Entries> listed_below(const NodeLocation& group);

using Members = std::vector<std::pair<std::string, NodeType>>;
/// The members of a group, sorted by name: those in the store or, if it cannot list, those of listed_below().
Result<Members> members_of(const NodeLocation& group);

/// Removes a node and everything below it from the consolidated metadata of all groups around it. To be called before
/// it is erased, so that a kill leaves a node that is not listed rather than a listed one that is not there.
Result<void> unlist(const NodeLocation& node);

}  // namespace sherd
