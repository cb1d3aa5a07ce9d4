// n5_default: N5's header, blocks of other shapes than the chunk's, and false headers. What tensorstore's N5 driver
// writes and reads is in tests/interop/n5_test.py.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd::test {
namespace n5_default_test {

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

std::string lz4(std::string_view order) { return n5(order, R"(, {"name": "numcodecs.lz4"})"); }

/// A line of bytes.
Result<Bytes> decoded_line(std::string_view stream, std::size_t size) {
  const auto chain = chain_of(lz4("[0]"), DType::uint8, {size}).value();
  Bytes stored = from_hex("00000001");
  for (int i = 3; i >= 0; --i) stored.push_back(static_cast<std::byte>(size >> (8 * i)));
  const Bytes body = from_hex(stream);
  stored.insert(stored.end(), body.begin(), body.end());
  Bytes elements(size);
  auto done = chain.decode({size}, stored, elements, nullptr);
  if (!done) return std::move(done).error();
  return elements;
}

// tests/data/codec/MakeN5Lz4.java
TEST(N5Lz4, StreamsOfLz4JavaAreRead) {
  std::ifstream file(test_data("codec/n5_lz4.json"));
  const Json rows = json(std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_EQ(rows.size(), 12U);
  for (const Json& row : rows.elements()) {
    const Bytes expected = from_hex(row.find("decoded")->text());
    EXPECT_EQ(decoded_line(row.find("encoded")->text(), expected.size()).value(), expected);
  }
}

// lz4-java 1.8.0 has decoded these bytes to the elements in big-endian order (MakeN5Lz4 with them as its argument).
TEST(N5Lz4, WrittenStreamsAreThoseThatLz4JavaReads) {
  Bytes elements(400), stored;
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::byte>(i / 40);
  const auto chain = chain_of(lz4("[0]"), DType::uint8, {400}).value();
  Buffer to;
  chain.encode({400}, elements, to).value();
  EXPECT_EQ(
      Bytes(to.span().begin() + 8, to.span().end()),
      from_hex("4c5a34426c6f636b26380000009001000031dac4031f000100141f010100141f020100141f030100141f040100141f050100141"
               "f060100141f070100141f080100141f0901000f5009090909094c5a34426c6f636b16000000000000000000000000"));
  Bytes back(400);
  chain.decode({400}, to.span(), back, nullptr).value();
  EXPECT_EQ(back, elements);
}

TEST(N5Lz4, LargeBlocksAreSplitAndNoiseIsStoredAsItIs) {
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 200'000}) {
    for (const Bytes& elements : {noise(size), runs(size)}) {
      Limits limits;
      const auto specs = parse_codec_list(json(lz4("[0]"))).value();
      const auto chain = CodecChain::build(specs, tables().codecs, {DType::uint8, {size}}, limits).value();
      Buffer to;
      chain.encode({size}, elements, to).value();
      EXPECT_LE(to.size(), chain.max_encoded_size({size}));
      Bytes back(size);
      chain.decode({size}, to.span(), back, nullptr).value();
      EXPECT_EQ(back, elements);
    }
  }
}

TEST(N5Lz4, ChunksOfNumcodecsAreRead) {
  EXPECT_EQ(decoded_line("03000000"
                         "30010203",
                         3)
                .value(),
            from_hex("010203"));
}

TEST(N5Lz4, BlocksThatLieAreCorrupt) {
  const std::string magic = "4c5a34426c6f636b",
                    raw = magic +
                          "16"
                          "03000000"
                          "03000000",
                    sum = "36b0750e";
  const std::string good = raw + sum + "010203", end = magic +
                                                       "16"
                                                       "000000000000000000000000";
  EXPECT_EQ(decoded_line(good + end, 3).value(), from_hex("010203"));
  const std::string rows[] = {good,                                         // no empty block at the end
                              good + end + "00",                            // bytes behind it
                              good + end.substr(0, end.size() - 2) + "01",  // which has a checksum
                              raw +
                                  "00000000"
                                  "010203" +
                                  end,  // another checksum
                              magic +
                                  "36"
                                  "03000000"
                                  "03000000" +
                                  sum + "010203" + end,  // a method that does not exist
                              magic +
                                  "16"
                                  "03000000"
                                  "04000000" +
                                  sum + "010203" + end,  // two sizes
                              magic +
                                  "16"
                                  "00000000"
                                  "03000000" +
                                  sum + end,  // no bytes
                              magic +
                                  "10"
                                  "01040000"
                                  "01040000" +
                                  sum + "010203" + end,  // larger than its block size
                              magic +
                                  "16"
                                  "ffffff7f"
                                  "03000000" +
                                  sum + "010203" + end,  // beyond the end
                              magic +
                                  "26"
                                  "03000000"
                                  "03000000" +
                                  sum + "f0ffff" + end,  // malformed LZ4
                              magic +
                                  "16"
                                  "ffffffff"
                                  "ffffffff" +
                                  sum + end};
  for (const std::string& row : rows) EXPECT_EQ(code_of(decoded_line(row, 3)), ErrorCode::corrupt) << row;
  EXPECT_EQ(code_of(decoded_line(good + end, 2)), ErrorCode::corrupt);
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

}  // namespace n5_default_test
}  // namespace sherd::test
