#include "base/core_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace sherd {
namespace core_queue_test {

TEST(CoreQueue, LetsNoMoreThreadsComputeThanThereAreCores) {
  CoreQueue queue(2);
  std::atomic<int> computing{0}, most{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 50; ++turn) {
        const auto core = queue.take(static_cast<std::uint64_t>(i % 3));
        const int now = ++computing;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        --computing;
      }
    });
  threads.clear();
  EXPECT_EQ(most, 2);
  const auto first = queue.take(0), second = queue.take(0);  // all were returned
}

TEST(CoreQueue, TheLowestNumberComesFirst) {
  CoreQueue queue(1);
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::jthread> threads;
  {
    const auto core = queue.take(0);
    for (const int number : {5, 3, 9, 3, 1})
      threads.emplace_back([&, number] {
        const auto turn = queue.take(static_cast<std::uint64_t>(number));
        const std::lock_guard hold(mutex);
        order.push_back(number);
      });
    while (queue.waiting() < 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  threads.clear();
  EXPECT_EQ(order, (std::vector<int>{1, 3, 3, 5, 9}));
}

}  // namespace core_queue_test
}  // namespace sherd
