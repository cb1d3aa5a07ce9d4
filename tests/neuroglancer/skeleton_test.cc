// Skeletons: the layout of the specification in both directions, and what is refused.
#include <gmock/gmock.h>

#include "tests/neuroglancer/precomputed_testing.hpp"

namespace sherd::neuroglancer {
namespace skeleton_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kInfo =
    R"({"@type": "neuroglancer_skeletons", "transform": [2, 0, 0, 1, 0, 2, 0, 1, 0, 0, 2, 1],
  "vertex_attributes": [{"id": "radius", "data_type": "float32", "num_components": 1},
                        {"id": "kind", "data_type": "uint16", "num_components": 2, "unit": {"a": 1e-09}}],
  "mip": 3, "spatial_index": null, "segment_properties": "props",
  "sharding": {"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity"}})";

std::string golden() {
  return Packed()
      .u32({3, 2})
      .f32({1, 2, 3, 4, 5, 6, 7, 8, 9})
      .u32({0, 1, 1, 2})
      .f32({0.5, 1.5, 2.5})
      .u16({1, 2, 3, 4, 5, 6})
      .text();
}

TEST(Skeleton, IsReadAndWrittenAsSpecified) {
  const auto info = SkeletonInfo::parse(json(kInfo)).value();
  const auto skeleton = Skeleton::parse(bytes_of(golden()), info.vertex_attributes).value();
  EXPECT_THAT(skeleton.vertices, ElementsAre(Position{1, 2, 3}, Position{4, 5, 6}, Position{7, 8, 9}));
  EXPECT_THAT(skeleton.edges, ElementsAre(std::array<std::uint32_t, 2>{0, 1}, std::array<std::uint32_t, 2>{1, 2}));
  ASSERT_EQ(skeleton.attributes.size(), 2);
  EXPECT_THAT(skeleton.attributes[0].as<float>(), ElementsAre(0.5, 1.5, 2.5));
  EXPECT_THAT(skeleton.attributes[1].as<std::uint16_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(skeleton.print(info.vertex_attributes).value(), golden());
}

TEST(Skeleton, WithoutVerticesIsEightZeroBytes) {
  const std::string empty(8, '\0');
  EXPECT_EQ(Skeleton().print({}).value(), empty);
  EXPECT_EQ(Skeleton::parse(bytes_of(empty), {}).value(), Skeleton());
}

TEST(Skeleton, OfAnyOtherLengthIsCorrupt) {
  const auto info = SkeletonInfo::parse(json(kInfo)).value();
  expect_exact_length(golden(), [&](Bytes bytes) { return Skeleton::parse(bytes, info.vertex_attributes); });
}

TEST(Skeleton, ReportsTheExpectedAndTheActualLength) {
  const auto says = [](const std::string& bytes, std::span<const VertexAttribute> attributes = {}) {
    return refusal(Skeleton::parse(bytes_of(bytes), attributes), ErrorCode::corrupt);
  };
  EXPECT_EQ(says(Packed().u32({12, 0}).text() + std::string(100, '\0')),
            "skeleton: 12 vertices need 144 bytes, 100 are left");
  EXPECT_EQ(says(Packed().u32({0xFFFFFFFF, 0xFFFFFFFF}).text()),
            "skeleton: 4294967295 vertices need 51539607540 bytes, 0 are left");
  EXPECT_EQ(says(Packed().u32({0, 0xFFFFFFFF}).text()),
            "skeleton: 4294967295 edges need 34359738360 bytes, 0 are left");
  EXPECT_EQ(says("abc"), "skeleton: the number of vertices needs 4 bytes, 3 are left");
  EXPECT_EQ(says(Packed().u32({1, 1}).f32({0, 0, 0}).u32({0, 1}).text()),
            "skeleton: edge 0 names vertex 1, but there are 1");
  EXPECT_EQ(says(Packed().u32({1, 0}).f32({0, 0, 0}).text() + "ab"),
            "skeleton: after 0 vertex attributes: 2 bytes follow the end");
  const VertexAttribute wide{"colour", DType::float64, 65535};
  EXPECT_EQ(says(Packed().u32({1, 0}).f32({0, 0, 0}).text(), {&wide, 1}),
            "skeleton: 1 values of attribute 'colour' need 524280 bytes, 0 are left");
}

TEST(Skeleton, IsPrintedOnlyAsItIsDescribed) {
  const VertexAttribute radius{"radius"};
  Skeleton skeleton{{{0, 0, 0}}, {}, {column<float>(DType::float32, {1})}};
  EXPECT_TRUE(skeleton.print({&radius, 1}));
  EXPECT_THAT(refusal(skeleton.print({}), ErrorCode::invalid_argument), HasSubstr("1 vertex attributes, but 0"));
  skeleton.attributes[0] = column<std::uint32_t>(DType::uint32, {1});
  EXPECT_THAT(refusal(skeleton.print({&radius, 1}), ErrorCode::invalid_argument),
              HasSubstr("'radius' is 1 x uint32, and 1 x float32 is described"));
  skeleton.attributes[0] = column<float>(DType::float32, {1, 2});
  EXPECT_THAT(refusal(skeleton.print({&radius, 1}), ErrorCode::invalid_argument), HasSubstr("has 8 bytes"));
  skeleton.attributes[0] = column<float>(DType::float32, {1});
  skeleton.edges = {{0, 1}};
  EXPECT_THAT(refusal(skeleton.print({&radius, 1}), ErrorCode::invalid_argument), HasSubstr("edge 0 names vertex 1"));
}

TEST(SkeletonInfo, KeepsMembersThatItDoesNotKnow) {
  const auto info = SkeletonInfo::parse(json(kInfo)).value();
  EXPECT_EQ(info.transform[0], 2);
  EXPECT_EQ(info.segment_properties, "props");
  EXPECT_EQ(info.vertex_attributes[1].other, json(R"({"unit": {"a": 1e-09}})"));
  const Json printed = info.print().value();
  EXPECT_EQ(printed, json(kInfo)) << printed.dump();
  EXPECT_THAT(printed.dump(), HasSubstr("1e-09"));
}

TEST(SkeletonInfo, NeedsNothingButItsType) {
  const auto info = SkeletonInfo::parse(json(R"({"@type": "neuroglancer_skeletons", "sharding": null})")).value();
  EXPECT_EQ(info, SkeletonInfo());
  EXPECT_EQ(info.print().value().find("sharding"), nullptr);
}

TEST(SkeletonInfo, NamesTheMemberThatIsWrong) {
  const auto says = [](const std::string& members, ErrorCode code = ErrorCode::invalid_argument) {
    return refusal(SkeletonInfo::parse(json(R"({"@type": "neuroglancer_skeletons", )" + members + "}")), code);
  };
  EXPECT_THAT(refusal(SkeletonInfo::parse(json("[]")), ErrorCode::invalid_argument), HasSubstr("must be an object"));
  EXPECT_THAT(refusal(SkeletonInfo::parse(json(R"({"@type": "neuroglancer_legacy_mesh"})")), ErrorCode::unsupported),
              HasSubstr("@type"));
  EXPECT_THAT(says(R"("transform": [1, 2])"), HasSubstr("transform"));
  EXPECT_THAT(says(R"("transform": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1e999])"), HasSubstr("transform[11]"));
  EXPECT_THAT(says(R"("sharding": 1)"), HasSubstr("sharding"));
  EXPECT_THAT(says(R"("segment_properties": 1)"), HasSubstr("segment_properties"));
  const auto attribute = [&](const std::string& second) {
    return says(R"("vertex_attributes": [{"id": "a", "data_type": "uint8", "num_components": 1}, )" + second + "]");
  };
  EXPECT_THAT(attribute(R"({"id": "", "data_type": "uint8", "num_components": 1})"),
              HasSubstr("vertex_attributes[1].id"));
  EXPECT_THAT(attribute(R"({"id": "a", "data_type": "uint8", "num_components": 1})"), HasSubstr("is repeated"));
  EXPECT_THAT(attribute(R"({"id": "b", "data_type": "string", "num_components": 1})"),
              HasSubstr("vertex_attributes[1].data_type"));
  EXPECT_THAT(attribute(R"({"id": "b", "data_type": "uint8", "num_components": 0})"),
              HasSubstr("vertex_attributes[1].num_components"));
}

TEST(SkeletonInfo, IsPrintedOnlyIfItCanBeReadBack) {
  SkeletonInfo info;
  info.vertex_attributes = {{"a"}, {"a"}};
  EXPECT_THAT(refusal(info.print(), ErrorCode::invalid_argument), HasSubstr("is repeated"));
  info.vertex_attributes = {{"a"}};
  info.other = json(R"({"transform": 1})");
  EXPECT_THAT(refusal(info.print(), ErrorCode::invalid_argument), HasSubstr("transform"));
}

}  // namespace skeleton_test
}  // namespace sherd::neuroglancer
