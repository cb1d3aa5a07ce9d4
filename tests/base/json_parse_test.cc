// Parsing JSON: what is read, what is refused and where.
#include "sherd/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace sherd {
namespace json_parse_test {

std::string refusal(std::string_view text, std::uint64_t max_depth = 128) {
  const auto json = Json::parse(text, max_depth);
  return json ? "accepted" : json.error().text();
}

ErrorCode code_of(std::string_view text) { return Json::parse(text).error().code(); }

TEST(JsonParse, KeepsOrderAndTheTextOfNumbers) {
  const char* text =
      R"({"z":1.50,"a":[1e2,-0,-0.0,18446744073709551615,123456789012345678901234567890],"m":{},"e":[]})";
  EXPECT_EQ(Json::parse(text)->dump(), text);
}

TEST(JsonParse, ReadsEveryKindOfValue) {
  const Json json = *Json::parse(" {\"n\" : null ,\t\"t\":true,\"f\":false,\r\n\"s\":\"x\",\"d\":1.5,\"a\":[[],{}]} ");
  EXPECT_TRUE(json.find("n")->is_null());
  EXPECT_EQ(json.find("t")->as_bool(), true);
  EXPECT_EQ(json.find("f")->as_bool(), false);
  EXPECT_EQ(json.find("s")->text(), "x");
  EXPECT_EQ(json.find("d")->as_double(), 1.5);
  EXPECT_EQ(json.find("a")->size(), 2u);
  EXPECT_EQ(json.find("absent"), nullptr);
  for (const char* scalar : {"0", "-1", "\"\"", "null", "true", "false"})
    EXPECT_EQ(Json::parse(scalar)->dump(), scalar);
}

TEST(JsonParse, DecodesEscapes) {
  EXPECT_EQ(Json::parse(R"("\"\\\/\b\f\n\r\t")")->text(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(Json::parse(R"("\u0041\u00e9\u20AC\ud83d\ude00")")->text(), "Aé€😀");
  EXPECT_EQ(Json::parse(R"("a\u0000b")")->text(), std::string("a\0b", 3));
}

TEST(JsonParse, KeepsTheSpellingOfStrings) {
  const char* text = R"({"escaped":["\u00e9\/\ud83D\ude00","a\u0041","\u000a\n\"\\","plain é/"],"after":"x"})";
  const Json json = *Json::parse(text);
  EXPECT_EQ(json.dump(), text);
  const auto strings = json.find("escaped")->elements();
  EXPECT_EQ(strings[0].text(), "é/😀");
  EXPECT_TRUE(strings[0].is_string());
  EXPECT_EQ(strings[0].type(), Json::Type::string);
  EXPECT_EQ(strings[0], Json("é/😀"));
  EXPECT_FALSE(strings[0] == strings[1]);
  EXPECT_EQ(Json(strings[1].text()).dump(), R"("aA")");
  EXPECT_EQ(json.find("after")->dump(), R"("x")");
  Json changed = json;
  changed.set("after", *Json::parse(R"("\u0078")"));
  EXPECT_EQ(changed, json);
  EXPECT_NE(changed.dump(2).find(R"("\u0078")"), std::string::npos);
}

TEST(JsonParse, AcceptsUtf8AnywhereInAString) {
  for (const char* character : {"\x7f", "é", "€", "😀", "\uFEFF", "\xF4\x8F\xBF\xBF", "\xEE\x80\x80"})
    for (std::size_t before = 0; before < 20; ++before) {
      const std::string text = std::string(before, 'x') + character + std::string(9, 'y');
      const auto json = Json::parse("\"" + text + "\"");
      ASSERT_TRUE(json) << text << " " << json.error().text();
      EXPECT_EQ(json->text(), text);
    }
}

