// n5_default (zarr-extensions): blocks as in N5's mode "default", after a header with the block's own shape,
// all big-endian. Blocks at the end of an array may be clipped or padded; written ones are padded. The other
// modes of blocks, varlength and object, have no Zarr type. numcodecs.lz4 means N5's own LZ4 here
// (n5_lz4.cpp).
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "codec/configuration.hpp"

namespace sherd {

extern const CodecEntry n5_lz4_codec;

namespace {

constexpr std::size_t kModeBytes = 2, kRankBytes = 2, kExtentBytes = 4;
/// The amount by which a block may be larger than its chunk.
constexpr std::uint64_t kLargerBlockBytes = std::uint64_t{16} << 20;

std::size_t header_bytes(std::size_t rank) noexcept { return kModeBytes + kRankBytes + rank * kExtentBytes; }

Shape reversed(const Shape& shape) { return {shape.rbegin(), shape.rend()}; }

void store_big(std::byte*& to, std::uint64_t value, std::size_t bytes) noexcept {
  for (std::size_t i = bytes; i-- > 0;) *to++ = static_cast<std::byte>(value >> (8 * i));
}

/// Copies the rows that two dense arrays have in common.
void copy_common(const Shape& from_shape, const std::byte* from, const Shape& to_shape, std::byte* to,
                 std::size_t element) {
  if (from_shape.empty()) {
    std::memcpy(to, from, element);
    return;
  }
  std::size_t from_stride = element, to_stride = element;
  for (std::size_t d = 1; d < from_shape.size(); ++d) {
    from_stride *= from_shape[d];
    to_stride *= to_shape[d];
  }
  const std::uint64_t common = std::min(from_shape[0], to_shape[0]);
  if (from_shape.size() == 1) {
    std::memcpy(to, from, common * element);
    return;
  }
  const Shape from_rest(from_shape.begin() + 1, from_shape.end());
  const Shape to_rest(to_shape.begin() + 1, to_shape.end());
  for (std::uint64_t i = 0; i < common; ++i)
    copy_common(from_rest, from + i * from_stride, to_rest, to + i * to_stride, element);
}

class N5Default final : public ArrayBytesCodec {
 public:
  N5Default(std::unique_ptr<ArrayCodec> transpose, CodecChain chain, std::vector<const CodecEntry*> table,
            std::uint64_t max_bytes)
      : transpose_(std::move(transpose)), table_(std::move(table)), chain_(std::move(chain)), max_bytes_(max_bytes) {}

  Result<void> check(const ChunkType& in) const override {
    using Kind = DType::Kind;
    const Kind kind = in.dtype.kind();
    const bool known = (kind >= Kind::int8 && kind <= Kind::uint64) || kind == Kind::float32 || kind == Kind::float64;
    if (!known) return unsupported("n5_default: N5 has no type " + in.dtype.name());
    const bool fits = in.shape.size() <= 0xffff &&
                      std::ranges::all_of(in.shape, [](std::uint64_t extent) { return extent <= 0xffffffff; });
    if (fits) return {};
    return unsupported("n5_default: a chunk of shape " + to_string(in.shape) + " does not fit N5's header");
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> max_encoded_size(const ChunkType& in) const override {
    return checked_add(chain_.max_encoded_size(reversed(in.shape)), header_bytes(in.shape.size()));
  }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    Scratch moved, block;
    SHERD_TRY(moved->resize(elements.size()));
    SHERD_TRY(transpose_->encode(in, elements, moved->span()));
    SHERD_TRY(chain_.encode(reversed(in.shape), moved->span(), *block));
    SHERD_TRY(to.resize(header_bytes(in.shape.size()) + block->size()));
    std::byte* out = to.data();
    store_big(out, 0, kModeBytes);
    store_big(out, in.shape.size(), kRankBytes);
    for (const std::uint64_t extent : in.shape) store_big(out, extent, kExtentBytes);
    std::ranges::copy(block->span(), out);
    return {};
  }

  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena*) const override {
    SHERD_TRY(shape, parse_header(in, encoded));
    const auto body = encoded.subspan(header_bytes(shape.size()));
    const std::size_t bytes = *element_count(shape) * in.dtype.size();
    Scratch moved;
    SHERD_TRY(moved->resize(bytes));
    SHERD_TRY(chain_.decode(reversed(shape), body, moved->span(), nullptr));
    const ChunkType block{in.dtype, shape};
    if (shape == in.shape) return transpose_->decode(block, moved->span(), elements);
    Scratch own;
    SHERD_TRY(own->resize(bytes));
    SHERD_TRY(transpose_->decode(block, moved->span(), own->span()));
    std::ranges::fill(elements, std::byte{0});
    if (bytes != 0) copy_common(shape, own->data(), in.shape, elements.data(), in.dtype.size());
    return {};
  }

