// A volume refers to collections that exist and are of the right kind.
#include <gmock/gmock.h>

#include "sherd/collection.hpp"
#include "sherd/precomputed.hpp"
#include "tests/neuroglancer/collection_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::neuroglancer {
namespace link_test {

using testing::HasSubstr;

VolumeInfo small_volume() {
  VolumeInfo info;
  info.type = VolumeInfo::Type::segmentation;
  info.data_type = DType::uint64;
  info.scales = {{.key = "8",
                  .size = {8, 8, 8},
                  .voxel_offset = {100, -20, 0},
                  .chunk_sizes = {{8, 8, 8}},
                  .resolution = {8, 8, 40}},
                 {.key = "16", .size = {4, 4, 8}, .chunk_sizes = {{8, 8, 8}}, .resolution = {16, 16, 40}}};
  info.other.set("note", "kept");
  return info;
}

class Link : public testing::Test {
 protected:
  Link() {
    create_precomputed(store_, "v", small_volume()).value();
    Collection::create(store_, skeleton_info(false), {.path = "v/bones"}).value();
    Collection::create(store_, LegacyMeshInfo{}, {.path = "mesh"}).value();
    Collection::create(store_, SegmentProperties{}, {.path = "v/names"}).value();
  }
  std::shared_ptr<Store> store_ = memory_store();
};

TEST_F(Link, SetsMembersToPathsAndRemovesThem) {
  EXPECT_EQ(volume_links(store_, "v").value(), VolumeLinks{});
  const VolumeLinks all{.mesh = "../mesh", .skeletons = "bones", .segment_properties = "names"};
  EXPECT_EQ(link_collections(store_, "v", all).value(), all);
  EXPECT_EQ(volume_links(store_, "v").value(), all);
  const Json info = Json::parse(*store_->get("v/info", 1 << 20).value()).value();
  EXPECT_EQ(info.find("mesh")->text(), "../mesh");
  EXPECT_EQ(info.find("note")->text(), "kept");
  const VolumeLinks fewer{.mesh = "../mesh", .segment_properties = "names"};
  EXPECT_EQ(link_collections(store_, "v", {.skeletons = ""}).value(), fewer);
  EXPECT_EQ(open_array(store_, {.path = "v"}).value().shape(), (Shape{8, 8, 8, 1}));
}

TEST_F(Link, RefusesWhatIsNotACollectionOfThatKind) {
  const auto error = [&](const VolumeLinks& links, const char* path = "v") {
    return link_collections(store_, path, links).error();
  };
  EXPECT_EQ(error({.mesh = "missing"}).code(), ErrorCode::not_found);
  EXPECT_THAT(error({.skeletons = "names"}).text(), HasSubstr("v/names holds segment properties, not skeletons"));
  EXPECT_THAT(error({.mesh = "bones", .skeletons = "bones"}).text(), HasSubstr("not meshes"));
  EXPECT_THAT(error({.mesh = "/mesh"}).text(), HasSubstr("'/mesh' is not a path from the directory of the volume"));
  EXPECT_THAT(error({.mesh = "../../mesh"}).text(), HasSubstr("leads out of the store"));
  EXPECT_EQ(error({.mesh = "x"}, "mesh").code(), ErrorCode::not_found);
  EXPECT_EQ(error({.mesh = "../../mesh"}, "v/8").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(volume_links(store_, "v").value(), VolumeLinks{}) << "nothing was written";
}

TEST(LinkInFiles, MayLeadOutOfTheVolumesDirectory) {
  const TempDir dir;
  const std::string volume = dir.path() + "/v";
  create_precomputed(volume, small_volume()).value();
  Collection::create(dir.path() + "/bones", skeleton_info(true)).value();
  const VolumeLinks links{.skeletons = "../bones"};
  EXPECT_EQ(link_collections(volume, links).value(), links);
}

TEST(Voxels, AreElementsFromTheOffsetOn) {
  const auto store = memory_store();
  const Array scale = create_precomputed(store, "v", small_volume()).value();
  EXPECT_EQ(voxel_offset(scale).value(), (std::array<std::int64_t, 3>{100, -20, 0}));
  EXPECT_EQ(box_of_voxels(scale, {102, -20, 0}, {108, -19, 8}).value(), (Box{{2, 0, 0, 0}, {6, 1, 8, 1}}));
  EXPECT_THAT(box_of_voxels(scale, {99, -20, 0}, {102, -19, 1}).error().text(), HasSubstr("voxels 99 to 102 along x"));
  EXPECT_FALSE(box_of_voxels(scale, {102, -20, 0}, {109, -19, 1}));
  EXPECT_FALSE(box_of_voxels(scale, {102, 0, 0}, {101, 0, 0}));
  EXPECT_FALSE(box_of_voxels(scale, {INT64_MIN, -20, 0}, {INT64_MAX, -19, 1}));
}

TEST(Voxels, OfAnArrayThatIsNotAScaleAreRefused) {
  const Array array = create_array(memory_store(), "a", {.shape = {4, 4, 4}, .dtype = DType::uint8}).value();
  EXPECT_EQ(voxel_offset(array).error().code(), ErrorCode::invalid_argument);
}

TEST(Scale, IsFoundByItsResolution) {
  const auto store = memory_store();
  create_precomputed(store, "v", small_volume()).value();
  EXPECT_EQ(open_scale(store, {16, 16, 40.0000001}, {.path = "v"}).value().path(), "v/16");
  EXPECT_THAT(open_scale(store, {16, 16, 41}, {.path = "v"}).error().text(),
              HasSubstr("has no scale of 16,16,41 nm; it has 8,8,40 or 16,16,40"));
  EXPECT_EQ(open_scale(store, {8, 8, 40}, {.path = "v/8"}).error().code(), ErrorCode::invalid_argument);
}

}  // namespace link_test
}  // namespace sherd::neuroglancer
