// Fill values: every row of the table of encodings, read, written and refused, bit for bit.
#include "base/scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/base64.hpp"

namespace sherd {
namespace scalar_test {

Json json_of(std::string_view text) {
  auto json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  return json ? *json : Json();
}

// The element as one number, its first byte in memory the lowest (on little-endian machines).
template <class T>
T word_of(const Scalar& scalar) {
  T word{};
  EXPECT_EQ(scalar.bytes().size(), sizeof word);
  std::memcpy(&word, scalar.bytes().data(), sizeof word);
  return word;
}

std::uint64_t bits_of(const Scalar& scalar) {
  switch (scalar.bytes().size()) {
    case 1:
      return word_of<std::uint8_t>(scalar);
    case 2:
      return word_of<std::uint16_t>(scalar);
    case 4:
      return word_of<std::uint32_t>(scalar);
    default:
      return word_of<std::uint64_t>(scalar);
  }
}

template <class T>
std::span<const std::byte> bytes_of(const T& word) {
  return std::as_bytes(std::span(&word, 1));
}

std::string printed(const Scalar& scalar, const DType& dtype) { return print_scalar(scalar.bytes(), dtype).dump(); }

struct Row {
  const char* text;
  DType dtype;
  std::uint64_t bits;
  const char* canonical;
};

TEST(Scalar, ReadsAndWritesNumbersBitForBit) {
  const DType date = *DType::datetime64("s"), delta = *DType::timedelta64("ns", 10);
  const Row rows[] = {
      {"true", DType::bool_, 1, "true"},
      {"false", DType::bool_, 0, "false"},
      {"-128", DType::int8, 0x80, "-128"},
      {"127", DType::int8, 0x7f, "127"},
      {"255", DType::uint8, 0xff, "255"},
      {"-32768", DType::int16, 0x8000, "-32768"},
      {"65535", DType::uint16, 0xffff, "65535"},
      {"-2147483648", DType::int32, 0x80000000, "-2147483648"},
      {"4294967295", DType::uint32, 0xffffffff, "4294967295"},
      {"-9223372036854775808", DType::int64, 0x8000000000000000, "-9223372036854775808"},
      {"9007199254740993", DType::int64, 9007199254740993, "9007199254740993"},
      {"18446744073709551615", DType::uint64, ~std::uint64_t{0}, "18446744073709551615"},
      {"-0", DType::int32, 0, "0"},
      {"0", date, 0, "0"},
      {"\"NaT\"", date, 0x8000000000000000, "\"NaT\""},
      {"-9223372036854775808", delta, 0x8000000000000000, "\"NaT\""},
      {"-1", delta, ~std::uint64_t{0}, "-1"},
      {"0", DType::float64, 0, "0.0"},
      {"-0", DType::float64, 0x8000000000000000, "-0.0"},
      {"-0.0", DType::float32, 0x80000000, "-0.0"},
      {"-0.0", DType::float16, 0x8000, "-0.0"},
      {"-0.0", DType::bfloat16, 0x8000, "-0.0"},
      {"0.1", DType::float64, 0x3fb999999999999a, "0.1"},
      {"0.1", DType::float32, 0x3dcccccd, "0.1"},
      {"0.1", DType::float16, 0x2e66, "0.1"},
      {"0.1", DType::bfloat16, 0x3dcd, "0.1"},
      {"1e2", DType::float32, 0x42c80000, "100.0"},
      {"65504", DType::float16, 0x7bff, "65500.0"},
      {"5e-324", DType::float64, 1, "5e-324"},
      {"\"NaN\"", DType::float16, 0x7e00, "\"NaN\""},
      {"\"NaN\"", DType::bfloat16, 0x7fc0, "\"NaN\""},
      {"\"NaN\"", DType::float32, 0x7fc00000, "\"NaN\""},
      {"\"NaN\"", DType::float64, 0x7ff8000000000000, "\"NaN\""},
      {"\"Infinity\"", DType::float16, 0x7c00, "\"Infinity\""},
      {"\"-Infinity\"", DType::bfloat16, 0xff80, "\"-Infinity\""},
      {"\"-Infinity\"", DType::float32, 0xff800000, "\"-Infinity\""},
      {"\"Infinity\"", DType::float64, 0x7ff0000000000000, "\"Infinity\""},
      {"\"0x7fc00001\"", DType::float32, 0x7fc00001, "\"0x7fc00001\""},
      {"\"0xFFC00000\"", DType::float32, 0xffc00000, "\"0xffc00000\""},
      {"\"0x7fc00000\"", DType::float32, 0x7fc00000, "\"NaN\""},
      {"\"0x3f800000\"", DType::float32, 0x3f800000, "1.0"},
      {"\"0x80000000\"", DType::float32, 0x80000000, "-0.0"},
      {"\"0x7f800001\"", DType::float32, 0x7f800001, "\"0x7f800001\""},
      {"\"0x7d01\"", DType::float16, 0x7d01, "\"0x7d01\""},
      {"\"0x7fc1\"", DType::bfloat16, 0x7fc1, "\"0x7fc1\""},
      {"\"0x7ff8000000000001\"", DType::float64, 0x7ff8000000000001, "\"0x7ff8000000000001\""},
  };
  for (const Row& row : rows) {
    const auto scalar = parse_scalar(json_of(row.text), row.dtype);
    ASSERT_TRUE(scalar) << row.text << " " << row.dtype.name() << ": " << scalar.error().text();
    EXPECT_EQ(bits_of(*scalar), row.bits) << row.text << " " << row.dtype.name();
    EXPECT_EQ(printed(*scalar, row.dtype), row.canonical) << row.dtype.name();
  }
}

TEST(Scalar, RoundsDecimalsOnceAndHalfToEven) {
  const Row rows[] = {
      {"1.00048828125", DType::float16, 0x3c00, ""},
      {"1.00048828125000000000000000001", DType::float16, 0x3c01, ""},
      {"1.00048828124999999999999999999", DType::float16, 0x3c00, ""},
      {"1.00146484375", DType::float16, 0x3c02, ""},
      {"1.00146484374999999999999999999", DType::float16, 0x3c01, ""},
      {"100146484374999999999999999999e-29", DType::float16, 0x3c01, ""},
      {"0.00000100146484375000000E+0006", DType::float16, 0x3c02, ""},
      {"65519.99999999999999999999999", DType::float16, 0x7bff, ""},
      {"65520", DType::float16, 0x7c00, ""},
      {"-65520.0000", DType::float16, 0xfc00, ""},
      {"2.98023223876953125e-08", DType::float16, 0, ""},
      {"2.98023223876953125000000000001e-08", DType::float16, 1, ""},
      {"-2.98023223876953125e-08", DType::float16, 0x8000, ""},
      {"1.00390625", DType::bfloat16, 0x3f80, ""},
      {"1.003906250000000000000000000001", DType::bfloat16, 0x3f81, ""},
      {"3.3961775292304957e38", DType::bfloat16, 0x7f80, ""},
      {"1.000000059604644775390625", DType::float32, 0x3f800000, ""},
      {"1.00000005960464477539062500000000000000001", DType::float32, 0x3f800001, ""},
      {"340282356779733661637539395458142568447", DType::float32, 0x7f7fffff, ""},
      {"340282356779733661637539395458142568448", DType::float32, 0x7f800000, ""},
      {"7.00649232162408535461864791644958065640130970938257885878534141944895541342930300743319094181060791015625e-46",
       DType::float32, 0, ""},
      {"7.00649232162408535461864791644958065640130970938257885878534141944895541342930300743319094181060791015626e-46",
       DType::float32, 1, ""},
      {"1e999", DType::float64, 0x7ff0000000000000, ""},
      {"-1e999", DType::float32, 0xff800000, ""},
      {"1e-999", DType::float32, 0, ""},
      {"2.4703282292062327208e-324", DType::float64, 0, ""},
      {"2.4703282292062327209e-324", DType::float64, 1, ""},
  };
  for (const Row& row : rows) {
    const auto scalar = parse_scalar(json_of(row.text), row.dtype);
    ASSERT_TRUE(scalar) << row.text;
    EXPECT_EQ(bits_of(*scalar), row.bits) << row.text << " " << row.dtype.name();
  }
}

TEST(Scalar, WritesEveryHalfPrecisionPatternSoThatItReadsBack) {
  for (const DType& dtype : {DType::float16, DType::bfloat16})
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto word = static_cast<std::uint16_t>(bits);
      const Json json = print_scalar(bytes_of(word), dtype);
      const auto back = parse_scalar(json, dtype);
      ASSERT_TRUE(back) << json.dump();
      ASSERT_EQ(word_of<std::uint16_t>(*back), word) << dtype.name() << " " << json.dump();
    }
}

TEST(Scalar, WritesFloatsThatReadBackEvenThroughADouble) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random();
    const auto half = static_cast<std::uint32_t>(bits);
    const Json json = print_scalar(bytes_of(half), DType::float32);
    ASSERT_EQ(word_of<std::uint32_t>(*parse_scalar(json, DType::float32)), half) << json.dump();
    float value = 0;
    std::memcpy(&value, &half, sizeof value);
    if (json.is_number()) {
      ASSERT_EQ(static_cast<float>(*json.as_double()), value) << json.dump();
    }
    const Json wide = print_scalar(bytes_of(bits), DType::float64);
    ASSERT_EQ(word_of<std::uint64_t>(*parse_scalar(wide, DType::float64)), bits) << wide.dump();
  }
}

