// Variable-length elements are a pointer and a size in memory. Computes the memory that they need, and decides what to
// keep of a chunk if only few of them are requested.
#pragma once

#include <cstdint>
#include <span>

#include "array/strided.hpp"
#include "base/buffer.hpp"
#include "sherd/array.hpp"

namespace sherd {

/// The number of bytes to which dense elements point.
std::uint64_t varlen_bytes(std::span<const std::byte> elements) noexcept;
/// The number of bytes to which the elements of a part of a selection point.
std::uint64_t varlen_bytes(const Region& part, const WriteSource& from) noexcept;

/// Copies the bytes to which the elements of a part point, which are at its positions in memory, to `bytes`, and makes
/// the elements point there.
Result<void> own_varlen_bytes(const Region& part, std::byte* elements, std::span<const std::int64_t> strides,
                              Buffer& bytes);

/// Only these parts of a dense chunk are needed, and `decoded` owns what its elements point to: moves the owner of the
/// needed elements to `arena`. If most are not needed, their bytes are copied and they point to the copy.
Result<void> keep_wanted(std::span<std::byte> elements, std::span<const std::int64_t> strides,
                         std::span<const ReadPart> parts, VarBytesArena decoded, VarBytesArena& arena);

}  // namespace sherd
