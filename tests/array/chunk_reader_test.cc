// What a read costs: the requests that reach the store, counted on a recording store over memory.
#include <gtest/gtest.h>

#include <numeric>

#include "sherd/sherd.hpp"

namespace sherd {
namespace chunk_reader_test {

class Requests : public ::testing::Test {
 protected:
  Array make(CreateOptions options) {
    options.config.recorder = recorder_;
    return create_array(memory_store(), "a", options).value();
  }
  // 64x64 uint32, shards of 32x32 with 8x8 inner chunks, every element written.
  Array sharded(CacheMode cache = CacheMode::index) {
    CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = {32, 32}};
    options.config.chunk_order = ChunkOrder::c;
    options.config.cache = cache;
    options.config.coalesce_gap = 0;
    Array array = make(options);
    std::vector<std::uint32_t> values(64 * 64);
    std::iota(values.begin(), values.end(), 1U);
    array.write(Box{{0, 0}, {64, 64}}, std::span<const std::uint32_t>(values)).value();
    return array.with_config(options_with_recorder(options.config));
  }
  // The elements 0 … 4095 in the layout of the options; nothing of them is cached yet.
  Array filled(CreateOptions options) {
    options.config.coalesce_gap = 0;
    const Array array = make(options);
    std::vector<std::uint32_t> values(64 * 64);
    std::iota(values.begin(), values.end(), 1U);
    array.write(Box{{0, 0}, {64, 64}}, std::span<const std::uint32_t>(values)).value();
    return array.with_config(options_with_recorder(options.config));
  }
  // Shards of 32x32 with a transpose and a compressor around them.
  static CreateOptions opaque_shards() {
    CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32};
    options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [32, 32]}})").value();
    options.raw_codecs = Json::parse(R"([{"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}, "crc32c"])")
                             .value();
    return options;
  }
  Config options_with_recorder(Config config) {
    config.recorder = recorder_;
    return config;
  }
  std::vector<Recorder::Request> reading(const Array& array, const Box& box) {
    std::vector<std::uint32_t> values(*element_count(box.shape));
    recorder_->start();
    array.read(box, std::span(values)).value();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t row = box.origin[0] + i / box.shape[1];
      const std::uint64_t column = box.origin[1] + i % box.shape[1];
      EXPECT_EQ(values[i], row * 64 + column + 1);
    }
    return recorder_->stop();
  }
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
};

constexpr std::uint64_t kIndexBytes = 16 * 16 + 4;

TEST_F(Requests, AColdInnerChunkCostsOneIndexAndOneDataRead) {
  const auto requests = reading(sharded(), {{8, 8}, {8, 8}});
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].length, kIndexBytes);
  EXPECT_EQ(requests[0].op, "get");
  EXPECT_EQ(requests[1].key, "a/c/0/0");
}

TEST_F(Requests, AWarmInnerChunkCostsOneDataRead) {
  const Array array = sharded();
  reading(array, {{8, 8}, {8, 8}});
  EXPECT_EQ(reading(array, {{0, 0}, {8, 8}}).size(), 1U);
  EXPECT_EQ(reading(array, {{9, 9}, {1, 1}}).size(), 1U);
}

TEST_F(Requests, ABoxOverNeighbouringInnerChunksIsOneReadPerRun) {
  const Array array = sharded();
  reading(array, {{0, 0}, {1, 1}});
  // A row of four inner chunks is contiguous in C order; a column of two is two runs.
  EXPECT_EQ(reading(array, {{8, 0}, {8, 32}}).size(), 1U);
  EXPECT_EQ(reading(array, {{0, 8}, {16, 8}}).size(), 2U);
}

TEST_F(Requests, AWholeShardCostsOneRead) {
  EXPECT_EQ(reading(sharded(), {{32, 32}, {32, 32}}).size(), 1U);
  EXPECT_EQ(reading(sharded(), {{0, 0}, {64, 64}}).size(), 4U);
}

TEST_F(Requests, AMissingShardCostsNoDataRead) {
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = {32, 32}};
  const Array array = make(options);
  std::vector<std::uint32_t> values(64 * 64, 7);
  recorder_->start();
  array.read(Box{{0, 0}, {64, 64}}, std::span(values)).value();
  for (const auto& request : recorder_->stop()) EXPECT_EQ(request.length, 0U);
  EXPECT_EQ(values, std::vector<std::uint32_t>(64 * 64, 0));
}

TEST_F(Requests, ACachedShardAnswersReadsOfItsOtherChunks) {
  const Array array = sharded(CacheMode::shard);
  EXPECT_EQ(reading(array, {{0, 0}, {8, 8}}).size(), 1U);
  EXPECT_EQ(reading(array, {{8, 16}, {16, 16}}).size(), 0U);
}

