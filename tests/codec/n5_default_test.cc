// n5_default: N5's header, blocks of other shapes than the chunk's, and headers that lie. What tensorstore's N5 driver
// writes and reads is in tests/interop/n5_test.py.
#include <gmock/gmock.h>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd::test {
namespace {

using ::testing::HasSubstr;

std::string n5(std::string_view order, std::string_view more) {
  return R"([{"name": "n5_default", "configuration": {"codecs": [{"name": "transpose", "configuration": {"order": )" +
         std::string(order) + R"(}}, {"name": "bytes", "configuration": {"endian": "big"}})" + std::string(more) +
         "]}}]";
}

Result<CodecChain> chain_of(std::string_view codecs, const DType& dtype = DType::uint16, const Shape& shape = {2, 3}) {
  const auto specs = parse_codec_list(json(codecs)).value();
  Limits limits;
  limits.chunk_bytes = 1000;
  return CodecChain::build(specs, tables().codecs, {dtype, shape}, limits);
}

Result<Bytes> decoded(const CodecChain& chain, std::string_view stored) {
  Bytes elements(12, std::byte{0xaa});
  auto done = chain.decode({2, 3}, from_hex(stored), elements, nullptr);
  if (!done) return std::move(done).error();
  return elements;
}

// {{1, 2, 3}, {4, 5, 6}} in memory, and as a block: the first dimension changes fastest.
const Bytes kElements = from_hex("010002000300040005000600");
constexpr std::string_view kBlock =
    "0000"
    "0002"
    "00000002"
    "00000003"
    "000100040002000500030006";

TEST(N5Default, BlocksHaveAHeaderWithTheirShape) {
  const auto chain = chain_of(n5("[1, 0]", "")).value();
  Buffer to;
  chain.encode({2, 3}, kElements, to).value();
  EXPECT_EQ(Bytes(to.span().begin(), to.span().end()), from_hex(kBlock));
  EXPECT_EQ(decoded(chain, kBlock).value(), kElements);
  const auto packed = chain_of(n5("[1, 0]", R"(, {"name": "gzip", "configuration": {"level": 5}})")).value();
  packed.encode({2, 3}, kElements, to).value();
  EXPECT_EQ(Bytes(to.span().begin(), to.span().begin() + 12), from_hex(kBlock.substr(0, 24)));
  Bytes back(12);
  packed.decode({2, 3}, to.span(), back, nullptr).value();
  EXPECT_EQ(back, kElements);
}

TEST(N5Default, BlocksOfOtherShapesAreCutOffOrPadded) {
  const auto chain = chain_of(n5("[1, 0]", "")).value();
  EXPECT_EQ(decoded(chain,
                    "0000"
                    "0002"
                    "00000001"
                    "00000002"
                    "00010002")
                .value(),
            from_hex("010002000000000000000000"));
  EXPECT_EQ(decoded(chain,
                    "0000"
                    "0002"
                    "00000003"
                    "00000001"
                    "000100040009")
                .value(),
            from_hex("010000000000040000000000"));
  EXPECT_EQ(decoded(chain,
                    "0000"
                    "0002"
                    "00000000"
                    "00000003")
                .value(),
            Bytes(12));
}

TEST(N5Default, HeadersThatLieAreRefused) {
  const auto chain = chain_of(n5("[1, 0]", "")).value();
  const std::pair<std::string, ErrorCode> rows[] = {
      {"", ErrorCode::corrupt},
      {"0000000200000002000000", ErrorCode::corrupt},
      {"0000"
       "0002"
       "00000002"
       "00000003"
       "0001",
       ErrorCode::corrupt},
      {std::string(kBlock) + "00", ErrorCode::corrupt},
      {"0000"
       "0003"
       "00000002"
       "00000003"
       "000100040002000500030006",
       ErrorCode::corrupt},
      {"0003"
       "0002"
       "00000002"
       "00000003"
       "000100040002000500030006",
       ErrorCode::corrupt},
      {"0001"
       "0002"
       "00000002"
       "00000003"
       "00000006"
       "000100040002000500030006",
       ErrorCode::unsupported},
      {"0002"
       "0002"
       "00000002"
       "00000003",
       ErrorCode::unsupported},
      {"0000"
       "0002"
       "ffffffff"
       "ffffffff",
       ErrorCode::unsupported},
      {"0000"
       "0002"
       "00000010"
       "00000020"
       "00",
       ErrorCode::unsupported},
  };
  for (const auto& [stored, code] : rows) {
    const auto read = decoded(chain, stored);
    ASSERT_FALSE(read) << stored;
    EXPECT_EQ(read.error().code(), code) << stored << ": " << read.error().text();
  }
  EXPECT_THAT(decoded(chain, rows[6].first).error().message(), HasSubstr("mode varlength"));
}

TEST(N5Default, AConfigurationSaysWhatIsWrongWithIt) {
  const auto member = [](const std::string& codecs, const DType& dtype = DType::uint16) {
    const auto chain = chain_of(codecs, dtype);
    return chain ? "" : chain.error().member();
  };
  const std::string at = "[0].configuration.codecs";
  EXPECT_EQ(member(R"([{"name": "n5_default", "configuration": {}}])"), at);
  EXPECT_EQ(member(R"([{"name": "n5_default", "configuration": {"codecs": ["bytes"]}}])"), at);
  EXPECT_EQ(member(n5("[0, 1]", "")), at);
  EXPECT_EQ(member(n5("[0, 0]", "")), at + "[0].configuration.order");
  EXPECT_EQ(member(n5("[1, 0]", R"(, "crc32c", "crc32c")")), at);
  EXPECT_EQ(member(n5("[1, 0]", R"(, "nothing")")), at + "[2].name");
  EXPECT_EQ(member(R"([{"name": "n5_default", "configuration": {"codecs": [
      {"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "little"}}]}}])"),
            at);
  EXPECT_THAT(chain_of(n5("[1, 0]", ""), DType::float16).error().message(), HasSubstr("N5 has no type float16"));
}

}  // namespace
}  // namespace sherd::test
