// Writes to a store whose requests have latency: the chunks of a call are stored together, as many at a time as the
// store allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/pool.hpp"
#include "shard/uint64.hpp"
#include "sherd/precomputed.hpp"
#include "sherd/sharded_store.hpp"
#include "sherd/sherd.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/round_trips.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace write_test {

std::vector<std::uint32_t> numbers(std::uint64_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 1U);
  return values;
}

/// Whether all other threads of this process sleep, so that none of them is about to make a request.
bool others_sleep() {
  const std::string own = std::to_string(::gettid());
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string stat;
    std::getline(std::ifstream(task.path() / "stat"), stat);
    const std::size_t state = stat.rfind(')') + 2;
    if (task.path().filename() != own && state < stat.size() && stat[state] != 'S') return false;
  }
  return true;
}

/// Lets requests pass once kParallel of them are waiting, or no thread can make another one. Each batch is one round
/// trip: all waiting requests depend on requests that were answered before.
class TogetherStore final : public TestStore {
 public:
  explicit TogetherStore(std::shared_ptr<Store> store) : TestStore(std::move(store)) {
    has.parallel_requests = kParallel;
    in_batches = true;
    of = Op::open | Op::read | Op::commit | Op::erase;
    before = [this](const Asked&) { wait(); };
  }

  [[nodiscard]] std::uint64_t rounds() const {
    const std::lock_guard hold(mutex_);
    return rounds_;
  }
  void reset() {
    const std::lock_guard hold(mutex_);
    rounds_ = 0;
  }

 private:
  static constexpr std::uint64_t kTooMany = 200;  ///< the test has failed by then, and should not take long

  void wait() {
    std::unique_lock hold(mutex_);
    const std::uint64_t round = rounds_;
    const auto answered = [&] { return rounds_ != round; };
    const bool is_first = waiting_++ == 0;
    if (waiting_ < kParallel && rounds_ < kTooMany) {
      if (!is_first) answered_.wait(hold, answered);
      unsigned seen = 0;
      for (int quiet = 0; quiet < 2 && !answered();) {
        seen = waiting_;
        hold.unlock();
        const bool sleeping = others_sleep();
        hold.lock();
        quiet = sleeping && waiting_ == seen ? quiet + 1 : 0;
        answered_.wait_for(hold, std::chrono::milliseconds(1), answered);
      }
    }
    if (answered()) return;
    ++rounds_;
    waiting_ = 0;
    answered_.notify_all();
  }

  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable answered_;
  std::uint64_t rounds_ = 0;
  unsigned waiting_ = 0;
};

class WriteLatency : public ::testing::Test {
 protected:
  Array open(const CreateOptions& options, const std::shared_ptr<Store>& store) {
    create_array(memory_, "", options).value();
    return open_array(store, {.writable = true, .config = options.config}).value();
  }
  void expect_stored(const std::vector<std::uint32_t>& expected) {
    const Array array = open_array(memory_).value();
    std::vector<std::uint32_t> values(expected.size());
    array.read(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
    EXPECT_EQ(values, expected);
  }

  const std::shared_ptr<Store> memory_ = memory_store();
  const std::shared_ptr<TogetherStore> together_ = std::make_shared<TogetherStore>(memory_);
};

TEST_F(WriteLatency, FiveHundredAndTwelveChunksAreWrittenInFortyRoundTrips) {
  const auto values = numbers(256 * 128);
  const Array array =
      open({.shape = {256, 128}, .dtype = DType::uint32, .chunks = {8, 8}, .config = {.threads = 2}}, together_);
  together_->reset();
  array.write(Box{{0, 0}, {256, 128}}, std::span(values)).value();
  EXPECT_LE(together_->rounds(), 40U) << "each chunk: the document is confirmed, the object is stored";
  expect_stored(values);
}

TEST_F(WriteLatency, WithoutLocksTheDocumentIsLookedAtTwiceForAllChunks) {
  const auto values = numbers(256 * 128);
  const auto store = std::make_shared<TogetherStore>(std::make_shared<LocklessStore>(memory_, false));
  const Array array =
      open({.shape = {256, 128}, .dtype = DType::uint32, .chunks = {8, 8}, .config = {.threads = 2}}, store);
  store->reset();
  store->forget();
  array.write(Box{{0, 0}, {256, 128}}, std::span(values)).value();
  EXPECT_LE(store->rounds(), 20U) << "512 chunks, 32 at a time, and the document before and after";
  EXPECT_EQ(store->count(Op::open, "zarr.json"), 2U);
  expect_stored(values);
}

TEST_F(WriteLatency, PartsOfSixtyFourShardsAreWrittenTogether) {
  auto values = numbers(256 * 256);
  const Array array =
      open({.shape = {256, 256}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}}, together_);
  open_array(memory_, {.writable = true}).value().write(Box{{0, 0}, {256, 256}}, std::span(values)).value();
  together_->reset();
  const std::vector<std::uint32_t> nines(254 * 254, 9);
  array.write(Box{{1, 1}, {254, 254}}, std::span(nines)).value();
  EXPECT_LE(together_->rounds(), 64U) << "not one shard after the other";
  for (std::uint64_t row = 1; row < 255; ++row) std::fill_n(values.begin() + row * 256 + 1, 254, 9U);
  expect_stored(values);
}