TEST(Scalar, ReadsAndWritesComplexNumbers) {
  const auto scalar = parse_scalar(json_of(R"([-0.0, "0x7fc00001"])"), DType::complex64);
  ASSERT_TRUE(scalar);
  EXPECT_EQ(word_of<std::uint64_t>(*scalar), 0x7fc0000180000000u);
  EXPECT_EQ(printed(*scalar, DType::complex64), R"([-0.0,"0x7fc00001"])");
  const auto wide = parse_scalar(json_of(R"([1, "-Infinity"])"), DType::complex128);
  ASSERT_TRUE(wide);
  EXPECT_EQ(printed(*wide, DType::complex128), R"([1.0,"-Infinity"])");
  for (const char* text : {"1", "[1]", "[1,2,3]", "[]", "{}", "\"NaN\"", "[1,null]", "[1,[2]]"})
    EXPECT_FALSE(parse_scalar(json_of(text), DType::complex64)) << text;
  EXPECT_EQ(parse_scalar(json_of("[0, true]"), DType::complex64).error().member(), "[1]");
}

TEST(Scalar, ReadsAndWritesRawBytes) {
  const DType raw = *DType::raw(24);
  const auto scalar = parse_scalar(json_of("[0, 255, 7]"), raw);
  ASSERT_TRUE(scalar);
  EXPECT_EQ(printed(*scalar, raw), "[0,255,7]");
  const auto base64 = parse_scalar(json_of("\"AP8H\""), raw);
  ASSERT_TRUE(base64);
  EXPECT_TRUE(equal_elements(raw, scalar->bytes().data(), base64->bytes().data()));
  for (const char* text : {"[0,255]", "[0,255,7,0]", "[0,256,7]", "[0,-1,7]", "[0,1.0,7]", "[0,\"1\",7]", "0",
                           "\"AP8HAA==\"", "\"!!!!\"", "\"YWI=\""})
    EXPECT_FALSE(parse_scalar(json_of(text), raw)) << text;
  EXPECT_EQ(parse_scalar(json_of("[0,1,256]"), raw).error().member(), "[2]");
}

