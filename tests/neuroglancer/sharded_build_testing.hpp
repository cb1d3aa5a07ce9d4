// Values by id and the shards that are built from them, for the tests of builds.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "sherd/sharded_store.hpp"
#include "tests/neuroglancer/shards_testing.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd::kv_testing::sharded_build_testing {

using neuroglancer::BuildOptions;
using neuroglancer::BuildReport;
using neuroglancer::ShardedBuilder;

inline constexpr auto kMurmur = Uint64Sharding::Hash::murmurhash3_x86_128;
inline constexpr std::uint64_t kMinMemory = std::uint64_t{8} << 20;
inline constexpr std::uint64_t kLast = ~std::uint64_t{0};

inline BuildOptions with_memory(std::uint64_t bytes, unsigned threads = 0) {
  BuildOptions options;
  options.config.memory_budget = bytes;
  options.config.threads = threads;
  return options;
}

inline ShardedBuilder builder_of(const std::shared_ptr<Store>& store, const Uint64Sharding& sharding,
                                 BuildOptions options = {}) {
  return ShardedBuilder::create(store, sharding.json(), std::move(options)).value();
}

inline Values some_values(std::size_t count, std::size_t longest) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = scrambled(i + 1);
    values[number >> (i % 3 * 20)] = std::string(number % (longest + 1), static_cast<char>('a' + i % 26));
  }
  values[0] = "the first";
  values[kLast] = "";
  return values;
}

inline std::vector<std::uint64_t> ids_of(const Values& values) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, bytes] : values) ids.push_back(id);
  return ids;
}

inline Tree built(const Uint64Sharding& sharding, const Values& values, const std::vector<std::uint64_t>& order,
                  const BuildOptions& options = {}) {
  const auto store = memory_store();
  ShardedBuilder builder = builder_of(store, sharding, options);
  for (const std::uint64_t id : order) add(builder, id, values.at(id)).value();
  const BuildReport report = builder.finish().value();
  const Tree objects = tree_of(*store);
  EXPECT_EQ(report.ids, values.size());
  EXPECT_EQ(report.shards, objects.size());
  std::uint64_t bytes = 0;
  for (const auto& [name, object] : objects) bytes += object.size();
  EXPECT_EQ(report.bytes, bytes);
  return objects;
}

class ShardedBuild : public testing::TestWithParam<Uint64Sharding> {};
/// How often a list does not follow the one before.
inline std::size_t places_of_lists(const std::string& shard, unsigned minishard_bits) {
  std::size_t locations = 0;
  std::uint64_t last_end = 0;
  for (std::size_t at = 0; at < std::size_t{16} << minishard_bits; at += 16) {
    const auto start = load_little<std::uint64_t>(as_bytes(shard).data() + at);
    const auto end = load_little<std::uint64_t>(as_bytes(shard).data() + at + 8);
    if (start == end) continue;
    locations += start == last_end ? 0 : 1;
    last_end = end;
  }
  return locations;
}

// ---- what is refused ----
// ---- hooks ----
// ---- the temporary file ----

}  // namespace sherd::kv_testing::sharded_build_testing
