// Attributes: JSON as typed values and back, and documents that are not quite JSON.
#include "netcdf/attribute.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/lenient.hpp"
#include "netcdf/type.hpp"

namespace sherd::netcdf {
namespace attribute_test {

Json json(std::string_view text) { return Json::parse(text).value(); }
Values typed(std::string_view text, Type type) { return values_of_type(json(text), type).value(); }
std::string stored(const Values& values, TextForm form = TextForm::same) {
  return attribute_json(values, form).value().dump();
}

TEST(AttributeType, IsKnownByItsNumPyNameOrItsNumber) {
  EXPECT_EQ(attribute_type("<i4"), Type::int32);
  EXPECT_EQ(attribute_type("|u1"), Type::uint8);
  EXPECT_EQ(attribute_type(">S1"), Type::character);
  EXPECT_EQ(attribute_type("<U1"), Type::character);
  EXPECT_EQ(attribute_type("|S1"), Type::string);
  EXPECT_EQ(attribute_type("|S16"), Type::string);
  EXPECT_EQ(attribute_type("2"), Type::character);
  EXPECT_EQ(attribute_type("12"), Type::string);
  for (const char* name : {"", "|J0", "0", "13", "999", "<", "<i", "i4", "<c8", "<i4x", "|Sx"})
    EXPECT_EQ(attribute_type(name), std::nullopt) << name;
}

TEST(Attribute, OfATypeIsOneValueOrAList) {
  EXPECT_EQ(typed("5", Type::int16), Values(std::vector<std::int16_t>{5}));
  EXPECT_EQ(typed("[1, 2]", Type::float32), Values(std::vector<float>{1, 2}));
  EXPECT_EQ(typed("[]", Type::int32), Values(std::vector<std::int32_t>{}));
  EXPECT_EQ(typed("18446744073709551615", Type::uint64), Values(std::vector<std::uint64_t>{18446744073709551615U}));
  EXPECT_EQ(typed("[\"a\", \"b\"]", Type::string), Values(std::vector<std::string>{"a", "b"}));
}

TEST(Attribute, KeepsAllDigitsOfNumbers) {
  EXPECT_EQ(typed("0.12345678901234", Type::float64), Values(std::vector<double>{0.12345678901234}));
  EXPECT_EQ(typed("9223372036854775807", Type::int64), Values(std::vector<std::int64_t>{9223372036854775807}));
  EXPECT_EQ(stored(std::vector<double>{0.1, 1e300}), "[0.1,1e+300]");
  EXPECT_EQ(stored(std::vector<float>{0.1F}), "0.1");
}

TEST(Attribute, StoresNumbersThatJsonLacksAsStrings) {
  EXPECT_TRUE(std::isnan(std::get<std::vector<double>>(typed("\"NaN\"", Type::float64))[0]));
  EXPECT_EQ(typed("\"-Infinity\"", Type::float32), Values(std::vector<float>{-std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(stored(std::vector<float>{std::nanf(""), std::numeric_limits<float>::infinity()}), R"(["NaN","Infinity"])");
}

TEST(Attribute, ReadsWholeNumbersWithAFractionOfZero) {
  EXPECT_EQ(typed("[3.0, 1e3]", Type::int32), Values(std::vector<std::int32_t>{3, 1000}));
}

TEST(Attribute, IsZeroOrInfiniteWhereTheNumberIsTooSmallOrTooLarge) {
  const auto parsed = [](const std::string& text) {
    return std::get<std::vector<float>>(typed(text, Type::float32))[0];
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(parsed("0." + std::string(50, '0') + "1"), 0);
  EXPECT_EQ(parsed("1e-60"), 0);
  EXPECT_TRUE(std::signbit(parsed("-0." + std::string(50, '0') + "1")));
  EXPECT_EQ(parsed("0." + std::string(50, '0') + "1e60"), 1e9F);
  EXPECT_EQ(parsed("0." + std::string(50, '0') + "1e100"), kInfinity);
  EXPECT_EQ(parsed(std::string(400, '9') + "e-5"), kInfinity);
  EXPECT_EQ(parsed("-" + std::string(400, '9') + "E-5"), -kInfinity);
  EXPECT_EQ(parsed(std::string(400, '9') + "e-500"), 0);
  EXPECT_EQ(parsed("1e99999999999999999999"), kInfinity);
  EXPECT_EQ(parsed("1e-99999999999999999999"), 0);
}

TEST(Attribute, IsAStringWhereNoTypeIsNoted) { EXPECT_EQ(stored("[1,2]", TextForm::plain), "\"[1,2]\""); }

TEST(Attribute, RefusesValuesThatTheTypeCannotHold) {
  for (const auto& [text, type] :
       {std::pair("300", Type::int8), std::pair("-1", Type::uint16), std::pair("1.5", Type::int32),
        std::pair("[1, [2]]", Type::int32), std::pair("{}", Type::float64), std::pair("\"x\"", Type::int32),
        std::pair("1e400", Type::int64)})
    EXPECT_EQ(values_of_type(json(text), type).error().code(), ErrorCode::invalid_argument) << text;
}

TEST(Attribute, OfCharactersIsTheTextOfAnyJson) {
  EXPECT_EQ(typed("\"text\"", Type::character), Values("text"));
  EXPECT_EQ(typed("10", Type::character), Values("10"));
  EXPECT_EQ(typed("true", Type::character), Values("true"));
  EXPECT_EQ(typed(R"({"a":[1,2]})", Type::character), Values(R"({"a": [1,2]})"));
  EXPECT_EQ(typed(R"([ "\u00e9\u0001\/", { } ])", Type::character), Values("[\"é\\u0001/\",{}]"));
}

TEST(Attribute, WithoutATypeHasTheSmallestThatFits) {
  EXPECT_EQ(inferred_values(json("5")), Values(std::vector<std::int32_t>{5}));
  EXPECT_EQ(inferred_values(json("3000000000")), Values(std::vector<std::uint32_t>{3000000000U}));
  EXPECT_EQ(inferred_values(json("-3000000000")), Values(std::vector<std::int64_t>{-3000000000}));
  EXPECT_EQ(inferred_values(json("[1, 2.5]")), Values(std::vector<double>{1, 2.5}));
  EXPECT_EQ(inferred_values(json("true")), Values(std::vector<std::uint8_t>{1}));
  EXPECT_EQ(inferred_values(json("\"NaN\"")), Values("NaN"));
  EXPECT_EQ(inferred_values(json(R"(["a","b"])")), Values(std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(inferred_values(json(R"([1,"a"])")), Values(R"([1,"a"])"));
  EXPECT_EQ(inferred_values(json(R"([1.5,"-Infinity"])")),
            Values(std::vector<double>{1.5, -std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(inferred_values(json(R"(["NaN","Infinity"])")), Values(std::vector<std::string>{"NaN", "Infinity"}));
  EXPECT_EQ(inferred_values(json("null")), Values("null"));
  EXPECT_EQ(inferred_values(json("[]")), Values(""));
  EXPECT_EQ(inferred_values(json(R"({"a":1})")), Values(R"({"a": 1})"));
}

TEST(Attribute, IsAFloatWhereANumberThatJsonLacksHasNoQuotes) {
  const auto inferred = [](std::string_view text) { return inferred_values(parse_lenient(text, {}).value().json); };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(std::get<std::vector<double>>(inferred("NaN")).at(0)));
  EXPECT_TRUE(std::isnan(std::get<std::vector<double>>(inferred("[NaN, NaN]")).at(1)));
  EXPECT_EQ(inferred("[Infinity, -Infinity, 3]"), Values(std::vector<double>{kInfinity, -kInfinity, 3}));
  EXPECT_EQ(inferred(R"([NaN, "text"])"), Values(std::vector<std::string>{"NaN", "text"}));
  EXPECT_EQ(inferred(R"({"a": [NaN, "NaN"], "b": -Infinity})"), Values(R"({"a": [NaN,"NaN"], "b": -Infinity})"));
  const Json bare = parse_lenient("NaN", {}).value().json;
  EXPECT_EQ(values_of_type(bare, Type::character).value(), Values("NaN"));
  EXPECT_EQ(values_of_type(bare, Type::string).value(), Values(std::vector<std::string>{"NaN"}));
  EXPECT_EQ(values_of_type(bare, Type::int32).error().code(), ErrorCode::invalid_argument);
}

TEST(Attribute, IsStoredAsJsonOnlyIfItIsPrintedAsTheSameText) {
  EXPECT_EQ(stored(R"({"a": [1,2.50], "b": {}})"), R"({"a":[1,2.50],"b":{}})");
  EXPECT_EQ(stored(R"({"a":1})"), R"("{\"a\":1}")");
  for (const char* text : {R"({"a": 1})", R"({"a": {"b": [1,[]], "c": {}}})", R"(["ä\"\\\b\f\n\r\t/"])",
                           R"({"\"": true, "": ""})", "[]", "{}"}) {
    EXPECT_THAT(stored(text).front(), testing::AnyOf('{', '[')) << text;
    EXPECT_EQ(typed(stored(text), Type::character), Values(text)) << text;
  }
  for (const char* text :
       {"10", "-5", "3.14", "NaN", "true", "null", "\"q\"", "{not json", "", R"({"a": 1,"b": 2})", "[1, 2]", "{ }",
        R"(["\/"])", R"(["\u0001"])", R"({"\u00e9": 1})", R"({"a": 1, "a": 1})", "[NaN]"}) {
    EXPECT_EQ(stored(text).front(), '"') << text;
    EXPECT_EQ(typed(stored(text), Type::character), Values(text)) << text;
  }
}

TEST(Attribute, IsStoredAsTheDocumentationSaysWhereThatIsAskedFor) {
  EXPECT_EQ(stored("10", TextForm::literal), "10");
  EXPECT_EQ(stored("true", TextForm::literal), "true");
  EXPECT_EQ(stored("plain", TextForm::literal), "\"plain\"");
}

TEST(Attribute, MustBeUtf8) {
  EXPECT_EQ(attribute_json("\xff", TextForm::same).error().code(), ErrorCode::invalid_argument);
}

TEST(LenientJson, ReadsNumbersThatJsonLacks) {
  const auto parsed = parse_lenient("{\"a\": [NaN, -Infinity, 0., 1.e5, \"NaN\"]}", {}).value();
  EXPECT_TRUE(parsed.has_numbers);
  EXPECT_EQ(parsed.json, json(R"({"a":["NaN","-Infinity",0.0,1.0e5,"NaN"]})"));
  std::vector<std::string_view> bare;
  for (const Json& each : parsed.json.find("a")->elements()) bare.push_back(bare_number(each));
  EXPECT_EQ(bare, (std::vector<std::string_view>{"NaN", "-Infinity", "", "", ""}));
}

TEST(LenientJson, ReadsControlCharactersThatNetcdfCDoesNotEscapeIfAskedTo) {
  const std::string text = "{\"a\": \"esc\x1b[1m\v\"}";
  EXPECT_EQ(parse_lenient(text, {}).error().code(), ErrorCode::corrupt);
  EXPECT_EQ(parse_lenient(text, {}, {.controls = true}).value().json.find("a")->text(), "esc\x1b[1m\v");
  EXPECT_FALSE(parse_lenient("{\"a\": \"\\\x1b\"}", {}, {.controls = true})) << "an escape of a control character";
}

TEST(LenientJson, IgnoresBytesAfterTheValueAndReportsThem) {
  const auto parsed = parse_lenient("{\"a\": \"}\"}x\"}}", {}).value();
  EXPECT_TRUE(parsed.has_tail);
  EXPECT_EQ(parsed.json.dump(), R"({"a":"}"})");
  EXPECT_FALSE(parse_lenient("{\"a\": 1} \n", {}).value().has_tail);
}

TEST(LenientJson, RefusesWhatIsNotJsonAndWhatIsTooDeep) {
  for (const char* text : {"", "{", "[1,", "{\"a\"}", "\"a", "{\"a\":1,\"a\":2}", "-", "[-]"})
    EXPECT_EQ(parse_lenient(text, {}).error().code(), ErrorCode::corrupt) << text;
  EXPECT_EQ(parse_lenient(std::string(400000, '['), {}).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(parse_lenient(std::string(100000, '[') + "NaN" + std::string(100000, ']') + "x", {}).error().code(),
            ErrorCode::unsupported);
}

}  // namespace attribute_test
}  // namespace sherd::netcdf
