// Annotations: every geometry, properties of every type with their order and padding, relationships, and the info.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/neuroglancer/precomputed_testing.hpp"

namespace sherd::neuroglancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Type = AnnotationProperty::Type;

AnnotationInfo info_of(AnnotationType type, std::vector<AnnotationProperty> properties = {}, std::size_t rank = 2) {
  AnnotationInfo info;
  for (std::size_t d = 0; d < rank; ++d) info.dimensions.push_back({"d" + std::to_string(d), 1, "m"});
  info.lower_bound.assign(rank, 0);
  info.upper_bound.assign(rank, 10);
  info.type = type;
  info.properties = std::move(properties);
  return info;
}

// All types in an order that is not that of their sizes.
std::vector<AnnotationProperty> every_property() {
  return {{"a", Type::rgb},   {"b", Type::uint16}, {"c", Type::float32}, {"d", Type::int8},    {"e", Type::int32},
          {"f", Type::int16}, {"g", Type::rgba},   {"h", Type::uint32},  {"i", Type::boolean}, {"j", Type::uint8}};
}

std::vector<Column> every_value() {
  return {column<std::uint8_t>(DType::uint8, {1, 2, 3}, 3),
          column<std::uint16_t>(DType::uint16, {0x0405}),
          column<float>(DType::float32, {1.5}),
          column<std::int8_t>(DType::int8, {-6}),
          column<std::int32_t>(DType::int32, {-7}),
          column<std::int16_t>(DType::int16, {-8}),
          column<std::uint8_t>(DType::uint8, {9, 10, 11, 12}, 4),
          column<std::uint32_t>(DType::uint32, {0x0D0E0F10}),
          column<std::uint8_t>(DType::uint8, {1}),
          column<std::uint8_t>(DType::uint8, {17})};
}

// Words of four bytes, of two, then bytes, each in the info's order; 26 bytes and so two of padding.
Packed& add_every_value(Packed& packed) {
  return packed.f32({1.5})
      .u32({0xFFFFFFF9, 0x0D0E0F10})
      .u16({0x0405, 0xFFF8})
      .u8({1, 2, 3, 0xFA, 9, 10, 11, 12, 1, 17})
      .u8({0, 0});
}

TEST(Annotation, HoldsGeometryPropertiesBySizeAndRelatedIds) {
  auto info = info_of(AnnotationType::point, every_property());
  info.relationships = {{"cells", {"cells"}}, {"none", {"none"}}};
  Packed packed;
  packed.f32({0.5, -1});
  add_every_value(packed).u32({2}).u64({7, 0xFFFFFFFFFFFFFFFF}).u32({0});
  const auto annotation = Annotation::parse(bytes_of(packed.text()), info).value();
  EXPECT_THAT(annotation.geometry, ElementsAre(0.5, -1));
  EXPECT_EQ(annotation.properties, every_value());
  EXPECT_THAT(annotation.related, ElementsAre(ElementsAre(7, 0xFFFFFFFFFFFFFFFF), ElementsAre()));
  EXPECT_EQ(annotation.print(info).value(), packed.text());
  expect_exact_length(packed.text(), [&](Bytes bytes) { return Annotation::parse(bytes, info); });
}

