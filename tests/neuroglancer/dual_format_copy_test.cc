// Copies of dual-format arrays: the volume's metadata is kept if the copy is a volume, whichever counterpart is copied;
// the link between the counterparts is never copied.
#include <gmock/gmock.h>
#include <algorithm>

#include <fstream>

#include "tests/neuroglancer/dual_format_testing.hpp"

namespace sherd {
namespace dual_format_copy_test {

using namespace dual_format_testing;
using neuroglancer::json;
using neuroglancer::refusal;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr std::uint64_t kChunks = 4 * 6 * 4;

class DualFormatCopy : public DualFormat {
 protected:
  void SetUp() override {
    CreateOptions options = array_of();
    options.volume =
        json(R"({"type": "segmentation", "resolution": [8, 8.5, 40], "voxel_offset": [-3, 7, 0], "key": "labels"})");
    // Not what shards like these are given without being asked.
    options.volume->set("sharding", *sharding(2, 1, 7).find("sharding"));
    make(url(), options);
  }
  // An array of noise, with unknown members in its info and a mesh to which it refers.
  void make(const std::string& at, const CreateOptions& options) {
    const Array array = create_array(at, options).value();
    values_ = noise(*element_count(array.shape()));
    array.write(whole(array), std::span<const std::uint16_t>(values_)).value();
    Json told = info(at);
    told.set("note", Json(Json::Array{1, 2}));
    told.set("mesh", "mesh");
    Json scale = told.find("scales")->elements().front();
    scale.set("hidden", false);
    told.set("scales", Json(Json::Array{scale}));
    set(at, "info", told.dump());
    set(at, "mesh/info", R"({"@type": "neuroglancer_legacy_mesh"})");
    set(at, "mesh/7:0", R"({"fragments": []})");
  }
  void set(const std::string& at, const std::string& key, const std::string& text) const {
    file_store(at, config_).value()->set(key, text).value();
  }
  [[nodiscard]] Json info(const std::string& at) const {
    return Json::parse(file_store(at, config_).value()->get("info").value().value()).value();
  }
  [[nodiscard]] Json info_without_tie() const {
    Json told = info(url());
    told.erase("sherd_layout");
    return told;
  }
  [[nodiscard]] std::string copied(const std::string& name) const { return directory_ / name; }
  CopyReport copy(const std::string& from, const std::string& name, const std::string& format = {},
                  Layout layout = Layout::plain) const {
    CopyOptions options{.format = format, .config = config_};
    options.config.layout = layout;
    const CopyReport report = sherd::copy(from, copied(name), options).value();
    EXPECT_EQ(report.chunks_moved, kChunks);
    EXPECT_EQ(report.chunks_encoded, 0U);
    return report;
  }
  [[nodiscard]] static std::vector<std::string> errors(const std::string& at) {
    std::vector<std::string> found;
    const CheckReport report = check(at, {.data = true}).value();
    for (const Fault& fault : report.faults)
      if (fault.severity == Fault::Severity::error) found.push_back(fault.code + " " + fault.message);
    return found;
  }
  // Opened for writing, too: a dual-format array has its counterpart.
  [[nodiscard]] std::vector<std::uint16_t> voxels_of(const std::string& at) const {
    const Array volume = open_array(at, {.writable = true, .format = "precomputed", .config = config_}).value();
    std::vector<std::uint16_t> values(*element_count(volume.shape()));
    volume
        .read(whole(volume),
              AnyView::dense(reinterpret_cast<std::byte*>(values.data()), DType::uint16, volume.shape(), Order::f))
        .value();
    return values;
  }
  void expect_dual_format(const std::string& at) const {
    EXPECT_EQ(info(at), info(url()));
    EXPECT_EQ(voxels_of(at), values_);
    EXPECT_EQ(elements(open_array(at, {.writable = true, .format = "zarr3", .config = config_}).value()), values_);
    EXPECT_TRUE(fs::exists(at + "/mesh/7:0"));
    EXPECT_TRUE(errors(at).empty());
  }
  void expect_plain_volume(const std::string& at, const std::string& scale) const {
    EXPECT_EQ(info(at), info_without_tie());
    EXPECT_EQ(voxels_of(at + scale), values_);
    EXPECT_TRUE(errors(at).empty());
  }
  void expect_plain_array(const std::string& at) const {
    const Array array = open_array(at, {.writable = true, .config = config_}).value();
    EXPECT_EQ(elements(array), values_);
    EXPECT_EQ(array.attributes().find("sherd_layout"), nullptr);
    EXPECT_FALSE(fs::exists(at + "/info"));
    EXPECT_TRUE(errors(at).empty());
  }

