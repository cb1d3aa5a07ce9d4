// The operations of the sharding transformer that read values, and keys that are not chunks.
#include "tests/draft2022/transformer_values_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::draft::transformer_values_testing {
namespace transformer_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(DraftTransformer, ReadsAllIndicesAndThenAllValues) {
  World world(document());
  world.put({{"c0/0", "0123456789abcdef"}, {"c0/1", "ghij"}, {"c2/0", "klmn"}});
  std::vector<std::optional<std::string>> values;
  EXPECT_THAT(world.requests([&] {
    values = parts(world, {{world.key("c0/1"), {1, 2}},
                           {world.key("c2/0"), {}},
                           {world.key("c0/0"), {4, {}}},
                           {world.key("c1/1"), {}},
                           {world.key("c2/2"), {}},
                           {world.key("c0/1"), {-1, {}}}});
  }),
              ElementsAre("get c1/1 0+0", "get c0/0 20+64", "get c1/0 4+64", "get c0/0 17+2", "get c0/0 4+12",
                          "get c0/0 19+1", "get c1/0 0+4"));
  EXPECT_THAT(values, ElementsAre("hi", "klmn", "456789abcdef", std::nullopt, std::nullopt, "j"));
}

TEST(DraftTransformer, ReadsMoreShardsThanFilesMayBeOpen) {
  const TempDir folder;
  constexpr std::uint64_t kShards = 200;
  const std::string long_one = document("[" + std::to_string(kShards * 8) + ", 5]");
  World world(long_one);
  world.store = file_store(folder / "s").value();
  world.store->set("zarr.json", kEntryPoint).value();
  world.store->set("meta/root/a.array.json", long_one).value();
  world.transformer = world.open();
  std::vector<KeyRange> ranges;
  for (std::uint64_t i = 0; i < kShards; ++i) {
    world.put({{"c" + std::to_string(2 * i) + "/0", std::to_string(i)}});
    ranges.push_back({world.key("c" + std::to_string(2 * i) + "/0")});
  }
  for (std::uint64_t i = 0; i < kShards; ++i) ranges.push_back({ranges[i].key, {-1, {}}});
  std::vector<std::optional<std::string>> values;
  const auto log = world.requests([&] {
    const FewFiles few;
    values = parts(world, ranges);
  });
  EXPECT_EQ(log.size(), 3 * kShards);  // of each shard the index and two parts of a chunk
  ASSERT_EQ(values.size(), 2 * kShards);
  for (std::uint64_t i = 0; i < kShards; ++i) {
    EXPECT_EQ(values[i], std::to_string(i));
    EXPECT_EQ(values[kShards + i], std::to_string(i % 10));
  }
}

TEST(DraftTransformer, CutsRangesOffWhereTheChunkEnds) {
  World world(document());
  world.put({{"c0/0", "0123456789abcdef"}, {"c0/1", "x"}});
  const std::string key = world.key("c0/0");
  EXPECT_THAT(parts(world, {{key, {8, {}}},
                            {key, {0, 1000}},
                            {key, {16, 1}},
                            {key, {99, {}}},
                            {key, {-4, 2}},
                            {key, {-99, 3}},
                            {key, {std::numeric_limits<std::int64_t>::min(), 1}},
                            {key, {3, 0}},
                            {key, {std::numeric_limits<std::int64_t>::max(), ~std::uint64_t{0}}}}),
              ElementsAre("89abcdef", "0123456789abcdef", "", "", "cd", "012", "0", "", ""));
}

TEST(DraftTransformer, PassesOnKeysThatAreNotChunksOfTheArray) {
  World world(document());
  const std::vector<std::string> keys{"zarr.json",          "meta/root/a.array.json", "data/root/b/c0/0",
                                      "data/root/a/c0",     "data/root/a/c0/0/0",     "data/root/a/c00/0",
                                      "data/root/a/x/c0/0", "data/root/ac/c0/0",      "data/root/a/c0.0",
                                      "data/root/a/d0/0",   "data/root/a/c-1/0"};
  for (const std::string& key : keys) {
    world->set(key, bytes_of("0123")).value();
    EXPECT_THAT(world.store->get(key).value(), Optional(std::string("0123"))) << key;
    world->set_partial_values(std::vector<KeyStartValue>{{key, 1, bytes_of("x")}, {key, 4, bytes_of("yz")}}).value();
    EXPECT_THAT(world->get(key).value(), Optional(std::string("0x23yz"))) << key;
    EXPECT_THAT(parts(world, {{key, {-2, {}}}, {key, {2, 2}}}), ElementsAre("yz", "23")) << key;
    world->erase(key).value();
    world->erase(key).value();
    EXPECT_EQ(world->get(key).value(), std::nullopt);
  }
  EXPECT_THAT(keys_of(*world.store), IsEmpty());
}

TEST(DraftTransformer, AChunkOfZeroBytesExists) {
  World world(document());
  world.put({{"c0/0", ""}});
  EXPECT_THAT(world.value("c0/0"), Optional(std::string()));
  EXPECT_THAT(world->list_prefix("data/").value(), ElementsAre(world.key("c0/0")));
}

}  // namespace transformer_test
}  // namespace sherd::draft::transformer_values_testing
