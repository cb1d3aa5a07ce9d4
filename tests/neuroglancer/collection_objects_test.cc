// Typed objects go into collections and come out again, and what is asked of the wrong collection is refused.
#include "tests/neuroglancer/typed_objects_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::neuroglancer::typed_objects_testing {
namespace collection_objects_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST_P(EveryCollection, OfSkeletonsRoundTrips) {
  const Collection collection = made(skeleton_info(GetParam()));
  EXPECT_EQ(std::get<SkeletonInfo>(collection.info()), skeleton_info(GetParam()));
  for (const std::uint64_t id : {7, 8, 9}) collection.write_skeleton(id, skeleton(id)).value();
  collection.write_skeleton(8, skeleton(2)).value();
  EXPECT_EQ(collection.read_skeleton(7).value(), skeleton(7));
  EXPECT_EQ(collection.read_skeleton(8).value(), skeleton(2));
  EXPECT_EQ(collection.read_skeleton(10).value(), std::nullopt);
  EXPECT_THAT(ids_of(collection), UnorderedElementsAre(7, 8, 9));
  EXPECT_TRUE(collection.erase(7).value());
  EXPECT_FALSE(collection.erase(7).value());
  EXPECT_THAT(ids_of(collection), UnorderedElementsAre(8, 9));
}

TEST_P(EveryCollection, OfMultiResolutionMeshesRoundTrips) {
  const Collection collection = made(mesh_info(GetParam()));
  collection.write_multiscale_mesh(1, mesh(100)).value();
  collection.write_multiscale_mesh(2, mesh(3000)).value();
  collection.write_multiscale_mesh(1, mesh(50)).value();
  EXPECT_EQ(collection.read_multiscale_mesh(1).value(), mesh(50));
  EXPECT_EQ(collection.read_multiscale_mesh(2).value(), mesh(3000));
  EXPECT_EQ(collection.read_multiscale_mesh(3).value(), std::nullopt);
  EXPECT_THAT(ids_of(collection), UnorderedElementsAre(1, 2));
  MultiscaleMesh less = mesh();
  less.fragments.pop_back();
  EXPECT_THAT(refusal(collection.write_multiscale_mesh(1, less), ErrorCode::invalid_argument), HasSubstr("107"));
  EXPECT_TRUE(collection.erase(2).value());
  EXPECT_EQ(collection.read_multiscale_mesh(2).value(), std::nullopt);
}

TEST_P(EveryCollection, OfAnnotationsHasThreeKindsOfIndices) {
  const Collection collection = made(annotation_info(GetParam()));
  collection.write_annotation(5, annotation()).value();
  collection.write_related(1, 77, annotations()).value();
  collection.write_cell(1, std::vector<std::uint64_t>{2, 1}, annotations()).value();
  EXPECT_EQ(collection.read_annotation(5).value(), annotation());
  EXPECT_EQ(collection.read_related(1, 77).value(), annotations());
  EXPECT_EQ(collection.read_related(0, 77).value(), std::nullopt);
  EXPECT_EQ(collection.read_cell(1, std::vector<std::uint64_t>{2, 1}).value(), annotations());
  EXPECT_EQ(collection.read_cell(1, std::vector<std::uint64_t>{1, 1}).value(), std::nullopt);
  EXPECT_THAT(ids_of(collection), ElementsAre(5));
  EXPECT_THAT(refusal(collection.read_cell(1, std::vector<std::uint64_t>{3, 1}), ErrorCode::invalid_argument),
              HasSubstr("no cell (3, 1)"));
  EXPECT_THAT(refusal(collection.read_cell(2, std::vector<std::uint64_t>{0, 0}), ErrorCode::invalid_argument),
              HasSubstr("no spatial level 2"));
  EXPECT_THAT(refusal(collection.read_related(2, 0), ErrorCode::invalid_argument), HasSubstr("no relationship 2"));
}

TEST_P(EveryCollection, NamesKeyAndIdOfADamagedObject) {
  const Collection collection = made(skeleton_info(GetParam()));
  const auto values =
      GetParam()
          ? std::optional(ShardedStore::open(prefixed_store(store_, "a/b/"), kSharding, {.writable = true}).value())
          : std::nullopt;
  const std::string text = "12 bytes too";
  if (values)
    values->put({17, bytes_of(text)}).value();
  else
    store_->set("a/b/17", text).value();
  const Error error = collection.read_skeleton(17).error();
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_THAT(error.text(), HasSubstr("skeleton 17"));
  EXPECT_THAT(error.key(), HasSubstr(GetParam() ? ".shard" : "a/b/17"));
}

INSTANTIATE_TEST_SUITE_P(Shards, EveryCollection, testing::Bool(),
                         [](const auto& test) { return test.param ? "Sharded" : "Unsharded"; });

