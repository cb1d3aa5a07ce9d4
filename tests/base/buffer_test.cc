// Memory of results: freed memory is reused for the next one.
#include "base/buffer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/memory.hpp"

namespace sherd {
namespace buffer_test {

constexpr std::size_t kMiB = std::size_t{1} << 20;

long page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

std::byte* touched(std::size_t size) {
  std::byte* data = allocate_result(size);
  std::memset(data, 1, size);
  return data;
}

TEST(Results, ReuseFreedBlocksOfSimilarSize) {
  free_bytes(touched(kMiB));
  const long before = page_faults();
  for (const std::size_t size : {kMiB, kMiB - 100, kMiB / 2 + 4096, kMiB}) free_bytes(touched(size));
#if SHERD_MEASURES_MEMORY
  EXPECT_LE(page_faults() - before, 8) << "256 pages would be faulted in again each time";
#else
  (void)before;
#endif
}

TEST(Results, DoNotOverlapWhileAlive) {
  std::vector<std::byte*> live;
  for (const std::size_t step : {100'000, 950'000, 100'000, 950'000}) {
    for (std::size_t i = 0; i < 9; ++i) {
      live.push_back(allocate_result((i + 1) * step));
      std::memset(live.back(), static_cast<int>(i), (i + 1) * step);
    }
    for (std::size_t i = 0; i < live.size(); ++i) {
      EXPECT_EQ(live[i][0], std::byte(i));
      EXPECT_EQ(live[i][(i + 1) * step - 1], std::byte(i));
      free_bytes(live[i]);
    }
    live.clear();
  }
}

TEST(Results, DoNotOverlapAcrossThreads) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t size = 70'000 + i % 7 * 90'000;
        std::byte* data = allocate_result(size);
        std::memset(data, number, size);
        EXPECT_EQ(std::memcmp(data, data + 1, size - 1), 0);
        free_bytes(data);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

#if SHERD_MEASURES_MEMORY
TEST(Results, RetainFewFreedBlocks) {
  const std::uint64_t before = memory_field("VmRSS");
  std::vector<std::byte*> live;
  for (int i = 0; i < 50; ++i) live.push_back(touched(3 * kMiB));
  for (std::byte* data : live) free_bytes(data);
  EXPECT_LE(memory_field("VmRSS"), before + 16 * kMiB);
}
#endif

}  // namespace buffer_test
}  // namespace sherd
