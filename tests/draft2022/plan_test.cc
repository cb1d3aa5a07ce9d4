// New versions of shards of the sharding transformer: chunks that are patched, and what is read for that.
#include "tests/draft2022/transformer_values_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::draft::transformer_values_testing {
namespace plan_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::StartsWith;

TEST(DraftTransformer, ReadsNothingOfAShardThatIsSetAsAWhole) {
  World world(document());
  world.put({{"c0/0", "old"}, {"c3/2", "old"}});
  EXPECT_THAT(world.requests([&] {
    world.put({{"c0/0", "a"}, {"c0/1", "b"}, {"c1/0", "c"}, {"c1/1", "d"}, {"c2/2", "e"}, {"c3/2", "f"}});
  }),
              ElementsAre("put c0/0 0+68", "put c1/1 0+66"));
  EXPECT_EQ(world.store->get(world.key("c1/1")).value(), "ef" + words({0, 1, kEmpty, kEmpty, 1, 1, kEmpty, kEmpty}));
  EXPECT_THAT(world.value("c1/0"), Optional(std::string("c")));
}

TEST(DraftTransformer, MovesTheOtherChunksOfAShardThatIsSetInPart) {
  World world(document());
  world.put({{"c0/0", "aaaa"}, {"c0/1", "bb"}, {"c1/1", "ccc"}});
  const auto moved = world.recorder->chunks_moved.load();
  ShardingTransformer counting =
      ShardingTransformer::open(world.store, "a", {.erase = {}, .config = {.recorder = world.recorder}}).value();
  EXPECT_THAT(world.requests([&] { counting.set(world.key("c1/0"), bytes_of("dd")).value(); }),
              ElementsAre("get c0/0 9+64", StartsWith("put c0/0 0+")));
  EXPECT_EQ(world.recorder->chunks_moved - moved, 3U);
  EXPECT_THAT(parts(world, {{world.key("c0/0")}, {world.key("c0/1")}, {world.key("c1/0")}, {world.key("c1/1")}}),
              ElementsAre("aaaa", "bb", "dd", "ccc"));
}

TEST(DraftTransformer, PatchesTheMiddleOfChunksAndReadsOnlyThose) {
  World world(document("[7, 5]", kGzip));
  world.put({{"c0/0", "0123456789"}, {"c0/1", "abcdef"}, {"c1/0", "ghi"}});
  const std::string first = world.key("c0/0");
  const std::vector<KeyStartValue> changes{{first, 6, bytes_of("YZ")},
                                           {first, 2, bytes_of("X")},
                                           {first, 10, bytes_of("tail")},
                                           {world.key("c1/0"), 0, bytes_of("GHIJ")},
                                           {world.key("c1/1"), 0, bytes_of("new")}};
  EXPECT_THAT(world.requests([&] { world->set_partial_values(changes).value(); }),
              ElementsAre("get c0/0 19+64", "get c0/0 0+10", StartsWith("put c0/0 0+")));
  EXPECT_THAT(parts(world, {{first}, {world.key("c0/1")}, {world.key("c1/0")}, {world.key("c1/1")}}),
              ElementsAre("01X345YZ89tail", "abcdef", "GHIJ", "new"));
}

TEST(DraftTransformer, TreatsPartsThatCoverAFixedSizeChunkAsWhole) {
  World world(document());
  const std::string all(16, 'x');
  world.put({{"c2/2", all}, {"c3/2", all}});
  EXPECT_THAT(world.requests([&] {
    world
        ->set_partial_values(std::vector<KeyStartValue>{{world.key("c2/2"), 8, bytes_of("01234567")},
                                                        {world.key("c2/2"), 0, bytes_of("89abcdef")},
                                                        {world.key("c3/2"), 0, bytes_of("0123456789abcdef")}})
        .value();
  }),
              ElementsAre("put c1/1 0+96"));
  EXPECT_THAT(world.value("c2/2"), Optional(std::string("89abcdef01234567")));
}

TEST(DraftTransformer, RefusesPartsThatOverlapOrLeaveAGap) {
  World world(document());
  world.put({{"c0/0", "0123"}});
  const std::string first = world.key("c0/0");
  const auto refused = [&](const std::vector<KeyStartValue>& changes) {
    const auto done = world->set_partial_values(changes);
    return done ? "done" : done.error().text();
  };
  EXPECT_THAT(refused({{first, 1, bytes_of("ab")}, {first, 2, bytes_of("c")}}), HasSubstr("overlap"));
  EXPECT_THAT(refused({{"zarr.json", 1, bytes_of("ab")}, {"zarr.json", 0, bytes_of("cd")}}), HasSubstr("overlap"));
  EXPECT_THAT(refused({{first, 5, bytes_of("a")}}), HasSubstr("gap"));
  EXPECT_THAT(refused({{world.key("c1/1"), 1, bytes_of("a")}}), HasSubstr("gap"));
  EXPECT_THAT(refused({{"meta/new", 1, bytes_of("a")}}), HasSubstr("gap"));
  EXPECT_THAT(refused({{first, ~std::uint64_t{0}, bytes_of("ab")}}), HasSubstr("2^64"));
  EXPECT_THAT(world.value("c0/0"), Optional(std::string("0123")));
}

}  // namespace plan_test
}  // namespace sherd::draft::transformer_values_testing
