// Segment properties: each type of property against Neuroglancer's schema.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "tests/neuroglancer/precomputed_testing.hpp"

namespace sherd::neuroglancer {
namespace segment_properties_test {

using testing::ElementsAre;
using testing::HasSubstr;
using Type = SegmentProperty::Type;

constexpr std::string_view kInfo = R"({"@type": "neuroglancer_segment_properties", "made": "by hand", "inline": {
  "ids": ["1", "18446744073709551615"], "note": 1.0, "properties": [
    {"id": "label", "type": "label", "values": ["a", ""], "x": 1e0},
    {"id": "about", "type": "description", "description": "d", "values": ["b", "c"]},
    {"id": "text", "type": "string", "values": ["", "ü"]},
    {"id": "tags", "type": "tags", "tags": ["soma", "axon"], "tag_descriptions": ["S", "A"], "values": [[0, 1], []]},
    {"id": "size", "type": "number", "data_type": "float32", "values": [0.1, -3]},
    {"id": "class", "type": "number", "data_type": "int8", "description": "d", "values": [-128, 127]}]}})";

Json spoiled(const std::function<void(Json&)>& spoil) {
  Json document = json(kInfo);
  spoil(*document.find("inline"));
  return document;
}
Json& property(Json& inlined, std::size_t i) { return inlined.find("properties")->elements()[i]; }

TEST(SegmentProperties, AreReadAndWrittenWithAllTheirMembers) {
  const auto parsed = SegmentProperties::parse(json(kInfo)).value();
  EXPECT_THAT(parsed.ids, ElementsAre(1, 18446744073709551615U));
  const auto& properties = parsed.properties;
  EXPECT_THAT(properties[0].texts, ElementsAre("a", ""));
  EXPECT_EQ(properties[1].description, "d");
  EXPECT_THAT(properties[3].tags, ElementsAre("soma", "axon"));
  EXPECT_THAT(properties[3].tag_values, ElementsAre(ElementsAre(0, 1), ElementsAre()));
  EXPECT_THAT(properties[4].numbers.as<float>(), ElementsAre(0.1F, -3.0F));
  EXPECT_THAT(properties[5].numbers.as<std::int8_t>(), ElementsAre(-128, 127));
  const Json printed = parsed.print().value();
  EXPECT_EQ(SegmentProperties::parse(printed).value(), parsed);
  EXPECT_EQ(printed.find("made")->text(), "by hand");
  EXPECT_EQ(printed.find("inline")->find("note")->text(), "1.0");
  EXPECT_EQ(printed.find("inline")->find("properties")->elements()[0].find("x")->text(), "1e0");
  EXPECT_EQ(printed.find("inline")->find("properties")->elements()[4].find("values")->elements()[0].text(), "0.1");
}

