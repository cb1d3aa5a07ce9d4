// No document of Neuroglancer's says how hard gzip tries; the writer chooses it, and a reader need not know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "sherd/precomputed.hpp"
#include "sherd/sharded_build.hpp"
#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace gzip_level_test {

using neuroglancer::ShardedBuilder;
using neuroglancer::ShardedStore;
using testing::HasSubstr;

Json sharding(const std::string& hash) {
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"preshift_bits", 0},
                      {"hash", hash},
                      {"minishard_bits", 0},
                      {"shard_bits", 0},
                      {"minishard_index_encoding", "gzip"},
                      {"data_encoding", "gzip"}};
}

// Few values in no order: it pays to look longer for what repeats.
std::vector<std::uint8_t> elements() {
  std::mt19937 random(1);
  std::vector<std::uint8_t> values(32 * 32 * 32);
  for (auto& value : values) value = static_cast<std::uint8_t>(random() % 5);
  return values;
}

Config at_level(std::optional<int> level) {
  Config config;
  config.gzip_level = level;
  return config;
}

template <class T>
void write_volume(const std::shared_ptr<Store>& store, const std::string& hash, std::optional<int> level) {
  neuroglancer::VolumeInfo info;
  info.data_type = sizeof(T) == 1 ? DType::uint8 : DType::uint32;
  info.scales.push_back({.key = "s", .size = {32, 32, 32}, .chunk_sizes = {{32, 32, 16}}, .resolution = {8, 8, 8}});
  info.scales[0].sharding = sharding(hash);
  if (sizeof(T) > 1) {
    info.type = neuroglancer::VolumeInfo::Type::segmentation;
    info.scales[0].encoding = "compressed_segmentation";
    info.scales[0].block_size = {8, 8, 8};
  }
  const Array array = neuroglancer::create_precomputed(store, "", info, {.config = at_level(level)}).value();
  const Box all{Shape(4, 0), array.shape()};
  const auto drawn = elements();
  const std::vector<T> values(drawn.begin(), drawn.end());
  array.write(all, std::span<const T>(values)).value();
  std::vector<T> back(values.size());
  open_array(store).value().read(all, std::span(back)).value();
  EXPECT_EQ(back, values);
}

void put_value(const std::shared_ptr<Store>& store, std::optional<int> level) {
  const auto values = elements();
  const auto ids =
      ShardedStore::open(store, sharding("identity"), {.writable = true, .config = at_level(level)}).value();
  ids.put({7, std::as_bytes(std::span(values))}).value();
}

void build_value(const std::shared_ptr<Store>& store, std::optional<int> level) {
  const auto values = elements();
  ShardedBuilder builder = ShardedBuilder::create(store, sharding("identity"), {.config = at_level(level)}).value();
  builder.add({7, std::as_bytes(std::span(values))}).value();
  builder.finish().value();
}

// A size for each of the levels 0, 1, 6 and 9.
std::vector<std::uint64_t> sizes(const std::function<void(const std::shared_ptr<Store>&, int)>& write) {
  std::vector<std::uint64_t> found;
  for (const int level : {0, 1, 6, 9}) {
    const auto store = memory_store();
    write(store, level);
    for (const auto& [key, bytes] : tree_of(*store))
      if (key != "info") found.push_back(bytes.size());
  }
  return found;
}

void expect_to_shrink(const std::vector<std::uint64_t>& sizes) {
  ASSERT_EQ(sizes.size(), 4U);
  EXPECT_LT(sizes[1], sizes[0]);
  EXPECT_LT(sizes[2], sizes[1]);
  EXPECT_LE(sizes[3], sizes[2]);
}

TEST(GzipLevel, IsTakenFromTheHandleThatWritesAVolume) {
  for (const char* hash : {"identity", "murmurhash3_x86_128"})
    expect_to_shrink(sizes([&](const auto& store, int level) { write_volume<std::uint8_t>(store, hash, level); }));
}

TEST(GzipLevel, IsTakenFromTheHandleThatPutsOrBuildsValues) {
  expect_to_shrink(sizes(put_value));
  expect_to_shrink(sizes(build_value));
}

TEST(GzipLevel, DefaultsTo3ForRawChunksAnd6Otherwise) {
  using Write = std::function<void(const std::shared_ptr<Store>&, std::optional<int>)>;
  const auto written = [](const Write& write, std::optional<int> level) {
    const auto store = memory_store();
    write(store, level);
    return tree_of(*store);
  };
  const auto expect_default = [&](const Write& write, int level) {
    const auto tree = written(write, {});
    EXPECT_EQ(tree, written(write, level));
    EXPECT_NE(tree, written(write, 9 - level));
  };
  for (const char* hash : {"identity", "murmurhash3_x86_128"}) {
    expect_default([&](const auto& store, auto level) { write_volume<std::uint8_t>(store, hash, level); }, 3);
    expect_default([&](const auto& store, auto level) { write_volume<std::uint32_t>(store, hash, level); }, 6);
  }
  expect_default(put_value, 6);
  expect_default(build_value, 6);
}

TEST(GzipLevel, OfANewDualFormatArrayIsInItsMetadata) {
  const TempDir directory;
  CreateOptions options{
      .shape = {8, 8, 8}, .dtype = DType::uint8, .chunks = {8, 8, 8}, .shards = {8, 8, 8}, .config = at_level(9)};
  options.config.layout = Layout::zarr_neuroglancer;
  EXPECT_THAT(create_array(directory / "a", options).value().codecs().dump(), HasSubstr(R"({"level":9})"));
  options.config.gzip_level = std::nullopt;
  EXPECT_THAT(create_array(directory / "b", options).value().codecs().dump(), HasSubstr(R"({"level":3})"));
}

TEST(GzipLevel, IsFrom0To9) {
  const auto store = memory_store();
  write_volume<std::uint8_t>(store, "identity", 6);
  const auto array = open_array(store, {.config = at_level(10)});
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(array.error().member(), "gzip_level");
  const auto ids = ShardedStore::open(store, sharding("identity"), {.config = at_level(-1)});
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().code(), ErrorCode::invalid_argument);
}

}  // namespace gzip_level_test
}  // namespace sherd
