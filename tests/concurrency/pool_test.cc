// Loops that threads share, loops inside loops, and the budget of bytes in flight.
#include "base/pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/call.hpp"

#ifdef __clang__
// The tests fork processes that have threads, and the children make threads of their own.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace sherd {
namespace pool_test {

Config threads(unsigned count) {
  Config config;
  config.threads = count;
  return config;
}

/// Remembers the maximum number of threads that were inside at the same time.
class Crowd {
 public:
  void enter() {
    const unsigned now = ++inside_;
    unsigned most = most_;
    while (most < now && !most_.compare_exchange_weak(most, now)) {
    }
  }
  void leave() { --inside_; }
  [[nodiscard]] unsigned most() const { return most_; }

 private:
  std::atomic<unsigned> inside_{0}, most_{0};
};

TEST(ParallelFor, RunsEachIterationOnce) {
  for (const unsigned count : {1U, 2U, 7U, 64U}) {
    std::vector<int> runs(1000, 0);  // not atomic: an iteration that ran twice would be a race, too
    ASSERT_TRUE(parallel_for(runs.size(), threads(count), [&](std::size_t i) -> Result<void> {
      ++runs[i];
      return {};
    }));
    EXPECT_THAT(runs, testing::Each(1)) << count << " threads";
  }
}

TEST(ParallelForFiles, HasMoreThreadsWhileItWaits) {
  const auto most_inside = [](unsigned count) {
    Crowd crowd;
    EXPECT_TRUE(parallel_for_files(100, threads(count), [&](std::size_t) -> Result<void> {
      crowd.enter();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      crowd.leave();
      return {};
    }));
    return crowd.most();
  };
  const unsigned most = most_inside(0);
  EXPECT_GE(most, std::min(thread_count(0) + 1, kWaitingThreads));
  EXPECT_LE(most, std::max(thread_count(0), kWaitingThreads));
  EXPECT_LE(most_inside(2), 2U) << "the caller says how many";
}

TEST(ParallelFor, RunsLoopsInsideLoopsOfManyCallersAtOnce) {
  constexpr std::size_t kCallers = 6, kOuter = 9, kMiddle = 7, kInner = 11;
  std::vector<std::vector<int>> runs(kCallers, std::vector<int>(kOuter * kMiddle * kInner, 0));
  std::vector<std::thread> callers;
  for (std::size_t c = 0; c < kCallers; ++c) {
    callers.emplace_back([&, c] {
      const Config config = threads(static_cast<unsigned>(1 + c));
      EXPECT_TRUE(parallel_for(kOuter, config, [&](std::size_t i) {
        return parallel_for(kMiddle, config, [&, i](std::size_t j) {
          return parallel_for(kInner, config, [&, i, j](std::size_t k) -> Result<void> {
            ++runs[c][(i * kMiddle + j) * kInner + k];
            return {};
          });
        });
      }));
    });
  }
  for (auto& caller : callers) caller.join();
  for (const auto& of_caller : runs) EXPECT_THAT(of_caller, testing::Each(1));
}

TEST(ParallelFor, KeepsACallWithinItsThreadsHoweverDeepItsLoops) {
  for (const unsigned limit : {1U, 2U, 3U}) {
    Crowd crowd;
    const Config config = threads(limit);
    ASSERT_TRUE(parallel_for(8, config, [&](std::size_t) {
      return parallel_for(50, config, [&](std::size_t) -> Result<void> {
        crowd.enter();
        std::this_thread::yield();
        crowd.leave();
        return {};
      });
    }));
    EXPECT_LE(crowd.most(), limit);
  }
}

TEST(ParallelFor, ReturnsTheErrorOfTheLowestIndexAndStartsNothingMore) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<std::size_t> begun{0};
    const auto done = parallel_for(100'000, threads(8), [&](std::size_t i) -> Result<void> {
      ++begun;
      if (i >= 5 && i <= 8) return io_error(std::to_string(i));
      return {};
    });
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message(), testing::StartsWith("5"));  // indices are handed out in order
    EXPECT_LT(begun, 100'000U);
  }
}

TEST(ParallelFor, AnErrorDeepInsideEndsAllLoopsAroundIt) {
  const Config config = threads(4);
  const auto done = parallel_for(16, config, [&](std::size_t i) {
    return parallel_for(16, config, [&, i](std::size_t j) -> Result<void> {
      if (i == 3 && j == 4) return corrupt("deep");
      return {};
    });
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::corrupt);
}

TEST(ParallelFor, RunningOutOfMemoryIsAnErrorOnAnyThread) {
  for (const unsigned count : {1U, 8U}) {
    const auto done = parallel_for(64, threads(count), [](std::size_t) -> Result<void> { throw std::bad_alloc(); });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), ErrorCode::unavailable);
  }
}

