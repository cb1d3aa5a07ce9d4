// Converts elements of any number type to doubles and back, for types that C++ does not have.
#pragma once

#include <cstddef>
#include <span>

#include "sherd/dtype.hpp"
#include "sherd/export.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Converts integers and floats to doubles: exactly, except that 64-bit integers are rounded half to even. A complex
/// number becomes two doubles, its real and its imaginary part. `elements` has dtype.size() bytes for each number.
/// invalid_argument for other types and sizes.
[[nodiscard]] SHERD_API Result<void> to_doubles(const DType& dtype, std::span<const std::byte> elements,
                                                std::span<double> to);
/// Converts doubles, rounding half to even. In floats, values that are too large become infinity; NaN in types without
/// infinity; the largest number in types with neither. Zero and negative numbers become NaN in float8_e8m0fnu.
/// invalid_argument, giving the element, for values that cannot be represented: in integers infinity, NaN and values
/// out of range, and NaN in types without it.
[[nodiscard]] SHERD_API Result<void> from_doubles(const DType& dtype, std::span<const double> from,
                                                  std::span<std::byte> elements);

}  // namespace sherd
