// Elements of variable length are a pointer and a size in memory: what they need there, and what of a chunk
// has to stay for the few of them that are wanted.
#pragma once

#include <cstdint>
#include <span>

#include "array/strided.hpp"
#include "sherd/array.hpp"

namespace sherd {

/// The bytes that dense elements point to.
std::uint64_t text_bytes(std::span<const std::byte> elements) noexcept;
/// The bytes that those of a part of a selection point to.
std::uint64_t text_bytes(const Region& part, const WriteSource& from) noexcept;

/// Of a dense chunk only these parts are wanted, and `decoded` keeps what its elements point to: moves to `arena` what
/// keeps the wanted ones. Where most is not wanted they are copied, and point to the copy.
Result<void> keep_wanted(std::span<std::byte> elements, std::span<const std::int64_t> strides,
                         std::span<const ReadPart> parts, VarBytesArena decoded, VarBytesArena& arena);

}  // namespace sherd
