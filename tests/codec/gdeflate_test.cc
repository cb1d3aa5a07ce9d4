// zarrs.gdeflate: chunks that the crate zarrs wrote (tests/data/codec/zarrs_chunks), what is written, and pages that
// lie.
#include <gmock/gmock.h>

#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry gdeflate_codec;
}

namespace sherd::test {
namespace {

using ::testing::HasSubstr;

/// As src/main.rs of the crate's program makes them.
Bytes made(std::size_t count, std::uint32_t alphabet) {
  std::uint32_t state = 1;
  const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 8; };
  Bytes bytes;
  while (bytes.size() < count) {
    const std::uint32_t value = next();
    if (bytes.size() <= 100 || value % 3 != 0) {
      bytes.push_back(static_cast<std::byte>(value % alphabet));
      continue;
    }
    const std::size_t from = bytes.size() - 1 - next() % (bytes.size() - 1);
    const std::size_t length = next() % 60;
    for (std::size_t i = 0; i < length; ++i) bytes.push_back(bytes[from + i]);
  }
  bytes.resize(count);
  return bytes;
}

std::unique_ptr<BytesCodec> level(int level) {
  return bytes_codec(gdeflate_codec, R"({"level": )" + std::to_string(level) + "}");
}

TEST(Gdeflate, ChunksOfZarrsAreRead) {
  std::ifstream file(test_data("codec/zarrs_chunks.json"));
  std::stringstream text;
  text << file.rdbuf();
  const Json rows = Json::parse(text.str()).value();
  int read = 0;
  for (const Json& row : rows.elements()) {
    if (row.find("count") == nullptr) continue;
    const auto count = *row.find("count")->as_uint();
    const auto alphabet = static_cast<std::uint32_t>(*row.find("alphabet")->as_uint());
    const Bytes stored = from_hex(row.find("encoded")->text());
    EXPECT_EQ(decoded(*level(1), stored, count).value(), made(count, alphabet)) << count << " " << alphabet;
    ++read;
  }
  EXPECT_EQ(read, 20);
}

TEST(Gdeflate, EveryLevelComesBack) {
  for (const int each : {0, 1, 6, 12})
    for (const std::size_t size : {0, 1, 15, 16, 300, 3000}) {
      expect_round_trip(*level(each), made(size, 5));
      expect_round_trip(*level(each), noise(size));
    }
  for (const int each : {0, 1, 5})
    for (const std::size_t size : {65535, 65536, 65537, 131073}) expect_round_trip(*level(each), made(size, 200));
}

TEST(Gdeflate, RepetitionsCompressAndNoiseGrowsByLittle) {
  EXPECT_LT(encoded(*level(6), Bytes(1 << 20)).size(), 5000u);
  EXPECT_LT(encoded(*level(6), made(1 << 17, 3)).size(), std::size_t{1} << 15);
  EXPECT_LT(encoded(*level(6), noise(1 << 17)).size(), (std::size_t{1} << 17) + 700);
}

TEST(Gdeflate, CutAndLongerChunksAreCorrupt) {
  for (const int each : {0, 6}) expect_exact_end(*level(each), made(700, 5));
  EXPECT_EQ(decoded(*level(1), Bytes(15), 700).error().message(), "gdeflate: the 16-byte header is truncated");
}

TEST(Gdeflate, DamageIsSurvived) {
  for (const int each : {0, 1, 6}) survive_damage(*level(each), encoded(*level(each), made(3000, 9)), 3000);
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
  const Bytes good = encoded(*level(6), made(300, 5));
  const struct {
    std::size_t at;
    const char* text;
  } rows[] = {{7, "pages for"}, {8, "pages for"}, {9, "pages for"}, {18, "page 0 states"}};
  for (const auto& row : rows) {
    Bytes stored = good;
    stored[row.at] ^= std::byte{0x7f};
    const auto result = decoded(*level(1), stored, 300);
    ASSERT_EQ(code_of(result), ErrorCode::corrupt);
    EXPECT_THAT(result.error().message(), HasSubstr(row.text));
  }
  EXPECT_EQ(code_of(decoded(*level(1), std::span(good).first(15), 300)), ErrorCode::corrupt);
}

TEST(Gdeflate, ConfigurationIsALevel) {
  EXPECT_EQ(code_of(try_bytes_codec(gdeflate_codec, R"({"level": 13})")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_bytes_codec(gdeflate_codec, "{}")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_bytes_codec(gdeflate_codec, R"({"level": 1, "x": 2})")), ErrorCode::unsupported);
}

}  // namespace
}  // namespace sherd::test
