// Chains of codecs. One codec exists only in tests.
#pragma once

#include "codec/chain.hpp"

#include <gmock/gmock.h>

#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry bytes_codec, transpose_codec, zstd_codec, gzip_codec, zlib_codec, crc32c_codec, crc32_codec,
    adler32_codec, fletcher32_codec;
}

namespace sherd::test::chain_testing {
/// array -> array for tests: adds one to every byte; keeps transposes after it from being merged.
class PlusOne final : public ArrayCodec {
 public:
  [[nodiscard]] Result<ChunkType> encoded_type(const ChunkType& in) const override { return in; }
  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return add(from, to, 1);
  }
  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return add(from, to, 255);
  }

 private:
  static Result<void> add(std::span<const std::byte> from, std::span<std::byte> to, unsigned summand) {
    EXPECT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = static_cast<std::byte>(static_cast<unsigned>(from[i]) + summand);
    return {};
  }
};

inline const CodecEntry plus_one{
    .name = "plus_one",
    .aliases = {},
    .array_codec = [](const CodecSpec&, const CodecContext&) -> Result<std::unique_ptr<ArrayCodec>> {
      return std::make_unique<PlusOne>();
    }};

inline const CodecEntry* const kTable[] = {&sherd::bytes_codec, &transpose_codec, &zstd_codec,  &gzip_codec,
                                           &zlib_codec,         &crc32c_codec,    &crc32_codec, &adler32_codec,
                                           &plus_one,           &fletcher32_codec};

inline Result<CodecChain> build(std::string_view list, const ChunkType& type = {DType::uint16, {4, 6}},
                                const Limits& limits = {}) {
  auto specs = parse_codec_list(json(list));
  if (!specs) return std::move(specs).error();
  return CodecChain::build(*specs, kTable, type, limits);
}

inline Bytes encode(const CodecChain& chain, const Shape& stored, std::span<const std::byte> elements) {
  Buffer to;
  chain.encode(stored, elements, to).value();
  return {to.span().begin(), to.span().end()};
}

inline Result<Bytes> decode(const CodecChain& chain, const Shape& stored, std::span<const std::byte> encoded,
                            std::size_t size) {
  Bytes elements(size);
  auto done = chain.decode(stored, encoded, elements, nullptr);
  if (!done) return std::move(done).error();
  return elements;
}

inline constexpr std::string_view kLittle = R"([{"name": "bytes", "configuration": {"endian": "little"}}])";
inline constexpr std::string_view kBig = R"([{"name": "bytes", "configuration": {"endian": "big"}}])";

inline const std::string_view kChains[] = {
    kLittle,
    kBig,
    R"([{"name": "endian", "configuration": {"endian": "little"}}, "zstd"])",
    R"([{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 1}}])",
    R"([{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"])",
    R"([{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c", "crc32"])",
    R"([{"name": "bytes", "configuration": {"endian": "little"}}, "zstd", "crc32c"])",
    R"([{"name": "bytes", "configuration": {"endian": "big"}}, "gzip", "adler32", "crc32c", "crc32"])",
    R"([{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c", "zstd"])",
    R"([{"name": "bytes", "configuration": {"endian": "little"}}, "crc32", "zstd", "fletcher32", "gzip", "zlib", "crc32"])",
    R"([{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, {"name": "bytes", "configuration": {"endian": "little"}}, "zstd"])",
    R"(["plus_one", {"name": "bytes", "configuration": {"endian": "little"}}, "zstd"])",
    R"(["plus_one", {"name": "transpose", "configuration": {"order": [2, 0, 1]}}, "plus_one", {"name": "bytes", "configuration": {"endian": "big"}}, "zstd", "crc32c"])",
    R"(["plus_one", {"name": "transpose", "configuration": {"order": [1, 2, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}])",
};

}  // namespace sherd::test::chain_testing
