// Reads from a store whose requests have latency: they are sent together, as many at a time as the store allows.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "sherd/sherd.hpp"
#include "store/forwarding.hpp"

namespace sherd {
namespace {

constexpr unsigned kParallel = 32;

/// Counts the round trips that a call waits for if kParallel requests are under way at a time.
class RoundTrips final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<std::shared_ptr<ByteSource>> open(const std::string& key) override {
    ++requests;
    ++rounds;
    return ForwardingStore::open(key);
  }
  Result<void> read(std::span<const ReadRequest> batch, const OnReply& reply) override {
    requests += batch.size();
    rounds += (batch.size() + kParallel - 1) / kParallel;
    return store_->read(batch, reply);
  }
  std::atomic<std::uint64_t> requests{0}, rounds{0};
};

class Latency : public ::testing::Test {
 protected:
  /// Elements 1, 2, … in the C order of the shape; what is read of the array afterwards is counted.
  Array written(CreateOptions options) {
    std::vector<std::uint32_t> values(*element_count(options.shape));
    std::iota(values.begin(), values.end(), 1U);
    const Array array = create_array(memory_, "", options).value();
    array.write(Box{Shape(options.shape.size(), 0), options.shape}, std::span<const std::uint32_t>(values)).value();
    OpenOptions open;
    open.config = options.config;
    Array opened = open_array(store_, open).value();
    store_->requests = store_->rounds = 0;
    return opened;
  }
  static void expect_elements(const Array& array, const Box& box) {
    std::vector<std::uint32_t> values(*element_count(box.shape));
    array.read(box, std::span(values)).value();
    const Shape shape = array.shape();
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], (box.origin[0] + i / box.shape[1]) * shape[1] + box.origin[1] + i % box.shape[1] + 1) << i;
  }
  static void expect_failure(const Array& array, const Box& box, ErrorCode code, const std::string& key) {
    std::vector<std::uint32_t> values(*element_count(box.shape));
    const auto read = array.read(box, std::span(values));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), code);
    EXPECT_EQ(read.error().key(), key);
  }
  static Box all(const Array& array) { return {{0, 0}, array.shape()}; }

  std::shared_ptr<Store> memory_ = memory_store();
  std::shared_ptr<RoundTrips> store_ =
      std::make_shared<RoundTrips>(delayed_store(memory_, std::chrono::microseconds(100), kParallel));
};

TEST_F(Latency, FiveHundredAndTwelveUnshardedChunksTakeSixteenRoundTrips) {
  for (const char* codec : {"raw", "zstd"}) {
    CreateOptions options{.shape = {256, 128}, .dtype = DType::uint32, .chunks = {8, 8}, .overwrite = true};
    options.codecs = std::string_view(codec) == "raw" ? std::vector<Json>() : std::vector<Json>{Json(codec)};
    const Array array = written(options);
    expect_elements(array, all(array));
    EXPECT_EQ(store_->requests, 512U) << codec;
    EXPECT_EQ(store_->rounds, 16U) << codec;
  }
}

/// Every chunk of 8x8 by itself, in one call.
void expect_chunks_together(const Array& array) {
  const std::uint64_t width = array.shape()[1];
  const std::uint64_t chunks = array.shape()[0] / 8 * (width / 8);
  std::vector<std::vector<std::uint32_t>> memory(chunks, std::vector<std::uint32_t>(64));
  std::vector<Array::Region> regions;
  for (std::uint64_t i = 0; i < chunks; ++i) {
    const std::uint64_t number = i * 101 % chunks;  // in no order
    regions.push_back({Box{{number / (width / 8) * 8, number % (width / 8) * 8}, {8, 8}},
                       AnyView::dense(reinterpret_cast<std::byte*>(memory[number].data()), DType::uint32, {8, 8})});
  }
  array.read(regions).value();
  for (std::uint64_t i = 0; i < chunks; ++i)
    for (std::uint64_t k = 0; k < 64; ++k)
      ASSERT_EQ(memory[i][k], (i / (width / 8) * 8 + k / 8) * width + i % (width / 8) * 8 + k % 8 + 1) << i;
}

TEST_F(Latency, ManyRegionsTakeTheRoundTripsOfTheirChunks) {
  const Array plain = written({.shape = {256, 128}, .dtype = DType::uint32, .chunks = {8, 8}});
  expect_chunks_together(plain);
  EXPECT_EQ(store_->requests, 512U);
  EXPECT_EQ(store_->rounds, 16U);
  const Array sharded = written(
      {.shape = {256, 256}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}, .overwrite = true});
  expect_chunks_together(sharded);
  EXPECT_EQ(store_->requests, 64U) << "small shards, whole";
  EXPECT_EQ(store_->rounds, 2U);
}

TEST_F(Latency, RegionsThatAreFarApartInAChunkWithoutCodecsReadWhatTheyNeed) {
  CreateOptions options{.shape = {4096, 64}, .dtype = DType::uint32, .chunks = {4096, 64}};
  options.codecs = std::vector<Json>();
  options.config.coalesce_gap = 0;
  const Array array = written(options);
  std::vector<std::uint32_t> first(64), last(64);
  const auto region = [](std::uint64_t row, std::vector<std::uint32_t>& memory) {
    auto* data = reinterpret_cast<std::byte*>(memory.data());
    return Array::Region{Box{{row, 0}, {1, 64}}, AnyView::dense(data, DType::uint32, {1, 64})};
  };
  array.read(std::vector{region(4095, last), region(0, first)}).value();
  EXPECT_EQ(store_->requests, 2U);
  EXPECT_EQ(store_->rounds, 2U);
  EXPECT_EQ(first[63], 64U);
  EXPECT_EQ(last[63], 4096U * 64);
}