// Thrown by what a user passes in: a callback, or a store of their own.
struct Thrown : std::exception {};

TEST(ParallelFor, RethrowsAnExceptionOfAnyThreadAfterAllIterationsEnded) {
  const Config config = threads(4);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> inside{0};
    const auto loop = [&] {
      return parallel_for(16, config, [&](std::size_t i) {
        return parallel_for(16, config, [&, i](std::size_t j) -> Result<void> {
          ++inside;
          std::this_thread::yield();
          --inside;
          if (i == 3 && j == 4) throw Thrown();
          return {};
        });
      });
    };
    EXPECT_THROW((void)loop(), Thrown);
    EXPECT_EQ(inside, 0);
  }
  std::atomic<std::size_t> runs{0};
  parallel_for(100, config, [&](std::size_t) -> Result<void> {
    ++runs;
    return {};
  }).value();
  EXPECT_EQ(runs, 100U);
}

TEST(ParallelFor, RethrowsAnExceptionOfTheInterruptHook) {
  for (const unsigned count : {1U, 4U}) {
    Config config = threads(count);
    config.interrupted = []() -> bool { throw Thrown(); };
    const auto loop = [&] {
      return parallel_for(~std::size_t{0}, config, [](std::size_t) -> Result<void> { return {}; });
    };
    EXPECT_THROW((void)loop(), Thrown);
  }
}

