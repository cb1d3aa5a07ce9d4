// The operations of the sharding transformer on values: what each returns, and which requests it makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <limits>

#include "tests/draft2022/transformer_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::draft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::StartsWith;

/// While this exists, the process may open at most 128 files.
class FewFiles {
 public:
  FewFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{128, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// ---- reading

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

// ---- writing

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

TEST(DraftTransformer, ReadsTheIndexAndMovesTheOtherChunksOfAShardThatIsSetInPart) {
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

TEST(DraftTransformer, AChunkOfZeroBytesExists) {
  World world(document());
  world.put({{"c0/0", ""}});
  EXPECT_THAT(world.value("c0/0"), Optional(std::string()));
  EXPECT_THAT(world->list_prefix("data/").value(), ElementsAre(world.key("c0/0")));
}

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

// ---- erasing

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

}  // namespace
}  // namespace sherd::draft