// The base64 of zarr-python 3.1 and numcodecs, whose values end before their trailing zeros.
TEST(Scalar, ReadsAndWritesNullTerminatedBytesWithoutTheirTrailingZeros) {
  const DType dtype = *DType::null_terminated_bytes(3);
  for (const auto& [text, bytes, canonical] : {std::array{"\"YWI=\"", "ab", "\"YWI=\""},
                                               {"[97, 98]", "ab", "\"YWI=\""},
                                               {"[97, 98, 0]", "ab", "\"YWI=\""},
                                               {"\"\"", "", "\"\""},
                                               {"[]", "", "\"\""},
                                               {"[0, 0, 1]", "\0\0\1", "\"AAAB\""}}) {
    const auto scalar = parse_scalar(json_of(text), dtype);
    ASSERT_TRUE(scalar) << text;
    ASSERT_EQ(scalar->bytes().size(), 3U);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(scalar->bytes().data())), bytes) << text;
    EXPECT_EQ(printed(*scalar, dtype), canonical);
  }
  for (const char* text : {"\"YWJjZA==\"", "[1,2,3,4]", "[256]", "7", "\"!\"", "null"})
    EXPECT_FALSE(parse_scalar(json_of(text), dtype)) << text;
}

TEST(Scalar, ReadsAndWritesVariableLengthElements) {
  const auto text = parse_scalar(json_of(R"("a\u0000é")"), DType::string);
  ASSERT_TRUE(text);
  const Scalar copy = *text;
  EXPECT_EQ(printed(copy, DType::string), "\"a\\u0000é\"");
  EXPECT_FALSE(parse_scalar(json_of("1"), DType::string));
  const auto bytes = parse_scalar(json_of("[0, 255]"), DType::bytes);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(printed(*bytes, DType::bytes), "\"AP8=\"");
  const auto again = parse_scalar(json_of("\"AP8=\""), DType::bytes);
  ASSERT_TRUE(again);
  EXPECT_TRUE(equal_elements(DType::bytes, bytes->bytes().data(), again->bytes().data()));
  EXPECT_FALSE(equal_elements(DType::bytes, bytes->bytes().data(), text->bytes().data()));
  EXPECT_EQ(printed(*parse_scalar(json_of("[]"), DType::bytes), DType::bytes), "\"\"");
  for (const char* wrong : {"\"AP8\"", "\"AP9=\"", "[256]", "7", "{}"})
    EXPECT_FALSE(parse_scalar(json_of(wrong), DType::bytes)) << wrong;
}

