// Consolidated metadata: the copies of documents kept by the groups around a node. Keeps them up to date, and lists
// nodes by them in stores that cannot list.
// Rationale: docs/decisions/0007-consolidated-metadata.md.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/node_location.hpp"

namespace sherd {

/// Whether the metadata of two nodes are the same, apart from a group's own consolidated metadata.
[[nodiscard]] bool same_node(const Format& format, const Json& a, const Json& b);

/// A node's location in the store around its own; nullopt if its own is the outermost, or the other's root is not a
/// group. For example, the store of the URL "h.zarr/b" begins at "b", and an edit through it changes a node of
/// "h.zarr".
[[nodiscard]] Result<std::optional<NodeLocation>> from_around(const NodeLocation& location);
/// A node's location in the outermost store around its own.
[[nodiscard]] Result<NodeLocation> from_outermost(NodeLocation location);

/// A node's location in a snapshot of the groups around it, also above the root of its store, which costs one round
/// trip where requests have latency; from_around() and renew_consolidated() of that location do not read them again.
[[nodiscard]] Result<NodeLocation> with_groups_above(NodeLocation location);

/// Updates the consolidated metadata of all groups around a node, also above the root of its store, from the documents
/// of that node, of the groups on the way to it, and of the nodes at `below` (relative paths, groups before members).
/// Nodes without a document are removed with everything below them. To be called after every change of a document; a
/// group without consolidated metadata costs one read.
Result<void> renew_consolidated(const NodeLocation& node, const std::vector<std::string>& below = {});
/// renew_consolidated() after changes of several nodes of one store, given by their paths in the store of `root`. Each
/// group is edited once, and the documents of all nodes are read together.
Result<void> renew_consolidated_of(const NodeLocation& root, const std::vector<std::string>& nodes);

/// The group around a node, also above the root of its store, and the node's name in it; nullopt if there is none.
struct EnclosingGroup {
  NodeLocation group;
  std::string name;
};
[[nodiscard]] Result<std::optional<EnclosingGroup>> enclosing_group(const NodeLocation& node);

/// The nodes below a group according to consolidated metadata, for stores that cannot list: of the group or of the
/// nearest group around it, also above the root of its store. `unsupported` if no consolidated metadata describe it.
Result<Consolidation::Entries> listed_below(const NodeLocation& group);

using Members = std::vector<std::pair<std::string, NodeType>>;
/// The members of a group, sorted by name: those in the store or, if it cannot list, those from listed_below().
Result<Members> members_of(const NodeLocation& group, const Format::KnownType& known = {});

/// Removes a node and everything below it from the consolidated metadata of all groups around it. Call this before
/// erasing the node: a kill then leaves a node that is not listed, instead of a listed one that does not exist.
Result<void> unlist(const NodeLocation& node);

}  // namespace sherd
