// Shards without their dead bytes: the same elements, in every format, and nothing written where nothing is dead.
#include "check/compact.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "sherd/sharded_store.hpp"
#include "tests/check/check_testing.hpp"
#include "tests/neuroglancer/dual_format_testing.hpp"
#include "tests/neuroglancer/kv_testing.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace compact_test {

using namespace check_testing;
using testing::HasSubstr;

CreateOptions compressed() { return {.shape = {32, 32}, .dtype = DType::uint16, .chunks = {8, 8}, .shards = {16, 16}}; }

/// Elements that compress to another size each time.
void write_noise(const Array& array, const Box& box, unsigned seed) {
  auto values = dual_format_testing::noise(*element_count(box.shape), seed);
  for (auto& value : values) value = static_cast<std::uint16_t>(value * (seed % 5 + 1) * 977);
  array.write(box, std::span<const std::uint16_t>(values)).value();
}

/// Superseded chunks are dead bytes in shards.
void write_again(const Array& array) {
  const Shape shape = array.shape();
  write_noise(array, {Shape(shape.size(), 0), shape}, 1);
  const Array keeping = array.with_config({.max_unused = 100});
  for (unsigned seed = 2; seed < 7; ++seed)
    write_noise(keeping, {Shape(shape.size(), seed % 2 == 0 ? 8 : 0), Shape(shape.size(), 8)}, seed);
}

std::vector<std::uint16_t> elements(const Array& array) { return dual_format_testing::elements(array); }

/// What a recorder counts of a compaction.
std::map<std::string, std::uint64_t> updates_of(const CompactReport& report) {
  return {{"rewrite: compacted", report.shards}};
}

/// Dead bytes are reclaimed once, and the elements are those of before.
void expect_compacted(const std::shared_ptr<Store>& store, const std::string& path = "") {
  const auto read = [&] { return elements(open_array(store, {.path = path}).value()); };
  const auto before = read();
  const CheckReport wasteful = check(store, {.path = path}).value();
  ASSERT_GT(wasteful.dead_bytes, 0U);
  CompactOptions options{.path = path};
  options.config.recorder = std::make_shared<Recorder>();
  const CompactReport report = compact(store, options).value();
  EXPECT_GT(report.shards, 0U);
  EXPECT_GE(report.reclaimed, wasteful.dead_bytes);
  EXPECT_EQ(options.config.recorder->updates(), updates_of(report));
  EXPECT_EQ(read(), before);
  const CheckReport dense = check(store, {.path = path, .data = true}).value();
  EXPECT_TRUE(dense.ok() && dense.faults.empty()) << dense.to_json().dump(1);
  EXPECT_EQ(dense.dead_bytes, 0U);
  EXPECT_EQ(dense.chunks, wasteful.chunks);
  EXPECT_EQ(compact(store, {.path = path}).value().shards, 0U);
}

struct Kind {
  const char* name;
  CreateOptions options;
};
CreateOptions changed(void (*change)(CreateOptions&)) {
  CreateOptions options = compressed();
  change(options);
  return options;
}
const Kind kKinds[] = {
    {"IndexAtTheEnd", compressed()},
    {"IndexAtTheStart", changed([](auto& o) { o.index_location = IndexLocation::start; })},
    {"IndexWithoutAChecksum", changed([](auto& o) { o.index_codecs = std::vector<Json>{"bytes"}; })},
    {"Transposed", changed([](auto& o) {
       o.codecs = std::vector<Json>{Json::parse(R"({"name": "transpose", "configuration": {"order": [1, 0]}})").value(),
                                    "bytes", "zstd:1"};
     })},
    {"Draft2022", changed([](auto& o) { o.format = "draft2022"; })},
};
class Compact : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Compact, testing::ValuesIn(kKinds),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(Compact, ReclaimsTheBytesOfSupersededChunks) {
  const auto store = memory_store();
  write_again(create_array(store, "", GetParam().options).value());
  expect_compacted(store);
}

