// Elements of 2, 4, 8 and 16 bytes are moved sixteen at a time in vector registers: interleaving the two halves of
// 16·2^k bytes rotates the bits of each byte's address by one, so k rounds convert planes to elements and four more
// convert elements to planes.
#include "codec/planes.hpp"

#include <array>
#include <cstring>

namespace sherd {
namespace {

constexpr std::size_t kLanes = 16;
using Lanes = unsigned char __attribute__((vector_size(kLanes)));

template <std::size_t Size>
void interleave(std::array<Lanes, Size>& block) noexcept {
  std::array<Lanes, Size> next;
  for (std::size_t i = 0; i < Size / 2; ++i) {
    const Lanes low = block[i];
    const Lanes high = block[i + Size / 2];
    next[2 * i] = __builtin_shufflevector(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    next[2 * i + 1] = __builtin_shufflevector(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
  block = next;
}

/// One side of a transposition: the location of byte `k` of element `i`.
struct Strides {
  std::size_t element;
  std::size_t plane;
};

void move_elements(const std::byte* from, Strides a, std::byte* to, Strides b, std::size_t first,
                   Strides end) noexcept {
  for (std::size_t i = first; i < end.element; ++i) {
    for (std::size_t k = 0; k < end.plane; ++k) to[i * b.element + k * b.plane] = from[i * a.element + k * a.plane];
  }
}

template <std::size_t Size>
std::size_t shuffle_lanes(const std::byte* from, std::byte* to, std::size_t count) noexcept {
  std::array<Lanes, Size> block;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    std::memcpy(block.data(), from + i * Size, sizeof block);
    for (int round = 0; round < 4; ++round) interleave(block);
    for (std::size_t k = 0; k < Size; ++k) std::memcpy(to + k * count + i, &block[k], kLanes);
  }
  return i;
}

template <std::size_t Size>
std::size_t unshuffle_lanes(const std::byte* from, std::byte* to, std::size_t count) noexcept {
  std::array<Lanes, Size> block;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t k = 0; k < Size; ++k) std::memcpy(&block[k], from + k * count + i, kLanes);
    for (std::size_t width = 1; width < Size; width *= 2) interleave(block);
    std::memcpy(to + i * Size, block.data(), sizeof block);
  }
  return i;
}

}  // namespace

void to_planes(std::span<const std::byte> from, std::span<std::byte> to, std::size_t element_size) noexcept {
  const std::size_t count = from.size() / element_size;
  std::size_t done = 0;
  switch (element_size) {
    case 2:
      done = shuffle_lanes<2>(from.data(), to.data(), count);
      break;
    case 4:
      done = shuffle_lanes<4>(from.data(), to.data(), count);
      break;
    case 8:
      done = shuffle_lanes<8>(from.data(), to.data(), count);
      break;
    case 16:
      done = shuffle_lanes<16>(from.data(), to.data(), count);
      break;
    default:
      break;
  }
  move_elements(from.data(), {element_size, 1}, to.data(), {1, count}, done, {count, element_size});
}

void from_planes(std::span<const std::byte> from, std::span<std::byte> to, std::size_t element_size) noexcept {
  const std::size_t count = from.size() / element_size;
  std::size_t done = 0;
  switch (element_size) {
    case 2:
      done = unshuffle_lanes<2>(from.data(), to.data(), count);
      break;
    case 4:
      done = unshuffle_lanes<4>(from.data(), to.data(), count);
      break;
    case 8:
      done = unshuffle_lanes<8>(from.data(), to.data(), count);
      break;
    case 16:
      done = unshuffle_lanes<16>(from.data(), to.data(), count);
      break;
    default:
      break;
  }
  move_elements(from.data(), {1, count}, to.data(), {element_size, 1}, done, {count, element_size});
}

}  // namespace sherd
