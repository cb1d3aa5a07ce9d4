// What jpeg and png have in common as encodings of chunks.
#include "tests/codec/image_codecs_testing.hpp"

#include <gmock/gmock.h>

namespace sherd {
namespace test::image_codecs_testing {
namespace image_codecs_test {

using testing::HasSubstr;

TEST(ImageCodecs, AcceptThreeDimensionsForOneChannel) {
  for (const CodecEntry* entry : {&png_codec, &jpeg_codec}) {
    const auto codec = codec_of(*entry);
    const ChunkType three{DType::uint8, {3, 4, 5}}, four{DType::uint8, {3, 4, 5, 1}};
    const Bytes elements = slopes(four.shape);
    ASSERT_TRUE(codec->check(three));
    const Bytes stored = encoded(*codec, four, elements);
    EXPECT_EQ(encoded(*codec, three, elements), stored) << entry->name;
    EXPECT_EQ(decoded(*codec, three, stored).value(), decoded(*codec, four, stored).value()) << entry->name;
  }
}

}  // namespace image_codecs_test
}  // namespace test::image_codecs_testing
}  // namespace sherd
