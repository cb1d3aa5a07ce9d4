// Updates what the metadata of a group refer to by members' names, and what a data model above the formats refers to.
#pragma once

#include <optional>
#include <string>

#include "node/node_location.hpp"

namespace sherd {

/// To be called after the node at `node` (writable, its format given) was moved to the path `to` of its store or,
/// without `to`, erased. OME-NGFF metadata of the groups around it (resolutions, labels, images of a well, wells of a
/// plate) then have its new path, or no longer list it. If it is labels that were moved into an image, the image's
/// metadata list it. Returns whether any metadata may have changed.
Result<bool> follow_in_metadata(const NodeLocation& node, const std::optional<std::string>& to);

}  // namespace sherd
