// bytes with numbers of less than eight bits: unused bits that are stored do not appear in memory.
#include <gtest/gtest.h>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd::test {
namespace bytes_test {

CodecChain chain_of(std::string_view codecs, const DType& dtype, const Shape& shape) {
  const auto specs = parse_codec_list(json(codecs)).value();
  return CodecChain::build(specs, tables().codecs, {dtype, shape}, {}).value();
}

Bytes decoded(const CodecChain& chain, const Shape& shape, const Bytes& stored, std::size_t size) {
  Bytes elements(size);
  chain.decode(shape, stored, elements, nullptr).value();
  return elements;
}

Bytes encoded(const CodecChain& chain, const Shape& shape, const Bytes& elements) {
  Buffer to;
  chain.encode(shape, elements, to).value();
  return {to.span().begin(), to.span().end()};
}

const Bytes kStored = from_hex("0f7ff78008a5335e91");

struct Row {
  DType dtype;
  const char* elements;
};
const Row kRows[] = {
    {DType::int4, "ffff0700f80503fe01"},          {DType::uint4, "0f0f07000805030e01"},
    {DType::int2, "ffffff000001fffe01"},          {DType::uint2, "030303000001030201"},
    {DType::float4_e2m1fn, "0f0f07000805030e01"}, {DType::float6_e2m3fn, "0f3f37000825331e11"},
    {DType::float8_e5m2, "0f7ff78008a5335e91"},
};

TEST(Bytes, IgnoresTheUpperBitsOfNarrowNumbers) {
  for (const Row& row : kRows) {
    const Bytes elements = from_hex(row.elements);
    for (const char* codecs : {R"(["bytes"])", R"(["bytes", {"name": "crc32c"}])",
                               R"(["bytes", {"name": "zstd", "configuration": {"level": 1, "checksum": false}}])",
                               R"([{"name": "transpose", "configuration": {"order": [0]}},
                                  {"name": "reshape", "configuration": {"shape": [3, 3]}}, "bytes"])"}) {
      const auto chain = chain_of(codecs, row.dtype, {9});
      const auto plain = chain_of(codecs, DType::uint8, {9});
      EXPECT_EQ(decoded(chain, {9}, encoded(plain, {9}, kStored), 9), elements) << row.dtype.name() << codecs;
      EXPECT_EQ(encoded(chain, {9}, elements), encoded(plain, {9}, elements)) << row.dtype.name() << codecs;
    }
  }
}

TEST(Bytes, IgnoresTheUpperBitsOfNarrowNumbersInBlocks) {
  const auto chain =
      chain_of(R"(["bytes", {"name": "zstd", "configuration": {"level": 1, "checksum": false}}])", DType::int4, {9});
  Buffer stored;
  chain.encode({9}, kStored, stored).value();
  Bytes block(4), gathered;
  const auto done =
      chain.decode_blocks({9}, stored.span(), block, [&](std::uint64_t, std::span<const std::byte> bytes) {
        gathered.insert(gathered.end(), bytes.begin(), bytes.end());
        return true;
      });
  ASSERT_TRUE(done.value());
  EXPECT_EQ(gathered, from_hex(kRows[0].elements));
}

TEST(Bytes, IgnoresTheUpperBitsOfNarrowNumbersInStructs) {
  const DType dtype =
      *DType::structure({{"a", DType::int4}, {"b", DType::uint16}, {"c", DType::complex_float4_e2m1fn}});
  for (const bool swaps : {false, true}) {
    const std::string codec =
        R"([{"name": "bytes", "configuration": {"endian": ")" + std::string(swaps ? "big" : "little") + "\"}}]";
    const Bytes elements = from_hex(swaps ? "ff02010702"
                                            "f8fffe0f00"
                                          : "ff01020702"
                                            "f8feff0f00");
    EXPECT_EQ(decoded(chain_of(codec, dtype, {2}), {2},
                      from_hex("0f0102a7f2"
                               "38feffff10"),
                      10),
              elements);
  }
}

TEST(Bytes, RefusesOptionalElements) {
  const auto specs = parse_codec_list(json(R"(["bytes"])")).value();
  const auto refused = CodecChain::build(specs, tables().codecs, {*DType::optional(DType::uint8), {2}}, {});
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
}

TEST(Bytes, RefusesOptionalFieldsAtEveryDepth) {
  const DType optional = *DType::optional(DType::int32);
  const DType inner = *DType::structure({{"a", optional}, {"b", DType::int32}});
  for (const char* endian : {"little", "big"}) {
    const auto specs =
        parse_codec_list(json(R"([{"name": "bytes", "configuration": {"endian": ")" + std::string(endian) + "\"}}]"))
            .value();
    for (const DType& dtype : {inner, *DType::structure({{"c", DType::uint8}, {"d", inner}})}) {
      const auto refused = CodecChain::build(specs, tables().codecs, {dtype, {2}}, {});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
      EXPECT_NE(refused.error().text().find("zarrs.optional"), std::string::npos) << refused.error().text();
    }
  }
}

}  // namespace bytes_test
}  // namespace sherd::test
