// cast_value: the rules of zarr-extensions that zarr-python does not show.
#include "tests/codec/value_codecs_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::value_codecs_testing {
namespace cast_value_test {

using ::testing::HasSubstr;

/// float32 values cast to a one-byte type; nullopt if they are rejected.
std::optional<std::vector<int>> cast_to(std::string_view type, std::string_view more,
                                        const std::vector<float>& values) {
  const auto chain = chain_of(R"({"name": "cast_value", "configuration": {"data_type": ")" + std::string(type) + '"' +
                                  std::string(more) + "}}",
                              DType::float32, {values.size()})
                         .value();
  const auto stored = encoded_by(chain, {values.size()}, std::as_bytes(std::span(values)));
  if (!stored) return std::nullopt;
  std::vector<int> words;
  for (const std::byte word : *stored) words.push_back(std::to_integer<int>(word));
  return words;
}

TEST(CastValue, KnowsNumbersOfFewBits) {
  using Words = std::vector<int>;
  EXPECT_EQ(cast_to("int4", "", {-8, 7, 2.5F}), (Words{0xf8, 7, 2}));
  EXPECT_EQ(cast_to("int4", "", {8}), std::nullopt);
  EXPECT_EQ(cast_to("int4", R"(, "out_of_range": "clamp")", {8, -100}), (Words{7, 0xf8}));
  EXPECT_EQ(cast_to("int4", R"(, "out_of_range": "wrap")", {8, -9, 17}), (Words{0xf8, 7, 1}));
  EXPECT_EQ(cast_to("uint2", R"(, "out_of_range": "wrap")", {-1, 5}), (Words{3, 1}));
  EXPECT_EQ(cast_to("float8_e5m2", "", {1, -0.0F, INFINITY, 57344, 1.125F}), (Words{0x3c, 0x80, 0x7c, 0x7b, 0x3c}));
  EXPECT_EQ(cast_to("float8_e5m2", R"(, "rounding": "towards-positive")", {1.125F, -1.125F}), (Words{0x3d, 0xbc}));
  EXPECT_EQ(cast_to("float8_e5m2", "", {1e6F}), std::nullopt);
  EXPECT_EQ(cast_to("float8_e5m2", R"(, "out_of_range": "clamp")", {1e6F, -1e6F}), (Words{0x7c, 0xfc}));
  EXPECT_EQ(cast_to("float8_e4m3fn", R"(, "out_of_range": "clamp")", {1e6F, -1e6F, NAN}), (Words{0x7e, 0xfe, 0x7f}));
  EXPECT_EQ(cast_to("float8_e4m3fnuz", "", {-0.0F, -1e-9F, NAN}), (Words{0, 0, 0x80}));
  EXPECT_EQ(cast_to("float8_e4m3fnuz", R"(, "out_of_range": "clamp")", {INFINITY}), std::nullopt);
  EXPECT_EQ(cast_to("float4_e2m1fn", "", {6, -0.5F, 5}), (Words{7, 9, 6}));
  EXPECT_EQ(cast_to("float4_e2m1fn", "", {NAN}), std::nullopt);
  EXPECT_EQ(cast_to("float4_e2m1fn", R"(, "scalar_map": {"encode": [["NaN", 0]]})", {NAN}), (Words{0}));
  EXPECT_EQ(cast_to("float8_e8m0fnu", "", {1, 3, 0.75F}), (Words{127, 129, 127}));
  EXPECT_EQ(cast_to("float8_e8m0fnu", "", {0}), std::nullopt);
  EXPECT_EQ(cast_to("float8_e8m0fnu", R"(, "out_of_range": "clamp")", {0, -5, 1e38F}), (Words{0, 0, 253}));
}

