// Byte order: converts words from and to bytes, and swaps the words of arrays.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sherd {

template <class T>
[[nodiscard]] constexpr T byteswap(T value) noexcept {
  if constexpr (sizeof(T) == 1)
    return value;
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  else if constexpr (sizeof(T) == 4)
    return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  else
    return static_cast<T>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
}

template <class T>
[[nodiscard]] inline T load_little(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::little ? value : byteswap(value);
}
/// A word of up to 8 bytes.
[[nodiscard]] inline std::uint64_t load_word(std::span<const std::byte> bytes, std::endian order) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[order == std::endian::big ? i : bytes.size() - 1 - i]);
  return value;
}
template <class T>
inline void store_little(std::byte* to, T value) noexcept {
  if constexpr (std::endian::native != std::endian::little) value = byteswap(value);
  std::memcpy(to, &value, sizeof value);
}

/// Reverses the bytes of every word of `word_size` bytes (1, 2, 4 or 8), in place or between buffers of equal size.
void swap_words(std::span<std::byte> bytes, std::size_t word_size) noexcept;
void swap_words(std::span<const std::byte> from, std::span<std::byte> to, std::size_t word_size) noexcept;

}  // namespace sherd
