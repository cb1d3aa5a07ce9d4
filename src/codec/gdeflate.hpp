// The pages of GDeflate.
#pragma once

#include <cstddef>
#include <span>

#include "sherd/result.hpp"

namespace sherd::gdeflate {

/// Decoded, of each page but the last.
inline constexpr std::size_t kPageBytes = std::size_t{1} << 16;

/// Decodes a page, which must fill `to`.
Result<void> decode_page(std::span<const std::byte> page, std::span<std::byte> to);

}  // namespace sherd::gdeflate