TEST_F(Requests, ACachedChunkIsNotReadAgain) {
  const Array array = sharded(CacheMode::chunks);
  EXPECT_EQ(reading(array, {{0, 0}, {8, 8}}).size(), 2U);
  EXPECT_EQ(reading(array, {{2, 3}, {4, 4}}).size(), 0U);
}

TEST_F(Requests, ThreeNestedLevelsCostOneIndexPerLevelAndOneDataRead) {
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32};
  options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [64, 64]}})").value();
  const char* shard = R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [%, %], "index_codecs": [
      {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}], "codecs": [@]}})";
  const auto nest = [&](std::string size, std::string inner) {
    std::string text = shard;
    for (auto at = text.find('%'); at != std::string::npos; at = text.find('%')) text.replace(at, 1, size);
    return text.replace(text.find('@'), 1, inner);
  };
  const std::string leaf =
      R"({"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 1, "checksum": false}})";
  options.raw_codecs = Json::parse("[" + nest("32", nest("16", nest("8", leaf))) + "]").value();
  options.config.coalesce_gap = 0;
  const Array array = make(options);
  std::vector<std::uint32_t> values(64 * 64);
  std::iota(values.begin(), values.end(), 1U);
  array.write(Box{{0, 0}, {64, 64}}, std::span<const std::uint32_t>(values)).value();
  EXPECT_EQ(array.nchunks_initialized().value(), 64U);
  const Array cold = array.with_config(options_with_recorder(options.config));
  EXPECT_EQ(reading(cold, {{8, 24}, {8, 8}}).size(), 4U);
  EXPECT_EQ(reading(cold, {{8, 24}, {8, 8}}).size(), 1U);
}

TEST_F(Requests, AFullWriteOfAnAwkwardShapeReadsNothing) {
  CreateOptions options{.shape = {997, 13}, .dtype = DType::uint32, .chunks = {10, 10}, .shards = {100, 100}};
  const Array array = make(options);
  std::vector<std::uint32_t> values(997 * 13, 5);
  recorder_->start();
  array.write(Box{{0, 0}, {997, 13}}, std::span<const std::uint32_t>(values)).value();
  for (const auto& request : recorder_->stop()) EXPECT_EQ(request.op, "put") << request.key;
  EXPECT_EQ(recorder_->stats().chunks_encoded, 100U * 2);
  EXPECT_EQ(array.nchunks_initialized().value(), 200U);
}

TEST_F(Requests, APartialWriteMovesUntouchedChunksEncoded) {
  const Array array = sharded();
  const auto before = recorder_->stats();
  const std::vector<std::uint32_t> values(8 * 8, 9);
  array.write(Box{{0, 0}, {8, 8}}, std::span<const std::uint32_t>(values)).value();
  const auto after = recorder_->stats();
  EXPECT_EQ(after.chunks_encoded - before.chunks_encoded, 1U);
  EXPECT_EQ(after.chunks_moved - before.chunks_moved, 15U);
  EXPECT_EQ(after.chunks_decoded, before.chunks_decoded);
}

TEST_F(Requests, ABoxOfAnUncompressedChunkReadsItsOwnBytesOnly) {
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {64, 64}};
  options.codecs = std::vector<Json>{"bytes"};
  options.config.coalesce_gap = 0;
  const Array array = make(options);
  std::vector<std::uint32_t> values(64 * 64);
  std::iota(values.begin(), values.end(), 1U);
  array.write(Box{{0, 0}, {64, 64}}, std::span<const std::uint32_t>(values)).value();
  const auto requests = reading(array, {{5, 6}, {1, 1}});
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].offset, (5 * 64 + 6) * 4U);
  EXPECT_EQ(requests[0].length, 4U);
}

TEST_F(Requests, ACachedUnshardedChunkIsNotReadAgain) {
  for (const CacheMode mode : {CacheMode::shard, CacheMode::chunks}) {
    for (const std::vector<Json>& codecs : {std::vector<Json>{"bytes"}, std::vector<Json>{"zstd:1"}}) {
      CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {32, 32}};
      options.codecs = codecs;
      options.config.cache = mode;
      EXPECT_EQ(reading(filled(options), {{0, 0}, {8, 8}}).size(), 1U);
      const Array array = filled(options);
      reading(array, {{30, 0}, {8, 8}});
      EXPECT_EQ(reading(array, {{0, 0}, {64, 32}}).size(), 0U);
    }
  }
}

