// Objects that were put below a node by a program that did not expect that they would be erased with it.
#pragma once

#include <cstdint>
#include <string>

#include "node/node_location.hpp"

namespace sherd {

/// `conflict` if anything below the node at `location` belongs neither to it nor to a member.
Result<void> refuse_foreign_objects(const NodeLocation& location);
/// Objects below the node at `location` that belong neither to it, nor to a member, nor to a collection.
struct ForeignObjects {
  std::uint64_t count = 0;
  std::string first = {};  ///< the key of one
};
Result<ForeignObjects> foreign_objects(const NodeLocation& location);
/// `conflict` if anything other than chunks, judging by the format's names, is stored where the contents of a node at
/// `location` would be. Only an array that was erased without its chunks leaves such objects.
Result<void> refuse_all_but_chunks(const NodeLocation& location);
/// `conflict` if anything is stored there that is neither a document of a node, nor named like a chunk of a node, of
/// any format, at that path or below it: what remains of a node that was being made or erased.
Result<void> refuse_all_but_node_objects(const NodeLocation& location);
/// The error for a foreign object.
[[nodiscard]] Error foreign_object_error(const std::string& key);

}  // namespace sherd
