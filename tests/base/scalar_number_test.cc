// Fill values of types of few bits and of complex and optional types: every encoding of zarr-extensions.
#include "base/scalar_number.hpp"

#include <gmock/gmock.h>

#include "base/float_format.hpp"
#include "base/scalar.hpp"
#include "base/scalar_dtype.hpp"

namespace sherd {
namespace scalar_number_test {

using ::testing::HasSubstr;

Json json_of(std::string_view text) { return Json::parse(text).value(); }

int byte_of(const Scalar& scalar) { return std::to_integer<int>(scalar.bytes().front()); }

struct Row {
  const char* text;
  DType dtype;
  int bits;
  const char* canonical;
};

TEST(FewBits, AreReadAndWrittenBitForBit) {
  const Row rows[] = {
      {"-2", DType::int2, 0xfe, "-2"},
      {"1", DType::int2, 1, "1"},
      {"-8", DType::int4, 0xf8, "-8"},
      {"7", DType::int4, 7, "7"},
      {"3", DType::uint2, 3, "3"},
      {"15", DType::uint4, 15, "15"},
      {"6", DType::float4_e2m1fn, 0x7, "6.0"},
      {"-0.0", DType::float4_e2m1fn, 0x8, "-0.0"},
      {"5", DType::float4_e2m1fn, 0x6, "4.0"},
      {"0.25", DType::float4_e2m1fn, 0x0, "0.0"},
      {"\"0x0f\"", DType::float4_e2m1fn, 0xf, "-6.0"},
      {"7.5", DType::float6_e2m3fn, 0x1f, "7.5"},
      {"-28", DType::float6_e3m2fn, 0x3f, "-28.0"},
      {"0.0625", DType::float6_e3m2fn, 0x1, "0.0625"},
      {"15.5", DType::float8_e3m4, 0x6f, "15.5"},
      {"16", DType::float8_e3m4, 0x70, "\"Infinity\""},
      {"240", DType::float8_e4m3, 0x77, "240.0"},
      {"-1e9", DType::float8_e4m3, 0xf8, "\"-Infinity\""},
      {"30", DType::float8_e4m3b11fnuz, 0x7f, "30.0"},
      {"448", DType::float8_e4m3fn, 0x7e, "448.0"},
      {"464", DType::float8_e4m3fn, 0x7e, "448.0"},
      {"240", DType::float8_e4m3fnuz, 0x7f, "240.0"},
      {"-0.0", DType::float8_e4m3fnuz, 0x00, "0.0"},
      {"-1e-30", DType::float8_e5m2fnuz, 0x00, "0.0"},
      {"57344", DType::float8_e5m2, 0x7b, "57344.0"},
      {"61440", DType::float8_e5m2, 0x7c, "\"Infinity\""},
      {"61439.999999999999999999", DType::float8_e5m2, 0x7b, "57344.0"},
      {"1", DType::float8_e8m0fnu, 127, "1.0"},
      {"3", DType::float8_e8m0fnu, 129, "4.0"},
      {"5.877471754111438e-39", DType::float8_e8m0fnu, 0, "5.877471754111438e-39"},
      {"1e-300", DType::float8_e8m0fnu, 0, "5.877471754111438e-39"},
      {"0.0", DType::float8_e8m0fnu, 0, "5.877471754111438e-39"},  // as tensorstore writes it
      // "NaN" is one pattern, named by each type's page of zarr-extensions; others have digits.
      {"\"NaN\"", DType::float8_e3m4, 0x78, "\"NaN\""},
      {"\"NaN\"", DType::float8_e4m3, 0x7c, "\"NaN\""},
      {"\"NaN\"", DType::float8_e4m3b11fnuz, 0x80, "\"NaN\""},
      {"\"NaN\"", DType::float8_e4m3fn, 0x7f, "\"NaN\""},
      {"\"NaN\"", DType::float8_e4m3fnuz, 0x80, "\"NaN\""},
      {"\"NaN\"", DType::float8_e5m2, 0x7e, "\"NaN\""},
      {"\"NaN\"", DType::float8_e5m2fnuz, 0x80, "\"NaN\""},
      {"\"NaN\"", DType::float8_e8m0fnu, 0xff, "\"NaN\""},
      {"\"0xff\"", DType::float8_e4m3fn, 0xff, "\"0xff\""},
      {"\"0x7F\"", DType::float8_e5m2, 0x7f, "\"0x7f\""},
      {"\"0x3c\"", DType::float8_e5m2, 0x3c, "1.0"},
      {"\"-Infinity\"", DType::float8_e5m2, 0xfc, "\"-Infinity\""},
      {"\"Infinity\"", DType::float8_e3m4, 0x70, "\"Infinity\""},
  };
  for (const Row& row : rows) {
    const auto scalar = parse_scalar(json_of(row.text), row.dtype);
    ASSERT_TRUE(scalar) << row.text << " " << row.dtype.name() << ": " << scalar.error().text();
    EXPECT_EQ(byte_of(*scalar), row.bits) << row.text << " " << row.dtype.name();
    EXPECT_EQ(print_scalar(scalar->bytes(), row.dtype).dump(), row.canonical) << row.dtype.name();
  }
}

TEST(FewBits, EveryPatternIsWrittenSoThatItReadsBack) {
  for (const FloatRow& row : kFloats) {
    if (row.format.bits > 8) continue;
    const DType dtype = DType::parse(kind_name(row.kind)).value();
    for (int pattern = 0; pattern < 1 << row.format.bits; ++pattern) {
      const auto element = static_cast<std::byte>(pattern);
      const Json json = print_scalar(std::span(&element, 1), dtype);
      const auto back = parse_scalar(json, dtype);
      ASSERT_TRUE(back) << dtype.name() << " " << json.dump();
      ASSERT_EQ(byte_of(*back), pattern) << dtype.name() << " " << json.dump();
    }
  }
}

TEST(FewBits, ThatATypeDoesNotHaveAreRefused) {
  const std::pair<const char*, DType> rows[] = {{"2", DType::int2},
                                                {"-3", DType::int2},
                                                {"8", DType::int4},
                                                {"-9", DType::int4},
                                                {"4", DType::uint2},
                                                {"-1", DType::uint4},
                                                {"16", DType::uint4},
                                                {"1.0", DType::int4},
                                                {"\"0x01\"", DType::uint4},
                                                {"7.1", DType::float4_e2m1fn},
                                                {"\"NaN\"", DType::float4_e2m1fn},
                                                {"\"Infinity\"", DType::float6_e2m3fn},
                                                {"\"0x10\"", DType::float4_e2m1fn},
                                                {"\"0x40\"", DType::float6_e3m2fn},
                                                {"\"0x7\"", DType::float4_e2m1fn},
                                                {"\"0x007f\"", DType::float8_e5m2},
                                                {"465", DType::float8_e4m3fn},
                                                {"-1e9", DType::float8_e4m3fnuz},
                                                {"\"Infinity\"", DType::float8_e4m3fn},
                                                {"\"-Infinity\"", DType::float8_e8m0fnu},
                                                {"-0.0", DType::float8_e8m0fnu},
                                                {"-1", DType::float8_e8m0fnu},
                                                {"1e300", DType::float8_e8m0fnu},
                                                {"null", DType::float8_e5m2},
                                                {"true", DType::int2}};
  for (const auto& [text, dtype] : rows) {
    const auto scalar = parse_scalar(json_of(text), dtype);
    ASSERT_FALSE(scalar) << text << " " << dtype.name();
    EXPECT_EQ(scalar.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(scalar.error().text(), HasSubstr(dtype.name()));
  }
  EXPECT_EQ(parse_scalar(json_of("8"), DType::int4).error().text(), "8 does not fit int4 (-8 to 7)");
  EXPECT_EQ(parse_scalar(json_of("7.1"), DType::float4_e2m1fn).error().text(),
            "7.1 does not fit float4_e2m1fn, whose largest number is 6.0");
}

TEST(ComplexNumbers, OfEveryFloatHaveTwoParts) {
  for (const FloatRow& row : kFloats) {
    const std::string name = "complex_" + kind_name(row.kind);
    const DType dtype = DType::parse(name).value();
    const DType part = DType::parse(kind_name(row.kind)).value();
    ASSERT_EQ(dtype.size(), 2 * part.size()) << name;
    const auto scalar = parse_scalar(json_of("[0.5, 2]"), dtype);
    ASSERT_TRUE(scalar) << name;
    EXPECT_EQ(print_scalar(scalar->bytes().first(part.size()), part).dump(), "0.5") << name;
    EXPECT_EQ(print_scalar(scalar->bytes(), dtype).dump(), "[0.5,2.0]") << name;
    EXPECT_EQ(parse_scalar(json_of("[0.5, true]"), dtype).error().member(), "[1]") << name;
  }
  const DType dtype = DType::complex_float8_e5m2;
  EXPECT_EQ(print_scalar(parse_scalar(json_of(R"(["NaN", "0xfd"])"), dtype)->bytes(), dtype).dump(),
            R"(["NaN","0xfd"])");
}

TEST(OptionalValues, AreNullOrAListOfOne) {
  const DType maybe = *DType::optional(DType::int16);
  const DType twice = *DType::optional(maybe);
  EXPECT_EQ(print_scalar(default_scalar(maybe).bytes(), maybe).dump(), "null");
  const std::tuple<const char*, DType, std::vector<int>> rows[] = {{"null", maybe, {0, 0, 0}},
                                                                   {"[-2]", maybe, {0xfe, 0xff, 1}},
                                                                   {"null", twice, {0, 0, 0, 0}},
                                                                   {"[null]", twice, {0, 0, 0, 1}},
                                                                   {"[[258]]", twice, {2, 1, 1, 1}}};
  for (const auto& [text, dtype, bytes] : rows) {
    const auto scalar = parse_scalar(json_of(text), dtype);
    ASSERT_TRUE(scalar) << text;
    ASSERT_EQ(scalar->bytes().size(), bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(scalar->bytes()[i], static_cast<std::byte>(bytes[i]));
    EXPECT_EQ(print_scalar(scalar->bytes(), dtype).dump(), text);
  }
  for (const char* text : {"5", "[]", "[1,2]", "{}", "[70000]", "[[1]]", "[null]"})
    EXPECT_FALSE(parse_scalar(json_of(text), maybe)) << text;
  EXPECT_EQ(parse_scalar(json_of("[[70000]]"), twice).error().member(), "[0][0]");
}

}  // namespace scalar_number_test
}  // namespace sherd