TEST_F(Requests, ACachedRawInnerChunkIsNotReadAgain) {
  for (const CacheMode mode : {CacheMode::shard, CacheMode::chunks}) {
    CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {16, 16}, .shards = {32, 32}};
    options.codecs = std::vector<Json>{"bytes"};
    options.config.cache = mode;
    const Array array = filled(options);
    reading(array, {{17, 17}, {2, 2}});
    EXPECT_EQ(reading(array, {{16, 16}, {16, 16}}).size(), 0U);
  }
}

TEST_F(Requests, ACachedOpaqueShardIsNotReadAgain) {
  for (const CacheMode mode : {CacheMode::shard, CacheMode::chunks}) {
    CreateOptions options = opaque_shards();
    options.config.cache = mode;
    const Array array = filled(options);
    EXPECT_EQ(reading(array, {{0, 0}, {8, 8}}).size(), 1U);
    EXPECT_EQ(reading(array, {{0, 0}, {8, 8}}).size(), 0U);
  }
}

TEST_F(Requests, AShardTooLargeForTheCacheIsReadInParts) {
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = {64, 64}};
  options.codecs = std::vector<Json>{"bytes"};
  options.config.cache = CacheMode::shard;
  options.config.limits.chunk_bytes = 8 * 8 * 4;
  options.config.limits.index_bytes = 64 * 16;
  const Array array = filled(options);
  EXPECT_EQ(reading(array, {{8, 8}, {8, 8}}).size(), 2U);
  EXPECT_EQ(reading(array, {{8, 8}, {8, 8}}).size(), 1U);
}

TEST_F(Requests, ACachedChunkCountsItsVariableLengthBytes) {
  const std::string text(1000, 'x');
  CreateOptions options{.shape = {64}, .dtype = DType::string, .chunks = {32}};
  options.codecs = std::vector<Json>{"zstd:1"};
  options.config.cache = CacheMode::chunks;
  std::vector<VarBytes> values(64, VarBytes{text.data(), text.size()});
  const auto again = [&](std::uint64_t cache_bytes) {
    options.config.cache_bytes = cache_bytes;
    const Array array = make(options);
    array.write(Box{{0}, {64}}, std::span<const VarBytes>(values)).value();
    std::vector<VarBytes> into(64);
    VarBytesArena arena;
    const AnyView view{reinterpret_cast<std::byte*>(into.data()), DType::string, {64}, {sizeof(VarBytes)}};
    array.read(Box{{0}, {64}}, view, &arena).value();
    recorder_->start();
    array.read(Box{{0}, {64}}, view, &arena).value();
    EXPECT_EQ(into[63].view(), text);
    return recorder_->stop().size();
  };
  EXPECT_EQ(again(32 * 1000), 2U);
  EXPECT_EQ(again(70 * 1000), 0U);
}

TEST_F(Requests, APartialWriteFillsMissingChunksIfMissingIsAnError) {
  CreateOptions options = opaque_shards();
  options.config.missing_is_error = true;
  const Array array = make(options);
  const std::vector<std::uint32_t> values(64 * 64, 5);
  array.write(Box{{0, 0}, {8, 8}}, std::span(values).first(64)).value();
  array.write(Box{{4, 4}, {8, 8}}, std::span(values).first(64)).value();
  std::vector<std::uint32_t> into(64);
  array.read(Box{{4, 4}, {8, 8}}, std::span(into)).value();
  EXPECT_EQ(into, std::vector<std::uint32_t>(64, 5));
  EXPECT_EQ(array.read(Box{{24, 24}, {8, 8}}, std::span(into)).error().code(), ErrorCode::not_found);
}

TEST_F(Requests, AreCountedOnceThroughAHandleOpenedFromAnothersStore) {
  const auto store = memory_store();
  create_group(store, "g").value();
  create_array(store, "g/a", {.shape = {8}, .dtype = DType::uint8, .chunks = {8}}).value();
  const Config config = options_with_recorder({});
  const auto requests = [&](const std::shared_ptr<Store>& from) {
    recorder_->start();
    std::vector<std::uint8_t> into(8);
    open_array(from, {.path = "g/a", .config = config}).value().read(Box{{0}, {8}}, std::span(into)).value();
    return recorder_->stop().size();
  };
  const auto direct = requests(store);
  const Group group = open_group(store, {.path = "g", .config = config}).value();
  const Group again = open_group(group.store(), {.path = "g", .config = config}).value();
  EXPECT_EQ(requests(group.store()), direct);
  EXPECT_EQ(requests(again.store()), direct);
}

}  // namespace chunk_reader_test
}  // namespace sherd
