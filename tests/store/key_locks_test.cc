// Keys that threads of one process have locked.
#include "store/key_locks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "store/file_lock.hpp"
#include "store/key.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace key_locks_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class HeldKeys : public testing::Test {
 protected:
  /// Waits for the key for up to this many seconds.
  Result<std::shared_ptr<KeyHold>> take(const std::string& key, double timeout = 0) {
    LockPatience patience;
    patience.timeout = timeout;
    const std::function<std::string()> name = [&] { return key; };
    LockWait wait(patience, name);
    return locks_->take(key, wait);
  }
  /// The error code in another thread that must not wait; nullopt if it gets the key.
  std::optional<ErrorCode> taken_elsewhere(const std::string& key) {
    std::optional<ErrorCode> code;
    std::thread([&] {
      if (const auto hold = take(key); !hold) code = hold.error().code();
    }).join();
    return code;
  }

  std::shared_ptr<KeyLocks> locks_ = std::make_shared<KeyLocks>();
};

TEST_F(HeldKeys, CannotBeTakenByOtherThreads) {
  const auto hold = take("c/0").value();
  EXPECT_EQ(taken_elsewhere("c/0"), ErrorCode::unavailable);
  EXPECT_EQ(taken_elsewhere("c/1"), std::nullopt);
}

// The system may give the ID of a finished thread to the next one.
TEST_F(HeldKeys, StayHeldWhenTheirThreadHasEnded) {
  std::shared_ptr<KeyHold> hold;
  std::thread([&] { hold = take("c/0").value(); }).join();
  EXPECT_EQ(taken_elsewhere("c/0"), ErrorCode::unavailable);
  hold.reset();
  EXPECT_EQ(taken_elsewhere("c/0"), std::nullopt);
}

TEST_F(HeldKeys, AreHeldAgainByTheSameThread) {
  const auto hold = take("c/0").value();
  EXPECT_EQ(take("c/0").value(), hold);
}

TEST_F(HeldKeys, AreReleasedWithTheLastHold) {
  auto hold = take("c/0").value();
  auto again = take("c/0").value();
  hold.reset();
  EXPECT_EQ(taken_elsewhere("c/0"), ErrorCode::unavailable);
  again.reset();
  EXPECT_EQ(taken_elsewhere("c/0"), std::nullopt);
}

TEST_F(HeldKeys, AreReleasedByTheLocksThatWereMadeOfThem) {
  auto lock = lock_of(take("c/0").value());
  EXPECT_EQ(taken_elsewhere("c/0"), ErrorCode::unavailable);
  lock.reset();
  EXPECT_EQ(taken_elsewhere("c/0"), std::nullopt);
}

TEST_F(HeldKeys, AreHeldByOneOfManyThreadsAtATime) {
  int held = 0;  // not atomic: two holders would be a race
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const auto hold = take("c/0", 60).value();
        ++held;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(held, 800);
}

TEST_F(HeldKeys, HaveOneWriterAtATime) {
  const auto hold = take("c/0").value();
  EXPECT_TRUE(hold->begin_writer());
  const auto second = hold->begin_writer();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(second.error().text(), HasSubstr("c/0"));
  hold->end_writer();
  EXPECT_TRUE(hold->begin_writer());
}

TEST_F(HeldKeys, AreListedBelowAPrefix) {
  EXPECT_THAT(locks_->held_below(""), IsEmpty());
  const auto a = take("a/c/0").value(), b = take("b/c/0").value(), scratch = take(".sherd-new-1/zarr.json").value();
  EXPECT_THAT(locks_->held_below("a/"), ElementsAre("a/c/0"));
  EXPECT_THAT(locks_->held_below(""), UnorderedElementsAre("a/c/0", "b/c/0"))
      << "no thread waits for what is still being made";
}

TEST_F(HeldKeys, OutliveTheLockOfTheirFile) {
  const TempDir folder;
  const std::string side_file = folder.path() + "/c/" + side_file_of("0", kLockSuffix);
  auto hold = hold_object(*locks_, FileTree(folder.path(), {}), "c/0").value();
  EXPECT_TRUE(std::filesystem::exists(side_file));
  std::thread next([&] {
    const auto mine = take("c/0", 60);
    EXPECT_FALSE(std::filesystem::exists(side_file)) << "the next thread would wait for this one's lock of the file";
  });
  hold.reset();
  next.join();
}

TEST_F(HeldKeys, OfAParentAreFreeInItsForkedChildAndStayHeldInTheParent) {
  auto hold = take("c/0").value();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto mine = take("c/0");
    const bool is_new = mine && *mine != hold;
    hold.reset();  // of the parent: releases nothing here
    ::_exit(is_new && taken_elsewhere("c/0") == ErrorCode::unavailable ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(taken_elsewhere("c/0"), ErrorCode::unavailable);
}

}  // namespace key_locks_test
}  // namespace sherd
