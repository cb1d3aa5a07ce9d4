// Reads from a store whose replies sometimes take long. A slow reply delays only what depends on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "sherd/sherd.hpp"
#include "store/delayed.hpp"

namespace sherd {
namespace tail_latency_test {

constexpr unsigned kSlots = 32;
constexpr std::chrono::microseconds kMost{1000}, kSlow = 20 * kMost;  ///< one of a hundred requests is slow
constexpr std::chrono::microseconds kMean = (99 * kMost + kSlow) / 100;

/// Time passes only where a store waits.
class SimulatedTime final : public DelayClock {
 public:
  [[nodiscard]] Time now() const override { return now_; }
  Result<void> wait_until(Time time) override {
    now_ = std::max(now_, time);
    return {};
  }

 private:
  Time now_;
};

class TailLatency : public ::testing::Test {
 protected:
  Array made(const CreateOptions& options) {
    const Array made = create_array(memory_, "", options).value();
    values_.resize(made.shape()[0] * made.shape()[1]);
    std::iota(values_.begin(), values_.end(), 1U);
    made.write(Box{{0, 0}, made.shape()}, std::span(values_)).value();
    return open_array(slow_, {.config = options.config}).value();
  }
  void expect_no_slot_idle(const Array& array) {
    const auto begin = clock_->now();
    const std::uint64_t requests_before = recorder_->stats().requests;
    std::vector<std::uint32_t> read(values_.size());
    array.read(Box{{0, 0}, array.shape()}, std::span(read)).value();
    EXPECT_EQ(read, values_);
    const std::uint64_t requests = recorder_->stats().requests - requests_before;
    EXPECT_GT(requests, 2000U);
    EXPECT_LE(clock_->now() - begin, requests * kMean / kSlots * 13 / 10) << requests << " requests";
  }

  const std::shared_ptr<Store> memory_ = memory_store();
  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  const std::shared_ptr<SimulatedTime> clock_ = std::make_shared<SimulatedTime>();
  const std::shared_ptr<Store> slow_ =
      delayed_store(recorded_store(memory_, recorder_), Latency(kMost, kSlow), kSlots, clock_);
  std::vector<std::uint32_t> values_;
};

TEST_F(TailLatency, LeavesNoSlotIdleWhileThereAreChunksToRead) {
  expect_no_slot_idle(made({.shape = {256, 256}, .dtype = DType::uint32, .chunks = {4, 4}}));
}

TEST_F(TailLatency, LeavesNoSlotIdleWhileThereAreShardsToRead) {
  expect_no_slot_idle(made({.shape = {512, 256}, .dtype = DType::uint32, .chunks = {4, 4}, .shards = Shape{8, 8}}));
}

TEST_F(TailLatency, LeavesNoSlotIdleBetweenIndexesAndChunks) {
  CreateOptions options{.shape = {512, 256}, .dtype = DType::uint32, .chunks = {4, 4}, .shards = Shape{8, 8}};
  options.config.tail_read_bytes = 0;
  expect_no_slot_idle(made(options));
}

}  // namespace tail_latency_test
}  // namespace sherd
