// Copies out of Neuroglancer's volumes into arrays, whose last chunks go on beyond the volume: those are encoded again.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "sherd/sherd.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace volume_test {

using neuroglancer::create_precomputed;
using neuroglancer::VolumeInfo;

constexpr std::uint64_t kElements = 70 * 50 * 33;
const Box kAll{{0, 0, 0, 0}, {70, 50, 33, 1}};

Json sharding() {
  return *Json::parse(R"({"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 1,
    "minishard_bits": 2, "shard_bits": 10, "minishard_index_encoding": "gzip", "data_encoding": "gzip"})");
}

std::vector<std::uint16_t> fill(const std::shared_ptr<Store>& store, const Json& how, const std::string& encoding) {
  VolumeInfo info;
  info.data_type = DType::uint16;
  info.scales.push_back({.key = "s0", .size = {70, 50, 33}, .chunk_sizes = {{32, 16, 16}}, .resolution = {8, 8, 40}});
  info.scales[0].sharding = how;
  info.scales[0].encoding = encoding;
  std::vector<std::uint16_t> values(kElements);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  const Array array = create_precomputed(store, "", info).value();
  array.write(kAll, std::span<const std::uint16_t>(values)).value();
  return values;
}

// The copy's elements in the order of the volume's: its dimensions are z, y, x.
std::vector<std::uint16_t> all_of(const std::shared_ptr<Store>& store, const std::string& path) {
  std::vector<std::uint16_t> values(kElements);
  const StridedView<std::uint16_t> view(values.data(), {33, 50, 70}, {1, 33, 50 * 33});
  open_array(store, {.path = path}).value().read(Box{{0, 0, 0}, {33, 50, 70}}, view).value();
  return values;
}

class CopyVolume : public testing::TestWithParam<bool> {};

TEST_P(CopyVolume, ToZarrMovesWholeChunksAndEncodesClippedOnes) {
  const auto volume = memory_store();
  const auto values = fill(volume, GetParam() ? sharding() : Json(), "raw");
  const auto zarr = memory_store();
  const CopyReport report = copy(volume, zarr, {.format = "zarr3"}).value();
  EXPECT_EQ(report.chunks_moved, 12U) << "2 x 3 x 2 chunks are whole";
  EXPECT_EQ(report.chunks_encoded, 24U);
  EXPECT_EQ(all_of(zarr, "s0"), values);
  EXPECT_TRUE(check(zarr, {.data = true}).value().ok());
  const Array array = open_array(zarr, {.path = "s0"}).value();
  EXPECT_EQ(array.chunks(), (Shape{16, 16, 32}));
  EXPECT_EQ(array.codecs().elements().back().find("name")->text(), GetParam() ? "sharding_indexed" : "bytes")
      << "dimensions in the order of the bytes need no transpose";
  EXPECT_EQ(array.shards().has_value(), GetParam());
}

TEST_P(CopyVolume, ToAVolumeKeepsEveryObject) {
  const auto volume = memory_store();
  const auto values = fill(volume, GetParam() ? sharding() : Json(), "raw");
  const auto copied = memory_store();
  const CopyReport report = copy(volume, copied).value();
  EXPECT_EQ(report.chunks_moved, 36U);
  EXPECT_EQ(report.chunks_encoded, 0U);
  EXPECT_TRUE(tree_of(*copied) == tree_of(*volume));
}

TEST_P(CopyVolume, WithOtherChunksOrAnUnknownEncodingIsReencoded) {
  const auto volume = memory_store();
  const auto values = fill(volume, GetParam() ? sharding() : Json(), "png");
  for (const auto& chunks : {std::optional<Shape>(), std::optional<Shape>({30, 30, 30})}) {
    const auto zarr = memory_store();
    const CopyReport report = copy(volume, zarr, {.chunks = chunks, .shards = Shape(), .format = "zarr3"}).value();
    EXPECT_EQ(report.chunks_moved, 0U);
    EXPECT_EQ(all_of(zarr, "s0"), values);
  }
}

