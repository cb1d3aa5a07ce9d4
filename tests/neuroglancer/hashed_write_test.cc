// Scales whose shards are not boxes of chunks, because ids are hashed or shards have too few bits: requests, counts,
// damage, concurrent writes and copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "base/endian.hpp"
#include "base/try.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace hashed_write_test {

using neuroglancer::create_precomputed;
using neuroglancer::ShardedStore;
using neuroglancer::VolumeInfo;
using neuroglancer::VolumeScale;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

const Shape kShape{64, 64, 64, 1};  // 4x4x4 chunks
const Box kAll{{0, 0, 0, 0}, kShape};
constexpr const char* kMurmur = "murmurhash3_x86_128";

Json sharding(std::uint64_t minishard, std::uint64_t shard, const std::string& hash = kMurmur,
              const std::string& encoding = "gzip") {
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"preshift_bits", 0},
                      {"hash", hash},
                      {"minishard_bits", minishard},
                      {"shard_bits", shard},
                      {"minishard_index_encoding", encoding},
                      {"data_encoding", encoding}};
}

VolumeInfo volume(const Json& how) {
  VolumeInfo info;
  info.data_type = DType::uint16;
  info.scales.push_back({.key = "s", .size = {64, 64, 64}, .chunk_sizes = {{16, 16, 16}}, .resolution = {8, 8, 8}});
  info.scales[0].encoding = "raw";
  info.scales[0].sharding = how;
  return info;
}

std::vector<std::uint16_t> numbers() {
  std::vector<std::uint16_t> values(64 * 64 * 64);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  return values;
}

Array filled(const std::shared_ptr<Store>& store, const Json& how) {
  Array array = create_precomputed(store, "", volume(how)).value();
  const auto values = numbers();
  array.write(kAll, std::span<const std::uint16_t>(values)).value();
  return array;
}

Result<std::uint16_t> first_of(const Array& array, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  std::uint16_t value = 0;
  SHERD_TRY(array.read(Box{{16 * x, 16 * y, 16 * z, 0}, {1, 1, 1, 1}}, std::span(&value, 1)));
  return value;
}

std::vector<std::string> keys_of(const std::vector<Recorder::Request>& requests, const std::string& op) {
  std::vector<std::string> keys;
  for (const auto& request : requests)
    if (request.op == op) keys.push_back(request.key);
  return keys;
}

class EveryHashedScale : public testing::TestWithParam<std::string> {};

