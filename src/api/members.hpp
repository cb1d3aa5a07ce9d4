// What the metadata of a group list by the names of its members, and a data model above the formats refers to.
#pragma once

#include <optional>
#include <string>

#include "array/state.hpp"

namespace sherd {

/// After the node at `node` (writable, its format given) has moved to the path `to` of its store or, without that, was
/// erased: the OME-NGFF metadata of the groups around it (resolutions, labels, images of a well, wells of a plate) have
/// its new path or list it no longer, and those of an image list it if it is one of labels that has moved there.
/// Returns whether any may have changed.
Result<bool> follow_in_metadata(const NodeLocation& node, const std::optional<std::string>& to);

}  // namespace sherd
