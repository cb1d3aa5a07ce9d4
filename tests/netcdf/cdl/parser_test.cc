#include <gtest/gtest.h>

#include <string>

#include "tests/netcdf/cdl/cdl_testing.hpp"

namespace sherd::netcdf {
namespace parser_test {

TEST(CdlErrors, NameLineAndColumn) {
  expect_refused({
      {"", ErrorCode::corrupt,
       "line 1, column 1: 'netcdf', with which CDL begins, is expected, not the end of the text"},
      {"netcdf x", ErrorCode::corrupt, "line 1, column 8: '{' is expected"},
      {"netcdf x {\n", ErrorCode::corrupt, "line 2, column 1: '}' is expected, not the end of the text"},
      {"netcdf x {\n}\n  more", ErrorCode::corrupt, "line 3, column 3: the end of the text is expected, not 'more'"},
      {"netcdf x {\n/* größe */ !", ErrorCode::corrupt, "line 2, column 13: the character \"!\" has no meaning here"},
      {"netcdf x {\n :a = \"größe\", 1 ;}", ErrorCode::corrupt,
       "line 2, column 16: :a: the values of an attribute are all"},
      {"netcdf x {\n :a = \"one\n two", ErrorCode::corrupt,
       "line 2, column 7: :a: a text that begins with \" has no end"},
      {"netcdf x {\n/* one", ErrorCode::corrupt, "line 2, column 1: a comment that begins with /* has no end"},
      {with("int v(z) ;"), ErrorCode::corrupt, "line 5, column 7: the dimension 'z' is not defined"},
      {with("int v(/g/z) ;"), ErrorCode::corrupt, "line 5, column 7: the group 'g' is not defined"},
      {with("thing v ;"), ErrorCode::corrupt, "line 5, column 1: the type 'thing' is not defined"},
      {with("int v ; w:a = 1 ;"), ErrorCode::corrupt, "line 5, column 9: the variable 'w' is not defined"},
      {with("int v ;", "w = 1 ;"), ErrorCode::corrupt, "line 7, column 1: the variable 'w' is not defined"},
      {with("int v, v ;"), ErrorCode::corrupt, "line 5, column 8: the variable 'v' is defined already"},
      {with("int v ;", "v = 1 ; v = 2 ;"), ErrorCode::corrupt, "line 7, column 9: the data of 'v' are given already"},
      {with("int v ; v:a = _ ;"), ErrorCode::corrupt, "line 5, column 15: v:a: '_' is for data"},
      {with("int v ; int v:a = ;"), ErrorCode::corrupt,
       "line 5, column 19: v:a: an attribute of the type int needs a value"},
      {with("int v ; v:_FillValue = 1, 2 ;"), ErrorCode::corrupt, "v:_FillValue: must be one value of the type int"},
      {with("int v(x) ; v:_ChunkSizes = 2, 2 ;"), ErrorCode::corrupt, "v:_ChunkSizes: must have one length"},
      {with("int v(x) ; v:_ChunkSizes = 5 ;"), ErrorCode::corrupt, "greater than the length of 'x', 4"},
      {with("int v(x) ; v:_DeflateLevel = 10 ;"), ErrorCode::corrupt, "v:_DeflateLevel: must be from 0 to 9"},
      {"netcdf x { dimensions: x = -1 ; }", ErrorCode::corrupt, "line 1, column 28: the length of a dimension"},
      {"netcdf x { dimensions: x = 1, x = 2 ; }", ErrorCode::corrupt, "the dimension 'x' is defined already"},
      {"netcdf x { data: variables: }", ErrorCode::corrupt, "line 1, column 18: 'variables:' is out of order"},
      {"netcdf x { group: g { } group: g { } }", ErrorCode::corrupt,
       "line 1, column 32: a group or a variable 'g' is defined"},
      {"netcdf x { :_NCZARR_ATTR = 1 ; }", ErrorCode::corrupt, "line 1, column 13: the attribute '_NCZARR_ATTR' is"},
      {"netcdf x { :a = \"\\377\" ; }", ErrorCode::corrupt, "line 1, column 17: :a: the text is not valid UTF-8"},
      // In Latin-1, where a degree sign is one byte.
      {"netcdf x { :a = \"\xB0\xB0\" ; :b = 3q ; }", ErrorCode::corrupt, "line 1, column 29: "},
      {"netcdf x { :a = \"\xC2\xB0\" ; :b = 3q ; }\n// \xB0", ErrorCode::corrupt, "line 1, column 28: "},
  });
}

TEST(UserDefinedTypes, AreReadAndRefusedByName) {
  const auto typed = [](const std::string& text) { return "netcdf x {\ntypes:\n  " + text + "\n}\n"; };
  expect_refused({
      {typed("compound point { int x, y ; float z(2, 3) ; } ;"), ErrorCode::unsupported,
       "line 3, column 12: the type 'point' is compound, and NCZarr has no user-defined types"},
      {typed("byte enum cloud { Clear = 0, Cumulus = 1 } ;"), ErrorCode::unsupported,
       "line 3, column 13: the type 'cloud' is an enumeration"},
      {typed("opaque(11) raw ;"), ErrorCode::unsupported, "line 3, column 14: the type 'raw' is opaque"},
      {typed("int(*) list ;"), ErrorCode::unsupported, "line 3, column 10: the type 'list' is a list of variable"},
      {typed("compound point { int x, ; } ;"), ErrorCode::corrupt,
       "line 3, column 27: the name of a field is expected"},
  });
  EXPECT_TRUE(Cdl::parse(typed(":a = 1 ;")));
}

TEST(CdlNames, MayHaveAnyCharacterBehindABackslash) {
  const Dataset dataset = dataset_of(R"(netcdf x {
dimensions: two\ words = 2 ; \1st = 1 ;
variables:
  int a\(b\)\[c\](two\ words), größe, data, dimensions, float ;
    data :string = 1 ; data :int = 2 ; dimensions :x = 3 ; float:y = 4 ;
data:
  a\(b\)\[c\] = 5, 6 ; data = 7 ;
})");
  EXPECT_EQ(dataset.root().dimensions().at(0).name, "two words");
  EXPECT_EQ(dataset.root().dimensions().at(1).name, "1st");
  EXPECT_EQ(dataset.root().variable("a(b)[c]")->read().value(), Values(std::vector<std::int32_t>{5, 6}));
  EXPECT_TRUE(dataset.root().variable("größe"));
  EXPECT_EQ(dataset.root().variable("data")->attributes().size(), 2U);
  EXPECT_NE(dataset.root().variable("float")->attribute("y"), nullptr);
}

TEST(CdlGroups, AreNestedAndFindWhatIsDefinedAroundThem) {
  const Dataset dataset = dataset_of(R"(netcdf x {
  :title = "root" ;
dimensions: x = 2 ;
group: g {
  :about = "g" ;
  dimensions: x = 3 ; z = 2 ;
  variables: int inner(x), outer(/x) ; string /g/inner:note = "by path" ;
  data: inner = 1, 2, 3 ; /g/outer = 4, 5 ;
  group: h { variables: int v(z) ; string :s = "t" ; data: v = 6, 7 ; }
  :later = 1 ;
}
})");
  const Group g = *dataset.root().group("g");
  EXPECT_EQ(g.variable("inner")->shape(), (Shape{3}));
  EXPECT_EQ(g.variable("outer")->read().value(), Values(std::vector<std::int32_t>{4, 5}));
  EXPECT_EQ(*g.variable("inner")->attribute("note"), Values(std::vector<std::string>{"by path"}));
  EXPECT_EQ(g.variable("h/v")->read().value(), Values(std::vector<std::int32_t>{6, 7}));
  EXPECT_EQ(*g.attribute("later"), Values(std::vector<std::int32_t>{1}));
  EXPECT_EQ(*dataset.root().attribute("title"), Values(std::string("root")));
}

