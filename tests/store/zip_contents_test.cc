// How archives in the local file system are changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/buffer.hpp"
#include "store/archive_of.hpp"
#include "tests/store/zip_bytes.hpp"
#include "tests/store/zip_write.hpp"

namespace sherd {
namespace zip_contents_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ZipWrite, OthersSeeChangesAfterTheyAreFinished) {
  const auto store = opened();
  store->set("zarr.json", "{}").value();
  store->set("c/0", "0123").value();
  EXPECT_EQ(store->get("c/0").value(), "0123");
  EXPECT_EQ(opened()->get("c/0").value(), std::nullopt);
  EXPECT_THAT(directory_.contents(), ElementsAre(".a.zip.sherd-lock"));
  store->finish().value();
  EXPECT_THAT(directory_.contents(), ElementsAre("a.zip"));
  EXPECT_EQ(opened()->get("c/0").value(), "0123");
  EXPECT_THAT(in_python(), ElementsAre("zarr.json 2", "c/0 4"));

  store->set("c/0", "45").value();
  store->set("c/1", "6").value();
  EXPECT_EQ(store->erase("zarr.json").value(), Erased::object);
  EXPECT_EQ(store->get("zarr.json").value(), std::nullopt);
  EXPECT_EQ(opened()->get("c/0").value(), "0123");
  store->finish().value();
  EXPECT_EQ(store->get("c/0").value(), "45");
  EXPECT_THAT(in_python(), ElementsAre("c/0 2", "c/1 1"));
  EXPECT_EQ(bytes().find("0123"), std::string::npos);
}

TEST_F(ZipWrite, WithoutAnEndLeavesWhatWasThere) {
  opened()->set("a", "1").value();
  EXPECT_THAT(directory_.contents(), IsEmpty());
  put(ZipBytes().add({"a", "old"}).finish());
  const std::string before = bytes();
  std::shared_ptr<ByteSource> source;
  {
    const auto store = opened();
    store->set("a", std::string(3'000'000, 'x')).value();
    store->erase_prefix("").value();
    store->set("b", "new").value();
    source = store->open("b").value();
    const auto unfinished = store->write("c").value();
    unfinished->write(0, as_bytes(std::string(2'000'000, 'c'))).value();
  }
  EXPECT_EQ(bytes(), before);
  EXPECT_THAT(directory_.contents(), ElementsAre("a.zip"));
  std::string into(3, ' ');
  const RangeRead range{0, std::as_writable_bytes(std::span(into))};
  source->read({&range, 1}).value();
  EXPECT_EQ(into, "new") << "a source outlives the store";
  const auto next = opened();
  next->set("b", "2").value();
  next->finish().value();
  EXPECT_THAT(in_python(), ElementsAre("a 3", "b 1"));
}

TEST_F(ZipWrite, WithoutChangesMakesNothing) {
  const auto store = opened();
  store->finish().value();
  EXPECT_EQ(store->erase("a").value(), Erased::nothing);
  store->erase_prefix("").value();
  store->finish().value();
  {
    const auto lock = store->lock("a").value();
  }
  store->set("a", "1").value();
  store->erase("a").value();
  store->finish().value();
  EXPECT_THAT(directory_.contents(), IsEmpty());
}

TEST_F(ZipWrite, OfAllErasedMembersIsAnEmptyArchive) {
  put(ZipBytes().add({"a", "1"}).add({"b/c", "2"}).finish());
  const auto store = opened();
  store->erase_prefix("").value();
  store->finish().value();
  EXPECT_EQ(bytes().size(), 22U);
  EXPECT_THAT(in_python(), IsEmpty());
  store->set("a", "1").value();
  store->set("b", "2").value();
  store->erase_prefix("").value();
  store->finish().value();
  EXPECT_EQ(bytes().size(), 22U) << "other programs find the directory at the beginning, or not at all";
}

