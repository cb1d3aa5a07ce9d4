// jpeg and png as encodings of chunks: any image with the right number of pixels is read, everything else is rejected.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry jpeg_codec, png_codec;

namespace test {
namespace {

using testing::HasSubstr;

std::unique_ptr<ArrayBytesCodec> codec_of(const CodecEntry& entry, std::string_view configuration = "{}") {
  static const Limits limits;
  return entry.array_bytes_codec(spec_of(entry, configuration), {{DType::uint8, {1, 1, 1, 1}}, &limits}).value();
}

Bytes encoded(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& elements) {
  Buffer to;
  codec.encode(type, elements, to).value();
  return {to.span().begin(), to.span().end()};
}
Result<Bytes> decoded(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& from) {
  Bytes elements(*element_count(type.shape) * type.dtype.size(), std::byte{0xaa});
  auto result = codec.decode(type, from, elements, nullptr);
  if (!result) return std::move(result).error();
  return elements;
}

/// Gentle gradients, a different one for each channel.
Bytes slopes(const Shape& shape) {
  Bytes elements;
  for (std::uint64_t i = 0; i < *element_count(shape); ++i) {
    const std::uint64_t channel = i % shape[3], x = i / shape[3] % shape[2], row = i / shape[3] / shape[2];
    elements.push_back(static_cast<std::byte>(40 * (channel + 1) + 2 * x + row));
  }
  return elements;
}

int largest_difference(const Bytes& a, const Bytes& b) {
  EXPECT_EQ(a.size(), b.size());
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(std::to_integer<int>(a[i]) - std::to_integer<int>(b[i])));
  return most;
}

/// Every truncation, extra bytes after the end, and chunks of another shape.
void expect_only_this(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& stored) {
  for (std::size_t size = 0; size < stored.size(); ++size) {
    const Bytes part(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_EQ(code_of(decoded(codec, type, part)), ErrorCode::corrupt) << size;
  }
  Bytes longer = stored;
  longer.push_back(std::byte{0});
  const auto result = decoded(codec, type, longer);
  EXPECT_EQ(code_of(result), ErrorCode::corrupt);
  EXPECT_THAT(result.error().message(), HasSubstr("1 bytes follow the image"));
  ChunkType other = type;
  ++other.shape[1];
  EXPECT_EQ(code_of(decoded(codec, other, stored)), ErrorCode::corrupt);
  other = type;
  other.shape[3] = type.shape[3] == 1 ? 3 : 1;
  EXPECT_THAT(decoded(codec, other, stored).error().message(), HasSubstr("channels; the chunk has"));
}

void expect_damage_is_survived(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& stored) {
  std::mt19937 random(9);
  for (int round = 0; round < 1000; ++round) {
    Bytes damaged = stored;
    for (int flips = 0; flips < 2; ++flips) damaged[random() % damaged.size()] = std::byte(random());
    (void)decoded(codec, type, damaged);
  }
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

TEST(Jpeg, ImagesWithTooManyScansAreRefused) {
  const auto result = decoded(*codec_of(jpeg_codec), {DType::uint8, {1, 8, 8, 1}}, many_scans());
  EXPECT_EQ(code_of(result), ErrorCode::corrupt);
  EXPECT_THAT(result.error().message(), HasSubstr("too many scans"));
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

Bytes image_file(const std::string& name) {
  std::ifstream file(test_data("files/" + name), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
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

}  // namespace
}  // namespace test
}  // namespace sherd
