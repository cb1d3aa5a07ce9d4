// The call that a thread works for: who polls the hooks, how often, and who receives the result.
#include "base/call.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sherd {
namespace call_test {

using namespace std::chrono_literals;

/// Waits until a poll is due on this thread.
void wait_for_poll() { std::this_thread::sleep_for(kBetweenPolls); }

TEST(Call, IsPolledOftenEnoughForAnInterruptToEndAWaitWithinATenthOfASecond) {
  static_assert(kBetweenPolls * 2 < 100ms);
  int polls = 0;
  Config config;
  config.interrupted = [&] { return ++polls == 3; };
  as_call(config, [&] {
    while (!call_interrupted()) std::this_thread::sleep_for(1ms);
    return true;
  });
  EXPECT_EQ(polls, 3);
}

TEST(Call, PollsItsHookAtMostOncePerInterval) {
  int polls = 0;
  Config config;
  config.interrupted = [&] { return ++polls, false; };
  wait_for_poll();
  const auto begin = std::chrono::steady_clock::now();
  as_call(config, [] {
    for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(call_interrupted());
    return true;
  });
  const auto intervals = (std::chrono::steady_clock::now() - begin) / kBetweenPolls;
  EXPECT_GE(polls, 1);
  EXPECT_LE(polls, intervals + 1);
}

TEST(Call, StaysInterrupted) {
  bool first = true;
  Config config;
  config.interrupted = [&] { return std::exchange(first, false); };
  wait_for_poll();
  as_call(config, [] {
    EXPECT_TRUE(call_interrupted());
    EXPECT_TRUE(call_interrupted());
    return true;
  });
  EXPECT_FALSE(call_interrupted()) << "outside of the call";
}

TEST(Call, IsThatOfTheOutermostOperation) {
  Config outer, inner;
  outer.lock_timeout = 7;
  inner.lock_timeout = 9;
  const auto timeout = [] { return Call::current()->lock_timeout(); };
  EXPECT_EQ(as_call(outer, [&] { return as_call(inner, timeout); }), 7);
  EXPECT_EQ(Call::current(), nullptr);
}

TEST(Call, ThrowsWhatItsHookThrewWhereItEnds) {
  Config config;
  config.interrupted = []() -> bool { throw std::runtime_error("from the hook"); };
  wait_for_poll();
  bool ended = false;
  const auto operation = [&] {
    EXPECT_TRUE(call_interrupted());
    return ended = true;
  };
  EXPECT_THROW(as_call(config, operation), std::runtime_error);
  EXPECT_TRUE(ended);
}

TEST(Call, HandsNoticesOfOtherThreadsToItsOwn) {
  std::vector<std::string> notices;
  std::thread::id on;
  Config config;
  config.notice = [&](const std::string& text) {
    notices.push_back(text);
    on = std::this_thread::get_id();
  };
  as_call(config, [&] {
    Call& call = *Call::current();
    std::thread([&] {
      const Call::Working working(call, false);
      EXPECT_FALSE(Call::is_caller());
      Call::current()->notify("from another thread");
    }).join();
    EXPECT_TRUE(notices.empty());
    (void)call_interrupted();
    call.notify("from its own");
    return true;
  });
  EXPECT_EQ(notices, (std::vector<std::string>{"from another thread", "from its own"}));
  EXPECT_EQ(on, std::this_thread::get_id());
}

}  // namespace call_test
}  // namespace sherd
