// A build of shards to which many threads add values while others spill, and the shards that it writes concurrently.
#include <gtest/gtest.h>

#include <thread>

#include "tests/neuroglancer/shards_testing.hpp"

namespace sherd::kv_testing {
namespace build_test {

using neuroglancer::BuildOptions;
using neuroglancer::ShardedBuilder;

constexpr std::size_t kThreads = 4;
constexpr std::size_t kValues = 4000;  // of 2 KiB: several times the arenas of the minimum memory

std::string value_of(std::size_t number) { return std::string(1500 + number % 1000, static_cast<char>(number)); }

TEST(SharedBuild, LosesNothingOfWhatThreadsAddAtTheSameTime) {
  const Uint64Sharding sharding{.minishard_bits = 3, .shard_bits = 4, .gzip_index = true};
  const auto store = memory_store();
  BuildOptions options;
  options.config.memory_budget = std::uint64_t{8} << 20;
  options.config.threads = kThreads;
  ShardedBuilder builder = ShardedBuilder::create(store, sharding.json(), options).value();
  std::vector<std::jthread> threads;
  for (std::size_t first = 0; first < kThreads; ++first)
    threads.emplace_back([&, first] {
      for (std::size_t i = first; i < kValues; i += kThreads) add(builder, scrambled(i), value_of(i)).value();
    });
  threads.clear();
  builder.finish().value();
  const Values values = values_of(tree_of(*store), sharding);
  EXPECT_EQ(values.size(), kValues);
  for (std::size_t i = 0; i < kValues; ++i) ASSERT_TRUE(values.at(scrambled(i)) == value_of(i)) << i;
}

TEST(SharedBuild, EncodesABatchByAllThreads) {
  const Uint64Sharding sharding{.minishard_bits = 1, .shard_bits = 2, .gzip_data = true};
  const auto store = memory_store();
  BuildOptions options;
  options.config.threads = kThreads;
  ShardedBuilder builder = ShardedBuilder::create(store, sharding.json(), options).value();
  Values values;
  for (std::size_t i = 0; i < kValues / 4; ++i) values[scrambled(i)] = value_of(i);
  std::vector<ShardedBuilder::Value> batch;
  for (const auto& [id, bytes] : values) batch.push_back({id, as_bytes(bytes)});
  builder.add(batch).value();
  builder.finish().value();
  EXPECT_TRUE(values_of(tree_of(*store), sharding) == values);
}

}  // namespace build_test
}  // namespace sherd::kv_testing
