// Creating arrays whose metadata were not made from CreateOptions.
#pragma once

#include "array/state.hpp"

namespace sherd {

/// The part of create_array_at() that follows once the metadata are made, lowered and checked (check_documents()).
Result<Array> create_array_of(NodeLocation location, NodeDocument node, bool overwrite);

}  // namespace sherd
