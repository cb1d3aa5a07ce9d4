// Data types in metadata: what is read, the canonical form that is written, and what is refused.
#include <gtest/gtest.h>

#include "base/scalar.hpp"
#include "base/scalar_dtype.hpp"

namespace sherd {
namespace scalar_dtype_test {

Result<DType> dtype_of(std::string_view text) {
  auto json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  return parse_dtype(json ? *json : Json());
}

TEST(DTypeJson, IsReadInEveryKnownFormAndWrittenInOne) {
  const std::pair<const char*, const char*> rows[] = {
      {R"("uint8")", R"("uint8")"},
      {R"("r24")", R"("r24")"},
      {R"("bfloat16")", R"("bfloat16")"},
      {R"("int4")", R"("int4")"},
      {R"({"name":"float8_e4m3fn","configuration":{}})", R"("float8_e4m3fn")"},
      {R"("complex_float32")", R"("complex64")"},
      {R"({"name":"optional","configuration":{"name":"uint8","configuration":{}}})",
       R"({"name":"zarrs.optional","configuration":{"name":"uint8","configuration":{}}})"},
      {R"({"name":"zarrs.optional","configuration":{"name":"optional","configuration":{"name":"int2"}}})",
       R"({"name":"zarrs.optional","configuration":{"name":"zarrs.optional","configuration":{"name":"int2","configuration":{}}}})"},
      {R"({"name":"optional","configuration":{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":1}}})",
       R"({"name":"zarrs.optional","configuration":{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":1}}})"},
      {R"({"name":"int16"})", R"("int16")"},
      {R"({"name":"int16","configuration":{}})", R"("int16")"},
      {R"({"name":"int16","must_understand":false})", R"("int16")"},
      {R"("bytes")", R"("bytes")"},
      {R"("variable_length_bytes")", R"("bytes")"},
      {R"({"name":"variable_length_bytes"})", R"("bytes")"},
      {R"({"name":"raw_bytes","configuration":{"length_bytes":3}})", R"("r24")"},
      {R"({"name":"null_terminated_bytes","configuration":{"length_bytes":3}})",
       R"({"name":"null_terminated_bytes","configuration":{"length_bytes":3}})"},
      {R"({"name":"numpy.datetime64","configuration":{"unit":"ms","scale_factor":10}})",
       R"({"name":"numpy.datetime64","configuration":{"unit":"ms","scale_factor":10}})"},
      {R"({"name":"numpy.timedelta64","configuration":{"scale_factor":1,"unit":"μs"}})",
       R"({"name":"numpy.timedelta64","configuration":{"unit":"us","scale_factor":1}})"},
      {R"({"name":"fixed_length_utf32","configuration":{"length_bytes":48}})",
       R"({"name":"fixed_length_utf32","configuration":{"length_bytes":48}})"},
      {R"({"name":"struct","configuration":{"fields":[{"name":"x","data_type":"float32"},{"data_type":"r16","name":"y"}]}})",
       R"({"name":"struct","configuration":{"fields":[{"name":"x","data_type":"float32"},{"name":"y","data_type":"r16"}]}})"},
      {R"({"name":"structured","configuration":{"fields":[["x","int8"],["in",{"name":"structured","configuration":{"fields":[["y","bool"]]}}]]}})",
       R"({"name":"struct","configuration":{"fields":[{"name":"x","data_type":"int8"},{"name":"in","data_type":)"
       R"({"name":"struct","configuration":{"fields":[{"name":"y","data_type":"bool"}]}}}]}})"},
  };
  for (const auto& [text, canonical] : rows) {
    const auto dtype = dtype_of(text);
    ASSERT_TRUE(dtype) << text << ": " << dtype.error().text();
    EXPECT_EQ(print_dtype(*dtype).dump(), canonical);
    EXPECT_EQ(*dtype_of(canonical), *dtype);
  }
}

TEST(DTypeJson, IsRefusedByNameWhereUnsupported) {
  for (const char* text :
       {R"("float8_e5m3")", R"("int3")", R"({"name":"int3","configuration":{}})", R"("mystery")",
        R"({"name":"optional","configuration":{"name":"string","configuration":{}}})",
        R"({"name":"mystery","configuration":{"a":1}})", R"({"name":"mystery","must_understand":false})",
        R"("r1099511627776")", R"({"name":"raw_bytes","configuration":{"length_bytes":18446744073709551615}})",
        R"({"name":"fixed_length_utf32","configuration":{"length_bytes":4294967296}})"})
    EXPECT_EQ(dtype_of(text).error().code(), ErrorCode::unsupported) << text;
}

