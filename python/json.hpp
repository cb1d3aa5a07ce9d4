// JSON values and Python's dict, list, str, int, float, bool and None.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "sherd/json.hpp"

namespace sherd::python {

/// How to handle NaN and infinities, which JSON lacks: InvalidArgument, or converted by bare_number_of().
enum class NonFinite : std::uint8_t { refused, bare };
/// Also accepts tuples, NumPy scalars and NumPy arrays. InvalidArgument for anything that JSON cannot express (other
/// types, keys that are not str).
[[nodiscard]] Json json_from(nanobind::handle value, NonFinite others = NonFinite::refused);
/// A number that bare_number() knows becomes a float, as in zarr-python.
[[nodiscard]] nanobind::object json_to(const Json& json);

}  // namespace sherd::python
