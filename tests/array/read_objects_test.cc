// Reads from a store whose requests have latency: they are sent together, as many at a time as the store allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "sherd/sherd.hpp"
#include "tests/store/round_trips.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace read_objects_test {

class Latency : public ::testing::Test {
 protected:
  /// Elements 1, 2, … in C order of the shape. Reads of the array are counted from then on.
  Array written(CreateOptions options) {
    std::vector<std::uint32_t> values(*element_count(options.shape));
    std::iota(values.begin(), values.end(), 1U);
    const Array array = create_array(memory_, "", options).value();
    array.write(Box{Shape(options.shape.size(), 0), options.shape}, std::span<const std::uint32_t>(values)).value();
    OpenOptions open;
    open.config = options.config;
    Array opened = open_array(store_, open).value();
    store_->reset();
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
  std::shared_ptr<RoundTrips> store_ = slow_store(memory_);
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

TEST_F(Latency, RegionsFarApartInAnUncompressedChunkReadOnlyWhatTheyNeed) {
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

TEST_F(Latency, ALargeShardIsReadInTwoRequestsWithoutReadingAnythingTwice) {
  CreateOptions options{.shape = {2048, 1536}, .dtype = DType::uint32, .chunks = {256, 256}, .shards = {{2048, 1536}}};
  options.codecs = std::vector<Json>();
  written(options);
  const auto recorder = std::make_shared<Recorder>();
  const Array array = open_array(recorded_store(store_, recorder)).value();
  const std::uint64_t before = recorder->stats().bytes_read;
  store_->reset();
  expect_elements(array, all(array));
  EXPECT_EQ(store_->requests, 2U);
  constexpr std::uint64_t chunk = 256 << 10, shard = 48 * chunk;
  EXPECT_LE(recorder->stats().bytes_read - before, shard + chunk) << "but for the chunk that the first read cuts";
}

TEST_F(Latency, AColdInnerChunkTakesTwoRequests) {
  const Array array = written({.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}});
  expect_elements(array, {{8, 8}, {8, 8}});
  EXPECT_EQ(store_->requests, 2U);
}

TEST_F(Latency, AColdInnerChunkOfASmallObjectTakesOneRequest) {
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}};
  options.config.tail_read_bytes = 1 << 20;
  const Array array = written(options);
  expect_elements(array, {{8, 8}, {8, 8}});
  EXPECT_EQ(store_->requests, 1U);
}

TEST_F(Latency, AWarmInnerChunkTakesOneRequestWhichConfirmsTheIndex) {
  for (const CacheMode mode : {CacheMode::index, CacheMode::shard, CacheMode::chunks}) {
    CreateOptions options{
        .shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}, .overwrite = true};
    options.config.cache = mode;
    const Array array = written(options);
    expect_elements(array, {{8, 8}, {8, 8}});
    store_->reset();
    expect_elements(array, {{8, 8}, {8, 8}});
    EXPECT_EQ(store_->requests, 1U) << static_cast<int>(mode);
    expect_elements(array, {{3, 3}, {2, 7}});
    EXPECT_EQ(store_->requests, 2U) << static_cast<int>(mode);
  }
}

TEST_F(Latency, AShardThatWasReplacedIsReadInItsNewVersion) {
  for (const CacheMode mode : {CacheMode::index, CacheMode::shard, CacheMode::chunks}) {
    CreateOptions options{
        .shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}, .overwrite = true};
    options.config.cache = mode;
    const Array array = written(options);
    expect_elements(array, all(array));
    const Array writer = open_array(memory_, {.writable = true}).value();
    writer.write(Box{{0, 0}, {8, 64}}, std::span<const std::uint32_t>(std::vector<std::uint32_t>(8 * 64, 5))).value();
    std::vector<std::uint32_t> values(64 * 64);
    array.read(Box{{0, 0}, {64, 64}}, std::span(values)).value();
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i < 8 * 64 ? 5 : i + 1) << i;
    memory_->erase("c/0/0").value();
    array.read(Box{{0, 0}, {64, 64}}, std::span(values)).value();
    EXPECT_EQ(values[63], 5U);
    EXPECT_EQ(values[0], 0U) << "the shard is missing now";
    EXPECT_EQ(values[63 * 64], 63 * 64 + 1U);
  }
}

TEST_F(Latency, AChunkThatWasMissingIsFoundOnceAnotherWriterHasStoredIt) {
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = Shape{32, 32}};
  const Array writer = create_array(memory_, "", options).value();
  const std::vector<std::uint32_t> ones(8 * 8, 1), twos(8 * 8, 2);
  writer.write(Box{{0, 0}, {8, 8}}, std::span(ones)).value();
  std::uint64_t row = 8;
  for (const bool missing_is_error : {false, true}) {
    const Array array = open_array(store_, {.config = {.missing_is_error = missing_is_error}}).value();
    std::vector<std::uint32_t> values(64);
    array.read(Box{{0, 0}, {8, 8}}, std::span(values)).value();
    EXPECT_EQ(array.read(Box{{row, 0}, {8, 8}}, std::span(values)).has_value(), !missing_is_error);
    writer.write(Box{{row, 0}, {8, 8}}, std::span(twos)).value();
    array.read(Box{{row, 0}, {8, 8}}, std::span(values)).value();
    EXPECT_EQ(values, twos);
    row += 8;
  }
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

