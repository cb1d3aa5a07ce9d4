// Annotations: every geometry, and properties of every type with their order and padding.
#include "tests/neuroglancer/annotation_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::neuroglancer::annotation_testing {
namespace annotation_test {

using testing::ElementsAre;
using testing::HasSubstr;

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

}  // namespace annotation_test
}  // namespace sherd::neuroglancer::annotation_testing