INSTANTIATE_TEST_SUITE_P(Sharded, CopyVolume, testing::Bool());

// ---- objects next to volumes ----

using neuroglancer::Collection;
using neuroglancer::MultiscaleMesh;

MultiscaleMesh mesh(std::uint32_t bytes) {
  MultiscaleMesh made;
  made.manifest.chunk_shape = {16, 16, 16};
  made.manifest.levels.push_back({1, {}, {{{0, 0, 0}, bytes}}});
  made.fragments = std::string(bytes, 'f');
  return made;
}

Collection meshes_at(const std::shared_ptr<Store>& store, const std::string& path) {
  neuroglancer::MultiscaleMeshInfo info;
  info.sharding = sharding();
  Collection meshes = Collection::create(store, info, {.path = path}).value();
  for (const std::uint64_t id : {1, 2, 3, 4, 5}) meshes.write_multiscale_mesh(id, mesh(1000)).value();
  meshes.write_multiscale_mesh(3, mesh(70)).value();
  return meshes;
}

std::map<std::string, std::string> objects_of(const std::shared_ptr<Store>& store, const std::string& prefix) {
  std::map<std::string, std::string> objects;
  store
      ->list(prefix,
             [&](const std::string& key, std::uint64_t) {
               objects[key.substr(prefix.size())] = store->get(key).value().value();
               return true;
             })
      .value();
  return objects;
}

std::shared_ptr<Store> volume_with_meshes() {
  auto store = memory_store();
  VolumeInfo info;
  info.data_type = DType::uint16;
  info.scales.push_back({.key = "s0", .size = {8, 8, 8}, .chunk_sizes = {{8, 8, 8}}, .resolution = {8, 8, 40}});
  info.other = Json::Object{{"mesh", "objects/mesh"}, {"skeletons", "../outside"}, {"segment_properties", "gone"}};
  const Array array = create_precomputed(store, "", info).value();
  const std::vector<std::uint16_t> values(512, 3);
  array.write(Box{{0, 0, 0, 0}, {8, 8, 8, 1}}, std::span<const std::uint16_t>(values)).value();
  meshes_at(store, "objects/mesh");
  return store;
}

TEST(CopyVolumeWithMeshes, CopiesThemUnchanged) {
  const auto volume = volume_with_meshes();
  const auto copied = memory_store();
  copy(volume, copied, {.destination_path = "a/b"}).value();
  EXPECT_TRUE(objects_of(copied, "a/b/") == objects_of(volume, ""));
  EXPECT_TRUE(objects_of(copied, "").size() == objects_of(volume, "").size()) << "nothing is stored elsewhere";
  const auto again = memory_store();
  copy(copied, again, {.source_path = "a/b", .destination_path = "c"}).value();
  EXPECT_TRUE(objects_of(again, "c/") == objects_of(volume, ""));
  const Collection meshes = Collection::open(copied, {.path = "a/b/objects/mesh"}).value();
  EXPECT_EQ(meshes.read_multiscale_mesh(3).value(), mesh(70));
  EXPECT_EQ(meshes.read_multiscale_mesh(4).value(), mesh(1000));
}

TEST(CopyVolumeWithMeshes, ToZarrLeavesThemBehind) {
  const auto zarr = memory_store();
  copy(volume_with_meshes(), zarr, {.format = "zarr3"}).value();
  EXPECT_TRUE(objects_of(zarr, "objects/").empty());
}

