// Filters of numbers beyond what numcodecs_golden_test.cc compares with numcodecs.
#include <complex>
#include <limits>

#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry delta_codec, fixedscaleoffset_codec, quantize_codec, bitround_codec, numcodecs_bitround_codec,
    astype_codec;

namespace test {
namespace filter_test {

Result<std::unique_ptr<ArrayCodec>> filter(const CodecEntry& entry, std::string_view configuration,
                                           const DType& dtype) {
  const Limits limits;
  return entry.array_codec(spec_of(entry, configuration), {{dtype, {1}}, &limits});
}
/// The member that a configuration is rejected for; empty if it is accepted.
std::string wrong_member(const CodecEntry& entry, std::string_view text, const DType& dtype) {
  const auto codec = filter(entry, text, dtype);
  return codec.has_value() ? "" : codec.error().member();
}

template <class T>
std::vector<T> there_and_back(const ArrayCodec& codec, const std::vector<T>& values, const DType& dtype) {
  const ChunkType type{dtype, {values.size()}};
  Bytes stored(values.size() * codec.encoded_type(type).value().dtype.size());
  std::vector<T> read(values.size());
  EXPECT_TRUE(codec.encode(type, std::as_bytes(std::span(values)), stored).has_value());
  EXPECT_TRUE(codec.decode(type, stored, std::as_writable_bytes(std::span(read))).has_value());
  return read;
}

TEST(Delta, IntegersOfAnyDifferenceAreRestored) {
  using Limits64 = std::numeric_limits<std::int64_t>;
  const std::vector<std::int64_t> wide = {Limits64::min(), Limits64::max(), 0, -1, Limits64::min()};
  EXPECT_EQ(there_and_back(*filter(delta_codec, R"({"dtype":"<i8"})", DType::int64).value(), wide, DType::int64), wide);
  const std::vector<std::uint8_t> narrow = {255, 0, 1, 254};
  EXPECT_EQ(there_and_back(*filter(delta_codec, R"({"dtype":"|u1"})", DType::uint8).value(), narrow, DType::uint8),
            narrow);
  EXPECT_EQ(there_and_back(*filter(delta_codec, R"({"dtype":"|u1"})", DType::uint8).value(),
                           std::vector<std::uint8_t>(), DType::uint8)
                .size(),
            0u);
}

TEST(Delta, SumsOfDoublesHaveTheirPrecision) {
  const std::vector<double> values = {1e9 + 0.25, 1e9 + 0.5, -1.0 / 1024, 3e-300};
  const auto codec = filter(delta_codec, R"({"dtype":"<f8"})", DType::float64).value();
  const auto read = there_and_back(*codec, values, DType::float64);
  EXPECT_EQ(read[0], values[0]);
  EXPECT_EQ(read[1], values[1]);
  EXPECT_NEAR(read[2], values[2], 1e-6) << "as far as the rounding of the differences allows";
}

TEST(Delta, TheStoredTypeIsAstype) {
  const auto codec = filter(delta_codec, R"({"dtype":"<i4","astype":"<i2"})", DType::int32).value();
  const ChunkType out = codec->encoded_type({DType::int32, {3, 4}}).value();
  EXPECT_EQ(out.dtype, DType::int16);
  EXPECT_EQ(out.shape, (Shape{3, 4}));
}

TEST(Delta, TimesAreEncodedAsIntegers) {
  const DType days = DType::datetime64("D").value();
  const auto codec = filter(delta_codec, R"({"dtype":"<i8"})", days).value();
  EXPECT_EQ(codec->encoded_type({days, {1}}).value().dtype, days);
  const std::vector<std::int64_t> values = {20000, 20001, 19990};
  EXPECT_EQ(there_and_back(*codec, values, days), values);
}

TEST(Delta, TypesThatDoNotFitAreRefused) {
  const auto codec = filter(delta_codec, R"({"dtype":"<i4"})", DType::int32).value();
  EXPECT_FALSE(codec->encoded_type({DType::int16, {1}}).has_value());
  EXPECT_FALSE(codec->encoded_type({DType::float32, {1}}).has_value());
  for (const auto name : {">i4", "<c8", "bool", "S4", "", "<"}) {
    const auto made = filter(delta_codec, R"({"dtype":")" + std::string(name) + R"("})", DType::int32);
    ASSERT_FALSE(made.has_value()) << name;
    EXPECT_EQ(made.error().code(), ErrorCode::unsupported) << name;
    EXPECT_EQ(made.error().member(), "configuration.dtype");
  }
  EXPECT_EQ(filter(delta_codec, "", DType::int32).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(filter(delta_codec, R"({"dtype":"i4","step":2})", DType::int32).error().member(), "configuration.step");
}

TEST(Delta, AShortFormNamesTheType) {
  EXPECT_EQ(delta_codec.short_form("", DType::uint16).value(), Json::parse(R"({"dtype":"<u2"})").value());
  EXPECT_EQ(delta_codec.short_form("", DType::int8).value(), Json::parse(R"({"dtype":"|i1"})").value());
  EXPECT_FALSE(delta_codec.short_form("", DType::string).has_value());
}

TEST(FixedScaleOffset, TenthsRoundTripThroughOneByte) {
  const auto codec =
      filter(fixedscaleoffset_codec, R"({"offset":1000,"scale":10,"dtype":"<f8","astype":"|u1"})", DType::float64)
          .value();
  const std::vector<double> values = {1000.0, 1000.1, 1012.3, 1025.5};
  EXPECT_EQ(codec->encoded_type({DType::float64, {4}}).value().dtype, DType::uint8);
  EXPECT_EQ(there_and_back(*codec, values, DType::float64), values);
}

TEST(FixedScaleOffset, ValuesThatDoNotFitDoNotAffectOthers) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto astype : {"|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4"}) {
    const auto codec = filter(fixedscaleoffset_codec,
                              R"({"offset":0.5,"scale":3,"astype":")" + std::string(astype) + R"("})", DType::float64)
                           .value();
    const auto read = there_and_back<double>(
        *codec, {infinity, -infinity, 1e300, -1e300, std::numeric_limits<double>::quiet_NaN(), 7.5}, DType::float64);
    EXPECT_EQ(read.back(), 7.5) << astype;
  }
}

TEST(FixedScaleOffset, AConfigurationSaysWhatIsWrongWithIt) {
  const auto member = [](std::string_view text, const DType& dtype) {
    return wrong_member(fixedscaleoffset_codec, text, dtype);
  };
  EXPECT_EQ(member(R"({"offset":0,"scale":0})", DType::float32), "configuration.scale");
  EXPECT_EQ(member(R"({"scale":1})", DType::float32), "configuration.offset");
  EXPECT_EQ(member(R"({"offset":300,"scale":1})", DType::int8), "configuration.offset");
  EXPECT_EQ(member(R"({"offset":300.0,"scale":1})", DType::int8), "");
  EXPECT_EQ(member(R"({"offset":0,"scale":1})", DType::bool_), "configuration.dtype");
  EXPECT_EQ(member(R"({"offset":0,"scale":1,"astype":"<c8"})", DType::float32), "configuration.astype");
}

TEST(Quantize, ValuesWithoutDigitsToLoseStay) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto codec = filter(quantize_codec, R"({"digits":1})", DType::float32).value();
  const std::vector<float> values = {3e38F, infinity, -infinity, 1.0F / 3};
  EXPECT_EQ(there_and_back(*codec, values, DType::float32), (std::vector<float>{3e38F, infinity, -infinity, 0.3125F}));
}

