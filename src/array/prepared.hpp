// Arrays whose metadata were made elsewhere than by CreateOptions.
#pragma once

#include "array/state.hpp"

namespace sherd {

/// What create_array_at() does once the metadata are made, lowered and checked (check_documents()).
Result<Array> create_array_of(NodeLocation location, NodeDocument node, bool overwrite);

}  // namespace sherd
