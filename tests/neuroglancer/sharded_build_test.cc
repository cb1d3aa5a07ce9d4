// Building shards of ids from values in any order.
#include "tests/neuroglancer/sharded_build_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::kv_testing::sharded_build_testing {
namespace sharded_build_test {

using neuroglancer::BuildOptions;
using neuroglancer::ShardedBuilder;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST_P(ShardedBuild, StoresEveryValueUnderItsId) {
  const Values values = some_values(5000, 40);
  EXPECT_EQ(values_of(built(GetParam(), values, ids_of(values)), GetParam()), values);
}

INSTANTIATE_TEST_SUITE_P(
    Shardings, ShardedBuild,
    testing::Values(Uint64Sharding{}, Uint64Sharding{.minishard_bits = 3, .shard_bits = 2},
                    Uint64Sharding{.preshift_bits = 60, .minishard_bits = 1, .shard_bits = 3, .gzip_index = true},
                    Uint64Sharding{.minishard_bits = 16, .shard_bits = 1, .hash = kMurmur},
                    Uint64Sharding{.minishard_bits = 6, .shard_bits = 7, .hash = kMurmur, .gzip_data = true},
                    Uint64Sharding{.minishard_bits = 4, .hash = kMurmur, .gzip_index = true, .gzip_data = true}));

TEST(ShardedBuild, AcceptsValuesFromManyThreadsAndInBatches) {
  const Values values = some_values(20000, 900);
  const Uint64Sharding sharding{.minishard_bits = 3, .shard_bits = 2, .hash = kMurmur, .gzip_data = true};
  const auto ids = ids_of(values);
  const Tree expected = built(sharding, values, ids);
  const auto store = memory_store();
  ShardedBuilder builder = builder_of(store, sharding, with_memory(kMinMemory));
  std::vector<std::jthread> threads;
  for (std::size_t part = 0; part < 4; ++part)
    threads.emplace_back([&, part] {
      std::vector<ShardedBuilder::Value> batch;
      for (std::size_t i = part; i < ids.size(); i += 4) {
        if (i % 3 == 0)
          add(builder, ids[i], values.at(ids[i])).value();
        else
          batch.push_back({ids[i], as_bytes(values.at(ids[i]))});
      }
      builder.add(batch).value();
    });
  threads.clear();
  builder.finish().value();
  EXPECT_TRUE(tree_of(*store) == expected);
}

TEST(ShardedBuild, AcceptsValuesLargerThanItsMemory) {
  const Values values{{1, "a"}, {2, std::string(5 << 20, 'b')}, {3, std::string(20 << 20, 'c')}, {4, "d"}};
  for (const bool gzip : {false, true}) {
    const Uint64Sharding sharding{.minishard_bits = 1, .gzip_data = gzip};
    const Tree objects = built(sharding, values, {3, 1, 4, 2}, with_memory(kMinMemory));
    EXPECT_TRUE(values_of(objects, sharding) == values);
    EXPECT_TRUE(objects == built(sharding, values, {1, 2, 3, 4}, with_memory(std::uint64_t{1} << 30)));
  }
}

TEST(ShardedBuild, DoesNotBeginIfItIsUnknownWhatIsBeforeValues) {
  const auto store = std::make_shared<TestStore>(memory_store());
  store->set("info", R"({"@type": "neuroglancer_multilod_draco"})").value();
  store->fail_at("info", Op::read);
  const Json sharding = Uint64Sharding{}.json();
  const neuroglancer::ShardedStoreOptions writable{.writable = true};
  EXPECT_EQ(ShardedBuilder::create(store, sharding, {}).error().code(), ErrorCode::io);
  EXPECT_EQ(neuroglancer::ShardedStore::open(store, sharding, writable).error().code(), ErrorCode::io);
}

TEST(ShardedBuild, WritesNothingIfAnIdIsRepeated) {
  const Values values = some_values(60000, 600);
  for (const std::uint64_t memory : {std::uint64_t{1} << 30, kMinMemory}) {
    const auto store = memory_store();
    ShardedBuilder builder = builder_of(store, {.minishard_bits = 2, .shard_bits = 3}, with_memory(memory));
    for (const auto& [id, bytes] : values) add(builder, id, bytes).value();
    add(builder, values.rbegin()->first, "again").value();
    const auto refused = builder.finish();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().text(), HasSubstr("the id 18446744073709551615 was given twice"));
    EXPECT_THAT(tree_of(*store), IsEmpty());
  }
}

