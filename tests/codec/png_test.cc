// png as an encoding of chunks: any image with the right number of pixels is read, everything else is rejected.
#include "tests/codec/image_codecs_testing.hpp"

#include <gmock/gmock.h>

namespace sherd {
namespace test::image_codecs_testing {
namespace png_test {

using testing::HasSubstr;

Bytes image_file(const std::string& name) {
  std::ifstream file(test_data("files/" + name), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Png, KeepsEveryTypeAndChannelCount) {
  for (const DType& dtype : {DType::uint8, DType::uint16}) {
    for (const std::uint64_t channels : {1, 2, 3, 4}) {
      SCOPED_TRACE(dtype.name() + " " + std::to_string(channels));
      const ChunkType type{dtype, {3, 5, 7, channels}};
      const Bytes elements = noise(*element_count(type.shape) * dtype.size());
      for (const char* configuration : {"{}", R"({"level": 0})", R"({"level": 9})"}) {
        const auto codec = codec_of(png_codec, configuration);
        const Bytes stored = encoded(*codec, type, elements);
        EXPECT_LE(stored.size(), codec->max_encoded_size(type).value());
        EXPECT_EQ(decoded(*codec, type, stored).value(), elements);
      }
    }
  }
  const ChunkType type{DType::uint8, {3, 4, 5, 3}};
  const auto codec = codec_of(png_codec);
  const Bytes stored = encoded(*codec, type, slopes(type.shape));
  expect_only_this(*codec, type, stored);
  expect_damage_is_survived(*codec, type, stored);
}

TEST(Png, AcceptsAnyShapeWithTheRightNumberOfPixels) {
  const ChunkType wide{DType::uint8, {1, 2, 32, 2}};
  const ChunkType deep{DType::uint8, {8, 2, 4, 2}};
  const auto codec = codec_of(png_codec);
  EXPECT_EQ(decoded(*codec, deep, encoded(*codec, wide, slopes(wide.shape))).value(), slopes(wide.shape));
}

TEST(Png, ImagesOfAnotherBitDepthAreRefused) {
  const auto codec = codec_of(png_codec);
  const Bytes stored = encoded(*codec, {DType::uint16, {1, 2, 3, 1}}, noise(12));
  const auto result = decoded(*codec, {DType::uint8, {1, 2, 3, 1}}, stored);
  EXPECT_EQ(code_of(result), ErrorCode::corrupt);
  EXPECT_THAT(result.error().message(), HasSubstr("16 bits; the chunk has uint8"));
}

TEST(Png, InterlacedImagesAreRead) {
  const auto codec = codec_of(png_codec);
  const ChunkType type{DType::uint8, {1, 9, 13, 1}};
  EXPECT_EQ(decoded(*codec, type, image_file("interlaced.png")).value(),
            decoded(*codec, type, image_file("gray8.png")).value());
}

TEST(Png, ImagesWithTooManyPixelsAreRefusedByTheirHeader) {
  const auto codec = codec_of(png_codec);
  const ChunkType large{DType::uint8, {64, 64, 64, 1}};
  Bytes stored = encoded(*codec, large, slopes(large.shape));
  stored.resize(60);  // the header, and the beginning of the pixels
  const auto result = decoded(*codec, {DType::uint8, {1, 2, 3, 1}}, stored);
  EXPECT_EQ(code_of(result), ErrorCode::corrupt);
  EXPECT_THAT(result.error().message(), HasSubstr("64 x 4096 pixels, more than the 6 expected"));
}

TEST(Png, RefusesTypesItCannotStore) {
  const auto codec = codec_of(png_codec);
  EXPECT_EQ(code_of(codec->check({DType::uint32, {1, 1, 1, 1}})), ErrorCode::unsupported);
  EXPECT_EQ(code_of(codec->check({DType::uint8, {1, 1, 1, 5}})), ErrorCode::unsupported);
  EXPECT_EQ(code_of(codec->check({DType::uint8, {1, 1}})), ErrorCode::invalid_argument);
  const Limits limits;
  for (const char* level : {"-1", "10", "\"best\""}) {
    const auto spec = spec_of(png_codec, R"({"level": )" + std::string(level) + "}");
    EXPECT_EQ(png_codec.array_bytes_codec(spec, {{DType::uint8, {1, 1, 1, 1}}, &limits}).error().member(),
              "configuration.level");
  }
}

}  // namespace png_test
}  // namespace test::image_codecs_testing
}  // namespace sherd
