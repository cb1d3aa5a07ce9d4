// The version of the library that is linked.
#pragma once

#include "sherd/export.hpp"

namespace sherd {

/// "0.1.0"
SHERD_API const char* version() noexcept;

}  // namespace sherd
