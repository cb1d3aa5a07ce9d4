// numcodecs.packbits, which differs from the registered packbits: booleans become bits, the first of eight the highest,
// after a byte with the number of padding bits in the last byte. The result is a one-dimensional array of bytes.
#include <algorithm>
#include <memory>

#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t packed_size(std::uint64_t count) noexcept { return 1 + count / 8 + (count % 8 != 0); }
constexpr std::size_t padding(std::size_t count) noexcept { return (8 - count % 8) % 8; }

class NumcodecsPackbits final : public ArrayCodec {
 public:
  Result<ChunkType> encoded_type(const ChunkType& in) const override {
    if (in.dtype != DType::bool_)
      return invalid_argument("numcodecs.packbits: elements are booleans, not of type " + in.dtype.name());
    const auto count = element_count(in.shape);
    if (!count) return unsupported("a chunk of shape " + to_string(in.shape) + " does not fit 64 bits");
    return ChunkType{DType::uint8, {packed_size(*count)}};
  }

  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    std::fill(to.begin(), to.end(), std::byte{0});
    to[0] = static_cast<std::byte>(padding(from.size()));
    for (std::size_t i = 0; i < from.size(); ++i)
      if (from[i] != std::byte{0}) to[1 + i / 8] |= std::byte{0x80} >> (i % 8);
    return {};
  }

  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from[0] != static_cast<std::byte>(padding(to.size())))
      return corrupt("numcodecs.packbits: states " + std::to_string(std::to_integer<int>(from[0])) +
                     " bits of padding, the chunk has " + std::to_string(padding(to.size())));
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[1 + i / 8] >> (7 - i % 8) & std::byte{1};
    return {};
  }

  /// Zero is the only fill value that eight elements and the padding count can share.
  Result<void> encode_fill(const ChunkType&, std::span<const std::byte>, std::span<std::byte> to) const override {
    to[0] = std::byte{0};
    return {};
  }
};

Result<std::unique_ptr<ArrayCodec>> make_numcodecs_packbits(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayCodec>(std::make_unique<NumcodecsPackbits>());
}

}  // namespace

extern constinit const CodecEntry numcodecs_packbits_codec{.name = "numcodecs.packbits",
                                                           .aliases = {},
                                                           .array_codec = make_numcodecs_packbits,
                                                           .short_form = short_without_members};

}  // namespace sherd