TEST(Quantize, RefusesDigitsAndTypesThatDoNotFit) {
  const auto member = [](std::string_view text, const DType& dtype) {
    return wrong_member(quantize_codec, text, dtype);
  };
  EXPECT_EQ(member(R"({"digits":5})", DType::float16), "configuration.digits");
  EXPECT_EQ(member(R"({"digits":301})", DType::float64), "configuration.digits");
  EXPECT_EQ(member(R"({"dtype":"<f4"})", DType::float32), "configuration.digits");
  EXPECT_EQ(member(R"({"digits":2,"dtype":"<i4"})", DType::float32), "configuration.dtype");
  EXPECT_EQ(member(R"({"digits":2,"astype":"<i4"})", DType::float32), "configuration.astype");
  EXPECT_EQ(member(R"({"digits":2})", DType::int32), "configuration.dtype");
  const auto codec = filter(quantize_codec, R"({"digits":2,"dtype":"<f4","astype":"<f2"})", DType::float32).value();
  EXPECT_EQ(codec->encoded_type({DType::float32, {3}}).value().dtype, DType::float16);
  EXPECT_FALSE(codec->encoded_type({DType::float64, {3}}).has_value());
}

TEST(Quantize, AShortFormHasTheDigits) {
  EXPECT_EQ(quantize_codec.short_form("3", DType::float64).value(),
            Json::parse(R"({"digits": 3, "dtype": "<f8"})").value());
  EXPECT_FALSE(quantize_codec.short_form("", DType::float64).has_value());
  EXPECT_FALSE(quantize_codec.short_form("3", DType::int8).has_value());
}

// github:zarr-developers/zarr-extensions, codecs/bitround/sample_data, written by zarrs.
TEST(Bitround, RoundsTheSamplesOfItsRegistration) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto codec = filter(bitround_codec, R"({"keepbits":3})", DType::float32).value();
  const auto floats =
      there_and_back<float>(*codec, {0, 0.1F, 1.2F, 12.3F, 123.4F, 1234.5F, infinity, -infinity}, DType::float32);
  EXPECT_EQ(floats, (std::vector<float>{0, 0.1015625F, 1.25F, 12, 120, 1280, infinity, -infinity}));
  const auto bytes = filter(bitround_codec, R"({"keepbits":3})", DType::uint8).value();
  EXPECT_EQ(there_and_back<std::uint8_t>(*bytes, {0, 1, 10, 11, 100, 123, 200, 208, 209, 255}, DType::uint8),
            (std::vector<std::uint8_t>{0, 1, 10, 12, 96, 128, 192, 192, 224, 224}));
}

