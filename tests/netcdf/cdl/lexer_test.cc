#include "netcdf/cdl/lexer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/netcdf/cdl/cdl_testing.hpp"

namespace sherd::netcdf {
namespace lexer_test {

using testing::ElementsAre;

/// All tokens, the end included.
std::vector<CdlToken> tokens_of(std::string_view text) {
  CdlLexer lexer(text);
  std::vector<CdlToken> tokens;
  do lexer.next(tokens.emplace_back()).value();
  while (tokens.back().kind != CdlToken::Kind::end);
  return tokens;
}
std::vector<std::string> places_of(std::string_view text) {
  std::vector<std::string> places;
  for (const CdlToken& each : tokens_of(text))
    places.push_back(std::to_string(each.position.line) + ":" + std::to_string(each.position.column) + " " +
                     each.shown());
  return places;
}
std::vector<CdlToken::Kind> kinds_of(std::string_view text) {
  std::vector<CdlToken::Kind> kinds;
  for (const CdlToken& each : tokens_of(text)) kinds.push_back(each.kind);
  return kinds;
}
/// The error after the tokens that can be read.
std::string error_of(std::string_view text) {
  CdlLexer lexer(text);
  CdlToken token;
  while (true) {
    if (const auto read = lexer.next(token); !read) return read.error().text();
    if (token.kind == CdlToken::Kind::end) return "";
  }
}

TEST(CdlLexing, PlacesTokensByLineAndCharacter) {
  EXPECT_THAT(
      places_of("größe(x) ;\n  // a comment\n\tdata: v = \"ö\", 2s;"),
      ElementsAre("1:1 'größe'", "1:6 '('", "1:7 'x'", "1:8 ')'", "1:10 ';'", "3:2 'data:'", "3:8 'v'", "3:10 '='",
                  "3:12 \"ö\"", "3:15 ','", "3:17 the number 2", "3:19 ';'", "3:20 the end of the text"));
}

TEST(CdlLexing, TellsNamesSectionsPathsTextsAndNumbersApart) {
  using enum CdlToken::Kind;
  EXPECT_THAT(kinds_of("data data: data :"), ElementsAre(word, section, word, mark, end));
  EXPECT_THAT(kinds_of("\\data: /g/x \"data:\""), ElementsAre(word, mark, path, text, end));
  EXPECT_THAT(kinds_of("'a' -1 1.5e-3f -Infinity NaN"), ElementsAre(number, number, number, number, word, end));
  EXPECT_TRUE(tokens_of("NIL").front().is_null());
  EXPECT_FALSE(tokens_of("\\NIL").front().is_null());
  EXPECT_EQ(CdlLexer("  two\\ words \n{").dataset_name().value(), "two words");
}

TEST(CdlLexing, RefusesMalformedTokensWithTheirPlaces) {
  EXPECT_EQ(error_of("a\n  'ab'"),
            "line 2, column 3: one character is expected between single quotes; write a text in double quotes");
  EXPECT_EQ(error_of("''"), "line 1, column 1: one character must follow '");
  EXPECT_EQ(error_of("x /1"),
            "line 1, column 3: a '/' begins the path of a variable or a dimension, and a name must follow it");
  EXPECT_EQ(error_of("a\\"), "line 1, column 1: a name ends with '\\'");
  EXPECT_EQ(error_of("\"\\xg\""), "line 1, column 2: an escape \\x needs two hexadecimal digits");
  EXPECT_EQ(error_of("1 08"), "line 1, column 3: '08' begins with 0, so it is octal, and has a digit above 7");
  EXPECT_EQ(error_of("1 #"), "line 1, column 3: the character \"#\" has no meaning here");
  EXPECT_EQ(error_of("\n\"a"), "line 2, column 1: a text that begins with \" has no end");
}

TEST(CdlTexts, HaveAllEscapes) {
  EXPECT_EQ(attribute_of(R"("\a\b\f\n\r\t\v\\\'\"\x41\101\?\q")"), R"("\007\b\f\n\r\t\v\\\'\"AA\177q")");
  EXPECT_EQ(attribute_of("\"\\0a\\00b\\000c\""), R"("\000a\000b\000c")");
  EXPECT_EQ(attribute_of("\"größe\""), "\"größe\"");
  EXPECT_EQ(attribute_of("\"two\nlines\""), R"("two\nlines")");
  EXPECT_FALSE(Cdl::parse("netcdf x { :a = \"\\xg\" ; }"));
  EXPECT_FALSE(Cdl::parse("netcdf x { :a = \"\\777\" ; }"));
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

}  // namespace lexer_test
}  // namespace sherd::netcdf