TEST(ParallelFor, CallsTheInterruptHookOnTheCallingThreadOnly) {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> elsewhere{false}, ask{false};
  Config config = threads(4);
  config.interrupted = [&] {
    if (std::this_thread::get_id() != caller) elsewhere = true;
    return ask.load();
  };
  std::atomic<std::size_t> begun{0};
  const auto done = parallel_for(~std::size_t{0}, config, [&](std::size_t) {
    return parallel_for(4, config, [&](std::size_t) -> Result<void> {
      if (++begun > 1000) ask = true;
      return {};
    });
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::unavailable);
  EXPECT_FALSE(elsewhere);
}

TEST(ParallelFor, IsInterruptedWhileOnlyOtherThreadsWork) {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> helped{false};
  Config config = threads(2);
  config.interrupted = [&] { return helped.load(); };
  const auto done = parallel_for(2, config, [&](std::size_t) -> Result<void> {
    if (std::this_thread::get_id() == caller) {
      while (!helped) std::this_thread::yield();
      return {};
    }
    helped = true;
    while (!call_interrupted()) std::this_thread::yield();
    return unavailable("stopped");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::unavailable);
}

TEST(ParallelFor, InsideAnotherIsInterruptedOnEveryThread) {
  constexpr std::size_t kCount = 20'000;  // of a millisecond each
  std::atomic<unsigned> begun{0};
  std::atomic<std::size_t> most{0};
  Config config = threads(2);
  config.interrupted = [&] { return begun == 2; };
  Config alone = config;
  alone.threads = 1;
  const auto done = parallel_for(2, config, [&](std::size_t) -> Result<void> {
    ++begun;
    return parallel_for(kCount, alone, [&](std::size_t i) -> Result<void> {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (i > most) most = i;
      return {};
    });
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::unavailable);
  EXPECT_LT(most, kCount - 1) << "one of them went on to its end";
}

TEST(ParallelFor, WorksInAChildOfAProcessWhoseThreadsAreBusy) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
      parallel_for(64, threads(4), [](std::size_t) -> Result<void> { return {}; }).value();
    }
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::atomic<std::size_t> sum{0};
      parallel_for(100, threads(4), [&](std::size_t j) -> Result<void> {
        sum += j;
        return {};
      }).value();
      ::_exit(sum == 4950 ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

TEST(ParallelFor, WorksInAChildThatWasForkedInsideALoop) {
  const Config config = threads(4);
  std::atomic<int> good{0};
  ASSERT_TRUE(parallel_for(4, config, [&](std::size_t) -> Result<void> {
    const pid_t child = ::fork();
    if (child == 0) {
      std::atomic<std::size_t> runs{0};
      parallel_for(100, config, [&](std::size_t) -> Result<void> {
        ++runs;
        return {};
      }).value();
      ::_exit(runs == 100 ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    if (status == 0) ++good;
    return {};
  }));
  EXPECT_EQ(good, 4);
}

TEST(Budget, IsExceededOnlyByASingleLargeShare) {
  constexpr std::uint64_t kTotal = 100;
  Budget budget(kTotal);
  std::atomic<std::uint64_t> used{0};
  std::atomic<int> excesses{0};
  std::vector<std::thread> takers;
  for (std::uint64_t t = 0; t < 8; ++t) {
    takers.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 200; ++i) {
        const std::uint64_t bytes = (t * 37 + i * 13) % 140;  // some exceed the total
        auto share = budget.take(bytes);
        const std::uint64_t now = used += bytes;
        if (now > std::max(kTotal, bytes)) ++excesses;
        used -= bytes;
        if (i % 2 == 0) share.release();
      }
    });
  }
  for (auto& taker : takers) taker.join();
  EXPECT_EQ(excesses, 0);
  EXPECT_EQ(used, 0U);
}

TEST(Budget, RegainsAShareWhenItsLastOwnerReleasesIt) {
  Budget budget(10);
  Budget::Share owner;
  {
    Budget::Share first = budget.take(10);
    owner = std::move(first);
  }
  std::atomic<bool> taken{false};
  std::thread other([&] {
    const Budget::Share all = budget.take(10);
    taken = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(taken) << "the ten bytes moved to the second owner";
  owner = budget.take(0);  // releases them
  other.join();
  EXPECT_TRUE(taken);
}

/// Calls `body` with tasks, which must be created inside a loop.
template <class Body>
Result<void> with_tasks(const Config& config, const Body& body) {
  return parallel_for(1, config, [&](std::size_t) -> Result<void> {
    Tasks tasks(config);
    body(tasks);
    return tasks.finish();
  });
}

TEST(Tasks, AreRunOnceAndMayAddOthers) {
  for (const unsigned count : {1U, 2U, 7U}) {
    const Config config = threads(count);
    std::vector<std::atomic<int>> runs(1000);
    std::atomic<std::size_t> done{0};
    ASSERT_TRUE(with_tasks(config, [&](Tasks& tasks) {
      for (std::size_t i = 0; i < runs.size() / 2; ++i)
        tasks.add([&, i]() -> Result<void> {
          tasks.add([&, i]() -> Result<void> {
            ++runs[runs.size() / 2 + i];
            ++done;
            return {};
          });
          ++runs[i];
          ++done;
          return {};
        });
      tasks.help_until([&] { return done == runs.size(); });
    }));
    for (const auto& each : runs) EXPECT_EQ(each, 1) << count << " threads";
  }
}

TEST(Tasks, MayBeLoopsThatOtherThreadsJoin) {
  const Config config = threads(4);
  std::atomic<int> runs{0};
  ASSERT_TRUE(with_tasks(config, [&](Tasks& tasks) {
    tasks.add([&] {
      return parallel_for(100, config, [&](std::size_t) -> Result<void> {
        ++runs;
        return {};
      });
    });
    tasks.help_until([&] { return runs == 100; });
  }));
  EXPECT_EQ(runs, 100);
}

TEST(Tasks, OfACallWithoutOtherThreadsAreRunByTheThreadThatWaits) {
  const Config one = threads(1);
  ASSERT_TRUE(parallel_for(2, threads(2), [&](std::size_t) -> Result<void> {
    std::atomic<int> runs{0};
    Tasks tasks(one);
    for (int i = 0; i < 10; ++i)
      tasks.add([&]() -> Result<void> {
        ++runs;
        return {};
      });
    tasks.help_until([&] { return runs == 10; });
    EXPECT_EQ(runs, 10);
    return tasks.finish();
  }));
}

TEST(Tasks, EndWithTheFirstFailureAndDropWhatHasNotBegun) {
  std::atomic<int> runs{0};
  const auto done = with_tasks(threads(2), [&](Tasks& tasks) {
    for (int i = 0; i < 1000; ++i)
      tasks.add([&, i]() -> Result<void> {
        ++runs;
        return i < 3 ? Result<void>{} : corrupt("task " + std::to_string(i));
      });
    tasks.help_until([] { return false; });
    EXPECT_TRUE(tasks.failed());
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::corrupt);
  EXPECT_LT(runs, 10);
}

TEST(Tasks, RethrowWhatOneOfThemThrows) {
  const auto throwing = [] {
    return with_tasks(threads(2), [](Tasks& tasks) {
      tasks.add([]() -> Result<void> { throw std::runtime_error("thrown"); });
      tasks.help_until([] { return false; });
    });
  };
  EXPECT_THROW((void)throwing(), std::runtime_error);
}

TEST(Tasks, EndAWaitThatIsInterrupted) {
  Config config = threads(2);
  int polls = 0;
  config.interrupted = [&] { return ++polls > 1; };
  const auto done = with_tasks(config, [](Tasks& tasks) { tasks.help_until([] { return false; }); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::unavailable);
}

}  // namespace pool_test
}  // namespace sherd