TEST(Annotation, HasAsManyVectorsAsItsTypeSays) {
  for (const AnnotationType type :
       {AnnotationType::line, AnnotationType::axis_aligned_bounding_box, AnnotationType::ellipsoid}) {
    const auto info = info_of(type, {{"a", Type::uint8}}, 3);
    const std::string bytes = Packed().f32({1, 2, 3, 4, 5, 6}).u8({9, 0, 0, 0}).text();
    const auto annotation = Annotation::parse(bytes_of(bytes), info).value();
    EXPECT_THAT(annotation.geometry, ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(annotation.print(info).value(), bytes);
    expect_exact_length(bytes, [&](Bytes cut) { return Annotation::parse(cut, info); });
  }
}

TEST(Annotation, PolylinesSayHowManyPointsTheyHave) {
  const auto info = info_of(AnnotationType::polyline, {{"a", Type::uint16}});
  const std::string bytes = Packed().u32({3}).f32({1, 2, 3, 4, 5, 6}).u16({7, 0}).text();
  const auto line = Annotation::parse(bytes_of(bytes), info).value();
  EXPECT_THAT(line.geometry, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(line.print(info).value(), bytes);
  expect_exact_length(bytes, [&](Bytes cut) { return Annotation::parse(cut, info); });
  EXPECT_EQ(refusal(Annotation::parse(bytes_of(Packed().u32({0xFFFFFFFF}).text()), info), ErrorCode::corrupt),
            "annotation: 4294967295 points need 34359738360 bytes, 0 are left");
}

TEST(Annotation, AnyPaddingIsReadAndZerosAreWritten) {
  const auto info = info_of(AnnotationType::point, {{"a", Type::uint8}}, 1);
  const auto annotation = Annotation::parse(bytes_of(Packed().f32({1}).u8({2, 3, 4, 5}).text()), info).value();
  EXPECT_EQ(annotation.print(info).value(), Packed().f32({1}).u8({2, 0, 0, 0}).text());
}

TEST(Annotation, IsPrintedOnlyAsItsInfoSays) {
  auto info = info_of(AnnotationType::line, {{"a", Type::uint8}});
  info.relationships = {{"r", {"r"}}};
  const Annotation good{{1, 2, 3, 4}, {column<std::uint8_t>(DType::uint8, {1})}, {{}}};
  ASSERT_TRUE(good.print(info));
  const auto says = [&](const auto& spoil) {
    Annotation bad = good;
    spoil(bad);
    return refusal(bad.print(info), ErrorCode::invalid_argument);
  };
  EXPECT_THAT(says([](Annotation& bad) { bad.geometry.pop_back(); }), HasSubstr("has 3 floats, and 4 are expected"));
  EXPECT_THAT(says([](Annotation& bad) { bad.properties.clear(); }), HasSubstr("0 properties, but the info has 1"));
  EXPECT_THAT(says([](Annotation& bad) { bad.properties[0].dtype = DType::int8; }), HasSubstr("property 'a' must be"));
  EXPECT_THAT(says([](Annotation& bad) { bad.related.clear(); }), HasSubstr("the info has 1 relationships"));
  info.type = AnnotationType::polyline;
  EXPECT_THAT(says([](Annotation& bad) { bad.geometry.pop_back(); }), HasSubstr("a multiple of 2"));
  EXPECT_THAT(says([](Annotation& bad) { bad.geometry.clear(); }), HasSubstr("at least one point"));
  info.dimensions.clear();
  EXPECT_THAT(says([](Annotation&) {}), HasSubstr("no dimensions"));
}

TEST(Annotations, AreRecordsFollowedByTheirIds) {
  const auto info = info_of(AnnotationType::point, every_property());
  Packed packed;
  packed.u64({2}).f32({1, 2});
  add_every_value(packed).f32({3, 4});
  add_every_value(packed).u64({77, 88});
  const auto list = Annotations::parse(bytes_of(packed.text()), info).value();
  EXPECT_THAT(list.ids, ElementsAre(77, 88));
  EXPECT_THAT(list.geometry, ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(list.points.empty());
  EXPECT_THAT(list.properties[0].as<std::uint8_t>(), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(list.properties[4].as<std::int32_t>(), ElementsAre(-7, -7));
  EXPECT_EQ(list.print(info).value(), packed.text());
  expect_exact_length(packed.text(), [&](Bytes bytes) { return Annotations::parse(bytes, info); });
}

TEST(Annotations, OfPolylinesDifferInLength) {
  const auto info = info_of(AnnotationType::polyline, {{"a", Type::uint8}}, 1);
  const std::string bytes =
      Packed().u64({2}).u32({1}).f32({5}).u8({6, 0, 0, 0}).u32({3}).f32({7, 8, 9}).u8({10, 0, 0, 0}).u64({1, 2}).text();
  const auto list = Annotations::parse(bytes_of(bytes), info).value();
  EXPECT_THAT(list.points, ElementsAre(1, 3));
  EXPECT_THAT(list.geometry, ElementsAre(5, 7, 8, 9));
  EXPECT_THAT(list.properties[0].as<std::uint8_t>(), ElementsAre(6, 10));
  EXPECT_EQ(list.print(info).value(), bytes);
  expect_exact_length(bytes, [&](Bytes cut) { return Annotations::parse(cut, info); });
}

TEST(Annotations, AreNotAllocatedBeforeTheirCountIsChecked) {
  const auto says = [](const AnnotationInfo& info, std::uint64_t count) {
    const std::string bytes = Packed().u64({count, 0}).text();
    return refusal(Annotations::parse(bytes_of(bytes), info), ErrorCode::corrupt);
  };
  const auto points = info_of(AnnotationType::point, every_property());
  EXPECT_EQ(says(points, 0xFFFFFFFFFFFFFFFF),
            "annotations: 18446744073709551615 annotations of at least 44 bytes, but only 8 are left");
  EXPECT_EQ(says(points, 1), "annotations: 1 annotations of at least 44 bytes, but only 8 are left");
  EXPECT_THAT(says(info_of(AnnotationType::polyline), std::uint64_t{1} << 61), HasSubstr("at least 12 bytes"));
  const std::string none(8, '\0');
  EXPECT_EQ(Annotations::parse(bytes_of(none), points).value().ids.size(), 0);
}

TEST(Annotations, ArePrintedOnlyIfTheirColumnsAgree) {
  const auto info = info_of(AnnotationType::polyline, {{"a", Type::uint16}});
  const Annotations good{{1, 2}, {1, 2, 3, 4, 5, 6}, {1, 2}, {column<std::uint16_t>(DType::uint16, {1, 2})}};
  ASSERT_TRUE(good.print(info));
  const auto says = [&](const AnnotationInfo& as, const auto& spoil) {
    Annotations bad = good;
    spoil(bad);
    return refusal(bad.print(as), ErrorCode::invalid_argument);
  };
  EXPECT_THAT(says(info, [](Annotations& bad) { bad.points.pop_back(); }), HasSubstr("2 polylines need"));
  EXPECT_THAT(says(info, [](Annotations& bad) { bad.points = {3, 0}; }), HasSubstr("at least one point"));
  EXPECT_THAT(says(info, [](Annotations& bad) { bad.points = {1, 3}; }), HasSubstr("4 vectors of 2 floats"));
  EXPECT_THAT(says(info, [](Annotations& bad) { bad.properties[0].bytes.pop_back(); }), HasSubstr("property 'a'"));
  EXPECT_THAT(says(info_of(AnnotationType::line, {{"a", Type::uint16}}), [](Annotations&) {}),
              HasSubstr("can only be set for polylines"));
}

constexpr std::string_view kInfo = R"({"@type": "neuroglancer_annotations_v1",
  "dimensions": {"x": [4e-09, "m"], "y": [4e-09, "m"], "t": [1, ""]},
  "lower_bound": [0, -1.5, 2], "upper_bound": [64, 64, 3], "annotation_type": "ellipsoid",
  "properties": [{"id": "kind", "type": "uint8", "description": "what", "enum_values": [0, 3],
                  "enum_labels": ["axon", "soma"], "default": 3}, {"id": "on_Off1", "type": "bool"}],
  "relationships": [{"id": "cells", "key": "by_cell", "note": 1}],
  "by_id": {"key": "by_id", "sharding": {"@type": "neuroglancer_uint64_sharded_v1"}},
  "spatial": [{"key": "spatial0", "grid_shape": [1, 1, 1], "chunk_size": [64, 65.5, 1], "limit": 1000, "extra": []}],
  "segment_properties": "props", "tool": {"a": 1.50}})";

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

}  // namespace
}  // namespace sherd::neuroglancer
