// Erases nodes.
#pragma once

#include "node/node_location.hpp"

namespace sherd {

/// Erases the node at `location` and everything below it: first the entries in consolidated metadata, then its
/// document. An interrupted call can be repeated; creating a node there also completes it.
Result<void> erase_node(const NodeLocation& location);
/// Waits until nothing at `location` is being written. Call this before erasing anything there, so that nothing has
/// changed if a writer takes too long. clear_location() waits for writers that begin in the meantime.
Result<void> wait_for_writers(const NodeLocation& location);
/// Erases everything at `location`, its documents first. The caller has a Claim.
Result<void> clear_location(const NodeLocation& location);
/// Erases the objects of the node at `location` that are not its documents; documents of members first.
Result<void> erase_contents(const NodeLocation& location);

}  // namespace sherd
