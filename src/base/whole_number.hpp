// Whole numbers in documents of writers that store them as floating-point numbers, as JavaScript and Python may.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "sherd/json.hpp"

namespace sherd {

/// A whole number in any notation: 8, 8.0 or 8e0. With a fraction or exponent only up to 2^53, since above that a
/// double may differ from the text.
[[nodiscard]] inline std::optional<std::int64_t> whole_int(const Json& json) {
  constexpr double kExact = 9007199254740992;
  if (const auto plain = json.as_int()) return plain;
  const auto number = json.as_double();
  if (!number || std::abs(*number) > kExact || *number != std::trunc(*number)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

[[nodiscard]] inline std::optional<std::uint64_t> whole_uint(const Json& json) {
  if (const auto plain = json.as_uint()) return plain;
  const auto number = whole_int(json);
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

}  // namespace sherd
