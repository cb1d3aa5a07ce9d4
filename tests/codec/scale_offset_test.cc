// scale_offset: the rules of zarr-extensions that zarr-python does not show.
#include "tests/codec/value_codecs_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::value_codecs_testing {
namespace scale_offset_test {

using ::testing::HasSubstr;

/// The bytes to which one-byte numbers are encoded and decoded; nullopt if they are rejected.
std::optional<Bytes> scaled(const DType& dtype, std::string_view configuration, std::string_view hex) {
  const Bytes elements = from_hex(hex);
  const auto chain = chain_of(R"({"name": "scale_offset", "configuration": )" + std::string(configuration) + "}", dtype,
                              {elements.size()})
                         .value();
  const auto stored = encoded_by(chain, {elements.size()}, elements);
  if (stored) {
    EXPECT_EQ(decoded_by(chain, {elements.size()}, *stored, elements.size()), elements);
  }
  return stored;
}

TEST(ScaleOffset, AConfigurationSaysWhatIsWrongWithIt) {
  const auto member = [](std::string_view configuration, const DType& dtype) {
    return wrong_member("scale_offset", configuration, dtype);
  };
  const std::string at = "[0].configuration.";
  EXPECT_TRUE(chain_of(R"("scale_offset")", DType::int8).has_value());
  EXPECT_EQ(member(R"({"scale": 0})", DType::float32), at + "scale");
  EXPECT_EQ(member(R"({"scale": 0.5})", DType::int32), at + "scale");
  EXPECT_EQ(member(R"({"offset": 300})", DType::uint8), at + "offset");
  EXPECT_EQ(member(R"({"offset": "NaN"})", DType::float32), at + "offset");
  EXPECT_EQ(member(R"({"offset": "0x3f800000"})", DType::float32), "");
  EXPECT_EQ(member(R"({"astype": "uint8"})", DType::float32), at + "astype");
  EXPECT_FALSE(chain_of(R"("scale_offset")", DType::bool_).has_value());
}

TEST(ScaleOffset, FloatsThatOverflowAreRefusedInBothDirections) {
  const auto chain =
      chain_of(R"({"name": "scale_offset", "configuration": {"scale": 1e30}})", DType::float32, {1}).value();
  const float large = 1e30F;
  EXPECT_EQ(encoded_by(chain, {1}, std::as_bytes(std::span(&large, 1))), std::nullopt);
  const auto small =
      chain_of(R"({"name": "scale_offset", "configuration": {"scale": 1e-30}})", DType::float32, {1}).value();
  EXPECT_EQ(decoded_by(small, {1}, std::as_bytes(std::span(&large, 1)), 4), std::nullopt);
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_NE(decoded_by(small, {1}, std::as_bytes(std::span(&infinite, 1)), 4), std::nullopt) << "it was not finite";
}

TEST(ScaleOffset, CalculatesWithNumbersOfFewBits) {
  EXPECT_EQ(scaled(DType::int4, R"({"offset": 5, "scale": 2})", "020305"), from_hex("fafc00"));
  EXPECT_EQ(scaled(DType::int4, R"({"offset": 5, "scale": 2})", "00"), std::nullopt) << "-10";
  EXPECT_EQ(scaled(DType::int2, R"({"scale": -1})", "ff0001"), from_hex("0100ff"));
  EXPECT_EQ(scaled(DType::int2, R"({"scale": -1})", "fe"), std::nullopt);
  EXPECT_EQ(scaled(DType::uint2, R"({"offset": 1})", "010203"), from_hex("000102"));
  EXPECT_EQ(scaled(DType::uint4, R"({"offset": 1})", "00"), std::nullopt);
  EXPECT_EQ(scaled(DType::float4_e2m1fn, R"({"scale": 2.0})", "01020a"), from_hex("02040c")) << "0.5, 1, -1";
  EXPECT_EQ(scaled(DType::float4_e2m1fn, R"({"scale": 2.0})", "06"), std::nullopt) << "8";
  EXPECT_EQ(scaled(DType::float8_e5m2, R"({"scale": 4.0})", "3c7cfc7e"), from_hex("447cfc7e")) << "1, infinities, NaN";
  EXPECT_EQ(scaled(DType::float8_e4m3fnuz, R"({"offset": 1.0})", "40"), from_hex("00")) << "no negative zero";
}

TEST(ScaleOffset, OfATypeWithoutZeroNothingIsSubtractedByDefault) {
  EXPECT_EQ(scaled(DType::float8_e8m0fnu, R"({"scale": 4.0})", "7f00ff"), from_hex("8102ff")) << "1, 2^-127, NaN";
  EXPECT_EQ(scaled(DType::float8_e8m0fnu, R"({"offset": 1.0})", "80"), from_hex("7f")) << "2 - 1";
  EXPECT_EQ(scaled(DType::float8_e8m0fnu, R"({"offset": 1.0})", "7f"), std::nullopt) << "0";
  EXPECT_EQ(scaled(DType::float8_e8m0fnu, R"({"offset": 2.0})", "7f"), std::nullopt) << "-1";
}

TEST(ScaleOffset, DividesIntegersOfFewBitsOnlyEvenly) {
  const auto chain = chain_of(R"({"name": "scale_offset", "configuration": {"scale": 3}})", DType::uint4, {1}).value();
  EXPECT_EQ(decoded_by(chain, {1}, from_hex("06"), 1), from_hex("02"));
  EXPECT_EQ(decoded_by(chain, {1}, from_hex("07"), 1), std::nullopt);
}

TEST(ScaleOffset, SmallFloatsAreRoundedAfterEachStep) {
  // (x - 1) * 3 in bfloat16, x = 1.0078125 (0x3f81): 0.0078125, 0.0234375 (0x3cc0).
  const auto chain =
      chain_of(R"({"name": "scale_offset", "configuration": {"offset": 1, "scale": 3}})", DType::bfloat16, {1}).value();
  const std::uint16_t x = 0x3f81;
  const auto stored = encoded_by(chain, {1}, std::as_bytes(std::span(&x, 1))).value();
  EXPECT_EQ(stored, from_hex("c03c"));
  EXPECT_EQ(decoded_by(chain, {1}, stored, 2), from_hex("813f"));
}

}  // namespace scale_offset_test
}  // namespace sherd::test::value_codecs_testing