TEST_F(Latency, ABoxOverSixtyFourShardsTakesFourRoundTrips) {
  const Array array = written({.shape = {256, 256}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}});
  expect_elements(array, {{5, 5}, {240, 240}});
  EXPECT_LE(store_->rounds, 4U);
}

TEST_F(Latency, AWholeSmallShardTakesOneRequest) {
  const Array array = written({.shape = {256, 256}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}});
  expect_elements(array, all(array));
  EXPECT_EQ(store_->requests, 64U);
  EXPECT_EQ(store_->rounds, 2U);
}

TEST_F(Latency, AColdInnerChunkTakesTwoRequests) {
  const Array array = written({.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}});
  expect_elements(array, {{8, 8}, {8, 8}});
  EXPECT_EQ(store_->requests, 2U);
}

TEST_F(Latency, AColdInnerChunkTakesOneRequestIfTheObjectIsNoLargerThanATailRead) {
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}};
  options.config.tail_read_bytes = 1 << 20;
  const Array array = written(options);
  expect_elements(array, {{8, 8}, {8, 8}});
  EXPECT_EQ(store_->requests, 1U);
}

TEST_F(Latency, MissingChunksAreTheFillValue) {
  const Array array = create_array(memory_, "", {.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}}).value();
  std::vector<std::uint32_t> values(64 * 64, 7);
  open_array(store_).value().read(Box{{0, 0}, {64, 64}}, std::span(values)).value();
  EXPECT_EQ(values, std::vector<std::uint32_t>(64 * 64, 0));
}

TEST_F(Latency, AMissingChunkIsAnErrorNamingItIfTheConfigurationSaysSo) {
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}};
  options.config.missing_is_error = true;
  const Array array = written(options);
  memory_->erase("c/3/4").value();
  expect_failure(array, all(array), ErrorCode::not_found, "c/3/4");
}

TEST_F(Latency, ADamagedChunkIsCorruptAndNamed) {
  const Array array = written({.shape = {256, 256}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}});
  std::string shard = memory_->get("c/2/3").value().value();
  shard[shard.size() - 10] ^= 1;
  memory_->set("c/2/3", shard).value();
  expect_failure(array, all(array), ErrorCode::corrupt, "c/2/3");
  expect_failure(array, {{65, 97}, {3, 3}}, ErrorCode::corrupt, "c/2/3");
}

TEST_F(Latency, AChunkThatIsTooLongIsCorrupt) {
  const Array array = written({.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}});
  memory_->set("c/1/1", std::string(1 << 20, 'x')).value();
  expect_failure(array, all(array), ErrorCode::corrupt, "c/1/1");
}

TEST_F(Latency, ASmallBudgetReadsTheSameInMoreBatches) {
  CreateOptions options{.shape = {256, 256}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}};
  options.config.memory_budget = 16 << 10;
  const Array array = written(options);
  expect_elements(array, all(array));
  expect_elements(array, {{3, 70}, {200, 100}});
}

TEST_F(Latency, NestedShardsAndIndicesAtTheStartReadTheSame) {
  for (const char* location : {"start", "end"}) {
    CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .overwrite = true};
    options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [32, 32]}})").value();
    const std::string bytes = R"({"name": "bytes", "configuration": {"endian": "little"}})";
    const auto sharding = [&](const std::string& chunk, const std::string& inner) {
      return R"({"name": "sharding_indexed", "configuration": {"chunk_shape": )" + chunk + R"(, "codecs": [)" + inner +
             R"(], "index_codecs": [)" + bytes + R"(, "crc32c"], "index_location": ")" + location + R"("}})";
    };
    options.raw_codecs = Json::parse("[" + sharding("[16, 16]", sharding("[4, 8]", bytes)) + "]").value();
    const Array array = written(options);
    expect_elements(array, all(array));
    expect_elements(array, {{3, 5}, {20, 50}});
  }
}

/// Documents come at once, and chunks after an hour.
class SlowChunks final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  [[nodiscard]] StoreTraits traits() const noexcept override { return slow_->traits(); }
  Result<void> read(std::span<const ReadRequest> requests, const OnReply& reply) override {
    return slow_->read(requests, reply);
  }

 private:
  const std::shared_ptr<Store> slow_ = delayed_store(store_, std::chrono::hours(1), kParallel);
};

TEST_F(Latency, AnInterruptEndsAReadThatWaits) {
  written({.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}});
  int polls = 0;
  OpenOptions open;
  open.config.interrupted = [&] { return ++polls > 2; };
  const Array array = open_array(std::make_shared<SlowChunks>(memory_), open).value();
  std::vector<std::uint32_t> values(64 * 64);
  const auto read = array.read(Box{{0, 0}, {64, 64}}, std::span(values));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(polls, 3);
}

}  // namespace
}  // namespace sherd
