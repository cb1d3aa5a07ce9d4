// Chunk grids and chunk key encodings as JSON: what is read is printed again, and wrong members are named.
#include "node/extension.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/options.hpp"

namespace sherd {
namespace extension_test {

using testing::HasSubstr;

Json json(std::string_view text) { return Json::parse(text).value(); }

ArraySpec array_of(Shape shape) {
  ArraySpec spec;
  spec.shape = std::move(shape);
  spec.dtype = DType::uint8;
  return spec;
}
Result<GridSpec> grid(const std::string& text, Shape shape = {10, 10}) {
  return parse_chunk_grid(json(text), array_of(std::move(shape)), {});
}
void expect_error(const Error& error, ErrorCode code, const std::string& member) {
  EXPECT_EQ(error.code(), code) << error.text();
  EXPECT_EQ(error.member(), member) << error.text();
}

TEST(Extension, IsANameAloneOrWithAConfiguration) {
  EXPECT_EQ(parse_extension(json(R"("crc32c")")).value().name, "crc32c");
  const auto long_form = R"({"name": "x", "configuration": {"a": 1}, "must_understand": false})";
  EXPECT_EQ(parse_extension(json(long_form)).value().configuration, json(R"({"a": 1})"));
  expect_error(parse_extension(json("5")).error(), ErrorCode::invalid_argument, "");
  expect_error(parse_extension(json("{}")).error(), ErrorCode::invalid_argument, "name");
  expect_error(parse_extension(json(R"({"name": 5})")).error(), ErrorCode::invalid_argument, "name");
  expect_error(parse_extension(json(R"({"name": "x", "configuration": 1})")).error(), ErrorCode::invalid_argument,
               "configuration");
  expect_error(parse_extension(json(R"({"name": "x", "other": 1})")).error(), ErrorCode::unsupported, "other");
}

TEST(ChunkGridJson, IsPrintedAsItWasRead) {
  for (const char* text :
       {R"({"name":"regular","configuration":{"chunk_shape":[3,4]}})",
        R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[3,[2,4]],5]}})"}) {
    const auto parsed = grid(text);
    ASSERT_TRUE(parsed) << parsed.error().text();
    EXPECT_EQ(print_chunk_grid(*parsed).dump(), text);
  }
}

TEST(ChunkGridJson, ErrorsNameTheMember) {
  const auto regular = [](const std::string& shape) {
    return grid(R"({"name": "regular", "configuration": {"chunk_shape": )" + shape + "}}").error();
  };
  expect_error(regular("[3]"), ErrorCode::invalid_argument, "configuration.chunk_shape");
  expect_error(regular("[3, 0]"), ErrorCode::invalid_argument, "configuration.chunk_shape[1]");
  expect_error(regular("[4294967296, 4294967296]"), ErrorCode::unsupported, "configuration.chunk_shape");
  const auto rectilinear = [](const std::string& shapes) {
    return grid(R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": )" + shapes + "}}")
        .error();
  };
  expect_error(rectilinear("[5]"), ErrorCode::invalid_argument, "configuration.chunk_shapes");
  expect_error(rectilinear("[5, [5, 4]]"), ErrorCode::invalid_argument, "configuration.chunk_shapes[1]");
  EXPECT_THAT(rectilinear("[5, [5, 4]]").text(), HasSubstr("add up to 9, less than the array's 10"));
  expect_error(rectilinear("[[[5]], 5]"), ErrorCode::invalid_argument, "configuration.chunk_shapes[0][0]");
  expect_error(grid(R"("hexagonal")").error(), ErrorCode::unsupported, "name");
}

TEST(KeyEncodingJson, HasTheSeparatorOfItsKindByDefault) {
  EXPECT_EQ(parse_key_encoding(json(R"("default")")).value().separator, '/');
  EXPECT_EQ(parse_key_encoding(json(R"("v2")")).value().separator, '.');
  const auto with_dots = R"({"name":"default","configuration":{"separator":"."}})";
  EXPECT_EQ(print_key_encoding(parse_key_encoding(json(with_dots)).value()).dump(), with_dots);
  expect_error(parse_key_encoding(json(R"({"name": "v2", "configuration": {"separator": "-"}})")).error(),
               ErrorCode::invalid_argument, "configuration.separator");
  expect_error(parse_key_encoding(json(R"("other")")).error(), ErrorCode::unsupported, "name");
}

TEST(Lengths, AreBoundedInNumberAndSize) {
  Limits limits;
  limits.dimensions = 2;
  EXPECT_EQ(parse_lengths(json("[0, 5]"), 0, limits).value(), (Shape{0, 5}));
  expect_error(parse_lengths(json("[1, 1, 1]"), 0, limits).error(), ErrorCode::unsupported, "");
  expect_error(parse_lengths(json("[1, -1]"), 0, limits).error(), ErrorCode::invalid_argument, "[1]");
  EXPECT_THAT(parse_lengths(json("[1.5]"), 0, limits).error().text(), HasSubstr("not 1.5"));
  expect_error(parse_lengths(json("5"), 0, limits).error(), ErrorCode::invalid_argument, "");
  limits.element_bytes = 4;
  EXPECT_TRUE(check_element(DType::uint32, limits));
  EXPECT_EQ(check_element(DType::uint64, limits).error().code(), ErrorCode::unsupported);
}

}  // namespace extension_test
}  // namespace sherd
