// Making a volume at a place.
#pragma once

#include "array/state.hpp"
#include "sherd/precomputed.hpp"

namespace sherd::neuroglancer {

/// `place` is writable, its format the precomputed one. See create_precomputed().
Result<Group> create_volume(NodePlace place, const VolumeInfo& info, bool overwrite);

}  // namespace sherd::neuroglancer
