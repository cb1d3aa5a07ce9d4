// numcodecs' byte shuffle.
#include <gmock/gmock.h>

#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry shuffle_codec, blosc_codec;

namespace test {
namespace shuffle_test {

std::string size_of(std::size_t size) { return R"({"elementsize": )" + std::to_string(size) + "}"; }

TEST(Shuffle, IsATranspositionOfElementsAndBytes) {
  for (const std::size_t size : {1, 2, 3, 4, 5, 7, 8, 12, 16, 32}) {
    for (const std::size_t count : {0, 1, 2, 15, 16, 17, 31, 33, 1000}) {
      SCOPED_TRACE(std::to_string(count) + " elements of " + std::to_string(size));
      const auto codec = bytes_codec(shuffle_codec, size_of(size));
      const Bytes bytes = noise(size * count);
      Bytes planes(bytes.size());
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < size; ++k) planes[k * count + i] = bytes[i * size + k];
      }
      EXPECT_EQ(encoded(*codec, bytes), planes);
      expect_round_trip(*codec, bytes);
      EXPECT_EQ(codec->encoded_size(bytes.size()), bytes.size());
    }
  }
}

TEST(Shuffle, PartialElementsAreRefused) {
  const auto codec = bytes_codec(shuffle_codec, size_of(4));
  Bytes to(7);
  EXPECT_EQ(codec->encode(noise(7), to).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(decoded(*codec, noise(7), 7).error().code(), ErrorCode::corrupt);
}

TEST(Shuffle, TheElementSizeIsThatOfTheTypeUnlessStated) {
  const Bytes bytes = noise(64);
  EXPECT_EQ(encoded(*bytes_codec(shuffle_codec, "", DType::float64), bytes),
            encoded(*bytes_codec(shuffle_codec, size_of(8)), bytes));
  EXPECT_EQ(shuffle_codec.short_form("", DType::int16).value(), Json::parse(size_of(2)).value());
  EXPECT_EQ(try_bytes_codec(shuffle_codec, R"({"elementsize": -1})").error().member(), "configuration.elementsize");
}

// netcdf-c 4.9 writes "0" (later releases 0) to mean the size of an element.
TEST(Shuffle, AnElementSizeOfZeroIsThatOfTheTypeAsInNetcdfC) {
  const Bytes bytes = noise(64);
  const Bytes of_eight = encoded(*bytes_codec(shuffle_codec, size_of(8)), bytes);
  for (const std::string_view size : {"0", "\"0\"", "\"8\"", "null"}) {
    const std::string configuration = R"({"elementsize": )" + std::string(size) + "}";
    EXPECT_EQ(encoded(*bytes_codec(shuffle_codec, configuration, DType::float64), bytes), of_eight) << size;
  }
  EXPECT_EQ(try_bytes_codec(shuffle_codec, R"({"elementsize": "eight"})").error().member(),
            "configuration.elementsize");
}

TEST(Shuffle, OfVariableLengthElementsUsesSizeOne) {
  EXPECT_EQ(shuffle_codec.short_form("", DType::string).value().dump(), R"({"elementsize":1})");
  EXPECT_EQ(shuffle_codec.short_form("", DType::uint32).value().dump(), R"({"elementsize":4})");
  EXPECT_THAT(blosc_codec.short_form("", DType::bytes).value().dump(), testing::HasSubstr(R"("typesize":1)"));
}

}  // namespace shuffle_test
}  // namespace test
}  // namespace sherd
