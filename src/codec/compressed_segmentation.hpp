// Shared by reading and writing compressed_segmentation: how a channel is divided into blocks, and sizes. Offsets count
// 32-bit words: those of channels from the beginning of the chunk, all others from the beginning of the channel. A
// channel begins with a header of two words per block: 24 bits for the offset of its table, 8 for the number of bits of
// an index, and then the offset of its indices.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/codec.hpp"

namespace sherd::segmentation {

inline constexpr std::uint64_t kWordBytes = 4;
inline constexpr std::uint64_t kHeaderWords = 2;
inline constexpr unsigned kTableOffsetBits = 24;
inline constexpr std::uint64_t kMaxTableOffset = (std::uint64_t{1} << kTableOffsetBits) - 1;

using Bytes = std::span<const std::byte>;

/// Extents along x, y and z.
using Triple = std::array<std::uint64_t, 3>;

constexpr std::uint64_t volume(const Triple& extents) noexcept { return extents[0] * extents[1] * extents[2]; }

/// Of a chunk (channel, z, y, x) or (z, y, x).
inline std::uint64_t channels(const ChunkType& chunk) noexcept { return chunk.shape.size() == 4 ? chunk.shape[0] : 1; }

/// One chunk (channel, z, y, x) or (z, y, x) of uint32 or uint64 in blocks of one size.
struct Chunk {
  const ChunkType& type;
  Triple block;
};

/// One channel of a chunk, divided into blocks. The last block along each dimension may be smaller.
struct Geometry {
  Triple shape;
  Triple block;
  Triple grid;

  explicit Geometry(const Chunk& chunk) noexcept : shape{}, block(chunk.block), grid{} {
    for (std::size_t d = 0; d < 3; ++d) {
      shape[d] = chunk.type.shape.end()[-1 - static_cast<std::ptrdiff_t>(d)];
      grid[d] = ceil_div(shape[d], block[d]);
    }
  }
  [[nodiscard]] std::uint64_t blocks() const noexcept { return volume(grid); }
};

/// The location of a block: its first voxel, and its size inside the chunk.
struct Block {
  std::uint64_t number = 0;
  std::uint64_t first = 0;
  Triple extents;
};

/// Calls visit(Block) for each block in the order of the headers until a call fails.
template <class Visit>
Result<void> for_each_block(const Geometry& geometry, Visit visit) {
  const auto& [shape, size, grid] = geometry;
  Block block;
  for (std::uint64_t z = 0; z < shape[2]; z += size[2]) {
    block.extents[2] = std::min(size[2], shape[2] - z);
    for (std::uint64_t y = 0; y < shape[1]; y += size[1]) {
      block.extents[1] = std::min(size[1], shape[1] - y);
      for (std::uint64_t x = 0; x < shape[0]; x += size[0], ++block.number) {
        block.extents[0] = std::min(size[0], shape[0] - x);
        block.first = x + shape[0] * (y + shape[1] * z);
        SHERD_TRY(visit(block));
      }
    }
  }
  return {};
}

/// Calls visit(voxel of the channel, position in the block) for each row of a block until it returns false.
template <class Visit>
bool for_each_row(const Geometry& geometry, const Block& block, Visit visit) {
  for (std::uint64_t z = 0; z < block.extents[2]; ++z) {
    for (std::uint64_t y = 0; y < block.extents[1]; ++y) {
      if (!visit(block.first + geometry.shape[0] * (y + geometry.shape[1] * z),
                 geometry.block[0] * (y + geometry.block[1] * z)))
        return false;
    }
  }
  return true;
}

/// `corrupt` if the bytes are not an encoding of such a chunk.
Result<void> decode(const Chunk& chunk, Bytes encoded, std::span<std::byte> elements);
/// Replaces `to`; `unsupported` if the chunk is too large for the offsets.
Result<void> encode(const Chunk& chunk, Bytes elements, Buffer& to);

}  // namespace sherd::segmentation
