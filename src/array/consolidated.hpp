// Keeping consolidated metadata true: the copies of documents that the groups around a node hold.
// docs/decisions/0007-consolidated-metadata.md says why it is done so.
#pragma once

#include <string>
#include <vector>

#include "array/state.hpp"

namespace sherd {

/// The documents of a group's consolidated metadata, by path from that group, sorted.
using Consolidated = std::vector<std::pair<std::string, Json>>;

/// Whether two documents tell the same of a node. A group's own consolidated metadata is no part of that.
[[nodiscard]] bool same_node(const Json& a, const Json& b);

/// The paths of the groups in which a node lies, the root first.
[[nodiscard]] std::vector<std::string> ancestors(const std::string& path);

/// Makes the consolidated metadata of all groups around a node, also those above the root of its store, say what the
/// documents of that node, of the groups on the way to it and of the nodes at `below` (paths from it, groups before
/// members) say now; what has no document goes, with all below it. To be called after every change of a document; a
/// group without consolidated metadata costs one read.
Result<void> renew_consolidated(const NodePlace& node, const std::vector<std::string>& below = {});

/// Takes a node and all below it out of the consolidated metadata of all groups around it. To be called before it is
/// erased, so that a kill leaves a node that is not listed rather than a listed one that is not there.
Result<void> unlist(const NodePlace& node);

}  // namespace sherd
