// jpeg as an encoding of chunks: any image with the right number of pixels is read, everything else is rejected.
#include "tests/codec/image_codecs_testing.hpp"

#include <gmock/gmock.h>

namespace sherd {
namespace test::image_codecs_testing {
namespace jpeg_test {

using testing::HasSubstr;

/// A gray progressive image of 8 x 8 pixels with 2 scans per coefficient.
Bytes many_scans() {
  jpeg_compress_struct image;
  jpeg_error_mgr errors;
  image.err = jpeg_std_error(&errors);
  jpeg_create_compress(&image);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&image, &memory, &size);
  image.image_width = image.image_height = 8;
  image.input_components = 1;
  image.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&image);
  std::vector<jpeg_scan_info> scans;
  for (int refined = 0; refined < 2; ++refined)
    for (int k = 0; k < 64; ++k) scans.push_back({1, {0}, k, k, refined, 1 - refined});
  image.scan_info = scans.data();
  image.num_scans = static_cast<int>(scans.size());
  jpeg_start_compress(&image, TRUE);
  const Bytes pixels = noise(64);
  for (std::size_t y = 0; y < 8; ++y) {
    auto* row = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(pixels.data() + 8 * y));
    jpeg_write_scanlines(&image, &row, 1);
  }
  jpeg_finish_compress(&image);
  const auto bytes = std::as_bytes(std::span(memory, size));
  Bytes stored(bytes.begin(), bytes.end());
  jpeg_destroy_compress(&image);
  std::free(memory);
  return stored;
}

TEST(Jpeg, RoundTripsGradientsOfOneAndThreeChannels) {
  for (const std::uint64_t channels : {1, 3}) {
    const ChunkType type{DType::uint8, {5, 9, 11, channels}};
    const Bytes elements = slopes(type.shape);
    const auto fine = codec_of(jpeg_codec, R"({"quality": 95})");
    const auto coarse = codec_of(jpeg_codec, R"({"quality": 0})");
    const Bytes stored = encoded(*fine, type, elements);
    EXPECT_LE(largest_difference(decoded(*fine, type, stored).value(), elements), 4);
    EXPECT_LT(encoded(*coarse, type, elements).size(), stored.size());
    expect_only_this(*fine, type, stored);
    expect_damage_is_survived(*fine, type, stored);
  }
}

TEST(Jpeg, GrowsTheBufferForNoise) {
  const ChunkType type{DType::uint8, {64, 32, 32, 3}};
  const Bytes elements = noise(*element_count(type.shape));
  const auto codec = codec_of(jpeg_codec, R"({"quality": 100})");
  const Bytes stored = encoded(*codec, type, elements);
  EXPECT_GT(stored.size(), 100'000u);
  EXPECT_TRUE(decoded(*codec, type, stored));
}

TEST(Jpeg, AcceptsAnyShapeWithTheRightNumberOfPixels) {
  const ChunkType wide{DType::uint8, {1, 2, 32, 1}};
  const ChunkType deep{DType::uint8, {8, 2, 4, 1}};
  const auto codec = codec_of(jpeg_codec);
  const Bytes stored = encoded(*codec, wide, slopes(wide.shape));
  EXPECT_EQ(decoded(*codec, deep, stored).value(), decoded(*codec, wide, stored).value());
}

TEST(Jpeg, RefusesTypesItCannotStore) {
  const auto codec = codec_of(jpeg_codec);
  EXPECT_EQ(code_of(codec->check({DType::uint16, {1, 1, 1, 1}})), ErrorCode::unsupported);
  EXPECT_EQ(code_of(codec->check({DType::uint8, {1, 1, 1, 2}})), ErrorCode::unsupported);
  EXPECT_EQ(code_of(codec->check({DType::uint8, {1, 1}})), ErrorCode::invalid_argument);
  const ChunkType tall{DType::uint8, {1024, 64, 1, 1}};
  Buffer to;
  const auto result = codec->encode(tall, Bytes(65536), to);
  EXPECT_EQ(code_of(result), ErrorCode::unsupported);
  EXPECT_THAT(result.error().message(), HasSubstr("1 x 65536"));
  const Limits limits;
  for (const char* quality : {"-1", "101", "\"high\""}) {
    const auto spec = spec_of(jpeg_codec, R"({"quality": )" + std::string(quality) + "}");
    EXPECT_EQ(jpeg_codec.array_bytes_codec(spec, {{DType::uint8, {1, 1, 1, 1}}, &limits}).error().member(),
              "configuration.quality");
  }
}

TEST(Jpeg, ImagesWithTooManyScansAreRefused) {
  const auto result = decoded(*codec_of(jpeg_codec), {DType::uint8, {1, 8, 8, 1}}, many_scans());
  EXPECT_EQ(code_of(result), ErrorCode::corrupt);
  EXPECT_THAT(result.error().message(), HasSubstr("too many scans"));
}

}  // namespace jpeg_test
}  // namespace test::image_codecs_testing
}  // namespace sherd
