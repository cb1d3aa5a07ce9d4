// The conditions for dual format, each with its own error (docs/format/dual-format.md). Neuroglancer finds a chunk by
// its number along a curve through the grid and reads its bytes as x, y, z, channel with x fastest; Zarr finds it by
// its slot and pads it at the array's end. If both give the same bytes, one file is sufficient.
#include "neuroglancer/volume_view.hpp"

#include "neuroglancer/codecs.hpp"

#include <algorithm>
#include <iterator>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "sherd/sharded_build.hpp"

namespace sherd {
namespace {

constexpr std::string_view kNames[] = {"x", "y", "z", "channel"};

Error fails(std::string_view member, const std::string& message) {
  return invalid_argument("layout zarr+neuroglancer: " + message).in_member(member);
}

// ---- the chain of codecs ----

// Consumes `name` if it is the next codec.
const CodecSpec* take(std::span<const CodecSpec>& left, std::string_view name) {
  if (left.empty() || left.front().name != name) return nullptr;
  const CodecSpec* taken = &left.front();
  left = left.subspan(1);
  return taken;
}

Result<void> read_chain(std::span<const CodecSpec> left, VolumeView& view) {
  const CodecSpec* transpose = take(left, "transpose");
  const CodecSpec* bytes = take(left, "bytes");
  if (bytes == nullptr) {
    const std::string found = left.empty() ? "nothing" : "'" + left.front().name + "'";
    return fails("codecs", "an inner chunk is 'bytes', after at most one 'transpose', but here is " + found);
  }
  (void)transpose;  // the order is determined from the permutation
  const Json* endian = bytes->configuration.find("endian");
  if (endian != nullptr && (!endian->is_string() || endian->text() != "little"))
    return fails("codecs", "Neuroglancer reads little-endian elements, and 'bytes' is big-endian");
  view.gzip = take(left, "gzip") != nullptr;
  if (take(left, "crc32c") != nullptr) view.trailer = sizeof(std::uint32_t);
  if (left.empty()) return {};
  return fails("codecs", "'bytes' may only be followed by 'gzip' and then 'crc32c', not '" + left.front().name +
                             "': Neuroglancer reads chunks that are raw or gzip");
}

Result<const CodecSpec*> only_shard(const ArraySpec& spec) {
  const auto shard = std::ranges::find(spec.codecs, "sharding_indexed", &CodecSpec::name);
  if (shard == spec.codecs.end()) return fails("shards", "the array must be sharded; set shards");
  if (spec.codecs.size() == 1) return &*shard;
  const bool behind = shard + 1 != spec.codecs.end();
  return fails("codecs",
               "'" + (behind ? shard + 1 : spec.codecs.begin())->name + "' is " + (behind ? "after" : "before") +
                   " 'sharding_indexed', so that the file is not a plain shard; move it to the codecs of the inner "
                   "chunks");
}

Result<std::vector<CodecSpec>> inner_codecs(const ArraySpec& spec, const ChunkLayout& layout) {
  SHERD_TRY(shard, only_shard(spec));
  const IndexFormat* index = layout.shard ? layout.shard->slots() : nullptr;
  if (index == nullptr || index->location != IndexLocation::end)
    return fails("index_location", "the index must be at the end of a shard: Neuroglancer's is at the start");
  return parse_codec_list(*shard->configuration.find("codecs"));
}

// ---- dimensions ----

Result<void> check_names(const ArraySpec& spec, const VolumeView& view) {
  for (std::size_t d = 0; d < spec.dimension_names.size(); ++d) {
    std::string name = spec.dimension_names[d].value_or("");
    if (name == "c") name = "channel";
    const auto is = std::ranges::find(view.dimensions, d) - view.dimensions.begin();
    if (std::ranges::find(kNames, name) == std::end(kNames) || name == kNames[is]) continue;
    return fails("dimension_names", "dimension " + std::to_string(d) + " is called '" + name +
                                        "' and would be Neuroglancer's " + std::string(kNames[is]) +
                                        ", for x is the one that changes fastest in a chunk; order the dimensions "
                                        "c,z,y,x, or put a 'transpose' among the inner codecs");
  }
  return {};
}

Result<void> read_dimensions(const ArraySpec& spec, const ChunkLayout& layout, VolumeView& view) {
  const std::size_t rank = spec.shape.size();
  const auto* grid = std::get_if<RegularGrid>(&spec.grid);
  if (rank != 3 && rank != 4)
    return fails("shape", "a volume has the dimensions z,y,x or c,z,y,x, and the array has " + std::to_string(rank));
  if (grid == nullptr) return fails("chunk_grid", "all shards must have one shape");
  const auto& stored = layout.shard->inner->chain.permutation();
  view.dimensions.assign(stored.rbegin(), stored.rend());
  view.dtype = spec.dtype;
  view.shape = view.chunk_shape = view.shard_chunks = Shape(4, 1);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t of_array = view.dimensions[d];
    view.shape[d] = spec.shape[of_array];
    view.chunk_shape[d] = layout.shard->inner_shape[of_array];
    view.shard_chunks[d] = grid->chunk_shape[of_array] / view.chunk_shape[d];
  }
  return check_names(spec, view);
}

Result<void> check_lengths(const VolumeView& view) {
  if (view.chunk_shape[3] != view.shape[3])
    return fails("chunks", "all channels must be in one chunk, which holds " + std::to_string(view.chunk_shape[3]) +
                               " of " + std::to_string(view.shape[3]));
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string length = "the length " + std::to_string(view.shape[d]) + " of " + std::string(kNames[d]);
    if (view.shape[d] == 0) return fails("shape", length + " has no chunks");
    if (view.shape[d] % view.chunk_shape[d] == 0) continue;
    const std::string what = length + " is not a multiple of the chunk's " + std::to_string(view.chunk_shape[d]) +
                             ": Zarr stores the last chunk whole and Neuroglancer only what lies inside";
    if (d < 2) return fails("shape", what);
    if (view.gzip) return fails("shape", what + "; along z that is possible without 'gzip', give the codec bytes");
    if (view.shape[3] != 1) return fails("shape", what + "; along z that is possible with one channel");
  }
  return {};
}

