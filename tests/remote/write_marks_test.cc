#include "remote/write_marks.hpp"

#include <gtest/gtest.h>

namespace sherd::remote {
namespace write_marks_test {

using Found = WriteMarks::Found;

Headers stored(const std::string& etag, const Header& mark) { return {{"ETag", etag}, mark}; }

TEST(WriteMarks, FindsTheVersionOfAWrite) {
  WriteMarks marks;
  const auto mine = marks.next("k", {});
  EXPECT_EQ(WriteMarks::find(stored("\"a\"", mine.header), mine), Found::version);
  EXPECT_EQ(WriteMarks::find(stored("\"a\"", marks.next("k", {}).header), mine), Found::nothing);
  EXPECT_EQ(WriteMarks::find({{"ETag", "\"a\""}}, mine), Found::nothing);
}

TEST(WriteMarks, FindsAWriteThatOthersHaveFollowed) {
  WriteMarks mine, other;
  const auto first = mine.next("k", {});
  other.saw("k", stored("\"1\"", first.header));
  const auto second = other.next("k", {"\"1\""});
  EXPECT_EQ(WriteMarks::find(stored("\"2\"", second.header), first), Found::later_version);
}

TEST(WriteMarks, DoNotKnowWhatWasBeforeAnUpload) {
  WriteMarks mine, other;
  const auto first = mine.next("k", {}), upload = WriteMarks::of_upload();
  EXPECT_EQ(WriteMarks::find({upload.header}, upload), Found::version);
  EXPECT_EQ(WriteMarks::find({upload.header}, first), Found::unknown);
  other.saw("k", stored("\"1\"", upload.header));
  const auto second = other.next("k", {"\"1\""});
  EXPECT_EQ(WriteMarks::find({second.header}, upload), Found::later_version);
  EXPECT_EQ(WriteMarks::find({second.header}, first), Found::unknown);
}

TEST(WriteMarks, KnowThatAnOlderObjectDoesNotFollowAWrite) {
  const Headers older{
      {"ETag", "\"1\""}, {"Last-Modified", "Mon, 30 Nov 2026 10:00:00 GMT"}, WriteMarks::of_upload().header};
  const std::chrono::sys_seconds stored(std::chrono::seconds(1796032800));
  auto mine = WriteMarks::of_upload();
  EXPECT_EQ(WriteMarks::find(older, mine), Found::unknown) << "it is not known when it began";
  mine.begun = stored + std::chrono::seconds(2);
  EXPECT_EQ(WriteMarks::find(older, mine), Found::unknown) << "clocks may differ";
  mine.begun = stored + std::chrono::seconds(3);
  EXPECT_EQ(WriteMarks::find(older, mine), Found::nothing);
  mine.of = {"\"0\""};
  EXPECT_EQ(WriteMarks::find(older, mine), Found::unknown) << "an upload that began earlier may end later";
  mine.of = {"\"1\""};
  EXPECT_EQ(WriteMarks::find(older, mine), Found::nothing) << "it is what was to be replaced";
  EXPECT_EQ(WriteMarks::find(older, WriteMarks().next("k", {"\"1\""})), Found::nothing);
}

TEST(WriteMarks, ForgetsWritesOfAnotherVersionOrKey) {
  WriteMarks marks;
  const auto first = marks.next("k", {});
  marks.saw("k", stored("\"1\"", first.header));
  for (const auto& [key, etag] : {std::pair("k", "\"2\""), std::pair("l", "\"1\"")})
    EXPECT_EQ(WriteMarks::find({marks.next(key, {etag}).header}, first), Found::nothing) << key << etag;
}

TEST(WriteMarks, KeepTheSixteenMostRecentWrites) {
  WriteMarks marks;
  std::vector<WriteMarks::Mark> made;
  Header last;
  for (int i = 0; i < 40; ++i) {
    const std::string etag = "\"" + std::to_string(i) + "\"";
    const auto mark = marks.next("k", i > 0 ? Generation{"\"" + std::to_string(i - 1) + "\""} : Generation());
    marks.saw("k", stored(etag, mark.header));
    made.push_back(mark);
    last = mark.header;
  }
  EXPECT_EQ(WriteMarks::find({last}, made[39]), Found::version);
  EXPECT_EQ(WriteMarks::find({last}, made[24]), Found::later_version);
  EXPECT_EQ(WriteMarks::find({last}, made[23]), Found::nothing);
}

TEST(WriteMarks, RememberThousandsOfKeysOnly) {
  WriteMarks marks;
  const auto first = marks.next("0", {});
  marks.saw("0", stored("\"e\"", first.header));
  for (int i = 1; i <= 5000; ++i) marks.saw(std::to_string(i), stored("\"e\"", marks.next("x", {}).header));
  EXPECT_EQ(WriteMarks::find({marks.next("0", {"\"e\""}).header}, first), Found::nothing);
}

}  // namespace write_marks_test
}  // namespace sherd::remote
