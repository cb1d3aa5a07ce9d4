// The operations of the sharding transformer on prefixes of keys, stacks of transformers, damaged shards, and random
// sequences of operations compared with a map.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "tests/draft2022/transformer_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::draft {
namespace prefix_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::StartsWith;

/// Arrays of chunks of 16 bytes with these transformers.
std::string array_of(std::string_view shape, std::string_view chunk, const std::string& list, char separator = '/') {
  const std::string grid = R"({"chunk_grid": {"type": "regular", "chunk_shape": )" + std::string(chunk) +
                           R"(, "separator": ")" + separator + R"("}, "shape": )" + std::string(shape) + "}";
  return changed(changed(kArray, grid), transformers(list));
}

// ---- prefixes

TEST(DraftTransformer, ErasesAWholeArrayWithOneRequest) {
  World world(document());
  world.put({{"c0/0", "a"}, {"c3/2", "b"}});
  world.store->set("data/root/ab/c0/0", "sibling").value();
  EXPECT_THAT(world.requests([&] { world->erase_prefix("data/root/a/").value(); }), ElementsAre("erase ."));
  EXPECT_THAT(world->list_prefix("data/").value(), ElementsAre("data/root/ab/c0/0"));
}

TEST(DraftTransformer, ErasesRowsOfWholeShardsWithOneRequest) {
  World world(document("[5, 5]"));  // 3 x 3 chunks: the last row of shards has one row of chunks
  world.put({{"c0/0", "a"}, {"c2/0", "b"}, {"c2/2", "c"}});
  EXPECT_THAT(world.requests([&] { world->erase_prefix(world.key("c2/")).value(); }), ElementsAre("erase c1/"));
  EXPECT_THAT(world->list_prefix("data/").value(), ElementsAre(world.key("c0/0")));
}

TEST(DraftTransformer, ErasesRowsInShardsByOneUpdateOfEach) {
  World world(document());
  world.put({{"c0/0", "a"}, {"c1/0", "b"}, {"c1/2", "c"}, {"c2/0", "d"}});
  EXPECT_THAT(world.requests([&] { world->erase_prefix(world.key("c1/")).value(); }),
              ElementsAre("list c0/", "get c0/0 2+64", "put c0/0 0+65", "get c0/1 1+64", "erase c0/1"));
  EXPECT_THAT(world->list_prefix("data/").value(), ElementsAre(world.key("c0/0"), world.key("c2/0")));
  EXPECT_THAT(world.requests([&] { world->erase_prefix(world.key("c1/")).value(); }),
              ElementsAre("list c0/", "get c0/0 1+64"));
}

TEST(DraftTransformer, ErasesPrefixesThatEndAnywhereInTheGrid) {
  World world(array_of("[80]", "[4]", indexed("[2]")));
  std::vector<std::pair<std::string, std::string>> all;
  for (int i = 0; i < 20; ++i) all.emplace_back("c" + std::to_string(i), std::to_string(i));
  world.put(all);
  world.store->set(world.key("c1x"), "no chunk").value();
  EXPECT_EQ(world->list_prefix(world.key("c1")).value().size(), 12U);
  const std::vector<std::string> log = world.requests([&] { world->erase_prefix(world.key("c1")).value(); });
  EXPECT_THAT(log, ElementsAre("list .", "get c0 2+32", "put c0 0+33", "erase c5", "erase c6", "erase c7", "erase c8",
                               "erase c9"));
  EXPECT_EQ(world->list_prefix(world.key("")).value().size(), 10U);
  EXPECT_EQ(world.value("c1"), std::nullopt);
  EXPECT_THAT(world.value("c2"), Optional(std::string("2")));
  world->erase_prefix(world.key("c2")).value();
  EXPECT_EQ(world.value("c2"), std::nullopt);
  EXPECT_EQ(code_of(world->erase_prefix("meta/ro")), ErrorCode::invalid_argument);
}

