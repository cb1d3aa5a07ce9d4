// Arrays shared by threads and processes: nothing is lost or torn, with any store, layout and cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace array_test {

using Values = std::vector<std::uint32_t>;

constexpr std::uint64_t kSide = 32, kShard = 16, kInner = 4, kChunks = (kSide / kInner) * (kSide / kInner);
constexpr std::uint32_t kRounds = 12;
constexpr int kWriters = 4, kReaders = 3;

Box inner_chunk(std::uint64_t number) {
  return {{number / (kSide / kInner) * kInner, number % (kSide / kInner) * kInner}, {kInner, kInner}};
}

Values read(const Array& array, const Box& box) {
  Values values(*element_count(box.shape));
  array.read(box, std::span(values)).value();
  return values;
}

void write(const Array& array, const Box& box, std::uint32_t value) {
  const Values values(*element_count(box.shape), value);
  array.write(box, std::span(values)).value();
}

bool all_equal(const Values& values) { return std::ranges::adjacent_find(values, std::not_equal_to()) == values.end(); }

/// Runs each body on a thread of its own and waits for all of them.
void together(const std::vector<std::function<void()>>& bodies) {
  std::vector<std::thread> threads;
  for (const auto& body : bodies) threads.emplace_back(body);
  for (auto& thread : threads) thread.join();
}

enum class Where : std::uint8_t { memory, file };
enum class Layout : std::uint8_t { chunks, shards, nested, around };

struct Setting {
  Where where;
  Layout layout;
  CacheMode cache;
};

std::string name_of(const testing::TestParamInfo<Setting>& setting) {
  const char* where[] = {"Memory", "File"};
  const char* layout[] = {"Chunks", "Shards", "NestedShards", "CompressedShards"};
  const char* cache[] = {"IndexCache", "ShardCache", "ChunkCache"};
  return std::string(where[static_cast<int>(setting.param.where)]) + layout[static_cast<int>(setting.param.layout)] +
         cache[static_cast<int>(setting.param.cache)];
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const auto where : {Where::memory, Where::file}) {
    for (const auto layout : {Layout::chunks, Layout::shards, Layout::nested, Layout::around}) {
      for (const auto cache : {CacheMode::index, CacheMode::shard, CacheMode::chunks})
        all.push_back({where, layout, cache});
    }
  }
  return all;
}

constexpr std::string_view kIndexCodecs =
    R"([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}])";

std::string sharding(const std::string& inner_shape, const std::string& codecs) {
  return R"({"name": "sharding_indexed", "configuration": {"chunk_shape": )" + inner_shape + R"(, "codecs": [)" +
         codecs + R"(], "index_codecs": )" + std::string(kIndexCodecs) + "}}";
}

/// 32x32 elements in objects of 16x16 (of 4x4 without shards), inner chunks of 4x4.
CreateOptions options_of(Layout layout) {
  CreateOptions options{.shape = {kSide, kSide}, .dtype = DType::uint32, .chunks = {kInner, kInner}};
  const std::string leaf = R"({"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd"})";
  if (layout == Layout::chunks) return options;
  options.shards = {kShard, kShard};
  if (layout == Layout::shards) return options;
  options.chunks = {kShard, kShard};
  options.shards = {};
  const std::string codecs = layout == Layout::nested ? sharding("[8, 8]", sharding("[4, 4]", leaf))
                                                      : sharding("[4, 4]", leaf) + R"(, {"name": "gzip"})";
  options.raw_codecs = Json::parse("[" + codecs + "]").value();
  return options;
}

class SharedArray : public testing::TestWithParam<Setting> {
 protected:
  SharedArray() {
    CreateOptions options = options_of(GetParam().layout);
    options.config.durable = false;
    options.config.threads = 3;
    options.config.cache = GetParam().cache;
    options.config.cache_bytes = 20'000;  // so small that entries are evicted
    array_.emplace(create_array(store(options.config), "a", options).value());
  }
  std::shared_ptr<Store> store(const Config& config) const {
    return GetParam().where == Where::memory ? memory_store() : file_store(directory_.path(), config).value();
  }
  /// The elements of one stored object.
  const Box object_{{kShard, 0}, {kShard, kShard}};

  const TempDir directory_;
  std::optional<Array> array_;
};
INSTANTIATE_TEST_SUITE_P(Array, SharedArray, testing::ValuesIn(settings()), name_of);

