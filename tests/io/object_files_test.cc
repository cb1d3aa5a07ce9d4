// SWC, PLY and OBJ, read and written; damaged ones are errors that name the line or the byte.
#include "sherd/object_files.hpp"

#include <gmock/gmock.h>

#include "base/buffer.hpp"
#include "sherd/collection.hpp"
#include "sherd/store.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace {

using neuroglancer::Mesh;
using neuroglancer::Skeleton;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kTree =
    "# two trees\n"
    "  7 1 1.5 2 -3e2 0.5 -1   # the soma\r\n"
    "\n"
    "9 3 2 2 2 1 8\n"
    "8 3 1 1 1 +2 7\n"
    "20 0 0 0 0 0 -1\n";

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

const Mesh kPyramid{{{0, 0, 0}, {1.5, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, -2}}, {{0, 1, 2}, {0, 2, 3}, {0, 1, 4}}};

TEST(Ply, WhatIsWrittenReadsBack) {
  EXPECT_EQ(parse_ply(as_bytes(print_ply(kPyramid).value())).value(), kPyramid);
  EXPECT_EQ(parse_ply(as_bytes(print_ply({}).value())).value(), Mesh{});
}

TEST(Ply, InTextSkipsWhatIsNotPositionsAndFacesAndDividesPolygons) {
  const std::string_view text =
      "ply\r\nformat ascii 1.0\r\ncomment made by hand\r\nelement vertex 5\nproperty uchar red\nproperty float x\n"
      "property double y\nproperty float z\nproperty list uchar int neighbours\nelement camera 1\nproperty float x\n"
      "element face 2\nproperty list uchar int vertex_index\nproperty float quality\nend_header\n"
      "9 0 0 0 2 7 7\n9 1.5 0 0 0\n\n9 1 1 0 0\n9 0 1 0 0\n9 0.5 0.5 -2 0\n3.5\n4 0 1 2 3 0.5\n3 0 1 4 0.25\n";
  EXPECT_EQ(parse_ply(as_bytes(text)).value(), kPyramid);
}

TEST(Ply, InBinaryOfEitherOrderIsTheSame) {
  const auto body = [](bool big) {
    std::string bytes;
    const auto word = [&](std::uint64_t value, int size) {
      for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * (big ? size - 1 - i : i));
    };
    for (const auto& vertex : kPyramid.vertices) {
      word(0xFFFE, 2);
      for (const float at : vertex) word(std::bit_cast<std::uint64_t>(double{at}), 8);
    }
    for (const auto& triangle : kPyramid.triangles) {
      word(3, 4);
      for (const std::uint32_t vertex : triangle) word(vertex, 2);
    }
    return std::string("ply\nformat binary_") + (big ? "big" : "little") +
           "_endian 1.0\nelement vertex 5\nproperty short flag\nproperty double x\nproperty double y\nproperty double "
           "z\nelement face 3\nproperty list uint ushort vertex_indices\nend_header\n" +
           bytes;
  };
  EXPECT_EQ(parse_ply(as_bytes(body(true))).value(), kPyramid);
  EXPECT_EQ(parse_ply(as_bytes(body(false))).value(), kPyramid);
}

TEST(Ply, ErrorsNameTheLineOrTheByte) {
  const auto error = [](const std::string& text) { return parse_ply(as_bytes(text)).error().text(); };
  const std::string head =
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n";
  EXPECT_THAT(error("plx\n"), HasSubstr("not a PLY file"));
  EXPECT_THAT(error(head), HasSubstr("the header does not end"));
  EXPECT_THAT(error(head + "end_header\n1 2 x\n"), HasSubstr("line 8: 'x' is not a number"));
  EXPECT_THAT(error(head + "end_header\n\n"), HasSubstr("bytes are left"));
  EXPECT_THAT(error(head + "element face 1\nproperty list uchar int vertex_indices\nend_header\n1 2 3\n3 0 0 1\n"),
              HasSubstr("triangle 0 names vertex 1, but there are 1"));
  EXPECT_THAT(error(head + "element face 1\nproperty list uchar int vertex_indices\nend_header\n1 2 3\n3 0 0 -1\n"),
              HasSubstr("line 11: a face names a vertex that is not a whole number"));
  EXPECT_THAT(
      error("ply\nformat ascii 1.0\nelement vertex 99999999999\nproperty float x\nproperty float y\nproperty float "
            "z\nend_header\n1 2 3\n"),
      HasSubstr("the header declares 99999999999 of 'vertex', but only 6 bytes are left"));
  EXPECT_THAT(error("ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n"),
              HasSubstr("no property 'y'"));
  EXPECT_THAT(error("ply\nformat ascii 2.0\nend_header\n"), HasSubstr("PLY version '2.0'"));
  const std::string whole = print_ply(kPyramid).value();
  EXPECT_THAT(error(whole.substr(0, whole.size() - 1)),
              HasSubstr("the file ends at byte " + std::to_string(whole.size() - 1)));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_ply(as_bytes(whole.substr(0, size)))) << size;
}

TEST(Obj, WhatIsWrittenReadsBack) { EXPECT_EQ(parse_obj(print_obj(kPyramid).value()).value(), kPyramid); }

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

}  // namespace
}  // namespace sherd
