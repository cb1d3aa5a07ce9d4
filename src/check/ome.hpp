// The part of check() that handles images.
#pragma once

#include <functional>

#include "check/findings.hpp"
#include "node/format.hpp"
#include "node/node_location.hpp"

namespace sherd {

/// Checks OME-NGFF's metadata of a group, and that the nodes to which they refer exist and have the right kind. The
/// metadata of those nodes are checked with the nodes. For images, also of volumes, checks that the lengths of coarser
/// levels agree with their scales.
Result<void> check_image_group(const NodeLocation& group, const NodeDocument& document,
                               const std::function<void(Findings&)>& merge);

}  // namespace sherd
