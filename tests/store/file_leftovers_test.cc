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
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace {

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

}  // namespace
}  // namespace sherd
