// What calls ask of the pool, and budgets that one thread uses. tests/concurrency/pool_test.cc, which the thread
// sanitizer runs, has the loops and tasks themselves.
#include "base/pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sherd {
namespace pool_test {

using testing::ElementsAre;

TEST(ThreadCount, IsThatOfTheCoresUnlessTheCallSaysAnother) {
  EXPECT_EQ(thread_count(1), 1U);
  EXPECT_EQ(thread_count(7), 7U);
  EXPECT_GE(thread_count(0), 1U);
  EXPECT_LE(thread_count(0), std::max(1U, std::thread::hardware_concurrency()));
}

TEST(ParallelFor, OfOneThreadRunsInOrderOnTheCaller) {
  Config config;
  config.threads = 1;
  std::vector<std::size_t> order;
  const auto caller = std::this_thread::get_id();
  ASSERT_TRUE(parallel_for(5, config, [&](std::size_t i) -> Result<void> {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
    return {};
  }));
  EXPECT_THAT(order, ElementsAre(0U, 1U, 2U, 3U, 4U));
  order.clear();
  const auto failed = parallel_for(5, config, [&](std::size_t i) -> Result<void> {
    order.push_back(i);
    return i == 2 ? Result<void>(io_error("third")) : Result<void>();
  });
  EXPECT_EQ(failed.error().message(), "third");
  EXPECT_THAT(order, ElementsAre(0U, 1U, 2U)) << "nothing begins after the first failure";
  EXPECT_TRUE(parallel_for(0, config, [](std::size_t) -> Result<void> { return io_error("never"); }));
}

TEST(WithRequests, HasAThreadForEachRequestThatIsInFlight) {
  Config config;
  config.threads = 3;
  EXPECT_EQ(with_requests(config, 1).threads, 3U) << "requests without latency";
  EXPECT_EQ(with_requests(config, 2).threads, 3U);
  EXPECT_EQ(with_requests(config, 50).threads, 50U);
}

TEST(WithProgress, ReportsWheneverInterruptionIsPolled) {
  std::vector<std::uint64_t> reported;
  bool stop = false;
  Config config;
  config.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.total, 9U);
    reported.push_back(progress.done);
  };
  config.interrupted = [&] { return stop; };
  std::atomic<std::uint64_t> done{4};
  const Config polled = with_progress(config, done, 9);
  EXPECT_FALSE(polled.interrupted());
  done = 6;
  stop = true;
  EXPECT_TRUE(polled.interrupted());
  EXPECT_EQ(reported.front(), 4U);
  EXPECT_LE(reported.back(), 6U);
}

TEST(Budget, OfOneThreadIsFreeAgainWhenItsSharesAreGone) {
  Budget budget(10);
  {
    const Budget::Share all = budget.take(10);
  }
  Budget::Share one = budget.take(6), moved = std::move(one);
  const Budget::Share rest = budget.take(4);
  moved.release();
  moved.release();  // does not free bytes twice
  Budget::Share other = budget.take(6);
  other = Budget::Share();
  EXPECT_NO_THROW((void)budget.take(6));
}

TEST(Budget, LetsASingleShareExceedIt) {
  Budget budget(10);
  {
    const Budget::Share large = budget.take(1000);
  }
  {
    const Budget::Share large = budget.take(1000);
  }
}

}  // namespace pool_test
}  // namespace sherd
