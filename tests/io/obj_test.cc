// OBJ files, read and written; damaged ones are errors that name the line.
#include "tests/io/object_files_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::object_files_testing {
namespace obj_test {

using testing::HasSubstr;

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

TEST(Obj, WhatIsWrittenReadsBack) { EXPECT_EQ(parse_obj(print_obj(kPyramid).value()).value(), kPyramid); }

}  // namespace obj_test
}  // namespace sherd::object_files_testing