/// `sharding_indexed` with inner chunks of this size and the codecs `inner`.
std::string sharding(const std::string& chunk, const std::string& inner) {
  return R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [)" + chunk + ", " + chunk +
         R"(], "codecs": )" + inner +
         R"(, "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}])";
}

TEST_F(Latency, EachLevelOfNestedShardsTakesOneRoundTripMore) {
  std::string codecs = R"([{"name": "bytes", "configuration": {"endian": "little"}}, "zstd"])";
  std::uint64_t levels = 0;
  for (const char* size : {"4", "8", "16"}) {
    codecs = sharding(size, codecs);
    ++levels;
    CreateOptions options{.shape = {96, 96}, .dtype = DType::uint32, .overwrite = true};
    options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [32, 32]}})").value();
    options.raw_codecs = Json::parse(codecs).value();
    options.config.coalesce_gap = 0;
    const Array array = written(options);
    expect_elements(array, {{17, 17}, {62, 62}});
    EXPECT_EQ(store_->batches, levels + 1) << "over nine shards";
    store_->reset();
    expect_elements(array, {{17, 17}, {62, 62}});
    EXPECT_EQ(store_->batches, 1U) << "with all indices in the cache";
  }
}

TEST_F(Latency, ShardsThatAreReadableOnlyWholeAreReadTogether) {
  for (const CacheMode mode : {CacheMode::index, CacheMode::shard, CacheMode::chunks}) {
    CreateOptions options{.shape = {256, 256}, .dtype = DType::uint32, .overwrite = true};
    options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [32, 32]}})").value();
    std::string codecs = sharding("8", R"([{"name": "bytes", "configuration": {"endian": "little"}}])");
    codecs.insert(codecs.size() - 1, R"(, "zstd")");
    options.raw_codecs = Json::parse(codecs).value();
    options.config.cache = mode;
    const Array array = written(options);
    expect_elements(array, {{5, 5}, {240, 240}});
    EXPECT_EQ(store_->requests, 64U) << static_cast<int>(mode);
    EXPECT_EQ(store_->rounds, 2U) << static_cast<int>(mode);
  }
}

TEST_F(Latency, EveryKindOfCacheReadsChunksTogether) {
  for (const CacheMode mode : {CacheMode::shard, CacheMode::chunks})
    for (const bool sharded : {false, true}) {
      CreateOptions options{.shape = {256, 128}, .dtype = DType::uint32, .chunks = {8, 8}, .overwrite = true};
      if (sharded) options.shards = Shape{16, 16};
      options.config.cache = mode;
      const Array array = written(options);
      expect_elements(array, all(array));
      EXPECT_EQ(store_->rounds, sharded ? 4U : 16U);
      store_->reset();
      expect_elements(array, {{1, 1}, {250, 120}});
      EXPECT_EQ(store_->rounds, sharded ? 4U : 16U) << "requests without bytes, which confirm what is kept";
    }
}

TEST_F(Latency, ABudgetOfOneChunkReadsChunksOneAfterAnother) {
  for (const bool sharded : {false, true}) {
    CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .overwrite = true};
    if (sharded) options.shards = Shape{16, 16};
    options.config.memory_budget = 0;
    const Array array = written(options);
    expect_elements(array, all(array));
    expect_elements(array, {{3, 3}, {50, 50}});
  }
}

bool is_of_chunks(std::span<const ReadRequest> requests) {
  return std::ranges::any_of(requests, [](const ReadRequest& each) { return each.key.starts_with("c/"); });
}

/// Answers the first request of a batch of chunks, and the others after one chunk has been decoded.
class AnswersAfterDecoding final : public TestStore {
 public:
  AnswersAfterDecoding(std::shared_ptr<Store> store, std::shared_ptr<Recorder> recorder)
      : TestStore(std::move(store)), recorder_(std::move(recorder)) {
    has.parallel_requests = kParallel;
    in_batches = true;
  }
  int decoded_between = 0;

