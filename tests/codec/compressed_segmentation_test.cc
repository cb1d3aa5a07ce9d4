// Configurations of compressed_segmentation, and the chunks that it accepts.
#include "tests/codec/compressed_segmentation_testing.hpp"

#include <gmock/gmock.h>

namespace sherd {
namespace test::compressed_segmentation_testing {
namespace compressed_segmentation_test {

using testing::HasSubstr;

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

}  // namespace compressed_segmentation_test
}  // namespace test::compressed_segmentation_testing
}  // namespace sherd