TEST_P(EveryHashedScale, ReadsAChunkWithThreeRequestsOrOneIfCached) {
  const auto store = memory_store();
  filled(store, sharding(1, 2, kMurmur, GetParam()));
  const auto recorder = std::make_shared<Recorder>();
  const Array array = open_array(store, {.config = {.recorder = recorder}}).value();
  recorder->start();
  EXPECT_EQ(first_of(array, 1, 2, 3).value(), numbers()[(16 * 64 + 32) * 64 + 48]);
  EXPECT_EQ(keys_of(recorder->stop(), "get").size(), 3U);
  recorder->start();
  EXPECT_TRUE(first_of(array, 1, 2, 3));
  EXPECT_EQ(keys_of(recorder->stop(), "get").size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Encodings, EveryHashedScale, testing::Values("raw", "gzip"));

TEST_P(EveryHashedScale, ReadsManyChunksWithFewRequests) {
  const auto store = memory_store();
  filled(store, sharding(4, 2, kMurmur, GetParam()));
  for (const bool warm : {false, true}) {
    const auto recorder = std::make_shared<Recorder>();
    const Array array = open_array(store, {.config = {.recorder = recorder}}).value();
    if (warm) first_of(array, 1, 2, 3).value();
    recorder->start();
    std::vector<std::uint16_t> read(64 * 64 * 64);
    array.read(kAll, std::span(read)).value();
    EXPECT_EQ(read, numbers());
    EXPECT_LE(keys_of(recorder->stop(), "get").size(), 12U) << "three a shard, of 64 chunks in four shards";
  }
}

TEST(HashedScale, ReadsMissingChunksAsFillValuesOrAnError) {
  const auto store = memory_store();
  const Array array = filled(store, sharding(1, 2));
  const auto ids = ShardedStore::open(prefixed_store(store, "s/"), sharding(1, 2), {.writable = true}).value();
  EXPECT_TRUE(ids.erase(1).value());
  std::vector<std::uint16_t> read(64 * 64 * 64), expected = numbers();
  for (std::size_t x = 16; x < 32; ++x)
    for (std::size_t y = 0; y < 16; ++y) std::fill_n(expected.begin() + static_cast<long>((x * 64 + y) * 64), 16, 0);
  array.read(kAll, std::span(read)).value();
  EXPECT_EQ(read, expected);
  const auto missing = array.with_config({.missing_is_error = true}).read(kAll, std::span(read));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
}

TEST_P(EveryHashedScale, ReplacesADamagedShardWhenAllOfItIsWritten) {
  for (const std::size_t left : {std::size_t{0}, std::size_t{10}, std::size_t{3000}}) {
    const auto store = memory_store();
    const Array array = filled(store, sharding(1, 2, kMurmur, GetParam()));
    store->set("s/1.shard", tree_of(*store)["s/1.shard"].substr(0, left)).value();
    std::vector<std::uint16_t> read(64 * 64 * 64), half(32 * 64 * 64, 5);
    EXPECT_FALSE(array.read(kAll, std::span(read)));
    EXPECT_FALSE(array.write(Box{{0, 0, 0, 0}, {32, 64, 64, 1}}, std::span<const std::uint16_t>(half)))
        << "what is not rewritten must be kept";
    const auto values = numbers();
    array.write(kAll, std::span<const std::uint16_t>(values)).value();
    array.read(kAll, std::span(read)).value();
    EXPECT_EQ(read, values);
    EXPECT_THAT(check(store, {.data = true}).value().faults, testing::IsEmpty());
  }
}

TEST(HashedScale, ReadsPartsOfRawChunks) {
  const auto store = memory_store();
  filled(store, sharding(1, 2, kMurmur, "raw"));
  const auto recorder = std::make_shared<Recorder>();
  const Array array = open_array(store, {.config = {.recorder = recorder}}).value();
  EXPECT_TRUE(first_of(array, 0, 0, 0));
  const auto before = recorder->stats().bytes_read;
  EXPECT_TRUE(first_of(array, 0, 0, 0));
  EXPECT_EQ(recorder->stats().bytes_read - before, 2U);
}

TEST(HashedScale, WritesEachShardOncePerCall) {
  const auto recorder = std::make_shared<Recorder>();
  const auto store = memory_store();
  Array array = create_precomputed(store, "", volume(sharding(1, 2)), {.config = {.recorder = recorder}}).value();
  const auto values = numbers();
  const std::vector<std::string> shards{"s/0.shard", "s/1.shard", "s/2.shard", "s/3.shard"};
  for (const std::uint64_t from : {0U, 3U}) {  // the second time, most chunks are only partly overwritten
    recorder->start();
    array.write(Box{{from, from, from, 0}, {60, 60, 60, 1}}, std::span(values).first(60 * 60 * 60)).value();
    EXPECT_THAT(keys_of(recorder->stop(), "put"), testing::UnorderedElementsAreArray(shards));
  }
}

TEST(HashedScale, CountsShardsAsWhatIsStoredAndValuesAsChunks) {
  const auto store = memory_store();
  Array array = filled(store, sharding(1, 2));
  std::uint64_t bytes = 0;
  for (const auto& [key, value] : tree_of(*store))
    if (key != "info") bytes += value.size();
  EXPECT_EQ(array.stored().value().objects, 4U);
  EXPECT_EQ(array.stored().value().bytes, bytes);
  EXPECT_EQ(array.nchunks_initialized().value(), 64U);
  const auto report = check(store, {.data = true}).value();
  EXPECT_THAT(report.faults, testing::IsEmpty());
  EXPECT_EQ(report.shards, 4U);
  EXPECT_EQ(report.chunks, 64U);
  EXPECT_EQ(report.live_bytes + report.dead_bytes, bytes);
  array.fill(kAll, std::vector<std::byte>(2)).value();
  EXPECT_THAT(tree_of(*store), ElementsAre(testing::Key("info"))) << "chunks of nothing but 0 are not stored";
}

TEST(HashedScale, PutsEachChunkIntoTheShardOfItsMortonCode) {
  const auto store = memory_store();
  const Json how = sharding(2, 1, "identity", "raw");
  filled(store, how);
  const auto ids = ShardedStore::open(prefixed_store(store, "s/"), how).value();
  const std::string chunk = ids.get(0b110101).value().value();  // x 0b11, y 0b00, z 0b11 would be 0b101101
  ASSERT_EQ(chunk.size(), 2 * 16 * 16 * 16U);
  // Bits of x, y, z from the lowest: 1 0 1, 0 1 1.
  EXPECT_EQ(load_little<std::uint16_t>(reinterpret_cast<const std::byte*>(chunk.data())),
            numbers()[((16 * 1) * 64 + 16 * 2) * 64 + 16 * 3]);
}

TEST(HashedScale, ConcurrentWritesOfOneShardAreNotLost) {
  const TempDir dir;
  const auto store = file_store(dir.path(), {.durable = false}).value();
  for (const char* encoding : {"raw", "gzip"}) {
    create_precomputed(store, encoding, volume(sharding(1, 1, kMurmur, encoding))).value();
    std::vector<std::thread> threads;
    for (std::uint64_t number = 0; number < 4; ++number)
      threads.emplace_back([&, number] {
        Config config;
        config.threads = 2;
        Array array = open_array(store, {.path = encoding, .writable = true, .config = config}).value();
        const std::vector<std::uint16_t> column(64, static_cast<std::uint16_t>(number + 1));
        for (std::uint64_t x = number; x < 64; x += 4)
          array.write(Box{{x, 0, 0, 0}, {1, 1, 64, 1}}, std::span<const std::uint16_t>(column)).value();
      });
    threads.emplace_back([&] {
      const Array array = open_array(store, {.path = encoding}).value();
      std::vector<std::uint16_t> seen(64 * 64), before(64 * 64);
      for (int round = 0; round < 40; ++round) {
        array.read(Box{{0, 0, 0, 0}, {64, 1, 64, 1}}, std::span(seen)).value();
        for (std::size_t i = 0; i < seen.size(); ++i)
          EXPECT_TRUE(seen[i] == 1 + i / 64 % 4 || (seen[i] == 0 && before[i] == 0)) << i;
        before = seen;
      }
    });
    for (auto& thread : threads) thread.join();
    std::vector<std::uint16_t> read(64 * 64);
    open_array(store, {.path = encoding}).value().read(Box{{0, 0, 0, 0}, {64, 1, 64, 1}}, std::span(read)).value();
    for (std::size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], 1 + i / 64 % 4) << encoding << " " << i;
  }
}

