// How much memory a call needs in addition to the caller's own: the peak growth of a child process, layout by layout,
// compared with the budget it was given.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/child.hpp"
#include "tests/store/temp_dir.hpp"

#if SHERD_MEASURES_MEMORY

namespace sherd {
namespace budget_test {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr unsigned kThreads = 8;
// Not part of the budget, as documented in Config: scratch memory of each thread and of the process.
constexpr std::uint64_t kOverhead = (6 * kThreads + 12) * kMiB;
constexpr Shape::value_type kRows = 8192, kColumns = 8192;  // 128 MiB of uint16

// Half noise: encoded, an element has about one byte.
std::vector<std::uint16_t> half_noise(std::size_t count) {
  std::vector<std::uint16_t> values(count);
  std::uint32_t state = 1;
  for (auto& value : values) value = static_cast<std::uint16_t>((state = state * 1664525U + 1013904223U) >> 24);
  return values;
}

// Encoded, an element has almost no bytes.
std::vector<std::uint16_t> steps(std::size_t count) {
  std::vector<std::uint16_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint16_t>(1 + i / 4096);
  return values;
}

class MemoryBudget : public ::testing::Test {
 protected:
  static std::uint64_t reading(const std::string& path, const Config& config) {
    return growth_in_child([&] {
      const auto into = std::make_shared<std::vector<std::uint16_t>>(kRows * kColumns, std::uint16_t{1});
      const auto array = std::make_shared<Array>(open_array(path, {.config = config}).value());
      return [=] { array->read(Box{{0, 0}, {kRows, kColumns}}, std::span(*into)).value(); };
    });
  }
  static std::uint64_t writing(const std::string& path, const Config& config, const Box& box,
                               const std::vector<std::uint16_t>& values) {
    return growth_in_child([&] {
      const auto array = std::make_shared<Array>(open_array(path, {.writable = true, .config = config}).value());
      return [=, &values] { array->write(box, std::span(values).first(*element_count(box.shape))).value(); };
    });
  }

  static Config with_budget(std::uint64_t bytes) {
    Config config;
    config.threads = kThreads;
    config.memory_budget = bytes;
    config.durable = false;
    return config;
  }

  // Writes an array whole, writes all but its edges again, and reads it, each within the budget.
  void expect_within(std::uint64_t bytes, CreateOptions options, const std::vector<std::uint16_t>& values) {
    const Config config = with_budget(bytes);
    options.shape = {kRows, kColumns};
    options.dtype = DType::uint16;
    options.config = config;
    create_array(folder_ / "a", options).value();
    EXPECT_LE(writing(folder_ / "a", config, {{0, 0}, {kRows, kColumns}}, values) / kMiB, (bytes + kOverhead) / kMiB)
        << "write";
    const Box inside{{1, 1}, {kRows - 2, kColumns - 2}};
    EXPECT_LE(writing(folder_ / "a", config, inside, values) / kMiB, (bytes + kOverhead) / kMiB) << "update";
    EXPECT_LE(reading(folder_ / "a", config) / kMiB, (bytes + kOverhead) / kMiB) << "read";
  }

  void store_noise(const CreateOptions& options) const {
    const auto values = half_noise(kRows * kColumns);
    create_array(folder_ / "a", options)
        .value()
        .write(Box{{0, 0}, {kRows, kColumns}}, std::span<const std::uint16_t>(values))
        .value();
  }

  TempDir folder_;
};

using Codecs = std::vector<Json>;

TEST_F(MemoryBudget, BoundsChunksThatAreDecodedWhole) {
  expect_within(64 * kMiB, {.chunks = {1024, 4096}, .codecs = Codecs{"blosc:lz4:1"}}, half_noise(kRows * kColumns));
}

TEST_F(MemoryBudget, IsAlmostUnusedByUncompressedChunks) {
  CreateOptions options{.shape = {kRows, kColumns}, .dtype = DType::uint16, .chunks = {1024, 4096}, .codecs = Codecs{}};
  options.config = with_budget(64 * kMiB);
  create_array(folder_ / "a", options).value();
  const auto values = half_noise(kRows * kColumns);
  EXPECT_LE(writing(folder_ / "a", options.config, {{0, 0}, {kRows, kColumns}}, values) / kMiB, 8U);
}

TEST_F(MemoryBudget, BoundsChunksThatAreStreamed) {
  for (const char* codec : {"zstd:1", "gzip:1"}) {
    expect_within(64 * kMiB, {.chunks = {1024, 4096}, .codecs = Codecs{codec}}, half_noise(kRows * kColumns));
    std::filesystem::remove_all(folder_ / "a");
  }
}

TEST_F(MemoryBudget, BoundsRunsThatAllThreadsDecode) {
  expect_within(64 * kMiB, {.chunks = {2048, 4096}, .shards = {kRows, kColumns}, .codecs = Codecs{"blosc:zstd:1"}},
                steps(kRows * kColumns));
}

TEST_F(MemoryBudget, BoundsShardsThatAreWrittenConcurrently) {
  expect_within(64 * kMiB, {.chunks = {1024, 1024}, .shards = {2048, 2048}, .codecs = Codecs{"zstd:1"}},
                half_noise(kRows * kColumns));
}

TEST_F(MemoryBudget, BoundsShardsThatAreReadableOnlyWhole) {
  CreateOptions options{.shape = {kRows, kColumns}};
  options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [1024, 4096]}})").value();
  options.raw_codecs = Json::parse(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [512, 512],
      "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
      "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}},
      {"name": "gzip", "configuration": {"level": 1}}])")
                           .value();
  expect_within(96 * kMiB, options, half_noise(kRows * kColumns));
}

