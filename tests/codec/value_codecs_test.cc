// cast_value, scale_offset and reshape: what zarr-python wrote (tests/data/codec/make_value_codecs.py), the rules of
// zarr-extensions that it does not show. tests/array/value_codecs_test.cc has whole arrays.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry bytes_codec, cast_value_codec, reshape_codec, scale_offset_codec, squeeze_codec;
}

namespace sherd::test {
namespace {

constexpr const CodecEntry* kTable[] = {&sherd::bytes_codec, &cast_value_codec, &reshape_codec, &scale_offset_codec,
                                        &squeeze_codec};

using ::testing::HasSubstr;

Result<CodecChain> chain_of(const Json& codecs, const ChunkType& type) {
  static const Limits limits;
  auto specs = parse_codec_list(codecs).value();
  specs.push_back({"bytes", json(R"({"endian": "little"})")});
  return CodecChain::build(specs, kTable, type, limits);
}

Result<CodecChain> chain_of(std::string_view codec, const DType& dtype, Shape shape = {4}) {
  return chain_of(json("[" + std::string(codec) + "]"), {dtype, std::move(shape)});
}
/// The member that a configuration is rejected for; empty if it is accepted.
std::string wrong_member(std::string_view codec, std::string_view configuration, const DType& dtype) {
  const auto chain = chain_of(
      R"({"name": ")" + std::string(codec) + R"(", "configuration": )" + std::string(configuration) + "}", dtype);
  return chain.has_value() ? "" : chain.error().member();
}

/// The bytes, or nullopt if the chain rejects them.
std::optional<Bytes> encoded_by(const CodecChain& chain, const Shape& shape, std::span<const std::byte> elements) {
  Buffer to;
  if (!chain.encode(chain.stored_shape(shape), elements, to)) return std::nullopt;
  return Bytes(to.span().begin(), to.span().end());
}
std::optional<Bytes> decoded_by(const CodecChain& chain, const Shape& shape, std::span<const std::byte> stored,
                                std::size_t size) {
  Bytes elements(size);
  if (!chain.decode(chain.stored_shape(shape), stored, elements, nullptr)) return std::nullopt;
  return elements;
}

template <class From, class To>
std::optional<std::vector<To>> stored_as(std::string_view codec, const std::vector<From>& values) {
  const auto chain = chain_of(codec, DType::of<From>(), {values.size()}).value();
  const auto stored = encoded_by(chain, {values.size()}, std::as_bytes(std::span(values)));
  if (!stored) return std::nullopt;
  std::vector<To> result(stored->size() / sizeof(To));
  std::memcpy(result.data(), stored->data(), stored->size());
  return result;
}

TEST(ValueCodecs, EncodeAndDecodeAndRefuseAsZarrPythonDoes) {
  std::ifstream file(test_data("codec/value_codecs.json"));
  std::stringstream text;
  text << file.rdbuf();
  const Json document = json(text.str());
  const auto& cases = document.find("cases")->elements();
  ASSERT_GT(cases.size(), 500u);
  for (const Json& row : cases) {
    SCOPED_TRACE(row.dump());
    const Bytes elements = from_hex(row.find("decoded")->text());
    const DType dtype = DType::parse(row.find("dtype")->text()).value();
    const Shape shape{elements.size() / dtype.size()};
    const auto chain = chain_of(*row.find("codecs"), {dtype, shape}).value();
    const auto encoded = encoded_by(chain, shape, elements);
    ASSERT_EQ(encoded.has_value(), !row.find("encoded")->is_null());
    if (!encoded) continue;
    ASSERT_EQ(*encoded, from_hex(row.find("encoded")->text()));
    const auto read = decoded_by(chain, shape, *encoded, elements.size());
    ASSERT_EQ(read.has_value(), !row.find("read")->is_null());
    if (read) {
      ASSERT_EQ(*read, from_hex(row.find("read")->text()));
    }
  }
}

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

Result<Shape> reshaped(std::string_view shape, const Shape& in) {
  static const Limits limits;
  const ChunkType type{DType::uint8, in};
  auto codec = reshape_codec.array_codec(spec_of(reshape_codec, R"({"shape": )" + std::string(shape) + "}"),
                                         {.in = type, .limits = &limits});
  if (!codec) return codec.error();
  auto out = (*codec)->encoded_type(type);
  if (!out) return out.error();
  return out->shape;
}

// github:zarr-developers/zarr-extensions, codecs/reshape/README.md.
TEST(Reshape, DimensionsAreSizesProductsOrWhatIsLeft) {
  EXPECT_EQ(reshaped("[[0, 1], [2], 3]", {100, 50, 64, 3}).value(), (Shape{5000, 64, 3}));
  EXPECT_EQ(reshaped("[-1]", {4, 5}).value(), (Shape{20}));
  EXPECT_EQ(reshaped("[2, -1, 5]", {4, 5}).value(), (Shape{2, 2, 5}));
  EXPECT_EQ(reshaped("[[0, 1], 10, [3, 4]]", {2, 3, 10, 4, 5}).value(), (Shape{6, 10, 20}));
  EXPECT_EQ(reshaped("[1, [0], [], [1]]", {4, 5}).value(), (Shape{1, 4, 1, 5}));
  EXPECT_EQ(reshaped("[]", {1, 1}).value(), Shape{});
  EXPECT_EQ(reshaped("[1, -1]", {}).value(), (Shape{1, 1}));
}

TEST(Reshape, RefusesShapesThatDoNotHoldTheElementsOrSuggestATranspose) {
  for (const std::string_view shape :
       {"[3, -1]", "[21]", "[[0], 4]", "[[1], [0]]", "[[1, 0], 10]", "[[0, 0]]", "[-1, -1]", "[0]", "[-2]", "[1.5]",
        "[[2]]", "[[-1]]", "{}", "20", "[4294967296, 4294967296]", "[[1], 4]", "[2, [0], -1]",
        "[4, [1], 1, -1, [0]]"}) {
    const auto out = reshaped(shape, {4, 5});
    ASSERT_FALSE(out.has_value()) << shape;
    EXPECT_EQ(out.error().code(), ErrorCode::invalid_argument) << shape;
    EXPECT_THAT(out.error().member(), ::testing::StartsWith("configuration.shape")) << shape;
  }
  std::string many = "[1";
  for (int i = 0; i < 40; ++i) many += ",1";
  many += "]";
  EXPECT_EQ(code_of(reshaped(many, {1})), ErrorCode::unsupported) << "more than the limit dimensions";
}

// github:zarrs/zarrs, array_to_array/squeeze.
TEST(Squeeze, DropsDimensionsOfLengthOne) {
  const auto squeezed = [](const Shape& shape) {
    static const Limits limits;
    const ChunkType type{DType::uint8, shape};
    const auto codec = squeeze_codec.array_codec(spec_of(squeeze_codec, "{}"), {.in = type, .limits = &limits});
    return codec.value()->encoded_type(type).value().shape;
  };
  EXPECT_EQ(squeezed({1, 4, 1, 5}), (Shape{4, 5}));
  EXPECT_EQ(squeezed({4, 5}), (Shape{4, 5}));
  EXPECT_EQ(squeezed({1, 1}), (Shape{1}));
  EXPECT_EQ(squeezed({}), (Shape{1}));
}

}  // namespace
}  // namespace sherd::test
