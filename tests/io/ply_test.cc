// PLY files, in text and in either byte order, read and written; damaged ones are errors that name the line or the
// byte.
#include "tests/io/object_files_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::object_files_testing {
namespace ply_test {

using neuroglancer::Mesh;
using testing::HasSubstr;

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

}  // namespace ply_test
}  // namespace sherd::object_files_testing
