// A sharded Zarr array as a volume of Neuroglancer's would have it: the conditions under which one file can be a shard
// of both, and how the one's dimensions, chunks and shards are the other's.
#pragma once

#include <cstdint>
#include <vector>

#include "array/spec.hpp"
#include "shard/layout.hpp"

namespace sherd {

struct VolumeView {
  DType dtype;
  std::vector<std::size_t> dimensions;  ///< the array's dimension that is x, y, z and, where it has one, the channel
  Shape shape, chunk_shape;             ///< x, y, z, channel
  Shape shard_chunks;                   ///< chunks in a shard, which may reach beyond the volume
  bool gzip = false;                    ///< chunks are compressed; otherwise stored as they are
  std::uint64_t trailer = 0;            ///< bytes of a checksum after each chunk
  Uint64Sharding sharding = {};

  /// The array of this spec and layout, all but its sharding. invalid_argument says which condition fails, and names
  /// the member.
  static Result<VolumeView> of(const ArraySpec& spec, const ChunkLayout& layout);
  /// Uses this sharding, or for null that of the shards. invalid_argument if shards are not boxes of the
  /// compressed Morton code, or others than the sharding's.
  Result<void> choose_sharding(const Json& wanted);

  [[nodiscard]] Shape grid() const;
  /// The second index of its shards.
  [[nodiscard]] Result<SecondIndex> index(const Limits& limits) const;

 private:
  [[nodiscard]] Result<void> find_sharding(const CompressedMorton& morton);
  [[nodiscard]] Result<void> check_sharding(const CompressedMorton& morton) const;
};

}  // namespace sherd