TEST(DraftTransformer, ListsTheKeysOfStoredChunks) {
  World world(document());
  world.put({{"c0/0", "a"}, {"c1/1", "b"}, {"c3/2", "c"}});
  world.store->set("data/root/a/notes", "x").value();
  world.store->set("data/root/b/c0/0", "x").value();
  EXPECT_THAT(world->list().value(),
              ElementsAre(world.key("c0/0"), world.key("c1/1"), world.key("c3/2"), world.key("notes"),
                          "data/root/b/c0/0", "meta/root/a.array.json", "zarr.json"));
  std::vector<std::string> keys;
  EXPECT_THAT(world.requests([&] { keys = world->list_prefix(world.key("c1/")).value(); }),
              ElementsAre("list c0/", "get c0/0 2+64"));
  EXPECT_THAT(keys, ElementsAre(world.key("c1/1")));
  EXPECT_THAT(world->list_prefix(world.key("c2/")).value(), IsEmpty());
  EXPECT_THAT(world->list_prefix(world.key("c3/2")).value(), ElementsAre(world.key("c3/2")));
  EXPECT_THAT(world->list_prefix(world.key("c9/")).value(), IsEmpty());
  EXPECT_THAT(world->list_prefix(world.key("c1/1/")).value(), IsEmpty());
  EXPECT_THAT(world->list_prefix("meta/").value(), ElementsAre("meta/root/a.array.json"));
}

TEST(DraftTransformer, ListsDirectoriesSomeOfThemEmpty) {
  World world(document("[5, 5]"));
  world.put({{"c0/0", "a"}, {"c0/2", "b"}, {"c2/2", "c"}});
  world.store->set(world.key("notes"), "x").value();
  world.store->set(world.key("c1x/y"), "x").value();
  draft2022::KeysAndPrefixes found;
  EXPECT_THAT(world.requests([&] { found = world->list_dir(world.key("")).value(); }), ElementsAre("list ."));
  EXPECT_THAT(found.keys, ElementsAre(world.key("notes")));
  EXPECT_THAT(found.prefixes, ElementsAre(world.key("c0/"), world.key("c1/"), world.key("c1x/"), world.key("c2/")));
  EXPECT_THAT(world.requests([&] { found = world->list_dir(world.key("c0/")).value(); }),
              ElementsAre("list c0/", "get c0/0 1+64", "get c0/1 1+64"));
  EXPECT_THAT(found.keys, ElementsAre(world.key("c0/0"), world.key("c0/2")));
  EXPECT_THAT(found.prefixes, IsEmpty());
  EXPECT_THAT(world->list_dir(world.key("c1/")).value().keys, IsEmpty());
  EXPECT_THAT(world->list_dir("data/root/").value().prefixes, ElementsAre("data/root/a/"));
  EXPECT_THAT(world->list_dir("").value().keys, ElementsAre("zarr.json"));
  EXPECT_EQ(code_of(world->list_dir("data")), ErrorCode::invalid_argument);
}

TEST(DraftTransformer, ListsDirectoriesOfThreeDimensionsAndOfDots) {
  World world(array_of("[4, 6, 4]", "[2, 2, 1]", indexed("[1, 2, 3]")));
  world.put({{"c1/1/3", "a"}});
  EXPECT_THAT(world->list_dir(world.key("")).value().prefixes, ElementsAre(world.key("c1/")));
  EXPECT_THAT(world->list_dir(world.key("c1/")).value().prefixes, ElementsAre(world.key("c1/0/"), world.key("c1/1/")));
  EXPECT_THAT(world->list_dir(world.key("c1/1/")).value().keys, ElementsAre(world.key("c1/1/3")));
  EXPECT_THAT(world->list_dir(world.key("c1/0/")).value().keys, IsEmpty());
  World dots(array_of("[8, 8]", "[2, 2]", indexed("[2, 2]"), '.'));
  dots.put({{"c0.0", "a"}, {"c3.2", "b"}});
  EXPECT_THAT(dots->list_dir(dots.key("")).value().keys, ElementsAre(dots.key("c0.0"), dots.key("c3.2")));
  EXPECT_THAT(dots->list_prefix(dots.key("c3.")).value(), ElementsAre(dots.key("c3.2")));
}

