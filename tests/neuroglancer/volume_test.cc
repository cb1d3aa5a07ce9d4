// Volumes of Neuroglancer's precomputed format as arrays: made, written and read over encodings and shardings, and the
// bytes that the format says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "sherd/sherd.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace volume_test {

using namespace std::string_literals;

using neuroglancer::create_precomputed;
using neuroglancer::VolumeInfo;
using neuroglancer::VolumeScale;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

Json sharding(std::uint64_t preshift, std::uint64_t minishard, std::uint64_t shard,
              const std::string& encoding = "gzip", const std::string& hash = "identity") {
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"preshift_bits", preshift},
                      {"hash", hash},
                      {"minishard_bits", minishard},
                      {"shard_bits", shard},
                      {"minishard_index_encoding", encoding},
                      {"data_encoding", encoding}};
}

VolumeInfo volume(const DType& dtype, const Json& how = {}, const std::string& encoding = "raw") {
  VolumeInfo info;
  info.data_type = dtype;
  VolumeScale scale{.key = "8_8_40", .size = {70, 50, 33}, .chunk_sizes = {{32, 16, 16}}, .resolution = {8, 8, 40}};
  scale.encoding = encoding;
  scale.sharding = how;
  if (encoding == "compressed_segmentation") scale.block_size = {{8, 8, 8}};
  info.scales.push_back(scale);
  return info;
}

// Elements of any type, as bytes in C order.
std::vector<std::byte> elements(const Array& array, const Shape& shape, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(element_count(shape).value() * array.dtype().size());
  const std::size_t size = array.dtype().size();
  for (std::size_t i = 0; i < bytes.size(); i += size) bytes[i] = static_cast<std::byte>(random() % 7);
  return bytes;
}

struct Layout {
  std::string name;
  Json sharding;
  std::string encoding = "raw";
  DType dtype = DType::uint16;
  std::uint64_t channels = 1;
};

void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

class Volume : public testing::TestWithParam<Layout> {};