TEST(Scalar, ReadsAndWritesFixedLengthText) {
  const DType dtype = *DType::fixed_length_utf32(12);
  const auto scalar = parse_scalar(json_of("\"é😀\""), dtype);
  ASSERT_TRUE(scalar);
  std::uint32_t codes[3];
  std::memcpy(codes, scalar->bytes().data(), sizeof codes);
  EXPECT_EQ(codes[0], 0xE9u);
  EXPECT_EQ(codes[1], 0x1F600u);
  EXPECT_EQ(codes[2], 0u);
  EXPECT_EQ(printed(*scalar, dtype), "\"é😀\"");
  for (const char* text : {"\"\"", "\"abc\"", "\"€€€\"", "\"a\\u0000b\""})
    EXPECT_EQ(parse_scalar(Json(json_of(text).text()), dtype).value().bytes().size(), 12u) << text;
  EXPECT_EQ(printed(*parse_scalar(json_of("\"€\\u0000b\""), dtype), dtype), "\"€\\u0000b\"");
  for (const char* text : {"\"abcd\"", "\"éééé\"", "3", "null"})
    EXPECT_FALSE(parse_scalar(json_of(text), dtype)) << text;
  const std::uint32_t broken[3] = {0xD800, 0x110000, 'x'};
  EXPECT_EQ(print_scalar(std::as_bytes(std::span(broken)), dtype).text(), "\uFFFD\uFFFDx") << "from stored bytes";
}

TEST(Scalar, ReadsAndWritesStructs) {
  const DType inner = *DType::structure({{"re", DType::float32}, {"when", *DType::datetime64("s")}});
  const DType dtype = *DType::structure({{"id", DType::uint16}, {"in", inner}, {"ok", DType::bool_}});
  const auto scalar = parse_scalar(json_of(R"({"ok": true, "in": {"re": -0.0, "when": "NaT"}, "id": 258})"), dtype);
  ASSERT_TRUE(scalar) << scalar.error().text();
  EXPECT_EQ(scalar->bytes().size(), 15u);
  EXPECT_EQ(printed(*scalar, dtype), R"({"id":258,"in":{"re":-0.0,"when":"NaT"},"ok":true})");
  const std::string packed("\x02\x01\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00\x80\x01", 15);
  const auto legacy = parse_scalar(Json(encode_base64(packed)), dtype);
  ASSERT_TRUE(legacy);
  EXPECT_TRUE(equal_elements(dtype, scalar->bytes().data(), legacy->bytes().data()));
  EXPECT_EQ(parse_scalar(json_of(R"({"id":1,"in":{"re":0},"ok":true})"), dtype).error().member(), "in.when");
  EXPECT_EQ(parse_scalar(json_of(R"({"id":70000,"in":{"re":0,"when":0},"ok":true})"), dtype).error().member(), "id");
  for (const char* text :
       {R"({"id":1,"in":{"re":0,"when":0}})", R"({"id":1,"in":{"re":0,"when":0},"ok":true,"more":1})",
        R"([1,[0,0],true])", "0", "\"AAA=\"", "null"})
    EXPECT_FALSE(parse_scalar(json_of(text), dtype)) << text;
}