TEST_P(SharedArray, ConcurrentWritesOfNeighbouringChunksAreNotLostOrMixed) {
  std::atomic<bool> done{false};
  std::atomic<int> torn{0}, backwards{0};
  std::vector<std::function<void()>> readers;
  for (int r = 0; r < kReaders; ++r) {
    readers.emplace_back([&, r, array = *array_] {
      Values newest(kChunks, 0);
      for (std::uint64_t c = static_cast<std::uint64_t>(r); !done; c = (c + 5) % kChunks) {
        const Values values = read(array, inner_chunk(c));
        if (!all_equal(values)) ++torn;
        if (values[0] < newest[c]) ++backwards;
        newest[c] = values[0];
      }
    });
  }
  std::thread reading([&] { together(readers); });
  std::vector<std::function<void()>> writers;
  for (std::uint64_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([w, array = *array_] {
      for (std::uint32_t round = 1; round <= kRounds; ++round) {
        for (std::uint64_t c = w; c < kChunks; c += kWriters) write(array, inner_chunk(c), round);
      }
    });
  }
  together(writers);
  done = true;
  reading.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(backwards, 0);
  EXPECT_THAT(read(*array_, {{0, 0}, {kSide, kSide}}), testing::Each(kRounds));
}

TEST_P(SharedArray, ConcurrentWritesInOneChunkAreNotLost) {
  std::vector<std::function<void()>> writers;
  for (std::uint64_t w = 0; w < 2 * kInner; ++w) {
    writers.emplace_back([w, array = *array_] {
      for (std::uint32_t round = 1; round <= 2 * kRounds; ++round) write(array, {{kShard, w}, {kInner, 1}}, round);
    });
  }
  together(writers);
  EXPECT_THAT(read(*array_, {{kShard, 0}, {kInner, 2 * kInner}}), testing::Each(2 * kRounds));
}

TEST_P(SharedArray, OverlappingWritesShowOneOfTheValues) {
  const Box box = GetParam().layout == Layout::chunks ? Box{{kShard, 4}, {3, 4}} : Box{{kShard + 1, 1}, {11, 13}};
  write(*array_, object_, 1);
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::vector<std::function<void()>> bodies;
  std::atomic<int> writing{kWriters};
  for (std::uint32_t w = 0; w < kWriters; ++w) {
    bodies.emplace_back([&, w, array = *array_] {
      for (std::uint32_t round = 0; round < 2 * kRounds; ++round) write(array, box, 10 + w);
      if (--writing == 0) done = true;
    });
  }
  for (int r = 0; r < kReaders; ++r) {
    bodies.emplace_back([&, array = *array_] {
      while (!done) {
        if (!all_equal(read(array, box))) ++torn;
      }
    });
  }
  together(bodies);
  EXPECT_EQ(torn, 0);
  EXPECT_GE(read(*array_, box)[0], 10U);
}

TEST_P(SharedArray, IsReadWhileItShrinksAndGrows) {
  const Box kept{{0, 0}, {10, 11}};
  const Box cut{{10, 0}, {2, 11}};
  write(*array_, {{0, 0}, {kSide, kSide}}, 7);
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::function<void()>> bodies;
  for (int r = 0; r < kReaders; ++r) {
    bodies.emplace_back([&, array = *array_] {
      while (!done) {
        for (const auto value : read(array, kept)) wrong += value != 7;
        Values values(22);
        const auto beyond = array.read(cut, std::span(values));
        if (!beyond && beyond.error().code() != ErrorCode::invalid_argument) ++wrong;
        if (beyond) wrong += std::ranges::any_of(values, [](std::uint32_t value) { return value != 7 && value != 0; });
      }
    });
  }
  bodies.emplace_back([&, array = *array_]() mutable {
    for (int i = 0; i < 8; ++i) {
      array.resize({10, 11}).value();
      array.resize({kSide, kSide}).value();
      write(array, cut, 7);
    }
    done = true;
  });
  together(bodies);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(read(*array_, {{12, 0}, {1, 1}})[0], 0U);
}

TEST_P(SharedArray, IsReadAndWrittenByAChildAndItsParentAfterUse) {
  write(*array_, {{0, 0}, {kSide, kSide}}, 1);
  EXPECT_THAT(read(*array_, object_), testing::Each(1U));
  const pid_t child = ::fork();
  if (child == 0) {
    write(*array_, {{0, 0}, {kShard, kSide}}, 2);
    const bool good = read(*array_, {{0, 0}, {kShard, kSide}}) == Values(kShard * kSide, 2);
    ::_exit(good ? 0 : 1);
  }
  write(*array_, {{kShard, 0}, {kShard, kSide}}, 3);
  EXPECT_THAT(read(*array_, {{kShard, 0}, {kShard, kSide}}), testing::Each(3U));
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const std::uint32_t of_child = GetParam().where == Where::memory ? 1 : 2;
  EXPECT_THAT(read(*array_, {{0, 0}, {kShard, kSide}}), testing::Each(of_child));
}

