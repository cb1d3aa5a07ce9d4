// What is read of an archive's end and directory, and what is refused.
#include "store/zip_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/try.hpp"
#include "store/zip_encode.hpp"
#include "store/zip_record.hpp"
#include "tests/store/zip_bytes.hpp"
#include "tests/test_data.hpp"

namespace sherd {
namespace zip_directory_test {

using testing::ElementsAre;
using testing::HasSubstr;

Result<ZipDirectory> parse(const std::string& archive, const Limits& limits = {}) {
  const auto bytes = as_bytes(archive);
  const auto tail = bytes.last(std::min(bytes.size(), kZipTailBytes));
  SHERD_TRY(end, find_zip_end(tail, bytes.size(), limits));
  return ZipDirectory::parse(bytes.subspan(end.directory.offset, end.directory.length), end);
}

std::vector<std::string> keys(const ZipDirectory& directory) {
  std::vector<std::string> keys;
  for (const auto& member : directory.members()) keys.emplace_back(directory.key(member));
  return keys;
}

Error refused(const std::string& archive) {
  auto directory = parse(archive);
  return directory ? invalid_argument("nothing was refused") : directory.error();
}

Error refused(const ZipPiece& piece) { return refused(ZipBytes().add({"ok", "1"}).add(piece).finish()); }

TEST(ZipDirectory, FindsMembersByKey) {
  const std::string archive =
      ZipBytes().add({"zarr.json", "{}"}).add({"c/"}).add({"c/0", "0123"}).add({"c/0/1", "x"}).finish();
  const auto directory = parse(archive).value();
  EXPECT_THAT(keys(directory), ElementsAre("c/0", "c/0/1", "zarr.json"));
  const ZipMember* member = directory.find("c/0");
  ASSERT_NE(member, nullptr);
  EXPECT_EQ(member->size, 4U);
  EXPECT_EQ(archive.substr(member->header, 4), "PK\3\4");
  EXPECT_EQ(directory.find("c"), nullptr);
  EXPECT_EQ(directory.find("c/1"), nullptr);
  EXPECT_EQ(directory.find("zz"), nullptr);
  EXPECT_EQ(directory.duplicates(), 0U);
}

TEST(ZipDirectory, OfAnEmptyArchiveIsEmpty) {
  EXPECT_THAT(keys(parse(ZipBytes().finish()).value()), ElementsAre());
  EXPECT_THAT(keys(parse(ZipBytes().finish({.comment = "empty"})).value()), ElementsAre());
}

TEST(ZipDirectory, ShowsTheLastOfMembersWithTheSameName) {
  const auto directory =
      parse(ZipBytes().add({"b", "1"}).add({"a", "12"}).add({"b", "123"}).add({"b", "1234"}).finish()).value();
  EXPECT_THAT(keys(directory), ElementsAre("a", "b"));
  EXPECT_EQ(directory.find("b")->size, 4U);
  EXPECT_EQ(directory.duplicates(), 2U);
  EXPECT_EQ(directory.duplicate(), "b");
}

TEST(ZipDirectory, AllowsBytesBeforeTheArchive) {
  const std::string program(5000, '#');
  for (const bool counts : {true, false}) {
    for (const bool zip64 : {true, false}) {
      const std::string archive = ZipBytes(program, counts).add({"a", "1"}).add({"b", "2"}).finish({.zip64 = zip64});
      const auto directory = parse(archive).value();
      EXPECT_EQ(archive.substr(directory.find("a")->header, 4), "PK\3\4");
      EXPECT_EQ(directory.find("a")->header, 5000U);
    }
  }
}

TEST(ZipDirectory, ReadsZip64RecordsWithExtensibleData) {
  ZipBytes bytes;
  bytes.add({"a", "1"});
  EXPECT_THAT(keys(parse(bytes.finish({.zip64 = true})).value()), ElementsAre("a"));
  std::string longer = bytes.finish({.zip64 = true});
  const auto locator = longer.rfind("PK\6\7");
  const auto record = longer.rfind("PK\6\6");
  longer.insert(locator, std::string(10, 'x'));
  longer[record + 4] += 10;
  EXPECT_THAT(keys(parse(longer).value()), ElementsAre("a"));
}

TEST(ZipDirectory, HasNamesInUtf8OrInTheCodePageOfThePc) {
  const std::string e_acute = "\xc3\xa9";
  std::string path("\1", 1);
  ZipBytes::put<std::uint32_t>(path, crc32(as_bytes("#e9")));
  const auto directory = parse(ZipBytes()
                                   .add({.name = "1" + e_acute, .flags = 0x800})
                                   .add({.name = "2" + e_acute})
                                   .add({.name = "3\x82"})
                                   .add({.name = "#e9", .extra = ZipBytes::field(0x7075, path + "4" + e_acute)})
                                   .add({.name = "5", .extra = ZipBytes::field(0x7075, path + "not")})
                                   .add({.name = "6/\xe1", .host = 0})
                                   .finish())
                             .value();
  EXPECT_THAT(keys(directory),
              ElementsAre("1" + e_acute, "2" + e_acute, "3" + e_acute, "4" + e_acute, "5", "6/\xc3\x9f"));
}

TEST(ZipDirectory, SeparatesByBackslashesOnlyInNamesFromSystemsThatDo) {
  EXPECT_THAT(keys(parse(ZipBytes().add({.name = "c\\0", .host = 0}).finish()).value()), ElementsAre("c/0"));
  EXPECT_THAT(keys(parse(ZipBytes().add({.name = "c\\0", .host = 3}).finish()).value()), ElementsAre("c\\0"));
  EXPECT_THAT(keys(parse(ZipBytes().add({.name = "./c/0"}).add({.name = "./"}).finish()).value()), ElementsAre("c/0"));
}

TEST(ZipDirectory, RefusesNamesThatLeaveTheArchive) {
  for (const std::string& name :
       {std::string("../x"), std::string("a/../../x"), std::string("/etc/passwd"), std::string("a//b"),
        std::string("a/./b"), std::string(".."), std::string("../"), std::string("/"), std::string("a\0b", 3),
        std::string(), "../" + std::string(256, 'n')}) {
    const Error error = refused(ZipPiece{.name = name});
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << name;
    EXPECT_EQ(error.key(), name);
  }
  EXPECT_EQ(refused(ZipPiece{.name = "..\\x", .host = 0}).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused(ZipPiece{.name = "C:\\x", .host = 10}).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused(ZipPiece{.name = "\xff", .flags = 0x800}).code(), ErrorCode::corrupt);
}

TEST(ZipDirectory, LeavesOutNamesThatAreLongerThanKeysMayBe) {
  std::string deep = std::string(255, 'n');
  while (deep.size() <= 4096) deep += "/" + std::string(200, 'n');
  const std::string long_of_pc(65'535, '\x82');  // twice as long in UTF-8
  const auto directory = parse(ZipBytes()
                                   .add({"a", "1"})
                                   .add({std::string(256, 'n'), "2"})
                                   .add({"b/" + std::string(256, 'n'), "3"})
                                   .add({deep, "4"})
                                   .add({long_of_pc, "5"})
                                   .add({std::string(256, 'n') + "/"})
                                   .add({"z", "6"})
                                   .finish())
                             .value();
  EXPECT_THAT(keys(directory), ElementsAre("a", "z"));
  EXPECT_EQ(directory.too_long(), 4U);
  EXPECT_EQ(directory.long_name(), std::string(100, 'n'));
  const std::string overlapping = ZipBytes().add({"a", "1"}).add({.name = std::string(256, 'n'), .header = 0}).finish();
  EXPECT_EQ(refused(overlapping).code(), ErrorCode::corrupt);
}

TEST(ZipDirectory, IgnoresSideFilesOfSherdsOwn) {
  EXPECT_THAT(keys(parse(ZipBytes().add({"c/.0.sherd-lock", "x"}).add({"c/0", "1"}).finish()).value()),
              ElementsAre("c/0"));
}

TEST(ZipDirectory, RefusesOverlappingMembers) {
  const std::string same = ZipBytes().add({"a", "1234"}).add({.name = "b", .data = "5678", .header = 0}).finish();
  EXPECT_THAT(refused(same).text(), HasSubstr("overlaps"));
  const std::string inside = ZipBytes().add({"a", std::string(100, 'x')}).add({.name = "b", .header = 50}).finish();
  EXPECT_EQ(refused(inside).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused(inside).key(), "a");
  const std::string directory = ZipBytes().add({.name = "a", .data = "1", .size = 2, .stored = 2}).finish();
  EXPECT_THAT(refused(directory).text(), HasSubstr("overlaps its directory"));
}

TEST(ZipDirectory, RefusesSizesThatLie) {
  EXPECT_THAT(refused(ZipPiece{.name = "a", .data = "1", .size = 2}).text(), HasSubstr("stored in 1 bytes"));
  for (const std::uint64_t huge : {std::uint64_t{1} << 40, ~std::uint64_t{0} >> 1, ~std::uint64_t{0}}) {
    EXPECT_EQ(refused(ZipPiece{.name = "a", .data = "1", .size = huge, .stored = huge}).code(), ErrorCode::corrupt);
    EXPECT_EQ(refused(ZipPiece{.name = "a", .data = "1", .header = huge}).key(), "a");
  }
  EXPECT_EQ(refused(ZipPiece{.name = "a", .method = 8, .size = ~std::uint64_t{0}}).code(), ErrorCode::corrupt);
  ZipPiece lacking{.name = "a"};
  lacking.size = 0xffffffff;
  std::string archive = ZipBytes().add(lacking).finish();
  archive.replace(archive.rfind(std::string("\1\0\10\0", 4)), 1, "\2");  // the zip64 field is another one now
  EXPECT_THAT(refused(archive).text(), HasSubstr("zip64 field"));
}

TEST(ZipDirectory, RefusesArchivesOnSeveralDisks) {
  EXPECT_EQ(refused(ZipPiece{.name = "a", .disk = 1}).code(), ErrorCode::unsupported);
  EXPECT_EQ(refused(ZipBytes().finish({.disk = 1})).code(), ErrorCode::unsupported);
  EXPECT_EQ(refused(ZipBytes().finish({.disk = 1, .zip64 = true})).code(), ErrorCode::unsupported);
}

TEST(ZipDirectory, RefusesAnEndThatContradictsTheDirectory) {
  ZipBytes bytes;
  bytes.add({"a", "1"}).add({"b", "2"});
  for (const std::uint64_t count : {0U, 1U, 3U, 65534U})
    EXPECT_EQ(refused(bytes.finish({.count = count})).code(), ErrorCode::corrupt) << count;
  for (const std::uint64_t huge : {~std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{1} << 20}) {
    EXPECT_EQ(refused(bytes.finish({.count = huge, .zip64 = true})).code(), ErrorCode::corrupt);
    EXPECT_EQ(refused(bytes.finish({.size = huge, .zip64 = true})).code(), ErrorCode::corrupt);
    EXPECT_EQ(refused(bytes.finish({.offset = huge, .zip64 = true})).code(), ErrorCode::corrupt);
    EXPECT_EQ(refused(bytes.finish({.zip64 = true, .locator = huge})).code(), ErrorCode::corrupt);
  }
  EXPECT_EQ(refused(bytes.finish({.size = 3})).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused(bytes.finish({.before_end = "gap"})).code(), ErrorCode::corrupt);
}

TEST(ZipDirectory, ChoosesTheEndRecordThatFitsAndRefusesTwo) {
  ZipBytes bytes;
  bytes.add({"a", "1"});
  const std::string other = ZipBytes().add({"other", "x"}).finish();
  EXPECT_THAT(refused(bytes.finish({.comment = other})).text(), HasSubstr("another end record"));
  const std::string broken = ZipBytes().add({"other", "x"}).finish({.offset = 1U << 30});
  EXPECT_THAT(keys(parse(bytes.finish({.comment = broken})).value()), ElementsAre("a"));
  EXPECT_THAT(keys(parse(bytes.finish({.comment = "PK\5\6 is how an end begins, if it is followed by more"})).value()),
              ElementsAre("a"));
  EXPECT_EQ(parse(bytes.finish({.comment = std::string(0xffff, 'c')})).value().comment(), std::string(0xffff, 'c'));
}

TEST(ZipDirectory, RefusesAnArchiveThatWasCutAnywhere) {
  const std::string whole = ZipBytes().add({"a", "1"}).add({"b", "2"}).finish();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = refused(whole.substr(0, size));
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << size;
    EXPECT_THAT(error.text(), HasSubstr(size == 0 ? "the file is empty" : "no end record"));
  }
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_EQ(refused(whole.substr(size)).code(), ErrorCode::corrupt) << size;
}

TEST(ZipDirectory, OfMembersBeyond4GibIsWrittenAndReadInZip64) {
  constexpr std::uint64_t kLarge = std::uint64_t{5} << 30;
  std::string bytes;
  const std::uint64_t second = zip_header_bytes("large", kLarge) + kLarge;
  append_zip_record({.key = "large", .size = kLarge}, bytes);
  append_zip_record({.key = "small", .crc = 1, .size = 3, .header = second}, bytes);
  const std::uint64_t size = bytes.size(), offset = second + zip_header_bytes("small", 3) + 3;
  append_zip_end({.count = 2, .offset = offset}, bytes);
  const ZipEnd end = find_zip_end(as_bytes(bytes), offset + bytes.size(), {}).value();
  EXPECT_EQ(end.directory.offset, offset);
  const auto directory = ZipDirectory::parse(as_bytes(bytes).first(size), end).value();
  EXPECT_EQ(directory.find("large")->size, kLarge);
  EXPECT_EQ(directory.find("small")->header, second);
  EXPECT_EQ(zip_local_header({.key = "large", .size = kLarge}).size(), zip_header_bytes("large", kLarge));
}

TEST(ZipDirectory, IsNoLargerThanTheLimit) {
  Limits limits;
  limits.metadata_bytes = 100;
  const std::string archive = ZipBytes().add({std::string(60, 'n'), "1"}).finish();
  const auto refused = parse(archive, limits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().text(), HasSubstr("metadata_bytes"));
}

TEST(ZipDirectory, RefusesExtraFieldsThatEndBeyondTheirRecord) {
  EXPECT_EQ(refused(ZipPiece{.name = "a", .extra = std::string("\1\0\xff\0x", 5)}).code(), ErrorCode::corrupt);
  EXPECT_THAT(keys(parse(ZipBytes().add({.name = "a", .extra = std::string(3, '\0')}).finish()).value()),
              ElementsAre("a"));
}

std::vector<std::string> keys_of_file(const std::string& name) {
  std::ifstream file(test_data("zip/" + name), std::ios::binary);
  return keys(parse(std::string(std::istreambuf_iterator<char>(file), {})).value());
}

TEST(ZipDirectory, OfOtherProgramsIsRead) {
  for (const char* name : {"python.zip", "python_comment.zip", "python_lzma.zip", "python_prefix.zip",
                           "python_streamed.zip", "python_zip64.zip", "info_zip.zip", "info_zip_encrypted.zip",
                           "info_zip_no_directories.zip", "info_zip_prefix.zip", "info_zip_streamed.zip"})
    EXPECT_THAT(keys_of_file(name), ElementsAre("a.txt", "b.txt", "c/d.bin")) << name;
  EXPECT_THAT(keys_of_file("python_duplicates.zip"), ElementsAre("a.txt", "b.txt"));
  EXPECT_THAT(keys_of_file("python_names.zip"),
              ElementsAre("%2e%2e", "-rf", "a b", "x\ny", "\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac/\xe8\xaa\x9e"));
  EXPECT_THAT(keys_of_file("info_zip_names.zip"),
              ElementsAre("a b", "a.txt", "b.txt", "back\\slash", "c/d.bin", "\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac"));
  EXPECT_THAT(keys_of_file("info_zip_link.zip"), ElementsAre("a.txt", "b.txt", "c/d.bin", "link"));
}

TEST(ZipDirectory, OfAHundredThousandMembersIsFoundBySearch) {
  ZipBytes bytes;
  for (int i = 0; i < 100'000; ++i) bytes.add({"c/" + std::to_string(i) + "/0"});
  const auto directory = parse(bytes.finish({.zip64 = true})).value();
  EXPECT_EQ(directory.members().size(), 100'000U);
  for (const int i : {0, 1, 54'321, 99'999}) EXPECT_NE(directory.find("c/" + std::to_string(i) + "/0"), nullptr);
  EXPECT_EQ(directory.find("c/100000/0"), nullptr);
}

}  // namespace zip_directory_test
}  // namespace sherd