TEST(DraftTransformer, AcceptsBothKeysOfAScalarChunk) {
  World world(changed(array_of("[]", "[]", indexed("[]")), R"({"data_type": "<i4"})"));
  world.put({{"c0", "abcd"}});
  EXPECT_THAT(world.value("c"), Optional(std::string("abcd")));
  const std::vector<KeyStartValue> both{{world.key("c"), 1, bytes_of("X")}, {world.key("c0"), 2, bytes_of("Y")}};
  world->set_partial_values(both).value();
  EXPECT_THAT(world.value("c0"), Optional(std::string("aXYd")));
  EXPECT_THAT(world->list_prefix(world.key("")).value(), ElementsAre(world.key("c0")));
  world->erase_prefix(world.key("c")).value();
  EXPECT_EQ(world.value("c0"), std::nullopt);
}

// ---- stacks

/// 6 x 6 chunks; the transformer that faces the array gathers 2 x 1 of them, the other 1 x 2 of its shards, so that an
/// object holds 2 x 2 chunks in two shards.
std::string stacked() { return array_of("[6, 6]", "[1, 1]", indexed("[2, 1]") + ", " + indexed("[1, 2]"), '.'); }

TEST(DraftTransformer, OfAStackReadsOneIndexPerTransformerAndThenTheValues) {
  World world(stacked(), "c1/abc");
  world.put({{"c0.0", "aaaa"}, {"c1.0", "bbbb"}, {"c0.1", "cc"}, {"c5.5", "d"}});
  std::vector<std::optional<std::string>> values;
  EXPECT_THAT(world.requests([&] {
    values = world
                 ->get_partial_values(std::vector<KeyRange>{{world.key("c1.0"), {1, 2}},
                                                            {world.key("c0.1")},
                                                            {world.key("c1.1")},
                                                            {world.key("c5.5")},
                                                            {world.key("c4.4")}})
                 .value();
  }),
              ElementsAre("get c0.0 74+32", "get c0.0 8+32", "get c0.0 42+32", "get c2.2 33+32", "get c2.2 1+32",
                          "get c0.0 5+2", "get c0.0 40+2", "get c2.2 0+1"));
  EXPECT_THAT(values, ElementsAre("bb", "cc", std::nullopt, "d", std::nullopt));
}

TEST(DraftTransformer, OfAStackErasesAShardAndHalfOfAnother) {
  for (const EraseMode mode : {EraseMode::rewrite, EraseMode::in_place}) {
    World world(stacked(), "c1/abc", mode);
    std::vector<std::pair<std::string, std::string>> all;
    for (const char* chunk : {"c0.0", "c1.0", "c0.1", "c1.1", "c1.2"}) all.emplace_back(chunk, chunk);
    world.put(all);
    // Of object c0.0 the row c1. is one half; object c0.1 holds nothing else.
    EXPECT_THAT(world.requests([&] { world->erase_prefix(world.key("c1.")).value(); }),
                ElementsAre("list .", "get c0.0 80+32", "get c0.0 8+32", "get c0.0 48+32", "get c0.0 0+40",
                            "get c0.0 40+40", mode == EraseMode::rewrite ? "put c0.0 0+104" : "put c0.0 0+112",
                            "get c0.1 36+32", "get c0.1 4+32", "erase c0.1"));
    EXPECT_THAT(world->list_prefix(world.key("")).value(), ElementsAre(world.key("c0.0"), world.key("c0.1")));
    EXPECT_THAT(world.value("c0.1"), Optional(std::string("c0.1")));
    EXPECT_THAT(elements(open_array(world.store, {.path = "c1/abc"}).value())[0],
                'c' + ('0' << 8) + ('.' << 16) + ('0' << 24));
  }
}

TEST(DraftTransformer, OfAStackErasesWholeNestedShardsWithoutReading) {
  World world(stacked(), "c1/abc");
  world.put({{"c0.0", "a"}, {"c1.0", "b"}, {"c0.1", "c"}, {"c0.2", "d"}});
  EXPECT_THAT(world.requests(
                  [&] { world->erase_values(std::vector<std::string>{world.key("c0.0"), world.key("c1.0")}).value(); }),
              ElementsAre("get c0.0 67+32", StartsWith("put c0.0 0+")));
  EXPECT_THAT(world->list_prefix(world.key("")).value(), ElementsAre(world.key("c0.1"), world.key("c0.2")));
  EXPECT_THAT(world.requests([&] { world->erase_prefix("data/root/c1/abc/").value(); }), ElementsAre("erase ."));
}

