// Round trips that reads of values by id and of sharded volumes wait for where requests have latency.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "sherd/sherd.hpp"
#include "tests/neuroglancer/dual_format_testing.hpp"
#include "tests/neuroglancer/kv_testing.hpp"
#include "tests/store/round_trips.hpp"

namespace sherd {
namespace latency_test {

using namespace kv_testing;

constexpr auto kMurmur = Uint64Sharding::Hash::murmurhash3_x86_128;

class LatencyOfIds : public ::testing::Test {
 protected:
  void expect_values(const ShardedStore& ids, const Values& values, std::uint64_t rounds) {
    std::vector<std::uint64_t> wanted;
    for (const auto& [id, value] : values) wanted.push_back(id);
    store_->reset();
    const auto read = ids.get_many(wanted).value();
    EXPECT_EQ(store_->rounds, rounds);
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(read[i], values.at(wanted[i])) << wanted[i];
  }

  std::shared_ptr<Store> memory_ = memory_store();
  std::shared_ptr<RoundTrips> store_ = slow_store(memory_);
};

TEST_F(LatencyOfIds, FiveHundredAndTwelveValuesOfFewShardsTakeThreeRoundTrips) {
  const Uint64Sharding sharding{.minishard_bits = 4, .shard_bits = 3, .hash = kMurmur, .gzip_index = true};
  const Values values = some_values(512);
  put(open(memory_, sharding), values);
  const ShardedStore ids = open(store_, sharding);
  expect_values(ids, values, 3);
  expect_values(ids, values, 1);
}

TEST_F(LatencyOfIds, ValuesInDifferentShardsTakeThreeRoundTripsPerThirtyTwo) {
  const Uint64Sharding sharding{.shard_bits = 12, .hash = kMurmur};
  Values values;
  std::set<std::uint64_t> shards;
  for (std::uint64_t id = 0; shards.size() < 512; ++id)
    if (shards.insert(sharding.locate(id).shard).second) values[id] = std::to_string(id);
  put(open(memory_, sharding), values);
  const ShardedStore ids = open(store_, sharding);
  expect_values(ids, values, 3 * 512 / kParallel);
  expect_values(ids, values, 512 / kParallel);
}

TEST_F(LatencyOfIds, ValuesThatAreMissingAreAskedForTogether) {
  const Uint64Sharding sharding{.minishard_bits = 2, .shard_bits = 6, .hash = kMurmur};
  const ShardedStore ids = open(store_, sharding);
  std::vector<std::uint64_t> wanted(512);
  std::iota(wanted.begin(), wanted.end(), 1U);
  store_->reset();
  const auto values = ids.get_many(wanted).value();
  for (const auto& value : values) EXPECT_EQ(value, std::nullopt);
  EXPECT_EQ(store_->rounds, 4U) << "no shard exists, under neither of its two names";
}

TEST_F(LatencyOfIds, OneValueTakesThreeRequestsAndOneIfItsListIsCached) {
  const Uint64Sharding sharding{.minishard_bits = 3};
  const Values values{{1, "a"}, {2, "b"}, {9, "c"}};
  put(open(memory_, sharding), values);
  const ShardedStore ids = open(store_, sharding);
  const auto requests = [&](auto&& read) {
    store_->reset();
    read();
    return store_->requests.load();
  };
  EXPECT_EQ(requests([&] { EXPECT_EQ(ids.get(1).value(), "a"); }), 3U);
  EXPECT_EQ(requests([&] { EXPECT_EQ(ids.get(9).value(), "c"); }), 1U);
  EXPECT_EQ(requests([&] { EXPECT_EQ(ids.get(17).value(), std::nullopt); }), 1U) << "confirms the list";
  EXPECT_EQ(requests([&] { EXPECT_TRUE(ids.contains(2).value()); }), 2U) << "a list, and no value";
}

TEST_F(LatencyOfIds, ValuesThatWereChangedAreReadInTheirNewVersion) {
  const Uint64Sharding sharding{.minishard_bits = 3, .shard_bits = 1};
  const ShardedStore writer = open(memory_, sharding);
  Values values{{1, "a"}, {2, "b"}, {9, "c"}};
  put(writer, values);
  const ShardedStore ids = open(store_, sharding);
  EXPECT_EQ(ids.get_many(std::vector<std::uint64_t>{1, 2, 9, 10}).value()[3], std::nullopt);
  put(writer, {{2, "other"}, {10, "new"}});
  writer.erase(9).value();
  using Read = std::vector<std::optional<std::string>>;
  EXPECT_EQ(ids.get_many(std::vector<std::uint64_t>{1, 2, 9, 10}).value(), (Read{"a", "other", std::nullopt, "new"}));
  writer.erase(10).value();
  EXPECT_FALSE(ids.contains(10).value());
}

TEST_F(LatencyOfIds, LegacyIndexAndDataObjectsAreRead) {
  const Uint64Sharding sharding{.minishard_bits = 1};
  const Values values{{1, "a"}, {2, "b"}};
  put(open(memory_, sharding), values);
  const std::string shard = memory_->get("0.shard").value().value();
  memory_->set("0.index", shard.substr(0, sharding.head_bytes())).value();
  memory_->set("0.data", shard.substr(sharding.head_bytes())).value();
  memory_->erase("0.shard").value();
  EXPECT_EQ(all_of(open(store_, sharding)), values);
}

/// A volume of 64x64x64 voxels in 4x4x4 chunks, which are sharded as these words say.
class LatencyOfVolumes : public ::testing::Test {
 protected:
  Array written(const char* hash, std::uint64_t preshift, std::uint64_t minishard, std::uint64_t shard, Config config) {
    neuroglancer::VolumeInfo info;
    info.data_type = DType::uint16;
    info.scales.push_back({.key = "s", .size = {64, 64, 64}, .chunk_sizes = {{16, 16, 16}}, .resolution = {8, 8, 8}});
    info.scales[0].encoding = "raw";
    info.scales[0].sharding = Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                                           {"hash", hash},
                                           {"preshift_bits", preshift},
                                           {"minishard_bits", minishard},
                                           {"shard_bits", shard},
                                           {"minishard_index_encoding", "gzip"},
                                           {"data_encoding", "gzip"}};
    memory_ = memory_store();
    const Array array = neuroglancer::create_precomputed(memory_, "", info).value();
    array.write(kAll, std::span<const std::uint16_t>(numbers())).value();
    store_ = slow_store(memory_);
    config.coalesce_gap = 0;
    Array opened = open_array(store_, {.path = "s", .config = config}).value();
    store_->reset();
    return opened;
  }
  static std::vector<std::uint16_t> numbers() {
    std::vector<std::uint16_t> values(64 * 64 * 64);
    std::iota(values.begin(), values.end(), std::uint16_t{1});
    return values;
  }
  // All voxels but those at the faces.
  std::uint64_t rounds_of_reading(const Array& array) {
    std::vector<std::uint16_t> values(62 * 62 * 62);
    store_->reset();
    array.read(Box{{1, 1, 1, 0}, {62, 62, 62, 1}}, std::span(values)).value();
    const auto expected = numbers();
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(values[i], expected[(i / 62 / 62 + 1) * 64 * 64 + (i / 62 % 62 + 1) * 64 + i % 62 + 1]);
    return store_->rounds;
  }

