// How much memory a build needs: what a child process grows by at its largest, against the budget it was given.
#include <gtest/gtest.h>

#include <functional>

#include "sherd/sharded_store.hpp"
#include "tests/child.hpp"
#include "tests/neuroglancer/shards_testing.hpp"
#include "tests/store/temp_dir.hpp"

#if SHERD_MEASURES_MEMORY

namespace sherd::kv_testing {
namespace ids_memory_test {

using neuroglancer::BuildOptions;
using neuroglancer::ShardedBuilder;
using neuroglancer::ShardedStore;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr unsigned kThreads = 4;
// Pages of the library and of the heap that the first build touches.
constexpr std::uint64_t kOverhead = 8 * kMiB;

/// What a child grows by that builds in the directory.
std::uint64_t growth_in(const TempDir& directory, const Uint64Sharding& sharding, std::uint64_t budget,
                        const std::function<void(ShardedBuilder&)>& fill) {
  return growth_in_child([&] {
    return [&] {
      BuildOptions options;
      options.config.memory_budget = budget;
      options.config.threads = kThreads;
      options.config.durable = false;
      auto store = file_store(directory.path(), options.config).value();
      auto builder = ShardedBuilder::create(std::move(store), sharding.json(), options).value();
      fill(builder);
      builder.finish().value();
    };
  });
}

/// growth_in() a new directory.
std::uint64_t growth(const Uint64Sharding& sharding, std::uint64_t budget,
                     const std::function<void(ShardedBuilder&)>& fill) {
  return growth_in(TempDir(), sharding, budget, fill);
}

/// A million ids need 47 MiB with their records, more than either budget's arenas.
void fill_with_small_values(ShardedBuilder& builder) {
  for (std::uint64_t i = 0; i < 1'000'000; ++i) add(builder, scrambled(i), "16 bytes of text").value();
}

TEST(BuildMemory, OfAMillionShuffledIdsIsWithinTheBudget) {
  const Uint64Sharding many{.minishard_bits = 8, .shard_bits = 4, .gzip_index = true};
  EXPECT_LE(growth(many, 16 * kMiB, fill_with_small_values), 16 * kMiB + kOverhead);
  EXPECT_LE(growth(many, 40 * kMiB, fill_with_small_values), 40 * kMiB + kOverhead);
}

TEST(BuildMemory, OfTenMillionShuffledIdsIsWithin128MiB) {
  constexpr std::uint64_t kIds = 10'000'000;
  const Uint64Sharding sharding{.minishard_bits = 8, .shard_bits = 4, .gzip_index = true};
  const TempDir directory;
  const auto fill = [](ShardedBuilder& builder) {
    for (std::uint64_t i = 0; i < kIds; ++i) add(builder, scrambled(i), std::to_string(i)).value();
  };
  EXPECT_LE(growth_in(directory, sharding, 128 * kMiB, fill), 128 * kMiB + kOverhead);
  const auto ids = ShardedStore::open(file_store(directory.path()).value(), sharding.json()).value();
  std::uint64_t listed = 0;
  EXPECT_TRUE(ids.list([&](std::uint64_t, std::uint64_t) { return ++listed > 0; }).value());
  EXPECT_EQ(listed, kIds);
  for (std::uint64_t i = 0; i < kIds; i += 999'983) EXPECT_EQ(ids.get(scrambled(i)).value(), std::to_string(i));
}

TEST(BuildMemory, OfOneShardWithAllIdsIsWithinTheBudget) {
  EXPECT_LE(growth({.minishard_bits = 12, .gzip_index = true}, 16 * kMiB, fill_with_small_values),
            16 * kMiB + kOverhead);
}

TEST(BuildMemory, OfManyMinishardsIsWithinTheBudget) {
  EXPECT_LE(growth({.minishard_bits = 22}, 16 * kMiB, fill_with_small_values), 16 * kMiB + kOverhead)
      << "64 MiB of array";
}

TEST(BuildMemory, OfLargeShardsIsNoMoreThanOfSmallOnes) {
  const std::string value(256 << 10, 'v');
  const auto fill = [&](ShardedBuilder& builder) {
    for (std::uint64_t id = 0; id < 8 * 256; ++id) add(builder, scrambled(id), value).value();
  };
  EXPECT_LE(growth({.minishard_bits = 3, .shard_bits = 3}, 16 * kMiB, fill), 16 * kMiB + kOverhead)
      << "8 shards of 64 MiB";
}

}  // namespace ids_memory_test
}  // namespace sherd::kv_testing

#endif