TEST_F(MemoryBudget, BoundsShardsInsideShards) {
  CreateOptions options{.shape = {kRows, kColumns}};
  options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [8192, 8192]}})").value();
  options.raw_codecs = Json::parse(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [1024, 4096],
      "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"],
      "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [512, 512],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 1}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}]}}])")
                           .value();
  expect_within(96 * kMiB, options, half_noise(kRows * kColumns));
}

TEST_F(MemoryBudget, BoundsAGridWhoseLaterChunksAreLarger) {
  CreateOptions options{.shape = {kRows, kColumns}};
  options.chunk_grid = Json::parse(R"({"name": "rectilinear", "configuration": {"kind": "inline",
      "chunk_shapes": [[[8, 256], [1024, 6]], 4096]}})")
                           .value();
  options.codecs = Codecs{"blosc:lz4:1"};
  expect_within(64 * kMiB, options, half_noise(kRows * kColumns));
}

TEST_F(MemoryBudget, BoundsManyRegionsInOneCall) {
  const std::uint64_t bytes = 64 * kMiB;
  CreateOptions options{
      .shape = {kRows, kColumns}, .dtype = DType::uint16, .chunks = {1024, 1024}, .shards = {4096, 8192}};
  options.codecs = Codecs{"blosc:lz4:1"};
  store_noise(options);
  const std::uint64_t grown = growth_in_child([&] {
    const auto into = std::make_shared<std::vector<std::uint16_t>>(kRows * kColumns, std::uint16_t{1});
    const auto array = std::make_shared<Array>(open_array(folder_ / "a", {.config = with_budget(bytes)}).value());
    const auto regions = std::make_shared<std::vector<Array::Region>>();
    constexpr std::uint64_t kTile = 256;  // not the inner chunk: sixteen regions need each chunk
    for (std::uint64_t row = 0; row < kRows; row += kTile)
      for (std::uint64_t column = 0; column < kColumns; column += kTile) {
        auto* data = reinterpret_cast<std::byte*>(into->data() + (row * kColumns + column * kTile));
        regions->push_back({Box{{row, column}, {kTile, kTile}}, AnyView::dense(data, DType::uint16, {kTile, kTile})});
      }
    return [=] { (void)into, array->read(*regions).value(); };
  });
  EXPECT_LE(grown / kMiB, (bytes + kOverhead) / kMiB);
}

TEST_F(MemoryBudget, BoundsReadsInBatchesOfRequests) {
  const std::uint64_t bytes = 64 * kMiB;
  for (const bool sharded : {false, true}) {
    CreateOptions options{
        .shape = {kRows, kColumns}, .dtype = DType::uint16, .chunks = {512, 1024}, .codecs = Codecs{"blosc:lz4:1"}};
    if (sharded) options.shards = {2048, 4096};
    store_noise(options);
    const std::uint64_t grown = growth_in_child([&] {
      const auto into = std::make_shared<std::vector<std::uint16_t>>(kRows * kColumns, std::uint16_t{1});
      const auto store = delayed_store(file_store(folder_ / "a").value(), std::chrono::microseconds(100), 32);
      const auto array = std::make_shared<Array>(open_array(store, {.config = with_budget(bytes)}).value());
      return [=] { array->read(Box{{0, 0}, {kRows, kColumns}}, std::span(*into)).value(); };
    });
    EXPECT_LE(grown / kMiB, (bytes + kOverhead) / kMiB) << sharded;
    std::filesystem::remove_all(folder_ / "a");
  }
}

