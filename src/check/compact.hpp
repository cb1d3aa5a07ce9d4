// Removes the dead bytes of all shards of a node or of a collection of objects.
#pragma once

#include "neuroglancer/collection.hpp"
#include "node/node_location.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// Compacts the node at `location`, whose format recognizes it, and everything below it.
Result<CompactReport> compact_nodes(const NodeLocation& location);
/// Compacts the collection at a location; nullopt if there is none.
Result<std::optional<CompactReport>> compact_collection(neuroglancer::Collection::State::Location location);

}  // namespace sherd
