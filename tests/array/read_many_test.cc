// Many regions in one call: each index and each chunk is read and decoded once, also if regions overlap.
// That such a call reads what each region would alone, for any layout, is tested in model_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "sherd/sherd.hpp"

namespace sherd {
namespace read_many_test {

using Element = std::uint32_t;
constexpr std::uint64_t kLength = 256;  // of both dimensions; 32x32 inner chunks of 8x8
constexpr std::uint64_t kIndexBytes = 32 * 32 * 16 + 4;

/// Boxes of one array of elements 1, 2, … in C order, and memory for them.
class Boxes {
 public:
  void add(const Box& box) {
    boxes_.push_back(box);
    memory_.emplace_back(*element_count(box.shape));
    auto* data = reinterpret_cast<std::byte*>(memory_.back().data());
    regions_.push_back({box, AnyView::dense(data, DType::uint32, box.shape)});
  }
  [[nodiscard]] const std::vector<Array::Region>& regions() const { return regions_; }
  void expect_elements() const {
    for (std::size_t i = 0; i < boxes_.size(); ++i)
      for (std::size_t k = 0; k < memory_[i].size(); ++k) {
        const std::uint64_t row = boxes_[i].origin[0] + k / boxes_[i].shape[1];
        ASSERT_EQ(memory_[i][k], row * kLength + boxes_[i].origin[1] + k % boxes_[i].shape[1] + 1) << "region " << i;
      }
  }

 private:
  std::vector<Box> boxes_;
  std::vector<std::vector<Element>> memory_;  // not moved: regions point into the inner vectors
  std::vector<Array::Region> regions_;
};

/// Every second inner chunk: no two of them are neighbours in a shard.
Boxes every_second_chunk() {
  Boxes boxes;
  for (std::uint64_t i = 0; i < 32 * 32; i += 2) boxes.add({{i / 32 * 8, i % 32 * 8}, {8, 8}});
  return boxes;
}

class ReadMany : public ::testing::Test {
 protected:
  struct Cost {
    std::vector<Recorder::Request> requests;
    std::uint64_t decoded;  // chunks
  };

  /// 256x256 elements 1, 2, … in one shard unless the options say otherwise; nothing of it is kept in memory.
  Array written(CreateOptions options = {.chunks = {8, 8}, .shards = {kLength, kLength}}) {
    options.shape = {kLength, kLength};
    options.dtype = DType::uint32;
    options.config.recorder = recorder_;
    options.config.chunk_order = ChunkOrder::c;
    options.config.coalesce_gap = 0;
    const Array array = create_array(memory_store(), "a", options).value();
    std::vector<Element> values(kLength * kLength);
    std::iota(values.begin(), values.end(), Element{1});
    array.write(Box{{0, 0}, array.shape()}, std::span<const Element>(values)).value();
    return array.with_config(array.config());
  }
  Cost reading(const Array& array, const Boxes& boxes) {
    const std::uint64_t before = recorder_->stats().chunks_decoded;
    recorder_->start();
    array.read(boxes.regions()).value();
    Cost cost{recorder_->stop(), recorder_->stats().chunks_decoded - before};
    boxes.expect_elements();
    return cost;
  }
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
};

TEST_F(ReadMany, FiveHundredAndTwelveChunksOfOneShardCostOneIndex) {
  const Cost cost = reading(written(), every_second_chunk());
  EXPECT_EQ(std::ranges::count(cost.requests, kIndexBytes, &Recorder::Request::length), 1);
  EXPECT_EQ(cost.requests.size(), 1U + 512);
  EXPECT_EQ(cost.decoded, 512U);
}

TEST_F(ReadMany, RunsOfNeighboursAreReadTogetherForAllRegions) {
  Boxes boxes;
  for (std::uint64_t i = 0; i < 32; ++i) boxes.add({{64, (i * 7 % 32) * 8}, {8, 8}});  // one row of inner chunks
  EXPECT_EQ(reading(written(), boxes).requests.size(), 2U) << "the index, and one run";
}

TEST_F(ReadMany, AChunkThatSeveralRegionsWantIsReadAndDecodedOnce) {
  Boxes boxes;
  for (int i = 0; i < 3; ++i) boxes.add({{8, 8}, {8, 8}});  // all of a chunk, three times
  boxes.add({{9, 10}, {3, 2}});
  boxes.add({{4, 4}, {12, 12}});  // and of its neighbours
  const Cost cost = reading(written(), boxes);
  EXPECT_EQ(cost.decoded, 4U);
  EXPECT_EQ(cost.requests.size(), 1U + 2) << "two rows of two neighbours";
}

TEST_F(ReadMany, ChunksWithoutShardsAreOpenedOnce) {
  Boxes boxes;
  for (std::uint64_t i = 0; i < 64; ++i) boxes.add({{i, 3 * i}, {5, 6}});
  const Cost many = reading(written({.chunks = {128, 128}}), boxes);
  EXPECT_EQ(many.decoded, 2U);
  EXPECT_EQ(many.requests.size(), 2U);
}

TEST_F(ReadMany, RegionsThatCoverAShardTogetherReadItWhole) {
  Boxes boxes;
  for (std::uint64_t i = 0; i < kLength; i += 32) boxes.add({{kLength - 32 - i, 0}, {32, kLength}});
  EXPECT_EQ(reading(written(), boxes).requests.size(), 1U);
}

TEST_F(ReadMany, EachLevelOfNestedShardsHasItsIndicesReadOnce) {
  CreateOptions options;
  options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [256, 256]}})").value();
  options.raw_codecs = Json::parse(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [128, 128],
      "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"],
      "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}]}}])")
                           .value();
  Boxes boxes;  // every second chunk of three inner shards; if all four were wanted, the object would be read whole
  for (std::uint64_t i = 0; i < 32 * 32; i += 2)
    if (i / 32 < 16 || i % 32 < 16) boxes.add({{i / 32 * 8, i % 32 * 8}, {8, 8}});
  const Cost cost = reading(written(options), boxes);
  EXPECT_EQ(cost.requests.size(), 1U + 3 + 384);
  EXPECT_EQ(cost.decoded, 384U);
}

