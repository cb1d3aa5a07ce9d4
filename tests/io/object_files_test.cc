// SWC and OBJ files, read and written; damaged ones are errors that name the line.
#include "tests/io/object_files_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::object_files_testing {
namespace {

using neuroglancer::Skeleton;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Swc, LinesComeInAnyOrderAndMayHaveSeveralRoots) {
  const Skeleton skeleton = parse_swc(kTree).value();
  ASSERT_EQ(skeleton.vertices.size(), 4);
  EXPECT_THAT(skeleton.vertices[0], ElementsAre(1.5F, 2, -300));
  using Edge = std::array<std::uint32_t, 2>;
  EXPECT_THAT(skeleton.edges, ElementsAre(Edge{1, 2}, Edge{2, 0}));
  EXPECT_THAT(skeleton.attributes[0].as<float>(), ElementsAre(0.5F, 1, 2, 0));
  EXPECT_THAT(skeleton.attributes[1].as<std::uint8_t>(), ElementsAre(1, 3, 3, 0));
}

TEST(Swc, AParentZeroIsThatOfARootUnlessAVertexHasThisId) {
  using Edge = std::array<std::uint32_t, 2>;
  EXPECT_THAT(parse_swc("1 1 0 0 0 1 0\n2 3 1 0 0 1 1\n3 1 5 0 0 1 0\n").value().edges, ElementsAre(Edge{1, 0}));
  EXPECT_THAT(parse_swc("0 1 0 0 0 1 -1\n1 3 1 0 0 1 0\n").value().edges, ElementsAre(Edge{1, 0}));
}

TEST(Swc, WhatIsWrittenHasParentsFirstAndReadsBack) {
  const Skeleton skeleton = parse_swc(kTree).value();
  const SwcText printed = print_swc(skeleton, swc_attributes()).value();
  EXPECT_EQ(printed.text,
            "# id type x y z radius parent\n1 1 1.5 2 -300 0.5 -1\n2 3 1 1 1 2 1\n3 3 2 2 2 1 2\n4 0 0 0 0 0 -1\n");
  EXPECT_EQ(printed.edges_left_out, 0);
  EXPECT_EQ(print_swc(parse_swc(printed.text).value(), swc_attributes()).value().text, printed.text);
}

TEST(Swc, OfACycleLeavesOneEdgeOut) {
  Skeleton ring;
  ring.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  ring.edges = {{0, 1}, {1, 2}, {2, 0}};
  const SwcText printed = print_swc(ring, {}).value();
  EXPECT_EQ(printed.edges_left_out, 1);
  EXPECT_EQ(parse_swc(printed.text).value().edges.size(), 2);
}

TEST(Swc, ErrorsNameTheLine) {
  const auto error = [](std::string_view text) { return parse_swc(text).error().text(); };
  EXPECT_THAT(error("1 1 0 0 0 1 -1\n1 1 0 0 0 1 -1\n"), HasSubstr("line 2: vertex 1 was given in line 1"));
  EXPECT_THAT(error("\n1 1 0 0 0 1 5\n"), HasSubstr("line 2: the parent 5 is not a vertex"));
  EXPECT_THAT(error("1 1 0 0 0 1 1\n"), HasSubstr("line 1: the parent 1 is the vertex itself"));
  EXPECT_THAT(error("1 1 0 0 zero 1 -1\n"), HasSubstr("line 1: 'zero' is not a coordinate"));
  EXPECT_THAT(error("1 1 0 0 nan 1 -1\n"), HasSubstr("line 1: 'nan' is not a coordinate"));
  EXPECT_THAT(error("1 1 0 0 1e39 1 -1\n"), HasSubstr("line 1: a coordinate does not fit in float32"));
  EXPECT_THAT(error("1 256 0 0 0 1 -1\n"), HasSubstr("line 1: the type is 256"));
  EXPECT_THAT(error("1 1 0 0 0 1\n"), HasSubstr("line 1: '' is not the id of a parent"));
  EXPECT_THAT(error("1 1 0 0 0 1 -1 4\n"), HasSubstr("line 1: has more than the seven values"));
  EXPECT_EQ(parse_swc("x").error().code(), ErrorCode::corrupt);
}

TEST(Obj, VerticesAreCountedFromEitherEndAndPolygonsDivided) {
  const std::string_view text =
      "# a pyramid\nmtllib x.mtl\nv 0 0 0\nv 1.5 0 0 1.0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\no part\n"
      "f 1/1/1 2//1 \\\n  3/1 -1\nv 0.5 0.5 -2\nf 1 2 5 # a side\n";
  EXPECT_EQ(parse_obj(text).value(), kPyramid);
}

TEST(Obj, ErrorsNameTheLine) {
  const auto error = [](std::string_view text) { return parse_obj(text).error().text(); };
  EXPECT_THAT(error("v 1 2\n"), HasSubstr("line 1: '' is not a coordinate"));
  EXPECT_THAT(error("v 1 2 3\nf 1 1\n"), HasSubstr("line 2: a face has 2 vertices"));
  EXPECT_THAT(error("v 1 2 3\nf 1 1 2\n"), HasSubstr("line 2: there is no vertex 2, only 1"));
  EXPECT_THAT(error("v 1 2 3\nf 1 1 0\n"), HasSubstr("line 2: there is no vertex 0"));
  EXPECT_THAT(error("v 1 2 3\nf 1 1 -2\n"), HasSubstr("line 2: there is no vertex -2"));
  EXPECT_THAT(error("v 1 2 3\nf 1 1 a/1\n"), HasSubstr("line 2: 'a/1' is not the number of a vertex"));
}

TEST(ObjectFile, OfATransformedCollectionIsInNanometres) {
  const TempDir dir;
  const std::string url = dir.path() + "/bones", file = dir.path() + "/7.swc";
  neuroglancer::SkeletonInfo info;
  info.transform = {0, 8, 0, 100, 8, 0, 0, 0, 0, 0, -40, 5};
  info.vertex_attributes = {swc_attributes()[0]};
  const auto bones = neuroglancer::Collection::create(url, info).value();
  Skeleton skeleton;
  skeleton.vertices = {{1, 2, 3}, {4, 5, 6}};
  skeleton.edges = {{0, 1}};
  skeleton.attributes = {{DType::float32, 1, std::vector<std::byte>(8)}};
  bones.write_skeleton(7, skeleton).value();
  EXPECT_THAT(export_object(url, file, {.id = 7, .unit = "nm"}).value().low, ElementsAre(116, 8, -235));
  EXPECT_EQ(import_object(file, url, {.unit = "nm"}).error().code(), ErrorCode::conflict);
  ASSERT_TRUE(bones.erase(7).value());
  EXPECT_EQ(import_object(file, url, {.unit = "nm"}).value().id, 7);
  const Skeleton again = bones.read_skeleton(7).value().value();
  EXPECT_EQ(again.vertices, skeleton.vertices);
}

TEST(Obj, WhatIsWrittenReadsBack) { EXPECT_EQ(parse_obj(print_obj(kPyramid).value()).value(), kPyramid); }

}  // namespace
}  // namespace sherd::object_files_testing