TEST(SegmentProperties, NameTheMemberThatIsWrong) {
  const auto says = [](const std::function<void(Json&)>& spoil) {
    return refusal(SegmentProperties::parse(spoiled(spoil)), ErrorCode::invalid_argument);
  };
  const auto at = [&](std::size_t i, const char* member, std::string_view value) {
    return says([&](Json& inlined) { property(inlined, i).set(member, json(value)); });
  };
  EXPECT_THAT(refusal(SegmentProperties::parse(json(R"({"@type": "neuroglancer_segment_properties"})")),
                      ErrorCode::invalid_argument),
              HasSubstr("inline"));
  for (const char* ids :
       {"[1, 2]", R"(["1", "-2"])", R"(["1", ""])", R"(["1", "18446744073709551616"])", R"(["1", "2x"])"})
    EXPECT_THAT(says([&](Json& inlined) { inlined.set("ids", json(ids)); }), HasSubstr("inline.ids[")) << ids;
  EXPECT_THAT(says([](Json& inlined) { inlined.set("ids", json("[]")); }), HasSubstr("inline.properties[0].values"));
  EXPECT_THAT(at(0, "values", R"(["a"])"), HasSubstr("inline.properties[0].values"));
  EXPECT_THAT(at(0, "values", R"(["a", 1])"), HasSubstr("inline.properties[0].values[1]"));
  EXPECT_THAT(at(0, "type", R"("colour")"), HasSubstr("inline.properties[0].type"));
  EXPECT_THAT(at(2, "type", R"("label")"), HasSubstr("at most one can be of type label"));
  EXPECT_THAT(at(3, "tags", R"(["a", "a"])"), HasSubstr("tags[1]"));
  EXPECT_THAT(at(3, "tags", R"(["a", "b c"])"), HasSubstr("spaces"));
  EXPECT_THAT(at(3, "tags", R"(["#a", "b"])"), HasSubstr("#"));
  EXPECT_THAT(at(3, "tag_descriptions", R"(["a"])"), HasSubstr("tag_descriptions"));
  for (const char* values : {"[[0, 2], []]", "[[1, 0], []]", "[[0, 0], []]", "[[-1], []]", "[[0.5], []]", "[0, 1]"})
    EXPECT_THAT(at(3, "values", values), HasSubstr("inline.properties[3].values[0]")) << values;
  EXPECT_THAT(at(4, "data_type", R"("float64")"), HasSubstr("data_type"));
  EXPECT_THAT(at(4, "values", "[1e39, 0]"), HasSubstr("values[0]"));
  for (const char* values : {"[128, 0]", "[-129, 0]", "[0.5, 0]", R"(["1", 0])", "[null, 0]"})
    EXPECT_THAT(at(5, "values", values), HasSubstr("inline.properties[5].values[0]")) << values;
}

TEST(SegmentProperties, AcceptIntegersWithAZeroFraction) {
  const auto parsed =
      SegmentProperties::parse(spoiled([](Json& inlined) { property(inlined, 5).set("values", json("[1.0, 2e1]")); }));
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_THAT(parsed->properties[5].numbers.as<std::int8_t>(), ElementsAre(1, 20));
}

TEST(SegmentProperties, CheckTheRangeOfEveryNumberType) {
  const auto round = [](const Column& numbers) {
    SegmentProperties made;
    made.ids = {1, 2};
    made.properties.push_back({.id = "n", .type = Type::number, .numbers = numbers});
    return SegmentProperties::parse(made.print().value()).value() == made;
  };
  EXPECT_TRUE(round(column<std::uint8_t>(DType::uint8, {0, 255})));
  EXPECT_TRUE(round(column<std::int8_t>(DType::int8, {-128, 127})));
  EXPECT_TRUE(round(column<std::uint16_t>(DType::uint16, {0, 65535})));
  EXPECT_TRUE(round(column<std::int16_t>(DType::int16, {-32768, 32767})));
  EXPECT_TRUE(round(column<std::uint32_t>(DType::uint32, {0, 4294967295U})));
  EXPECT_TRUE(round(column<std::int32_t>(DType::int32, {-2147483647 - 1, 2147483647})));
  EXPECT_TRUE(round(column<float>(DType::float32, {1e-45F, 3.4028235e38F})));
}

TEST(SegmentProperties, ArePrintedOnlyIfTheyCanBeReadBack) {
  const auto says = [](const SegmentProperty& property) {
    SegmentProperties made;
    made.ids = {1};
    made.properties = {property};
    return refusal(made.print(), ErrorCode::invalid_argument);
  };
  EXPECT_THAT(says({.id = "a", .texts = {"x", "y"}}), HasSubstr("has 2 elements, but there are 1 ids"));
  EXPECT_THAT(says({.id = "a", .type = Type::tags, .description = "d", .tag_values = {{}}}), HasSubstr("description"));
  EXPECT_THAT(says({.id = "a", .type = Type::tags, .tags = {"t"}, .tag_values = {{1}}}), HasSubstr("values[0]"));
  EXPECT_THAT(says({.id = "a", .type = Type::number, .numbers = column<double>(DType::float64, {1})}),
              HasSubstr("numbers are"));
  EXPECT_NE(says({.id = "a", .type = Type::number, .numbers = column<float>(DType::float32, {NAN})}), "no error");
}

}  // namespace segment_properties_test
}  // namespace sherd::neuroglancer