TEST(CopyCollection, KeepsEveryByteAndCanBeResumed) {
  const auto store = memory_store();
  meshes_at(store, "mesh");
  const auto copied = memory_store();
  const CopyReport report = copy(store, copied, {.source_path = "mesh", .destination_path = "m"}).value();
  EXPECT_EQ(report.shards, objects_of(store, "mesh/").size());
  EXPECT_TRUE(objects_of(copied, "m/") == objects_of(store, "mesh/"));
  EXPECT_EQ(copy(store, copied, {.source_path = "mesh", .destination_path = "m"}).error().code(), ErrorCode::conflict);
  const auto first = objects_of(copied, "m/").begin()->first;
  copied->erase("m/" + first).value();
  const CopyReport rest = copy(store, copied, {.resume = true, .source_path = "mesh", .destination_path = "m"}).value();
  EXPECT_EQ(rest.shards, 1U);
  EXPECT_EQ(rest.shards_skipped, report.shards - 1);
  EXPECT_TRUE(objects_of(copied, "m/") == objects_of(store, "mesh/"));
  const CopyOptions over{.overwrite = true, .source_path = "mesh", .destination_path = "m"};
  copied->set("m/foreign", "").value();
  const auto refused = copy(store, copied, over);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(refused.error().key(), "m/foreign");
  copied->erase("m/foreign").value();
  copied->erase("m/" + first).value();
  copy(store, copied, over).value();
  EXPECT_TRUE(objects_of(copied, "m/") == objects_of(store, "mesh/"));
}

TEST(CopyCollection, IsInvisibleUntilCompleteAndCanBeResumed) {
  const auto store = memory_store();
  meshes_at(store, "mesh");
  const auto copied = memory_store();
  const auto before = [&] {
    neuroglancer::Collection::create(copied, neuroglancer::SkeletonInfo{}, {.path = "m", .overwrite = true}).value();
    return objects_of(copied, "m/");
  }();
  const auto failing = std::make_shared<TestStore>(copied);
  failing->fail_from(2);
  const CopyOptions options{.overwrite = true, .source_path = "mesh", .destination_path = "m"};
  EXPECT_EQ(copy(store, failing, options).error().code(), ErrorCode::io);
  EXPECT_TRUE(objects_of(copied, "m/") == before);
  CopyOptions resumed = options;
  resumed.resume = true;
  EXPECT_EQ(copy(store, copied, resumed).value().shards_skipped, 1U);
  EXPECT_TRUE(objects_of(copied, "m/") == objects_of(store, "mesh/"));
  EXPECT_TRUE(copied->list_dir("").value().prefixes == std::vector<std::string>{"m"}) << "nothing is left next to it";
}

TEST(CopyCollection, ReplacesACollectionOrANodeButNoForeignFiles) {
  const auto store = memory_store();
  meshes_at(store, "");
  const auto home = memory_store();
  home->set("thesis/a.txt", "dear").value();
  EXPECT_EQ(copy(store, home, {.overwrite = true}).error().code(), ErrorCode::conflict);
  EXPECT_TRUE(objects_of(home, "") == (std::map<std::string, std::string>{{"thesis/a.txt", "dear"}}));
  create_array(home, "node", {.shape = {4}, .dtype = DType::uint8}).value();
  copy(store, home, {.overwrite = true, .destination_path = "node"}).value();
  EXPECT_TRUE(objects_of(home, "node/") == objects_of(store, ""));
}

TEST(CopyCollection, RefusesOtherFormatsAndChunkOptions) {
  const auto store = memory_store();
  meshes_at(store, "");
  const auto copied = memory_store();
  EXPECT_EQ(copy(store, copied, {.format = "zarr3"}).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(copy(store, copied, {.chunks = Shape{8}}).error().code(), ErrorCode::invalid_argument);
  const CopyOptions of_images[] = {{.axes = {"x"}}, {.pyramid = Pyramid{}}, {.encoding = "raw"}, {.sharding = Json()}};
  for (const CopyOptions& options : of_images)
    EXPECT_EQ(copy(store, copied, options).error().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(objects_of(copied, "").empty());
  EXPECT_EQ(copy(memory_store(), copied).error().code(), ErrorCode::not_found);
}

}  // namespace volume_test
}  // namespace sherd