TEST_F(WriteLatency, ChunksOfAShardThatArePartlyOverwrittenAreReadTogether) {
  auto values = numbers(4096 * 8);
  const auto slow = slow_store(memory_);
  const Array array =
      open({.shape = {4096, 8}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{4096, 8}}, slow);
  open_array(memory_, {.writable = true}).value().write(Box{{0, 0}, {4096, 8}}, std::span(values)).value();
  slow->reset();
  const std::vector<std::uint32_t> nines(4094 * 6, 9);
  array.write(Box{{1, 1}, {4094, 6}}, std::span(nines)).value();
  EXPECT_LE(slow->requests, 6U) << "the document before and at the object, the object, its index, its 512 chunks";
  for (std::uint64_t row = 1; row < 4095; ++row) std::fill_n(values.begin() + static_cast<long>(row) * 8 + 1, 6, 9U);
  expect_stored(values);
}

TEST_F(WriteLatency, PartlyOverwrittenChunksFarApartAreReadTogether) {
  auto values = numbers(64 * 4096);
  CreateOptions options{.shape = {64, 4096}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{64, 4096}};
  options.config.coalesce_gap = 0;
  const auto slow = slow_store(memory_);
  const Array array = open(options, slow);
  open_array(memory_, {.writable = true}).value().write(Box{{0, 0}, {64, 4096}}, std::span(values)).value();
  slow->reset();
  const std::vector<std::uint32_t> nines(64, 9);
  array.write(Box{{0, 1001}, {64, 1}}, std::span(nines)).value();
  EXPECT_LE(slow->batches, 6U);
  EXPECT_LE(slow->requests, 4U + 8U) << "the document before and at the object, the object with its index, its chunks";
  for (std::uint64_t row = 0; row < 64; ++row) values[row * 4096 + 1001] = 9;
  expect_stored(values);
}

TEST_F(WriteLatency, PartlyOverwrittenChunksAreReadTogetherPerShard) {
  auto values = numbers(512 * 512);
  const auto slow = slow_store(memory_);
  const Array array =
      open({.shape = {512, 512}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{128, 128}}, slow);
  open_array(memory_, {.writable = true}).value().write(Box{{0, 0}, {512, 512}}, std::span(values)).value();
  slow->reset();
  const Range even{.start = 0, .count = 256, .step = 2};
  const std::vector<std::uint32_t> nines(256 * 256, 9);
  array.write(Selection::orthogonal({even, even}), std::span(nines)).value();
  EXPECT_LE(slow->requests, 1U + 16U * 5U) << "the document; and for each shard as many, whatever the number of chunks";
  for (std::uint64_t row = 0; row < 512; row += 2)
    for (std::uint64_t column = 0; column < 512; column += 2) values[row * 512 + column] = 9;
  expect_stored(values);
}

TEST_F(WriteLatency, ASmallBudgetWritesTheSame) {
  for (const bool sharded : {false, true}) {
    CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .overwrite = true};
    if (sharded) options.shards = Shape{16, 16};
    options.config.memory_budget = 0;
    const Array array = open(options, slow_store(memory_));
    const auto values = numbers(64 * 64);
    array.write(Box{{0, 0}, {64, 64}}, std::span(values)).value();
    expect_stored(values);
  }
}

/// Answers reads at once, and commits after so long that a test that waits for them has failed.
class SlowCommits final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  [[nodiscard]] StoreTraits traits() const noexcept override { return slow_->traits(); }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    return slow_->write(key, hints);
  }
  static constexpr std::chrono::minutes kDelay{2};

 private:
  const std::shared_ptr<Store> slow_ = delayed_store(store_, kDelay, kParallel);
};

TEST_F(WriteLatency, AnInterruptEndsAWriteThatWaits) {
  std::atomic<bool> stop{false};
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}};
  options.config.interrupted = [&, polls = 0]() mutable { return stop = ++polls > 3; };
  create_array(memory_, "", {.shape = options.shape, .dtype = options.dtype, .chunks = options.chunks}).value();
  const Array array =
      open_array(std::make_shared<SlowCommits>(memory_), {.writable = true, .config = options.config}).value();
  const auto begin = std::chrono::steady_clock::now();
  const auto written = array.write(Box{{0, 0}, {64, 64}}, std::span<const std::uint32_t>(numbers(64 * 64)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, SlowCommits::kDelay / 2) << "long before the store answers";
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::unavailable);
  EXPECT_TRUE(stop);
}

