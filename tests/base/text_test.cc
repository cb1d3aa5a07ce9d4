#include "base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd {
namespace {

using testing::ElementsAre;

TEST(Text, IsSplitIntoOnePartMoreThanItHasSeparators) {
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a,b", '|'), ElementsAre("a,b"));
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

}  // namespace
}  // namespace sherd
