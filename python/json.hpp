// JSON values and Python's dict, list, str, int, float, bool and None.
#pragma once

#include <nanobind/nanobind.h>

#include "sherd/json.hpp"

namespace sherd::python {

/// Also takes tuples, NumPy scalars and NumPy arrays. What JSON cannot say (NaN, other types, keys that are no str) is
/// InvalidArgument.
[[nodiscard]] Json json_from(nanobind::handle value);
[[nodiscard]] nanobind::object json_to(const Json& json);

}  // namespace sherd::python