TEST_F(ZipWrite, HasOneWriterAtATime) {
  const auto first = opened(), second = opened();
  first->set("a", "1").value();
  for (const Error& refused : {second->set("b", "2").error(), second->lock("b").error()}) {
    EXPECT_EQ(refused.code(), ErrorCode::conflict);
    EXPECT_TRUE(refused.is_lasting());
    EXPECT_THAT(refused.text(), HasSubstr(directory_ / "a.zip"));
  }
  EXPECT_EQ(second->get("a").value(), std::nullopt);
  first->finish().value();
  second->set("b", "2").value();
  EXPECT_EQ(second->get("a").value(), "1") << "a change begins with the present version";
  second->finish().value();
  EXPECT_THAT(in_python(), ElementsAre("a 1", "b 1"));
}

TEST_F(ZipWrite, OfASymbolicLinkChangesTheArchiveThatItLeadsTo) {
  std::filesystem::create_directory(directory_ / "real");
  put(ZipBytes().add({"a", "1"}).finish(), "real/b.zip");
  std::filesystem::create_symlink("real/b.zip", directory_ / "a.zip");
  const auto link = opened();
  link->set("c", "23").value();
  EXPECT_EQ(opened("real/b.zip")->set("d", "").error().code(), ErrorCode::conflict);
  link->finish().value();
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "a.zip"));
  EXPECT_THAT(in_python("real/b.zip"), ElementsAre("a 1", "c 2"));
  EXPECT_EQ(link->get("a").value(), "1");
}

