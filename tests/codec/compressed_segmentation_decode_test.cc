// Decoding compressed_segmentation beyond what other writers produce, and false bytes.
#include "tests/codec/compressed_segmentation_testing.hpp"

#include <gmock/gmock.h>

namespace sherd {
namespace test::compressed_segmentation_testing {
namespace compressed_segmentation_decode_test {

using testing::HasSubstr;

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

}  // namespace compressed_segmentation_decode_test
}  // namespace test::compressed_segmentation_testing
}  // namespace sherd
