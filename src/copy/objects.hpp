// Copies the objects of a store as they are, whatever they mean.
#pragma once

#include "node/node_location.hpp"
#include "sherd/object_copy.hpp"

namespace sherd {

/// copy_objects() from root to root.
Result<ObjectCopyReport> copy_all_objects(const NodeLocation& source, const NodeLocation& destination,
                                          const ObjectCopyOptions& options);

}  // namespace sherd
