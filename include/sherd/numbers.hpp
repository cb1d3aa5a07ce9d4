// Elements of every type of numbers as doubles, and back: for types that C++ does not have.
#pragma once

#include <cstddef>
#include <span>

#include "sherd/dtype.hpp"
#include "sherd/export.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Integers and floats as doubles: exact, except that 64-bit integers are rounded half to even. A complex number is two
/// doubles, its real part and its imaginary part. `elements` has dtype.size() bytes for each number. invalid_argument
/// for other types and sizes.
[[nodiscard]] SHERD_API Result<void> to_doubles(const DType& dtype, std::span<const std::byte> elements,
                                                std::span<double> to);
/// Rounds half to even. In floats, what is too large becomes infinite, NaN where the type has no infinity, and its
/// largest number where it has neither; so do zero and negative numbers in float8_e8m0fnu, which has only NaN for them.
/// invalid_argument, naming the element, for what has no value at all: in integers what is out of range, infinite or
/// NaN, and NaN in types without it.
[[nodiscard]] SHERD_API Result<void> from_doubles(const DType& dtype, std::span<const double> from,
                                                  std::span<std::byte> elements);

}  // namespace sherd