TEST(Bitround, NansOfAnyPayloadStayNans) {
  const auto codec = filter(bitround_codec, R"({"keepbits":1})", DType::float32).value();
  const std::vector<std::uint32_t> nans = {0x7f800001, 0x7fffffff, 0xffffffff, 0x7fc00000};
  EXPECT_EQ(there_and_back(*codec, nans, DType::float32), nans);
}

TEST(Bitround, ComplexNumbersAndCountsOfTimeAreRoundedByWord) {
  const auto complex = filter(bitround_codec, R"({"keepbits":3})", DType::complex64).value();
  EXPECT_EQ(there_and_back<std::complex<float>>(*complex, {{1.2F, -12.3F}}, DType::complex64),
            (std::vector<std::complex<float>>{{1.25F, -12}}));
  const auto halves = filter(bitround_codec, R"({"keepbits":3})", DType::complex_float16).value();
  EXPECT_EQ(there_and_back<std::uint32_t>(*halves, {0xca263ccd}, DType::complex_float16),
            (std::vector<std::uint32_t>{0xca003d00}));
  const auto brains = filter(bitround_codec, R"({"keepbits":3})", DType::complex_bfloat16).value();
  EXPECT_EQ(there_and_back<std::uint32_t>(*brains, {0xc1453f9a}, DType::complex_bfloat16),
            (std::vector<std::uint32_t>{0xc1403fa0}));
  const DType days = DType::datetime64("D").value();
  const auto dates = filter(bitround_codec, R"({"keepbits":3})", days).value();
  constexpr auto not_a_time = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(there_and_back<std::int64_t>(*dates, {11, not_a_time}, days), (std::vector<std::int64_t>{12, not_a_time}));
}

TEST(Bitround, KeepsAtLeastOneBitAndForNumcodecsOnlyBitsOfFloats) {
  const auto code = [](const CodecEntry& entry, int bits, const DType& dtype) {
    const auto codec = filter(entry, R"({"keepbits":)" + std::to_string(bits) + "}", dtype);
    return codec.has_value() ? "" : codec.error().text();
  };
  EXPECT_EQ(code(bitround_codec, 1, DType::int32), "");
  EXPECT_NE(code(bitround_codec, 0, DType::int32), "");
  EXPECT_NE(code(bitround_codec, 65, DType::int32), "");
  EXPECT_EQ(code(numcodecs_bitround_codec, 0, DType::float32), "");
  EXPECT_NE(code(numcodecs_bitround_codec, 3, DType::int32), "");
  EXPECT_NE(code(bitround_codec, 3, DType::string), "");
  EXPECT_NE(code(bitround_codec, 3, DType::bool_), "");
}

TEST(AsType, UsesTheArraysTypeIfNoneIsNamed) {
  const auto codec = filter(astype_codec, R"({"encode_dtype":"|u1"})", DType::float64).value();
  EXPECT_EQ(codec->encoded_type({DType::float64, {2}}).value().dtype, DType::uint8);
  EXPECT_EQ(there_and_back<double>(*codec, {7.75, 0}, DType::float64), (std::vector<double>{7, 0}));
}

TEST(AsType, RefusesTypesThatAreNotNumbers) {
  const auto member = [](std::string_view text, const DType& dtype) { return wrong_member(astype_codec, text, dtype); };
  EXPECT_EQ(member(R"({"encode_dtype":"<U4","decode_dtype":"<i4"})", DType::int32), "configuration.encode_dtype");
  EXPECT_EQ(member(R"({"encode_dtype":"<i4","decode_dtype":"<M8[ns]"})", DType::int32), "configuration.decode_dtype");
  EXPECT_EQ(member(R"({"encode_dtype":">i4","decode_dtype":"<i4"})", DType::int32), "configuration.encode_dtype");
  EXPECT_EQ(member(R"({"decode_dtype":"<i4"})", DType::int32), "configuration.encode_dtype");
  EXPECT_FALSE(filter(astype_codec, R"({"encode_dtype":"<i4"})", DType::string).has_value());
  const auto codec = filter(astype_codec, R"({"encode_dtype":"<i4","decode_dtype":"<i8"})", DType::int32).value();
  EXPECT_EQ(codec->encoded_type({DType::int32, {1}}).error().member(), "configuration.decode_dtype");
}

}  // namespace filter_test
}  // namespace test
}  // namespace sherd
