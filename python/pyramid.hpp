// The options of coarser resolutions, which copy and import share.
#pragma once

#include <optional>

#include "python/bindings.hpp"
#include "sherd/tools.hpp"

namespace sherd::python {

/// Takes pyramid, pyramid_levels, factors and ignore_zero out of the options; nullopt without a pyramid.
std::optional<Pyramid> take_pyramid(nb::dict& given);

}  // namespace sherd::python
