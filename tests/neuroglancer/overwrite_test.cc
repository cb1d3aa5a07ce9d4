// Overwriting erases what exists there and nothing else: a foreign file among its objects is a conflict,
// named, and everything stays as it was. What a node's own writer makes is none of those.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/neuroglancer/collection_testing.hpp"
#include "tests/neuroglancer/dual_format_testing.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace overwrite_test {

using neuroglancer::Collection;
using neuroglancer::create_precomputed;
using neuroglancer::VolumeInfo;
using testing::HasSubstr;
using namespace std::string_literals;

template <class Overwrite>
void expect_conflict(const std::shared_ptr<Store>& store, const std::string& key, const Overwrite& overwrite) {
  const Tree before = tree_of(*store);
  const auto refused = overwrite();
  ASSERT_FALSE(refused) << key;
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict) << refused.error().text();
  EXPECT_EQ(refused.error().key(), key);
  EXPECT_EQ(tree_of(*store), before) << key;
}

// ---- collections ----

struct Filled {
  std::string name;
  neuroglancer::CollectionInfo info;
  void (*fill)(const Collection&);
  std::vector<std::string> foreign_names;  // in addition to notes.txt and mine/notes.txt
};

void PrintTo(const Filled& filled, std::ostream* out) { *out << filled.name; }

