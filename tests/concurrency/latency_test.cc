// Many threads that read and write one handle of a store whose requests have latency, so that the pool plans and
// decodes replies while other requests are pending.
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "sherd/sherd.hpp"

namespace sherd {
namespace latency_test {

using Values = std::vector<std::uint32_t>;

constexpr std::uint64_t kSide = 128;
constexpr int kThreads = 4;

Values numbers(std::uint64_t count) {
  Values values(count);
  std::iota(values.begin(), values.end(), 1U);
  return values;
}

/// An array of shards, or of chunks, all of it written; opened with latency and a pool of two threads.
Array delayed_array(bool is_sharded, std::uint64_t memory_budget) {
  const auto store = memory_store();
  CreateOptions options{.shape = {kSide, kSide}, .dtype = DType::uint32, .chunks = {8, 8}};
  if (is_sharded) options.shards = Shape{32, 32};
  const Array whole = create_array(store, "", options).value();
  whole.write(Box{{0, 0}, {kSide, kSide}}, std::span<const std::uint32_t>(numbers(kSide * kSide))).value();
  OpenOptions opening{.writable = true};
  opening.config.threads = 2;
  opening.config.memory_budget = memory_budget;
  return open_array(delayed_store(store, std::chrono::microseconds(100), 8), opening).value();
}

template <class Work>
void on_all_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(DelayedArray, IsReadByManyThreadsAtATime) {
  for (const bool is_sharded : {false, true})
    for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{64} << 20}) {
      const Array array = delayed_array(is_sharded, budget);
      const Values all = numbers(kSide * kSide);
      on_all_threads([&](int thread) {
        for (std::uint64_t round = 0; round < 4; ++round) {
          const std::uint64_t row = (static_cast<std::uint64_t>(thread) * 4 + round) * 7 % 64;
          Values values(64 * kSide);
          array.read(Box{{row, 0}, {64, kSide}}, std::span(values)).value();
          EXPECT_TRUE(std::equal(values.begin(), values.end(), all.begin() + static_cast<long>(row * kSide)));
        }
      });
    }
}

TEST(DelayedArray, IsChangedByManyThreadsAtATime) {
  for (const bool is_sharded : {false, true}) {
    const Array array = delayed_array(is_sharded, std::uint64_t{64} << 20);
    on_all_threads([&](int thread) {  // each its own columns of every chunk
      const auto first = static_cast<std::uint64_t>(thread);
      const Selection columns =
          Selection::orthogonal({Range{.start = 0, .count = kSide}, Range{.start = first, .count = 32, .step = 4}});
      const Values mine(kSide * 32, static_cast<std::uint32_t>(thread));
      array.write(columns, std::span(mine)).value();
    });
    Values all(kSide * kSide);
    for (std::uint64_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i % 4);
    Values values(all.size());
    array.read(Box{{0, 0}, {kSide, kSide}}, std::span(values)).value();
    EXPECT_EQ(values, all);
  }
}

}  // namespace latency_test
}  // namespace sherd