TEST(Compaction, WritesNothingWhereNothingIsDead) {
  const auto memory = memory_store();
  write_noise(create_array(memory, "", compressed()).value(), {{0, 0}, {32, 32}}, 1);
  const auto store = std::make_shared<TestStore>(memory);
  CompactOptions options;
  options.config.recorder = std::make_shared<Recorder>();
  const CompactReport report = compact(store, options).value();
  EXPECT_EQ(report.to_json().dump(), R"({"reclaimed":0,"shards":0})");
  EXPECT_TRUE(options.config.recorder->updates().empty());
  EXPECT_EQ(store->count(Op::changes | Op::commit), 0U);
}

TEST(Compaction, GoesThroughGroups) {
  const auto store = memory_store();
  create_group(store, "", {}).value();
  create_group(store, "inner", {}).value();
  for (const char* path : {"a", "inner/b"}) write_again(create_array(store, path, compressed()).value());
  const CheckReport before = check(store).value();
  const CompactReport report = compact(store).value();
  EXPECT_GE(report.shards, 2U);
  EXPECT_GE(report.reclaimed, before.dead_bytes);
  EXPECT_EQ(check(store).value().dead_bytes, 0U);
  EXPECT_EQ(compact(store, {.path = "nothing"}).error().code(), ErrorCode::not_found);
}

TEST(Compaction, MovesChunksWithoutDecodingThem) {
  const auto store = memory_store();
  const Array array = create_array(store, "", compressed()).value();
  write_again(array);
  CompactOptions options;
  options.config.recorder = std::make_shared<Recorder>();
  compact(store, options).value();
  const auto stats = options.config.recorder->stats();
  EXPECT_EQ(stats.chunks_decoded + stats.chunks_encoded, 0U);
  EXPECT_GT(stats.chunks_moved, 0U);
}

TEST(Compaction, ErasesAShardOfWhichNoChunkRemains) {
  const auto store = store_with(sharded());
  change_index(*store, [](Index& index, std::string&) {
    for (std::size_t slot = 0; slot < 4; ++slot) index.offset(slot) = index.length(slot) = kEmpty;
  });
  const std::size_t size = load(*store, "c/0/0").size();
  CompactOptions options;
  options.config.recorder = std::make_shared<Recorder>();
  const CompactReport report = compact(store, options).value();
  EXPECT_EQ(options.config.recorder->updates(), updates_of(report));
  EXPECT_EQ(report.reclaimed, size);
  EXPECT_FALSE(store->get("c/0/0").value());
}

TEST(Compaction, RefusesADamagedShardByNameAndLeavesIt) {
  const auto store = store_with(sharded());
  change_index(*store, [](Index& index, std::string& shard) {
    index.length(1) = std::uint64_t{1} << 40;
    index.offset(2) = index.length(2) = kEmpty;
    (void)shard;
  });
  const std::string before = load(*store, "c/0/0");
  const auto refused = compact(store);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(refused.error().key(), "c/0/0");
  EXPECT_EQ(refused.error().slot(), 1U);
  EXPECT_EQ(load(*store, "c/0/0"), before);
}

TEST(Compaction, DoesNotMakeAShardLargerThatSharesChunks) {
  const auto store = store_with(sharded({"bytes"}));
  change_index(*store, [](Index& index, std::string& shard) {
    for (std::size_t slot = 1; slot < 4; ++slot) index.offset(slot) = index.offset(0);
    shard.insert(32, "dead");
    for (std::size_t slot = 0; slot < 4; ++slot) index.offset(slot) = 0;
  });
  const std::string before = load(*store, "c/0/0");
  EXPECT_LE(load(*store, "c/0/0").size(), before.size());
  compact(store).value();
  EXPECT_LE(load(*store, "c/0/0").size(), before.size());
  EXPECT_TRUE(check(store, {.data = true}).value().ok());
}

TEST(Compaction, LosesNoUpdateOfOthersMeanwhile) {
  const auto store = memory_store();
  const Array array = create_array(store, "", compressed()).value();
  write_noise(array, {{0, 0}, {32, 32}}, 1);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (unsigned round = 1; round <= 200; ++round) {
      const auto value = static_cast<std::uint16_t>(round);
      array.fill(Box{{round % 32, 0}, {1, 32}}, std::as_bytes(std::span(&value, 1))).value();
    }
    done = true;
  });
  while (!done) compact(store).value();
  writer.join();
  const auto values = elements(open_array(store).value());
  for (unsigned round = 169; round <= 200; ++round)
    for (std::size_t column = 0; column < 32; ++column) EXPECT_EQ(values[round % 32 * 32 + column], round);
}