TEST_F(ZipWrite, SaysWhyTheArchiveCannotBeLocked) {
  std::filesystem::create_directory(directory_ / ".a.zip.sherd-lock");
  const auto refused = opened()->set("a", "1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::io);
  EXPECT_THAT(refused.error().text(), HasSubstr("Is a directory"));
}

TEST_F(ZipWrite, IsNotFinishedByAChildOfItsWriter) {
  const auto store = opened();
  store->set("a", "1").value();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_left = store->finish().has_value() && !std::filesystem::exists(directory_ / "a.zip");
    const auto refused = store->set("b", "2");
    ::_exit(is_left && !refused && refused.error().code() == ErrorCode::conflict ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  store->set("c", "3").value();
  store->finish().value();
  EXPECT_THAT(in_python(), ElementsAre("a 1", "c 1"));
}

TEST_F(ZipWrite, DoesNotReplaceAnArchiveThatAnotherProgramReplaced) {
  put(ZipBytes().add({"a", "1"}).finish());
  const auto store = opened();
  store->set("b", "2").value();
  std::filesystem::remove(directory_ / "a.zip");
  put(ZipBytes().add({"of another program", "1"}).finish());
  const auto finished = store->finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code(), ErrorCode::conflict);
  EXPECT_TRUE(finished.error().is_lasting());
  EXPECT_THAT(in_python(), ElementsAre("of another program 1"));
  EXPECT_EQ(store->set("c", "3").error().code(), ErrorCode::conflict);
  EXPECT_EQ(store->get("b").value(), "2");
  EXPECT_THAT(directory_.contents(), ElementsAre("a.zip"));
}

TEST_F(ZipWrite, KeepsOtherProgramsMembersAsTheyAre) {
  for (const char* golden : {"python.zip", "python_comment.zip", "python_zip64.zip", "python_streamed.zip",
                             "info_zip.zip", "info_zip_streamed.zip"}) {
    SCOPED_TRACE(golden);
    put_golden(golden);
    auto expected = in_python();
    auto store = opened();
    store->set("new", "12345").value();
    store->finish().value();
    expected.emplace_back("new 5");
    EXPECT_EQ(in_python(), expected);
    const auto old = std::ranges::find_if(expected, [](const auto& line) { return line.starts_with("b.txt"); });
    expected.erase(old);
    expected.back() = "b.txt 2";
    expected.insert(expected.end() - 1, "new 5");
    store = opened();
    store->set("b.txt", "bb").value();
    store->finish().value();
    EXPECT_THAT(in_python(), testing::UnorderedElementsAreArray(expected));
    EXPECT_TRUE(store->get("c/d.bin").value());
  }
  put_golden("python_comment.zip");
  const auto store = opened();
  store->set("new", "").value();
  store->finish().value();
  EXPECT_TRUE(bytes().ends_with("about it"));
}

TEST_F(ZipWrite, SetsTheCommentAndKeepsItUnlessItDescribesAnOrder) {
  const auto comment = [this] { return archive_of(*opened())->comment(); };
  const std::string ozx = R"({"ome": {"version": "0.5", "zipFile": {"centralDirectory": {"jsonFirst": true}}}})";
  for (const std::string& text : {std::string("about it"), ozx}) {
    auto store = recorded_store(opened(), std::make_shared<Recorder>());
    store->set("zarr.json", "{}").value();
    archive_of(*store)->set_comment(text).value();
    store->finish().value();
    EXPECT_EQ(comment(), text);
    archive_of(*store)->set_comment(text + " ").value();
    store->finish().value();
    EXPECT_EQ(comment(), text + " ");
    store->set("c/0", "1").value();
    EXPECT_EQ(comment(), text + " ");
    store->finish().value();
    EXPECT_EQ(comment(), text == ozx ? "" : text + " ");
    EXPECT_THAT(in_python(), ElementsAre("zarr.json 2", "c/0 1"));
    store.reset();
    std::filesystem::remove(directory_ / "a.zip");
  }
  const auto store = opened();
  EXPECT_EQ(archive_of(*store)->set_comment(std::string(65'536, 'x')).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(archive_of(*store)->set_comment("PK\5\6").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(archive_of(*memory_store()), nullptr);
}

TEST_F(ZipWrite, KeepsTheLastOfDuplicates) {
  put_golden("python_duplicates.zip");
  const auto store = opened();
  EXPECT_EQ(archive_of(*store)->duplicates().count, 2U);
  EXPECT_EQ(archive_of(*store)->duplicates().example, "a.txt");
  store->set("new", "").value();
  store->finish().value();
  EXPECT_THAT(in_python(), ElementsAre("a.txt 8", "b.txt 1", "new 0"));
  EXPECT_EQ(store->get("a.txt").value(), "the last");
  EXPECT_EQ(archive_of(*store)->duplicates().count, 0U);
}

TEST_F(ZipWrite, OfAnArchiveBehindAProgramIsRefused) {
  put_golden("info_zip_prefix.zip");
  const std::string before = bytes();
  const auto store = opened();
  const auto refused = store->set("a", "1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  store->finish().value();
  EXPECT_EQ(bytes(), before);
  EXPECT_THAT(directory_.contents(), ElementsAre("a.zip"));
}

TEST_F(ZipWrite, OfAnArchiveWithAMemberThatCannotBeReadIsRefusedByItsName) {
  const auto expect_refused = [&](const std::string& member, ErrorCode code, const std::string& why) {
    SCOPED_TRACE(member);
    const std::string before = bytes();
    const auto store = opened();
    for (const Error& error : {store->set("new", "1").error(), store->erase_prefix("").error()}) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(error.key(), member);
      EXPECT_THAT(error.text(), HasSubstr(why));
      EXPECT_THAT(error.text(), HasSubstr("copy what can be read to a new one"));
      EXPECT_THAT(error.text(), HasSubstr(directory_ / "a.zip"));
    }
    store->finish().value();
    EXPECT_EQ(bytes(), before);
    EXPECT_THAT(directory_.contents(), ElementsAre("a.zip"));
    EXPECT_TRUE(store->get("a.txt").value());
  };
  put_golden("python_lzma.zip");
  expect_refused("b.txt", ErrorCode::unsupported, "method 14");
  put_golden("info_zip_link.zip");
  expect_refused("link", ErrorCode::unsupported, "symbolic link");
  put(ZipBytes().add({"a.txt", "1"}).add({.name = "b", .data = "1", .local_name = "c"}).finish());
  expect_refused("b", ErrorCode::corrupt, "the name in the member's local header contradicts");
  put(ZipBytes().add({"a.txt", "1"}).add({.name = "empty", .local_crc = 7}).finish());
  expect_refused("empty", ErrorCode::corrupt, "the checksum in the member's local header contradicts");
}

TEST_F(ZipWrite, KeepsMembersWhoseNamesAreTooLongForKeys) {
  const std::string name(300, 'n');
  put(ZipBytes().add({"a", "1"}).add({name, "23"}).finish());
  const auto store = opened();
  EXPECT_EQ(archive_of(*store)->too_long().count, 1U);
  store->set("a", "new").value();
  store->finish().value();
  EXPECT_THAT(in_python(), ElementsAre(name + " 2", "a 3"));
}

TEST_F(ZipWrite, OfTheSameMembersHasTheSameBytes) {
  for (const char* name : {"a.zip", "b.zip"}) {
    const auto store = opened(name);
    store->set("zarr.json", "{}").value();
    store->set("caf\xc3\xa9/\xe6\x97\xa5", std::string(2'000'000, 'z')).value();
    store->finish().value();
  }
  EXPECT_EQ(bytes("a.zip"), bytes("b.zip"));
  EXPECT_THAT(in_python(), ElementsAre("zarr.json 2", "caf\xc3\xa9/\xe6\x97\xa5 2000000"));
}

TEST_F(ZipWrite, OfMoreMembersThanThe16BitsOfItsEndUsesZip64) {
  const auto store = opened();
  for (int i = 0; i < 65'600; ++i) store->set("c/" + std::to_string(i), "").value();
  store->finish().value();
  EXPECT_EQ(in_python().size(), 65'600U);
  EXPECT_EQ(opened()->list_dir("c/").value().objects.size(), 65'600U);
  store->set("c/0", "1").value();
  store->finish().value();
  EXPECT_EQ(in_python().size(), 65'600U);
}

TEST_F(ZipWrite, MembersHaveNamesOfEveryLegalShape) {
  std::vector<std::string> keys = {
      " ",        "a b ", "a.",    "...",       ".a",      "..a",       "-x",      "~",          "%2F",
      "a%",       "CON",  "A",     "a",         "é",       "e\xcc\x81", "日本/語", "\U0001f600", "\x7f",
      "\x01\n\t", "a\\b", "c:\\d", "<>:\"|?*'", "é/a.zip", "a#b?c&d",   "a|zip:",  "zarr.json",  "x/zarr.json/y"};
  keys.push_back(std::string(255, 'n'));
  std::string longest = std::string(255, 'n');
  while (longest.size() + 256 <= 4096) longest += "/" + std::string(255, 'n');
  keys.push_back(longest);
  std::ranges::sort(keys);
  const auto expect_all = [&](Store& store) {
    std::vector<std::string> listed;
    store.list("", [&](const std::string& key, std::uint64_t) { return listed.push_back(key), true; }).value();
    EXPECT_EQ(listed, keys);
    for (const std::string& key : keys) EXPECT_EQ(store.get(key).value(), key);
  };
  const auto store = opened();
  for (const std::string& key : keys) store->set(key, key).value();
  expect_all(*store);
  store->finish().value();
  expect_all(*store);
  store->set("a", "changed").value();
  store->set("a", "a").value();
  store->finish().value();
  expect_all(*opened());
  const std::string in_python =
      "python3 -c \"import sys, zipfile\nfor each in zipfile.ZipFile(sys.argv[1]).namelist(): "
      "sys.stdout.buffer.write(each.encode() + bytes(1))\" '" +
      directory_ / "a.zip" + "' > '" + directory_ / "seen" + "'";
  ASSERT_EQ(std::system(in_python.c_str()), 0);
  std::vector<std::string> seen;
  std::ifstream names(directory_ / "seen");
  for (std::string name; std::getline(names, name, '\0');) seen.push_back(name);
  std::ranges::sort(seen);
  EXPECT_EQ(seen, keys);
}

TEST_F(ZipWrite, OfAKeyThatIsNotUtf8IsRefused) {
  const auto store = opened();
  EXPECT_EQ(store->set("\xff", "1").error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(directory_.contents(), IsEmpty());
}

}  // namespace zip_contents_test
}  // namespace sherd
