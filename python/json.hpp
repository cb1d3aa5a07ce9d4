// JSON values and Python's dict, list, str, int, float, bool and None.
#pragma once

#include <nanobind/nanobind.h>

#include "sherd/json.hpp"

namespace sherd::python {

/// Also accepts tuples, NumPy scalars and NumPy arrays. What JSON cannot express (NaN, other types, non-str keys) is
/// InvalidArgument.
[[nodiscard]] Json json_from(nanobind::handle value);
[[nodiscard]] nanobind::object json_to(const Json& json);

}  // namespace sherd::python