TEST_F(WriteLatency, TheInitializedChunksOfSixtyFourShardsAreCountedTogether) {
  const Array array =
      open({.shape = {256, 256}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}}, together_);
  const auto values = numbers(256 * 256);
  open_array(memory_, {.writable = true}).value().write(Box{{0, 0}, {256, 256}}, std::span(values)).value();
  together_->reset();
  EXPECT_EQ(array.nchunks_initialized().value(), 1024U);
  EXPECT_LE(together_->rounds(), 20U) << "not one shard after the other";
}

TEST_F(WriteLatency, SixteenShardsOfAVolumeAreWrittenTogether) {
  neuroglancer::VolumeInfo info;
  info.data_type = DType::uint32;
  info.scales.push_back({.key = "s", .size = {256, 4, 4}, .chunk_sizes = {{4, 4, 4}}, .resolution = {1, 1, 1}});
  info.scales[0].encoding = "raw";
  info.scales[0].sharding =
      Uint64Sharding{.minishard_bits = 1, .shard_bits = 4, .hash = Uint64Sharding::Hash::murmurhash3_x86_128}.json();
  neuroglancer::create_precomputed(memory_, "", info).value();
  const Array array = open_array(together_, {.writable = true}).value();
  const auto values = numbers(256 * 16);
  together_->reset();
  array.write(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
  EXPECT_LE(together_->rounds(), 15U) << "not one shard after the other";
  expect_stored(values);
}

TEST_F(WriteLatency, ValuesOfSixteenShardsArePutTogether) {
  const Json sharding = Uint64Sharding{.minishard_bits = 1, .shard_bits = 4}.json();
  const auto ids = neuroglancer::ShardedStore::open(together_, sharding, {.writable = true}).value();
  const std::string value = "value";
  std::vector<neuroglancer::ShardedStore::Item> items;
  for (std::uint64_t id = 0; id < 64; ++id) items.push_back({.id = id, .value = std::as_bytes(std::span(value))});
  together_->reset();
  ids.put_many(items).value();
  EXPECT_LE(together_->rounds(), 15U) << "not one shard after the other";
  EXPECT_EQ(ids.get(63).value(), value);
}

/// In a store without locks, where chunks are prepared while the array's document is looked at.
class LooksBesideWrites : public testing::Test {
 protected:
  LooksBesideWrites() { hooked_->has.locks = false; }
  const std::shared_ptr<Store> store_ = memory_store();
  const std::shared_ptr<TestStore> hooked_ = std::make_shared<TestStore>(store_);
  const Array array_ = create_array(hooked_, "a", {.shape = {8}, .dtype = DType::uint32, .chunks = {4}}).value();
};

TEST_F(LooksBesideWrites, ChangeNothingIfTheArrayWasErased) {
  array_.write(Box{{0}, {8}}, std::span<const std::uint32_t>(numbers(8))).value();
  erase(store_, {.path = "a", .writable = true}).value();
  hooked_->forget();
  for (const Box& box : {Box{{0}, {8}}, Box{{1}, {2}}}) {
    const auto values = numbers(box.shape[0]);
    const auto written = array_.write(box, std::span(values));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), ErrorCode::conflict);
  }
  EXPECT_THAT(hooked_->log(Op::commits), testing::IsEmpty());
}

