// compressed_segmentation of Neuroglancer's precomputed format: labels in blocks, each with a table of the labels that
// occur in it and, for every voxel, an index into that table of 0, 1, 2, 4, 8, 16 or 32 bits.
// A chunk is (channel, z, y, x), or (z, y, x) with one channel, so that x runs fastest as in Neuroglancer; `block_size`
// is (x, y, z), as in its metadata.
#include "codec/compressed_segmentation.hpp"

#include <memory>

#include "codec/configuration.hpp"

namespace sherd {
namespace {

using segmentation::Triple;

class CompressedSegmentation final : public ArrayBytesCodec {
 public:
  explicit CompressedSegmentation(const Triple& block) noexcept : block_(block) {}

  Result<void> check(const ChunkType& in) const override {
    if (in.dtype != DType::uint32 && in.dtype != DType::uint64)
      return unsupported("compressed_segmentation: elements are uint32 or uint64, not " + in.dtype.name() +
                         "; convert them first (sherd copy --dtype uint32)");
    if (in.shape.size() != 3 && in.shape.size() != 4)
      return invalid_argument("compressed_segmentation: a chunk has dimensions (channel, z, y, x), not shape " +
                              to_string(in.shape));
    return {};
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }

  /// For writers that share no tables: whole blocks with the widest indices, and a table entry for each voxel.
  [[nodiscard]] std::optional<std::uint64_t> max_encoded_size(const ChunkType& in) const override {
    const auto bytes = checked_mul(segmentation::Geometry({in, block_}).blocks(),
                                   segmentation::volume(block_) * (segmentation::kWordBytes + in.dtype.size()) +
                                       segmentation::kHeaderWords * segmentation::kWordBytes);
    return bytes ? checked_mul(*bytes + segmentation::kWordBytes, segmentation::channels(in)) : std::nullopt;
  }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    return segmentation::encode({in, block_}, elements, to);
  }
  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena*) const override {
    return segmentation::decode({in, block_}, encoded, elements);
  }

 private:
  Triple block_;
};

Result<Triple> parse_block_size(Configuration& configuration, const Limits& limits) {
  // An encoder numbers the voxels of a whole block in 32 bits, even if the chunk has fewer.
  const std::uint64_t most = std::min(limits.chunk_bytes / sizeof(std::uint32_t), std::uint64_t{1} << 31);
  const Json* list = configuration.find("block_size");
  if (list == nullptr || !list->is_array() || list->size() != 3)
    return configuration_error("block_size", "compressed_segmentation: 'block_size' must be three lengths, [x, y, z]");
  Triple block{};
  std::uint64_t voxels = 1;
  for (std::size_t d = 0; d < block.size(); ++d) {
    const auto length = list->elements()[d].as_uint();
    if (!length || *length == 0)
      return configuration_error("block_size", "compressed_segmentation: a block's lengths must be positive integers");
    const auto product = checked_mul(voxels, *length);
    if (!product || *product > most)
      return unsupported("compressed_segmentation: a block may have " + std::to_string(most) +
                         " voxels, a fourth of the limit chunk_bytes and at most 2^31; this one has more")
          .in_member("configuration.block_size");
    block[d] = *length;
    voxels = *product;
  }
  return block;
}

Result<std::unique_ptr<ArrayBytesCodec>> make_compressed_segmentation(const CodecSpec& spec,
                                                                      const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(block, parse_block_size(configuration, *context.limits));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<CompressedSegmentation>(block));
}

}  // namespace

extern constinit const CodecEntry compressed_segmentation_codec{
    .name = "compressed_segmentation", .aliases = {}, .array_bytes_codec = make_compressed_segmentation};

}  // namespace sherd