TEST_F(MemoryBudget, BoundsTheCacheOfWholeShardsToo) {
  const std::uint64_t bytes = 32 * kMiB;
  CreateOptions options{
      .shape = {kRows, kColumns}, .dtype = DType::uint16, .chunks = {512, 512}, .shards = {2048, 4096}};
  options.codecs = Codecs{"blosc:lz4:1"};
  store_noise(options);
  for (const CacheMode mode : {CacheMode::shard, CacheMode::chunks}) {
    Config config = with_budget(bytes);
    config.cache = mode;
    config.cache_bytes = 32 * kMiB;
    EXPECT_LE(reading(folder_ / "a", config) / kMiB, (bytes + config.cache_bytes + kOverhead) / kMiB);
  }
}

TEST_F(MemoryBudget, BoundsShardsThatShrinkingRewrites) {
  const std::uint64_t bytes = 64 * kMiB;
  const auto values = half_noise(kRows * kColumns);
  for (const bool sharded : {false, true}) {
    CreateOptions options{.shape = {kRows, kColumns}, .dtype = DType::uint16, .chunks = {kRows, 512}};
    if (sharded) options.shards = {kRows, 1024};
    options.codecs = Codecs{"blosc:lz4:1"};
    create_array(folder_ / "a", options)
        .value()
        .write(Box{{0, 0}, {kRows, kColumns}}, std::span<const std::uint16_t>(values))
        .value();
    const std::uint64_t grown = growth_in_child([&] {
      const auto array =
          std::make_shared<Array>(open_array(folder_ / "a", {.writable = true, .config = with_budget(bytes)}).value());
      return [=] { array->resize({kRows / 2, kColumns}).value(); };
    });
    EXPECT_LE(grown / kMiB, (bytes + kOverhead) / kMiB) << sharded;
    std::filesystem::remove_all(folder_ / "a");
  }
}

TEST_F(MemoryBudget, CountsStoredVariableLengthBytes) {
  const std::uint64_t bytes = 64 * kMiB;
  const std::string text(1000, 'x');
  constexpr std::uint64_t kCount = std::uint64_t{1} << 17;
  CreateOptions options{.shape = {kCount}, .dtype = DType::string, .chunks = {kCount / 16}, .codecs = Codecs{}};
  const Array array = create_array(folder_ / "a", options).value();
  std::vector<VarBytes> values(kCount, VarBytes{text.data(), text.size()});
  array.write(Box{{0}, {kCount}}, std::span<const VarBytes>(values)).value();
  const std::uint64_t result = kCount * (text.size() + 4);
  const std::uint64_t grown = growth_in_child([&] {
    const auto into = std::make_shared<std::vector<VarBytes>>(values);
    const auto arena = std::make_shared<VarBytesArena>();
    const auto small = std::make_shared<Array>(array.with_config(with_budget(bytes)));
    return [=] {
      small
          ->read(Box{{0}, {kCount}}, AnyView{reinterpret_cast<std::byte*>(into->data()), DType::string, {kCount}, {16}},
                 arena.get())
          .value();
    };
  });
  EXPECT_LE(grown / kMiB, (result + bytes + kOverhead) / kMiB);
}

TEST_F(MemoryBudget, IgnoresChunksDecodedDirectlyIntoTheDestination) {
  for (const char* codec : {"zstd:1", "gzip:1", "blosc:lz4:1"}) {
    CreateOptions options{.shape = {kRows, kColumns}, .dtype = DType::uint16, .chunks = {kRows / 2, kColumns}};
    options.codecs = Codecs{codec};
    create_array(folder_ / "a", options)
        .value()
        .write(Box{{0, 0}, {kRows, kColumns}}, std::span<const std::uint16_t>(steps(kRows * kColumns)))
        .value();
    Config config = with_budget(256 * kMiB);
    config.threads = 1;
    // A chunk has 64 MiB, but hardly any bytes when encoded.
    EXPECT_LE(reading(folder_ / "a", config) / kMiB, 18) << codec;
    std::filesystem::remove_all(folder_ / "a");
  }
}

