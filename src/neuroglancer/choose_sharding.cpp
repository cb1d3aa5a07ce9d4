// Chooses sharding parameters that the user has not set. The rule, with its rationale and tables, is in
// docs/chunking.md; each number in it is one of the constants below.
#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "base/nearest.hpp"
#include "base/try.hpp"
#include "shard/uint64.hpp"
#include "sherd/sharded_build.hpp"

namespace sherd::neuroglancer {
namespace {

/// A list of 2^9 entries takes 12 KiB before it is compressed.
constexpr unsigned kMinishardIdBits = 9;
/// The array at the beginning of a shard of 2^13 minishards takes 128 KiB.
constexpr unsigned kMaxMinishardBits = 13;
constexpr std::uint64_t kEntryBytes = 24;

/// The effect of Neuroglancer's encodings on typical data, and whether gzip reduces them further.
struct Encoding {
  std::string_view name;
  std::uint64_t ratio;  ///< decoded to stored size, conservatively
  bool gzip;
};
constexpr Encoding kEncodings[] = {{"raw", 1, true},        {"compressed_segmentation", 16, true},
                                   {"compresso", 16, true}, {"png", 1, false},
                                   {"jpeg", 4, false},      {"jxl", 4, false}};

Result<Encoding> find_encoding(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Encoding& encoding : kEncodings) {
    if (encoding.name == name) return encoding;
    known.push_back(encoding.name);
  }
  return std::move(invalid_argument("'" + name + "' is not an encoding of volumes" + did_you_mean(name, known)))
      .in_member("encoding");
}

/// A chunk shape with all dimensions, and the bytes of such a chunk.
Result<Shape> whole_chunk(const VolumeToShard& volume) {
  if (volume.shape.size() != 3 && volume.shape.size() != 4)
    return std::move(invalid_argument("must have the dimensions x, y, z and optionally a channel")).in_member("shape");
  Shape chunk = volume.chunk_shape;
  if (volume.shape.size() == 4 && chunk.size() == 3) chunk.push_back(volume.shape[3]);
  if (chunk.size() != volume.shape.size())
    return std::move(invalid_argument("must have as many dimensions as the volume")).in_member("chunk_shape");
  if (std::ranges::find(chunk, std::uint64_t{0}) != chunk.end())
    return std::move(invalid_argument("must not be empty")).in_member("chunk_shape");
  if (volume.shape.size() == 4 && chunk[3] != volume.shape[3])
    return std::move(invalid_argument("must have all channels in one chunk")).in_member("chunk_shape");
  return chunk;
}

/// Bits of the compressed Morton code of the last chunk.
unsigned morton_bits(const Shape& shape, const Shape& chunk) {
  unsigned bits = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::uint64_t count = ceil_div(shape[d], chunk[d]);
    bits += count == 0 ? 0 : static_cast<unsigned>(std::bit_width(count - 1));
  }
  return bits;
}

unsigned floor_log2(std::uint64_t number) { return static_cast<unsigned>(std::bit_width(number)) - 1; }
unsigned ceil_log2(std::uint64_t number) { return number <= 1 ? 0 : floor_log2(number - 1) + 1; }

Result<void> check_type(const DType& dtype) {
  for (const DType& known : {DType::uint8, DType::int8, DType::uint16, DType::int16, DType::uint32, DType::int32,
                             DType::uint64, DType::float32})
    if (dtype == known) return {};
  return std::move(
             invalid_argument("is not a type of Neuroglancer; choose an integer of 8 to 32 bits, uint64 or float32"))
      .in_member("dtype");
}

Result<void> check_target(std::uint64_t bytes) {
  if (bytes != 0) return {};
  return std::move(invalid_argument("must not be 0")).in_member("target_shard_bytes");
}

}  // namespace

Result<Json> choose_sharding(const VolumeToShard& volume) {
  SHERD_TRY(check_target(volume.target_shard_bytes));
  SHERD_TRY(encoding, find_encoding(volume.encoding));
  SHERD_TRY(chunk, whole_chunk(volume));
  const unsigned total = morton_bits(volume.shape, chunk);
  if (total > 64)
    return invalid_argument("the compressed Morton codes of the chunks need " + std::to_string(total) +
                            " bits, more than the 64 of an id; choose larger chunks");
  SHERD_TRY(check_type(volume.dtype));
  const auto elements = element_count(chunk);
  const auto bytes = elements ? checked_mul(*elements, volume.dtype.size()) : std::nullopt;
  if (!bytes) return std::move(invalid_argument("has more bytes than fit 64 bits")).in_member("chunk_shape");
  const std::uint64_t stored = std::max<std::uint64_t>(1, *bytes / encoding.ratio);
  const std::uint64_t chunks = std::max<std::uint64_t>(1, volume.target_shard_bytes / stored);
  const unsigned within = std::min(total, floor_log2(chunks));
  const unsigned preshift = std::max(std::min(within, kMinishardIdBits), within - std::min(within, kMaxMinishardBits));
  return Uint64Sharding{.preshift_bits = preshift,
                        .minishard_bits = within - preshift,
                        .shard_bits = total - within,
                        .hash = Uint64Sharding::Hash::identity,
                        .gzip_index = true,
                        .gzip_data = encoding.gzip}
      .json();
}

Result<Json> choose_sharding(const ValuesToShard& values) {
  SHERD_TRY(check_target(values.target_shard_bytes));
  const auto each = checked_add(values.mean_bytes, kEntryBytes);
  const auto bytes = each ? checked_mul(values.count, *each) : std::nullopt;
  if (!bytes) return std::move(invalid_argument("all values together exceed 64 bits")).in_member("mean_bytes");
  // At most one shard per value.
  const unsigned shard_bits =
      std::min({ceil_log2(ceil_div(*bytes, values.target_shard_bytes)), ceil_log2(values.count), 63U});
  const std::uint64_t ids = ceil_div(values.count, std::uint64_t{1} << shard_bits);
  const unsigned minishard_bits = std::min(ceil_log2(ceil_div(ids, std::uint64_t{1} << kMinishardIdBits)),
                                           std::min(kMaxMinishardBits, 64 - shard_bits));
  return Uint64Sharding{.preshift_bits = 0,
                        .minishard_bits = minishard_bits,
                        .shard_bits = shard_bits,
                        .hash = Uint64Sharding::Hash::murmurhash3_x86_128,
                        .gzip_index = true,
                        .gzip_data = true}
      .json();
}

}  // namespace sherd::neuroglancer
