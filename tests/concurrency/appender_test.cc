// One appender that many threads use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "sherd/sherd.hpp"

namespace sherd {
namespace appender_test {

constexpr std::uint64_t kSlice = 15;

TEST(SharedAppender, KeepsTheSlicesOfEachCallTogether) {
  const auto store = memory_store();
  CreateOptions options{.shape = {0, 3, 5}, .dtype = DType::uint32, .chunks = {2, 2, 5}, .shards = {8, 4, 5}};
  Array array = create_array(store, "", options).value();
  Appender appender = array.appender({.queue_bytes = 4 * kSlice * 4}).value();
  constexpr std::uint32_t kThreads = 4, kCalls = 20, kTogether = 3;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (std::uint32_t i = 0; i < kCalls; ++i) {
        const std::vector<std::uint32_t> values(kTogether * kSlice, 1 + thread * kCalls + i);
        appender.append(std::span(values)).value();
        if (i % 5 == 0) appender.flush().value();
      }
    });
  std::atomic<bool> ended{false};
  std::thread reader([&] {
    while (!ended) {
      const Array now = open_array(store).value();
      std::vector<std::uint32_t> values(*element_count(now.shape()));
      now.read(Box{{0, 0, 0}, now.shape()}, std::span(values)).value();
      EXPECT_THAT(values, testing::Each(testing::Ne(0U)));
      EXPECT_LE(now.shape()[0], appender.stats().appended);
    }
  });
  for (auto& thread : threads) thread.join();
  appender.close().value();
  ended = true;
  reader.join();
  std::vector<std::uint32_t> stored(*element_count(array.shape()));
  ASSERT_EQ(stored.size(), kThreads * kCalls * kTogether * kSlice);
  array.read(Box{{0, 0, 0}, array.shape()}, std::span(stored)).value();
  std::set<std::uint32_t> seen;
  for (std::size_t at = 0; at < stored.size(); at += kTogether * kSlice) {
    const auto call = std::span(stored).subspan(at, kTogether * kSlice);
    EXPECT_THAT(call, testing::Each(call.front()));
    seen.insert(call.front());
  }
  EXPECT_EQ(seen.size(), kThreads * kCalls);
}

TEST(SharedAppender, IsRefusedInAChildOfItsProcess) {
  const auto store = memory_store();
  Array array = create_array(store, "", {.shape = {0}, .dtype = DType::uint8, .chunks = {4}}).value();
  Appender appender = array.appender().value();
  const std::uint8_t value = 1;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto refused = [](const Result<void>& done) {
      return !done && done.error().code() == ErrorCode::unsupported;
    };
    const bool all =
        refused(appender.append(std::span(&value, 1))) && refused(appender.flush()) && refused(appender.close());
    ::_exit(all ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  appender.append(std::span(&value, 1)).value();
  appender.close().value();
  EXPECT_EQ(array.shape(), Shape{1});
}

TEST(SharedAppender, MayBeClosedByEveryThread) {
  const auto store = memory_store();
  Array array = create_array(store, "", {.shape = {0}, .dtype = DType::uint8, .chunks = {4}}).value();
  Appender appender = array.appender().value();
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> accepted{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      const std::vector<std::uint8_t> one{1};
      for (int i = 0; i < 50; ++i) {
        const auto appended = appender.append(std::span(one));
        if (!appended) {
          EXPECT_EQ(appended.error().code(), ErrorCode::invalid_argument);  // closed
          break;
        }
        ++accepted;
      }
      appender.close().value();
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(array.shape()[0], accepted);
}

}  // namespace appender_test
}  // namespace sherd
