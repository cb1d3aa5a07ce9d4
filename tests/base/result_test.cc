// Errors: what they say, and how layers add what they know.
#include "sherd/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

#include "base/try.hpp"

namespace sherd {
namespace result_test {

TEST(Error, SaysWhereAndWhatInOneLine) {
  EXPECT_EQ(corrupt("truncated stream at byte 118").in("gzip").in_slot(7).in_key("vol/c/0/1").text(),
            "'vol/c/0/1' slot 7: gzip: truncated stream at byte 118");
  EXPECT_EQ(invalid_argument("must be 0-9")
                .in_member("configuration.level")
                .in_member("codecs[0]")
                .in_key("a/zarr.json")
                .text(),
            "'a/zarr.json' codecs[0].configuration.level: must be 0-9");
  EXPECT_EQ(io_error("disk full").text(), "disk full");
  EXPECT_EQ(corrupt("bad").in_slot(0).text(), "slot 0: bad");
  EXPECT_EQ(corrupt("bad").in_member("[1]").in_member("fill_value").text(), "fill_value[1]: bad");
}

TEST(Error, KeepsWhatTheInnerLayerNamed) {
  const Error error = corrupt("bad").in_key("inner").in_key("outer").in_slot(1).in_slot(2);
  EXPECT_EQ(error.key(), "inner");
  EXPECT_EQ(error.slot(), 1u);
  EXPECT_EQ(error.message(), "bad");
}

TEST(Error, IsCopiedWhole) {
  const Error error = conflict("exists").in_key("k").in_slot(3).in_member("m");
  Error copy = error;
  copy = error;
  EXPECT_EQ(copy.text(), error.text());
  EXPECT_EQ(copy.code(), ErrorCode::conflict);
}

TEST(ErrorCode, HasTheNamesThatReportsUse) {
  EXPECT_EQ(to_string(ErrorCode::invalid_argument), "invalid_argument");
  EXPECT_EQ(to_string(ErrorCode::corrupt), "corrupt");
  EXPECT_EQ(to_string(ErrorCode::unsupported), "unsupported");
  EXPECT_EQ(to_string(ErrorCode::not_found), "not_found");
  EXPECT_EQ(to_string(ErrorCode::conflict), "conflict");
  EXPECT_EQ(to_string(ErrorCode::io), "io");
  EXPECT_EQ(to_string(ErrorCode::unavailable), "unavailable");
}

TEST(Result, ThrowsTheWholeErrorOnValue) {
  const Result<int> bad = not_found("nothing here").in_key("a");
  try {
    (void)bad.value();
    FAIL() << "value() must throw";
  } catch (const Exception& exception) {
    EXPECT_STREQ(exception.what(), "'a': nothing here");
    EXPECT_EQ(exception.error().code(), ErrorCode::not_found);
  }
  EXPECT_EQ(Result<int>(5).value(), 5);
}

TEST(Result, OfBoolIsNoConditionAndNoBool) {
  static_assert(std::is_constructible_v<bool, Result<int>>);
  static_assert(std::is_constructible_v<bool, Result<void>>);
  static_assert(!std::is_constructible_v<bool, Result<bool>>);
  static_assert(!std::is_constructible_v<Result<bool>, Result<int>>);
  const Result<bool> no = false;
  EXPECT_TRUE(no.has_value());
  EXPECT_FALSE(*no);
}

Result<std::unique_ptr<int>> half_of(int value) {
  if (value % 2 != 0) return invalid_argument("odd");
  return std::make_unique<int>(value / 2);
}

Result<int> quarter_of(int value) {
  SHERD_TRY(half, half_of(value));
  SHERD_TRY(quarter, half_of(*half).in([] { return "second half"; }));
  return *quarter;
}

TEST(Try, ReturnsValuesAndPassesErrorsOn) {
  EXPECT_EQ(*quarter_of(12), 3);
  EXPECT_EQ(quarter_of(3).error().text(), "odd");
  EXPECT_EQ(quarter_of(6).error().text(), "second half: odd");
}

}  // namespace result_test
}  // namespace sherd