// ---- damage

TEST(DraftTransformer, NamesTheCorruptSlotOfAShardAndReadsTheOthers) {
  struct Damage {
    const char* what;
    std::string shard;
  };
  const std::string chunks = "aaaabbbb";
  for (const Damage& damage :
       {Damage{"half-empty", chunks + words({0, kEmpty, 4, 4, kEmpty, kEmpty, kEmpty, kEmpty})},
        Damage{"half-empty", chunks + words({kEmpty, 4, 4, 4, kEmpty, kEmpty, kEmpty, kEmpty})},
        Damage{"beyond", chunks + words({0, 73, 4, 4, kEmpty, kEmpty, kEmpty, kEmpty})},
        Damage{"beyond", chunks + words({~std::uint64_t{1}, 4, 4, 4, kEmpty, kEmpty, kEmpty, kEmpty})}}) {
    World world(document());
    world.store->set(world.key("c0/0"), damage.shard).value();
    const auto read = world->get(world.key("c0/0"));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
    EXPECT_EQ(read.error().key(), world.key("c0/0"));
    EXPECT_EQ(read.error().slot(), 0U);
    EXPECT_THAT(read.error().text(), HasSubstr(damage.what));
    EXPECT_EQ(code_of(world->list()), ErrorCode::corrupt);
    EXPECT_THAT(world.value("c0/1"), Optional(std::string("bbbb")));
    EXPECT_EQ(world.value("c1/1"), std::nullopt);
    world->erase(world.key("c0/0")).value();
    EXPECT_EQ(world.value("c0/0"), std::nullopt);
    EXPECT_THAT(world.value("c0/1"), Optional(std::string("bbbb")));
  }
}

TEST(DraftTransformer, RefusesShardsThatAreTooShortAndReplacesThem) {
  for (const std::size_t size : {0U, 1U, 16U, 63U}) {
    World world(document());
    world.store->set(world.key("c1/1"), std::string(size, 'x')).value();
    EXPECT_EQ(code_of(world->get(world.key("c2/2"))), ErrorCode::corrupt);
    EXPECT_EQ(code_of(world->set(world.key("c2/2"), bytes_of("y"))), ErrorCode::corrupt);
    EXPECT_EQ(code_of(world->erase(world.key("c2/2"))), ErrorCode::corrupt);
    EXPECT_EQ(code_of(world->list()), ErrorCode::corrupt);
    world.put({{"c2/2", "y"}, {"c3/2", "z"}});
    EXPECT_THAT(world.value("c3/2"), Optional(std::string("z")));
  }
}

TEST(DraftTransformer, RefusesChunksThatAreLargerThanAnyEncoding) {
  World world(document());
  const std::string large(70000, 'x');
  world.store->set(world.key("c0/0"), large + words({0, 70000, 0, 3, kEmpty, kEmpty, kEmpty, kEmpty})).value();
  EXPECT_EQ(code_of(world->get(world.key("c0/0"))), ErrorCode::corrupt);
  EXPECT_THAT(world.value("c0/1"), Optional(std::string("xxx")));
}

