// Copies and checks of stores whose requests have latency: requests for several objects overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/store/parallel.hpp"

namespace sherd {
namespace {

/// Opens a chunk once another one is being opened too, or after a long time.
class OpensTwoAtATime final : public ParallelStore<8> {
 public:
  using ParallelStore::ParallelStore;

  Result<std::shared_ptr<ByteSource>> find(const std::string& key) override {
    if (key.starts_with("c/")) {
      const int number = ++begun;
      for (int i = 0; i < 10'000 && begun <= number && !met; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (begun > number) met = true;
    }
    return store_->open(key);
  }
  std::atomic<int> begun{0};
  std::atomic<bool> met{false};
};

/// Records how many chunks the largest batch of requests opens.
class NotesBatches final : public ParallelStore<32> {
 public:
  using ParallelStore::ParallelStore;

  Result<void> read_batch(std::span<const ReadRequest> requests, const OnReply& reply) override {
    const auto chunks = static_cast<std::size_t>(
        std::ranges::count_if(requests, [](const ReadRequest& each) { return each.key.starts_with("c/"); }));
    std::size_t before = largest;
    while (before < chunks && !largest.compare_exchange_weak(before, chunks)) {
    }
    return store_->read_all(requests, reply);
  }
  std::atomic<std::size_t> largest{0};
};

class LatencyOfTools : public ::testing::Test {
 protected:
  LatencyOfTools() {
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
  std::shared_ptr<Store> memory_ = memory_store();
  std::shared_ptr<OpensTwoAtATime> slow_ = std::make_shared<OpensTwoAtATime>(memory_);
};

TEST_F(LatencyOfTools, ACheckHasSeveralObjectsInProgress) {
  for (const bool data : {false, true}) {
    slow_->met = false;
    slow_->begun = 0;
    CheckOptions options;
    options.data = data;
    options.config = one_thread();
    const CheckReport report = check(slow_, options).value();
    EXPECT_TRUE(slow_->met);
    EXPECT_EQ(report.shards, 16U);
    EXPECT_TRUE(report.faults.empty());
  }
}

TEST_F(LatencyOfTools, ACopyThatMovesEncodedChunksHasSeveralObjectsInProgress) {
  for (const Shape& shards : {Shape{16, 16}, Shape{32, 32}}) {
    slow_->met = false;
    slow_->begun = 0;
    CopyOptions options;
    options.shards = shards;
    options.config = one_thread();
    const auto destination = memory_store();
    const CopyReport report = copy(slow_, destination, options).value();
    EXPECT_TRUE(slow_->met) << to_string(shards);
    EXPECT_EQ(report.chunks_encoded, 0U);
    std::vector<std::uint32_t> values(64 * 64), expected(64 * 64);
    std::iota(expected.begin(), expected.end(), 1U);
    open_array(destination).value().read(Box{{0, 0}, {64, 64}}, std::span(values)).value();
    EXPECT_EQ(values, expected);
  }
}

TEST_F(LatencyOfTools, ACopyLocatesTheChunksOfManyShardsTogether) {
  const auto source = std::make_shared<NotesBatches>(memory_);
  CopyOptions options;
  options.shards = Shape{64, 64};
  const CopyReport report = copy(source, memory_store(), options).value();
  EXPECT_EQ(report.chunks_moved, 64U);
  EXPECT_EQ(source->largest, 16U) << "all of its shards";
}

}  // namespace
}  // namespace sherd
