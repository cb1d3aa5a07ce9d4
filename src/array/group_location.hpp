// Where the group of a handle is stored.
#pragma once

#include "array/state.hpp"
#include "sherd/group.hpp"

namespace sherd {

[[nodiscard]] const NodeLocation& location_of(const Group& group) noexcept;

}  // namespace sherd