TEST(Collection, OfLegacyMeshesKeepsPartsUnderTheirNames) {
  const auto store = memory_store();
  const Collection collection = Collection::create(store, LegacyMeshInfo{}).value();
  const Mesh one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  const Mesh two{{{5, 5, 5}}, {}};
  collection.write_mesh(3, std::vector<MeshPart>{{"left", one}, {"", two}}).value();
  EXPECT_EQ(collection.read_mesh(3).value(), (std::vector<MeshPart>{{"left", one}, {"3:0:1", two}}));
  EXPECT_EQ(collection.read_mesh(4).value(), std::nullopt);
  EXPECT_EQ(store->get("3:0").value().value(), R"({"fragments":["left","3:0:1"]})");
  EXPECT_THAT(ids_of(collection), ElementsAre(3));
  store->erase("left").value();
  EXPECT_THAT(refusal(collection.read_mesh(3), ErrorCode::corrupt), HasSubstr("'left'"));
}

TEST(Collection, OfLegacyMeshesKeepsFragmentsFromReplacingAnythingElse) {
  const auto store = memory_store();
  const Collection collection = Collection::create(store, LegacyMeshInfo{}).value();
  const Mesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  collection.write_mesh(3, std::vector<MeshPart>{{"left", mesh}}).value();
  const auto before = tree_of(*store);
  for (const char* name : {"info", "3:0", "./5:0", ".sherd-new-1"}) {
    const std::vector<MeshPart> parts{{"fine", mesh}, {name, mesh}};
    EXPECT_THAT(refusal(collection.write_mesh(5, parts), ErrorCode::invalid_argument), HasSubstr(name));
    EXPECT_EQ(tree_of(*store), before);
  }
}

TEST(Collection, RefusesOtherKindsAndForbiddenOperations) {
  const auto store = memory_store();
  Collection::create(store, skeleton_info(false)).value();
  const Collection collection = Collection::open(store).value();
  EXPECT_THAT(refusal(collection.read_annotation(1), ErrorCode::invalid_argument),
              HasSubstr("holds skeletons, not annotations"));
  EXPECT_THAT(refusal(collection.write_skeleton(1, skeleton()), ErrorCode::invalid_argument),
              HasSubstr("for reading only"));
}

TEST(Collection, InFilesReplacesASkeletonInItsShardWithFewBytes) {
  const TempDir dir;
  const std::string url = dir.path() + "/skeletons";
  {
    const Collection collection = Collection::create(url, skeleton_info(true)).value();
    for (std::uint64_t id = 0; id < 50; ++id) collection.write_skeleton(id, skeleton(1000)).value();
  }
  const auto recorder = std::make_shared<Recorder>();
  const Collection collection = Collection::open(url, {.writable = true, .config = {.recorder = recorder}}).value();
  collection.write_skeleton(20, skeleton(3)).value();
  EXPECT_LT(recorder->stats().bytes_written, 2000U);
  EXPECT_EQ(collection.read_skeleton(20).value(), skeleton(3));
  EXPECT_EQ(collection.read_skeleton(21).value(), skeleton(1000));
}

TEST(ShardedStoreOfMeshes, KeepsFragmentsWithTheirManifests) {
  const auto store = memory_store();
  const Collection meshes = Collection::create(store, mesh_info(true)).value();
  for (const std::uint64_t id : {1, 2, 3, 4}) meshes.write_multiscale_mesh(id, mesh(100)).value();
  for (const Json& how : {Json(), kSharding}) {
    const ShardedStore values = ShardedStore::open(store, how, {.writable = true}).value();
    const std::string manifest = mesh(7).manifest.print().value();
    EXPECT_EQ(values.put({1, bytes_of(manifest)}).error().code(), ErrorCode::invalid_argument);
    values.put({1, bytes_of(manifest), bytes_of(mesh(7).fragments)}).value();
    EXPECT_TRUE(values.compact());
    EXPECT_EQ(meshes.read_multiscale_mesh(1).value(), mesh(7));
    EXPECT_EQ(meshes.read_multiscale_mesh(2).value(), mesh(100));
  }
}

TEST(Collection, ReplacesObjectsThatCloudVolumeHasCompressed) {
  const auto store = memory_store();
  const Collection skeletons = Collection::create(store, skeleton_info(false)).value();
  store->set("5.gz", "no gzip").value();
  EXPECT_EQ(skeletons.read_skeleton(5).error().code(), ErrorCode::corrupt);
  EXPECT_THAT(ids_of(skeletons), ElementsAre(5));
  skeletons.write_skeleton(5, skeleton()).value();
  EXPECT_EQ(store->get("5.gz").value(), std::nullopt);
  EXPECT_EQ(skeletons.read_skeleton(5).value(), skeleton());
}

}  // namespace collection_objects_test
}  // namespace sherd::neuroglancer::typed_objects_testing