  const Box kAll{{0, 0, 0, 0}, {64, 64, 64, 1}};
  std::shared_ptr<Store> memory_;
  std::shared_ptr<RoundTrips> store_;
};

TEST_F(LatencyOfVolumes, HashedShardsTakeThreeRoundTripsOrOneIfCached) {
  for (const CacheMode mode : {CacheMode::index, CacheMode::shard, CacheMode::chunks}) {
    const Array array = written("murmurhash3_x86_128", 0, 1, 3, {.cache = mode});
    EXPECT_EQ(rounds_of_reading(array), 3U) << static_cast<int>(mode);
    EXPECT_EQ(rounds_of_reading(array), 1U) << static_cast<int>(mode);
  }
}

TEST_F(LatencyOfVolumes, BoxAlignedShardsTakeNoMoreThanThreeRoundTrips) {
  for (const CacheMode mode : {CacheMode::index, CacheMode::shard, CacheMode::chunks}) {
    const Array array = written("identity", 3, 1, 3, {.cache = mode});
    EXPECT_LE(rounds_of_reading(array), 3U) << static_cast<int>(mode);
    EXPECT_EQ(rounds_of_reading(array), 1U) << static_cast<int>(mode);
  }
}

TEST_F(LatencyOfVolumes, ChunksUnderAlternativeKeysAreRequestedTogether) {
  const Array array = written("identity", 3, 1, 3, {});
  memory_->erase_prefix("s/").value();
  std::vector<std::uint16_t> values(64 * 64 * 64, 7);
  array.read(kAll, std::span(values)).value();
  EXPECT_EQ(values, std::vector<std::uint16_t>(64 * 64 * 64, 0));
  EXPECT_EQ(store_->rounds, 2U) << "eight shards, and the names that they had in the past";
}

TEST_F(LatencyOfVolumes, AHashedVolumeThatWasChangedIsReadInItsNewVersion) {
  for (const CacheMode mode : {CacheMode::index, CacheMode::shard, CacheMode::chunks}) {
    const Array array = written("murmurhash3_x86_128", 0, 1, 1, {.cache = mode});
    rounds_of_reading(array);
    const Array writer = open_array(memory_, {.path = "s", .writable = true}).value();
    const std::vector<std::uint16_t> sevens(16 * 16 * 16, 7);
    writer.write(Box{{16, 0, 0, 0}, {16, 16, 16, 1}}, std::span(sevens)).value();
    std::vector<std::uint16_t> values(16 * 16 * 16);
    array.read(Box{{16, 0, 0, 0}, {16, 16, 16, 1}}, std::span(values)).value();
    EXPECT_EQ(values, sevens) << static_cast<int>(mode);
  }
}

TEST_F(LatencyOfIds, BothFormatsOfADualFormatArrayNeedThreeRoundTripsAtMost) {
  const TempDir directory;
  const auto files = file_store(directory / "a.zarr").value();
  CreateOptions options = dual_format_testing::array_of();
  const Array array = create_array(files, "", options).value();
  const auto values = dual_format_testing::noise(32 * 48 * 64);
  array.write(dual_format_testing::whole(array), std::span(values)).value();
  const auto store = slow_store(files);
  for (const char* format : {"zarr3", "precomputed"}) {
    const Array opened = open_array(store, {.format = format}).value();
    Box inside = dual_format_testing::whole(opened);
    for (std::size_t d = 0; d < inside.shape.size() && inside.shape[d] > 1; ++d) {
      inside.origin[d] = 1;
      inside.shape[d] -= 2;
    }
    std::vector<std::uint16_t> slow(*element_count(inside.shape)), fast(slow.size());
    store->reset();
    opened.read(inside, std::span(slow)).value();
    EXPECT_LE(store->rounds, 3U) << format;
    open_array(files, {.format = format}).value().read(inside, std::span(fast)).value();
    EXPECT_EQ(slow, fast) << format;
  }
}

}  // namespace latency_test
}  // namespace sherd
