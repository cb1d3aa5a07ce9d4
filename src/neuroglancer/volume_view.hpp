// A sharded Zarr array viewed as a Neuroglancer volume: the conditions under which one file can be a shard of both, and
// how dimensions, chunks and shards correspond.
#pragma once

#include <cstdint>
#include <vector>

#include "node/spec.hpp"
#include "shard/layout.hpp"

namespace sherd {

struct VolumeView {
  DType dtype;
  std::vector<std::size_t> dimensions;  ///< the array's dimension for each of x, y, z and, if present, the channel
  Shape shape, chunk_shape;             ///< x, y, z, channel
  Shape shard_chunks;                   ///< chunks in a shard, which may extend beyond the volume
  bool gzip = false;                    ///< chunks are compressed; otherwise stored raw
  std::uint64_t trailer = 0;            ///< bytes of a checksum after each chunk
  Uint64Sharding sharding = {};

  /// The array with this spec and layout, except for its sharding. invalid_argument names the condition that fails and
  /// the member.
  static Result<VolumeView> of(const ArraySpec& spec, const ChunkLayout& layout);
  /// Uses this sharding or, for null, the one that matches the shards. invalid_argument if shards are not boxes of the
  /// compressed Morton code, or do not match the sharding.
  Result<void> choose_sharding(const Json& wanted);

  [[nodiscard]] Shape grid() const;
  /// The second index of its shards.
  [[nodiscard]] Result<SecondIndex> index(const Limits& limits) const;

 private:
  [[nodiscard]] Result<void> find_sharding(const CompressedMorton& morton);
  [[nodiscard]] Result<void> check_sharding(const CompressedMorton& morton) const;
};

}  // namespace sherd
