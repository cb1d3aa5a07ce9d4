// A store of ids is read: what is there, what is not, at what cost, and what is damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/endian.hpp"
#include "sherd/sharded_build.hpp"
#include "sherd/store.hpp"
#include "tests/neuroglancer/kv_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace ids_read_test {

using namespace kv_testing;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kMurmur = Uint64Sharding::Hash::murmurhash3_x86_128;

class EveryShardedStore : public testing::TestWithParam<Uint64Sharding> {};

TEST_P(EveryShardedStore, ReturnsAndListsWhatWasPut) {
  const auto store = memory_store();
  const ShardedStore ids = open(store, GetParam());
  EXPECT_TRUE(all_of(ids).empty());
  Values values = some_values(500);
  values[~std::uint64_t{0}] = "the last";
  values[7] = "";
  put(ids, values);
  EXPECT_EQ(all_of(ids), values);
  EXPECT_EQ(all_of(open(store, GetParam())), values) << "with nothing in the cache";
  EXPECT_EQ(ids.get(7).value(), "") << "present and empty";
  EXPECT_EQ(ids.get(1'000'000'007).value(), std::nullopt);
  EXPECT_TRUE(ids.contains(~std::uint64_t{0}).value());
  EXPECT_FALSE(ids.contains(1'000'000'007).value());
}

INSTANTIATE_TEST_SUITE_P(
    Shardings, EveryShardedStore,
    testing::Values(Uint64Sharding{}, Uint64Sharding{.shard_bits = 5},
                    Uint64Sharding{.preshift_bits = 3, .minishard_bits = 4, .gzip_data = true},
                    Uint64Sharding{.minishard_bits = 6, .shard_bits = 2, .hash = kMurmur},
                    Uint64Sharding{.preshift_bits = 64, .minishard_bits = 2, .shard_bits = 3},
                    Uint64Sharding{.preshift_bits = 63, .shard_bits = 64},
                    Uint64Sharding{
                        .minishard_bits = 3, .shard_bits = 3, .hash = kMurmur, .gzip_index = true, .gzip_data = true}));

TEST(ShardedStore, ListsByShardMinishardAndIdAndStopsOnRequest) {
  const ShardedStore ids = open(memory_store(), {.minishard_bits = 1, .shard_bits = 1});
  put(ids, {{0, "a"}, {1, "b"}, {2, "c"}, {3, "d"}, {4, "e"}, {5, "f"}});
  std::vector<std::uint64_t> seen;
  const auto visit = [&](std::uint64_t id, std::uint64_t bytes) {
    seen.push_back(id);
    EXPECT_EQ(bytes, 1U);
    return seen.size() % 6 != 0 && id != 3;
  };
  EXPECT_FALSE(ids.list(visit).value());
  EXPECT_THAT(seen, ElementsAre(0, 4, 1, 5, 2, 3));
}

TEST(ShardedStore, IgnoresForeignObjects) {
  const auto store = memory_store();
  const ShardedStore ids = open(store, {.shard_bits = 5});
  put(ids, {{1, "a"}});
  for (const char* key : {"info", "1.shard", "001.shard", "ff.shard", "0A.shard", "01.shard.bak", "01.data"})
    store->set(key, std::string_view("x")).value();
  EXPECT_EQ(all_of(ids), (Values{{1, "a"}}));
}

struct Cost {
  std::uint64_t requests = 0, bytes = 0;
};
template <class F>
Cost cost_of(Recorder& recorder, F&& run) {
  const auto before = recorder.stats();
  run();
  const auto after = recorder.stats();
  return {after.requests - before.requests, after.bytes_read - before.bytes_read};
}

/// 64 values of 100 kB in eight minishards, whose requests are counted.
struct Recorded {
  Recorded() {
    Values values;
    for (std::uint64_t id = 0; id < 64; ++id) values[id] = std::string(100'000, static_cast<char>(id));
    put(open_cold(), values);
  }
  [[nodiscard]] ShardedStore open_cold() const {
    ShardedStoreOptions options;
    options.config.recorder = recorder;
    return open(store, {.minishard_bits = 3}, options);
  }
  std::shared_ptr<Store> store = memory_store();
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
};

TEST(ShardedStore, ReadsWithThreeRequestsAndWithOneIfIndexesAreCached) {
  const Recorded recorded;
  const ShardedStore ids = recorded.open_cold();
  const auto get = [&](std::uint64_t id) { return [&ids, id] { ids.get(id).value(); }; };
  EXPECT_EQ(cost_of(*recorded.recorder, get(9)).requests, 3U) << "array, list, value";
  EXPECT_EQ(cost_of(*recorded.recorder, get(17)).requests, 1U) << "of the same minishard";
  EXPECT_EQ(cost_of(*recorded.recorder, get(10)).requests, 2U) << "of another one";
  EXPECT_EQ(cost_of(*recorded.recorder, get(73)).requests, 0U) << "not there, as the list says";
  EXPECT_EQ(cost_of(*recorded.recorder, [&] { EXPECT_TRUE(ids.contains(25).value()); }).requests, 0U);
}

TEST(ShardedStore, ReadsNeighboursTogetherAndMostOfAShardAtOnce) {
  const Recorded recorded;
  const auto requests = [&](const std::vector<std::uint64_t>& wanted) {
    const ShardedStore ids = recorded.open_cold();
    return cost_of(*recorded.recorder, [&] { ids.get_many(wanted).value(); }).requests;
  };
  EXPECT_EQ(requests({8, 16, 24}), 3U) << "neighbours of one minishard";
  EXPECT_EQ(requests({8, 24, 9}), 5U) << "three values apart from each other";
  std::vector<std::uint64_t> most;
  for (std::uint64_t id = 0; id < 64; ++id)
    if (id % 3 != 0) most.push_back(id);
  EXPECT_EQ(requests(most), 3U) << "one read for the values";
}

TEST(ShardedStore, ReadsInBoundedMemoryAndInParallel) {
  const auto store = memory_store();
  const Uint64Sharding sharding{.minishard_bits = 2, .shard_bits = 2, .gzip_data = true};
  const Values values = some_values(3000);
  put(open(store, sharding), values);
  ShardedStoreOptions options;
  options.config.memory_budget = 1000;
  options.config.threads = 8;
  options.config.cache_bytes = 0;
  EXPECT_EQ(all_of(open(store, sharding, options)), values);
}

TEST(ShardedStore, ReadsLegacyIndexAndDataFiles) {
  const auto store = memory_store();
  const Uint64Sharding sharding{.minishard_bits = 2, .gzip_index = true};
  const Values values = some_values(100);
  put(open(store, sharding), values);
  const std::string shard = store->get("0.shard").value().value();
  store->set("0.index", std::string_view(shard).substr(0, 64)).value();
  store->set("0.data", std::string_view(shard).substr(64)).value();
  store->erase("0.shard").value();
  const ShardedStore ids = open(store, sharding);
  EXPECT_EQ(all_of(ids), values);
  store->set("0.index", std::string_view(shard).substr(0, 48)).value();
  const auto cut = ids.get(3);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(cut.error().key(), "0.index");
  store->erase("0.data").value();
  EXPECT_THAT(ids.get(3).error().text(), HasSubstr("0.data does not exist"));
}

// ---- damage ----

Error error_of(const ShardedStore& ids, std::uint64_t id) {
  const auto got = ids.get(id);
  EXPECT_FALSE(got) << id;
  return got ? invalid_argument("") : got.error();
}

TEST(ShardedStore, ReportsAnEmptyOrShortShardAsCorruptAndNamesIt) {
  const auto store = memory_store();
  const ShardedStore ids = open(store, {.minishard_bits = 2});
  for (const std::size_t size : {0U, 1U, 63U}) {
    store->set("0.shard", std::string(size, '\0')).value();
    const Error error = error_of(ids, 5);
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_EQ(error.key(), "0.shard");
    EXPECT_FALSE(ids.list([](std::uint64_t, std::uint64_t) { return true; }).has_value());
  }
  store->set("0.shard", std::string(64, '\0')).value();
  EXPECT_EQ(ids.get(5).value(), std::nullopt) << "all minishards empty";
}

TEST(ShardedStore, AllocatesNothingForAnImplausibleSize) {
  const TempDir dir;
  const auto store = file_store(dir.path()).value();
  const ShardedStore ids = open(store, Uint64Sharding{});
  put(ids, {{1, "abcd"}});
  std::string shard = store->get("0.shard").value().value();
  store_little(reinterpret_cast<std::byte*>(shard.data()) + 20 + 16, std::uint64_t{1} << 40);
  store->set("0.shard", shard).value();
  EXPECT_EQ(error_of(ids, 1).code(), ErrorCode::corrupt) << "it reaches beyond the shard";
  std::filesystem::resize_file(dir.path() + "/0.shard", std::uintmax_t{4} << 40);
  const Error error = error_of(ids, 1);
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_THAT(error.message(), HasSubstr("chunk_bytes"));
}

class GzipMembers : public testing::Test {
 protected:
  /// A shard of the value "value" under 1, with more bytes behind its gzip member than there should be.
  std::string with_more(const std::string& more) {
    const ShardedStore ids = open(store_, sharding_);
    put(ids, {{1, "value"}});
    const std::string shard = store_->get("0.shard").value().value();
    const auto* entry = reinterpret_cast<const std::byte*>(shard.data());
    const auto start = load_little<std::uint64_t>(entry);
    const std::string value = shard.substr(16, start), extra = more == "again" ? value : more;
    std::string changed(16, '\0');
    changed += value + extra;
    const std::uint64_t words[] = {1, 0, value.size() + extra.size()};
    auto* head = reinterpret_cast<std::byte*>(changed.data());
    store_little(head, std::uint64_t{changed.size() - 16});
    store_little(head + 8, std::uint64_t{changed.size() - 16 + sizeof words});
    changed.append(reinterpret_cast<const char*>(words), sizeof words);
    store_->set("0.shard", changed).value();
    return value;
  }
  std::shared_ptr<Store> store_ = memory_store();
  Uint64Sharding sharding_{.gzip_data = true};
};

TEST_F(GzipMembers, MustBeASingleOneWithoutTrailingBytes) {
  with_more("");
  EXPECT_EQ(open(store_, sharding_).get(1).value(), "value");
  for (const char* more : {"again", "x", "\0\0\0\0"}) {
    with_more(more[0] == 0 ? std::string(4, '\0') : more);
    const Error error = error_of(open(store_, sharding_), 1);
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << more;
    EXPECT_THAT(error.message(), HasSubstr("chunk 1: gzip: trailing bytes"));
  }
}

TEST_F(GzipMembers, AnEmptyOneIsCorrupt) {
  put(open(store_, Uint64Sharding{}), {{1, ""}});
  EXPECT_EQ(error_of(open(store_, sharding_), 1).code(), ErrorCode::corrupt);
}

TEST_F(GzipMembers, OfAMinishardIndexMustBeASingleOne) {
  sharding_ = {.gzip_index = true};
  put(open(store_, sharding_), {{1, "value"}});
  std::string shard = store_->get("0.shard").value().value();
  auto* end = reinterpret_cast<std::byte*>(shard.data()) + 8;
  store_little(end, load_little<std::uint64_t>(end) + 1);
  store_->set("0.shard", shard + "x").value();
  const Error error = error_of(open(store_, sharding_), 1);
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_THAT(error.message(), HasSubstr("minishard 0: gzip: trailing bytes"));
}

TEST_F(GzipMembers, CannotGrowBeyondTheLimit) {
  put(open(store_, sharding_), {{1, std::string(100'000, 'a')}});
  ShardedStoreOptions options;
  options.config.limits.chunk_bytes = 99'999;
  const Error error = error_of(open(store_, sharding_, options), 1);
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
}

// ---- where the sharding is found ----

TEST(ShardedStore, FindsItsShardingInTheInfoDocument) {
  const TempDir dir;
  const std::string sharding = Uint64Sharding{.minishard_bits = 1}.json().dump();
  const auto info = [&](const std::string& directory, const std::string& text) {
    file_store(dir.path() + directory).value()->set("info", text).value();
  };
  info("/skeletons", R"({"@type": "neuroglancer_skeletons", "sharding": )" + sharding + "}");
  info("/volume", R"({"scales": [{"key": "4_4_40", "sharding": )" + sharding + R"(}, {"key": "8_8_40"}]})");
  info("/annotations", R"({"by_id": {"key": "by_id", "sharding": )" + sharding +
                           R"(}, "spatial": [{"key": "spatial0", "sharding": )" + sharding + "}]}");
  info("/plain", R"({"@type": "neuroglancer_skeletons", "sharding": null})");
  const auto open_at = [&](const std::string& path) { return ShardedStore::open(dir.path() + path); };
  EXPECT_EQ(open_at("/skeletons").value().sharding().dump(), sharding);
  EXPECT_EQ(open_at("/volume/4_4_40").value().sharding().dump(), sharding) << "of the document above";
  EXPECT_THAT(open_at("/volume").value().url(), HasSubstr("/volume/4_4_40")) << "the only sharded part";
  EXPECT_EQ(open_at("/annotations/spatial0").value().sharding().dump(), sharding);
  const auto several = open_at("/annotations");
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(several.error().message(), HasSubstr("(spatial0, by_id); open the URL of one of them"));
  EXPECT_EQ(open_at("/plain").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(open_at("/volume/8_8_40").error().code(), ErrorCode::not_found);
  EXPECT_EQ(open_at("/nowhere").error().code(), ErrorCode::not_found);
  EXPECT_EQ(ShardedStore::open(memory_store()).error().code(), ErrorCode::not_found);
}

TEST(ShardedStore, RefusesWritesWithAShardingOtherThanItsInfo) {
  const TempDir dir;
  const Uint64Sharding said{.minishard_bits = 1, .shard_bits = 2};
  const std::string sharding = said.json().dump();
  const auto info = [&](const std::string& directory, const std::string& text) {
    file_store(dir.path() + directory).value()->set("info", text).value();
  };
  info("/skeletons", R"({"@type": "neuroglancer_skeletons", "sharding": )" + sharding + "}");
  info("/volume", R"({"scales": [{"key": "8_8_40"}, {"key": "./4/", "sharding": )" + sharding + "}]}");
  info("/marks", R"({"relationships": [{"key": "cell", "sharding": )" + sharding + R"(}], "by_id": {"key": "by_id",
                     "sharding": )" +
                     sharding + "}}");
  const auto refusal = [&](const std::string& path, const Uint64Sharding& given) {
    const std::string url = dir.path() + path;
    const auto store = ShardedStore::open(url, given.json(), {.writable = true});
    const auto builder = neuroglancer::ShardedBuilder::create(url, given.json());
    EXPECT_EQ(store.has_value(), builder.has_value());
    EXPECT_TRUE(ShardedStore::open(url, given.json())) << "reading is harmless";
    if (store || builder) return std::string();
    EXPECT_EQ(store.error().code(), ErrorCode::conflict);
    EXPECT_EQ(store.error().text(), builder.error().text());
    EXPECT_THAT(store.error().key(), testing::EndsWith("info"));
    return store.error().member();
  };
  const std::vector<Uint64Sharding> others{{.minishard_bits = 2, .shard_bits = 1},
                                           {.minishard_bits = 1, .shard_bits = 2, .gzip_index = true},
                                           {.minishard_bits = 1, .shard_bits = 2, .gzip_data = true}};
  for (const Uint64Sharding& other : others) {
    EXPECT_EQ(refusal("/skeletons", other), "sharding");
    EXPECT_EQ(refusal("/volume/4", other), "scales[1].sharding");
    EXPECT_EQ(refusal("/marks/cell", other), "relationships[0].sharding");
    EXPECT_EQ(refusal("/marks/by_id", other), "by_id.sharding");
    EXPECT_EQ(refusal("/volume/new", other), "") << "which the document does not mention";
  }
  for (const char* path : {"/skeletons", "/volume/4", "/marks/cell", "/marks/by_id"})
    EXPECT_EQ(refusal(path, said), "");
  const Json shorter = *Json::parse(R"({"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity",
                                        "shard_bits": 2.0, "minishard_bits": 1, "preshift_bits": 0})");
  EXPECT_TRUE(ShardedStore::open(dir.path() + "/skeletons", shorter, {.writable = true}));
}

TEST(ShardedStore, NamesTheMemberOfAWrongSharding) {
  const auto refused = ShardedStore::open(memory_store(), Json(Json::Object{{"@type", "zarr"}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().member(), "sharding.@type");
}

}  // namespace ids_read_test
}  // namespace sherd