TEST(CastValue, RoundsBfloat16OnceInEveryMode) {
  const auto bits = [](std::string_view rounding, float value) {
    const std::string codec = R"({"name": "cast_value", "configuration": {"data_type": "bfloat16", "rounding": ")" +
                              std::string(rounding) + "\"}}";
    return stored_as<float, std::uint16_t>(codec, {value}).value()[0];
  };
  const float tie = 1.00390625F;  // halfway between 0x3f80 and 0x3f81
  EXPECT_EQ(bits("nearest-even", tie), 0x3f80);
  EXPECT_EQ(bits("nearest-away", tie), 0x3f81);
  EXPECT_EQ(bits("towards-zero", -tie), 0xbf80);
  EXPECT_EQ(bits("towards-positive", tie), 0x3f81);
  EXPECT_EQ(bits("towards-positive", -tie), 0xbf80);
  EXPECT_EQ(bits("towards-negative", -tie), 0xbf81);
  EXPECT_EQ(bits("nearest-even", 1e-40F), 0x0001) << "below the smallest normal number";
}

TEST(CastValue, UsesTheFirstOfEqualKeysOfAScalarMapWhereZerosAreEqual) {
  const auto stored = stored_as<float, std::int8_t>(
      R"({"name": "cast_value", "configuration": {"data_type": "int8", "scalar_map": {
            "encode": [["NaN", 1], ["NaN", 2], ["+Infinity", 3], [0, 4], ["0x80000000", 5]]}}})",
      {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::signaling_NaN(),
       std::numeric_limits<float>::infinity(), 0.0F, -0.0F, 6.0F});
  EXPECT_EQ(stored, (std::vector<std::int8_t>{1, 1, 3, 4, 4, 6}));
}

TEST(CastValue, NamesTheElementThatCannotBeConverted) {
  const auto chain =
      chain_of(R"({"name": "cast_value", "configuration": {"data_type": "uint8"}})", DType::float32).value();
  const std::vector<float> values = {1, 2, 300, 4};
  Buffer to;
  const auto refused = chain.encode({4}, std::as_bytes(std::span(values)), to);
  EXPECT_EQ(code_of(refused), ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message(), HasSubstr("element 2, 300.0, has no value in uint8; its range is exceeded"));
  const auto narrow =
      chain_of(R"({"name": "cast_value", "configuration": {"data_type": "float32"}})", DType::uint8).value();
  Bytes read(4);
  EXPECT_EQ(code_of(narrow.decode({4}, std::as_bytes(std::span(values)), read, nullptr)), ErrorCode::corrupt);
}

TEST(CastValue, AConfigurationSaysWhatIsWrongWithIt) {
  const auto member = [](std::string_view configuration, const DType& dtype) {
    return wrong_member("cast_value", configuration, dtype);
  };
  const std::string at = "[0].configuration.";
  EXPECT_EQ(member("{}", DType::int8), at + "data_type");
  EXPECT_EQ(member(R"({"data_type": "bool"})", DType::int8), at + "data_type");
  EXPECT_EQ(member(R"({"data_type": "int8"})", DType::complex64), at + "data_type");
  EXPECT_EQ(member(R"({"data_type": "int8", "rounding": "up"})", DType::float32), at + "rounding");
  EXPECT_EQ(member(R"({"data_type": "int8", "out_of_range": "saturate"})", DType::float32), at + "out_of_range");
  EXPECT_EQ(member(R"({"data_type": "float32", "out_of_range": "wrap"})", DType::int32), at + "out_of_range");
  EXPECT_EQ(member(R"({"data_type": "int8", "colour": 1})", DType::float32), at + "colour");
  EXPECT_EQ(member(R"({"data_type": "int8", "scalar_map": {"both": []}})", DType::float32), at + "scalar_map.both");
  EXPECT_EQ(member(R"({"data_type": "int8", "scalar_map": {"encode": [[1, 2, 3]]}})", DType::float32),
            at + "scalar_map.encode[0]");
  EXPECT_EQ(member(R"({"data_type": "int8", "scalar_map": {"encode": [[1, 300]]}})", DType::float32),
            at + "scalar_map.encode[0][1]");
}

}  // namespace cast_value_test
}  // namespace sherd::test::value_codecs_testing