TEST_P(SharedArray, ProcessesThatWriteOneObjectLoseNothing) {
  if (GetParam().where == Where::memory) return;
  std::vector<pid_t> children;
  for (std::uint64_t p = 0; p < 4; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<std::function<void()>> writers;
      for (std::uint64_t t = 0; t < 4; ++t) {
        writers.emplace_back([&, t] {
          for (std::uint32_t round = 1; round <= 5; ++round) write(*array_, {{p * 4, t * 4}, {kInner, kInner}}, round);
        });
      }
      together(writers);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(read(*array_, {{0, 0}, {kShard, kShard}}), testing::Each(5U));
}

class SharedHandle : public testing::Test {
 protected:
  SharedHandle() : array_(create_array(memory_store(), "a", options_of(Layout::shards)).value()) {}
  Array array_;
};

TEST_F(SharedHandle, ConcurrentAttributeEditsAreNotLost) {
  std::vector<std::function<void()>> editors;
  for (int e = 0; e < 6; ++e) {
    editors.emplace_back([e, array = array_]() mutable {
      for (int i = 0; i < 10; ++i) {
        const std::string name = std::to_string(e) + "-" + std::to_string(i);
        array.update_attributes(Json::parse("{\"" + name + "\": 1}").value()).value();
      }
    });
  }
  editors.emplace_back([array = array_] {
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(array.attributes().is_object() || array.attributes().is_null());
      EXPECT_TRUE(array.metadata().is_object());
    }
  });
  together(editors);
  EXPECT_EQ(open_array(array_.store(), {.path = "a"}).value().attributes().members().size(), 60U);
}

TEST_F(SharedHandle, IsCopiedWithOtherSettingsWhileItIsUsed) {
  std::vector<std::function<void()>> bodies;
  std::atomic<int> wrong{0};
  write(array_, {{0, 0}, {kSide, kSide}}, 5);
  for (int b = 0; b < 6; ++b) {
    bodies.emplace_back([&, b] {
      for (int i = 0; i < 40; ++i) {
        Config config;
        config.threads = static_cast<unsigned>(1 + i % 4);
        config.cache = static_cast<CacheMode>(b % 3);
        config.memory_budget = b % 2 == 0 ? 1 : std::uint64_t{1} << 20;
        wrong += read(array_.with_config(config), {{3, 3}, {20, 20}}) != Values(400, 5);
      }
    });
  }
  together(bodies);
  EXPECT_EQ(wrong, 0);
}

TEST_P(SharedArray, AppendsOfAnotherHandleAreKept) {
  array_->resize({18, kSide}).value();
  const Array behind = open_array(array_->store(), {.path = "a", .writable = true}).value();
  const Values rows(2 * kSide, 9);
  array_->append(StridedView<const std::uint32_t>(rows.data(), {2, kSide}).untyped()).value();
  ASSERT_EQ(behind.shape()[0], 18U);
  write(behind, {{0, 0}, {18, kSide}}, 4);  // all there was when it was opened
  EXPECT_THAT(read(*array_, {{0, 0}, {18, kSide}}), testing::Each(4U));
  EXPECT_THAT(read(*array_, {{18, 0}, {2, kSide}}), testing::Each(9U));
}

TEST_F(SharedHandle, ConcurrentAppendsUseDifferentRanges) {
  CreateOptions options = options_of(Layout::shards);
  options.shape = {0, kSide};
  Array array = create_array(memory_store(), "b", options).value();
  std::vector<std::function<void()>> bodies;
  for (std::uint32_t b = 1; b <= 5; ++b) {
    bodies.emplace_back([b, array]() mutable {
      const Values rows(3 * kSide, b);
      for (int i = 0; i < 4; ++i)
        array.append(StridedView<const std::uint32_t>(rows.data(), {3, kSide}).untyped()).value();
    });
  }
  together(bodies);
  const Array fresh = open_array(array.store(), {.path = "b"}).value();
  ASSERT_EQ(fresh.shape(), (Shape{60, kSide}));
  std::vector<int> appended(6, 0);
  for (std::uint64_t row = 0; row < 60; row += 3) {
    const Values rows = read(fresh, {{row, 0}, {3, kSide}});
    EXPECT_TRUE(all_equal(rows)) << "row " << row;
    ++appended[std::min<std::size_t>(rows[0], 5)];
  }
  EXPECT_THAT(appended, testing::ElementsAre(0, 4, 4, 4, 4, 4));
}

}  // namespace array_test
}  // namespace sherd
