// zarrs.gdeflate: chunks that the crate zarrs wrote (tests/data/codec/zarrs_chunks), and pages that lie.
#include <gmock/gmock.h>

#include "tests/codec/codec_fixture.hpp"
#include "tests/codec/golden_chunks.hpp"

namespace sherd {
extern const CodecEntry gdeflate_codec;
}

namespace sherd::test {
namespace gdeflate_decode_test {

using ::testing::HasSubstr;

std::unique_ptr<BytesCodec> level(int level) {
  return bytes_codec(gdeflate_codec, R"({"level": )" + std::to_string(level) + "}");
}

std::vector<GoldenChunk> golden() { return golden_chunks(gdeflate_codec); }

TEST(Gdeflate, ChunksOfZarrsAreRead) {
  for (const GoldenChunk& each : golden())
    EXPECT_EQ(decoded(*level(1), each.stored, each.elements.size()).value(), each.elements) << each.elements.size();
  EXPECT_EQ(golden().size(), 20U);
}

TEST(Gdeflate, CutAndLongerChunksAreCorrupt) {
  for (const GoldenChunk& each : golden()) {
    const std::size_t count = each.elements.size();
    Bytes longer = each.stored;
    longer.push_back(std::byte{0});
    EXPECT_EQ(code_of(decoded(*level(1), longer, count)), ErrorCode::corrupt);
    for (std::size_t size = 0; size < each.stored.size(); size += 1 + each.stored.size() / 500)
      EXPECT_EQ(code_of(decoded(*level(1), std::span(each.stored).first(size), count)), ErrorCode::corrupt);
    Bytes small(count - 1);
    EXPECT_EQ(level(1)->decode(each.stored, small).value(), std::nullopt);
  }
  EXPECT_EQ(decoded(*level(1), Bytes(15), 700).error().message(), "gdeflate: the 16-byte header is truncated");
}

TEST(Gdeflate, DamageIsSurvived) {
  for (const GoldenChunk& each : golden())
    if (each.elements.size() < 5000) survive_damage(*level(1), each.stored, each.elements.size());
  for (std::size_t size = 0; size < 300; ++size) {
    // One page of noise, behind a header that fits it.
    Bytes stored(24);
    stored[0] = std::byte{200}, stored[8] = std::byte{1};
    stored[16] = static_cast<std::byte>(size), stored[17] = static_cast<std::byte>(size >> 8);
    const Bytes page = noise(size, static_cast<unsigned>(size));
    stored.insert(stored.end(), page.begin(), page.end());
    (void)decoded(*level(1), stored, 200);
  }
}

TEST(Gdeflate, HeadersThatLieAreCorrupt) {
  const GoldenChunk good = golden_chunk(gdeflate_codec);
  const struct {
    std::size_t at;
    const char* text;
  } rows[] = {{7, "pages for"}, {8, "pages for"}, {9, "pages for"}, {18, "page 0 states"}};
  for (const auto& row : rows) {
    Bytes stored = good.stored;
    stored[row.at] ^= std::byte{0x7f};
    const auto result = decoded(*level(1), stored, 40);
    ASSERT_EQ(code_of(result), ErrorCode::corrupt);
    EXPECT_THAT(result.error().message(), HasSubstr(row.text));
  }
}

TEST(Gdeflate, ConfigurationIsALevel) {
  EXPECT_EQ(code_of(try_bytes_codec(gdeflate_codec, R"({"level": 13})")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_bytes_codec(gdeflate_codec, "{}")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_bytes_codec(gdeflate_codec, R"({"level": 1, "x": 2})")), ErrorCode::unsupported);
}

}  // namespace gdeflate_decode_test
}  // namespace sherd::test
