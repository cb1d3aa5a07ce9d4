// Renames nodes.
#pragma once

#include <string>

#include "node/node_location.hpp"

namespace sherd {

/// Moves the node at `location` (writable, its format given), with everything below it, to the path `to` of its store,
/// and creates missing groups above. Readers find it at one of the two paths. `not_found` if it does not exist;
/// `conflict` if anything exists at `to`; invalid_argument if `to` is inside the node, or the node is the root;
/// `unsupported` if the store cannot move it in one step, or if the format stores nodes in several locations.
Result<void> move_node(const NodeLocation& location, const std::string& to);

}  // namespace sherd
