// compressed_segmentation beyond what other writers produce: every width, every clipping, and false bytes.
#include <gmock/gmock.h>

#include <set>

#include "base/endian.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry compressed_segmentation_codec;

namespace test {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

Result<std::unique_ptr<ArrayBytesCodec>> try_codec(std::string_view configuration) {
  static const Limits limits;
  return compressed_segmentation_codec.array_bytes_codec(spec_of(compressed_segmentation_codec, configuration),
                                                         {{DType::uint64, {1, 1, 1, 1}}, &limits});
}
std::unique_ptr<ArrayBytesCodec> codec_of(const std::vector<int>& block) {
  return try_codec(R"({"block_size": [)" + std::to_string(block[0]) + "," + std::to_string(block[1]) + "," +
                   std::to_string(block[2]) + "]}")
      .value();
}

Bytes encoded(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& elements) {
  Buffer to;
  codec.encode(type, elements, to).value();
  EXPECT_LE(to.size(), codec.max_encoded_size(type).value());
  return {to.span().begin(), to.span().end()};
}
Result<Bytes> decoded(const ArrayBytesCodec& codec, const ChunkType& type, std::span<const std::byte> from) {
  Bytes elements(*element_count(type.shape) * type.dtype.size(), std::byte{0xaa});
  auto result = codec.decode(type, from, elements, nullptr);
  if (!result) return std::move(result).error();
  return elements;
}

/// `count` labels far apart, a random one per element; with enough elements each label occurs.
Bytes labels(const ChunkType& type, std::uint64_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  const std::size_t size = type.dtype.size();
  Bytes elements(*element_count(type.shape) * size);
  for (std::uint64_t i = 0; i * size < elements.size(); ++i) {
    const std::uint64_t label = ((i < count ? i : random() % count) + 1) * 0x9e3779b97f4a7c15;
    std::memcpy(elements.data() + i * size, reinterpret_cast<const char*>(&label) + (8 - size), size);
  }
  return elements;
}

Bytes bytes_of(const Words& words) {
  Bytes bytes(4 * words.size());
  for (std::size_t i = 0; i < words.size(); ++i) store_little(bytes.data() + 4 * i, words[i]);
  return bytes;
}
Words words_of(const Bytes& bytes) {
  Words words(bytes.size() / 4);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = load_little<std::uint32_t>(bytes.data() + 4 * i);
  return words;
}

TEST(CompressedSegmentation, UsesTheSmallestSufficientIndices) {
  const std::pair<std::uint64_t, unsigned> rows[] = {{1, 0},  {2, 1},   {3, 2},    {4, 2},      {5, 4},     {16, 4},
                                                     {17, 8}, {256, 8}, {257, 16}, {65536, 16}, {65537, 32}};
  for (const DType& dtype : {DType::uint32, DType::uint64}) {
    for (const auto& [count, width] : rows) {
      SCOPED_TRACE(dtype.name() + " " + std::to_string(count));
      const ChunkType type{dtype, {1, 41, 41, 41}};
      const auto codec = codec_of({41, 41, 41});
      const Bytes elements = labels(type, count);
      const Bytes stored = encoded(*codec, type, elements);
      EXPECT_EQ(words_of(stored)[1] >> 24, width);
      const std::uint64_t words = 1 + 2 + (41 * 41 * 41 * width + 31) / 32 + count * dtype.size() / 4;
      EXPECT_EQ(stored.size(), 4 * words);
      EXPECT_EQ(decoded(*codec, type, stored).value(), elements);
    }
  }
}

TEST(CompressedSegmentation, CutsChunksOfAnyShapeIntoBlocksOfAnyShape) {
  const Shape shapes[] = {{1, 1, 1, 1}, {1, 8, 8, 8}, {1, 9, 17, 3}, {3, 2, 5, 33}, {2, 16, 8, 24}};
  const std::vector<int> blocks[] = {{1, 1, 1}, {8, 8, 8}, {3, 5, 7}, {32, 2, 1}, {64, 64, 64}, {5, 1, 9}};
  for (const DType& dtype : {DType::uint32, DType::uint64}) {
    for (const Shape& shape : shapes) {
      for (const auto& block : blocks) {
        for (const std::uint64_t count : {1, 2, 4, 11, 40, 400}) {
          SCOPED_TRACE(to_string(shape) + " in " + testing::PrintToString(block) + " " + std::to_string(count));
          const ChunkType type{dtype, shape};
          const auto codec = codec_of(block);
          const Bytes elements = labels(type, count);
          const Bytes stored = encoded(*codec, type, elements);
          ASSERT_EQ(decoded(*codec, type, stored).value(), elements);
        }
      }
    }
  }
}

TEST(CompressedSegmentation, EqualTablesOfAChannelAreStoredOnce) {
  // 27 blocks that all hold the same three labels at other positions.
  const ChunkType type{DType::uint64, {1, 12, 12, 12}};
  const auto codec = codec_of({4, 4, 4});
  Bytes elements;
  for (std::uint64_t i = 0; i < 12 * 12 * 12; ++i) {
    const std::uint64_t label = (i * i + i / 12) % 3;
    const auto bytes = std::as_bytes(std::span(&label, 1));
    elements.insert(elements.end(), bytes.begin(), bytes.end());
  }
  const Words stored = words_of(encoded(*codec, type, elements));
  std::set<std::uint32_t> tables;
  for (std::size_t block = 0; block < 27; ++block) tables.insert(stored[1 + 2 * block]);
  EXPECT_EQ(tables.size(), 1u);
  EXPECT_EQ(stored.size(), 1 + 27 * (2 + 4) + 3 * 2u);
}

TEST(CompressedSegmentation, TablesMayOverlapAndBeAnywhere) {
  // Two blocks of 2x1x1: one has a label from the middle of the other's table, which is before the end of the headers.
  const ChunkType type{DType::uint32, {1, 1, 1, 4}};
  const Bytes stored = bytes_of({1, 5u, 4, 4u | 1u << 24, 6, 70, 71, 0b10});
  const std::uint32_t expected[] = {71, 71, 70, 71};
  EXPECT_EQ(decoded(*codec_of({2, 1, 1}), type, stored).value(),
            Bytes(std::as_bytes(std::span(expected)).begin(), std::as_bytes(std::span(expected)).end()));
}

TEST(CompressedSegmentation, EveryOffsetAndIndexIsCheckedAndNamed) {
  const ChunkType type{DType::uint32, {1, 1, 1, 2}};
  const auto codec = codec_of({2, 1, 1});
  const Words good = {1, 3u | 1u << 24, 2, 0b10, 7};
  const auto refused = [&](const Words& words, const std::string& text) {
    const auto result = decoded(*codec, type, bytes_of(words));
    EXPECT_EQ(code_of(result), ErrorCode::corrupt);
    EXPECT_THAT(result.error().message(), HasSubstr(text));
  };
  refused({}, "0 bytes");
  refused(good, "channel 0, block 0: an index is beyond the end of the table");
  refused({0, good[1], good[2], good[3], 7, 8}, "the first channel begins at word 0; the chunk has 1");
  refused({2, good[1], good[2], good[3], 7, 8}, "the first channel begins at word 2");
  refused({1, good[1]}, "truncated");
  refused({1, 5u, 2, 0b10, 7, 8}, "the table is beyond the end");
  refused({1, 0xffffffu, 2, 0b10, 7, 8}, "the table is beyond the end");
  refused({1, 3u | 1u << 24, 5, 0b10, 7, 8}, "the indices are beyond the end");
  refused({1, 3u | 1u << 24, 0xffffffff, 0b10, 7, 8}, "the indices are beyond the end");
  for (const std::uint32_t width : {3, 5, 6, 7, 12, 24, 31, 33, 64, 128, 255})
    refused({1, 3u | width << 24, 2, 0b10, 7, 8}, "nor 32 bits");
  refused({1, 3u | 32u << 24, 2, 0xffffffff, 7, 8}, "an index is beyond the end of the table");
  Bytes odd = bytes_of({1, 3u | 1u << 24, 2, 0b10, 7, 8});
  EXPECT_TRUE(decoded(*codec, type, odd));
  odd.push_back(std::byte{0});
  EXPECT_EQ(code_of(decoded(*codec, type, odd)), ErrorCode::corrupt);
  EXPECT_EQ(code_of(decoded(*codec, {DType::uint32, {2, 1, 1, 2}}, bytes_of(good))), ErrorCode::corrupt);
}

TEST(CompressedSegmentation, DamageNeverCrashes) {
  const ChunkType type{DType::uint64, {2, 6, 7, 9}};
  const auto codec = codec_of({4, 4, 4});
  const Bytes stored = encoded(*codec, type, labels(type, 30));
  for (std::size_t size = 0; size < stored.size(); ++size) {
    // Copied, so that a sanitizer sees a read behind the end.
    const Bytes part(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(decoded(*codec, type, part)) << size;
  }
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    Bytes damaged = stored;
    for (int flips = 0; flips < 3; ++flips)
      damaged[random() % (round % 2 == 0 ? 200 : damaged.size())] = std::byte(random());
    (void)decoded(*codec, type, damaged);
  }
}

TEST(CompressedSegmentation, TablesBeyondTheReachOf24BitsAreAnError) {
  // A different label for every voxel: 1282 words per block of 512, 13824 blocks.
  const ChunkType type{DType::uint64, {1, 192, 192, 192}};
  std::vector<std::uint64_t> elements(192 * 192 * 192);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = i;
  const auto codec = codec_of({8, 8, 8});
  Buffer to;
  const auto result = codec->encode(type, std::as_bytes(std::span(elements)), to);
  EXPECT_EQ(code_of(result), ErrorCode::unsupported);
  EXPECT_THAT(result.error().message(), HasSubstr("choose smaller chunks"));
  // As many voxels of few labels fit.
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = i / 300'000;
  EXPECT_TRUE(codec->encode(type, std::as_bytes(std::span(elements)), to));
}

TEST(CompressedSegmentation, AConfigurationSaysWhatIsWrongWithIt) {
  const std::pair<const char*, ErrorCode> rows[] = {
      {"{}", ErrorCode::invalid_argument},
      {R"({"block_size": 8})", ErrorCode::invalid_argument},
      {R"({"block_size": [8, 8]})", ErrorCode::invalid_argument},
      {R"({"block_size": [8, 0, 8]})", ErrorCode::invalid_argument},
      {R"({"block_size": [8, -1, 8]})", ErrorCode::invalid_argument},
      {R"({"block_size": [8, 1.5, 8]})", ErrorCode::invalid_argument},
      {R"({"block_size": [4294967296, 4294967296, 1]})", ErrorCode::unsupported},
      {R"({"block_size": [2048, 2048, 2048]})", ErrorCode::unsupported},
  };
  for (const auto& [configuration, code] : rows) {
    const auto codec = try_codec(configuration);
    EXPECT_EQ(code_of(codec), code) << configuration;
    EXPECT_EQ(codec.error().member(), "configuration.block_size");
  }
  EXPECT_EQ(try_codec(R"({"block_size": [8, 8, 8], "level": 1})").error().member(), "configuration.level");
  const auto codec = codec_of({8, 8, 8});
  EXPECT_EQ(code_of(codec->check({DType::uint16, {1, 8, 8, 8}})), ErrorCode::unsupported);
  EXPECT_EQ(code_of(codec->check({DType::uint64, {8, 8}})), ErrorCode::invalid_argument);
}

TEST(CompressedSegmentation, AcceptsThreeDimensionsForOneChannel) {
  const auto codec = codec_of({4, 2, 3});
  for (const DType& dtype : {DType::uint32, DType::uint64}) {
    const ChunkType three{dtype, {7, 5, 9}}, four{dtype, {1, 7, 5, 9}};
    const Bytes elements = labels(four, 20);
    ASSERT_TRUE(codec->check(three));
    const Bytes stored = encoded(*codec, four, elements);
    EXPECT_EQ(encoded(*codec, three, elements), stored);
    EXPECT_EQ(decoded(*codec, three, stored).value(), elements);
  }
}

}  // namespace
}  // namespace test
}  // namespace sherd
