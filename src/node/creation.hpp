// Stores the documents of new nodes.
#pragma once

#include "node/node_location.hpp"

namespace sherd {

/// Makes a hierarchy of the format begin in the store of `location`, unless one does already; `conflict` if another
/// hierarchy begins there.
Result<void> enter(NodeLocation& location);

/// Which objects without a node at the path of a new one are a `conflict`: all, or none, because the new node is a
/// group around them.
enum class Strays : std::uint8_t { are_refused, are_kept };
/// Creates the node at `location` (writable, its format given), whose document was checked, and missing groups on the
/// way from the store's root. `conflict` if a node exists there and `overwrite` is not set, if the location is inside
/// an array, or if other objects exist there. Overwriting first erases the node and its members, and is a `conflict` if
/// there is anything else among them. In a store without locks, creating or erasing one node is for one process at a
/// time; of two that create it, one gets a `conflict`. Updates `node` to what is stored: the group around it may add to
/// the metadata of its members.
Result<void> create_node(NodeLocation& location, NodeDocument& node, bool overwrite, Strays strays);

/// What may be erased to make way for a new node.
struct ClearOptions {
  bool overwrite = false;  ///< a node, with everything below it
  bool foreign = false;    ///< foreign objects; the caller knows to whom they belong
};
/// Tests whether a node can be created at `location`, as create_node() does before it writes anything. Returns whether
/// there is anything for clear_location() to erase.
Result<bool> check_clearable(const NodeLocation& location, ClearOptions options);
/// The same, and creates missing groups above.
Result<bool> prepare_location(const NodeLocation& location, ClearOptions options);

}  // namespace sherd
