// JSON values and Python's dict, list, str, int, float, bool and None.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "sherd/json.hpp"

namespace sherd::python {

/// What becomes of NaN and infinities, which JSON does not have: InvalidArgument, or what bare_number() knows.
enum class NonFinite : std::uint8_t { refused, bare };
/// Also accepts tuples, NumPy scalars and NumPy arrays. What JSON cannot express (other types, non-str keys) is
/// InvalidArgument.
[[nodiscard]] Json json_from(nanobind::handle value, NonFinite others = NonFinite::refused);
/// A number that bare_number() knows is a float, as for zarr-python.
[[nodiscard]] nanobind::object json_to(const Json& json);

}  // namespace sherd::python