TEST_F(MemoryBudget, IgnoresVariableLengthBytesOutsideTheSelection) {
  const std::string text(1000, 'x');
  constexpr std::uint64_t kCount = std::uint64_t{1} << 17, kEvery = 64;
  CreateOptions options{.shape = {kCount}, .dtype = DType::string, .chunks = {kCount / 16}, .codecs = Codecs{}};
  options.config = with_budget(16 * kMiB);
  const Array array = create_array(folder_ / "a", options).value();
  const std::vector<VarBytes> values(kCount, VarBytes{text.data(), text.size()});
  array.write(Box{{0}, {kCount}}, std::span<const VarBytes>(values)).value();
  const std::uint64_t grown = growth_in_child([&] {
    const auto into = std::make_shared<std::vector<VarBytes>>(kCount / kEvery);
    const auto arena = std::make_shared<VarBytesArena>();
    return [=, &array] {
      array
          .read(Selection::orthogonal({Range{0, kCount / kEvery, kEvery}}),
                AnyView{reinterpret_cast<std::byte*>(into->data()), DType::string, {kCount / kEvery}, {16}},
                arena.get())
          .value();
      for (const VarBytes& value : *into)
        if (value.view() != std::string(1000, 'x')) throw std::runtime_error("other text");
    };
  });
  EXPECT_LE(grown / kMiB, (16 * kMiB + kOverhead) / kMiB) << "all of it are 128 MiB";
}

TEST_F(MemoryBudget, BoundsVariableLengthBytesEncodedForAShard) {
  const std::string text(kMiB, 'x');
  constexpr std::uint64_t kCount = 192;
  const std::vector<VarBytes> values(kCount, VarBytes{text.data(), text.size()});
  CreateOptions options{
      .shape = {kCount}, .dtype = DType::string, .chunks = {1}, .shards = {kCount}, .codecs = Codecs{}};
  options.config = with_budget(16 * kMiB);
  const Array array = create_array(folder_ / "a", options).value();
  const std::uint64_t grown = growth_in_child(
      [&] { return [&] { array.write(Box{{0}, {kCount}}, std::span<const VarBytes>(values)).value(); }; });
  EXPECT_LE(grown / kMiB, (16 * kMiB + kOverhead) / kMiB);
}

// The page faults of 20 calls, after a few that warm up.
long faults(const std::function<void()>& call) {
  for (int i = 0; i < 10; ++i) call();
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 20; ++i) call();
  getrusage(RUSAGE_SELF, &after);
  return after.ru_minflt - before.ru_minflt;
}

TEST_F(MemoryBudget, BuffersOfEarlierWritesAreReused) {
  CreateOptions options{.shape = {2048, 2048},
                        .dtype = DType::uint16,
                        .chunks = {512, 512},
                        .shards = {2048, 2048},
                        .codecs = Codecs{"bytes:big", "zstd:1", "gzip:1"}};
  options.config.durable = false;
  const Array array = create_array(folder_ / "a", options).value();
  const auto values = half_noise(2048 * 2048);
  const Box all{{0, 0}, {2048, 2048}};
  EXPECT_LT(faults([&] { array.write(all, std::span<const std::uint16_t>(values)).value(); }), 20 * 16 * 64)
      << "a chunk has 128 pages, its last encoding 75, and each write encodes 16";
}

TEST_F(MemoryBudget, BuffersOfEarlierReadsAreReused) {
  CreateOptions options{.shape = {512, 512}, .dtype = DType::uint16, .chunks = {256, 512}, .codecs = Codecs{"zstd:1"}};
  const Array array = create_array(folder_ / "a", options).value();
  const auto values = half_noise(512 * 512);
  array.write(Box{{0, 0}, {512, 512}}, std::span<const std::uint16_t>(values)).value();
  std::vector<std::uint16_t> part(510 * 300);
  const auto read = [&] { array.read(Box{{1, 100}, {510, 300}}, std::span(part)).value(); };
  EXPECT_LT(faults(read), 20 * 20) << "a chunk has 64 pages, and each read decodes two";
}

TEST_F(MemoryBudget, SmallerThanAChunkStillAllowsOneChunkAtATime) {
  const std::uint64_t chunk = 8 * kMiB;
  const auto values = half_noise(kRows * kColumns);
  CreateOptions unsharded{.chunks = {1024, 4096}, .codecs = Codecs{"blosc:lz4:1"}};
  CreateOptions sharded{.chunks = {1024, 4096}, .shards = {kRows, kColumns}, .codecs = Codecs{"blosc:lz4:1"}};
  for (CreateOptions& options : {std::ref(unsharded), std::ref(sharded)}) {
    options.shape = {kRows, kColumns};
    options.dtype = DType::uint16;
    options.config = with_budget(0);
    create_array(folder_ / "a", options).value();
    EXPECT_LE(writing(folder_ / "a", options.config, {{0, 0}, {kRows, kColumns}}, values) / kMiB,
              (4 * chunk + kOverhead) / kMiB);
    EXPECT_LE(reading(folder_ / "a", options.config) / kMiB, (2 * chunk + kOverhead) / kMiB);
    std::filesystem::remove_all(folder_ / "a");
  }
}

}  // namespace budget_test
}  // namespace sherd

#endif
