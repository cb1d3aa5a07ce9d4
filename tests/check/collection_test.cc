// check() of collections of objects: sound ones have no faults, also with data; each damage is reported with key and
// id.
#include <gmock/gmock.h>

#include <functional>
#include <mutex>

#include "base/endian.hpp"
#include "sherd/collection.hpp"
#include "sherd/precomputed.hpp"
#include "sherd/sharded_build.hpp"
#include "sherd/sharded_store.hpp"
#include "sherd/tools.hpp"
#include "tests/neuroglancer/collection_testing.hpp"

namespace sherd::neuroglancer {
namespace collection_test {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

auto fault(const std::string& code, const std::string& key) {
  return AllOf(Field("code", &Fault::code, code), Field("key", &Fault::key, key));
}
auto fault(const std::string& code, const std::string& key, std::uint64_t id) {
  return AllOf(fault(code, key), Field("slot", &Fault::slot, id));
}
auto told(const std::string& code, const std::string& message) {
  return AllOf(Field("code", &Fault::code, code), Field("message", &Fault::message, HasSubstr(message)));
}

CheckReport checked(const std::shared_ptr<Store>& store, bool data = true) {
  return check(store, {.data = data}).value();
}

/// One shard and one minishard, in which offsets are easily found.
Json one_shard() {
  Json one = kSharding;
  for (const char* member : {"minishard_bits", "shard_bits"}) one.set(member, 0);
  for (const char* member : {"minishard_index_encoding", "data_encoding"}) one.set(member, "raw");
  one.set("hash", "identity");
  return one;
}

std::shared_ptr<Store> skeletons_in_one_shard() {
  auto store = memory_store();
  SkeletonInfo info = skeleton_info(true);
  info.sharding = one_shard();
  const Collection collection = Collection::create(store, info).value();
  for (const std::uint64_t id : {17, 18}) collection.write_skeleton(id, skeleton()).value();
  Collection::open(store).value();
  ShardedStore::open(store, one_shard(), {.writable = true}).value().compact().value();
  return store;
}

void change(Store& store, const std::string& key, const std::function<void(std::string&)>& how) {
  std::string bytes = store.get(key).value().value();
  how(bytes);
  store.set(key, bytes).value();
}

class SoundCollection : public testing::TestWithParam<bool> {};

TEST_P(SoundCollection, HasNoFaults) {
  const auto store = memory_store();
  const bool sharded = GetParam();
  const auto skeletons = Collection::create(store, skeleton_info(sharded), {.path = "skeletons"}).value();
  skeletons.write_skeleton(1, skeleton()).value();
  skeletons.write_skeleton(2, skeleton(9)).value();
  const auto meshes = Collection::create(store, mesh_info(sharded), {.path = "meshes"}).value();
  meshes.write_multiscale_mesh(1, mesh()).value();
  meshes.write_multiscale_mesh(2, mesh(50)).value();
  const auto marks = Collection::create(store, annotation_info(sharded), {.path = "marks"}).value();
  marks.write_annotation(1, annotation()).value();
  marks.write_related(0, 7, annotations()).value();
  marks.write_cell(1, std::vector<std::uint64_t>{2, 1}, annotations()).value();
  for (const char* path : {"skeletons", "meshes", "marks"}) {
    const bool data = std::string(path) != "meshes";  // the fragments of these meshes are not Draco
    const CheckReport report = check(store, {.path = path, .data = data}).value();
    EXPECT_THAT(report.faults, IsEmpty()) << path << ": " << report.to_json().dump(2);
    EXPECT_EQ(report.documents, 1U);
    EXPECT_EQ(report.chunks, std::string(path) == "marks" ? 3U : 2U) << path;
    EXPECT_GT(report.live_bytes, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, SoundCollection, testing::Bool(),
                         [](const auto& test) { return test.param ? "Sharded" : "Unsharded"; });

TEST(CollectionCheck, CountsFragmentsOfShardedMeshesAsLive) {
  const auto store = memory_store();
  MultiscaleMeshInfo info = mesh_info(true);
  info.sharding = one_shard();
  const Collection meshes = Collection::create(store, info).value();
  meshes.write_multiscale_mesh(1, mesh(1000)).value();
  EXPECT_EQ(checked(store, false).dead_bytes, 0U);
  meshes.write_multiscale_mesh(2, mesh(9000)).value();
  meshes.write_multiscale_mesh(1, mesh(1001)).value();
  EXPECT_GT(checked(store, false).dead_bytes, 1000U);
  EXPECT_LT(checked(store, false).dead_bytes, 2000U);
}

TEST(CollectionCheck, DecodesValuesOfShardsAndNamesTheirIds) {
  const auto store = skeletons_in_one_shard();
  EXPECT_THAT(checked(store).faults, IsEmpty());
  // The first edge of skeleton 18 leads to a vertex that is not there: behind the array, 17, and 44 bytes of its own.
  const std::size_t size = skeleton().print(skeleton_info(false).vertex_attributes).value().size();
  change(*store, "0.shard", [&](std::string& bytes) { bytes[16 + size + 44] = 99; });
  EXPECT_THAT(checked(store).faults, ElementsAre(fault("object_decode", "0.shard", 18)));
  EXPECT_THAT(checked(store, false).faults, IsEmpty());
}

TEST(CollectionCheck, DecodesObjectsOfTheirOwn) {
  const auto store = memory_store();
  Collection::create(store, skeleton_info(false)).value().write_skeleton(3, skeleton()).value();
  change(*store, "3", [](std::string& bytes) { bytes.pop_back(); });
  store->set("notes.txt", "").value();
  EXPECT_THAT(checked(store).faults, ElementsAre(fault("object_decode", "3"), fault("foreign_object", "notes.txt")));
}

TEST(CollectionCheck, ReportsDamagedMinishardIndexes) {
  const auto store = skeletons_in_one_shard();
  const std::string sound = store->get("0.shard").value().value();
  const std::size_t list = sound.size() - 48;  // ids, offsets and sizes of two
  const auto with = [&](std::size_t word, std::uint64_t value) {
    std::string bytes = sound;
    store_little(reinterpret_cast<std::byte*>(bytes.data()) + list + 8 * word, value);
    store->set("0.shard", bytes).value();
    return checked(store, false).faults;
  };
  EXPECT_THAT(with(1, 0), Contains(told("id_repeated", "chunk 17")));
  EXPECT_THAT(with(5, 1 << 20), ElementsAre(fault("extent_out_of_bounds", "0.shard", 18)));
  EXPECT_THAT(with(4, ~std::uint64_t{0}), Contains(fault("extent_out_of_bounds", "0.shard", 17)));
  EXPECT_THAT(with(3, ~std::uint64_t{0}), ElementsAre(fault("extent_overlap", "0.shard", 18)));
  EXPECT_THAT(with(2, ~std::uint64_t{7}), Contains(fault("extent_in_index", "0.shard", 17)));
  store->set("0.shard", sound).value();
  change(*store, "info",
         [](std::string& text) { text.replace(text.find("\"shard_bits\": 0"), 15, "\"shard_bits\": 1"); });
  EXPECT_THAT(checked(store, false).faults, Contains(told("id_misplaced", "1.shard")));
}

TEST(CollectionCheck, ReportsShardsTooSmallForTheirIndexes) {
  const auto store = skeletons_in_one_shard();
  const std::string sound = store->get("0.shard").value().value();
  const auto as = [&](const std::string& bytes) {
    store->set("0.shard", bytes).value();
    return checked(store, false).faults;
  };
  const auto with = [&](std::uint64_t start, std::uint64_t end) {
    std::string bytes = sound;
    store_little(reinterpret_cast<std::byte*>(bytes.data()), start);
    store_little(reinterpret_cast<std::byte*>(bytes.data()) + 8, end);
    return as(bytes);
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{15}, std::size_t{31}, sound.size() - 1})
    EXPECT_THAT(as(sound.substr(0, size)), ElementsAre(fault("index_size", "0.shard"))) << size;
  EXPECT_THAT(with(8, 7), ElementsAre(fault("index_size", "0.shard")));
  EXPECT_THAT(with(0, sound.size()), ElementsAre(fault("index_size", "0.shard")));
  EXPECT_THAT(with(0, 25), ElementsAre(told("index_size", "minishard 0")));
}

TEST(CollectionCheck, DistinguishesUndecodableFromImpossibleIndexes) {
  Json sharding = one_shard();
  sharding.set("minishard_index_encoding", "gzip");
  SkeletonInfo info = skeleton_info(true);
  info.sharding = sharding;
  const auto store = memory_store();
  Collection::create(store, info).value().write_skeleton(17, skeleton()).value();
  const std::string sound = store->get("0.shard").value().value();
  std::string damaged = sound;
  const auto start = load_little<std::uint64_t>(reinterpret_cast<const std::byte*>(sound.data()));
  damaged[16 + start] ^= 1;  // of gzip's magic number
  store->set("0.shard", damaged).value();
  EXPECT_THAT(checked(store, false).faults, ElementsAre(told("index_decode", "minishard 0")));
  store->set("0.shard", sound.substr(0, 16 + start + 5)).value();
  EXPECT_THAT(checked(store, false).faults, ElementsAre(fault("index_size", "0.shard")));
}

TEST(CollectionCheck, ReportsMissingFragmentsOfManifests) {
  const auto store = memory_store();
  const Collection meshes = Collection::create(store, mesh_info(false)).value();
  meshes.write_multiscale_mesh(1, mesh()).value();
  change(*store, "1", [](std::string& bytes) { bytes += "more"; });
  EXPECT_THAT(checked(store, false).faults, ElementsAre(told("fragments_size", "need 107")));
  EXPECT_TRUE(checked(store, false).ok());
  store->erase("1").value();
  EXPECT_THAT(checked(store, false).faults, ElementsAre(fault("fragments_size", "1.index")));
  EXPECT_FALSE(checked(store, false).ok());
  store->set("2", "fragments").value();
  EXPECT_THAT(checked(store, false).faults, Contains(fault("foreign_object", "2")));

  const auto shards = memory_store();
  MultiscaleMeshInfo info = mesh_info(true);
  info.sharding = one_shard();
  Collection::create(shards, info).value();
  const std::string manifest = mesh(5000).manifest.print().value();  // without its fragments
  EXPECT_EQ(ShardedBuilder::create(shards, one_shard()).value().add(9, bytes_of(manifest)).error().code(),
            ErrorCode::invalid_argument);
  const auto elsewhere = memory_store();
  auto builder = ShardedBuilder::create(elsewhere, one_shard()).value();
  builder.add(9, bytes_of(manifest)).value();
  builder.finish().value();
  shards->set("0.shard", elsewhere->get("0.shard").value().value()).value();
  EXPECT_THAT(checked(shards, false).faults, ElementsAre(fault("fragments_size", "0.shard", 9)));
}

TEST(CollectionCheck, DecodesFragmentsIfDracoIsAvailable) {
  const auto store = memory_store();
  Collection::create(store, mesh_info(true)).value().write_multiscale_mesh(4, mesh()).value();
  const auto faults = checked(store).faults;
  if (!QuantizedMesh::can_decode_draco()) {
    EXPECT_THAT(faults, ElementsAre(fault("draco_missing", "info")));
    return;
  }
  EXPECT_THAT(faults, ElementsAre(told("object_decode", "level 0: fragment 0"), told("object_decode", "fragment 1")));
  EXPECT_EQ(faults[0].slot, 4U);
}

TEST(CollectionCheck, WarnsOfFragmentsOutOfOrder) {
  const auto store = memory_store();
  Collection::create(store, mesh_info(false)).value().write_multiscale_mesh(1, mesh()).value();
  change(*store, "1.index", [](std::string& bytes) { std::swap(bytes[48], bytes[52]); });
  EXPECT_THAT(checked(store, false).faults, ElementsAre(fault("fragment_order", "1.index")));
}

TEST(CollectionCheck, ReportsMissingPartsOfLegacyMeshes) {
  const auto store = memory_store();
  const Collection meshes = Collection::create(store, LegacyMeshInfo{}).value();
  meshes.write_mesh(1, std::vector<MeshPart>{{"one", {{{0, 0, 0}}, {{0, 0, 0}}}}, {"two", {}}}).value();
  EXPECT_THAT(checked(store).faults, IsEmpty());
  change(*store, "one", [](std::string& bytes) { bytes.pop_back(); });
  store->erase("two").value();
  EXPECT_THAT(checked(store).faults,
              testing::UnorderedElementsAre(told("fragment_missing", "'two'"), told("object_decode", "'one'")));
  store->set("1:0", "{}").value();
  EXPECT_THAT(checked(store, false).faults, ElementsAre(fault("object_decode", "1:0")));
}

TEST(CollectionCheck, KnowsTheCellsOfALevel) {
  const auto store = memory_store();
  AnnotationInfo info = annotation_info(false);
  info.spatial[0].index.sharding = one_shard();
  const Collection marks = Collection::create(store, info).value();
  store->set("spatial1/3_0", "").value();
  store->set("spatial1/2_1", "short").value();
  ShardedStore::open(prefixed_store(store, "spatial0/"), one_shard(), {.writable = true})
      .value()
      .put({1, bytes_of("x")})
      .value();
  const auto faults = checked(store).faults;
  EXPECT_THAT(faults, Contains(fault("foreign_object", "spatial1/3_0")));
  EXPECT_THAT(faults, Contains(fault("object_decode", "spatial1/2_1")));
  EXPECT_THAT(faults, Contains(fault("chunk_outside", "spatial0/0.shard")));
}

TEST(CollectionCheck, ReportsProgress) {
  for (const auto& store : {skeletons_in_one_shard(), memory_store()}) {
    if (!store->get("info").value()) {
      const Collection own = Collection::create(store, skeleton_info(false)).value();
      for (const std::uint64_t id : {17, 18}) own.write_skeleton(id, skeleton()).value();
    }
    std::uint64_t stored = 0;
    const Listing listing = store->list_dir("").value();
    for (const Listing::Object& object : listing.objects) stored += object.size;
    std::mutex mutex;
    std::vector<Progress> told;
    CheckOptions options{.data = true};
    options.config.progress = [&](const Progress& progress) {
      const std::lock_guard hold(mutex);
      told.push_back(progress);
    };
    check(store, options).value();
    ASSERT_FALSE(told.empty());
    for (const Progress& each : told) EXPECT_EQ(each.total, stored);
    EXPECT_EQ(told.back().done, stored);
  }
}

TEST(CollectionCheck, ReportsADamagedInfo) {
  const auto store = memory_store();
  store->set("info", R"({"@type": "neuroglancer_multilod_draco", "lod_scale_multiplier": 1})").value();
  const CheckReport report = checked(store);
  EXPECT_THAT(report.faults, ElementsAre(told("document_corrupt", "vertex_quantization_bits")));
  EXPECT_EQ(check(memory_store()).error().code(), ErrorCode::not_found);
}

// ---- what volumes and collections refer to ----

std::shared_ptr<Store> volume_with(const Json& members) {
  auto store = memory_store();
  VolumeInfo info;
  info.type = VolumeInfo::Type::segmentation;
  info.data_type = DType::uint64;
  info.scales.push_back({.key = "s", .size = {4, 4, 4}, .chunk_sizes = {{4, 4, 4}}, .resolution = {8, 8, 8}});
  info.other = members;
  create_precomputed(store, "", info).value();
  return store;
}

TEST(VolumeCheck, ChecksWhatTheInfoRefersTo) {
  const auto store =
      volume_with(json(R"({"mesh": "objects/mesh", "skeletons": "skeletons", "segment_properties": "properties"})"));
  Collection::create(store, mesh_info(true), {.path = "objects/mesh"}).value().write_multiscale_mesh(1, mesh()).value();
  SkeletonInfo info = skeleton_info(false);
  info.segment_properties = "../properties";
  Collection::create(store, info, {.path = "skeletons"}).value().write_skeleton(3, skeleton()).value();
  Collection::create(store, SegmentProperties{}, {.path = "properties"}).value();
  const CheckReport sound = checked(store, false);
  EXPECT_THAT(sound.faults, IsEmpty()) << sound.to_json().dump(2);
  EXPECT_EQ(sound.documents, 5U);  // the properties twice
  store->set("skeletons/3", "x").value();
  EXPECT_THAT(check(store, {.data = true}).value().faults, Contains(fault("object_decode", "skeletons/3")));
}

TEST(VolumeCheck, ChecksCollectionsToWhichNothingRefers) {
  const auto store = volume_with(json("{}"));
  Collection::create(store, annotation_info(false), {.path = "marks"}).value();
  Collection::create(store, skeleton_info(false), {.path = "skeletons"}).value().write_skeleton(3, skeleton()).value();
  const CheckReport sound = checked(store);
  EXPECT_THAT(sound.faults, IsEmpty()) << sound.to_json().dump(2);
  EXPECT_EQ(sound.documents, 3U);
  store->set("skeletons/3", "x").value();
  store->set("not/known", "x").value();
  EXPECT_THAT(checked(store).faults,
              testing::UnorderedElementsAre(fault("object_decode", "skeletons/3"), fault("foreign_object", "not/")));
}

TEST(VolumeCheck, ReportsDanglingReferences) {
  const auto store = volume_with(json(R"({"mesh": "gone", "skeletons": "../out", "segment_properties": "wrong"})"));
  Collection::create(store, skeleton_info(false), {.path = "wrong"}).value();
  EXPECT_THAT(checked(store).faults,
              testing::UnorderedElementsAre(told("reference_missing", "'mesh'"), told("reference_outside", "'../out'"),
                                            told("reference_kind", "leads to skeletons")));
  store->set("wrong/info", "{").value();
  EXPECT_THAT(checked(store).faults, Contains(fault("document_corrupt", "wrong/info")));
}

}  // namespace collection_test
}  // namespace sherd::neuroglancer
