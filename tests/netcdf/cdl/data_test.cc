#include "netcdf/cdl/schema.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/netcdf/cdl/cdl_testing.hpp"

namespace sherd::netcdf {
namespace data_test {

TEST(CdlErrors, InTheDataSectionNameTheValue) {
  expect_refused({
      {with("int v(y) ;", "v = 1, 2, 3 ;"), ErrorCode::corrupt, "line 7, column 11: 'v' has room for 2 values here"},
      {with("int v(y) ;", "v = 1,, 2 ;"), ErrorCode::corrupt, "line 7, column 7: a value is expected, not ','"},
      {with("int v(y) ;", "v = , 2 ;"), ErrorCode::corrupt, "line 7, column 5: a value is expected, not ','"},
      {with("int v(y) ;", "v = 1 2 ;"), ErrorCode::corrupt,
       "line 7, column 7: ',' or ';' is expected, not the number 2"},
      {with("int v(y) ;", "v = {1, 2} ;"), ErrorCode::corrupt, "line 7, column 5: '{' is for unlimited dimensions"},
      {with("int v(y) ;", "v = \"a\" ;"), ErrorCode::corrupt,
       "a number of the type int is expected, not the text \"a\""},
      {with("int v(y) ;", "v = Clear ;"), ErrorCode::corrupt, "'Clear' is not a value; NCZarr has no enumerations"},
      {with("byte v(y) ;", "v = 1, 256 ;"), ErrorCode::corrupt,
       "line 7, column 8: 256 does not fit into the type byte"},
      {with("int v(y) ;", "v = 1, NaN ;"), ErrorCode::corrupt, "line 7, column 8: NaN does not fit into the type int"},
      {with("short v(y) ;", "v = Infinity ;"), ErrorCode::corrupt, "Infinity does not fit into the type short"},
      {with("int v(y) ;", "v = 1e30 ;"), ErrorCode::corrupt, "line 7, column 5: 1e+30 does not fit into the type int"},
      {with("int v(y, u) ;", "v = {1}, 2 ;"), ErrorCode::corrupt, "line 7, column 10: '{' is expected, since 'u' is"},
      {with("int v(y, u) ;", "v = {1}, {2 ;"), ErrorCode::corrupt, "line 7, column 13: '}' is expected, not ';'"},
      {with("int v(y, u) ;", "v = {1}, {2}, {3} ;"), ErrorCode::corrupt, "line 7, column 15: 'v' has room for 2"},
      {with("char v(y) ;", "v = \"abc\" ;"), ErrorCode::corrupt, "line 7, column 5: 'v' has room for 2 values here"},
      {with("char v(y) ;", "v = 65 ;"), ErrorCode::corrupt, "a character or a text is expected, not the number 65"},
      {with("char v(y) ;", "v = {\"a\" ;"), ErrorCode::corrupt, "line 7, column 10: ',' or '}' is expected, not ';'"},
      {with("int v ; v:_FillValue = 1 ;", "v = 1 ;\ngroup: g { :a = 1 ; variables: int /v:_FillValue = 2 ; }"),
       ErrorCode::corrupt, "v:_FillValue: must come before the data of the variable"},
  });
}

TEST(CdlData, MayBeFewerThanTheVariableHolds) {
  EXPECT_EQ(data_of("int v(y, x) ;", "1, 2, 3, 4, 5"), "1, 2, 3, 4, 5, _, _, _");
  EXPECT_EQ(data_of("int v(y, x) ; v:_FillValue = -1 ;", "1, _, -1"), "1, _, _, _, _, _, _, _");
  EXPECT_EQ(data_of("int v(x) ;", ""), "_, _, _, _");
  EXPECT_EQ(data_of("float v(x) ;", "1, 'a', 0x10, 2.5f"), "1, 97, 16, 2.5");
  EXPECT_EQ(data_of("ubyte v(x) ;", "-1, 2.9, 0377, 255"), "255, 2, 255, 255");
  EXPECT_EQ(data_of("string v(x) ;", "\"a\", NIL, 5, 2.5"), "\"a\", _, \"5\", \"2.5\"");
  EXPECT_EQ(data_of("double v ;", "0.1"), "0.1");
}

TEST(CdlData, DetermineTheLengthsOfUnlimitedDimensions) {
  EXPECT_EQ(data_of("int v(t, y) ;", "1, 2, 3"), "1, 2, 3, _");
  EXPECT_EQ(data_of("int v(t, u) ;", "{1, 2}, {3}"), "{1, 2}, {3, _}");
  EXPECT_EQ(data_of("int v(t, u) ;", "{}, {1}"), "{_}, {1}");
  EXPECT_EQ(data_of("int v(t, t) ;", "{1, 2}, {3, 4}"), "{1, 2}, {3, 4}");
  EXPECT_EQ(data_of("int v(y, u) ;", "{1, 2}, {3}"), "{1, 2}, {3, _}");
  EXPECT_EQ(data_of("int v(t, y, u) ;", "{1, 2}, {3}, {4}, {5, 6, 7}, {8}"),
            "{1, 2, _}, {3, _, _}, {4, _, _}, {5, 6, 7}, {8, _, _}, {_, _, _}");
  EXPECT_EQ(data_of("int v(t, u, y) ;", "{1, 2, 3, 4}, {5, 6}, {7}"), "{1, 2, 3, 4}, {5, 6, _, _}, {7, _, _, _}");
  EXPECT_EQ(data_of("int v(y, t, y, u) ;", "{{1, 2}, {3}, {4}, {5}}"),
            "{{1, 2}, {3, _}, {4, _}, {5, _}}, {{_, _}, {_, _}, {_, _}, {_, _}}");
  EXPECT_EQ(dataset_of(with("int v(t, u) ;", "v = {1, 2}, {3} ;"), {.header_only = true}).root().dimensions()[2].length,
            0U);
}

TEST(CdlTexts, FillRowsOfCharacters) {
  EXPECT_EQ(data_of("char v(y, x) ;", "\"ab\", \"c\""), "\"ab\", \"c\"");
  EXPECT_EQ(data_of("char v(y, x) ;", "\"abcdef\""), "\"abcd\", \"ef\"");
  EXPECT_EQ(data_of("char v(y, x) ;", "'a', 'b', 'c', 'd', 'e'"), "\"abcd\", \"e\"");
  EXPECT_EQ(data_of("char v(y, x) ;", "'a', \"b\""), "\"a\", \"b\"");
  EXPECT_EQ(data_of("char v(y, x) ;", "\"\", \"b\""), "\"\", \"b\"");
  EXPECT_EQ(data_of("char v(y, x) ;", "_, \"b\""), "\"\", \"b\"");
  EXPECT_EQ(data_of("char v(y, x) ;", "{\"a\"}, {{\"b\"}}"), "\"a\", \"b\"");
  EXPECT_EQ(data_of("char v(t, x) ;", "\"a\", \"b\", \"c\""), "\"a\", \"b\", \"c\"");
  EXPECT_EQ(data_of("char v(y, x) ; v:_FillValue = \"*\" ;", "\"ab\""), "\"ab**\", \"****\"");
  EXPECT_EQ(data_of("char v(y, x) ; v:_FillValue = '*' ;", "\"ab\""), "\"ab**\", \"****\"");
  EXPECT_EQ(data_of("char v ;", "\"q\""), "\"q\"");
}

TEST(CdlTexts, FollowOneAnotherAlongOneDimension) {
  EXPECT_EQ(data_of("char v(x) ;", "\"a\", \"bc\""), "\"abc\"");
  EXPECT_EQ(data_of("char v(x) ;", "\"\", \"ab\""), R"("\000ab")");
  EXPECT_EQ(data_of("char v(x) ;", "65b, 'b', \"cd\""), "\"Abcd\"");
  EXPECT_EQ(data_of("char v(t) ;", "\"abc\", \"\", \"de\""), "\"abcde\"");
  EXPECT_EQ(data_of("char v(t, u) ;", "{\"1\", \"two\"}, {\"three\"}"), "{\"1two\"}, {\"three\"}");
  EXPECT_EQ(data_of("char v(t, u, y) ;", "{\"1\", \"ab\"}, {\"cd\"}"), "{\"1\", \"ab\"}, {\"cd\", \"\"}");
}

}  // namespace data_test
}  // namespace sherd::netcdf
