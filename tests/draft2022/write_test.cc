// The operations of the sharding transformer that change values: what each stores, and which requests it makes.
#include "tests/draft2022/transformer_values_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::draft::transformer_values_testing {
namespace write_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::StartsWith;

TEST(DraftTransformer, RefusesValuesThatAreNotChunksOfTheArray) {
  World world(document());
  const auto far = world->set(world.key("c4/0"), bytes_of("x"));
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(far.error().key(), world.key("c4/0"));
  const auto large = world->set(world.key("c0/0"), bytes_of(std::string(70000, 'x')));
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().text(), HasSubstr("70000"));
  const std::vector<KeyValue> twice{{world.key("c0/0"), bytes_of("x")}, {world.key("c0/0"), bytes_of("y")}};
  EXPECT_EQ(code_of(world->set_values(twice)), ErrorCode::invalid_argument);
  EXPECT_THAT(world->list_prefix("data/").value(), IsEmpty());
  EXPECT_EQ(world.value("c9/9"), std::nullopt);
  world->erase(world.key("c9/9")).value();
}

TEST(DraftTransformer, ErasesByRewriteOrInPlace) {
  for (const EraseMode mode : {EraseMode::rewrite, EraseMode::in_place}) {
    World world(document(), "a", mode);
    world.put({{"c0/0", "aaaa"}, {"c0/1", "bb"}, {"c1/0", "ccc"}});
    EXPECT_THAT(world.requests([&] { world->erase(world.key("c0/1")).value(); }),
                ElementsAre("get c0/0 9+64", StartsWith("put c0/0 0+")));
    const std::string rewritten = "aaaaccc" + words({0, 4, kEmpty, kEmpty, 4, 3, kEmpty, kEmpty});
    const std::string in_place = std::string("aaaa\0\0ccc", 9) + words({0, 4, kEmpty, kEmpty, 6, 3, kEmpty, kEmpty});
    EXPECT_EQ(world.store->get(world.key("c0/0")).value(), mode == EraseMode::rewrite ? rewritten : in_place);
    world->erase_values(std::vector<std::string>{world.key("c0/0"), world.key("c1/0")}).value();
    EXPECT_EQ(world.store->get(world.key("c0/0")).value(), std::nullopt);
  }
}

TEST(DraftTransformer, FillsWhatWasErasedInPlaceAgain) {
  World world(document(), "a", EraseMode::in_place);
  world.put({{"c0/0", "aaaa"}, {"c0/1", "bbbb"}, {"c1/0", "cccc"}});
  world->erase(world.key("c0/1")).value();
  world.put({{"c1/1", "dddd"}});
  EXPECT_THAT(world.store->get(world.key("c0/0")).value(), Optional(StartsWith("aaaaddddcccc")));
  EXPECT_THAT(world.value("c1/0"), Optional(std::string("cccc")));
}

TEST(DraftTransformer, ErasesFullyNamedShardsWithoutReading) {
  World world(document());
  world.put({{"c0/0", "a"}, {"c2/2", "b"}, {"c3/2", "c"}});
  EXPECT_THAT(world.requests([&] {
    world->erase_values(std::vector<std::string>{world.key("c3/2"), world.key("c2/2"), world.key("c3/2")}).value();
  }),
              ElementsAre("erase c1/1"));
  EXPECT_THAT(world->list_prefix("data/").value(), ElementsAre(world.key("c0/0")));
}

TEST(DraftTransformer, ErasingAMissingChunkWritesNothing) {
  World world(document());
  world.put({{"c0/0", "a"}});
  EXPECT_THAT(world.requests([&] {
    world->erase_values(std::vector<std::string>{world.key("c0/1"), world.key("c1/0"), world.key("c3/0")}).value();
  }),
              ElementsAre("get c0/0 1+64", "get c1/0 0+0"));
}

}  // namespace write_test
}  // namespace sherd::draft::transformer_values_testing
