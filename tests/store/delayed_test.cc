// The store that is as slow as a remote one: each request takes its latency, and a limited number are under way.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/call.hpp"
#include "sherd/store.hpp"

namespace sherd {
namespace delayed_test {

using Clock = std::chrono::steady_clock;

/// How long this takes at least.
template <class Act>
Clock::duration duration_of(const Act& act) {
  const auto begin = Clock::now();
  act();
  return Clock::now() - begin;
}

Result<void> ignore(std::size_t, Result<ReadReply> reply) {
  if (!reply) return std::move(reply).error();
  return {};
}

constexpr std::chrono::milliseconds kLatency{5};

TEST(DelayedStore, EachRequestTakesItsLatency) {
  const auto memory = memory_store();
  const auto store = delayed_store(memory, kLatency, 4);
  EXPECT_EQ(store->traits().parallel_requests, 4U);
  EXPECT_GE(duration_of([&] { store->set("a", "x").value(); }), kLatency) << "a write takes it when it commits";
  EXPECT_EQ(memory->get("a").value(), "x");
  EXPECT_GE(duration_of([&] { store->open("a").value(); }), kLatency);
  EXPECT_GE(duration_of([&] { store->list_dir("").value(); }), kLatency);
  EXPECT_GE(duration_of([&] { store->erase("a").value(); }), kLatency);
  EXPECT_EQ(memory->get("a").value(), std::nullopt);
}

TEST(DelayedStore, RequestsAboveTheNumberUnderWayWait) {
  const auto memory = memory_store();
  memory->set("a", "x").value();
  const std::vector<ReadRequest> requests(8, ReadRequest{.key = "a"});
  const auto read_with = [&](unsigned parallel) {
    const auto store = delayed_store(memory, kLatency, parallel);
    return duration_of([&] { store->read_all(requests, ignore).value(); });
  };
  EXPECT_GE(read_with(1), 8 * kLatency);
  EXPECT_GE(read_with(4), 2 * kLatency);
}

TEST(DelayedStore, ReadsOfAnOpenObjectTakeTheLatencyOfEachRange) {
  const auto memory = memory_store();
  memory->set("a", "0123").value();
  const auto source = delayed_store(memory, kLatency, 1)->open("a").value();
  std::string into(2, ' ');
  const auto bytes = std::as_writable_bytes(std::span(into));
  const RangeRead ranges[] = {{1, bytes.first(1)}, {3, bytes.last(1)}};
  EXPECT_GE(duration_of([&] { source->read(ranges).value(); }), 2 * kLatency);
  EXPECT_EQ(into, "13");
  EXPECT_FALSE(source->view()) << "reads through it would take no time";
}

TEST(DelayedStore, AReplyThatTakesLongDelaysNoOther) {
  const auto memory = memory_store();
  memory->set("a", "x").value();
  const Latency latency(std::chrono::milliseconds(1), std::chrono::milliseconds(500));
  const std::vector<ReadRequest> requests(80, ReadRequest{.key = "a"});
  std::vector<std::size_t> answered;
  delayed_store(memory, latency, 4)
      ->read_all(requests,
                 [&](std::size_t i, Result<ReadReply> reply) {
                   EXPECT_TRUE(reply);
                   answered.push_back(i);
                   return Result<void>{};
                 })
      .value();
  EXPECT_EQ(answered.size(), 80U);
  EXPECT_EQ(answered.back(), 50U) << "the one of a hundred that takes long";
}

TEST(DelayedStore, AnInterruptEndsTheWait) {
  Config config;
  config.interrupted = [] { return true; };
  const auto store = delayed_store(memory_store(), std::chrono::hours(1), 1);
  const auto got = as_call(config, [&] { return store->get("a"); });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), ErrorCode::unavailable);
}

}  // namespace delayed_test
}  // namespace sherd
