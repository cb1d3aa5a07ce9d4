// cast_value, scale_offset and reshape: what zarr-python wrote (tests/data/codec/make_value_codecs.py), and the
// rules of reshape and squeeze. tests/array/value_codecs_test.cc has whole arrays.
#include "tests/codec/value_codecs_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::value_codecs_testing {
namespace value_codecs_test {

using ::testing::HasSubstr;

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

}  // namespace value_codecs_test
}  // namespace sherd::test::value_codecs_testing