TEST_P(Volume, RoundTripsAnyBoxAlsoThroughAnotherHandle) {
  const Layout& layout = GetParam();
  VolumeInfo info = volume(layout.dtype, layout.sharding, layout.encoding);
  info.num_channels = layout.channels;
  info.scales[0].voxel_offset = {-3, 7, 0};
  const auto store = memory_store();
  Array array = create_precomputed(store, "", info).value();
  const Shape shape{70, 50, 33, layout.channels};
  ASSERT_EQ(array.shape(), shape);
  std::vector<std::byte> model(element_count(shape).value() * array.dtype().size());
  const std::size_t size = array.dtype().size();
  std::mt19937 random(1);
  for (unsigned step = 0; step < 24; ++step) {
    Box box{Shape(4, 0), shape};
    for (std::size_t d = 0; d < 4 && step > 0; ++d) {
      box.origin[d] = random() % shape[d];
      box.shape[d] = 1 + random() % (shape[d] - box.origin[d]);
    }
    const auto values = elements(array, box.shape, step);
    array.write(box, ConstAnyView::dense(values.data(), array.dtype(), box.shape)).value();
    std::size_t from = 0;
    for (std::uint64_t x = 0; x < box.shape[0]; ++x)
      for (std::uint64_t y = 0; y < box.shape[1]; ++y)
        for (std::uint64_t z = 0; z < box.shape[2]; ++z) {
          const std::uint64_t at =
              ((((box.origin[0] + x) * shape[1] + box.origin[1] + y) * shape[2] + box.origin[2] + z) * shape[3] +
               box.origin[3]) *
              size;
          std::copy_n(values.data() + from, box.shape[3] * size, model.data() + at);
          from += box.shape[3] * size;
        }
    std::vector<std::byte> read(model.size());
    const Array other = step % 2 == 0 ? array : open_array(store).value();
    other.read(Box{Shape(4, 0), shape}, AnyView::dense(read.data(), array.dtype(), shape)).value();
    ASSERT_EQ(read, model) << "step " << step;
  }
  EXPECT_THAT(check(store, {.data = true}).value().faults, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Volume,
    testing::Values(Layout{"Plain", {}}, Layout{"PlainChannels", {}, "raw", DType::float32, 3},
                    Layout{"Gzip", sharding(1, 2, 10)}, Layout{"Raw", sharding(2, 1, 3, "raw")},
                    Layout{"RawChannels", sharding(0, 0, 6, "raw"), "raw", DType::uint8, 3},
                    Layout{"OneShard", sharding(0, 3, 0)},
                    Layout{"OneHashedShard", sharding(1, 2, 0, "gzip", "murmurhash3_x86_128")},
                    Layout{"OneChunkAShard", sharding(0, 0, 6)}, Layout{"AllBits", sharding(63, 0, 1, "raw")},
                    Layout{"Hashed", sharding(0, 1, 2, "gzip", "murmurhash3_x86_128")},
                    Layout{"HashedRaw", sharding(1, 1, 1, "raw", "murmurhash3_x86_128"), "raw", DType::uint32, 2},
                    Layout{"HashedPng", sharding(0, 1, 2, "raw", "murmurhash3_x86_128"), "png"},
                    Layout{"HashedSegmentation", sharding(0, 2, 1, "gzip", "murmurhash3_x86_128"),
                           "compressed_segmentation", DType::uint64},
                    Layout{"Wrapped", sharding(1, 1, 1)}, Layout{"WrappedRaw", sharding(0, 0, 2, "raw")},
                    Layout{"Png", sharding(1, 1, 4, "raw"), "png", DType::uint16, 2}, Layout{"PlainPng", {}, "png"},
                    Layout{"Segmentation", sharding(1, 1, 4), "compressed_segmentation", DType::uint64},
                    Layout{"PlainSegmentation", {}, "compressed_segmentation", DType::uint32, 2}),
    [](const auto& param) { return param.param.name; });

TEST(PrecomputedVolume, IsAGroupOfItsScales) {
  VolumeInfo info = volume(DType::uint8);
  VolumeScale coarse = info.scales[0];
  coarse.key = "../up/16_16_40";
  coarse.size = {35, 25, 33};
  info.scales.push_back(coarse);
  const auto store = memory_store();
  Array fine = create_precomputed(store, "a/b", info).value();
  const auto members = open_group(store, {.path = "a/b"}).value().members().value();
  EXPECT_THAT(members, ElementsAre(std::pair<std::string, NodeType>("8_8_40", NodeType::array),
                                   std::pair<std::string, NodeType>("scale1", NodeType::array)));
  Array other = open_array(store, {.path = "a/b", .writable = true, .scale = 1}).value();
  EXPECT_EQ(other.shape(), (Shape{35, 25, 33, 1}));
  EXPECT_EQ(other.path(), "a/b/scale1");
  const std::uint8_t one = 1;
  other.write(Box{{0, 0, 0, 0}, {1, 1, 1, 1}}, std::span(&one, 1)).value();
  EXPECT_THAT(keys_of(*store), ElementsAre("a/b/info", "a/up/16_16_40/0-32_0-16_0-16"));
  EXPECT_EQ(open_array(store, {.path = "a/b", .scale = 2}).error().code(), ErrorCode::not_found);
  EXPECT_EQ(open_array(store, {.path = "a/b/8_8_41"}).error().code(), ErrorCode::not_found);
}

TEST(PrecomputedVolume, HasTheSpecifiedKeysAndBytes) {
  VolumeInfo info = volume(DType::uint8);
  info.scales[0].size = {3, 2, 2};
  info.scales[0].chunk_sizes = {{2, 2, 2}};
  info.scales[0].voxel_offset = {-3, 7, 0};
  const auto store = memory_store();
  Array array = create_precomputed(store, "", info).value();
  std::vector<std::uint8_t> values(12);
  std::iota(values.begin(), values.end(), std::uint8_t{1});  // 1 + 4x + 2y + z
  array.write(Box{{0, 0, 0, 0}, {3, 2, 2, 1}}, std::span<const std::uint8_t>(values)).value();
  EXPECT_THAT(keys_of(*store), ElementsAre("8_8_40/-1-0_7-9_0-2", "8_8_40/-3--1_7-9_0-2", "info"));
  EXPECT_EQ(store->get("8_8_40/-3--1_7-9_0-2").value(), "\1\5\3\7\2\6\4\10");
  EXPECT_EQ(store->get("8_8_40/-1-0_7-9_0-2").value(), "\11\13\12\14") << "the last chunk ends where the volume does";
}

TEST(PrecomputedVolume, PutsChunksIntoShardsByTheirMortonCode) {
  VolumeInfo info = volume(DType::uint8, sharding(0, 0, 6, "raw"));
  info.scales[0].size = {3, 3, 3};
  info.scales[0].chunk_sizes = {{1, 1, 1}};
  const auto store = memory_store();
  Array array = create_precomputed(store, "", info).value();
  const std::uint8_t one = 1;
  array.write(Box{{2, 2, 1, 0}, {1, 1, 1, 1}}, std::span(&one, 1)).value();
  EXPECT_THAT(keys_of(*store), ElementsAre("8_8_40/1c.shard", "info")) << "0b011100";
}

TEST(PrecomputedVolume, ReadsWithThreeRequestsAndWritesWithoutReading) {
  const auto recorder = std::make_shared<Recorder>();
  const auto store = recorded_store(memory_store(), recorder);
  Array array = create_precomputed(store, "", volume(DType::uint16, sharding(1, 2, 10))).value();
  std::vector<std::uint16_t> values(70 * 50 * 33, 5);
  recorder->start();
  array.write(Box{{0, 0, 0, 0}, {70, 50, 33, 1}}, std::span<const std::uint16_t>(values)).value();
  for (const auto& request : recorder->stop()) EXPECT_EQ(request.op, "put") << request.key;
}

TEST(PrecomputedVolume, AddingAChunkToAShardKeepsTheOthersUnchanged) {
  const auto recorder = std::make_shared<Recorder>();
  const auto store = memory_store();
  Array array =
      create_precomputed(store, "", volume(DType::uint16, sharding(1, 2, 10)), {.config = {.recorder = recorder}})
          .value();
  std::vector<std::uint16_t> values(70 * 50 * 33);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  array.write(Box{{0, 0, 0, 0}, {70, 50, 33, 1}}, std::span<const std::uint16_t>(values)).value();
  const auto before = recorder->stats();
  array.write(Box{{0, 0, 0, 0}, {32, 16, 16, 1}}, std::span<const std::uint16_t>(values).first(32 * 16 * 16)).value();
  const auto after = recorder->stats();
  EXPECT_EQ(after.chunks_encoded - before.chunks_encoded, 1U);
  EXPECT_EQ(after.chunks_decoded - before.chunks_decoded, 0U);
  EXPECT_EQ(after.chunks_moved - before.chunks_moved, 0U);
}

TEST(PrecomputedVolume, RefusesWritesThatWouldDamageIt) {
  const auto store = memory_store();
  Array array = create_precomputed(store, "v", volume(DType::uint8)).value();
  EXPECT_EQ(array.resize({80, 50, 33, 1}).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(array.set_attributes(Json(Json::Object{{"a", 1}})).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(create_precomputed(store, "v", volume(DType::uint8)).error().code(), ErrorCode::conflict);
  Group group = open_group(store, {.path = "v", .writable = true}).value();
  EXPECT_EQ(group.erase("8_8_40").error().code(), ErrorCode::unsupported);
  CreateOptions options{.shape = {1}, .dtype = DType::uint8};
  EXPECT_FALSE(group.create_array("new", options));
  EXPECT_THAT(keys_of(*store), ElementsAre("v/info"));
  auto flat = volume(DType::uint8);
  flat.scales[0].resolution[1] = 0;
  const auto refused = create_precomputed(store, "flat", flat);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().member(), "scales[0].resolution");
  create_precomputed(store, "v", volume(DType::uint16), {.overwrite = true}).value();
  EXPECT_EQ(open_array(store, {.path = "v"}).value().dtype(), DType::uint16);
}

TEST(PrecomputedVolume, IsNotOverwrittenIfItContainsForeignFiles) {
  const auto overwrite = [](const std::shared_ptr<Store>& store) {
    return create_precomputed(store, "v", volume(DType::uint16), {.overwrite = true});
  };
  const std::vector<std::uint8_t> ones(70 * 50 * 33, 1);
  const auto written = [&] {
    const auto store = memory_store();
    create_precomputed(store, "v", volume(DType::uint8))
        .value()
        .write(Box{{0, 0, 0, 0}, {70, 50, 33, 1}}, std::span<const std::uint8_t>(ones))
        .value();
    return store;
  };
  for (const char* foreign : {"v/notes.txt", "v/tables/a.csv", "v/8_8_40/readme", "v/8_8_40/old/0-1_0-1_0-1"}) {
    const auto store = written();
    store->set(foreign, "mine").value();
    const auto before = tree_of(*store);
    const auto refused = overwrite(store);
    ASSERT_FALSE(refused) << foreign;
    EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
    EXPECT_EQ(refused.error().key(), foreign);
    EXPECT_EQ(tree_of(*store), before);
  }
  const auto store = written();
  const std::string chunk = keys_of(*store).front();
  for (const std::string& own : {chunk + ".gz", "v/8_8_40/0.shard"s, "v/provenance"s})
    store->set(own, "part of it").value();
  overwrite(store).value();
  EXPECT_THAT(keys_of(*store), ElementsAre("v/info"));
}

TEST(PrecomputedVolume, UndecodableScalesAreDescribedButNotRead) {
  auto info = volume(DType::uint8);
  auto json = info.print().value();
  Json scales = *json.find("scales");
  Json scale = scales.elements()[0];
  scale.set("encoding", "jxl");
  json.set("scales", Json(Json::Array{scale}));
  const auto store = memory_store();
  store->set("info", json.dump()).value();
  const Array array = open_array(store).value();
  EXPECT_EQ(array.shape(), (Shape{70, 50, 33, 1}));
  std::uint8_t value = 0;
  const auto read = array.read(Box{{0, 0, 0, 0}, {1, 1, 1, 1}}, std::span(&value, 1));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(read.error().message(), HasSubstr("jxl"));
}

}  // namespace volume_test
}  // namespace sherd