TEST(HashedScale, IsCopiedToAndFromOtherFormats) {
  const auto source = memory_store();
  filled(source, sharding(1, 2));
  const auto same = memory_store(), zarr = memory_store(), draft = memory_store(), back = memory_store();
  const auto recorder = std::make_shared<Recorder>();
  recorder->start();
  EXPECT_EQ(copy(source, same, {.config = {.recorder = recorder}}).value().chunks_moved, 64U);
  EXPECT_LE(keys_of(recorder->stop(), "put").size(), 8U) << "the info, four shards, and what a copy is known by";
  EXPECT_THAT(check(same, {.data = true}).value().faults, testing::IsEmpty());
  // The order of elements in a chunk stays, and so do its bytes.
  CopyOptions out{.source_path = "s", .format = "zarr3", .axes = {"c", "z", "y", "x"}};
  EXPECT_EQ(copy(source, zarr, out).value().chunks_moved, 64U);
  out.format = "draft2022";
  EXPECT_EQ(copy(source, draft, out).value().chunks_moved, 64U);
  EXPECT_EQ(copy(zarr, back, {.format = "precomputed", .sharding = sharding(2, 1)}).value().chunks_moved, 64U);
  EXPECT_THAT(open_array(zarr).value().codecs().dump(), HasSubstr("gzip"));
  for (const auto& store : {same, back}) {
    std::vector<std::uint16_t> read(64 * 64 * 64);
    open_array(store).value().read(kAll, std::span(read)).value();
    EXPECT_EQ(read, numbers());
  }
  for (const auto& store : {zarr, draft}) {
    std::vector<std::uint16_t> read(64 * 64 * 64);
    const Array array = open_array(store).value();
    ASSERT_EQ(array.shape(), (Shape{1, 64, 64, 64}));
    EXPECT_TRUE(array.shards());
    array
        .read(Box{{0, 0, 0, 0}, array.shape()},
              AnyView::dense(reinterpret_cast<std::byte*>(read.data()), DType::uint16, {1, 64, 64, 64}, Order::f))
        .value();
    EXPECT_EQ(read, numbers());
  }
}

