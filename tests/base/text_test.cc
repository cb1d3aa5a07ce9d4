#include "base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace sherd {
namespace text_test {

using testing::ElementsAre;

TEST(Text, IsSplitIntoOnePartMoreThanItHasSeparators) {
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a,b", '|'), ElementsAre("a,b"));
}

TEST(Text, LowersOnlyLettersOfAscii) {
  EXPECT_EQ(lowered("@AZ[`az{-09"), "@az[`az{-09");
  EXPECT_EQ(lowered("\xc3\x84\xff"), "\xc3\x84\xff");  // Ä in UTF-8, and a byte that is none
  EXPECT_EQ(lowered(""), "");
}

TEST(Text, KnowsTheLettersOfAscii) {
  for (const char c : {'a', 'z', 'A', 'Z'}) EXPECT_TRUE(is_letter(c)) << c;
  for (const char c : {'@', '[', '`', '{', '0', '\0', '\xe4'}) EXPECT_FALSE(is_letter(c)) << c;
}

TEST(Text, ComparesInAnyCase) {
  EXPECT_TRUE(equals_in_any_case("Content-Length", "content-LENGTH"));
  EXPECT_TRUE(equals_in_any_case("", ""));
  EXPECT_FALSE(equals_in_any_case("a", "ab"));
  EXPECT_FALSE(equals_in_any_case("[", "{"));  // they differ in the bit that tells the case of letters
}

TEST(Text, IsTrimmedAtItsEndsOnly) {
  EXPECT_EQ(trimmed(" \t\r\na b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, IsANumberOnlyAsAWhole) {
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_number<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("0.5"), 0.5);
  for (const char* text : {"", "1 ", " 1", "+1", "-1", "1a", "18446744073709551616"})
    EXPECT_EQ(parse_number<std::uint64_t>(text), std::nullopt) << text;
}

TEST(Paths, AreAParentAndALastSegment) {
  EXPECT_EQ(parent_path("a/b/c"), "a/b");
  EXPECT_EQ(last_segment("a/b/c"), "c");
  EXPECT_EQ(parent_path("c"), "");
  EXPECT_EQ(last_segment("c"), "c");
  EXPECT_EQ(parent_path("a/"), "a");
  EXPECT_EQ(last_segment("a/"), "");
  EXPECT_EQ(last_segment(""), "");
}

}  // namespace text_test
}  // namespace sherd