TEST(DraftTransformer, OfAStackRefusesShardsInsideThatAreTooShortOrTooLong) {
  World world(stacked(), "c1/abc");
  world.put({{"c0.1", "good"}});
  std::string object = world.store->get(world.key("c0.0")).value().value();
  const std::string slots = words({0, 31, 0, object.size() - 32});
  world.store->set(world.key("c0.0"), object.replace(object.size() - 32, 32, slots)).value();
  const auto read = world->get(world.key("c1.0"));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("'data/root/c1/abc/c0.0'"));
  EXPECT_THAT(read.error().text(), HasSubstr("31 bytes"));
  EXPECT_EQ(code_of(world->set(world.key("c1.0"), bytes_of("x"))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(world->erase(world.key("c1.0"))), ErrorCode::corrupt);
  EXPECT_THAT(world.value("c0.1"), Optional(std::string("good")));

  const TempDir folder;
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
  const auto files = file_store(folder / "s").value();
  files->set("data/root/c0.0", words({0, kHuge - 32, kEmpty, kEmpty})).value();
  std::filesystem::resize_file(folder / "s/data/root/c0.0", kHuge - 32);
  std::ofstream(folder / "s/data/root/c0.0", std::ios::app) << words({0, kHuge - 32, kEmpty, kEmpty});
  auto huge = ShardingTransformer::make(files, parsed(stacked()), "").value();
  EXPECT_THAT(huge.get("data/root/c0.0").value(), Optional(std::string()));
  EXPECT_EQ(code_of(huge.set("data/root/c0.0", bytes_of("x"))), ErrorCode::unsupported);
  EXPECT_EQ(huge.erase("data/root/c0.0").error().slot(), 0U);
  std::vector<std::string> all;
  for (const char* chunk : {"c0.0", "c0.1", "c1.0", "c1.1"}) all.push_back("data/root/" + std::string(chunk));
  huge.erase_values(all).value();
  EXPECT_THAT(keys_of(*files), IsEmpty());
}

TEST(DraftTransformer, IsCreatedOnlyForArraysWithKnownTransformers) {
  const auto made = [](const std::string& text) {
    const auto transformer = ShardingTransformer::make(memory_store(), parsed(text), "x");
    return transformer ? "made" : std::string(to_string(transformer.error().code()));
  };
  EXPECT_EQ(made(document()), "made");
  EXPECT_EQ(made(std::string(kArray)), "invalid_argument");
  EXPECT_EQ(made(changed(kArray, transformers(indexed("[2, 2]", "https://example.org/other")))), "unsupported");
  EXPECT_EQ(made(R"({"attributes": {}})"), "invalid_argument");
  EXPECT_EQ(made(changed(kArray, transformers(indexed("[2, 2, 2]")))), "invalid_argument");
  const auto plain = hierarchy(kArray);
  EXPECT_EQ(code_of(ShardingTransformer::open(plain, "a")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(ShardingTransformer::open(plain, "b")), ErrorCode::not_found);
}

TEST(DraftTransformer, OfAnArrayForReadingChangesNothing) {
  World world(document());
  world.put({{"c0/0", "a"}});
  auto reading = ShardingTransformer::of(open_array(world.store, {.path = "a"}).value()).value();
  EXPECT_THAT(reading.get(world.key("c0/0")).value(), Optional(std::string("a")));
  EXPECT_EQ(code_of(reading.set(world.key("c0/0"), bytes_of("b"))), ErrorCode::invalid_argument);
  const std::vector<KeyStartValue> part{{world.key("c0/0"), 0, bytes_of("b")}};
  EXPECT_EQ(code_of(reading.set_partial_values(part)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(reading.erase(world.key("c0/0"))), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(reading.erase_prefix("")), ErrorCode::invalid_argument);
  EXPECT_THAT(world.value("c0/0"), Optional(std::string("a")));
}

TEST(DraftTransformer, OfADocumentNeedsNoHierarchyInTheStore) {
  const auto store = memory_store();
  auto transformer = ShardingTransformer::make(store, parsed(document()), "x/y").value();
  transformer.set("data/root/x/y/c3/2", bytes_of("z")).value();
  EXPECT_THAT(keys_of(*store), ElementsAre("data/root/x/y/c1/1"));
  EXPECT_THAT(transformer.list().value(), ElementsAre("data/root/x/y/c3/2"));
}

// ---- any sequence

using Model = std::map<std::string, std::string>;

std::vector<std::string> keys_below(const Model& model, const std::string& prefix) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : model)
    if (key.starts_with(prefix)) keys.push_back(key);
  return keys;
}

