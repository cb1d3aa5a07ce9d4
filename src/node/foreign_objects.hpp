// Objects that were put below a node by a program that did not expect that they would be erased with it.
#pragma once

#include <cstdint>
#include <string>

#include "node/node_location.hpp"

namespace sherd {

/// `conflict` if erasing what is at `location` would erase an object that belongs neither to the node there (of any
/// format) nor to a member. Without a node, objects belong to it that are named like its chunks; if a process was
/// killed while it made or erased a node there, also documents and objects named like chunks at any path below.
Result<void> refuse_foreign_objects(const NodeLocation& location);
/// Objects below the node at `location` that belong neither to it, nor to a member, nor to a collection. None are found
/// where objects cannot be listed.
struct ForeignObjects {
  std::uint64_t count = 0;
  std::string first = {};  ///< the key of one
};
Result<ForeignObjects> foreign_objects(const NodeLocation& location);
/// The error for a foreign object.
[[nodiscard]] Error foreign_object_error(const std::string& key);

}  // namespace sherd
