// The collections of objects to which the info of a volume refers.
#pragma once

#include "neuroglancer/collection.hpp"
#include "node/node_location.hpp"
#include "sherd/precomputed.hpp"

namespace sherd::neuroglancer {

/// The values of an info document's members that refer to collections.
[[nodiscard]] VolumeLinks links_of(const Json& info);

/// The location to which a path leads from the directory `path` of a store; it may be above that store.
/// invalid_argument if it is not a valid path.
Result<Collection::State::Location> linked_location(const std::shared_ptr<Store>& store, const std::string& path,
                                                    const std::string& link, const Config& config);

/// See link_collections(). `location` must be that of a writable volume.
Result<VolumeLinks> link_volume(const NodeLocation& location, const VolumeLinks& links);

}  // namespace sherd::neuroglancer