TEST_F(ReadMany, EveryKindOfCacheKeepsWhatTheNextCallNeeds) {
  for (const auto& [mode, requests] :
       {std::pair(CacheMode::index, 512U), {CacheMode::shard, 0U}, {CacheMode::chunks, 0U}}) {
    CreateOptions options{.chunks = {8, 8}, .shards = {kLength, kLength}};
    options.config.cache = mode;
    const Array array = written(options);
    reading(array, every_second_chunk());
    EXPECT_EQ(reading(array, every_second_chunk()).requests.size(), requests);
  }
}

TEST_F(ReadMany, NoRegionsAndRegionsWithoutElementsCostNothing) {
  const Array array = written();
  EXPECT_TRUE(reading(array, {}).requests.empty());
  Boxes boxes;
  boxes.add({{0, 0}, {0, 8}});
  boxes.add({{8, kLength}, {8, 0}});
  EXPECT_TRUE(reading(array, boxes).requests.empty());
  boxes.add({{3, 3}, {2, 2}});
  EXPECT_EQ(reading(array, boxes).decoded, 1U);
}

TEST_F(ReadMany, ChunksThatAreMissingHoldTheFillValueInEachRegion) {
  const Array array = create_array(memory_store(), "a",
                                   {.shape = {16, 16}, .dtype = DType::uint32, .chunks = {4, 4}, .fill_value = Json(7)})
                          .value();
  Boxes boxes;
  for (std::uint64_t i = 0; i < 8; ++i) boxes.add({{i, 0}, {1, 16}});
  array.read(boxes.regions()).value();
  for (const Array::Region& region : boxes.regions()) {
    const auto* elements = reinterpret_cast<const Element*>(region.into.data);
    EXPECT_EQ(std::vector<Element>(elements, elements + 16), std::vector<Element>(16, 7));
  }
}

TEST_F(ReadMany, ARegionThatDoesNotFitIsNamedByItsNumberAndNothingIsRead) {
  const Array array = written();
  Boxes boxes;
  boxes.add({{0, 0}, {8, 8}});
  boxes.add({{250, 0}, {8, 8}});
  recorder_->start();
  const auto outside = array.read(boxes.regions());
  EXPECT_TRUE(recorder_->stop().empty());
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(outside.error().message().starts_with("region 1: ")) << outside.error().text();

  std::vector<Array::Region> regions = boxes.regions();
  regions[1].selection = Box{{0, 0}, {8, 9}};
  EXPECT_TRUE(array.read(regions).error().message().starts_with("region 1: "));
  regions[1] = regions[0];
  regions[0].into.dtype = DType::int32;
  EXPECT_TRUE(array.read(regions).error().message().starts_with("region 0: "));
}

TEST_F(ReadMany, ADamagedChunkIsNamedByItsKeyAndSlot) {
  const auto store = memory_store();
  CreateOptions options{.shape = {16, 16}, .dtype = DType::uint32, .chunks = {8, 8}, .shards = {16, 16}};
  options.config.chunk_order = ChunkOrder::c;
  options.codecs = std::vector<Json>{Json("crc32c")};
  const Array array = create_array(store, "a", options).value();
  std::vector<Element> values(16 * 16);
  std::iota(values.begin(), values.end(), Element{1});
  array.write(Box{{0, 0}, {16, 16}}, std::span<const Element>(values)).value();
  std::string shard = store->get("a/c/0/0").value().value();
  shard[3 * (8 * 8 * sizeof(Element) + 4)] ^= 1;
  store->set("a/c/0/0", shard).value();
  Boxes boxes;
  boxes.add({{0, 0}, {8, 8}});
  boxes.add({{8, 8}, {8, 8}});
  const auto read = open_array(store, {.path = "a"}).value().read(boxes.regions());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(read.error().key(), "a/c/0/0");
  EXPECT_EQ(read.error().slot(), 3U);
}

