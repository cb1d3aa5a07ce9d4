// SWC files, read and written; damaged ones are errors that name the line.
#include "tests/io/object_files_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::object_files_testing {
namespace swc_test {

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

}  // namespace swc_test
}  // namespace sherd::object_files_testing
