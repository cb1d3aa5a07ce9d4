// Whole numbers of documents whose writers keep them as floating-point numbers, as JavaScript and Python programs may.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "sherd/json.hpp"

namespace sherd {

/// A whole number however it is written: 8, 8.0 or 8e0. With fraction or exponent only up to 2^53, beyond which a
/// double may be another number than the text.
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
