// Stores the documents of new nodes.
#pragma once

#include "node/claim.hpp"
#include "node/node_location.hpp"

namespace sherd {

/// Makes a hierarchy of the format begin in the store of `location`, unless one does already; `conflict` if another
/// hierarchy begins there.
Result<void> enter(NodeLocation& location);

/// What may be at the path of a new node.
struct ClearOptions {
  bool overwrite = false;  ///< a node, which is erased with everything below it
  bool foreign = false;    ///< foreign objects, which are erased; the caller knows to whom they belong
  bool members = false;    ///< foreign objects, which are kept: the new node is a group around them
};
/// Creates the node at `location` (writable, its format given), whose document was checked, and missing groups on the
/// way from the store's root. `conflict` if a node exists there and `overwrite` is not set, if the location is inside
/// an array, or if other objects exist there. Overwriting first erases the node and its members, and is a `conflict` if
/// there is anything else among them. In a store without locks, creating or erasing one node is for one process at a
/// time; of two that create it, one gets a `conflict`. Updates `node` to what is stored: the group around it may add to
/// the metadata of its members.
Result<void> create_node(NodeLocation& location, NodeDocument& node, ClearOptions options);

/// Tests whether a node can be created at `location`, as create_node() does before it writes anything. Returns whether
/// there is anything for clear_location() to erase.
Result<bool> check_clearable(const NodeLocation& location, ClearOptions options);
/// check_clearable(), and creates missing groups above.
Result<bool> prepare_location(const NodeLocation& location, ClearOptions options);
/// Takes the claim, prepares the location, and erases what exists there. The caller holds the lock of the node.
Result<Claim> make_room(const NodeLocation& location, ClearOptions options, Claim::Existing existing);

}  // namespace sherd
