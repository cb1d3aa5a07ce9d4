// The checksums used in stored bytes, each computed over a whole span at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sherd {

/// CRC-32C (Castagnoli, RFC 3720).
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;
/// CRC-32 of gzip and zip (RFC 1952).
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes) noexcept;
/// CRC-32 of bytes with the CRC-32 `before` and of `bytes` after them.
[[nodiscard]] std::uint32_t crc32_after(std::uint32_t before, std::span<const std::byte> bytes) noexcept;
/// Adler-32 of zlib (RFC 1950).
[[nodiscard]] std::uint32_t adler32(std::span<const std::byte> bytes) noexcept;
/// Fletcher-32 as computed by HDF5 and netCDF: sums of big-endian 16-bit words modulo 65535; a last odd byte is the
/// high half of a word.
[[nodiscard]] std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept;
/// xxHash of 32 bits, XXH32 (github:Cyan4973/xxHash, doc/xxhash_spec.md).
[[nodiscard]] std::uint32_t xxh32(std::span<const std::byte> bytes, std::uint32_t seed) noexcept;

}  // namespace sherd
