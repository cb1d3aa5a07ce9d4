// JSON: numbers, what is written, and access to values. json_parse_test.cc has what is read.
#include "sherd/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace sherd {
namespace json_test {

TEST(JsonNumber, ConvertsOnlyWhatFits) {
  const auto number = [](const char* text) { return *Json::parse(text); };
  EXPECT_EQ(number("18446744073709551615").as_uint(), ~std::uint64_t{0});
  EXPECT_EQ(number("18446744073709551616").as_uint(), std::nullopt);
  EXPECT_EQ(number("-1").as_uint(), std::nullopt);
  EXPECT_EQ(number("-0").as_uint(), 0u);
  EXPECT_EQ(number("-9223372036854775808").as_int(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(number("9223372036854775808").as_int(), std::nullopt);
  for (const char* text : {"1.5", "1.0", "1e2", "\"3\"", "true", "null", "[3]"}) {
    EXPECT_EQ(number(text).as_uint(), std::nullopt) << text;
    EXPECT_EQ(number(text).as_int(), std::nullopt) << text;
  }
  EXPECT_EQ(number("\"1\"").as_double(), std::nullopt);
}

TEST(JsonNumber, OverflowsToInfinityAndUnderflowsToZero) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto value = [](const std::string& text) { return *Json::parse(text)->as_double(); };
  EXPECT_EQ(value("1e999"), kInfinity);
  EXPECT_EQ(value("-1e999"), -kInfinity);
  EXPECT_EQ(value("1e99999999999999999999999"), kInfinity);
  EXPECT_EQ(value("0.0001e+999"), kInfinity);
  EXPECT_EQ(value(std::string(400, '9')), kInfinity);
  EXPECT_EQ(value("1e-999"), 0.0);
  EXPECT_EQ(value("1e-99999999999999999999999"), 0.0);
  EXPECT_EQ(value("12345e-999"), 0.0);
  EXPECT_EQ(value("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_TRUE(std::signbit(value("-1e-999")));
  EXPECT_TRUE(std::signbit(value("-0.0")));
  EXPECT_EQ(value("0e999"), 0.0);
  EXPECT_EQ(value("5e-324"), std::numeric_limits<double>::denorm_min());
}

TEST(JsonNumber, OfADoubleIsTheShortestTextThatReadsBack) {
  const std::pair<double, const char*> rows[] = {{0.0, "0.0"},
                                                 {-0.0, "-0.0"},
                                                 {1.0, "1.0"},
                                                 {0.1, "0.1"},
                                                 {-1.5, "-1.5"},
                                                 {1e15, "1000000000000000.0"},
                                                 {1e16, "1e+16"},
                                                 {123456789012345680.0, "1.2345678901234568e+17"},
                                                 {1e-4, "0.0001"},
                                                 {1e-5, "1e-05"},
                                                 {5e-324, "5e-324"},
                                                 {100000.0, "100000.0"},
                                                 {1.7976931348623157e308, "1.7976931348623157e+308"}};
  for (const auto& [value, text] : rows) {
    EXPECT_EQ(Json(value).dump(), text);
    EXPECT_EQ(*Json::parse(text)->as_double(), value);
  }
  EXPECT_TRUE(Json(std::nan("")).is_null());
  EXPECT_TRUE(Json(std::numeric_limits<double>::infinity()).is_null());
}

TEST(JsonNumber, IsNullIfTheTextIsNotANumber) {
  for (const char* text : {"", "-", "01", "1.", ".1", "1e", "1e+", "NaN", "1 ", " 1", "0x1", "--1", "1.5.2"})
    EXPECT_TRUE(Json::number(text).is_null()) << text;
  for (const char* text : {"0", "-0", "10", "1.50", "1e5", "1E-05", "-1.25e+3"})
    EXPECT_EQ(Json::number(text).text(), text);
}

TEST(JsonDump, LaysDocumentsOutAsPythonDoes) {
  const Json json = *Json::parse(R"({"shape":[2,3],"empty":[],"none":{},"codecs":[{"name":"bytes"}]})");
  EXPECT_EQ(json.dump(2), R"({
  "shape": [
    2,
    3
  ],
  "empty": [],
  "none": {},
  "codecs": [
    {
      "name": "bytes"
    }
  ]
})");
  EXPECT_EQ(json.dump(), R"({"shape":[2,3],"empty":[],"none":{},"codecs":[{"name":"bytes"}]})");
}

TEST(JsonDump, EscapesOnlyWhatItMust) {
  const std::string text = std::string("é/\"\\\b\f\n\r\t\x01\x1f\x7f", 13) + std::string(1, '\0');
  const std::string dumped = Json(text).dump();
  EXPECT_EQ(dumped, "\"é/\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000\"");
  EXPECT_EQ(Json::parse(dumped)->text(), text);
}

TEST(Json, ComparesByContent) {
  const auto same = [](const char* a, const char* b) { return *Json::parse(a) == *Json::parse(b); };
  EXPECT_TRUE(same(R"({"a":1,"b":[true,null]})", R"({ "b":[true,null], "a":1 })"));
  EXPECT_TRUE(same(R"("A")", R"("\u0041")"));
  EXPECT_FALSE(same("1", "1.0"));
  EXPECT_FALSE(same("1", "\"1\""));
  EXPECT_FALSE(same("[1,2]", "[2,1]"));
  EXPECT_FALSE(same("[]", "{}"));
  EXPECT_FALSE(same("true", "false"));
  EXPECT_FALSE(same("null", "false"));
  EXPECT_FALSE(same(R"({"a":1,"b":2})", R"({"a":1,"c":2})"));
  EXPECT_FALSE(same(R"({"a":1,"b":2})", R"({"b":1,"a":2})"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"a":1,"b":2})"));
}

TEST(Json, IsBuiltAndEdited) {
  Json json;
  json.set("shape", Json::numbers({2, 3}));
  json.set("name", "x");
  json.set("shape", Json::Array{});
  json.find("shape")->push_back(7);
  EXPECT_EQ(json.dump(), R"({"shape":[7],"name":"x"})");
  EXPECT_TRUE(json.erase("shape"));
  EXPECT_FALSE(json.erase("shape"));
  for (auto& [key, value] : json.members()) value = std::uint64_t{1} << 63;
  EXPECT_EQ(json.dump(), R"({"name":9223372036854775808})");
  EXPECT_EQ(Json(std::int64_t{-5}).dump(), "-5");
  EXPECT_EQ(Json(std::string_view("s")).dump(), "\"s\"");
  EXPECT_EQ(Json(nullptr).dump(), "null");
}

TEST(Json, AccessAsAnotherTypeIsEmpty) {
  Json json = 5;
  EXPECT_TRUE(json.elements().empty());
  EXPECT_TRUE(json.members().empty());
  EXPECT_EQ(json.find("a"), nullptr);
  EXPECT_EQ(std::as_const(json).elements().size() + std::as_const(json).members().size(), 0u);
  EXPECT_EQ(Json(true).text(), "");
  EXPECT_EQ(json.as_bool(), std::nullopt);
  EXPECT_FALSE(json.erase("a"));
}

}  // namespace json_test
}  // namespace sherd
