// Copies and checks of stores whose requests have latency: requests for several objects overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <thread>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace latency_test {

class LatencyOfTools : public ::testing::Test {
 protected:
  LatencyOfTools() {
    slow_->has.parallel_requests = 8;
    slow_->in_batches = true;
    slow_->of = Op::open;
    slow_->keys = [](const std::string& key) { return key.starts_with("c/"); };
    slow_->before = [this](const Asked&) { open_with_another(); };
    CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{16, 16}};
    std::vector<std::uint32_t> values(64 * 64);
    std::iota(values.begin(), values.end(), 1U);
    create_array(memory_, "", options)
        .value()
        .write(Box{{0, 0}, {64, 64}}, std::span<const std::uint32_t>(values))
        .value();
  }
  static Config one_thread() {
    Config config;
    config.threads = 1;
    return config;
  }
  /// Waits until another chunk is being opened too, or for a long time.
  void open_with_another() {
    const int number = ++begun_;
    for (int i = 0; i < 10'000 && begun_ <= number && !met_; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (begun_ > number) met_ = true;
  }

  std::shared_ptr<Store> memory_ = memory_store();
  std::shared_ptr<TestStore> slow_ = std::make_shared<TestStore>(memory_);
  std::atomic<int> begun_{0};
  std::atomic<bool> met_{false};
};

TEST_F(LatencyOfTools, ACheckHasSeveralObjectsInProgress) {
  for (const bool data : {false, true}) {
    met_ = false;
    begun_ = 0;
    CheckOptions options;
    options.data = data;
    options.config = one_thread();
    const CheckReport report = check(slow_, options).value();
    EXPECT_TRUE(met_);
    EXPECT_EQ(report.shards, 16U);
    EXPECT_TRUE(report.faults.empty());
  }
}

TEST_F(LatencyOfTools, ACopyThatMovesEncodedChunksHasSeveralObjectsInProgress) {
  for (const Shape& shards : {Shape{16, 16}, Shape{32, 32}}) {
    met_ = false;
    begun_ = 0;
    CopyOptions options;
    options.shards = shards;
    options.config = one_thread();
    const auto destination = memory_store();
    const CopyReport report = copy(slow_, destination, options).value();
    EXPECT_TRUE(met_) << to_string(shards);
    EXPECT_EQ(report.chunks_encoded, 0U);
    std::vector<std::uint32_t> values(64 * 64), expected(64 * 64);
    std::iota(expected.begin(), expected.end(), 1U);
    open_array(destination).value().read(Box{{0, 0}, {64, 64}}, std::span(values)).value();
    EXPECT_EQ(values, expected);
  }
}

TEST_F(LatencyOfTools, ACopyLocatesTheChunksOfManyShardsTogether) {
  const auto source = std::make_shared<TestStore>(memory_);
  source->has.parallel_requests = 32;
  source->in_batches = true;
  source->of = Op::batch;
  std::mutex mutex;
  std::ptrdiff_t largest = 0;  // number of chunks that a batch opens
  source->before = [&](const Asked& asked) {
    const std::lock_guard hold(mutex);
    largest = std::max(largest, std::ranges::count_if(
                                    asked.batch, [](const ReadRequest& each) { return each.key.starts_with("c/"); }));
  };
  CopyOptions options;
  options.shards = Shape{64, 64};
  const CopyReport report = copy(source, memory_store(), options).value();
  EXPECT_EQ(report.chunks_moved, 64U);
  EXPECT_EQ(largest, 16) << "all of its shards";
}

TEST(Copies, OfManySmallArraysHaveSeveralInProgress) {
  const auto memory = memory_store(), stored = memory_store();
  create_group(memory, "", {}).value();
  constexpr int kArrays = 20;
  for (int i = 0; i < kArrays; ++i) {
    CreateOptions options{.shape = {4}, .dtype = DType::uint16, .chunks = {2}};
    auto array = create_array(memory, "g/a" + std::to_string(i), options).value();
    const std::vector<std::uint16_t> values(4, static_cast<std::uint16_t>(i + 1));
    array.write(Box{{0}, {4}}, std::span<const std::uint16_t>(values)).value();
  }
  const auto slow = std::make_shared<TestStore>(stored);
  slow->has.parallel_requests = 8;
  slow->of = Op::commit;
  std::atomic<int> chunks{0}, documents{0}, under_way{0};
  slow->before = [&](const Asked& asked) {
    std::atomic<int>& most = asked.key.ends_with("zarr.json") ? documents : chunks;
    const int now = ++under_way;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --under_way;
  };
  EXPECT_EQ(copy(memory, slow).value().arrays, 20U);
  EXPECT_GT(chunks, 4);
  EXPECT_GT(documents, 4);
  for (int i = 0; i < kArrays; ++i) {
    std::vector<std::uint16_t> values(4);
    open_array(stored, {.path = "g/a" + std::to_string(i)}).value().read(Box{{0}, {4}}, std::span(values)).value();
    EXPECT_EQ(values, std::vector<std::uint16_t>(4, static_cast<std::uint16_t>(i + 1)));
  }
}

}  // namespace latency_test
}  // namespace sherd
