// Sums of limits. C++ callers may set limits to any number, so sums saturate.
#pragma once

#include <cstdint>

#include "base/checked.hpp"
#include "sherd/options.hpp"

namespace sherd {

/// The limit plus some bytes.
[[nodiscard]] constexpr std::uint64_t limit_plus(std::uint64_t limit, std::uint64_t bytes) noexcept {
  return checked_add(limit, bytes).value_or(~std::uint64_t{0});
}

/// The maximum size of a whole shard: its chunks and its index.
[[nodiscard]] constexpr std::uint64_t max_shard_bytes(const Limits& limits) noexcept {
  return limit_plus(limits.chunk_bytes, limits.index_bytes);
}

}  // namespace sherd
