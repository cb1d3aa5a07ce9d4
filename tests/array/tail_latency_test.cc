// Reads from a store whose replies sometimes take long. A slow reply delays only what depends on it.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <vector>

#include "sherd/sherd.hpp"
#include "store/forwarding.hpp"

namespace sherd {
namespace tail_latency_test {

constexpr std::size_t kSlots = 32;

/// Answers at once, and counts the time that this would take: one for most requests, twenty for one of a hundred.
class SimulatedTime final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.parallel_requests = kSlots;
    return traits;
  }

  Result<void> read(ReadQueue& queue) override {
    std::multimap<std::uint64_t, std::pair<std::size_t, ReadRequest>> under_way;  // by the time of the reply
    for (std::size_t asked = 0;;) {
      while (under_way.size() < kSlots) {
        auto request = queue.next(under_way.empty());
        if (!request) break;
        const std::uint64_t latency = ++requests % 100 == 50 ? 20 : 1;
        latencies += latency;
        under_way.emplace(now + latency, std::pair(asked++, *std::move(request)));
      }
      if (under_way.empty()) return {};
      const auto next = under_way.extract(under_way.begin());
      now = next.key();
      const auto& [number, request] = next.mapped();
      SHERD_TRY(queue.reply(number, read_one(*store_, request)));
    }
  }

  std::uint64_t requests = 0, latencies = 0, now = 0;
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
    slow_->requests = slow_->latencies = slow_->now = 0;
    std::vector<std::uint32_t> read(values_.size());
    array.read(Box{{0, 0}, array.shape()}, std::span(read)).value();
    EXPECT_EQ(read, values_);
    EXPECT_GT(slow_->requests, 2000U);
    EXPECT_LE(slow_->now, slow_->latencies / kSlots * 13 / 10) << slow_->requests << " requests";
  }

  const std::shared_ptr<Store> memory_ = memory_store();
  const std::shared_ptr<SimulatedTime> slow_ = std::make_shared<SimulatedTime>(memory_);
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
