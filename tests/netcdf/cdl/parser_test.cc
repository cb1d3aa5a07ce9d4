#include "sherd/netcdf_cdl.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace parser_test {

/// The dataset in memory, as the writer leaves it.
Dataset dataset_of(const std::string& text, const CdlOptions& options = {}, const std::string& format = "zarr2") {
  const auto store = memory_store();
  auto writer = Writer::create(store, {.format = format}).value();
  Cdl::parse(text, options).value().write(writer).value();
  return Dataset::open(store).value();
}
std::string round_trip(const std::string& text, const CdlOptions& options = {}, const std::string& format = "zarr2") {
  return text_of(dataset_of(text, options, format));
}

/// A dataset with dimensions of all kinds, and what is behind `variables:`.
std::string with(const std::string& variables, const std::string& data = {}) {
  return "netcdf x {\ndimensions:\n  x = 4 ; y = 2 ; t = unlimited ; u = unlimited ;\nvariables:\n" + variables +
         (data.empty() ? "" : "\ndata:\n" + data) + "\n}\n";
}
/// The attribute `a` as it is printed, of a variable that has `text` as its value.
std::string attribute_of(const std::string& text, const std::string& type = {}) {
  const std::string header = header_of(dataset_of(with("int v ; " + type + " v:a = " + text + " ;")));
  const std::size_t begin = header.find("v:a = ") + 6;
  return header.substr(begin, header.find(" ;\n", begin) - begin);
}
/// The data of `v` as they are printed, without line breaks.
std::string data_of(const std::string& declaration, const std::string& text, const CdlOptions& options = {}) {
  const std::string all = round_trip(with(declaration, "v = " + text + " ;"), options);
  const std::size_t begin = all.find(" v =") + 4;
  std::string data;
  for (const char c : all.substr(begin, all.find(" ;\n", begin) - begin))
    if (c != '\n' && (c != ' ' || (!data.empty() && data.back() != ' '))) data += c;
  return data;
}

struct Refused {
  std::string text;
  ErrorCode code;
  std::string message;
};
void expect_refused(const std::vector<Refused>& rows) {
  for (const auto& [text, code, message] : rows) {
    const auto parsed = Cdl::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), code) << text;
    EXPECT_NE(parsed.error().text().find(message), std::string::npos) << text << "\n" << parsed.error().text();
  }
}

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

