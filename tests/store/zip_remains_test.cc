// What the error of an archive says that was cut short.
#include "store/zip_remains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/zip.hpp"
#include "tests/store/zip_bytes.hpp"

namespace sherd {
namespace zip_remains_test {

using testing::HasSubstr;

std::string remains(const std::string& archive, std::uint64_t max_reads = 1000) {
  const auto store = memory_store();
  store->set("a", archive).value();
  return describe_zip_remains(*store->open("a").value(), max_reads).value();
}

TEST(ZipRemains, AreTheMembersBeforeTheCut) {
  const std::string member = ZipBytes().add({"a", "1234"}).finish();
  const std::size_t one = member.find("PK\1\2");
  ZipBytes bytes;
  for (int i = 0; i < 3; ++i) bytes.add({std::string(1, static_cast<char>('a' + i)), "1234"});
  const std::string whole = bytes.finish();
  for (std::size_t size = 4; size < whole.size(); ++size) {
    const std::size_t complete = std::min<std::size_t>(size / one, 3);
    const std::string text = remains(whole.substr(0, size));
    if (complete == 0)
      EXPECT_EQ(text, "; not even its first member is complete") << size;
    else
      EXPECT_EQ(text, "; " + std::to_string(complete) + (complete == 1 ? " member" : " members") +
                          " at its beginning, in " + std::to_string(complete * one) + " of " + std::to_string(size) +
                          " bytes, can be recovered with `zip -FF ARCHIVE --out NEW`");
  }
  EXPECT_EQ(remains("no archive"), "");
  EXPECT_EQ(remains("PK"), "");
}

TEST(ZipRemains, HaveSizesOf64BitsAndLongHeaders) {
  std::string archive =
      ZipBytes()
          .add({.name = "a", .data = "12", .local_extra = ZipBytes::field(7, std::string(60'000, 'e'))})
          .add({.name = std::string(65'000, 'n'), .data = "12"})
          .add({"b", "12"})
          .finish();
  EXPECT_THAT(remains(archive), HasSubstr("; 3 members"));
  ZipBytes wide;
  std::string sizes;
  for (int i = 0; i < 2; ++i) ZipBytes::put<std::uint64_t>(sizes, 2);
  wide.add({.name = "a", .data = "12", .local_extra = ZipBytes::field(1, sizes)}).add({"b", "1"});
  archive = wide.finish();
  archive.replace(18, 8, std::string(8, '\xff'));
  EXPECT_THAT(remains(archive), HasSubstr("; 2 members"));
  archive.replace(archive.find(sizes) + 8, 8, std::string(7, '\xff') + "\x7f");
  EXPECT_THAT(remains(archive), HasSubstr("not even"));
}

TEST(ZipRemains, AreCountedWithBoundedWork) {
  ZipBytes bytes;
  for (int i = 0; i < 5000; ++i) bytes.add({std::to_string(i), "small"});
  EXPECT_THAT(remains(bytes.finish()), HasSubstr("; 5000 members"));
  ZipBytes large;
  for (int i = 0; i < 5; ++i) large.add({std::to_string(i), std::string(100'000, 'l')});
  EXPECT_THAT(remains(large.finish()), HasSubstr("; 5 members"));
  EXPECT_THAT(remains(large.finish(), 3), HasSubstr("; at least 3 members"));
}

TEST(ZipRemains, AreFoundBehindGaps) {
  for (const std::size_t gap : {1U, 4095U, 65'530U, 65'536U, 100'000U}) {
    ZipBytes bytes;
    bytes.add({.name = "a", .data = "1", .after = std::string(gap, '\0')}).add({"b", "2"});
    EXPECT_THAT(remains(bytes.finish()), HasSubstr("; 2 members")) << gap;
  }
  ZipBytes far;
  far.add({.name = "a", .data = "1", .after = std::string(200'000, '\0')}).add({"b", "2"});
  EXPECT_THAT(remains(far.finish()), HasSubstr("; 1 member at"));
  EXPECT_EQ(remains("program" + far.finish()), "");
}

TEST(ZipRemains, EndWhereTheSizeOfAMemberFollowsIt) {
  const ZipPiece piped{.name = "b", .data = "1234", .flags = 8};
  EXPECT_THAT(remains(ZipBytes().add({"a", "1"}).add(piped).finish()), HasSubstr("; at least 1 member at"));
  EXPECT_EQ(remains(ZipBytes().add(piped).finish()), "");
}

TEST(ZipRemains, AreInTheErrorOfAnArchiveWithoutItsDirectory) {
  const auto store = memory_store();
  const std::string whole = ZipBytes().add({"a", "1"}).add({"b", "2"}).finish();
  store->set("cut.zip", whole.substr(0, whole.size() - 30)).value();
  const Error error = zip_store(store, "cut.zip", {}).error();
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_EQ(error.key(), "cut.zip");
  EXPECT_THAT(error.text(), HasSubstr("never finished; 2 members at its beginning"));
}

}  // namespace zip_remains_test
}  // namespace sherd