TEST(Scalar, RefusesValuesTheTypeCannotEncode) {
  const DType date = *DType::datetime64("s");
  const std::pair<const char*, DType> rows[] = {{"0", DType::bool_},
                                                {"1", DType::bool_},
                                                {"\"true\"", DType::bool_},
                                                {"null", DType::bool_},
                                                {"1.0", DType::int32},
                                                {"1e2", DType::int32},
                                                {"1E2", DType::uint64},
                                                {"\"1\"", DType::int32},
                                                {"true", DType::int32},
                                                {"null", DType::int32},
                                                {"[1]", DType::int32},
                                                {"{}", DType::int32},
                                                {"\"NaN\"", DType::int32},
                                                {"\"0x01\"", DType::uint8},
                                                {"128", DType::int8},
                                                {"-129", DType::int8},
                                                {"256", DType::uint8},
                                                {"-1", DType::uint8},
                                                {"32768", DType::int16},
                                                {"65536", DType::uint16},
                                                {"2147483648", DType::int32},
                                                {"4294967296", DType::uint32},
                                                {"9223372036854775808", DType::int64},
                                                {"-9223372036854775809", DType::int64},
                                                {"18446744073709551616", DType::uint64},
                                                {"-1", DType::uint64},
                                                {"\"+Infinity\"", DType::float32},
                                                {"\"inf\"", DType::float32},
                                                {"\"nan\"", DType::float32},
                                                {"\"-NaN\"", DType::float32},
                                                {"\"1.5\"", DType::float32},
                                                {"\"\"", DType::float64},
                                                {"true", DType::float32},
                                                {"null", DType::float32},
                                                {"[1]", DType::float64},
                                                {"\"0x7fc0\"", DType::float32},
                                                {"\"0x7fc0000000\"", DType::float32},
                                                {"\"0x7fc0000g\"", DType::float32},
                                                {"\"0X7fc00000\"", DType::float32},
                                                {"\"7fc00000\"", DType::float32},
                                                {"\"0x-fc00000\"", DType::float32},
                                                {"\"0x7fc00000\"", DType::float16},
                                                {"\"0x7fc00000\"", DType::float64},
                                                {"\"0b01\"", DType::float16},
                                                {"1.5", date},
                                                {"1e3", date},
                                                {"\"nat\"", date},
                                                {"\"2020-01-01\"", date},
                                                {"9223372036854775808", date},
                                                {"null", date},
                                                {"null", DType::string},
                                                {"null", DType::bytes},
                                                {"[97]", DType::string}};
  for (const auto& [text, dtype] : rows) {
    const auto scalar = parse_scalar(json_of(text), dtype);
    ASSERT_FALSE(scalar) << text << " " << dtype.name();
    EXPECT_EQ(scalar.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(scalar.error().text().find(dtype.name()), std::string::npos) << scalar.error().text();
  }
  EXPECT_EQ(parse_scalar(Json(), DType::uint16).error().text(), "null is not a value of uint16; write one, such as 0");
  EXPECT_EQ(parse_scalar(json_of("300"), DType::uint8).error().text(), "300 does not fit uint8 (0 to 255)");
}

TEST(Scalar, HasADefaultForEveryType) {
  const std::pair<DType, const char*> rows[] = {{DType::bool_, "false"},
                                                {DType::int8, "0"},
                                                {DType::uint64, "0"},
                                                {DType::float16, "0.0"},
                                                {DType::bfloat16, "0.0"},
                                                {DType::complex64, "[0.0,0.0]"},
                                                {DType::string, "\"\""},
                                                {DType::bytes, "\"\""},
                                                {*DType::raw(16), "[0,0]"},
                                                {*DType::timedelta64("s"), "0"},
                                                {*DType::fixed_length_utf32(8), "\"\""},
                                                {*DType::structure({{"a", DType::int8}}), "{\"a\":0}"}};
  for (const auto& [dtype, text] : rows) EXPECT_EQ(printed(default_scalar(dtype), dtype), text) << dtype.name();
}

TEST(EqualElements, ComparesZerosAndNaNsByTheirBits) {
  const double zero = 0.0, minus_zero = -0.0, nan = std::nan("1");
  const auto equal = [](const double& a, const double& b) {
    return equal_elements(DType::float64, bytes_of(a).data(), bytes_of(b).data());
  };
  EXPECT_FALSE(equal(zero, minus_zero));
  EXPECT_TRUE(equal(nan, nan));
}

TEST(Base64, HasOneTextForEachSequenceOfBytes) {
  const std::pair<std::string, const char*> rows[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xff\xfe\xfb", "//77"}};
  for (const auto& [bytes, text] : rows) {
    EXPECT_EQ(encode_base64(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
  for (const char* text : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm9v=", "Zm9v\n", "Zm-_", "Zg==Zg=="})
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
}

}  // namespace scalar_test
}  // namespace sherd
