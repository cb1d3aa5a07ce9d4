// The directories of a file store: which are opened, which links are followed, and which are made and removed again.
#include "store/file_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace file_tree_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class Tree : public testing::Test {
 protected:
  [[nodiscard]] FileTree tree(bool follow_symlinks = true) const {
    return {root_.path(), {.follow_symlinks = follow_symlinks, .durable = false}};
  }
  const TempDir root_;
};

TEST_F(Tree, HasThePathOfAKeyBelowItsRoot) { EXPECT_EQ(tree().path("a/b"), root_.path() + "/a/b"); }

TEST_F(Tree, OpensNothingWhereAPartOfThePathIsMissingOrAFile) {
  std::ofstream(root_ / "file") << "x";
  for (const bool follow : {true, false}) {
    EXPECT_TRUE(tree(follow).open_file("file").value()) << follow;
    for (const char* absent : {"none", "none/x", "file/x"})
      EXPECT_FALSE(tree(follow).open_file(absent).value()) << absent << follow;
    EXPECT_FALSE(tree(follow).open_directory("none/").value()) << follow;
  }
}

TEST_F(Tree, FollowsLinksUnlessToldNotTo) {
  const TempDir elsewhere;
  std::ofstream(elsewhere / "x") << "x";
  fs::create_directory_symlink(elsewhere.path(), root_ / "link");
  EXPECT_TRUE(tree().open_file("link/x").value());
  EXPECT_FALSE(tree(false).open_file("link/x"));
  EXPECT_FALSE(tree(false).open_directory("link/"));
  fs::create_symlink("nowhere", root_ / "broken");
  EXPECT_FALSE(tree().open_file("broken")) << "an error, and not absence";
}

TEST_F(Tree, RemovesTheDirectoriesThatItMadeUnlessTheyAreKeptOrUsed) {
  fs::create_directory(root_ / "a");
  {
    const MadeDirectory made = tree().make_directory("a/b/c/").value();
    EXPECT_THAT(made.made, ElementsAre("b", "b/c"));
    EXPECT_TRUE(fs::is_directory(root_ / "a/b/c"));
  }
  EXPECT_THAT(root_.contents(), ElementsAre("a"));
  {
    const MadeDirectory made = tree().make_directory("a/b/c/").value();
    std::ofstream(root_ / "a/b/other") << "x";
  }
  EXPECT_THAT(root_.contents(), ElementsAre("a", "a/b", "a/b/other"));
  tree().make_directory("d/").value().keep();
  EXPECT_TRUE(fs::is_directory(root_ / "d"));
  EXPECT_THAT(tree().make_directory("d/").value().made, IsEmpty());
}

TEST_F(Tree, SaysWhatFailedAndWhere) {
  const Error error = system_error("open", "/x/y", ENOSPC);
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_THAT(error.text(), testing::AllOf(testing::HasSubstr("open"), testing::HasSubstr("/x/y")));
}

TEST(FileGeneration, DiffersWhereAFileIsWrittenAgain) {
  const TempDir directory;
  std::ofstream(directory / "a") << "x";
  struct stat before{}, after{};
  ASSERT_EQ(::stat((directory / "a").c_str(), &before), 0);
  EXPECT_EQ(generation_of(before), generation_of(before));
  std::ofstream(directory / "a") << "xy";
  ASSERT_EQ(::stat((directory / "a").c_str(), &after), 0);
  EXPECT_FALSE(generation_of(before) == generation_of(after));
}

TEST(TimeAfter, IsAlwaysLater) {
  const timespec future{.tv_sec = 1L << 33, .tv_nsec = 999'999'999};
  const timespec next = time_after(future);
  EXPECT_EQ(next.tv_sec, (1L << 33) + 1);
  EXPECT_EQ(next.tv_nsec, 0);
  EXPECT_GT(time_after({}).tv_sec, 0);
}

TEST(SyncedDirectories, KnowADirectoryByMoreThanItsInode) {
  SyncedDirectories synced;
  const SyncedDirectories::Identity first{{1, 2}, 3, {4, 5}};
  synced.add(first);
  EXPECT_TRUE(synced.contains(first));
  SyncedDirectories::Identity reused = first;
  reused.created.first = 6;
  EXPECT_FALSE(synced.contains(reused)) << "its inode was used again";
}

}  // namespace file_tree_test
}  // namespace sherd