TEST(CdlNumbers, ThatAreMalformedAreRefused) {
  for (const std::string text : {"08",
                                 "1x",
                                 "0x",
                                 "0x1g",
                                 "1bb",
                                 "1.5s",
                                 ".",
                                 "-",
                                 "+.",
                                 "1e",
                                 "1.5e+",
                                 "-1u",
                                 "300b",
                                 "70000s",

                                 "18446744073709551616",
                                 "-9223372036854775809",
                                 "1_0",
                                 "'ab'",
                                 "''",
                                 "'a",
                                 "-infinity"})
    EXPECT_FALSE(Cdl::parse("netcdf x { :a = " + text + " ; }")) << text;
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

TEST(CdlAttributes, HaveTheTypeOfTheirValues) {
  EXPECT_EQ(attribute_of("1"), "1");
  EXPECT_EQ(attribute_of("1b, 2s"), "1s, 2s");
  EXPECT_EQ(attribute_of("2b, 1ub"), "2UB, 1UB");
  EXPECT_EQ(attribute_of("1us, 3l, +4"), "1, 3, 4");
  EXPECT_EQ(attribute_of("10su"), "10US");
  EXPECT_EQ(attribute_of("3000000000, -3000000000"), "3000000000LL, -3000000000LL");
  EXPECT_EQ(attribute_of("9999999999"), "9999999999ULL");
  EXPECT_EQ(attribute_of("18446744073709551615"), "18446744073709551615ULL");
  EXPECT_EQ(attribute_of("1, 2.5f"), "1.f, 2.5f");
  EXPECT_EQ(attribute_of("1, 2.5f, 3d, .5, 1e3, 1.e-3L"), "1., 2.5, 3., 0.5, 1000., 0.001");
  EXPECT_EQ(attribute_of("NaNf, -Infinityf, Inff"), "NaNf, -Infinityf, Infinityf");
  EXPECT_EQ(attribute_of("NaN, -Infinity, Infinity"), "NaN, -Infinity, Infinity");
  EXPECT_EQ(attribute_of("'a'"), "97b");
  EXPECT_EQ(attribute_of("\"one\", \"two\""), "\"onetwo\"");
  EXPECT_EQ(attribute_of(""), "\"\"");
}

TEST(CdlAttributes, AreConvertedToADeclaredType) {
  EXPECT_EQ(attribute_of("\"one\", \"\", \"two\"", "string"), "\"one\", \"\", \"two\"");
  EXPECT_EQ(attribute_of("1, 2.5", "string"), "\"1\", \"2.5\"");
  EXPECT_EQ(attribute_of("2ll, \"b\", 65b, 'x', 0.5f", "string"), R"("2", "b", "65", "120", "0.5")");
  EXPECT_EQ(attribute_of("NaN, \"b\", -Inff, NIL, Infinity", "string"), R"("nan", "b", "-inf", "", "inf")");
  EXPECT_EQ(attribute_of("1, 2", "float"), "1.f, 2.f");
  EXPECT_EQ(attribute_of("2.9, -2.9", "short"), "2s, -2s");
  EXPECT_EQ(attribute_of("255, -1", "byte"), "-1b, -1b");
  EXPECT_EQ(attribute_of("65b, 'b'", "char"), "\"Ab\"");
  EXPECT_EQ(attribute_of("7", "ULONG"), "7U");
}

TEST(CdlNumbers, MayBeOctalOrHexadecimal) {
  EXPECT_EQ(attribute_of("010, 0, 00"), "8, 0, 0");
  EXPECT_EQ(attribute_of("0x7f, 0X10"), "127, 16");
  EXPECT_EQ(attribute_of("0x7fs"), "127s");
  EXPECT_EQ(attribute_of("0xffull"), "255ULL");
  EXPECT_EQ(attribute_of("65535s, 255s"), "-1s, 255s");
  EXPECT_EQ(attribute_of("-200000000000L"), "-200000000000LL");
}

TEST(CdlTexts, HaveAllEscapes) {
  EXPECT_EQ(attribute_of(R"("\a\b\f\n\r\t\v\\\'\"\x41\101\?\q")"), R"("\007\b\f\n\r\t\v\\\'\"AA\177q")");
  EXPECT_EQ(attribute_of("\"\\0a\\00b\\000c\""), R"("\000a\000b\000c")");
  EXPECT_EQ(attribute_of("\"größe\""), "\"größe\"");
  EXPECT_EQ(attribute_of("\"two\nlines\""), R"("two\nlines")");
  EXPECT_FALSE(Cdl::parse("netcdf x { :a = \"\\xg\" ; }"));
  EXPECT_FALSE(Cdl::parse("netcdf x { :a = \"\\777\" ; }"));
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

TEST(CdlStrings, AreAsLongAsTheLongestUnlessAnAttributeSaysOtherwise) {
  const std::string longest(1000, 'a');
  EXPECT_EQ(data_of("string v(y) ;", "\"" + longest + "\", \"b\""), "\"" + longest + "\", \"b\"");
  const std::string limited = with("string v(y) ; v:_nczarr_maxstrlen = 4 ;", "v = \"größe\", \"four\" ;");
  EXPECT_EQ(Cdl::parse(limited).error().code(), ErrorCode::invalid_argument);
  const auto cdl = Cdl::parse(limited, {.long_texts = LongTexts::cut_characters}).value();
  EXPECT_EQ(cdl.warnings(), std::vector<std::string>{"/v: 1 text is longer than 4 bytes (_nczarr_maxstrlen) and cut to "
                                                     "that"});
  EXPECT_EQ(data_of("string v(y) ; v:_nczarr_maxstrlen = 3 ;", "\"größe\", \"four\"",
                    {.long_texts = LongTexts::cut_characters}),
            "\"gr\", \"fou\"");
}

TEST(CdlStrings, AreLimitedByTheRootWhereTheVariableHasNoLimit) {
  const auto text = [](const std::string& own) {
    return with("string v(y) ; " + own + " :_nczarr_default_maxstrlen = 3 ;", "v = \"größe\", \"four\" ;");
  };
  const auto refused = Cdl::parse(text(""));
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().text().find("the 3 of _nczarr_default_maxstrlen"), std::string::npos);
  const auto cut = Cdl::parse(text(""), {.long_texts = LongTexts::cut_characters}).value();
  EXPECT_EQ(cut.warnings(), std::vector<std::string>{"/v: 2 texts are longer than 3 bytes (_nczarr_default_maxstrlen) "
                                                     "and cut to that"});
  EXPECT_TRUE(Cdl::parse(text("v:_nczarr_maxstrlen = 7 ;")));
}

TEST(CdlSpecials, OfAllCodecsReplaceThoseOfSingleFilters) {
  const Dataset dataset = dataset_of(with(R"(int lz4(x) ; lz4:_Codecs = "[{\"id\": \"lz4\", \"acceleration\": \"2\"}]" ;
    int delta(x) ; delta:_DeflateLevel = 3 ; delta:_Endianness = "big" ; delta:_Filter = "307,9" ; delta:_Codecs =
    "[{\"id\": \"delta\", \"dtype\": \">i4\", \"astype\": \">i4\"}, {\"name\": \"bytes\"}, {\"id\": \"zlib\", \"level\": 7}]" ;
    int blosc(x) ; blosc:_Filter = "32001,2,2,4,400,9,2,5" ;)",
                                          "delta = 1, 2, 3, 4 ;"));
  const auto codecs = [&](const char* name) {
    const Json all = dataset.root().variable(name)->storage().codecs;
    return std::vector<Json>(all.elements().begin(), all.elements().end());
  };
  EXPECT_EQ(codecs("lz4").back(),
            Json::parse(R"({"name": "numcodecs.lz4", "configuration": {"acceleration": 2}})").value());
  ASSERT_EQ(codecs("delta").size(), 3U);
  EXPECT_EQ(codecs("delta").back(),
            Json::parse(R"({"name": "numcodecs.zlib", "configuration": {"level": 7}})").value());
  EXPECT_TRUE(dataset.root().variable("delta")->storage().big_endian);
  EXPECT_EQ(dataset.root().variable("delta")->read().value(), Values(std::vector<std::int32_t>{1, 2, 3, 4}));
  const std::string blosc = codecs("blosc").back().dump();
  for (const char* part : {"\"zstd\"", "\"clevel\":9"}) EXPECT_NE(blosc.find(part), std::string::npos) << blosc;
}

TEST(CdlSpecials, DecideHowAVariableIsStored) {
  const std::string text = with(R"(int v(x, y) ; v:_ChunkSizes = 2, 2 ; v:_DeflateLevel = 4 ; v:_Shuffle = "true" ;
    v:_Endianness = "big" ; v:_NoFill = "true" ; v:_Storage = "chunked" ; v:_Codecs = "[]" ;
    int sum(x) ; sum:_Fletcher32 = 1 ; int many(x) ; many:_Filter = "2|32015,7" ; many:_Endianness = "big" ;
    int before(x) ; before:_Shuffle = "true" ; before:_Filter = "307,9" ;
    int after(x) ; after:_Filter = "307,9" ; after:_Shuffle = "true" ;
    int plain(x) ; plain:_Filter = "2,0|1,7" ; byte z(x) ; z:_Filter = "307,9" ;
    :_Format = "netCDF-4" ; :_NCProperties = "version=2" ; :_IsNetcdf4 = 1 ; :_SuperblockVersion = 2 ;)");
  EXPECT_TRUE(Cdl::parse(text)->warnings().empty());
  const Dataset dataset = dataset_of(text);
  EXPECT_TRUE(dataset.root().attributes().empty());
  const Storage& v = dataset.root().variable("v")->storage();
  EXPECT_EQ(v.chunks, (Shape{2, 2}));
  EXPECT_EQ(v.deflate_level, 4);
  EXPECT_TRUE(v.shuffle && v.big_endian && v.no_fill && !v.fletcher32);
  EXPECT_TRUE(dataset.root().variable("v")->attributes().empty());
  EXPECT_TRUE(dataset.root().variable("sum")->storage().fletcher32);
  EXPECT_TRUE(dataset.root().variable("many")->storage().big_endian);
  EXPECT_TRUE(dataset.root().variable("many")->storage().shuffle);
  EXPECT_EQ(dataset.root().variable("plain")->storage().deflate_level, 7);
  for (const char* name : {"before", "after"}) {
    EXPECT_TRUE(dataset.root().variable(name)->storage().shuffle) << name;
    EXPECT_NE(dataset.root().variable(name)->storage().codecs.dump().find("bz2"), std::string::npos) << name;
  }
  for (const char* name : {"many", "plain", "z"})
    EXPECT_NE(dataset.root().variable(name)->storage().codecs.size(), 0U) << name;
  EXPECT_TRUE(dataset_of(with("int v ;"), {.no_fill = true}).root().variable("v")->storage().no_fill);
  expect_refused({
      {with("int v(x) ; v:_Filter = \"32004,0\" ;"), ErrorCode::unsupported, "v:_Filter: the filter lz4 (32004)"},
      {with("int v(x) ; v:_Filter = \"32001,0,0,0,0,5,1,6\" ;"), ErrorCode::unsupported, "the filter blosc (32001)"},
      {with("int v(x) ; v:_Filter = \"32015,4294967296\" ;"), ErrorCode::corrupt, "out of range"},
      {with("int v(x) ; v:_Codecs = \"lz4\" ;"), ErrorCode::corrupt, "v:_Codecs: must be a list of codecs in JSON"},
      {with("int v(x) ; v:_Codecs = \"[1]\" ;"), ErrorCode::corrupt, "v:_Codecs: must be a list"},
      {with("int v(x) ; v:_Codecs = \"[{\\\"id\\\": 1}]\" ;"), ErrorCode::corrupt, "v:_Codecs: must be a list"},
      {with("int v(x) ; v:_Codecs = 5 ;"), ErrorCode::corrupt, "v:_Codecs: must be one text"},
      {with("int v(x) ; v:_Filter = \"zstd\" ;"), ErrorCode::corrupt, "v:_Filter: must contain numbers only"},
      {with("int v(x) ; v:_Shuffle = 2 ;"), ErrorCode::corrupt, "v:_Shuffle: must be \"true\" or \"false\""},
      {with("int v(x) ; v:_Endianness = \"odd\" ;"), ErrorCode::corrupt, "v:_Endianness: must be"},
      {with("int v(x) ; v:_Storage = \"odd\" ;"), ErrorCode::corrupt, "v:_Storage: must be"},
      {with("int v ; :_Format = \"hdf4\" ;"), ErrorCode::corrupt, ":_Format: must name a format of netCDF"},
  });
}

TEST(CdlSpecials, KeepQuantizationAsAnAttribute) {
  for (const char* name : {"_QuantizeBitGroomNumberOfSignificantDigits", "_QuantizeBitRoundNumberOfSignificantBits"}) {
    const std::string text = with("float v(x) ;\n v:" + std::string(name) + " = 3 ;");
    EXPECT_NE(header_of(dataset_of(text)).find("v:" + std::string(name) + " = 3 ;"), std::string::npos);
    const std::vector<std::string> warnings = Cdl::parse(text)->warnings();
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_TRUE(warnings[0].starts_with("line 6, column 4: " + std::string(name) + " is kept as an attribute"))
        << warnings[0];
  }
}

TEST(CdlInLatin1, IsReadWithAWarning) {
  const std::string text =
      "netcdf x {\ndimensions:\n  x = 2 ;\nvariables:\n int \xE9t\xE9(x) ; char c(x) ; string s(x) ;\n"
      " c:u = \"\xC2\xB0\" ;\n c:l = \"\xB0\" ;\n string c:s = \"a\", \"\xB0\" ;\ndata:\n"
      " \xE9t\xE9 = 1, 2 ;\n c = \"\xB0\xB1\" ;\n s = \"\xB0\", \"\xC2\xB0\" ;\n}\n";
  const Dataset dataset = dataset_of(text, {}, "zarr3");
  EXPECT_EQ(dataset.root().variable("\xC3\xA9t\xC3\xA9")->read().value(), Values(std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(dataset.root().variable("c")->read().value(), Values(std::string("\xB0\xB1")));
  EXPECT_EQ(dataset.root().variable("s")->read().value(), Values(std::vector<std::string>(2, "\xC2\xB0")));
  const std::string header = header_of(dataset);
  for (const char* line : {"c:u = \"\xC2\xB0\" ;", "c:l = \"\xC2\xB0\" ;", "string c:s = \"a\", \"\xC2\xB0\" ;"})
    EXPECT_NE(header.find(line), std::string::npos) << header;
  EXPECT_EQ(Cdl::parse(text)->warnings(),
            std::vector<std::string>{"line 5: not valid UTF-8; such texts and names are read as Latin-1, and the bytes "
                                     "of characters are kept"});
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

TEST(HostileCdl, CostsNoMoreThanItsLength) {
  // A few values in a huge variable are written where they are, and nothing else is.
  EXPECT_EQ(dataset_of("netcdf x { dimensions: x = 4000000000000, y = 5 ; variables: int v(x, y) ; data: v = 1, 2 ; }")
                .root()
                .variable("v")
                ->read(Box{{0, 0}, {1, 3}})
                .value(),
            Values(std::vector<std::int32_t>{1, 2, -2147483647}));
  EXPECT_EQ(
      dataset_of(
          "netcdf x { dimensions: x = 3, y = 4000000000000 ; variables: char v(x, y) ; data: v = \"a\", \"b\" ; }")
          .root()
          .variable("v")
          ->read(Box{{1, 0}, {1, 2}})
          .value(),
      Values(std::string("b\0", 2)));
  const std::string filled =
      "netcdf x { dimensions: x = 4000000000000 ; variables: string v(x) ; v:_FillValue = \"a\" ; }";
  EXPECT_EQ(Cdl::parse(filled).error().code(), ErrorCode::unsupported);
  std::string deep = "netcdf x {";
  for (int i = 0; i < 100000; ++i) deep += "group: g {";
  EXPECT_EQ(Cdl::parse(deep).error().code(), ErrorCode::unsupported);
  const std::string braces(100000, '{');
  EXPECT_FALSE(Cdl::parse(with("int v(t, u) ;", "v = " + braces)));
  EXPECT_FALSE(Cdl::parse(with("char v(t, u) ;", "v = " + braces)));
  std::string wide = "netcdf x { dimensions: x = 1 ; variables: int v(x";
  for (int i = 0; i < 40; ++i) wide += ", x";
  EXPECT_EQ(Cdl::parse(wide + ") ; }").error().code(), ErrorCode::unsupported);
  EXPECT_FALSE(Cdl::parse(std::string(100000, '\\')));
  EXPECT_FALSE(Cdl::parse(std::string("netcdf x { :a = \"\0\" ; \0 }", 26)));
}

TEST(HostileCdl, OfEveryPrefixIsRefused) {
  const std::string text = with("int v(t, x) ; string s(y) ; s:a = 'b', 1.5f ; v:_ChunkSizes = 1, 2 ;",
                                "v = 1, _, 0x3 ; s = \"a\\n\" ;\ngroup: g { :b = NaN ; }");
  ASSERT_TRUE(Cdl::parse(text)) << Cdl::parse(text).error().text();
  const std::size_t last = text.rfind('}');
  for (std::size_t length = 0; length <= last; ++length) EXPECT_FALSE(Cdl::parse(text.substr(0, length))) << length;
}

TEST(Discarded, DatasetsLeaveNothing) {
  const auto store = memory_store();
  auto writer = Writer::create(store, {}).value();
  Cdl::parse(with("int v(x) ;", "v = 1, 2 ;\ngroup: g { variables: int w ; }")).value().write(writer).value();
  writer.discard().value();
  EXPECT_FALSE(Dataset::open(store));
  EXPECT_TRUE(store->get("v/.zarray").value() == std::nullopt);
}

TEST(WrittenCdl, IsTheSameInZarr3) {
  const std::string text = with("int v(t, x) ; string s(y) ; char c(y, x) ;",
                                "v = 1, 2, 3, 4, 5 ; s = \"one\", \"two\" ; c = \"ab\", \"c\" ;");
  EXPECT_EQ(round_trip(text, {}, "zarr3"), round_trip(text));
}

}  // namespace parser_test
}  // namespace sherd::netcdf
