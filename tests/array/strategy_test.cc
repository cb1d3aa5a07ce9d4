// What can be chosen at run time: where it has an effect, and that it has none elsewhere. Also, which bytes at an
// array's edge and which chunk names are required, for any choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sherd/sherd.hpp"

namespace sherd {
namespace strategy_test {

using Elements = std::vector<std::uint16_t>;

constexpr std::uint64_t kSide = 32;
const Box kAll{{0, 0}, {kSide, kSide}};

Elements counting() {
  Elements values(kSide * kSide);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  return values;
}

/// One shard of 4 x 4 raw chunks of 128 bytes, every element written.
CreateOptions one_shard() {
  CreateOptions options{.shape = {kSide, kSide}, .dtype = DType::uint16, .chunks = {8, 8}, .shards = {kSide, kSide}};
  options.codecs = std::vector<Json>{"crc32c"};
  options.config.chunk_order = ChunkOrder::c;
  return options;
}

Array written(const std::shared_ptr<Store>& store, const CreateOptions& options) {
  const Array array = create_array(store, "", options).value();
  array.write(kAll, std::span<const std::uint16_t>(counting())).value();
  return array;
}

/// Requests for chunks.
std::size_t requests(const Array& array, const Selection& selection, Recorder& recorder) {
  Elements values(*element_count(selection.shape()));
  recorder.start();
  array.read(selection, std::span(values)).value();
  return recorder.stop().size();
}

TEST(Strategy, TheChunkOrderAffectsTheShardButNotTheDocument) {
  std::vector<std::string> documents;
  std::vector<std::string> shards;
  for (const ChunkOrder order : {ChunkOrder::c, ChunkOrder::f, ChunkOrder::morton}) {
    const auto store = memory_store();
    CreateOptions options = one_shard();
    options.config.chunk_order = order;
    const Array array = written(store, options);
    Elements values(kSide * kSide);
    array.read(kAll, std::span(values)).value();
    EXPECT_EQ(values, counting());
    documents.push_back(store->get("zarr.json").value().value());
    shards.push_back(store->get("c/0/0").value().value());
  }
  EXPECT_THAT(documents, testing::Each(documents[0]));
  EXPECT_NE(shards[0], shards[1]);
  EXPECT_NE(shards[0], shards[2]);
  EXPECT_NE(shards[1], shards[2]);
  EXPECT_EQ(Config().chunk_order, ChunkOrder::morton);
}

TEST(Strategy, ChunksEqualToTheFillValueAreStoredIfRequested) {
  for (const bool sharded : {true, false}) {
    CreateOptions options = one_shard();
    if (!sharded) options.shards = {};
    options.config.write_empty_chunks = true;
    const Array array = create_array(memory_store(), "", options).value();
    array.write(kAll, std::span<const std::uint16_t>(Elements(kSide * kSide, 0))).value();
    EXPECT_EQ(array.nchunks_initialized().value(), 16U);
  }
}

TEST(Strategy, NearbyExtentsAreReadTogether) {
  const auto store = memory_store();
  written(store, one_shard());
  const Selection first_and_third_chunk = Selection::orthogonal({Indices{0}, Indices{0, 16}});
  for (const auto& [gap, expected] : {std::pair<std::uint64_t, std::size_t>{0, 2}, {131, 2}, {132, 1}, {100'000, 1}}) {
    const auto recorder = std::make_shared<Recorder>();
    Config config;
    config.recorder = recorder;
    const Array array = open_array(store, {.config = config}).value();
    config.coalesce_gap = gap;
    const Array tuned = array.with_config(config);
    requests(tuned, Box{{31, 31}, {1, 1}}, *recorder);  // caches the index
    EXPECT_EQ(requests(tuned, first_and_third_chunk, *recorder), expected) << gap;
  }
}

TEST(Strategy, AShardIsReadWholeIfMostOfItIsNeeded) {
  const auto store = memory_store();
  written(store, one_shard());
  const auto recorder = std::make_shared<Recorder>();
  Config config;
  config.recorder = recorder;
  const Selection all_but_one_row_of_chunks = Box{{8, 0}, {24, kSide}};
  EXPECT_EQ(requests(open_array(store, {.config = config}).value(), all_but_one_row_of_chunks, *recorder), 1U);
  config.coalesce_gap = 0;
  EXPECT_EQ(requests(open_array(store, {.config = config}).value(), all_but_one_row_of_chunks, *recorder), 2U);
}

TEST(Strategy, ACacheStaysWithinItsByteLimit) {
  const auto store = memory_store();
  CreateOptions options = one_shard();
  options.codecs = std::vector<Json>{"zstd:1"};
  written(store, options);
  const auto recorder = std::make_shared<Recorder>();
  const auto again = [&](CacheMode mode, std::uint64_t bytes, const Box& meanwhile) {
    Config config;
    config.recorder = recorder;
    config.cache = mode;
    config.cache_bytes = bytes;
    config.coalesce_gap = 0;
    const Array array = open_array(store, {.config = config}).value();
    const Box chunk{{0, 0}, {8, 8}};
    requests(array, chunk, *recorder);
    requests(array, meanwhile, *recorder);
    return requests(array, chunk, *recorder);
  };
  const Box same{{0, 0}, {1, 1}};
  const Box others{{8, 0}, {24, kSide}};
  EXPECT_EQ(again(CacheMode::index, 1 << 20, same), 1U);
  EXPECT_EQ(again(CacheMode::index, 0, same), 2U) << "the index is read again";
  EXPECT_EQ(again(CacheMode::chunks, 1 << 20, same), 0U);
  EXPECT_EQ(again(CacheMode::chunks, 1 << 20, others), 0U);
  EXPECT_GE(again(CacheMode::chunks, 1000, others), 1U) << "twelve chunks have pushed it out";
  EXPECT_EQ(again(CacheMode::shard, 1 << 20, others), 0U);
  EXPECT_GE(again(CacheMode::shard, 100, others), 1U) << "the shard is larger";
}

TEST(Strategy, TypedViewsOfEitherOrderAreReadAndWritten) {
  const Array array = written(memory_store(), one_shard());
  Elements fortran(3 * 5);
  array.read(Box{{2, 7}, {3, 5}}, StridedView<std::uint16_t>(fortran.data(), {3, 5}, Order::f)).value();
  for (std::size_t y = 0; y < 3; ++y)
    for (std::size_t x = 0; x < 5; ++x) EXPECT_EQ(fortran[x * 3 + y], counting()[(2 + y) * kSide + 7 + x]);
  array.write(Box{{7, 2}, {5, 3}}, StridedView<const std::uint16_t>(fortran.data(), {5, 3}, Order::c)).value();
  Elements backwards(15);
  array
      .read(Box{{7, 2}, {5, 3}},
            StridedView<std::uint16_t>(backwards.data() + 14, {5, 3}, std::vector<std::int64_t>{-3, -1}))
      .value();
  EXPECT_EQ(Elements(backwards.rbegin(), backwards.rend()), fortran);
}

TEST(Edges, ChunksAreStoredInFullAndPaddedWithTheFillValue) {
  const auto store = memory_store();
  CreateOptions options{.shape = {5}, .dtype = DType::uint8, .chunks = {4}, .codecs = std::vector<Json>{"bytes"}};
  options.fill_value = Json(9);
  const Array array = create_array(store, "", options).value();
  array.write(Box{{0}, {5}}, std::span<const std::uint8_t>(std::vector<std::uint8_t>{1, 2, 3, 4, 5})).value();
  EXPECT_EQ(store->get("c/1").value(), "\x05\x09\x09\x09");
  store->set("c/1", std::string_view("\x06???")).value();
  std::vector<std::uint8_t> values(5);
  array.read(Box{{0}, {5}}, std::span(values)).value();
  EXPECT_EQ(values, (std::vector<std::uint8_t>{1, 2, 3, 4, 6})) << "what other writers put there is ignored";
}

TEST(Keys, HaveExactlyOneSpelling) {
  const std::pair<const char*, std::vector<std::string>> rows[] = {
      {R"({"name": "default"})",
       {"c/01/0", "c/0", "c/0/0/0", "c/+1/0", "c/-1/0", "c/0x1/0", "c/1/18446744073709551616", "0/0", "c.0.0",
        "d/0/0"}},
      {R"({"name": "default", "configuration": {"separator": "."}})",
       {"c.01.0", "c.0", "c.0.0.0", "c/0/0", "c.0.0.", "0.0"}},
      {R"({"name": "v2"})", {"01.0", "0", "0.0.0", "0.0.", "0/0", "c.0.0"}},
      {R"({"name": "v2", "configuration": {"separator": "/"}})", {"01/0", "0", "0/0/0", "0.0", "c/0/0"}}};
  for (const auto& [encoding, keys] : rows)
    for (const std::string& key : keys) {
      CreateOptions options{.shape = {20, 20}, .dtype = DType::uint8, .chunks = {1, 1}};
      options.chunk_key_encoding = Json::parse(encoding).value();
      const auto store = memory_store();
      const Array array = create_array(store, "", options).value();
      store->set(key, std::string_view("x")).value();
      EXPECT_EQ(array.stored().value().objects, 0U) << encoding << " " << key;
      EXPECT_EQ(check(store).value().faults.size(), 1U) << encoding << " " << key;
    }
}

TEST(Keys, OfArraysWithoutDimensionsAreSingleNames) {
  for (const auto& [encoding, key] : {std::pair{"default", "c"}, {"v2", "0"}}) {
    CreateOptions options{.shape = {}, .dtype = DType::uint8};
    options.chunk_key_encoding = Json(encoding);
    const auto store = memory_store();
    const std::uint8_t value = 5;
    create_array(store, "", options).value().write(Box{}, std::span(&value, 1)).value();
    EXPECT_TRUE(store->get(key).value()) << key;
    EXPECT_EQ(open_array(store).value().stored().value().objects, 1U);
  }
}

TEST(Rectilinear, ArraysGrowUpToTheirEdges) {
  CreateOptions options{.shape = {5}, .dtype = DType::uint16};
  options.chunk_grid =
      Json::parse(R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[2, [3, 2]]]}})")
          .value();
  options.fill_value = Json(9);
  Array array = create_array(memory_store(), "", options).value();
  array.write(Box{{0}, {5}}, std::span<const std::uint16_t>(Elements{1, 2, 3, 4, 5})).value();
  array.resize({8}).value();
  array.resize({3}).value();
  array.resize({8}).value();
  Elements values(8);
  array.read(Box{{0}, {8}}, std::span(values)).value();
  EXPECT_EQ(values, (Elements{1, 2, 3, 9, 9, 9, 9, 9}));
  const auto refused = array.resize({9});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument) << refused.error().text();
  EXPECT_EQ(array.shape(), Shape{8});
}

}  // namespace strategy_test
}  // namespace sherd