TEST(CdlComments, MayBeAnywhereAsSectionsMay) {
  EXPECT_TRUE(
      Cdl::parse("\xEF\xBB\xBFnetCDF // a comment\n a b { // {\n/* dimensions: */ dimensions: // x = 1 ;\n"
                 "x = 3, y = 4 ; // \"\nvariables: data: }"));
  EXPECT_EQ(Cdl::parse("netcdf  two\\ words \n{ }")->name(), "two words");
}

TEST(CdlModel, RefusesWhatItCannotExpress) {
  const auto code = [](const std::string& text, DataModel model) {
    const auto parsed = Cdl::parse(text, {.model = model});
    return parsed ? std::string() : parsed.error().text();
  };
  using enum DataModel;
  EXPECT_EQ(code("netcdf x { dimensions: t = unlimited ; x = 1 ; variables: float v(t, x) ; }", classic), "");
  EXPECT_EQ(code("netcdf x { variables: ubyte v ; :a = 1ull ; }", classic_64), "");
  EXPECT_EQ(code("netcdf x { variables: ubyte v ; }", classic),
            "line 1, column 29: 'v' is of the type ubyte, which the classic model does not have; ask for netCDF-4");
  EXPECT_NE(code("netcdf x { :a = 1u ; }", classic), "");
  EXPECT_NE(code("netcdf x { variables: string v ; }", classic_64), "");
  EXPECT_NE(code("netcdf x { group: g { } }", classic_64), "");
  EXPECT_NE(code("netcdf x { dimensions: t = unlimited, u = unlimited ; }", classic), "");
  EXPECT_NE(code("netcdf x { dimensions: t = unlimited ; x = 1 ; variables: int v(x, t) ; }", classic), "");
}

TEST(HostileCdl, OfEveryPrefixIsRefused) {
  const std::string text = with("int v(t, x) ; string s(y) ; s:a = 'b', 1.5f ; v:_ChunkSizes = 1, 2 ;",
                                "v = 1, _, 0x3 ; s = \"a\\n\" ;\ngroup: g { :b = NaN ; }");
  ASSERT_TRUE(Cdl::parse(text)) << Cdl::parse(text).error().text();
  const std::size_t last = text.rfind('}');
  for (std::size_t length = 0; length <= last; ++length) EXPECT_FALSE(Cdl::parse(text.substr(0, length))) << length;
}

}  // namespace parser_test
}  // namespace sherd::netcdf
