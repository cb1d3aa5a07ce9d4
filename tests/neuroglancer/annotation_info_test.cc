// The info of annotations: what it may lack, the order of its properties, and the member that is wrong.
#include "tests/neuroglancer/annotation_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::neuroglancer::annotation_testing {
namespace annotation_info_test {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(AnnotationInfo, IsReadAndKeepsMembersThatItDoesNotKnow) {
  const auto info = AnnotationInfo::parse(json(kInfo)).value();
  EXPECT_EQ(info.dimensions[1], (AnnotationDimension{"y", 4e-9, "m"}));
  EXPECT_EQ(info.type, AnnotationType::ellipsoid);
  EXPECT_THAT(info.properties[0].enum_labels, ElementsAre("axon", "soma"));
  EXPECT_EQ(info.properties[1].type, Type::boolean);
  EXPECT_EQ(info.relationships[0].index.key, "by_cell");
  EXPECT_TRUE(info.by_id.sharding.is_object());
  EXPECT_THAT(info.spatial[0].chunk_size, ElementsAre(64, 65.5, 1));
  const Json printed = info.print().value();
  EXPECT_EQ(AnnotationInfo::parse(printed).value(), info);
  EXPECT_EQ(printed.find("tool")->dump(), R"({"a":1.50})");
  EXPECT_EQ(printed.find("relationships")->dump(), R"([{"id":"cells","key":"by_cell","note":1}])");
  EXPECT_EQ(AnnotationSpatialLevel::cell_key(std::array<std::uint64_t, 3>{1, 22, 333}), "1_22_333");
}

TEST(AnnotationInfo, MayLackItsIndices) {
  const auto info =
      AnnotationInfo::parse(json(R"({"@type": "neuroglancer_annotations_v1", "dimensions": {"x": [1, "nm"]},
    "lower_bound": [0], "upper_bound": [1], "annotation_type": "POINT"})"));
  ASSERT_TRUE(info) << info.error().text();
  EXPECT_EQ(info->type, AnnotationType::point);
  EXPECT_EQ(info->print().value().find("by_id"), nullptr);
  EXPECT_EQ(info->print().value().find("annotation_type")->text(), "POINT");
}

TEST(AnnotationInfo, ListsPropertiesBySizeAsTheyAreStored) {
  const auto ids = [](const AnnotationInfo& info) {
    std::string all;
    for (const AnnotationProperty& property : info.properties) all += property.id;
    return all;
  };
  const Json printed = info_of(AnnotationType::point, every_property()).print().value();
  EXPECT_EQ(ids(AnnotationInfo::parse(printed).value()), "cehbfadgij");
  Json others = printed;  // in another writer's order
  std::ranges::reverse(others.find("properties")->elements());
  EXPECT_EQ(ids(AnnotationInfo::parse(others).value()), "hecfbjigda");
}

TEST(AnnotationInfo, NamesTheMemberThatIsWrong) {
  const auto says = [](std::string_view member, std::string_view value) {
    Json document = json(kInfo);
    document.set(member, json(value));
    return refusal(AnnotationInfo::parse(document), ErrorCode::invalid_argument);
  };
  EXPECT_THAT(says("dimensions", "{}"), HasSubstr("dimensions"));
  EXPECT_THAT(says("dimensions", R"({"x": [1]})"), HasSubstr("dimensions.x"));
  EXPECT_THAT(says("lower_bound", "[1]"), HasSubstr("lower_bound"));
  EXPECT_THAT(says("annotation_type", R"("circle")"), HasSubstr("annotation_type"));
  EXPECT_THAT(says("properties", R"([{"id": "A", "type": "rgb"}])"), HasSubstr("properties[0].id"));
  EXPECT_THAT(says("properties", R"([{"id": "a", "type": "rgb"}, {"id": "a", "type": "rgb"}])"),
              HasSubstr("is repeated"));
  EXPECT_THAT(says("properties", R"([{"id": "a", "type": "float64"}])"), HasSubstr("properties[0].type"));
  EXPECT_THAT(says("properties", R"([{"id": "a", "type": "int8", "enum_values": [1], "enum_labels": []}])"),
              HasSubstr("properties[0].enum_labels"));
  EXPECT_THAT(says("properties", R"([{"id": "a", "type": "int8", "enum_labels": []}])"),
              HasSubstr("needs enum_values"));
  EXPECT_THAT(says("relationships", R"([{"id": "a"}])"), HasSubstr("relationships[0].key"));
  EXPECT_THAT(says("by_id", "[]"), HasSubstr("by_id"));
  const auto level = [&](const std::string& grid, const std::string& size, const std::string& limit) {
    return says("spatial", R"([{"key": "s", "grid_shape": )" + grid + R"(, "chunk_size": )" + size + R"(, "limit": )" +
                               limit + "}]");
  };
  EXPECT_THAT(level("[1, 1]", "[1, 1, 1]", "1"), HasSubstr("spatial[0].grid_shape"));
  EXPECT_THAT(level("[1, 0, 1]", "[1, 1, 1]", "1"), HasSubstr("spatial[0].grid_shape[1]"));
  EXPECT_THAT(level("[1, 1, 1]", "[1, 1, 0]", "1"), HasSubstr("spatial[0].chunk_size"));
  EXPECT_THAT(level("[1, 1, 1]", "[1, 1, 1]", "0"), HasSubstr("spatial[0].limit"));
}

TEST(AnnotationInfo, IsPrintedOnlyIfItCanBeReadBack) {
  auto info = info_of(AnnotationType::point);
  ASSERT_TRUE(info.print());
  info.dimensions[1].name = info.dimensions[0].name;
  EXPECT_THAT(refusal(info.print(), ErrorCode::invalid_argument), HasSubstr("dimensions.d0"));
  info = info_of(AnnotationType::point, {{"a"}, {"a"}});
  EXPECT_THAT(refusal(info.print(), ErrorCode::invalid_argument), HasSubstr("is repeated"));
}

TEST(AnnotationInfo, HasADirectoryOfItsOwnForEachIndex) {
  auto info = info_of(AnnotationType::point);
  info.by_id.key = "k";
  for (const char* key : {"k", "./k/", "info"}) {
    info.relationships = {{"r", {"other"}}, {"s", {key}}};
    EXPECT_THAT(refusal(info.print(), ErrorCode::invalid_argument), HasSubstr("relationships[1].key")) << key;
  }
}

}  // namespace annotation_info_test
}  // namespace sherd::neuroglancer::annotation_testing
