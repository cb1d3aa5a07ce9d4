// The documents of a copy that depend on all of its nodes, and what identifies the copy.
#pragma once

#include <string>
#include <vector>

#include "copy/planned_copy.hpp"

namespace sherd {

/// Updates the consolidated metadata of each group that has any to describe the copy instead of the source.
Result<void> renew_consolidated_metadata(std::vector<NodeCopy>& nodes, const Format& format);
/// Whether the stored documents of a node are the planned ones.
Result<bool> are_stored(Store& store, const NodeCopy& node, const Limits& limits);
/// Adds the notes of the group around the destination about its new members, if it keeps a list of members.
Result<void> add_notes(std::vector<NodeCopy>& nodes, const NodeLocation& destination);
/// The identity of a copy: the source, all documents that will be written, and everything else that affects its bytes.
[[nodiscard]] std::string fingerprint(const NodeLocation& source, const std::vector<NodeCopy>& nodes,
                                      const CopyOptions& options);

}  // namespace sherd
