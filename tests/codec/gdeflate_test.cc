// zarrs.gdeflate: chunks that the crate zarrs wrote (tests/data/codec/zarrs_chunks), and damaged ones.
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

struct Chunk {
  Bytes elements, stored;
};

/// The chunks of zarrs with this number of bytes, at levels 0 to 12.
std::vector<Chunk> chunks_of_zarrs(std::size_t size) {
  std::ifstream file(test_data("codec/zarrs_chunks.json"));
  std::stringstream text;
  text << file.rdbuf();
  const Json rows = Json::parse(text.str()).value();
  std::vector<Chunk> chunks;
  for (const Json& row : rows.elements()) {
    if (row.find("count") == nullptr || row.find("count")->as_uint() != size) continue;
    const auto alphabet = static_cast<std::uint32_t>(*row.find("alphabet")->as_uint());
    chunks.push_back({made(size, alphabet), from_hex(row.find("encoded")->text())});
  }
  return chunks;
}

std::unique_ptr<BytesCodec> codec() { return bytes_codec(gdeflate_codec, R"({"level": 1})"); }

TEST(Gdeflate, ChunksOfZarrsAreRead) {
  std::size_t read = 0;
  for (const std::size_t size : {1, 40, 3000, 70'000, 140'000})
    for (const Chunk& chunk : chunks_of_zarrs(size)) {
      EXPECT_EQ(decoded(*codec(), chunk.stored, size).value(), chunk.elements) << size << ", " << read;
      ++read;
    }
  EXPECT_EQ(read, 20U);
}

TEST(Gdeflate, ChunksAreNotWritten) {
  Bytes to(1000);
  EXPECT_EQ(code_of(codec()->encode(Bytes(10), to)), ErrorCode::unsupported);
}

TEST(Gdeflate, CutAndLongerChunksAreCorrupt) {
  for (const Chunk& chunk : chunks_of_zarrs(3000)) expect_exact_end(*codec(), chunk.elements.size(), chunk.stored);
  EXPECT_EQ(decoded(*codec(), Bytes(15), 700).error().message(), "gdeflate: the 16-byte header is truncated");
}

TEST(Gdeflate, DamageIsSurvived) {
  for (const Chunk& chunk : chunks_of_zarrs(3000)) survive_damage(*codec(), chunk.stored, 3000);
  for (std::size_t size = 0; size < 300; ++size) {
    // One page of noise, behind a header that fits it.
    Bytes stored(24);
    stored[0] = std::byte{200}, stored[8] = std::byte{1};
    stored[16] = static_cast<std::byte>(size), stored[17] = static_cast<std::byte>(size >> 8);
    const Bytes page = noise(size, static_cast<unsigned>(size));
    stored.insert(stored.end(), page.begin(), page.end());
    (void)decoded(*codec(), stored, 200);
  }
}

TEST(Gdeflate, HeadersThatLieAreCorrupt) {
  const Bytes good = chunks_of_zarrs(40).back().stored;
  const struct {
    std::size_t at;
    const char* text;
  } rows[] = {{7, "pages for"}, {8, "pages for"}, {9, "pages for"}, {18, "page 0 states"}};
  for (const auto& row : rows) {
    Bytes stored = good;
    stored[row.at] ^= std::byte{0x7f};
    const auto result = decoded(*codec(), stored, 300);
    ASSERT_EQ(code_of(result), ErrorCode::corrupt);
    EXPECT_THAT(result.error().message(), HasSubstr(row.text));
  }
  EXPECT_EQ(code_of(decoded(*codec(), std::span(good).first(15), 300)), ErrorCode::corrupt);
}

TEST(Gdeflate, ConfigurationIsALevel) {
  EXPECT_EQ(code_of(try_bytes_codec(gdeflate_codec, R"({"level": 13})")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_bytes_codec(gdeflate_codec, "{}")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_bytes_codec(gdeflate_codec, R"({"level": 1, "x": 2})")), ErrorCode::unsupported);
}

}  // namespace
}  // namespace sherd::test
