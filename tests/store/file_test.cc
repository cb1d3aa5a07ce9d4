// What is special about files: links, pipes, modes, full disks, killed writers, and directories that come and go.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/buffer.hpp"
#include "base/url.hpp"
#include "sherd/store.hpp"
#include "tests/child.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace file_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

void write_file(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

class FileStore : public testing::Test {
 protected:
  std::shared_ptr<Store> open(bool follow_symlinks = true) {
    Config config;
    config.follow_symlinks = follow_symlinks;
    return file_store(root_.path(), config).value();
  }
  std::vector<std::string> keys() { return keys_of(*store_); }
  /// Leaves behind the files of a writer that is killed before its commit.
  void kill_a_writer_of(const std::string& key) {
    ASSERT_EQ(in_child([&] {
                const auto store = open();
                const auto lock = store->lock(key).value();
                const auto writer = store->write(key).value();
                writer->write(0, as_bytes("half")).value();
                ::_exit(0);
              }),
              0);
  }

  TempDir root_;
  std::shared_ptr<Store> store_ = open();
};

TEST_F(FileStore, HasAFileForEachObjectAndNothingElse) {
  store_->set("a/zarr.json", "{}").value();
  store_->set("a/c/0/0", "x").value();
  store_->set("a/c/0/0", "y").value();
  EXPECT_THAT(root_.contents(), ElementsAre("a", "a/c", "a/c/0", "a/c/0/0", "a/zarr.json"));
}

TEST_F(FileStore, IsNamedByAUrlThatOpensItAgain) {
  const std::string directory = root_ / "a b%41#?\xc3\xa9";
  const auto store = file_store(directory + "//").value();
  store->set("k", "v").value();
  EXPECT_TRUE(store->url().starts_with("file:///")) << store->url();
  EXPECT_EQ(store->url().find_first_of(" #?"), std::string::npos) << store->url();
  EXPECT_EQ(path_of_store(store->url()), directory);
  EXPECT_TRUE(fs::exists(directory + "/k"));
}

TEST_F(FileStore, KeepsItsDirectoryWhenTheProcessChangesItsOwn) {
  EXPECT_EQ(in_child([&] {
              fs::current_path(root_.path());
              const auto store = file_store("relative").value();
              fs::current_path("/");
              store->set("k", "v").value();
            }),
            0);
  EXPECT_TRUE(fs::exists(root_ / "relative/k"));
}

TEST_F(FileStore, RefusesARootThatIsNotADirectory) {
  write_file(root_ / "file", "x");
  for (const std::string& path : {root_ / "file", std::string(), std::string("a\0b", 3)}) {
    const auto store = file_store(path);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code(), ErrorCode::invalid_argument);
  }
}

TEST_F(FileStore, ReportsEverythingButRegularFilesAsCorruptWithoutWaiting) {
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0600), 0);
  fs::create_directory(root_ / "directory");
  fs::create_symlink("/dev/zero", root_ / "device");
  for (const char* key : {"fifo", "directory", "device"}) {
    const auto source = store_->open(key);
    ASSERT_FALSE(source) << key;
    EXPECT_EQ(source.error().code(), ErrorCode::corrupt) << key;
    EXPECT_EQ(source.error().key(), key);
  }
  EXPECT_FALSE(store_->erase("directory").has_value());
  const auto over = store_->set("directory", "x");
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code(), ErrorCode::conflict);
  EXPECT_THAT(keys(), ElementsAre("device", "fifo"));
  EXPECT_THAT(root_.contents(), SizeIs(3));
}

TEST_F(FileStore, CannotOpenASocket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (root_ / "socket").copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto source = store_->open("socket");
  ::close(fd);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code(), ErrorCode::io);
}

TEST_F(FileStore, HasNothingBelowAnObject) {
  store_->set("a", "x").value();
  EXPECT_EQ(store_->open("a/b").value(), nullptr);
  EXPECT_THAT(store_->list_dir("a/").value().objects, IsEmpty());
  EXPECT_EQ(store_->erase("a/b").value(), Erased::nothing);
  store_->erase_prefix("a/").value();
  const auto below = store_->set("a/b", "y");
  ASSERT_FALSE(below);
  EXPECT_EQ(below.error().code(), ErrorCode::conflict);
  EXPECT_EQ(store_->get("a").value(), "x");
}

