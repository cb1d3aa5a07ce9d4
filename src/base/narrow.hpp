// Numbers of less than eight bits in a byte each. "The upper bits are ignored", say their specifications of stored
// bytes; in memory they are those that sherd/dtype.hpp promises.
#pragma once

#include <cstddef>
#include <span>

#include "base/float_format.hpp"

namespace sherd {

/// Whether every byte is as it is in memory.
[[nodiscard]] bool is_normal(NarrowNumbers numbers, std::span<const std::byte> bytes) noexcept;
/// Sets the upper bits; from one buffer to another of equal size, or in place.
void normalize(NarrowNumbers numbers, std::span<const std::byte> from, std::span<std::byte> to) noexcept;

}  // namespace sherd
