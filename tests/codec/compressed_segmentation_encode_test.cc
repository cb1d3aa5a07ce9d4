// Encoding labels as compressed_segmentation: every width, every clipping, and tables that are shared.
#include "tests/codec/compressed_segmentation_testing.hpp"

#include <gmock/gmock.h>

namespace sherd {
namespace test::compressed_segmentation_testing {
namespace compressed_segmentation_encode_test {

using testing::HasSubstr;

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

}  // namespace compressed_segmentation_encode_test
}  // namespace test::compressed_segmentation_testing
}  // namespace sherd