TEST_F(FileStore, SaysWhenAFileShrinksWhileItIsRead) {
  write_file(root_ / "a", std::string(10'000, 'x'));
  const auto source = store_->open("a").value();
  fs::resize_file(root_ / "a", 5'000);
  std::string into(10'000, ' ');
  const RangeRead range{0, std::as_writable_bytes(std::span(into))};
  const auto read = source->read({&range, 1});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::conflict);
  auto writer = store_->write("b").value();
  EXPECT_FALSE(writer->copy(*source, 0, 10'000, 0));
}

TEST_F(FileStore, SeesWhatAnotherProgramChanged) {
  store_->set("a", "same size").value();
  const auto before = store_->open("a").value()->generation().value();
  write_file(root_ / "a", "size same");
  EXPECT_NE(store_->open("a").value()->generation().value(), before);
  EXPECT_FALSE(store_->set("a", "x", Condition::matches(before)));
}

TEST_F(FileStore, AllocatesNothingForASparseGiant) {
  write_file(root_ / "a", "x");
  fs::resize_file(root_ / "a", std::uintmax_t{4} << 40);
  EXPECT_EQ(store_->open("a").value()->size().value(), std::uint64_t{4} << 40);
  const auto bounded = store_->get("a", 1 << 20);
  ASSERT_FALSE(bounded);
  EXPECT_EQ(bounded.error().code(), ErrorCode::unsupported);
}

TEST_F(FileStore, KeepsTheModeOfWhatItReplaces) {
  store_->set("a", "old").value();
  ASSERT_EQ(::chmod((root_ / "a").c_str(), 0600), 0);
  store_->set("a", "new").value();
  EXPECT_EQ(fs::status(root_ / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileStore, NewVersionsHaveLaterTimes) {
  store_->set("a", "old").value();
  const auto future = fs::last_write_time(root_ / "a") + std::chrono::hours(1);
  fs::last_write_time(root_ / "a", future);
  store_->set("a", "new").value();
  EXPECT_GT(fs::last_write_time(root_ / "a"), future);
}

TEST_F(FileStore, RemovesTheDirectoriesOfAnUncommittedObject) {
  fs::create_directory(root_ / "kept");
  {
    const auto lock = store_->lock("kept/a/b/c").value();
  }
  {
    const auto writer = store_->write("kept/a/b/c").value();
  }
  EXPECT_FALSE(store_->set("x/y/z", "v", Condition::matches({"none"})));
  EXPECT_THAT(root_.contents(), ElementsAre("kept"));
}

TEST_F(FileStore, LeavesNoEmptyDirectoriesAfterErasingAPrefix) {
  for (const char* key : {"g/a/c/0/0", "g/a/c/0/1", "g/a/zarr.json", "g/zarr.json"}) store_->set(key, "x").value();
  store_->erase_prefix("g/a/").value();
  EXPECT_THAT(root_.contents(), ElementsAre("g", "g/zarr.json"));
}

// Symbolic links

TEST_F(FileStore, FollowsLinksOutOfTheRootUnlessToldNotTo) {
  const TempDir outside;
  write_file(outside / "file", "outside");
  fs::create_directory_symlink(outside.path(), root_ / "directory");
  fs::create_symlink(outside / "file", root_ / "file");
  EXPECT_EQ(store_->get("file").value(), "outside");
  EXPECT_EQ(store_->get("directory/file").value(), "outside");
  EXPECT_THAT(keys(), ElementsAre("directory/file", "file"));

  const auto strict = open(false);
  std::vector<ErrorCode> codes;
  const auto note = [&](const auto& result) {
    codes.push_back(result.has_value() ? ErrorCode::io : result.error().code());
  };
  note(strict->open("file"));
  note(strict->open("directory/file"));
  note(strict->open("directory/none"));
  note(strict->set("directory/new", "x"));
  note(strict->set("directory/new/er", "x"));
  note(strict->erase("directory/file"));
  note(strict->lock("directory/file"));
  note(strict->list_dir("directory/"));
  note(strict->erase_prefix("directory/below/"));
  EXPECT_THAT(codes, testing::Each(ErrorCode::unsupported));
  EXPECT_EQ(strict->open("none").value(), nullptr);
  EXPECT_EQ(strict->open("file/none").has_value(), false);
  EXPECT_THAT(outside.contents(), ElementsAre("file"));
}

TEST_F(FileStore, FollowsALinkToTheRootItself) {
  const TempDir links;
  fs::create_directory_symlink(root_.path(), links / "root");
  Config config;
  config.follow_symlinks = false;
  const auto store = file_store(links / "root", config).value();
  store->set("a/b", "x").value();
  EXPECT_EQ(store->get("a/b").value(), "x");
  EXPECT_TRUE(fs::exists(root_ / "a/b"));
}

TEST_F(FileStore, ReplacesALinkAndNotWhatItPointsTo) {
  const TempDir outside;
  write_file(outside / "file", "outside");
  fs::create_symlink(outside / "file", root_ / "a");
  store_->set("a", "inside").value();
  EXPECT_EQ(store_->get("a").value(), "inside");
  EXPECT_FALSE(fs::is_symlink(root_ / "a"));
  std::ifstream file(outside / "file");
  EXPECT_EQ(std::string(std::istreambuf_iterator(file), {}), "outside");
}

TEST_F(FileStore, ErasesLinksAndNotWhatTheyPointTo) {
  const TempDir outside;
  write_file(outside / "file", "outside");
  fs::create_directory(root_ / "a");
  fs::create_directory_symlink(outside.path(), root_ / "a/below");
  fs::create_directory_symlink(outside.path(), root_ / "b");
  fs::create_symlink(outside / "file", root_ / "c");
  store_->erase_prefix("a/").value();
  store_->erase_prefix("b/").value();
  store_->erase_prefix("c/").value();
  EXPECT_THAT(root_.contents(), ElementsAre("c"));
  EXPECT_EQ(store_->erase("c").value(), Erased::object);
  EXPECT_THAT(outside.contents(), ElementsAre("file"));
}

TEST_F(FileStore, ListsEndlessLinksOnce) {
  store_->set("a/b/k", "x").value();
  fs::create_directory_symlink("..", root_ / "a/b/up");
  fs::create_directory_symlink(".", root_ / "a/b/self");
  fs::create_directory_symlink(root_.path(), root_ / "a/root");
  fs::create_directory_symlink(fs::path(root_.path()).parent_path(), root_ / "a/b/above");
  fs::create_symlink("loop", root_ / "loop");
  fs::remove(root_ / "a/b/above");
  EXPECT_THAT(keys(), ElementsAre("a/b/k", "loop"));
  const auto loop = store_->open("loop");
  ASSERT_FALSE(loop);
  EXPECT_EQ(loop.error().code(), ErrorCode::io);
}

TEST_F(FileStore, ADanglingLinkIsAnErrorNotAbsence) {
  store_->set("a/k", "x").value();
  fs::create_symlink("/not/mounted/file", root_ / "file");
  fs::create_directory_symlink("/not/mounted/directory", root_ / "a/below");
  EXPECT_THAT(keys(), ElementsAre("a/below", "a/k", "file"));
  for (const char* key : {"file", "a/below", "a/below/k", "a/below/further/k"}) {
    const auto opened = store_->open(key);
    ASSERT_FALSE(opened) << key;
    EXPECT_EQ(opened.error().code(), ErrorCode::io);
    EXPECT_THAT(opened.error().message(), testing::HasSubstr("is a broken symbolic link"));
  }
  for (const char* prefix : {"a/below/", "a/below/further/"}) {
    EXPECT_EQ(store_->list_dir(prefix).error().code(), ErrorCode::io) << prefix;
    EXPECT_EQ(store_->list(prefix, [](const std::string&, std::uint64_t) { return true; }).error().code(),
              ErrorCode::io);
  }
  EXPECT_EQ(store_->open("a/none").value(), nullptr);
  EXPECT_EQ(store_->open("none/at/all").value(), nullptr);
  EXPECT_TRUE(store_->list_dir("none/at/all/").value().objects.empty());
  store_->set("file", "whole").value();
  EXPECT_EQ(store_->get("file").value(), "whole");
  EXPECT_EQ(store_->erase("a/below").value(), Erased::object);
}

TEST_F(FileStore, WhatIsAbsentBelowALinkIsAbsent) {
  const TempDir disk;
  fs::create_directory_symlink(disk.path(), root_ / "a");
  for (const char* key : {"a/k", "a/c/0"}) EXPECT_EQ(store_->open(key).value(), nullptr) << key;
  store_->set("a/k", "x").value();
  EXPECT_EQ(store_->get("a/k").value(), "x");
}

TEST_F(FileStore, ListsALinkToAParentDirectoryWithoutLooping) {
  const TempDir outer;
  fs::create_directories(outer / "inner");
  const auto store = file_store(outer / "inner").value();
  store->set("k", "x").value();
  fs::create_directory_symlink("..", outer / "inner/up");
  EXPECT_THAT(keys_of(*store), ElementsAre("k"));
  EXPECT_THAT(store->list_dir("").value().prefixes, ElementsAre("up"));
  EXPECT_THAT(store->list_dir("up/").value().prefixes, IsEmpty());
}

// Long and deep names

TEST_F(FileStore, KeepsWritersApartFromNamesOfAnyLength) {
  for (const std::size_t length : {242, 243, 244, 255}) {
    const std::string key = "a/" + std::string(length, 'n');
    kill_a_writer_of(key);
    EXPECT_THAT(keys(), IsEmpty());
    store_->set(key, "x").value();
    EXPECT_EQ(store_->get(key).value(), "x");
    EXPECT_THAT(root_.contents(), ElementsAre("a", key));
    store_->erase_prefix("a/").value();
  }
}

TEST_F(FileStore, RefusesPathsThatCannotBeOpened) {
  std::string key = "a";
  while (key.size() < 4090) key += "/a";
  for (const auto& store : {store_, open(false)}) {
    const auto written = store->set(key, "x");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), ErrorCode::invalid_argument);
  }
  const auto read = store_->open(key);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(root_.contents(), IsEmpty());
}

TEST_F(FileStore, WritesReadsAndErasesVeryDeepKeys) {
  std::string key = "a";
  while (key.size() < 600) key += "/a";
  Config config;
  config.durable = false;
  store_ = file_store(root_.path(), config).value();
  store_->set(key, "x").value();
  EXPECT_EQ(store_->get(key).value(), "x");
  EXPECT_THAT(keys(), ElementsAre(key));
  store_->erase_prefix("a/").value();
  EXPECT_THAT(root_.contents(), IsEmpty());
}

// Killed writers

TEST_F(FileStore, AKilledWriterLeavesTheOldValueAndTheNextOneCleansUp) {
  store_->set("c/0", "old").value();
  kill_a_writer_of("c/0");
  EXPECT_THAT(root_.contents(), ElementsAre("c", "c/.0.sherd-lock", "c/0"));
  EXPECT_EQ(store_->get("c/0").value(), "old");
  EXPECT_THAT(keys(), ElementsAre("c/0"));
  store_->set("c/0", "new").value();
  EXPECT_EQ(store_->get("c/0").value(), "new");
  EXPECT_THAT(root_.contents(), ElementsAre("c", "c/0"));
}

TEST_F(FileStore, CleansUpAfterAKilledWriterWheneverItTakesTheLock) {
  kill_a_writer_of("a/k");
  {
    const auto lock = store_->lock("a/k").value();
  }
  EXPECT_THAT(root_.contents(), ElementsAre("a"));
  store_->set("a/k", "x").value();
  kill_a_writer_of("a/k");
  EXPECT_EQ(store_->erase("a/k").value(), Erased::object);
  EXPECT_THAT(root_.contents(), ElementsAre("a"));
}

TEST_F(FileStore, ErasesWhatKilledWritersLeftWithThePrefix) {
  kill_a_writer_of("a/k");
  kill_a_writer_of("a/b/c");
  store_->erase_prefix("a/").value();
  EXPECT_THAT(root_.contents(), IsEmpty());
}

TEST_F(FileStore, DoesNotEraseTheFilesOfAWriterAtWork) {
  store_->set("a/k", "old").value();
  auto writer = store_->write("a/k").value();
  writer->write(0, as_bytes("new")).value();
  store_->erase_prefix("a/").value();
  EXPECT_EQ(store_->get("a/k").value(), std::nullopt);
  writer->commit().value();
  EXPECT_EQ(store_->get("a/k").value(), "new");
  EXPECT_THAT(root_.contents(), ElementsAre("a", "a/k"));
}

TEST_F(FileStore, NeverWritesIntoASideFileThatItDidNotCreate) {
  write_file(root_ / "other", "precious");
  fs::create_hard_link(root_ / "other", root_ / ".k.sherd-lock");
  store_->set("k", "new").value();
  EXPECT_EQ(store_->get("other").value(), "precious");
  EXPECT_THAT(root_.contents(), ElementsAre("k", "other"));
}

TEST_F(FileStore, DoesNotFollowALockFileThatIsALink) {
  write_file(root_ / "victim", "precious");
  fs::create_symlink("victim", root_ / ".k.sherd-lock");
  const auto written = store_->set("k", "new");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::io);
  EXPECT_EQ(store_->get("victim").value(), "precious");
}

TEST_F(FileStore, AChildThatEndsDoesNotTouchItsParentsWriters) {
  auto lock = store_->lock("k").value();
  auto writer = store_->write("k").value();
  writer->write(0, as_bytes("new")).value();
  EXPECT_EQ(in_child([&] {
              writer.reset();
              lock.reset();
            }),
            0);
  writer->commit().value();
  EXPECT_EQ(store_->get("k").value(), "new");
}

TEST_F(FileStore, AChildWaitsForALockThatItsParentHeldWhenItForked) {
  store_->set("k", "0").value();
  auto lock = store_->lock("k").value();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    (void)!::write(ready[1], "x", 1);
    const auto mine = store_->lock("k").value();
    ::_exit(store_->get("k").value() == "1" ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  store_->set("k", "1").value();
  lock.reset();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(FileStore, AForkDoesNotKeepTheLocksOfItsParentAlive) {
  auto lock = store_->lock("k").value();
  int end[2];
  ASSERT_EQ(::pipe(end), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    (void)!::read(end[0], &byte, 1);
    ::_exit(0);
  }
  lock.reset();
  store_->set("k", "x").value();
  (void)!::write(end[1], "x", 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ::close(end[0]);
  ::close(end[1]);
}

}  // namespace file_test
}  // namespace sherd