TEST(JsonParse, FindsInvalidBytesAnywhereInAString) {
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82",
                          "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\n", "\x1f", "\x01"})
    for (std::size_t before = 0; before < 20; ++before) {
      const std::string text = "\"" + std::string(before, 'x') + bad + "yyyyyyyyyyyy\"";
      const auto json = Json::parse(text);
      ASSERT_FALSE(json) << before;
      EXPECT_EQ(json.error().code(), ErrorCode::corrupt);
      EXPECT_NE(json.error().text().find("(byte " + std::to_string(before + 1) + ")"), std::string::npos)
          << json.error().text();
    }
  EXPECT_EQ(code_of(std::string("\"a\0b\"", 5)), ErrorCode::corrupt);
}

TEST(JsonParse, RefusesHostileDocuments) {
  const std::string cases[] = {"",
                               "  \n",
                               "\xEF\xBB\xBF",
                               "\xEF\xBB\xBF{}",
                               "\xFF\xFE{\0}\0",
                               R"("\ud800")",
                               R"("\ud800x")",
                               R"("\ud800\u0041")",
                               R"("\udc00")",
                               R"("\ud800\ud800")",
                               R"("\u12g4")",
                               R"("\u12")",
                               R"("\x41")",
                               "\"\\",
                               "\"\\\"",
                               "\"abc",
                               "{} x",
                               "[1] [2]",
                               "1 2",
                               "NaN",
                               "-Infinity",
                               "Infinity",
                               "[NaN]",
                               "nul",
                               "nulll",
                               "True",
                               "[1,]",
                               "[,1]",
                               "[1 2]",
                               "{\"a\":1,}",
                               "{\"a\"}",
                               "{\"a\":}",
                               "{a:1}",
                               "{'a':1}",
                               "{1:2}",
                               "[",
                               "{",
                               "[1",
                               "{\"a\":1",
                               "[}",
                               "{]",
                               "[1}",
                               "{\"a\":1]",
                               "01",
                               "-",
                               "-x",
                               "+1",
                               ".5",
                               "1.",
                               "1.e5",
                               "1e",
                               "1e+",
                               "0x10",
                               "1_000",
                               "--1",
                               "//c\n1",
                               "/**/1",
                               "\"a\nb\"",
                               "]",
                               "}",
                               ",",
                               ":"};
  for (const std::string& text : cases) {
    const auto json = Json::parse(text);
    ASSERT_FALSE(json) << text;
    EXPECT_EQ(json.error().code(), ErrorCode::corrupt) << text;
  }
}

TEST(JsonParse, SaysWhereTheErrorIs) {
  EXPECT_EQ(refusal("{\n  \"é\": [1, x]\n}"), "JSON, line 2, column 12 (byte 14): expected a value");
  EXPECT_EQ(refusal("[1"),
            "JSON, line 1, column 3 (byte 2): the document ends where ',' or ']' after an element was expected");
  EXPECT_EQ(refusal("{} {}"), "JSON, line 1, column 4 (byte 3): there is more text after the document's end");
  EXPECT_EQ(refusal("[NaN]"),
            "[0]: JSON, line 1, column 2 (byte 1): NaN is not JSON; metadata writes it as the string \"NaN\"");
  EXPECT_EQ(refusal(R"({"a": 1, "b": {"c": [[1], [2, -Infinity]]}})"),
            "b.c[1][1]: JSON, line 1, column 31 (byte 30): -Infinity is not JSON; metadata writes it as the string "
            "\"-Infinity\"");
  EXPECT_EQ(refusal("NaN"),
            "JSON, line 1, column 1 (byte 0): NaN is not JSON; metadata writes it as the string \"NaN\"");
}

TEST(JsonParse, RefusesDuplicateKeys) {
  EXPECT_EQ(refusal(R"({"a": {"shape":[1],"b":2,"shape":[2]}})"),
            "JSON, line 1, column 7 (byte 6): the key \"shape\" appears twice in the object that begins here");
  EXPECT_EQ(code_of(R"({"shape":1,"\u0073hape":2})"), ErrorCode::corrupt) << "the same key, written with an escape";
  EXPECT_EQ(code_of(R"({"":1,"":2})"), ErrorCode::corrupt);
  EXPECT_TRUE(Json::parse(R"({"a":1,"b":{"a":1},"A":1})"));
  EXPECT_TRUE(Json::parse(R"([{"a":1},{"a":1}])"));
}

