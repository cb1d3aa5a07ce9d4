// A commit is durable together with the directories that lead to the object, including those that another process has
// created but not yet synced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "sherd/store.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace directories_test {

class NewDirectories : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& below) const {
    return fs::canonical(folder_.path()) / fs::path(below);
  }
  /// What was synced before the first rename, which publishes an object.
  static std::set<std::string> synced_before_publishing(const Simulation& simulation) {
    std::set<std::string> synced;
    for (const Call& call : simulation.calls()) {
      if (call.name == "renameat") return synced;
      if (call.name == "fsync") synced.insert(call.path);
    }
    return {};
  }

  const TempDir folder_;
  const std::shared_ptr<sherd::Store> store_ = sherd::file_store(folder_.path()).value();
};

TEST_F(NewDirectories, OfAnotherProcessAreDurableBeforeACommitInThem) {
  fs::create_directories(path("a/b"));
  const Simulation simulation;
  store_->set("a/b/x", "1").value();
  EXPECT_TRUE(synced_before_publishing(simulation).contains(path("a")));
}

TEST_F(NewDirectories, BelowOneOfAnotherProcessAreDurableTogetherWithIt) {
  fs::create_directories(path("a/b"));
  const Simulation simulation;
  store_->set("a/b/c/x", "1").value();
  EXPECT_THAT(synced_before_publishing(simulation), testing::IsSupersetOf({path("a"), path("a/b")}));
}

TEST_F(NewDirectories, ThatAnotherProcessMakesFirstAreDurableToo) {
  fs::create_directories(path("a"));
  const Simulation simulation;
  simulation.before("mkdirat", [&] { fs::create_directory(path("a/b")); });
  store_->set("a/b/x", "1").value();
  EXPECT_TRUE(synced_before_publishing(simulation).contains(path("a")));
}

TEST_F(NewDirectories, AreSyncedAgainIfTheyWereRemovedAndMadeAgain) {
  store_->set("a/b/x", "1").value();
  fs::remove_all(path("a/b"));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // file systems' clocks advance only every few of them
  fs::create_directory(path("a/b"));
  const Simulation simulation;
  store_->set("a/b/x", "1").value();
  EXPECT_TRUE(synced_before_publishing(simulation).contains(path("a")));
}

TEST_F(NewDirectories, AreSyncedOnce) {
  fs::create_directory(path("a"));
  for (const std::string directory : {"a", "b"}) {
    store_->set(directory + "/x", "1").value();
    const Simulation simulation;
    store_->set(directory + "/x", "2").value();
    EXPECT_THAT(synced_before_publishing(simulation), testing::Not(testing::Contains(path(""))));
  }
}

}  // namespace directories_test
}  // namespace faults
