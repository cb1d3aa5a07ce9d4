// What killed writers leave next to their objects and at the root of a file store, and who removes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "store/capabilities.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace file_leftovers_test {

namespace fs = std::filesystem;
using testing::ElementsAre;

class Leftovers : public testing::Test {
 protected:
  std::shared_ptr<Store> open() { return file_store(root_.path()).value(); }
  /// Ends a process in the middle of writing an object.
  void kill_a_writer_of(const std::string& key) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto writer = open()->write(key).value();
      writer->write(0, as_bytes("half")).value();
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  /// Side files among them.
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(root_.path()))
      if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(root_.path()).string());
    std::sort(names.begin(), names.end());
    return names;
  }

  TempDir root_;
};

TEST_F(Leftovers, AreRemovedByAnyWriterInTheSameDirectory) {
  open()->set("a/kept", "x").value();
  kill_a_writer_of("a/k");
  kill_a_writer_of("b/k");
  ASSERT_THAT(files(), ElementsAre("a/.k.sherd-lock", "a/kept", "b/.k.sherd-lock"));
  const auto alive = open()->lock("a/held").value();
  open()->set("a/other", "x").value();
  EXPECT_THAT(files(), ElementsAre("a/.held.sherd-lock", "a/kept", "a/other", "b/.k.sherd-lock"));
}

TEST_F(Leftovers, OfAnUnfinishedNodeAreRemovedUnlessInUseOrResumable) {
  const auto store = open();
  store->set("a", "x").value();
  kill_a_writer_of(".sherd-new-1");
  for (const char* key : {".sherd-new-1/node/a/c/0", ".sherd-new-2/note", ".sherd-new-2/node/c/0",
                          ".sherd-new-3/node/x", "b/.sherd-new-4/node/x"})
    store->set(key, "x").value();
  const auto maker = store->lock(".sherd-new-3").value();
  open()->set("b/k", "x").value();
  EXPECT_THAT(files(), ElementsAre("..sherd-new-3.sherd-lock", ".sherd-new-2/node/c/0", ".sherd-new-2/note",
                                   ".sherd-new-3/node/x", "a", "b/.sherd-new-4/node/x", "b/k"));
  EXPECT_FALSE(fs::exists(root_ / ".sherd-new-1"));
}

std::vector<std::string> removed_in(Store& store, const std::string& prefix) {
  std::vector<std::string> removed;
  dynamic_cast<LeftoverStore&>(store)
      .remove_leftovers(prefix,
                        [&](const std::string& key) -> Result<void> {
                          removed.push_back(key);
                          return {};
                        })
      .value();
  std::ranges::sort(removed);
  return removed;
}

TEST_F(Leftovers, AreRemovedOnRequestInAllDirectoriesAndNamed) {
  const auto store = open();
  store->set("a/b/kept", "x").value();
  const auto held = store->lock("a/held").value();
  for (const char* key : {"a/b/k", "a/k", ".sherd-new-1"}) kill_a_writer_of(key);  // which sweep where they write
  fs::create_directories(root_ / ".sherd-new-2/node");
  EXPECT_THAT(removed_in(*prefixed_store(store, "a/"), "b/"), ElementsAre("b/.k.sherd-lock"));
  EXPECT_THAT(removed_in(*store, ""), ElementsAre("..sherd-new-1.sherd-lock", ".sherd-new-2", "a/.k.sherd-lock"));
  EXPECT_THAT(files(), ElementsAre("a/.held.sherd-lock", "a/b/kept"));
  EXPECT_THAT(removed_in(*store, ""), ElementsAre());
  EXPECT_THAT(removed_in(*store, "nothing/"), ElementsAre());
}

TEST_F(Leftovers, KeepANextVersionThatIsStillToGetItsSecondName) {
  const auto store = open();
  store->set("a/1", "new").value();
  store->set("b/2", "old").value();
  fs::create_hard_link(root_ / "a/1", root_ / "b/.2.sherd-link");
  EXPECT_THAT(removed_in(*store, ""), ElementsAre());
  fs::remove(root_ / "a/1");
  EXPECT_THAT(removed_in(*store, ""), ElementsAre("b/.2.sherd-link")) << "of a writer that did not get so far";
}

TEST_F(Leftovers, OfAWriterOfTwoNamesAreRemovedInAnyOrderOfTheirDirectories) {
  const auto store = open();
  store->set("a/2", "old").value();
  kill_a_writer_of("b/1");
  fs::create_hard_link(root_ / "b/.1.sherd-lock", root_ / "a/.2.sherd-link");
  EXPECT_THAT(removed_in(*store, ""), ElementsAre("a/.2.sherd-link", "b/.1.sherd-lock"));
}

TEST_F(Leftovers, ASecondNameIsAddedToAnObjectOnce) {
  const auto store = open();
  store->set("a/1", "x").value();
  auto& linking = dynamic_cast<LinkingStore&>(*store);
  linking.add_name("a/1", "b/c/2").value();
  EXPECT_EQ(store->get("b/c/2").value(), "x");
  EXPECT_TRUE(fs::equivalent(root_ / "a/1", root_ / "b/c/2"));
  EXPECT_EQ(linking.add_name("a/1", "b/c/2").error().code(), ErrorCode::conflict);
  EXPECT_FALSE(linking.add_name("a/none", "d/1").has_value());
  EXPECT_FALSE(fs::exists(root_ / "d")) << "the directory that was made for it is removed again";
}

}  // namespace file_leftovers_test
}  // namespace sherd