TEST(JsonParse, FindsOneDuplicateAmongManyKeys) {
  for (const int count : {15, 16, 17, 100, 200000}) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
    const auto distinct = Json::parse(text + "\"last\":0}");
    ASSERT_TRUE(distinct) << count;
    EXPECT_EQ(distinct->size(), static_cast<std::size_t>(count) + 1);
    EXPECT_EQ(distinct->members()[7].first, "k7");
    EXPECT_EQ(code_of(text + "\"\\u006b3\":0}"), ErrorCode::corrupt) << count;
  }
}

TEST(JsonParse, LimitsTheNumberOfValuesBeforeAllocating) {
  for (const char* text : {"[1,2,3]", R"({"a":1,"b":[2]})", "[[[0]]]", R"(["[,", "\",", {}])", " [ [ ] , { } , 1 ] "}) {
    EXPECT_TRUE(Json::parse(text, 128, 4)) << text;
    const auto json = Json::parse(text, 128, 3);
    ASSERT_FALSE(json) << text;
    EXPECT_EQ(json.error().code(), ErrorCode::unsupported);
    EXPECT_NE(json.error().text().find("json_values = 3"), std::string::npos) << json.error().text();
  }
  EXPECT_TRUE(Json::parse("1", 128, 1));
  EXPECT_TRUE(Json::parse("[]", 128, 1));
}

TEST(JsonParse, AllocatesContainersOfExactSize) {
  const Json json = Json::parse(R"([[1,2,3],[],[[]],{"a":[1,"x,y]",{}],"b":{}},[ [ 0 ] ,0,0,0,0]])").value();
  const std::function<void(const Json&)> check = [&](const Json& value) {
    EXPECT_EQ(value.elements().capacity(), value.elements().size()) << value.dump();
    EXPECT_EQ(value.members().capacity(), value.members().size()) << value.dump();
    for (const Json& element : value.elements()) check(element);
    for (const auto& member : value.members()) check(member.second);
  };
  check(json);
  EXPECT_LE(sizeof(Json), 40U);
}

TEST(JsonParse, BoundsTheDepthWithoutRecursion) {
  EXPECT_TRUE(Json::parse(std::string(128, '[') + std::string(128, ']')));
  const std::string deep(1000000, '[');
  for (const std::string& text : {std::string(129, '[') + std::string(129, ']'), deep}) {
    const auto json = Json::parse(text);
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().code(), ErrorCode::unsupported);
    EXPECT_NE(json.error().text().find("json_depth = 128"), std::string::npos) << json.error().text();
  }
  EXPECT_TRUE(Json::parse("[[{}]]", 3));
  EXPECT_FALSE(Json::parse("[[{}]]", 2));
  const auto raised = Json::parse(deep, 1u << 30);
  ASSERT_FALSE(raised) << "what is read can also be compared, printed and destroyed";
  EXPECT_EQ(raised.error().code(), ErrorCode::unsupported);
  const auto deepest = Json::parse(std::string(4096, '[') + std::string(4096, ']'), 1u << 30);
  ASSERT_TRUE(deepest);
  EXPECT_EQ(Json(*deepest), *deepest);
  EXPECT_EQ(deepest->dump().size(), 8192u);
}

TEST(JsonParse, AcceptsLongStringsAndManyElements) {
  const std::string text = "\"" + std::string(16 << 20, 'a') + "\"";
  EXPECT_EQ(Json::parse(text)->text().size(), std::size_t{16} << 20);
  std::string list = "[0";
  for (int i = 1; i < 100000; ++i) list += "," + std::to_string(i);
  const Json json = *Json::parse(list + "]");
  ASSERT_EQ(json.size(), 100000u);
  EXPECT_EQ(json.elements()[99999].as_uint(), 99999u);
}

}  // namespace json_parse_test
}  // namespace sherd
