// The matrix of elements and their bytes, and its transposition: plane k contains byte k of every element.
#pragma once

#include <cstddef>
#include <span>

namespace sherd {

/// `from` and `to` have the same size, a multiple of `element_size`, and do not overlap.
void to_planes(std::span<const std::byte> from, std::span<std::byte> to, std::size_t element_size) noexcept;
void from_planes(std::span<const std::byte> from, std::span<std::byte> to, std::size_t element_size) noexcept;

}  // namespace sherd
