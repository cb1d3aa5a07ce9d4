// A group of Zarr v3 that hides one of Zarr v2 at the same path: readers look for `zarr.json` first.
#pragma once

#include <optional>
#include <string>

#include "node/node_location.hpp"

namespace sherd {

/// If `location` is a group of Zarr v3 without members, and `.zgroup` is beside its `zarr.json`: a sentence that says
/// so and what to do. Otherwise nullopt. `group` is its metadata: if its consolidated metadata have no members, this
/// costs one request, and a list of the group if there is such a document.
[[nodiscard]] Result<std::optional<std::string>> hidden_group(const NodeLocation& location, const Json& group);

}  // namespace sherd
