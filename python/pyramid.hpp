// The options for coarser resolutions, shared by copy and import.
#pragma once

#include <optional>

#include "python/bindings.hpp"
#include "sherd/tools.hpp"

namespace sherd::python {

/// Removes pyramid, pyramid_levels, factors and ignore_zero from the options; nullopt without a pyramid.
std::optional<Pyramid> take_pyramid(nb::dict& given);

}  // namespace sherd::python