void fill_skeletons(const Collection& collection) { collection.write_skeleton(7, neuroglancer::skeleton()).value(); }
void fill_meshes(const Collection& collection) { collection.write_multiscale_mesh(7, neuroglancer::mesh()).value(); }
void fill_legacy_meshes(const Collection& collection) {
  using neuroglancer::MeshPart;
  const neuroglancer::Mesh triangle{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  const std::vector<MeshPart> parts{{"", triangle}, {"any name", triangle}};
  collection.write_mesh(7, parts).value();
}
void fill_annotations(const Collection& collection) {
  collection.write_annotation(7, neuroglancer::annotation()).value();
  collection.write_related(0, 9, neuroglancer::annotations()).value();
  collection.write_cell(1, std::vector<std::uint64_t>{2, 1}, neuroglancer::annotations()).value();
}
void fill_nothing(const Collection&) {}

class OverwrittenCollection : public testing::TestWithParam<Filled> {
 protected:
  [[nodiscard]] Result<Collection> made(bool overwrite) const {
    return Collection::create(store_, GetParam().info, {.path = "c", .overwrite = overwrite});
  }
  std::shared_ptr<Store> store_ = memory_store();
};

TEST_P(OverwrittenCollection, KeepsForeignFiles) {
  GetParam().fill(made(false).value());
  std::vector<std::string> foreign_names = GetParam().foreign_names;
  foreign_names.insert(foreign_names.end(), {"notes.txt", "mine/notes.txt", "7.txt"});
  for (const std::string& name : foreign_names) {
    store_->set("c/" + name, "mine").value();
    expect_conflict(store_, "c/" + name, [&] { return made(true); });
    store_->erase("c/" + name).value();
  }
  made(true).value();
  EXPECT_THAT(keys_of(*store_), testing::ElementsAre("c/info"));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, OverwrittenCollection,
    testing::Values(
        Filled{"Skeletons", neuroglancer::skeleton_info(false), fill_skeletons, {"0.shard"}},
        Filled{"SkeletonsInShards", neuroglancer::skeleton_info(true), fill_skeletons, {"7", "2.shard", "00.shard"}},
        Filled{"Meshes", neuroglancer::mesh_info(false), fill_meshes, {"x.index", "7:x"}},
        Filled{"MeshesInShards", neuroglancer::mesh_info(true), fill_meshes, {"7", "7.index"}},
        Filled{"LegacyMeshes",
               neuroglancer::LegacyMeshInfo{},
               fill_legacy_meshes,
               {"another name", "any name2", "2024:meeting", "7:0:0-1"}},
        Filled{"Annotations",
               neuroglancer::annotation_info(false),
               fill_annotations,
               {"by_id/x", "cells/1_1", "spatial1/9_9", "spatial2/0_0"}},
        Filled{"AnnotationsInShards",
               neuroglancer::annotation_info(true),
               fill_annotations,
               {"by_id/7", "axons/9", "spatial1/2_1"}},
        Filled{"SegmentProperties", neuroglancer::SegmentProperties{}, fill_nothing, {"0.shard", "7"}}),
    [](const auto& param) { return param.param.name; });

TEST(OverwrittenLegacyMesh, WithADamagedManifestLosesItsFragments) {
  const auto store = memory_store();
  const auto made = [&](bool overwrite) {
    return Collection::create(store, neuroglancer::LegacyMeshInfo{}, {.path = "c", .overwrite = overwrite});
  };
  fill_legacy_meshes(made(false).value());
  store->set("c/7:0", "{").value();
  made(true).value();
  EXPECT_THAT(keys_of(*store), testing::ElementsAre("c/info"));
}

TEST(OverwrittenCollection, RemovesAuxiliaryFilesOfOtherPrograms) {
  const std::vector<neuroglancer::CollectionInfo> kinds = {
      neuroglancer::skeleton_info(true), neuroglancer::mesh_info(true), neuroglancer::LegacyMeshInfo{}};
  for (const auto& info : kinds) {
    const auto store = memory_store();
    Collection::create(store, info, {}).value();
    for (const char* foreign : {"0-64_0-64_-3-61.spatial", "0-64_0-64_0-64.spatial.gz", "0-64_0-64_0-64.frags",
                                "7:0:0-64_0-64_0-64.gz", "7:0-64_0-64_0-64.br", "7:0", ".sherd-new-00000000/node/7"})
      store->set(foreign, "{\"fragments\": []}").value();
    Collection::create(store, info, {.overwrite = true}).value();
    EXPECT_THAT(keys_of(*store), testing::UnorderedElementsAre("info", ".sherd-new-00000000/node/7")) << info.index();
  }
}

TEST(OverwrittenCollection, WithADamagedInfoKeepsUncertainFiles) {
  const auto store = memory_store();
  const auto overwrite = [&] {
    return Collection::create(store, neuroglancer::skeleton_info(false), {.path = "c", .overwrite = true});
  };
  fill_skeletons(overwrite().value());
  store->set("c/info", "{").value();
  expect_conflict(store, "c/7", overwrite);
  store->erase("c/7").value();
  overwrite().value();
}

// ---- volumes, and the collections to which they refer ----

VolumeInfo volume() {
  VolumeInfo info;
  info.data_type = DType::uint8;
  info.scales.push_back({.key = "1_1_1", .size = {8, 8, 8}, .chunk_sizes = {{4, 4, 4}}, .resolution = {1, 1, 1}});
  return info;
}

std::shared_ptr<Store> volume_with_meshes() {
  const auto store = memory_store();
  VolumeInfo info = volume();
  info.type = VolumeInfo::Type::segmentation;
  info.other.set("mesh", "mesh");
  const std::vector<std::uint8_t> ones(512, 1);
  create_precomputed(store, "v", info)
      .value()
      .write(Box{{0, 0, 0, 0}, {8, 8, 8, 1}}, std::span<const std::uint8_t>(ones))
      .value();
  fill_legacy_meshes(Collection::create(store, neuroglancer::LegacyMeshInfo{}, {.path = "v/mesh"}).value());
  return store;
}

TEST(OverwrittenVolume, RemovesOnlyTheCollectionsItRefersTo) {
  for (const char* foreign : {"v/mesh/notes.txt", "v/mesh2/info", "v/skeletons/7"}) {
    const auto store = volume_with_meshes();
    store->set(foreign, "mine").value();
    expect_conflict(store, foreign, [&] { return create_precomputed(store, "v", volume(), {.overwrite = true}); });
    expect_conflict(store, foreign,
                    [&] { return create_array(store, "v", {.shape = {4}, .dtype = DType::uint8, .overwrite = true}); });
    const auto source = memory_store();
    create_precomputed(source, "", volume()).value();
    expect_conflict(store, foreign, [&] { return copy(source, store, {.overwrite = true, .destination_path = "v"}); });
  }
  const auto store = volume_with_meshes();
  create_precomputed(store, "v", volume(), {.overwrite = true}).value();
  EXPECT_THAT(keys_of(*store), testing::ElementsAre("v/info"));
}

TEST(OverwrittenVolume, ByAZarrArrayIsRemovedCompletely) {
  const auto store = volume_with_meshes();
  create_array(store, "v", {.shape = {4}, .dtype = DType::uint8, .overwrite = true}).value();
  EXPECT_THAT(keys_of(*store), testing::ElementsAre("v/zarr.json", "zarr.json"));
}

TEST(OverwrittenVolume, RemovesItsChunksAlsoUnderAlternativeKeys) {
  const auto overwrite = [](const std::shared_ptr<Store>& store) {
    return create_precomputed(store, "v", volume(), {.overwrite = true});
  };
  const auto store = volume_with_meshes();
  for (const char* own :
       {"0-4_0-4_0-4.gz", "0-4_0-4_0-4.br", "0-8_0-8_0-1", "-3-1_0-4_0-4", "0.shard", "1f.index", "1f.data"})
    store->set("v/1_1_1/"s + own, "x").value();
  for (const std::string foreign :
       {"results.data", "sub/0.shard", "0-4_0-4_0-4.txt", "0-4_0-4", "0-4_0-4_0-4_0-4", ".data"}) {
    store->set("v/1_1_1/" + foreign, "mine").value();
    expect_conflict(store, "v/1_1_1/" + foreign, [&] { return overwrite(store); });
    store->erase("v/1_1_1/" + foreign).value();
  }
  overwrite(store).value();
  EXPECT_THAT(keys_of(*store), testing::ElementsAre("v/info"));
}

TEST(AVolume, IsNotCreatedInsideAnotherVolume) {
  const auto store = volume_with_meshes();
  for (const std::string path : {"v/1_1_1", "v/1_1_1/deep", "v/other", "v/mesh", "v/mesh/below"}) {
    for (const bool overwrite : {false, true}) {
      const Tree before = tree_of(*store);
      const auto made = create_precomputed(store, path, volume(), {.overwrite = overwrite});
      ASSERT_FALSE(made) << path;
      EXPECT_EQ(made.error().code(), ErrorCode::conflict) << made.error().text();
      EXPECT_EQ(tree_of(*store), before);
    }
  }
  create_group(store, "g").value();
  create_array(store, "a", {.shape = {4}, .dtype = DType::uint8}).value();
  create_precomputed(store, "g/v", volume()).value();
  EXPECT_EQ(create_precomputed(store, "a/v", volume()).error().code(), ErrorCode::conflict);
}

// ---- documents that cannot be read ----

TEST(AnOverwrittenNode, WithAnUnreadableDocumentKeepsUncertainFiles) {
  for (const std::string document :
       {R"({"zarr_format": 3, "node_type": "group", "unknown": {"must_understand": true}})", R"({"zarr_format": 3)",
        R"({"type": "image", "data_type": "float64", "num_channels": 1, "scales": []})"}) {
    const auto store = memory_store();
    const bool zarr = document.find("zarr_format") != std::string::npos;
    store->set(zarr ? "n/zarr.json" : "n/info", document).value();
    const CreateOptions over{.shape = {4}, .dtype = DType::uint8, .overwrite = true};
    for (const std::string other : {"n/c/0", "n/photos/1.jpg"}) {
      store->set(other, "mine").value();
      expect_conflict(store, other, [&] { return create_array(store, "n", over); });
      store->erase(other).value();
    }
    create_array(store, "n", over).value();
  }
}

TEST(AnOverwrittenArray, WithAnUnknownCodecIsRemovedWithOnlyItsChunks) {
  const auto store = memory_store();
  const CreateOptions over{.shape = {4}, .dtype = DType::uint8, .overwrite = true};
  create_array(store, "a", over).value();
  std::string document = *store->get("a/zarr.json").value();
  const std::size_t at = document.find("\"zstd\"");
  ASSERT_NE(at, std::string::npos);
  store->set("a/zarr.json", document.replace(at, 6, "\"sz3\"")).value();
  store->set("a/c/0", "x").value();
  store->set("a/photos/1.jpg", "mine").value();
  expect_conflict(store, "a/photos/1.jpg", [&] { return create_array(store, "a", over); });
  store->erase("a/photos/1.jpg").value();
  create_array(store, "a", over).value();
  EXPECT_FALSE(store->get("a/c/0").value());
}

// ---- drafts ----

TEST(OverwrittenDraft, KeepsForeignFiles) {
  const CreateOptions array{.shape = {4}, .dtype = DType::uint8, .chunks = {2}, .format = "draft2022"};
  for (const char* foreign : {"data/root/g/a/notes.txt", "data/root/g/b/c0"}) {
    const auto store = memory_store();
    const std::vector<std::uint8_t> ones(4, 1);
    create_array(store, "g/a", array).value().write(Box{{0}, {4}}, std::span<const std::uint8_t>(ones)).value();
    store->set(foreign, "mine").value();
    expect_conflict(store, foreign, [&] { return create_group(store, "g", {}, true, {}, "draft2022"); });
    store->erase(foreign).value();
    create_group(store, "g", {}, true, {}, "draft2022").value();
    EXPECT_THAT(keys_of(*store),
                testing::UnorderedElementsAre("zarr.json", "meta/root.group.json", "meta/root/g.group.json"));
  }
}

TEST(OverwrittenDraft, ByAnotherFormatKeepsForeignFiles) {
  const CreateOptions array{.shape = {4}, .dtype = DType::uint8, .chunks = {2}, .format = "draft2022"};
  const auto source = memory_store();
  create_group(source, "").value();
  for (const char* foreign : {"notes.txt", "photos/x.jpg", "meta/other.txt", "zarr.json.old"}) {
    const auto store = memory_store();
    create_array(store, "g/a", array).value();
    store->set(foreign, "mine").value();
    expect_conflict(store, foreign, [&] { return create_precomputed(store, "", volume(), {.overwrite = true}); });
    expect_conflict(store, foreign, [&] { return copy(source, store, {.overwrite = true}); });
    store->erase(foreign).value();
    copy(source, store, {.overwrite = true}).value();
    EXPECT_THAT(keys_of(*store), testing::ElementsAre("zarr.json"));
  }
}

TEST(AVolume, IsNotCreatedOverANodeOfTheDraft) {
  const auto store = memory_store();
  create_group(store, "g", {}, false, {}, "draft2022").value();
  store->set("g/mine.txt", "mine").value();
  for (const bool overwrite : {false, true})
    expect_conflict(store, "meta/root/g.group.json",
                    [&] { return create_precomputed(store, "g", volume(), {.overwrite = overwrite}); });
}

// ---- dual-format arrays ----

class OverwrittenDualFormat : public dual_format_testing::DualFormat {};

TEST_F(OverwrittenDualFormat, KeepsForeignFilesOfEitherCounterpart) {
  const auto create = [&] {
    CreateOptions options = dual_format_testing::array_of();
    options.overwrite = true;
    return create_array(url(), options);
  };
  const std::vector<std::uint16_t> values = dual_format_testing::noise(32 * 48 * 64);
  create().value().write(Box{{0, 0, 0}, {32, 48, 64}}, std::span<const std::uint16_t>(values)).value();
  const auto store = file_store(url(), dual_format_testing::dual_format()).value();
  for (const char* foreign : {"notes.txt", "c/notes.txt", "1_1_1/notes.txt", "mesh/info"}) {
    store->set(foreign, "mine").value();
    expect_conflict(store, foreign, create);
    store->erase(foreign).value();
  }
  create().value();
  EXPECT_THAT(keys_of(*store), testing::UnorderedElementsAre("zarr.json", "info"));
}

TEST_F(OverwrittenDualFormat, KeepsForeignFilesIfACounterpartIsMissing) {
  const auto create = [&] {
    CreateOptions options = dual_format_testing::array_of();
    options.overwrite = true;
    return create_array(url(), options);
  };
  create().value();
  const auto store = file_store(url(), dual_format_testing::dual_format()).value();
  store->erase("info").value();
  store->set("photos/1.jpg", "mine").value();
  expect_conflict(store, "photos/1.jpg", create);
}

// ---- other formats in the way ----

TEST(ACollection, IsNotHiddenByANodeOfAnotherFormat) {
  const auto store = memory_store();
  fill_skeletons(Collection::create(store, neuroglancer::skeleton_info(false), {.path = "c"}).value());
  for (const std::string path : {"c", "c/sub"}) {
    for (const bool overwrite : {false, true}) {
      const CreateOptions zarr{.shape = {4}, .dtype = DType::uint8, .overwrite = overwrite};
      expect_conflict(store, "c/info", [&] { return create_array(store, path, zarr); });
      expect_conflict(store, "c/info", [&] { return create_group(store, path, {}, overwrite); });
    }
  }
}

TEST(AMemberCalledInfo, DoesNotAffectOtherMembers) {
  const TempDir directory;
  const std::string url = directory / "g.zarr";
  create_group(url).value();
  create_group(url + "/info").value();
  create_group(url + "/b").value();
  create_array(url + "/c", {.shape = {4}, .dtype = DType::uint8}).value();
  create_group(url, {}, true).value();
  EXPECT_THAT(keys_of(*file_store(url).value()), testing::ElementsAre("zarr.json"));
}

TEST(ADraft, IsNotCreatedOverACollection) {
  const auto store = memory_store();
  fill_skeletons(Collection::create(store, neuroglancer::skeleton_info(false), {}).value());
  for (const bool overwrite : {false, true}) {
    expect_conflict(store, "info", [&] { return create_group(store, "", {}, overwrite, {}, "draft2022"); });
    expect_conflict(store, "info", [&] { return create_group(store, "g", {}, overwrite, {}, "draft2022"); });
  }
}

TEST(AUrlInsideAVolumeOrACollection, CannotHoldANodeOfAnotherFormat) {
  const TempDir directory;
  const std::string volume_url = directory / "v", collection_url = directory / "c";
  create_precomputed(volume_url, volume()).value();
  fill_skeletons(Collection::create(collection_url, neuroglancer::skeleton_info(false)).value());
  const auto source = memory_store();
  create_group(source, "").value();
  create_group(directory / "source").value();
  for (const std::string& url : {volume_url + "/sub", volume_url + "/a/b", collection_url + "/sub"}) {
    EXPECT_EQ(create_precomputed(url, volume()).error().code(), ErrorCode::conflict);
    EXPECT_EQ(copy(directory / "source", url).error().code(), ErrorCode::conflict);
    const auto array = create_array(url, {.shape = {4}, .dtype = DType::uint8});
    ASSERT_FALSE(array) << url;
    EXPECT_EQ(array.error().code(), ErrorCode::conflict);
    EXPECT_THAT(array.error().message(), HasSubstr("lies inside"));
    const auto group = create_group(url);
    ASSERT_FALSE(group) << url;
    EXPECT_EQ(group.error().code(), ErrorCode::conflict);
    EXPECT_FALSE(std::filesystem::exists(url));
  }
}

}  // namespace overwrite_test
}  // namespace sherd