 private:
  /// The block's own shape. A decoded block of this shape is within the limit.
  [[nodiscard]] Result<Shape> parse_header(const ChunkType& in, std::span<const std::byte> encoded) const {
    const auto word = [&](std::size_t at, std::size_t bytes) {
      return load_word(encoded.subspan(at, bytes), std::endian::big);
    };
    const std::size_t size = header_bytes(in.shape.size());
    if (encoded.size() < size)
      return corrupt("n5_default: the header has " + std::to_string(size) + " bytes, the block " +
                     std::to_string(encoded.size()));
    const std::uint64_t mode = word(0, kModeBytes);
    if (mode == 1 || mode == 2)
      return unsupported(std::string("n5_default: blocks of mode ") + (mode == 1 ? "varlength" : "object") +
                         " have no Zarr type");
    if (mode != 0) return corrupt("n5_default: " + std::to_string(mode) + " is not a mode of blocks");
    const std::uint64_t rank = word(kModeBytes, kRankBytes);
    if (rank != in.shape.size())
      return corrupt("n5_default: the block has " + std::to_string(rank) + " dimensions, the array " +
                     std::to_string(in.shape.size()));
    Shape shape;
    for (std::size_t d = 0; d < rank; ++d)
      shape.push_back(word(kModeBytes + kRankBytes + d * kExtentBytes, kExtentBytes));
    const auto count = element_count(shape);
    const auto bytes = count ? checked_mul(*count, in.dtype.size()) : std::nullopt;
    // N5 writes no block that is larger than the chunk.
    const std::uint64_t chunk_bytes = element_count(in.shape).value_or(0) * in.dtype.size();
    const std::uint64_t most = std::min(max_bytes_, std::max(chunk_bytes, kLargerBlockBytes));
    if (shape != in.shape && (!bytes || *bytes > most))
      return unsupported("n5_default: a block of shape " + to_string(shape) + " in place of a chunk of shape " +
                         to_string(in.shape) + " is larger than " + std::to_string(most) + " bytes");
    return shape;
  }

  std::unique_ptr<ArrayCodec> transpose_;
  std::vector<const CodecEntry*> table_;  ///< of the chain
  CodecChain chain_;
  std::uint64_t max_bytes_;
};

Error wrong_codecs(std::size_t rank) {
  return configuration_error("codecs", "n5_default: 'codecs' must be a transpose that reverses the " +
                                           std::to_string(rank) +
                                           " dimensions, big-endian bytes, and at most one compressor");
}

Result<std::unique_ptr<ArrayBytesCodec>> make_n5_default(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const std::size_t rank = context.in.shape.size();
  const Json* list = configuration.find("codecs");
  if (list == nullptr) return wrong_codecs(rank);
  SHERD_TRY(configuration.done());
  constexpr std::string_view kMember = "configuration.codecs";
  SHERD_TRY(specs, parse_codec_list(*list).in_member(kMember));
  const CodecEntry* const transpose = find_codec(context.table, "transpose");
  if (specs.size() < 2 || specs.size() > 3 || transpose == nullptr || specs[0].name != "transpose" ||
      specs[1].name != "bytes")
    return wrong_codecs(rank);
  const Json* endian = specs[1].configuration.find("endian");
  if (context.in.dtype.size() > 1 && (endian == nullptr || *endian != Json("big"))) return wrong_codecs(rank);
  SHERD_TRY(mover, transpose->array_codec(specs[0], context).in_member("[0]").in_member(kMember));
  const auto order = mover->permutation();
  for (std::size_t d = 0; d < rank; ++d)
    if (order[d] != rank - 1 - d) return wrong_codecs(rank);
  const Limits limits = context.limits != nullptr ? *context.limits : Limits();
  // The chain leaves the transpose to its caller: it encodes and decodes elements in N5's order.
  std::vector<const CodecEntry*> table(context.table.begin(), context.table.end());
  std::ranges::replace_if(
      table, [](const CodecEntry* entry) { return entry->name == n5_lz4_codec.name; }, &n5_lz4_codec);
  SHERD_TRY(chain, CodecChain::build(specs, table, context.in, limits).in_member(kMember));
  return std::unique_ptr<ArrayBytesCodec>(
      std::make_unique<N5Default>(std::move(mover), std::move(chain), std::move(table), limits.chunk_bytes));
}

}  // namespace

extern constinit const CodecEntry n5_default_codec{
    .name = "n5_default", .aliases = {}, .array_bytes_codec = make_n5_default};

}  // namespace sherd