 protected:
  Result<void> read_batch(std::span<const ReadRequest> requests, const OnReply& reply) override {
    if (!is_of_chunks(requests)) return store_->read_all(requests, reply);
    SHERD_TRY(store_->read_all(requests.first(1), reply));
    for (int i = 0; i < 10'000 && recorder_->chunks_decoded == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    decoded_between += recorder_->chunks_decoded > 0 ? 1 : 0;
    return store_->read_all(requests.subspan(1),
                            [&](std::size_t i, Result<ReadReply> answer) { return reply(i + 1, std::move(answer)); });
  }

 private:
  const std::shared_ptr<Recorder> recorder_;
};

TEST_F(Latency, RepliesAreDecodedWhileOtherRequestsAreUnderWay) {
  for (const unsigned threads : {1U, 2U}) {
    written({.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .overwrite = true});
    const auto recorder = std::make_shared<Recorder>();
    const auto store = std::make_shared<AnswersAfterDecoding>(memory_, recorder);
    const Array array = open_array(store, {.config = {.threads = threads, .recorder = recorder}}).value();
    expect_elements(array, all(array));
    EXPECT_EQ(store->decoded_between, 1) << "one batch, in which decoding began before the second reply";
  }
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

/// Documents arrive at once, chunks after so long that a test that waits for them has failed.
class SlowChunks final : public TestStore {
 public:
  explicit SlowChunks(std::shared_ptr<Store> store) : TestStore(std::move(store)) {
    has.parallel_requests = kParallel;
    in_batches = true;
  }
  static constexpr std::chrono::minutes kDelay{2};

 protected:
  Result<void> read_batch(std::span<const ReadRequest> requests, const OnReply& reply) override {
    return is_of_chunks(requests) ? slow_->read_all(requests, reply) : store_->read_all(requests, reply);
  }

 private:
  const std::shared_ptr<Store> slow_ = delayed_store(store_, kDelay, kParallel);
};

TEST_F(Latency, AnInterruptEndsAReadThatWaits) {
  written({.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}});
  int polls = 0;
  OpenOptions open;
  open.config.interrupted = [&] { return ++polls > 2; };
  const Array array = open_array(std::make_shared<SlowChunks>(memory_), open).value();
  std::vector<std::uint32_t> values(64 * 64);
  const auto begin = std::chrono::steady_clock::now();
  const auto read = array.read(Box{{0, 0}, {64, 64}}, std::span(values));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, SlowChunks::kDelay / 2) << "long before the store answers";
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(polls, 3);
}

class LatencyOfMembers : public Latency, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, LatencyOfMembers, ::testing::Values("zarr3", "zarr2"),
                         [](const auto& format) { return std::string(format.param); });

TEST_P(LatencyOfMembers, FiveHundredArraysAreListedAndOpenedTogether) {
  constexpr std::uint64_t members = 500, rounds = (members + kParallel - 1) / kParallel;
  create_group(memory_, "", {}, false, {}, GetParam()).value();
  for (std::uint64_t i = 0; i < members; ++i)
    create_array(memory_, "a" + std::to_string(i), {.shape = {1}, .dtype = DType::uint8, .chunks = {1}}).value();
  const Group group = open_group(store_, {.format = GetParam()}).value();
  EXPECT_EQ(store_->rounds, 1U) << "all documents of the group are one batch";
  store_->rounds = 0;
  std::vector<std::string> names;
  const auto listed = group.members().value();
  for (const auto& [name, type] : listed) {
    EXPECT_EQ(type, NodeType::array);
    names.push_back(name);
  }
  EXPECT_EQ(names.size(), members);
  EXPECT_EQ(store_->rounds, rounds);
  store_->rounds = 0;
  const std::uint64_t documents = std::string_view(GetParam()) == "zarr2" ? 4 : 1;
  std::size_t opened = 0;
  group
      .open_all(names,
                [&](std::size_t i, Result<Node> node) -> Result<void> {
                  EXPECT_EQ(std::get<Array>(node.value()).path(), names[i]);
                  ++opened;
                  return {};
                })
      .value();
  EXPECT_EQ(opened, members);
  EXPECT_LE(store_->rounds, documents * rounds + 4) << "a few batches are not full";
}

TEST_F(Latency, TheFormatOfALocationIsFoundInOneRoundTrip) {
  for (const char* format : {"zarr3", "zarr2", "draft2022"}) {
    memory_->erase_prefix("").value();
    create_array(memory_, "", {.shape = {1}, .dtype = DType::uint8, .chunks = {1}, .format = format}).value();
    store_->rounds = 0;
    EXPECT_EQ(open_array(store_).value().format(), format);
    EXPECT_EQ(store_->rounds, 1U) << format;
  }
}

TEST_F(Latency, AHundredChunksAreErasedTogether) {
  create_array(memory_, "", {.shape = {100}, .dtype = DType::uint8, .chunks = {1}}).value();
  Array array = open_array(store_, {.writable = true}).value();
  array.fill(Box{{0}, {100}}, std::vector<std::byte>{std::byte{7}}).value();
  store_->erased = 0;
  array.resize({0}).value();
  EXPECT_EQ(store_->erased, 1U) << "batches";
}

}  // namespace read_objects_test
}  // namespace sherd