// ---- shards whose chunks have ids ----

Json sharding_of(const std::string& hash, std::uint64_t shard_bits = 4) {
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"preshift_bits", 1},
                      {"hash", hash},
                      {"minishard_bits", 1},
                      {"shard_bits", shard_bits}};
}

TEST(Compaction, ReclaimsBytesOfVolumes) {
  for (const std::string hash : {"identity", "murmurhash3_x86_128"}) {
    const auto store = memory_store();
    neuroglancer::VolumeInfo info;
    info.data_type = DType::uint16;
    info.scales.push_back({.key = "s", .size = {64, 64, 64}, .chunk_sizes = {{16, 16, 16}}, .resolution = {8, 8, 8}});
    info.scales[0].encoding = "raw";
    info.scales[0].sharding = sharding_of(hash, hash == "identity" ? 4 : 1);  // boxes of the grid, or any chunks
    const Array array = neuroglancer::create_precomputed(store, "", info).value();
    const Shape shape = array.shape();
    write_noise(array, {Shape(4, 0), shape}, 1);
    for (unsigned seed = 2; seed < 5; ++seed) write_noise(array, {{16, 16, 16, 0}, {16, 16, 16, 1}}, seed);
    const auto before = elements(array);
    ASSERT_GT(check(store).value().dead_bytes, 0U) << hash;
    CompactOptions options;
    options.config.recorder = std::make_shared<Recorder>();
    const CompactReport report = compact(store, options).value();
    EXPECT_EQ(report.shards, 1U);
    EXPECT_EQ(options.config.recorder->updates(), updates_of(report));
    EXPECT_GT(report.reclaimed, 3U * 16 * 16 * 16 * 2);
    EXPECT_EQ(elements(open_array(store).value()), before);
    EXPECT_EQ(check(store, {.data = true}).value().dead_bytes, 0U);
  }
}

TEST(Compaction, ReclaimsBytesOfCollections) {
  const auto store = memory_store();
  neuroglancer::SkeletonInfo info;
  info.sharding = sharding_of("murmurhash3_x86_128");
  neuroglancer::Collection::create(store, neuroglancer::CollectionInfo(info), {.path = "skeletons"}).value();
  const auto values = neuroglancer::ShardedStore::open(prefixed_store(store, "skeletons/"), {},
                                                       {.writable = true, .config = {.max_unused = 100}})
                          .value();
  for (const char* text : {"first", "second", "third"})
    for (std::uint64_t id = 0; id < 40; ++id)
      values.put({id, as_bytes(std::string(text) + std::to_string(id))}).value();
  const auto before = kv_testing::all_of(values);
  for (const std::string path : {"skeletons", ""}) {
    if (path.empty()) {
      create_group(store, "", {}).value();
      for (std::uint64_t id = 0; id < 4; ++id) values.put({id, as_bytes(before.at(id))}).value();
    }
    CompactOptions options{.path = path};
    options.config.recorder = std::make_shared<Recorder>();
    const CompactReport report = compact(store, options).value();
    EXPECT_GT(report.shards, 0U) << path;
    EXPECT_EQ(options.config.recorder->updates(), updates_of(report)) << path;
    EXPECT_GT(report.reclaimed, 0U) << path;
    EXPECT_EQ(kv_testing::all_of(values), before);
    EXPECT_EQ(compact(store, {.path = path}).value().shards, 0U);
  }
}

using CompactDualFormat = dual_format_testing::DualFormat;

TEST_F(CompactDualFormat, KeepsBothIndexesAndBothNames) {
  for (const char* format : {"zarr3", "precomputed"}) {
    CreateOptions options = dual_format_testing::array_of();
    options.overwrite = true;
    const Array array = create_array(url(), options).value();
    write_again(array);
    const auto expected = elements(array);
    ASSERT_GT(check(url()).value().dead_bytes, 0U);
    const CompactReport report = compact(url(), {.format = format}).value();
    EXPECT_GT(report.shards, 0U);
    EXPECT_EQ(check(url()).value().dead_bytes, 0U);
    EXPECT_EQ(elements(open("zarr3")), expected);
    EXPECT_EQ(voxels(), expected);
    expect_sound(12);
  }
}

}  // namespace compact_test
}  // namespace sherd
