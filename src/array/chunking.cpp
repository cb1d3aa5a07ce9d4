// Chooses chunk and shard lengths that the user has not set (docs/chunking.md): near-cubes with lengths that are powers
// of two, clipped to the array's lengths, grown from the shortest side until the target size is reached. An axis of
// length 0 will be appended to; it grows last.
#include <algorithm>

#include "array/create.hpp"
#include "base/checked.hpp"

namespace sherd {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t inner_target = mebibyte;
constexpr std::uint64_t chunk_ceiling = 64 * mebibyte;
constexpr std::uint64_t chunk_count_target = 4096;
constexpr std::uint64_t shard_target = 128 * mebibyte;
constexpr std::uint64_t most_inner_chunks = 65536;  // so that their index, which readers read first, has 1 MiB

// The element size for this purpose; strings count as their handle.
std::uint64_t element_bytes(const DType& dtype) { return std::max<std::uint64_t>(dtype.size(), 1); }

std::optional<std::uint64_t> bytes_of(const Shape& lengths, const DType& dtype) {
  std::optional<std::uint64_t> bytes = element_bytes(dtype);
  for (const std::uint64_t length : lengths) {
    if (bytes) bytes = checked_mul(*bytes, length);
  }
  return bytes;
}

/// Doubles the shortest side that can still grow, later axes first, as long as the result stays within `target`. `ends`
/// are the lengths at which a side stops growing.
Shape grown(Shape lengths, const Shape& ends, const DType& dtype, std::uint64_t target) {
  while (true) {
    std::optional<std::size_t> shortest;
    Shape best;
    for (std::size_t i = lengths.size(); i-- > 0;) {
      if (lengths[i] >= ends[i] || (shortest && lengths[i] >= lengths[*shortest])) continue;
      Shape longer = lengths;
      longer[i] = std::min(lengths[i] * 2, ends[i]);
      if (const auto bytes = bytes_of(longer, dtype); !bytes || *bytes > target) continue;
      shortest = i;
      best = std::move(longer);
    }
    if (!shortest) return lengths;
    lengths = std::move(best);
  }
}

/// First the axes with a length, then those that will be appended to.
Shape grown_in_turn(const Shape& start, const Shape& ends, const DType& dtype, std::uint64_t target) {
  Shape present = ends;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] == 0) present[i] = start[i];
  }
  Shape lengths = grown(start, present, dtype, target);
  for (std::size_t i = 0; i < ends.size(); ++i) present[i] = ends[i] == 0 ? target : lengths[i];
  return grown(std::move(lengths), present, dtype, target);
}

}  // namespace

std::uint64_t chunk_bytes_target(const Shape& shape, const DType& dtype, bool sharded) {
  if (sharded) return inner_target;
  const std::uint64_t total = bytes_of(shape, dtype).value_or(~std::uint64_t{0});
  std::uint64_t target = inner_target;
  while (target < chunk_ceiling && total / target >= chunk_count_target) target *= 2;
  return target;
}

Shape auto_chunks(const Shape& shape, const DType& dtype, std::uint64_t target_bytes) {
  return grown_in_turn(Shape(shape.size(), 1), shape, dtype, target_bytes);
}

Shape dividing_chunks(const Shape& chunks, const Shape& shards) {
  Shape dividing;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::uint64_t shard = shards[i];
    std::uint64_t fewest = std::max<std::uint64_t>(ceil_div(shard, chunks[i]), 1);
    std::uint64_t most = fewest;
    while (shard % fewest != 0) --fewest;
    while (shard % most != 0) ++most;
    // A length with few divisors (a prime, say) is better left whole than cut into slivers.
    dividing.push_back(shard / most >= chunks[i] / 4 ? shard / most : shard / fewest);
  }
  return dividing;
}

Shape auto_shards(const Shape& shape, const DType& dtype, const Shape& chunks) {
  Shape ends;
  for (std::size_t i = 0; i < shape.size(); ++i) ends.push_back(ceil_div(shape[i], chunks[i]) * chunks[i]);
  const auto most = checked_mul(bytes_of(chunks, dtype).value_or(shard_target), most_inner_chunks);
  Shape shards = grown_in_turn(chunks, ends, dtype, std::min(shard_target, most.value_or(shard_target)));
  for (std::size_t i = 0; i < shards.size(); ++i) shards[i] = shards[i] / chunks[i] * chunks[i];
  return shards;
}

}  // namespace sherd