TEST_F(LooksBesideWrites, FindTheShapeThatAnotherHandleHasMade) {
  open_array(store_, {.path = "a", .writable = true}).value().resize({16}).value();
  const auto values = numbers(16);
  array_.write(Box{{0}, {16}}, std::span(values)).value();
  std::vector<std::uint32_t> found(16);
  open_array(store_, {.path = "a"}).value().read(Box{{0}, {16}}, std::span(found)).value();
  EXPECT_EQ(found, values);
  open_array(store_, {.path = "a", .writable = true}).value().resize({4}).value();
  hooked_->forget();
  EXPECT_EQ(array_.write(Box{{0}, {16}}, std::span(values)).error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(hooked_->log(Op::commits), testing::IsEmpty());
}

/// Waits until something happens on another thread.
void expect_soon(const std::function<bool()>& happens) {
  for (int i = 0; i < 2000 && !happens(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(happens());
}

TEST_F(LooksBesideWrites, AreUnderWayWithTheLastChange) {
  hooked_->has.parallel_requests = 8;
  hooked_->before = [&](const Asked& asked) {
    if (asked.op == Op::commit) expect_soon([&] { return hooked_->count(Op::open, "a/zarr.json") >= 2; });
  };
  hooked_->forget();
  array_.write(Box{{0}, {4}}, std::span<const std::uint32_t>(numbers(4))).value();
  EXPECT_EQ(hooked_->count(Op::open, "a/zarr.json"), 2U) << "before the change, and beside it";
}

TEST_F(LooksBesideWrites, FindThatTheArrayWasErasedBeforeTheLastChange) {
  hooked_->has.parallel_requests = 8;
  std::atomic<bool> is_erased{false};
  hooked_->before = [&](const Asked& asked) {
    if (asked.op == Op::write && asked.key == "a/c/1") expect_soon([&] { return is_erased.load(); });
  };
  hooked_->after = [&](const Asked& asked) {
    if (asked.op != Op::commit || asked.key != "a/c/0") return;
    store_->erase("a/zarr.json").value();
    is_erased = true;
  };
  const auto written = array_.write(Box{{0}, {8}}, std::span<const std::uint32_t>(numbers(8)));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::conflict);
}

TEST(PartsOfShards, ThatAreSentAgainTakeMemoryFromTheBudget) {
  const auto store = std::make_shared<TestStore>(memory_store());
  store->has.locks = false;
  store->has.amend = AmendCost::copy;
  store->has.parallel_requests = 8;
  Config config;
  config.memory_budget = 16 << 20;
  const Array array = create_array(store, "a",
                                   {.shape = {4, 8 << 20},
                                    .dtype = DType::uint8,
                                    .chunks = {1, 4096},
                                    .shards = Shape{1, 8 << 20},
                                    .codecs = std::vector<Json>{},
                                    .config = config})
                          .value();
  const std::vector<std::uint8_t> ones(32 << 20, 1);
  array.write(Box{{0, 0}, {4, 8 << 20}}, std::span(ones)).value();
  std::atomic<int> open{0}, most{0};
  store->before = [&](const Asked& asked) {
    if (asked.op == Op::write) {
      const int now = ++open;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
    }
    if (asked.op == Op::commit) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  store->after = [&](const Asked& asked) {
    if (asked.op == Op::commit) --open;
  };
  array.write(Box{{0, 7}, {4, 1}}, std::span(ones).first(4)).value();
  EXPECT_EQ(most, 1) << "a shard of 8 MiB, old and new, in 16 MiB";
}

TEST(WholeChunks, InFilesAreCommittedByOtherThreadsThanEncodeThem) {
  const auto files = std::make_shared<TestStore>(memory_store());
  files->has.amend = AmendCost::at_once;
  std::mutex mutex;
  std::set<std::thread::id> writing, committing;
  files->before = [&](const Asked& asked) {
    const std::lock_guard hold(mutex);
    if (asked.op == Op::write) writing.insert(std::this_thread::get_id());
    if (asked.op == Op::commit) committing.insert(std::this_thread::get_id());
  };
  const auto values = numbers(64 * 64);
  const auto write = [&](unsigned threads) {
    CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .overwrite = true};
    options.config.threads = threads;
    const Array array = create_array(files, "", options).value();
    writing.clear();
    committing.clear();
    array.write(Box{{0, 0}, {64, 64}}, std::span(values)).value();
    std::vector<std::uint32_t> stored(values.size());
    array.read(Box{{0, 0}, {64, 64}}, std::span(stored)).value();
    EXPECT_EQ(stored, values);
  };
  write(0);
  EXPECT_LE(writing.size(), thread_count(0)) << "each thread that encodes keeps memory";
  EXPECT_FALSE(std::ranges::includes(writing, committing));
  write(2);
  EXPECT_EQ(writing, committing) << "the caller has said how many threads there are";
}

TEST(WholeChunks, AreWrittenAgainAfterAConflictOfOneOfThem) {
  const auto files = std::make_shared<TestStore>(memory_store());
  files->has.amend = AmendCost::at_once;
  const Array array = create_array(files, "", {.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}}).value();
  std::atomic<int> refused{0};
  files->refuse = [&](const Asked& asked) -> Result<void> {
    if (asked.op != Op::commit || refused.exchange(1) != 0) return {};
    return conflict("another process erased the new version while it was being written");
  };
  const auto values = numbers(64 * 64);
  array.write(Box{{0, 0}, {64, 64}}, std::span(values)).value();
  EXPECT_EQ(refused, 1);
  std::vector<std::uint32_t> stored(values.size());
  array.read(Box{{0, 0}, {64, 64}}, std::span(stored)).value();
  EXPECT_EQ(stored, values);
}

}  // namespace write_test
}  // namespace sherd
