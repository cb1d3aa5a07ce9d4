// Writers that wait for each other: how long, what ends the wait, and that a lock ends with its process. Two stores of
// one directory exclude each other like two processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

#include "base/pool.hpp"
#include "sherd/store.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace lock_wait_test {

using testing::HasSubstr;

class LockWait : public testing::Test {
 protected:
  std::shared_ptr<Store> open(const Config& config = {}) { return file_store(root_.path(), config).value(); }

  TempDir root_;
};

TEST_F(LockWait, EndsWithAnErrorWhenTheTimeIsUp) {
  const auto held = open()->lock("c/0").value();
  for (const double timeout : {0.0, 0.02}) {
    const auto outcome = open({.lock_timeout = timeout})->write("c/0");
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), ErrorCode::unavailable);
    EXPECT_THAT(outcome.error().text(), HasSubstr("another writer holds the lock of '" + root_ / "c/0'"));
    EXPECT_THAT(outcome.error().text(), HasSubstr("lock_timeout"));
  }
}

TEST_F(LockWait, EndsWithAnErrorWhenAnotherThreadHoldsTheLockForTooLong) {
  const auto store = open({.lock_timeout = 0.02});
  const auto held = store->lock("c/0").value();
  std::thread([&] { EXPECT_EQ(store->lock("c/0").error().code(), ErrorCode::unavailable); }).join();
}

TEST_F(LockWait, OfAFreeLockNeedsNoTime) {
  const auto store = open({.lock_timeout = 0});
  EXPECT_TRUE(store->lock("c/0"));
  EXPECT_TRUE(store->write("c/0"));
}

TEST_F(LockWait, NamesTheStoreOfANodeThatIsBeingCreated) {
  const auto held = open()->lock(".sherd-new-1").value();
  const auto outcome = open({.lock_timeout = 0})->lock(".sherd-new-1");
  EXPECT_THAT(outcome.error().message(), HasSubstr("the lock of '" + root_.path() + "'"));
}

TEST_F(LockWait, EndsWhenTheCallIsInterrupted) {
  const auto held = open()->lock("c/0").value();
  int polls = 0;
  const auto outcome = open({.interrupted = [&] { return ++polls == 3; }})->lock("c/0");
  EXPECT_EQ(outcome.error().message(), "interrupted");
  EXPECT_EQ(polls, 3);
}

TEST_F(LockWait, EndsOnAnotherThreadToo) {
  const auto store = open();
  const auto held = open()->lock("c/0").value();
  const auto caller = std::this_thread::get_id();
  std::atomic<int> waiting{0};
  const Config config{.threads = 2, .interrupted = [&] {
                        EXPECT_EQ(std::this_thread::get_id(), caller);
                        return waiting == 2;
                      }};
  const auto outcome = parallel_for(2, config, [&](std::size_t) -> Result<void> {
    ++waiting;
    while (waiting < 2) std::this_thread::yield();
    EXPECT_EQ(store->lock("c/0").error().message(), "interrupted");
    return {};
  });
  EXPECT_EQ(outcome.error().message(), "interrupted");
}

TEST_F(LockWait, IsAnnouncedOnce) {
  const auto held = open()->lock("c/0").value();
  std::string heard;
  int polls_since = 0;
  const auto outcome = open({.interrupted = [&] { return !heard.empty() && ++polls_since == 10; },
                             .notice = [&](const std::string& text) { heard += text; }})
                           ->lock("c/0");
  EXPECT_EQ(outcome.error().message(), "interrupted");
  EXPECT_EQ(heard, "waiting for another writer, which holds the lock of '" + root_ / "c/0'");
}

TEST_F(LockWait, DoesNotWaitForAChildOfAKilledWriter) {
  int alive[2], ready[2];
  ASSERT_EQ(::pipe(alive), 0);
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    const auto held = open()->write("c/0").value();
    if (::fork() == 0) {
      char byte = 0;
      (void)!::write(ready[1], "r", 1);
      ::close(alive[1]);
      (void)!::read(alive[0], &byte, 1);  // until the test closes its end
      ::_exit(0);
    }
    ::pause();
  }
  ::close(alive[0]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(::kill(writer, SIGKILL), 0);
  ASSERT_EQ(::waitpid(writer, nullptr, 0), writer);
  const auto outcome = open({.lock_timeout = 10})->lock("c/0");
  EXPECT_TRUE(outcome) << outcome.error().text();
  for (const int fd : {alive[1], ready[0], ready[1]}) ::close(fd);
}

TEST_F(LockWait, AChildThatEndsKeepsTheLockOfItsParent) {
  auto held = open()->lock("c/0").value();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    held.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(open({.lock_timeout = 0})->lock("c/0"));
}

}  // namespace lock_wait_test
}  // namespace sherd
