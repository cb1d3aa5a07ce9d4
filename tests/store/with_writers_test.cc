// Loops that write objects: their threads and their order, and the memory of writers in the budget: how it is divided,
// and how many writers calls have open at a time.
#include "store/with_writers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "store/forwarding.hpp"

namespace sherd {
namespace with_writers_test {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

StoreTraits holding(std::uint64_t bytes) {
  StoreTraits traits;
  traits.writer_bytes = bytes;
  return traits;
}

TEST(WithWriters, TakesTheMemoryOfEachThreadsWriter) {
  const Config config{.threads = 4, .memory_budget = 100};
  const Config with = with_writers(config, holding(10));
  EXPECT_EQ(with.threads, 4U);
  EXPECT_EQ(with.memory_budget, 60U);
}

TEST(WithWriters, LimitsThreadsToHalfOfTheBudget) {
  const Config with = with_writers({.threads = 8, .memory_budget = 100}, holding(10));
  EXPECT_EQ(with.threads, 5U);
  EXPECT_EQ(with.memory_budget, 50U);
}

TEST(WithWriters, LeavesOneWriterThatIsLargerThanTheBudget) {
  const Config with = with_writers({.threads = 8, .memory_budget = 100}, holding(1000));
  EXPECT_EQ(with.threads, 1U);
  EXPECT_EQ(with.memory_budget, 50U);
}

TEST(WithWriters, CountsNoMoreWritersThanObjects) {
  const Config with = with_writers({.threads = 8, .memory_budget = 100}, holding(10), {.count = 2});
  EXPECT_EQ(with.threads, 8U);  // which work on two objects
  EXPECT_EQ(with.memory_budget, 80U);
}

TEST(WithWriters, CountsSmallObjectsBySize) {
  const Config with = with_writers({.threads = 8, .memory_budget = 100}, holding(1000), {.bytes = 2});
  EXPECT_EQ(with.threads, 8U);
  EXPECT_EQ(with.memory_budget, 84U);
}

TEST(WithWriters, ChangesNothingIfNothingIsHeldOrWritten) {
  const Config config{.threads = 0, .memory_budget = 100};
  for (const Config& with : {with_writers(config, {}), with_writers(config, holding(10), {.count = 0})}) {
    EXPECT_EQ(with.threads, 0U);
    EXPECT_EQ(with.memory_budget, 100U);
  }
}

StoreTraits files() {
  StoreTraits traits;
  traits.amend = AmendCost::at_once;
  return traits;
}

TEST(WithWriters, LetsThreadsWaitForSmallFiles) {
  EXPECT_GE(with_writers({}, files(), {.bytes = 4 * kMiB}).threads, 8U);
  EXPECT_EQ(with_writers({}, files(), {.bytes = 4 * kMiB + 1}).threads, 0U);
  EXPECT_EQ(with_writers({.durable = false}, files(), {.bytes = 4 * kMiB}).threads, 0U);
  EXPECT_EQ(with_writers({}, {}, {.bytes = 1}).threads, 0U);
  EXPECT_EQ(with_writers({.threads = 3}, files(), {.bytes = 1}).threads, 3U);
}

std::vector<std::uint64_t> order_of(unsigned threads, std::uint64_t count, const StoreTraits& traits = files()) {
  const WriteOrder order({.threads = threads}, traits, count);
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t place = 0; place < count; ++place) numbers[place] = order(place);
  return numbers;
}

TEST(WriteOrder, GivesEachThreadARunOfNeighbouringFiles) {
  EXPECT_EQ(order_of(2, 6), (std::vector<std::uint64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(order_of(4, 6), (std::vector<std::uint64_t>{0, 2, 4, 5, 1, 3}));
}

TEST(WriteOrder, KeepsMembersOfArchivesInTheirOrder) {
  EXPECT_EQ(order_of(4, 5, {}), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST(WriteOrder, HasEachObjectOnce) {
  for (unsigned threads = 1; threads <= 9; ++threads) {
    for (std::uint64_t count = 0; count <= 40; ++count) {
      std::vector<std::uint64_t> numbers = order_of(threads, count), all(count);
      std::ranges::sort(numbers);
      std::iota(all.begin(), all.end(), std::uint64_t{0});
      EXPECT_EQ(numbers, all) << threads << " threads";
    }
  }
}

constexpr std::string_view kSharding =
    R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "identity",
        "minishard_bits": 0, "shard_bits": 4})";

/// A store whose writers hold memory, as those of S3 do.
class HoldingStore final : public ForwardingStore {
 public:
  explicit HoldingStore(std::uint64_t writer_bytes) : ForwardingStore(memory_store()), writer_bytes_(writer_bytes) {}

  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.locks = false;
    traits.parallel_requests = 16;
    traits.amend = AmendCost::copy;
    traits.writer_bytes = writer_bytes_;
    return traits;
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    SHERD_TRY(writer, store_->write(key, hints));
    ++writers;
    return std::make_unique<Writer>(std::move(writer), *this);
  }

  std::atomic<std::uint64_t> held{0}, most{0}, writers{0};

 private:
  /// Holds what was written, up to the size that the traits tell.
  class Writer final : public ForwardingWriter {
   public:
    Writer(std::unique_ptr<ObjectWriter> writer, HoldingStore& store)
        : ForwardingWriter(std::move(writer)), store_(store) {}
    ~Writer() override { store_.held -= bytes_; }
    Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
      hold(offset + bytes.size());
      return writer_->write(offset, bytes);
    }
    Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                      std::uint64_t to_offset) override {
      hold(to_offset + length);
      return writer_->copy(from, from_offset, length, to_offset);
    }

   private:
    void hold(std::uint64_t end) {
      const std::lock_guard guard(mutex_);
      const std::uint64_t bytes = std::max(bytes_, std::min(end, store_.writer_bytes_));
      const std::uint64_t now = store_.held += bytes - std::exchange(bytes_, bytes);
      for (std::uint64_t seen = store_.most; seen < now && !store_.most.compare_exchange_weak(seen, now);) {
      }
    }

    HoldingStore& store_;
    std::mutex mutex_;
    std::uint64_t bytes_ = 0;
  };

