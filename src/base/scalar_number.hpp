// Converts numbers of metadata to the bits of one element, and back.
#pragma once

#include <cstddef>

#include "sherd/dtype.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// For integers of all widths and times. Writes dtype.size() bytes at `to`; refuses fractions, exponents and values out
/// of range.
[[nodiscard]] Result<void> parse_integer(const Json& json, const DType& dtype, std::byte* to);
[[nodiscard]] Json print_integer(const std::byte* element, const DType& dtype);

/// For one real float; `kind` must have a row in base/float_format.hpp.
[[nodiscard]] Result<void> parse_float(const Json& json, DType::Kind kind, std::byte* to);
[[nodiscard]] Json print_float(const std::byte* element, DType::Kind kind);

}  // namespace sherd