  std::vector<std::uint16_t> values_;
};

TEST_F(DualFormatCopy, KeepsTheVolumeMetadata) {
  copy(url(), "a", "", Layout::zarr_neuroglancer);
  expect_dual_format(copied("a"));
  copy(url() + "/labels", "b", "zarr3", Layout::zarr_neuroglancer);
  expect_dual_format(copied("b"));
}

TEST_F(DualFormatCopy, IncludesTheCollectionsItsVolumeRefersTo) {
  for (const bool data : {false, true}) EXPECT_TRUE(check(url(), {.data = data}).value().faults.empty());
  set(url(), "mesh/7:0", R"({"fragments": ["gone"]})");
  set(url(), "mesh2/7:0", "mine");
  std::vector<std::string> told;
  const CheckReport report = check(url()).value();
  for (const Fault& fault : report.faults) told.push_back(fault.code + " " + fault.key);
  std::ranges::sort(told);
  EXPECT_EQ(told, (std::vector<std::string>{"foreign_object mesh2/7:0", "fragment_missing mesh/7:0"}));
}

TEST_F(DualFormatCopy, WithOtherShardsOrCodecsGetsANewSharding) {
  CopyOptions options{.shards = Shape{32, 64, 64}, .config = dual_format()};
  sherd::copy(url(), copied("a"), options).value();
  options = {.codecs = {{"bytes"}}, .config = dual_format()};
  sherd::copy(url(), copied("b"), options).value();
  const auto without_sharding = [&](const std::string& at) {
    Json told = info(at);
    Json scale = told.find("scales")->elements().front();
    const Json taken = *scale.find("sharding");
    scale.erase("sharding");
    told.set("scales", Json(Json::Array{scale}));
    return std::pair(told, taken);
  };
  const auto [before, sharding] = without_sharding(url());
  EXPECT_EQ(without_sharding(copied("a")).first, before);
  EXPECT_EQ(without_sharding(copied("a")).second.find("shard_bits")->dump(), "0");
  Json raw = sharding;
  raw.set("data_encoding", "raw");
  EXPECT_EQ(without_sharding(copied("b")), std::pair(before, raw));
  EXPECT_EQ(voxels_of(copied("a")), values_);
  EXPECT_EQ(voxels_of(copied("b")), values_);
}

TEST_F(DualFormatCopy, IntoAVolumeUsesTheVolumeCounterpart) {
  copy(url(), "a", "precomputed");
  expect_plain_volume(copied("a"), "/labels");
  EXPECT_TRUE(fs::exists(copied("a/mesh/7:0")));
  CopyOptions options{.format = "precomputed", .axes = {"Z", "y", "x"}, .config = config_};
  sherd::copy(url(), copied("b"), options).value();
  expect_plain_volume(copied("b"), "/labels");
  options.axes = {"x", "y", "z"};
  EXPECT_THAT(refusal(sherd::copy(url(), copied("c"), options), ErrorCode::invalid_argument), HasSubstr("z,y,x"));
}

TEST_F(DualFormatCopy, OfItsVolumeIsAPlainVolume) {
  copy(url() + "/labels", "a");
  expect_plain_volume(copied("a"), "/labels");
  copy(url() + "/labels", "b", "precomputed");
  expect_plain_volume(copied("b"), "/labels");
  fs::remove(url() + "/zarr.json");  // so that the volume is what exists here
  copy(url(), "c");
  Json told = info(copied("c"));
  EXPECT_EQ(told.find("sherd_layout"), nullptr);
  EXPECT_EQ(voxels_of(copied("c/labels")), values_);
}

TEST_F(DualFormatCopy, IsResumedIfOneNameOfAShardIsMissing) {
  copy(url(), "again.zarr", "", Layout::zarr_neuroglancer);
  const std::string volume = copied("again.zarr") + "/labels";
  for (const auto& entry : fs::directory_iterator(volume)) {
    fs::remove(entry.path());
    break;
  }
  EXPECT_FALSE(errors(copied("again.zarr")).empty());
  CopyOptions options{.resume = true, .config = config_};
  options.config.layout = Layout::zarr_neuroglancer;
  const CopyReport report = sherd::copy(url(), copied("again.zarr"), options).value();
  EXPECT_EQ(report.shards, 1U);
  expect_dual_format(copied("again.zarr"));
}

// The Zarr array would report the damage; the volume would return it as voxels.
TEST(CopyIntoDualFormat, DoesNotMoveChunksThatAreDamaged) {
  for (const bool cut : {false, true}) {
    const auto store = memory_store();
    CreateOptions options = array_of({16, 16, 32});
    options.config.layout = Layout::plain;
    options.codecs = {{"crc32c"}};
    options.index_codecs = {{"bytes"}};
    const Array array = create_array(store, "", options).value();
    const auto values = noise(*element_count(array.shape()));
    array.write(whole(array), std::span<const std::uint16_t>(values)).value();
    std::string shard = store->get("c/0/0/0").value().value();
    shard[cut ? shard.size() - 8 : 0] = static_cast<char>(shard[cut ? shard.size() - 8 : 0] ^ 2);
    store->set("c/0/0/0", shard).value();
    const TempDir directory;
    CopyOptions to;
    to.config = dual_format();
    const auto copied = sherd::copy(store, file_store(directory.path()).value(), to);
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code(), ErrorCode::corrupt) << copied.error().text();
    EXPECT_THAT(copied.error().text(), testing::HasSubstr(cut ? "but a chunk has 2052" : "crc32c"));
  }
}

TEST_F(DualFormatCopy, IntoZarrIsAPlainArray) {
  copy(url(), "a", "zarr3");
  expect_plain_array(copied("a"));
  copy(url() + "/labels", "b", "zarr3");
  expect_plain_array(copied("b"));
  const Json kept = *open_array(copied("b")).value().attributes().find("neuroglancer_info");
  EXPECT_EQ(kept, info_without_tie());
}

TEST_F(DualFormatCopy, OfAnArrayCopiedFromAVolumeKeepsTheVoxelOffset) {
  copy(url() + "/labels", "a", "zarr3");
  copy(copied("a"), "b", "", Layout::zarr_neuroglancer);
  const Array volume = open_array(copied("b"), {.format = "precomputed", .config = config_}).value();
  EXPECT_EQ(volume.attributes().find("type")->text(), "segmentation");
  EXPECT_EQ(volume.attributes().find("voxel_offset")->dump(), "[-3,7,0]");
  EXPECT_EQ(volume.attributes().find("resolution")->dump(), "[8,8.5,40]");
}

TEST_F(DualFormatCopy, AsAPyramidHasTheVolumesAxesAndNoLink) {
  CopyOptions options{.pyramid = Pyramid{.method = Pyramid::Method::mode, .levels = 1}, .config = config_};
  const CopyReport report = sherd::copy(url(), copied("a"), options).value();
  EXPECT_EQ(report.chunks_moved, kChunks);
  EXPECT_EQ(elements(open_array(copied("a/0"), {.writable = true, .config = config_}).value()), values_);
  const std::string told = open_group(copied("a")).value().attributes().find("ome")->dump();
  EXPECT_THAT(told, HasSubstr("[40,8.5,8]"));
  EXPECT_TRUE(errors(copied("a")).empty());
}

TEST_F(DualFormatCopy, InAHierarchyKeepsTheMetadataOfEachVolume) {
  const std::string group = copied("group.zarr");
  create_group(group).value();
  ASSERT_TRUE(sherd::copy(url(), group + "/em", {.config = dual_format()}));
  ASSERT_TRUE(sherd::copy(group, copied("two.zarr"), {.config = dual_format()}));
  expect_dual_format(copied("two.zarr/em"));
  ASSERT_TRUE(sherd::copy(group, copied("plain.zarr"), {.config = config_}));
  expect_plain_array(copied("plain.zarr/em"));
  ASSERT_TRUE(sherd::copy(group + "/em/labels", copied("volume"), {.config = config_}));
  expect_plain_volume(copied("volume"), "/labels");
  ASSERT_TRUE(sherd::copy(group + "/em", copied("whole"), {.format = "precomputed", .config = config_}));
  expect_plain_volume(copied("whole"), "/labels");
}

TEST_F(DualFormatCopy, WithoutTheVolumesDocumentIsAPlainArray) {
  fs::remove(url() + "/info");
  copy(url(), "a", "", Layout::zarr_neuroglancer);
  EXPECT_TRUE(fs::exists(copied("a/1_1_1")));
  EXPECT_THAT(refusal(sherd::copy(url(), copied("b"), {.format = "precomputed"}), ErrorCode::invalid_argument),
              HasSubstr("no names"));
}

TEST_F(DualFormatCopy, OfDisagreeingCounterpartsIsPlainOrRefused) {
  Json told = info(url());
  told.set("data_type", "uint32");
  set(url(), "info", told.dump());
  EXPECT_THAT(refusal(sherd::copy(url(), copied("a"), {.config = dual_format()}), ErrorCode::corrupt),
              HasSubstr("the data type uint16"));
  EXPECT_THAT(refusal(sherd::copy(url(), copied("b"), {.format = "precomputed"}), ErrorCode::corrupt),
              HasSubstr("the data type uint16"));
  copy(url(), "c");
  expect_plain_array(copied("c"));
}

}  // namespace dual_format_copy_test
}  // namespace sherd