TEST(ShardedBuild, ReplacesShardsOnlyIfAllowed) {
  const auto store = memory_store();
  const Uint64Sharding sharding{.shard_bits = 2};
  store->set("2.shard", "old").value();
  store->set("3.shard", "other").value();
  const auto build = [&](bool overwrite) {
    ShardedBuilder builder = builder_of(store, sharding, {.overwrite = overwrite});
    for (const std::uint64_t id : {0U, 1U, 2U}) add(builder, id, "new").value();
    return builder.finish();
  };
  const auto refused = build(false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(refused.error().key(), "2.shard");
  EXPECT_EQ(tree_of(*store), (Tree{{"2.shard", "old"}, {"3.shard", "other"}}));
  EXPECT_EQ(build(true).value().shards, 3U);
  Tree objects = tree_of(*store);
  EXPECT_EQ(objects["3.shard"], "other") << "no id of this build leads there";
  objects.erase("3.shard");
  EXPECT_EQ(values_of(objects, sharding), (Values{{0, "new"}, {1, "new"}, {2, "new"}}));
}

TEST(ShardedBuild, CountsLegacyFilesAsAShard) {
  const auto store = memory_store();
  store->set("0.index", "old").value();
  ShardedBuilder builder = builder_of(store, {});
  add(builder, 1, "new").value();
  const auto refused = builder.finish();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(refused.error().key(), "0.index");
}

TEST(ShardedBuild, ErasesItsShardsIfWritingFails) {
  const auto beneath = memory_store();
  beneath->set("info", "{}").value();
  for (const std::uint64_t memory : {std::uint64_t{1} << 30, kMinMemory}) {
    const auto store = std::make_shared<TestStore>(beneath);
    ShardedBuilder builder = builder_of(store, {.shard_bits = 4}, with_memory(memory));
    for (const auto& [id, bytes] : some_values(60000, 600)) add(builder, id, bytes).value();
    store->fail_from(7);
    const auto failed = builder.finish();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), ErrorCode::io);
    EXPECT_THAT(failed.error().key(), HasSubstr(".shard"));
    EXPECT_EQ(tree_of(*beneath), (Tree{{"info", "{}"}}));
  }
}

TEST(ShardedBuild, NamesWhatIsWrongWithItsParameters) {
  const auto store = memory_store();
  const auto code_of = [&](const Json& sharding, BuildOptions options = {}) {
    return ShardedBuilder::create(store, sharding, std::move(options)).error().code();
  };
  const Json good = Uint64Sharding{}.json();
  EXPECT_EQ(code_of(Json()), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(good, with_memory(kMinMemory - 1)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(Uint64Sharding{.minishard_bits = 32}.json()), ErrorCode::unsupported) << "64 GiB of index";
  EXPECT_EQ(ShardedBuilder::create("ftp://somewhere", good).error().code(), ErrorCode::unsupported);
}

TEST(ShardedBuild, RefusesValuesThatCouldNotBeReadBack) {
  const Uint64Sharding sharding{.gzip_data = true};
  BuildOptions options;
  options.config.limits.chunk_bytes = 1000;
  const std::string largest(1000, 'x'), larger(1001, 'x');
  const auto refusal = [&](const ShardedBuilder::Value& value) {
    const auto store = memory_store();
    ShardedBuilder builder = builder_of(store, sharding, options);
    const Error error = builder.add(value).error();
    EXPECT_EQ(builder.finish().error().code(), error.code());
    EXPECT_THAT(tree_of(*store), IsEmpty());
    EXPECT_THAT(error.text(), HasSubstr("id 7"));
    return std::pair(error.code(), error.text());
  };
  EXPECT_THAT(refusal({.id = 7, .bytes = as_bytes(larger)}), Pair(ErrorCode::unsupported, HasSubstr("chunk_bytes")));
  EXPECT_THAT(refusal({.id = 7, .bytes = {}, .preceding = as_bytes(larger)}),
              Pair(ErrorCode::unsupported, HasSubstr("chunk_bytes")));
  options.preceding = [](std::span<const std::byte> value) { return Result<std::uint64_t>(value.size()); };
  EXPECT_THAT(refusal({.id = 7, .bytes = as_bytes(largest)}),
              Pair(ErrorCode::invalid_argument, HasSubstr("0 bytes before it, and 1000 belong")));
  const auto store = memory_store();
  ShardedBuilder builder = builder_of(store, sharding, options);
  builder.add({.id = 7, .bytes = as_bytes(largest), .preceding = as_bytes(largest)}).value();
  builder.finish().value();
  const auto values = neuroglancer::ShardedStore::open(store, sharding.json(),
                                                       {.preceding = options.preceding, .config = options.config})
                          .value();
  EXPECT_EQ(values.get(7).value(), largest);
  EXPECT_EQ(values.get_preceding(7).value(), largest);
}

TEST(ShardedBuild, AcceptsNothingAfterFinish) {
  ShardedBuilder builder = builder_of(memory_store(), {});
  builder.finish().value();
  EXPECT_EQ(add(builder, 1, "late").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(builder.finish().error().code(), ErrorCode::invalid_argument);
}

TEST(ShardedBuild, LeavesNothingWhenInterrupted) {
  for (const std::uint64_t memory : {std::uint64_t{1} << 30, kMinMemory}) {
    const auto store = memory_store();
    bool stop = false;
    BuildOptions options = with_memory(memory);
    options.config.interrupted = [&] { return stop; };
    ShardedBuilder builder = builder_of(store, {.shard_bits = 9}, options);
    for (const auto& [id, bytes] : some_values(60000, 600)) add(builder, id, bytes).value();
    stop = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));  // it is asked so often
    EXPECT_EQ(builder.finish().error().code(), ErrorCode::unavailable);
    EXPECT_THAT(tree_of(*store), IsEmpty());
  }
}