TEST_F(ReadMany, RegionsOfAllKindsAndOrdersComeTogether) {
  const Array array = written();
  std::vector<Element> column(3), points(4), reversed(kLength * 2);
  const auto view = [](std::vector<Element>& memory, Shape shape, Order order = Order::c) {
    return AnyView::dense(reinterpret_cast<std::byte*>(memory.data()), DType::uint32, std::move(shape), order);
  };
  const std::vector<Array::Region> regions{
      {Selection::orthogonal({Indices{200, 3, 3}, Range{5, 1}}), view(column, {3})},
      {Selection::points({{0, 255, 9, 9}, {255, 0, 9, 9}}), view(points, {4})},
      {Selection::orthogonal({Range{255, kLength, -1}, Range{0, 2}}), view(reversed, {kLength, 2}, Order::f)}};
  array.read(regions).value();
  EXPECT_EQ(column, (std::vector<Element>{200 * kLength + 6, 3 * kLength + 6, 3 * kLength + 6}));
  EXPECT_EQ(points, (std::vector<Element>{256, 255 * kLength + 1, 9 * kLength + 10, 9 * kLength + 10}));
  for (std::size_t i = 0; i < kLength; ++i) ASSERT_EQ(reversed[kLength + i], (255 - i) * kLength + 2);
}

TEST_F(ReadMany, ChunksThatAreLargeAreStreamedToAllRegions) {
  CreateOptions options{.shape = {1024, 1024}, .dtype = DType::uint32, .chunks = {1024, 1024}};
  options.config.recorder = recorder_;
  options.codecs = std::vector<Json>{Json("zstd:1")};
  const Array array = create_array(memory_store(), "a", options).value();
  std::vector<Element> values(1024 * 1024);
  std::iota(values.begin(), values.end(), Element{1});
  array.write(Box{{0, 0}, {1024, 1024}}, std::span<const Element>(values)).value();
  const std::uint64_t before = recorder_->stats().chunks_decoded;
  std::vector<Element> first(100 * 1024), second(1024 * 3), all(1024 * 1024);
  const auto region = [](const Box& box, std::vector<Element>& memory) {
    auto* data = reinterpret_cast<std::byte*>(memory.data());
    return Array::Region{box, AnyView::dense(data, DType::uint32, box.shape)};
  };
  const std::vector<Array::Region> parts{region({{500, 0}, {100, 1024}}, first), region({{0, 700}, {1024, 3}}, second)};
  array.read(parts).value();
  EXPECT_EQ(recorder_->stats().chunks_decoded - before, 1U);
  for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(first[i], 500 * 1024 + i + 1);
  for (std::size_t i = 0; i < second.size(); ++i) ASSERT_EQ(second[i], i / 3 * 1024 + 700 + i % 3 + 1);
  std::ranges::fill(second, Element{0});
  array.read(std::vector{region({{0, 700}, {1024, 3}}, second), region({{0, 0}, {1024, 1024}}, all)}).value();
  EXPECT_EQ(all, values);
  for (std::size_t i = 0; i < second.size(); ++i) ASSERT_EQ(second[i], i / 3 * 1024 + 700 + i % 3 + 1);
}

TEST_F(ReadMany, ElementsOfVariableLengthAreKeptByOneArena) {
  const std::vector<std::string> texts{"", "a", "two words", std::string(1000, 'x'), "ß", "e", "f", "g"};
  std::vector<VarBytes> values;
  for (const std::string& text : texts) values.push_back({text.data(), text.size()});
  for (const CacheMode mode : {CacheMode::index, CacheMode::chunks}) {
    CreateOptions options{.shape = {8}, .dtype = DType::string, .chunks = {2}, .shards = {4}};
    options.config.cache = mode;
    const Array array = create_array(memory_store(), "a", options).value();
    array.write(Box{{0}, {8}}, std::span<const VarBytes>(values)).value();
    std::vector<std::vector<VarBytes>> read(20, std::vector<VarBytes>(3));
    std::vector<Array::Region> regions;
    for (std::size_t i = 0; i < read.size(); ++i)
      regions.push_back(
          {Box{{i % 6}, {3}}, AnyView::dense(reinterpret_cast<std::byte*>(read[i].data()), DType::string, {3})});
    EXPECT_EQ(array.read(regions).error().code(), ErrorCode::invalid_argument) << "an arena is required";
    VarBytesArena arena;
    array.read(regions, &arena).value();
    for (std::size_t i = 0; i < read.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(std::string(read[i][k].data, read[i][k].size), texts[i % 6 + k]);
  }
}

TEST_F(ReadMany, ProgressCountsTheElementsOfAllRegions) {
  const Array stored = written({.chunks = {128, 128}});
  Progress last;
  Config config;
  config.threads = 1;
  config.progress = [&](const Progress& now) { last = now; };
  // Each of the four chunks takes longer than the time between two calls of progress.
  const auto slow = delayed_store(stored.store(), std::chrono::milliseconds(30), 1);
  const Boxes boxes = every_second_chunk();
  open_array(slow, {.path = "a", .config = config}).value().read(boxes.regions()).value();
  EXPECT_EQ(last.total, 512U * 64 * sizeof(Element));
  EXPECT_GE(last.done, last.total * 3 / 4) << "at the latest call three chunks are read, or all four";
  EXPECT_LE(last.done, last.total);
}

}  // namespace read_many_test
}  // namespace sherd