Result<void> check_dtype(const DType& dtype) {
  for (const DType& known : {DType::uint8, DType::int8, DType::uint16, DType::int16, DType::uint32, DType::int32,
                             DType::uint64, DType::float32})
    if (dtype == known) return {};
  return fails("dtype",
               dtype.name() + " is not a type of Neuroglancer's; uint8 to uint64, int8 to int32 and float32 are");
}

// ---- shards ----

// The number of the lowest bits of the code that vary in a shard, or nullopt if shards are not boxes of it.
std::optional<unsigned> bits_within(const CompressedMorton& morton, const Shape& grid, const Shape& chunks) {
  for (unsigned low = 0; low <= morton.bits(); ++low) {
    const Shape box = morton.box(low);
    bool same = true;
    for (std::size_t d = 0; d < grid.size(); ++d)
      same = same && (box[d] >= grid[d] ? chunks[d] >= grid[d] : chunks[d] == box[d]);
    if (same) return low;
  }
  return std::nullopt;
}

std::string boxes_text(const VolumeView& view, const CompressedMorton& morton) {
  std::string text;
  for (unsigned low = 0; low <= morton.bits(); ++low) {
    const Shape box = morton.box(low);
    text += (text.empty() ? "" : ", ") + std::to_string(box[0] * view.chunk_shape[0]) + "x" +
            std::to_string(box[1] * view.chunk_shape[1]) + "x" + std::to_string(box[2] * view.chunk_shape[2]);
  }
  return text;
}

}  // namespace

Result<VolumeView> VolumeView::of(const ArraySpec& spec, const ChunkLayout& layout) {
  VolumeView view;
  SHERD_TRY(check_dtype(spec.dtype));
  SHERD_TRY(inner, inner_codecs(spec, layout));
  SHERD_TRY(read_chain(inner, view));
  SHERD_TRY(read_dimensions(spec, layout, view));
  SHERD_TRY(check_lengths(view));
  return view;
}