TEST(HashedScale, ADamagedShardIsNamedAndTheOthersAreRead) {
  const auto store = memory_store();
  const Array array = filled(store, sharding(1, 2));
  store->set("s/2.shard", tree_of(*store)["s/2.shard"].substr(0, 40)).value();
  int damaged = 0;
  for (std::uint64_t cell = 0; cell < 64; ++cell) {
    const auto read = first_of(array, cell / 16, cell / 4 % 4, cell % 4);
    if (read) continue;
    ++damaged;
    EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
    EXPECT_EQ(read.error().key(), "s/2.shard");
  }
  EXPECT_THAT(damaged, AllOf(testing::Gt(4), testing::Lt(32)));
  const auto report = check(store).value();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_EQ(report.faults[0].key, "s/2.shard");
  EXPECT_EQ(report.faults[0].code, "index_size");
  EXPECT_EQ(report.shards, 4U);
}

TEST(HashedScale, ValuesThatAreNotChunksAreRefusedAndReported) {
  const Json how = sharding(0, 1, "identity", "gzip");
  const auto store = memory_store();
  const Array array = filled(store, how);
  const auto ids = ShardedStore::open(prefixed_store(store, "s/"), how, {.writable = true}).value();
  const std::string bomb(std::size_t{1} << 24, '\0'), little(10, 'x');
  ids.put({.id = 0, .value = std::as_bytes(std::span(bomb))}).value();
  ids.put({.id = 1, .value = std::as_bytes(std::span(little))}).value();
  ids.put({.id = 64, .value = std::as_bytes(std::span(little))}).value();
  const auto large = first_of(array, 0, 0, 0);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(large.error().message(), HasSubstr("chunk 0"));
  EXPECT_EQ(first_of(array, 1, 0, 0).error().code(), ErrorCode::corrupt);
  EXPECT_TRUE(first_of(array, 0, 1, 0));
  const auto report = check(store, {.data = true}).value();
  std::multiset<std::string> codes;
  for (const auto& fault : report.faults) codes.insert(fault.key + " " + fault.code);
  EXPECT_THAT(codes, ElementsAre("s/0.shard chunk_decode", "s/0.shard chunk_outside", "s/1.shard chunk_decode"));
}

TEST(HashedScale, MisplacedChunksAreReported) {
  const auto store = memory_store();
  filled(store, sharding(0, 1, "identity", "raw"));
  store->set("s/0.shard", tree_of(*store)["s/1.shard"]).value();
  store->set("s/12", "x").value();
  store->set("s/1.data", "x").value();
  const auto report = check(store).value();
  EXPECT_THAT(report.faults,
              Contains(AllOf(Field(&Fault::key, "s/0.shard"), Field(&Fault::code, "id_misplaced"))).Times(32));
  EXPECT_THAT(report.faults, Contains(AllOf(Field(&Fault::key, "s/12"), Field(&Fault::code, "foreign_object"))));
  EXPECT_THAT(report.faults, Contains(AllOf(Field(&Fault::key, "s/1.data"), Field(&Fault::code, "foreign_object"))));
  EXPECT_EQ(report.faults.size(), 34U);
}

TEST(HashedScale, ReadsLegacyShards) {
  const auto store = memory_store();
  const Array array = filled(store, sharding(1, 2));
  const std::string shard = tree_of(*store)["s/1.shard"];
  store->erase("s/1.shard").value();
  store->set("s/1.index", shard.substr(0, 32)).value();
  store->set("s/1.data", shard.substr(32)).value();
  std::vector<std::uint16_t> read(64 * 64 * 64);
  array.read(kAll, std::span(read)).value();
  EXPECT_EQ(read, numbers());
  EXPECT_THAT(check(store, {.data = true}).value().faults, testing::IsEmpty());
  EXPECT_EQ(array.nchunks_initialized().value(), 64U);
}

}  // namespace hashed_write_test
}  // namespace sherd
