// The documents of a node that does not exist yet.
#pragma once

#include <vector>

#include "array/state.hpp"

namespace sherd {

/// Writes the documents of a new node, ending with the one that makes it visible. The creator that makes the node
/// visible keeps its documents. `conflict` if a node of either type exists or is created meanwhile, if one arrives
/// from its maker (array/staged.hpp), or if the group around it is gone.
/// `is_alone`: the caller has a lock or a note that keeps creators and makers away.
Result<std::vector<DocumentVersion>> create_documents(const NodeLocation& location, const Json& document,
                                                      bool is_alone);

}  // namespace sherd