/// One operation, on both.
void act(World& world, Model& model, std::mt19937& random, const std::vector<std::string>& keys) {
  const auto below = [&](std::size_t n) { return random() % n; };
  const auto value = [&] { return std::string(below(20), static_cast<char>('a' + below(26))); };
  std::vector<std::string> some;
  for (std::size_t i = below(6) + 1; i > 0; --i) some.push_back(keys[below(keys.size())]);
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  switch (below(4)) {
    case 0: {
      std::vector<std::string> values;
      for (const auto& key : some) values.push_back(model[key] = value());
      std::vector<KeyValue> changes;
      for (std::size_t i = 0; i < some.size(); ++i) changes.push_back({some[i], bytes_of(values[i])});
      world->set_values(changes).value();
      break;
    }
    case 1: {
      std::vector<std::string> values;
      std::vector<std::uint64_t> starts;
      for (const auto& key : some) {
        std::string& old = model[key];
        starts.push_back(below(old.size() + 1));
        values.push_back(value());
        old =
            old.substr(0, starts.back()) + values.back() +
            (starts.back() + values.back().size() < old.size() ? old.substr(starts.back() + values.back().size()) : "");
      }
      std::vector<KeyStartValue> changes;
      for (std::size_t i = 0; i < some.size(); ++i) changes.push_back({some[i], starts[i], bytes_of(values[i])});
      world->set_partial_values(changes).value();
      break;
    }
    case 2:
      for (const auto& key : some) model.erase(key);
      world->erase_values(some).value();
      break;
    default: {
      const std::string prefix = some[0].substr(0, world.key("c").size() + below(4));
      for (const auto& key : keys_below(model, prefix)) model.erase(key);
      world->erase_prefix(prefix).value();
    }
  }
}

TEST(DraftTransformer, BehavesLikeAMapInAnySequence) {
  const std::vector<std::string> arrays{
      changed(document(), kGzip), changed(array_of("[13]", "[1]", indexed("[3]") + ", " + indexed("[2]")), kGzip),
      changed(
          array_of("[7, 12]", "[1, 1]", indexed("[1, 2]") + ", " + indexed("[2, 1]") + ", " + indexed("[2, 3]"), '.'),
          kGzip)};
  for (std::size_t which = 0; which < arrays.size(); ++which)
    for (const EraseMode mode : {EraseMode::rewrite, EraseMode::in_place}) {
      World world(arrays[which], "c1/abc", mode);
      const Shape counts[] = {{4, 3}, {13}, {7, 12}};
      std::vector<std::string> keys;
      for (std::uint64_t i = 0; i < *element_count(counts[which]); ++i) {
        const std::uint64_t columns = counts[which].back();
        keys.push_back(world.key(counts[which].size() == 1
                                     ? "c" + std::to_string(i)
                                     : "c" + std::to_string(i / columns) + (which == 0 ? "/" : ".") +
                                           std::to_string(i % columns)));
      }
      Model model;
      std::mt19937 random(static_cast<unsigned>(which));
      for (int step = 0; step < 300; ++step) {
        act(world, model, random, keys);
        std::vector<KeyRange> ranges;
        for (const auto& key : keys) ranges.push_back({key});
        const auto values = world->get_partial_values(ranges).value();
        for (std::size_t i = 0; i < keys.size(); ++i) {
          const auto expected = model.find(keys[i]);
          ASSERT_EQ(values[i], expected == model.end() ? std::nullopt : std::optional(expected->second))
              << keys[i] << " after step " << step;
        }
        const std::string prefix = keys[step % keys.size()].substr(0, world.key("c").size() + step % 3);
        ASSERT_EQ(world->list_prefix(prefix).value(), keys_below(model, prefix));
      }
    }
}

TEST(DraftTransformer, ThreadsThatShareAShardLoseNothing) {
  const TempDir folder;
  constexpr int kThreads = 16, kRounds = 20;
  const std::string text = array_of("[64]", "[4]", indexed("[16]"));
  auto transformer =
      ShardingTransformer::make(file_store(folder / "s", {.durable = false}).value(), parsed(text), "").value();
  const auto key = [](int thread) { return "data/root/c" + std::to_string(thread); };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread, mine = transformer]() mutable {
      for (int round = 0; round < kRounds; ++round) {
        if (round % 5 == 4) mine.erase(key(thread)).value();
        const std::string value = std::to_string(thread) + "." + std::to_string(round);
        mine.set(key(thread), bytes_of(value)).value();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (int thread = 0; thread < kThreads; ++thread)
    EXPECT_THAT(transformer.get(key(thread)).value(),
                Optional(std::to_string(thread) + "." + std::to_string(kRounds - 1)));
}

}  // namespace prefix_test
}  // namespace sherd::draft
