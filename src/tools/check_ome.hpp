// The part of check() that knows images.
#pragma once

#include "tools/check.hpp"

namespace sherd {

/// Checks OME-NGFF's metadata of a group, and that the nodes to which they refer exist and are what they must be. What
/// such a node says of itself is checked with the node.
Result<void> check_ome_group(const NodeLocation& group, const NodeDocument& document, Findings& to);

}  // namespace sherd