Shape VolumeView::grid() const {
  Shape grid(shape.size());
  for (std::size_t d = 0; d < grid.size(); ++d) grid[d] = ceil_div(shape[d], chunk_shape[d]);
  return grid;
}

Result<void> VolumeView::choose_sharding(const Json& wanted) {
  SHERD_TRY(morton, CompressedMorton::of(grid()).in_member("shape"));
  if (wanted.is_null()) return find_sharding(morton);
  SHERD_TRY(given, Uint64Sharding::parse_given(wanted).in_member("sharding"));
  sharding = given;
  return check_sharding(morton);
}

Result<void> VolumeView::find_sharding(const CompressedMorton& morton) {
  const auto within = bits_within(morton, grid(), shard_chunks);
  if (!within)
    return fails("shards",
                 "shards of " + std::to_string(shard_chunks[0]) + "x" + std::to_string(shard_chunks[1]) + "x" +
                     std::to_string(shard_chunks[2]) +
                     " chunks (x, y, z) are not boxes of the compressed Morton code; these are, in elements: " +
                     boxes_text(*this, morton));
  // The rule for volumes, with the maximum size of such a shard.
  const std::uint64_t chunk = *element_count(chunk_shape) * dtype.size();
  const auto shard = *within < 64 ? checked_mul(std::uint64_t{1} << *within, chunk) : std::nullopt;
  SHERD_TRY(chosen, neuroglancer::choose_sharding({.shape = shape,
                                                   .chunk_shape = chunk_shape,
                                                   .dtype = dtype,
                                                   .target_shard_bytes = shard.value_or(~std::uint64_t{0})}));
  SHERD_TRY(parsed, Uint64Sharding::parse(chosen));
  sharding = parsed;
  sharding.gzip_data = gzip;
  return check_sharding(morton);
}

Result<void> VolumeView::check_sharding(const CompressedMorton& morton) const {
  if (sharding.gzip_data != gzip)
    return fails("sharding", std::string("data_encoding is \"") + (gzip ? "raw" : "gzip") + "\" and the chunks are " +
                                 (gzip ? "compressed with gzip" : "stored as they are"));
  const unsigned low = sharding.preshift_bits + sharding.minishard_bits;
  if (sharding.shard_bits != 0 && sharding.hash != Uint64Sharding::Hash::identity)
    return fails("sharding", "with a hash, chunks of one shard are not a box; use the hash identity, or shard_bits 0");
  if (sharding.shard_bits != 0 && low + sharding.shard_bits < morton.bits())
    return fails("sharding", "preshift_bits, minishard_bits and shard_bits are " +
                                 std::to_string(low + sharding.shard_bits) +
                                 " together, and the chunks' numbers have " + std::to_string(morton.bits()) +
                                 " bits, so that far chunks would share a shard");
  const auto within = bits_within(morton, grid(), shard_chunks);
  if (within && *within == (sharding.shard_bits == 0 ? morton.bits() : std::min(low, morton.bits()))) return {};
  const Shape box = morton.box(sharding.shard_bits == 0 ? morton.bits() : low);
  return fails("sharding", "its shards are boxes of " + to_string(box) + " chunks (x, y, z, channel), the array's of " +
                               to_string(shard_chunks));
}

Result<SecondIndex> VolumeView::index(const Limits& limits) const {
  SecondIndex second;
  SHERD_TRY(format, Uint64Format::build(sharding, precomputed_codecs(), limits));
  SHERD_TRY(morton, CompressedMorton::of(grid()));
  second.index = {std::move(format), std::move(morton)};
  second.shape = shape;
  second.chunk_shape = chunk_shape;
  second.dimensions = dimensions;
  second.element_bytes = gzip ? 0 : dtype.size();
  second.trailer = trailer;
  return second;
}

}  // namespace sherd
