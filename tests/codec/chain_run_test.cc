// Running chains: round trips, blocks, and what stored bytes cannot make a chain do.
#include "tests/codec/chain_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::chain_testing {
namespace chain_run_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CodecChain, RoundTripsEveryChain) {
  for (const std::string_view list : kChains) {
    for (const DType& dtype : {DType::uint16, DType::float64, DType::complex64}) {
      for (const Shape& shape : {Shape{3, 5, 7}, Shape{1, 1, 1}, Shape{40, 50, 60}}) {
        const auto chain = build(list, {dtype, shape}).value();
        const Shape stored = chain.stored_shape(shape);
        const Bytes elements = sample(*element_count(shape) * dtype.size());
        const Bytes packed = encode(chain, stored, elements);
        EXPECT_EQ(decode(chain, stored, packed, elements.size()).value(), elements) << list;
        if (const auto size = chain.encoded_size(stored)) {
          EXPECT_EQ(*size, packed.size()) << list;
        }
        EXPECT_EQ(encode(chain, stored, elements), packed) << list;
      }
    }
  }
}

TEST(CodecChain, DamageIsAlwaysDetectedWithAnOuterChecksum) {
  for (const std::string_view list : kChains) {
    if (!list.ends_with(R"("crc32c"])") && !list.ends_with(R"("crc32"])")) continue;
    const Shape shape{4, 5, 6};
    const auto chain = build(list, {DType::uint16, shape}).value();
    const Shape stored = chain.stored_shape(shape);
    const Bytes packed = encode(chain, stored, sample(240));
    for (std::size_t i = 0; i < packed.size(); ++i) {
      Bytes damaged = packed;
      damaged[i] ^= std::byte{16};
      EXPECT_EQ(code_of(decode(chain, stored, damaged, 240)), ErrorCode::corrupt) << list << " byte " << i;
      damaged.resize(i);
      EXPECT_EQ(code_of(decode(chain, stored, damaged, 240)), ErrorCode::corrupt) << list << " cut to " << i;
    }
  }
}

TEST(CodecChain, ChunksThatDecodeShortOrLongAreCorrupt) {
  for (const std::string_view list : kChains) {
    const Shape shape{4, 5, 6};
    const auto chain = build(list, {DType::uint16, shape}).value();
    for (const Shape& other : {Shape{4, 5, 5}, Shape{4, 5, 7}, Shape{40, 50, 70}}) {
      const Bytes packed = encode(chain, chain.stored_shape(other), sample(*element_count(other) * 2));
      EXPECT_EQ(code_of(decode(chain, chain.stored_shape(shape), packed, 240)), ErrorCode::corrupt) << list;
    }
  }
}

TEST(CodecChain, DecodesTheSameInBlocksAsWhole) {
  int streaming = 0;
  for (const std::string_view list : kChains) {
    const Shape shape{40, 50, 60};
    const auto chain = build(list, {DType::float64, shape}).value();
    const Shape stored = chain.stored_shape(shape);
    const Bytes elements = sample(960000);
    Bytes packed = encode(chain, stored, elements);
    for (const std::size_t size : {std::size_t{15}, std::size_t{1000}, std::size_t{131072}, std::size_t{2000000}}) {
      Bytes block(size), all;
      const auto done =
          chain.decode_blocks(stored, packed, block, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
            EXPECT_EQ(offset, all.size());
            EXPECT_EQ(bytes.size() % 8, 0u);
            all.insert(all.end(), bytes.begin(), bytes.end());
            return true;
          });
      if (!done.value()) continue;
      ++streaming;
      EXPECT_EQ(all, elements) << list;
    }
    Bytes block(1000);
    for (const Shape& other : {Shape{39, 50, 60}, Shape{41, 50, 60}}) {
      const auto done = chain.decode_blocks(chain.stored_shape(other), packed, block, [](auto, auto) { return true; });
      EXPECT_TRUE(!done.has_value() ? done.error().code() == ErrorCode::corrupt : !*done) << list;
    }
  }
  EXPECT_EQ(streaming, 9 * 4) << "chains with at most one compressor, checksums outside it; four sizes of block each";
}

TEST(CodecChain, ADecompressionBombBetweenTwoCodecsIsBounded) {
  const auto chain = build(R"([{"name": "bytes"}, "zstd", "gzip"])", {DType::uint8, {1000}}).value();
  const auto gzip = try_bytes_codec(gzip_codec, R"({"level": 9})").value();
  const Bytes bomb = test::encoded(*gzip, Bytes(std::size_t{32} << 20));
  const auto result = decode(chain, {1000}, bomb, 1000);
  EXPECT_EQ(code_of(result), ErrorCode::corrupt);
  EXPECT_THAT(result.error().text(), HasSubstr("gzip: decodes to more than"));
}

TEST(CodecChain, TheLimitOfTheRatioIsNamed) {
  Limits limits;
  limits.decode_ratio = 10;
  const auto chain = build(R"([{"name": "bytes"}, "zstd"])", {DType::uint8, {100000}}, limits).value();
  const Bytes zeros(100000), random = noise(100000);
  const auto refused = decode(chain, {100000}, encode(chain, {100000}, zeros), 100000);
  EXPECT_EQ(code_of(refused), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("decode_ratio"));
  EXPECT_EQ(decode(chain, {100000}, encode(chain, {100000}, random), 100000).value(), random);
}

TEST(CodecChain, BytesAroundAShardGrowUpToTheirBound) {
  const auto chain = build(R"(["sharding_indexed", "gzip", "crc32c", "zstd"])").value();
  ASSERT_TRUE(chain.sharding());
  EXPECT_TRUE(chain.has_bytes_codecs());
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{3000000}}) {
    for (const Bytes& bytes : {noise(size), Bytes(size)}) {
      Buffer packed, unpacked;
      chain.encode_bytes(bytes, packed).value();
      chain.decode_bytes(packed.span(), size, unpacked).value();
      EXPECT_EQ(Bytes(unpacked.span().begin(), unpacked.span().end()), bytes);
      if (size > 0) {
        EXPECT_EQ(code_of(chain.decode_bytes(packed.span(), size - 1, unpacked)), ErrorCode::unsupported);
      }
    }
  }
}

TEST(CodecChain, ChecksumsAroundAShardAreRemoved) {
  const auto chain = build(R"(["sharding_indexed", "crc32", "crc32c"])").value();
  Buffer packed, unpacked;
  const Bytes bytes = noise(1000);
  chain.encode_bytes(bytes, packed).value();
  EXPECT_EQ(packed.size(), 1008u);
  chain.decode_bytes(packed.span(), 1000, unpacked).value();
  EXPECT_EQ(Bytes(unpacked.span().begin(), unpacked.span().end()), bytes);
  EXPECT_EQ(code_of(chain.decode_bytes(packed.span(), 999, unpacked)), ErrorCode::unsupported);
}

TEST(CodecChain, ATransposeBehindAnotherCodecMovesTheElements) {
  const auto chain = build(R"(["plus_one", {"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes"])",
                           {DType::uint8, {2, 3}})
                         .value();
  EXPECT_EQ(chain.permutation(), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(chain.inner_type({2, 3}).value().shape, (Shape{3, 2}));
  EXPECT_EQ(encode(chain, {2, 3}, from_hex("000102030405")), from_hex("010402050306"));
}

}  // namespace chain_run_test
}  // namespace sherd::test::chain_testing
