// Which collections of objects the info of a volume refers to.
#pragma once

#include "array/state.hpp"
#include "neuroglancer/collection.hpp"
#include "sherd/precomputed.hpp"

namespace sherd::neuroglancer {

/// What the members of an info document say that refer to collections.
[[nodiscard]] VolumeLinks links_of(const Json& info);

/// Where a path from the directory `path` of a store leads, which may be above that store. invalid_argument if it
/// cannot be one.
Result<Collection::State::Location> linked_location(const std::shared_ptr<Store>& store, const std::string& path,
                                                    const std::string& link, const Config& config);

/// `location` is a writable volume's. See link_collections().
Result<VolumeLinks> link_volume(const NodeLocation& location, const VolumeLinks& links);

}  // namespace sherd::neuroglancer
