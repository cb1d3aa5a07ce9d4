// The shards of a build: sections of minishards, whose bytes depend on nothing but the ids.
#include "tests/neuroglancer/sharded_build_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::kv_testing::sharded_build_testing {
namespace shard_set_test {

using neuroglancer::ShardedBuilder;
using testing::IsEmpty;

TEST_P(ShardedBuild, BytesDoNotDependOnOrderThreadsOrMemory) {
  const Values values = some_values(60000, 600);  // 18 MiB: several times the minimum memory
  std::vector<std::uint64_t> order = ids_of(values);
  const Tree expected = built(GetParam(), values, order, with_memory(std::uint64_t{1} << 30, 1));
  std::reverse(order.begin(), order.end());
  EXPECT_TRUE(built(GetParam(), values, order, with_memory(kMinMemory, 1)) == expected);
  std::sort(order.begin(), order.end(), [](auto a, auto b) { return scrambled(a) < scrambled(b); });
  EXPECT_TRUE(built(GetParam(), values, order, with_memory(kMinMemory, 4)) == expected);
  EXPECT_TRUE(built(GetParam(), values, order, with_memory(3 * kMinMemory, 3)) == expected);
}

INSTANTIATE_TEST_SUITE_P(
    Shardings, ShardedBuild,
    testing::Values(Uint64Sharding{}, Uint64Sharding{.minishard_bits = 3, .shard_bits = 2},
                    Uint64Sharding{.preshift_bits = 60, .minishard_bits = 1, .shard_bits = 3, .gzip_index = true},
                    Uint64Sharding{.minishard_bits = 16, .shard_bits = 1, .hash = kMurmur},
                    Uint64Sharding{.minishard_bits = 6, .shard_bits = 7, .hash = kMurmur, .gzip_data = true},
                    Uint64Sharding{.minishard_bits = 4, .hash = kMurmur, .gzip_index = true, .gzip_data = true}));

TEST(ShardedBuild, ReachesTheLimitsOfTheParameters) {
  const Values values{{0, "none"}, {1, "one"}, {kLast, "all"}, {std::uint64_t{1} << 63, "top"}};
  for (const Uint64Sharding& sharding :
       {Uint64Sharding{.preshift_bits = 63, .shard_bits = 64}, Uint64Sharding{.shard_bits = 64},
        Uint64Sharding{.preshift_bits = 64, .minishard_bits = 3, .shard_bits = 2, .hash = kMurmur},
        Uint64Sharding{.minishard_bits = 20, .shard_bits = 44}})
    EXPECT_EQ(values_of(built(sharding, values, ids_of(values)), sharding), values);
}

TEST(ShardedBuild, StoresMinishardIndexesAfterTheValuesOfASection) {
  const Tree objects = built({.minishard_bits = 1}, {{3, "abc"}, {5, "de"}, {2, "f"}}, {5, 2, 3});
  EXPECT_EQ(objects.at("0.shard").substr(32, 6), "fabcde");
  EXPECT_EQ(places_of_lists(objects.at("0.shard"), 1), 1U);
  const auto locations = [](const Values& values) {
    return places_of_lists(built({.minishard_bits = 16}, values, ids_of(values)).at("0.shard"), 16);
  };
  EXPECT_EQ(locations({{0, "a"}, {1, "b"}, {(1 << 14) - 1, "c"}}), 1U);
  EXPECT_EQ(locations({{0, "a"}, {1, "b"}, {1 << 14, "c"}}), 2U) << "too many minishards for one shard";
  Values values;
  for (std::uint64_t i = 0; i < 70000; ++i) values[(i % 7) << 16 | i / 7] = "v";
  EXPECT_EQ(locations(values), 5U) << "too many ids";
}

TEST(ShardedBuild, StoresPrecedingBytesImmediatelyBeforeTheirValue) {
  for (const std::uint64_t memory : {kMinMemory, std::uint64_t{256} << 20}) {
    const Uint64Sharding sharding{.minishard_bits = 2, .shard_bits = 1, .hash = kMurmur, .gzip_data = true};
    const auto store = memory_store();
    ShardedBuilder builder = builder_of(store, sharding, with_memory(memory));
    // Of the lengths that the values say: 30 MiB in all, and one value alone more than the minimum memory holds.
    const auto before = [](std::uint64_t id) {
      return std::string(id == 77 ? std::size_t{5} << 20 : scrambled(id) % 50000, static_cast<char>('a' + id % 26));
    };
    for (std::uint64_t id = 0; id < 1000; ++id) {
      const std::string value = std::to_string(before(id).size());
      const std::string preceding = before(id);
      builder.add({.id = id, .bytes = as_bytes(value), .preceding = as_bytes(preceding)}).value();
    }
    builder.finish().value();
    const neuroglancer::ShardedStoreOptions options{.preceding = [](std::span<const std::byte> value) {
      return Result<std::uint64_t>(std::stoull(std::string(reinterpret_cast<const char*>(value.data()), value.size())));
    }};
    const auto values = neuroglancer::ShardedStore::open(store, sharding.json(), options).value();
    for (std::uint64_t id = 0; id < 1000; ++id) ASSERT_EQ(values.get_preceding(id).value(), before(id)) << id;
  }
}

TEST(ShardedBuild, MergesMoreListsThanItReadsAtOnce) {
  const Uint64Sharding sharding{.minishard_bits = 4, .hash = kMurmur, .gzip_index = true};
  const std::string value(60000, 'v');
  const auto build = [&](std::uint64_t memory, std::uint64_t last) {
    const auto store = memory_store();
    ShardedBuilder builder = builder_of(store, sharding, with_memory(memory));
    for (std::uint64_t i = 0; i < 1400; ++i) add(builder, scrambled(i), std::string_view(value).substr(i)).value();
    add(builder, last, "last").value();
    return std::pair(builder.finish(), tree_of(*store));
  };
  const auto [done, objects] = build(kMinMemory, 7);  // 80 MiB: some 40 lists, and at most 32 are read at once
  ASSERT_TRUE(done);
  EXPECT_EQ(done->ids, 1401U);
  EXPECT_TRUE(objects == build(std::uint64_t{1} << 30, 7).second);
  const auto [twice, nothing] = build(kMinMemory, scrambled(0));
  EXPECT_EQ(twice.error().code(), ErrorCode::invalid_argument) << "the two are in different merges";
  EXPECT_THAT(nothing, IsEmpty());
}

}  // namespace shard_set_test
}  // namespace sherd::kv_testing::sharded_build_testing