  const std::uint64_t writer_bytes_;
};

class HeldMemory : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBudget = 16 * kMiB, kWriter = 4 * kMiB;
  static constexpr std::uint64_t kLength = 4 * kMiB;

  static Config config() { return {.threads = 8, .memory_budget = kBudget}; }

  static void fill(const std::shared_ptr<Store>& store, const std::string& path, const Shape& chunks,
                   const Shape& shards) {
    CreateOptions options{.shape = {kLength}, .dtype = DType::uint16, .chunks = chunks, .config = config()};
    options.shards = shards;
    auto array = create_array(store, path, options).value();
    std::vector<std::uint16_t> values(kLength);
    std::iota(values.begin(), values.end(), std::uint16_t{1});
    array.write(Box{{0}, {kLength}}, std::span<const std::uint16_t>(values)).value();
    array.write(Box{{1}, {kLength - 2}}, std::span<const std::uint16_t>(values).first(kLength - 2)).value();
  }

  /// Many writers were open, but no more than half of the budget has room for.
  void expect_within_half() const {
    EXPECT_LE(store_->most, kBudget / 2);
    EXPECT_GE(store_->writers, 8U);
    EXPECT_EQ(store_->held, 0U);
  }

  const std::shared_ptr<HoldingStore> store_ = std::make_shared<HoldingStore>(kWriter);
};

TEST_F(HeldMemory, OfChunksIsWithinTheBudget) {
  fill(store_, "a", {kLength / 4}, {});
  fill(store_, "b", {kLength / 64}, {});
  expect_within_half();
}

TEST_F(HeldMemory, OfShardsIsWithinTheBudget) {
  fill(store_, "a", {kLength / 64}, {kLength / 8});
  expect_within_half();
}

TEST_F(HeldMemory, OfACopyIsWithinTheBudget) {
  const auto source = memory_store();
  fill(source, "a", {kLength / 64}, {kLength / 8});
  for (const Shape& shards : {Shape{kLength / 8}, Shape{kLength / 16}, Shape{}}) {
    CopyOptions options{.overwrite = true, .source_path = "a", .destination_path = "copy", .config = config()};
    options.shards = shards;
    copy(source, store_, options).value();
  }
  expect_within_half();
}

TEST_F(HeldMemory, OfObjectsCopiedAsTheyAreIsWithinTheBudget) {
  const auto source = memory_store();
  for (int i = 0; i < 16; ++i) source->set("large/" + std::to_string(i), std::string(5 * kMiB, 'l')).value();
  copy_objects(source, store_, {.config = config()}).value();
  expect_within_half();
}

TEST_F(HeldMemory, OfValuesByIdIsWithinTheBudget) {
  neuroglancer::ShardedStoreOptions options{.writable = true, .config = config()};
  const std::string value(1000, 'v');
  std::vector<neuroglancer::ShardedStore::Item> items;
  for (std::uint64_t id = 0; id < 64; ++id) items.push_back({.id = id, .value = std::as_bytes(std::span(value))});
  const Json sharding = Json::parse(kSharding).value();
  neuroglancer::ShardedStore::open(store_, sharding, options).value().put_many(items).value();
  neuroglancer::ShardedStore::open(store_, sharding, options).value().put_many(items).value();
  expect_within_half();
}

}  // namespace with_writers_test
}  // namespace sherd
