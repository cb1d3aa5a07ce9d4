// Numbers of fewer than eight bits, one byte each. In stored bytes "the upper bits are ignored" (their specifications);
// in memory they are as promised by sherd/dtype.hpp.
#pragma once

#include <cstddef>
#include <span>

#include "base/float_format.hpp"

namespace sherd {

/// Whether every byte is already as it must be in memory.
[[nodiscard]] bool is_normal(NarrowNumbers numbers, std::span<const std::byte> bytes) noexcept;
/// Sets the upper bits, from one buffer to another of equal size or in place.
void normalize(NarrowNumbers numbers, std::span<const std::byte> from, std::span<std::byte> to) noexcept;

}  // namespace sherd