TEST(DTypeJson, NamesTheMemberThatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"name":"int16","configuration":{"endian":"big"}})", "configuration.endian"},
      {R"({"name":"int16","configuration":[]})", "configuration"},
      {R"({"name":"int16","more":1})", "more"},
      {R"({"name":5})", "name"},
      {R"({})", "name"},
      {R"({"name":"int16","must_understand":"no"})", "must_understand"},
      {R"("struct")", "configuration"},
      {R"("optional")", "configuration"},
      {R"({"name":"optional","configuration":{"name":"int16","configuration":{"a":1}}})",
       "configuration.configuration.a"},
      {R"({"name":"optional","configuration":{"configuration":{}}})", "configuration.name"},
      {R"({"name":"int4","configuration":{"bits":4}})", "configuration.bits"},
      {R"("numpy.datetime64")", "configuration"},
      {R"({"name":"numpy.datetime64","configuration":{"unit":"s"}})", "configuration.scale_factor"},
      {R"({"name":"numpy.datetime64","configuration":{"scale_factor":1}})", "configuration.unit"},
      {R"({"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":0}})", "configuration.scale_factor"},
      {R"({"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":2147483648}})",
       "configuration.scale_factor"},
      {R"({"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":1.0}})", "configuration.scale_factor"},
      {R"({"name":"numpy.datetime64","configuration":{"unit":"fortnight","scale_factor":1}})", "configuration.unit"},
      {R"({"name":"numpy.datetime64","configuration":{"unit":1,"scale_factor":1}})", "configuration.unit"},
      {R"({"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":1,"zone":"UTC"}})",
       "configuration.zone"},
      {R"({"name":"fixed_length_utf32","configuration":{"length_bytes":6}})", "configuration.length_bytes"},
      {R"({"name":"fixed_length_utf32","configuration":{"length_bytes":0}})", "configuration.length_bytes"},
      {R"({"name":"fixed_length_utf32","configuration":{"length_bytes":"8"}})", "configuration.length_bytes"},
      {R"({"name":"struct","configuration":{"fields":[]}})", "configuration.fields"},
      {R"({"name":"struct","configuration":{"fields":{}}})", "configuration.fields"},
      {R"({"name":"struct","configuration":{"fields":["x"]}})", "configuration.fields[0]"},
      {R"({"name":"struct","configuration":{"fields":[{"name":"x"}]}})", "configuration.fields[0]"},
      {R"({"name":"struct","configuration":{"fields":[{"name":"x","dtype":"int8"}]}})",
       "configuration.fields[0].data_type"},
      {R"({"name":"struct","configuration":{"fields":[["x","int8"],["y","int3"]]}})", "configuration.fields[1][1]"},
      {R"({"name":"struct","configuration":{"fields":[[5,"int8"]]}})", "configuration.fields[0][0]"},
      {R"({"name":"struct","configuration":{"fields":[["x","string"]]}})", "configuration.fields"},
      {R"({"name":"struct","configuration":{"fields":[["x","int8"],["x","int8"]]}})", "configuration.fields"},
  };
  for (const auto& [text, member] : rows) {
    const auto dtype = dtype_of(text);
    ASSERT_FALSE(dtype) << text;
    EXPECT_EQ(dtype.error().member(), member) << text << ": " << dtype.error().text();
  }
  for (const char* text : {"5", "null", "[\"int8\"]"})
    EXPECT_EQ(dtype_of(text).error().code(), ErrorCode::invalid_argument) << text;
}

TEST(DTypeJson, BoundsTheNestingOfStructs) {
  Json json = "uint8";
  for (int depth = 0; depth < 2000; ++depth)
    json = Json::Object{
        {"name", "struct"},
        {"configuration",
         Json::Object{{"fields", Json::Array{Json::Object{{"name", "x"}, {"data_type", std::move(json)}}}}}}};
  EXPECT_EQ(parse_dtype(json).error().code(), ErrorCode::unsupported);
  json = Json::Object{{"name", "uint8"}};
  for (int depth = 0; depth < 100; ++depth) json = Json::Object{{"name", "optional"}, {"configuration", json}};
  EXPECT_EQ(parse_dtype(json).error().code(), ErrorCode::unsupported);
}

}  // namespace scalar_dtype_test
}  // namespace sherd