TEST(ShardedBuild, ReportsProgressInBytesOfValues) {
  std::vector<Progress> reports;
  BuildOptions options = with_memory(kMinMemory, 1);
  options.config.progress = [&](const Progress& progress) { reports.push_back(progress); };
  ShardedBuilder builder = builder_of(memory_store(), {.shard_bits = 9}, options);
  const std::string value(100, 'v');
  for (std::uint64_t id = 0; id < 400000; ++id) add(builder, scrambled(id), value).value();
  EXPECT_THAT(reports, IsEmpty()) << "how much there will be is not known yet";
  builder.finish().value();
  ASSERT_THAT(reports, testing::Not(IsEmpty()));
  for (const Progress& report : reports) EXPECT_EQ(report.total, 40000000U);
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end(),
                             [](const Progress& a, const Progress& b) { return a.done < b.done; }));
  EXPECT_EQ(reports.back().done, 40000000U);
}

TEST(ShardedBuild, LeavesNothingButShardsInItsDirectories) {
  const TempDir destination, elsewhere;
  for (const bool chosen : {false, true}) {
    BuildOptions options = with_memory(kMinMemory);
    if (chosen) options.temporary = elsewhere.path();
    const auto store = file_store(destination / (chosen ? "a/b" : "c"), options.config).value();
    ShardedBuilder builder = builder_of(store, {.minishard_bits = 3}, options);
    for (const auto& [id, bytes] : some_values(60000, 600)) add(builder, id, bytes).value();
    EXPECT_THAT(elsewhere.contents(), IsEmpty());
    EXPECT_EQ(destination.contents(), chosen ? (std::set<std::string>{"c", "c/0.shard"}) : std::set<std::string>{})
        << "a temporary file has no name";
    builder.finish().value();
  }
  EXPECT_EQ(destination.contents(), (std::set<std::string>{"a", "a/b", "a/b/0.shard", "c", "c/0.shard"}));
}

TEST(ShardedBuild, NamesTheDirectoryWhereNoTemporaryFileCanBeCreated) {
  BuildOptions options = with_memory(kMinMemory);
  options.temporary = "/proc/self";
  ShardedBuilder builder = builder_of(memory_store(), {}, options);
  const std::string value(1 << 20, 'v');
  Result<void> added;
  for (std::uint64_t id = 0; id < 10 && added; ++id) added = add(builder, id, value);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code(), ErrorCode::io);
  EXPECT_EQ(builder.finish().error().text(), added.error().text()) << "what is missing would not be noticed";
  EXPECT_THAT(added.error().text(), HasSubstr("/proc/self"));
}

TEST(ShardedBuild, WithoutValuesWritesNothing) { EXPECT_THAT(built({}, {}, {}), IsEmpty()); }

}  // namespace sharded_build_test
}  // namespace sherd::kv_testing::sharded_build_testing
