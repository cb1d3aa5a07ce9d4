// When an attempt is made again, how long that waits, and what ends it.
#include "store/retry.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "base/pool.hpp"

namespace sherd {
namespace retry_test {

TEST(Retry, EndsWithTheFirstAttemptThatIsNotAConflict) {
  int made = 0;
  const auto value = retry_conflicts({}, [&]() -> Result<int> {
    if (++made < 5) return conflict("another writer was first");
    return 7;
  });
  EXPECT_EQ(value.value(), 7);
  EXPECT_EQ(made, 5);
  const auto failed = retry_conflicts({}, [&]() -> Result<void> {
    if (++made < 7) return conflict("another writer was first");
    return io_error("the disk is gone");
  });
  EXPECT_EQ(failed.error().code(), ErrorCode::io);
  EXPECT_EQ(made, 7);
}

TEST(Retry, DoesNotRepeatAConflictThatLasts) {
  int made = 0;
  const auto refused = retry_conflicts({}, [&]() -> Result<void> {
    ++made;
    return conflict("an array exists here").lasting().in_key("a");
  });
  EXPECT_EQ(made, 1);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(refused.error().text(), "'a': an array exists here");
}

TEST(Retry, OfAChangeGoesOnUntilTheCallIsInterrupted) {
  int made = 0;
  Config config;
  config.interrupted = [&] { return made > 20; };
  const auto interrupted = retry_conflicts(config, [&]() -> Result<void> {
    ++made;
    return conflict("another writer was first");
  });
  EXPECT_EQ(interrupted.error().code(), ErrorCode::unavailable);
  EXPECT_GT(made, 20);
}

TEST(Retry, OfAChangeGoesOnUntilTheTimeoutOfLocks) {
  Config config;
  config.lock_timeout = 0;  // then it is tried for a second
  const auto begun = std::chrono::steady_clock::now();
  const auto ended = retry_conflicts(config, [&]() -> Result<void> { return conflict("another writer was first"); });
  EXPECT_EQ(ended.error().code(), ErrorCode::unavailable);
  EXPECT_NE(ended.error().message().find("lock_timeout"), std::string::npos);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
}

TEST(Retry, OnAnotherThreadEndsWithTheCallThatItWorksFor) {
  std::atomic<int> made{0};
  Config config;
  config.threads = 2;
  config.interrupted = [&] { return made > 20; };
  const auto interrupted = parallel_for(2, config, [&](std::size_t) {
    return retry_conflicts(Config(), [&]() -> Result<void> {
      ++made;
      return conflict("another writer was first");
    });
  });
  EXPECT_EQ(interrupted.error().code(), ErrorCode::unavailable);
}

TEST(Retry, OfAReadEndsWithAConflictThatLasts) {
  int made = 0;
  const auto torn = retry_limited({}, [&]() -> Result<void> {
    ++made;
    return conflict("changed while it was read");
  });
  EXPECT_EQ(torn.error().code(), ErrorCode::conflict);
  EXPECT_FALSE(is_lost_race(torn.error()));
  EXPECT_GT(made, 16);
}

TEST(Backoff, WaitsTwiceAsLongEachTimeUpToALimit) {
  const Config config;
  Backoff backoff(config.interrupted);
  for (int waits = 0; waits < 12; ++waits) {
    const auto longest = backoff.longest();
    const auto begin = std::chrono::steady_clock::now();
    backoff.wait().value();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, longest / 2);
    EXPECT_EQ(backoff.longest(), std::min<std::chrono::microseconds>(2 * longest, std::chrono::milliseconds(64)));
  }
}

}  // namespace retry_test
}  // namespace sherd
