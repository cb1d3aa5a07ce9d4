// The part of check() that handles images.
#pragma once

#include "tools/check.hpp"

namespace sherd {

/// Checks OME-NGFF's metadata of a group, and that the nodes to which they refer exist and have the right kind. The
/// metadata of those nodes are checked with the nodes.
Result<void> check_ome_group(const NodeLocation& group, const NodeDocument& document, Findings& to);

}  // namespace sherd
