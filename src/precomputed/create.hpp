// Making a volume at a place.
#pragma once

#include <string>

#include "array/state.hpp"
#include "sherd/precomputed.hpp"

namespace sherd::neuroglancer {

/// The document of a volume at a path, or of one of its scales: {"info": …, "scale": number}.
Result<NodeDocument> lower_volume(Json document, const std::string& volume);

/// The document of a volume that shares its shards with a Zarr array, {"info": …}; see Format::volume_document().
Result<Json> volume_of(const VolumeView& view, const Json& wanted);

/// `place` is writable, its format the precomputed one. See create_precomputed().
Result<Group> create_volume(NodePlace place, const VolumeInfo& info, bool overwrite);

}  // namespace sherd::neuroglancer
