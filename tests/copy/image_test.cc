// Images that are copied between formats: what documents say of space, types and labels.
#include "copy/image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/sherd.hpp"
#include "tests/copy/copy_testing.hpp"

namespace sherd {
namespace image_test {

using namespace copy_testing;
using testing::HasSubstr;

std::shared_ptr<Store> volume_of(const Json& info) {
  const auto store = memory_store();
  store->set("info", info.dump(1)).value();
  const Group group = open_group(store, {.writable = true}).value();
  const auto members = group.members().value();
  for (const auto& [name, type] : members) {
    const Array array = std::get<Array>(group.open(name).value());
    const auto values = noise(*element_count(array.shape()));
    array.write(Box{Shape(4, 0), array.shape()}, std::span<const std::uint16_t>(values)).value();
  }
  return store;
}

void expect_equal_after_a_round_trip(const Json& info) {
  const auto volume = volume_of(info);
  const auto zarr = memory_store();
  ASSERT_TRUE(copy(volume, zarr, {.format = "zarr3"}));
  EXPECT_TRUE(check(zarr, {.data = true}).value().ok());
  const auto back = memory_store();
  ASSERT_TRUE(copy(zarr, back, {.format = "precomputed"}));
  EXPECT_EQ(info_of(back), info) << info_of(back).dump(1);
  const Group group = open_group(volume).value();
  const Group other = open_group(back).value();
  const auto members = group.members().value();
  for (const auto& [name, type] : members) {
    const Array was = std::get<Array>(group.open(name).value()), is = std::get<Array>(other.open(name).value());
    EXPECT_EQ(elements(was), elements(is)) << name;
  }
}

TEST(CopyOfAVolume, ToZarrAndBackHasAnEqualInfo) {
  expect_equal_after_a_round_trip(json(R"({"@type": "neuroglancer_multiscale_volume", "type": "image",
    "data_type": "uint16", "num_channels": 3, "scales": [{"key": "a", "size": [61, 4, 38], "voxel_offset": [-3, 7, 0],
    "resolution": [4.5, 4.5, 40], "chunk_sizes": [[8, 4, 8]], "encoding": "raw"}]})"));
}

TEST(CopyOfAVolume, KeepsMembersOfTheInfoAndTheTextOfNumbers) {
  expect_equal_after_a_round_trip(json(R"({"type": "segmentation", "mesh": "mesh", "segment_properties": "props",
    "data_type": "uint16", "num_channels": 1, "x-y": [1, {"a": null}], "scales": [
    {"key": "8_8_40", "size": [40, 30, 20], "voxel_offset": [0, 0, 0], "resolution": [8.0, 8.0, 40.0], "note": "fine",
     "chunk_sizes": [[16, 16, 16]], "encoding": "png", "png_level": 3},
    {"key": "16_16_40", "size": [20, 15, 20], "resolution": [16, 16, 40.0], "chunk_sizes": [[16, 16, 16]], "encoding": "raw",
     "hidden": true, "sharding": {"@type": "neuroglancer_uint64_sharded_v1", "hash": "murmurhash3_x86_128", "preshift_bits": 1,
     "minishard_bits": 1, "shard_bits": 1, "minishard_index_encoding": "gzip", "data_encoding": "gzip"}}]})"));
}

TEST(CopyOfAVolume, RecordsTheVoxelPositionInOmeNgff) {
  const auto volume = volume_of(json(R"({"type": "image", "data_type": "uint16", "num_channels": 2, "scales": [
    {"key": "a", "size": [8, 8, 8], "voxel_offset": [-3, 7, 0], "resolution": [4, 4, 40], "chunk_sizes": [[8, 8, 8]], "encoding": "raw"},
    {"key": "b", "size": [5, 5, 4], "voxel_offset": [-2, 3, 0], "resolution": [8, 8, 80], "chunk_sizes": [[8, 8, 8]], "encoding": "raw"}]})"));
  const auto zarr = memory_store();
  ASSERT_TRUE(copy(volume, zarr, {.format = "zarr3"}));
  const Json ome = *open_group(zarr).value().attributes().find("ome");
  EXPECT_EQ(ome, json(R"({"version": "0.5", "multiscales": [{"axes": [{"name": "c", "type": "channel"},
    {"name": "z", "type": "space", "unit": "nanometer"}, {"name": "y", "type": "space", "unit": "nanometer"},
    {"name": "x", "type": "space", "unit": "nanometer"}], "datasets": [
    {"path": "a", "coordinateTransformations": [{"type": "scale", "scale": [1, 40, 4, 4]},
      {"type": "translation", "translation": [0, 0, 28, -12]}]},
    {"path": "b", "coordinateTransformations": [{"type": "scale", "scale": [1, 80, 8, 8]},
      {"type": "translation", "translation": [0, 20, 26, -14]}]}]}]})"))
      << ome.dump(1) << "\nthe centre of a voxel of b is half a voxel of a from that of the first in a";
  EXPECT_EQ(open_array(zarr, {.path = "b"}).value().dimension_names().front(), "c");
}

Json scales_after(const Json& attributes, const char* path) {
  const auto zarr = memory_store();
  create_group(zarr, "", attributes).value();
  create_array(zarr, path, {.shape = {4, 6, 8}, .dtype = DType::uint8, .chunks = {4, 6, 8}}).value();
  const auto volume = memory_store();
  const auto copied = copy(zarr, volume, {.format = "precomputed"});
  EXPECT_TRUE(copied) << copied.error().text();
  return *info_of(volume).find("scales");
}

TEST(CopyIntoVolume, OmeNgffIsConvertedToNanometresAndVoxelOffsets) {
  const Json scale = scales_after(json(R"({"ome": {"version": "0.5", "multiscales": [{"axes": [
    {"name": "z", "type": "space", "unit": "micrometer"}, {"name": "y", "type": "space", "unit": "micrometer"},
    {"name": "x", "type": "space", "unit": "millimeter"}],
    "coordinateTransformations": [{"type": "scale", "scale": [2, 1, 1]}],
    "datasets": [{"path": "s/0", "coordinateTransformations": [
      {"type": "scale", "scale": [0.015, 0.0325, 1e-6]}, {"type": "translation", "translation": [0.15, -0.065, 0]}]}]}]}})"),
                                  "s/0")
                         .elements()
                         .front();
  EXPECT_EQ(*scale.find("resolution"), json("[1, 32.5, 30]"));
  EXPECT_EQ(*scale.find("voxel_offset"), json("[0, -2, 10]"));
  EXPECT_EQ(scale.find("key")->text(), "1_32.5_30");
}

TEST(CopyIntoVolume, SpacingAndUnitsOfAnImportedFileBecomeNanometres) {
  const auto zarr = memory_store();
  CreateOptions options{.shape = {4, 6, 8}, .dtype = DType::uint8};
  options.dimension_names = {{"z", "y", "x"}};
  options.attributes = json(R"({"spacing": [2.5, 1, 1], "units": ["mm", "um", "mm"], "affine": []})");
  create_array(zarr, "", options).value();
  const auto volume = memory_store();
  copy(zarr, volume, {.format = "precomputed"}).value();
  EXPECT_EQ(*info_of(volume).find("scales")->elements().front().find("resolution"), json("[1000000, 1000, 2500000]"));
}

TEST(CopyIntoVolume, ForeignSpacingAttributesAreIgnored) {
  for (const char* attributes :
       {R"({"spacing": {"a": 1, "b": 2, "c": 3}, "units": {"a": 1, "b": 2, "c": 3}})",
        R"({"spacing": "even", "units": "K"})", R"({"spacing": [1, null, 1], "units": [1, 2, 3]})",
        R"({"units": ["pixel", "", null]})", R"({"neuroglancer_info": 7})"}) {
    const auto zarr = memory_store();
    CreateOptions options{.shape = {4, 6, 8}, .dtype = DType::uint8, .attributes = json(attributes)};
    options.dimension_names = {{"z", "y", "x"}};
    create_array(zarr, "", options).value();
    const auto volume = memory_store();
    copy(zarr, volume, {.format = "precomputed"}).value();
    EXPECT_EQ(*info_of(volume).find("scales")->elements().front().find("resolution"), json("[1, 1, 1]")) << attributes;
  }
}

std::string refusal(const CreateOptions& array, CopyOptions options) {
  const auto zarr = memory_store();
  create_array(zarr, "", array).value();
  if (options.format.empty()) options.format = "precomputed";
  const auto refused = copy(zarr, memory_store(), options);
  return refused ? "copied" : refused.error().text();
}

TEST(CopyIntoVolume, SpacingThatIsWrongIsRefusedAndTheErrorNamesIt) {
  const auto fault = [](const char* attributes) {
    CreateOptions options{.shape = {4, 6, 8}, .dtype = DType::uint8, .attributes = json(attributes)};
    options.dimension_names = {{"z", "y", "x"}};
    return refusal(options, {});
  };
  const auto three = HasSubstr("attributes.spacing: must be a list of 3 positive numbers, one per dimension");
  EXPECT_THAT(fault(R"({"spacing": [1, 2]})"), three);
  EXPECT_THAT(fault(R"({"spacing": 0.5})"), three);
  EXPECT_THAT(fault(R"({"spacing": [-1, 1, 1]})"), three);
  EXPECT_THAT(fault(R"({"spacing": [1, 1, "2"]})"), three);
  EXPECT_THAT(fault(R"({"voxel_offset": [1, 2, 3, 4]})"),
              HasSubstr("attributes.voxel_offset: must be a list of 3 numbers"));
  EXPECT_THAT(fault(R"({"spacing": [1, 1, 1], "units": ["um", "s", "um"]})"),
              HasSubstr("the unit 's' of the axis y is not a known length"));
}

TEST(CopyIntoVolume, OneScaleOfAVolumeIsCopiedAlone) {
  const auto volume = volume_of(json(R"({"type": "image", "data_type": "uint16", "num_channels": 1, "scales": [
    {"key": "a", "size": [8, 8, 8], "resolution": [4, 4, 40], "chunk_sizes": [[8, 8, 8]], "encoding": "raw"},
    {"key": "b", "size": [4, 4, 4], "voxel_offset": [1, 2, 3], "resolution": [8, 8, 80], "chunk_sizes": [[8, 8, 8]], "encoding": "raw"}]})"));
  const auto zarr = memory_store();
  copy(volume, zarr, {.source_path = "b", .format = "zarr3"}).value();
  const Json attributes = open_array(zarr).value().attributes();
  EXPECT_EQ(*attributes.find("spacing"), json("[80, 8, 8]"));
  EXPECT_EQ(*attributes.find("voxel_offset"), json("[3, 2, 1]"));
  const auto back = memory_store();
  copy(zarr, back, {.format = "precomputed"}).value();
  Json expected = info_of(volume);
  expected.set("scales", Json(Json::Array{expected.find("scales")->elements()[1]}));
  EXPECT_EQ(info_of(back), expected);
}

TEST(CopyIntoVolume, LabelsAreMarkedAsSegmentation) {
  const auto zarr = memory_store();
  CreateOptions options{.shape = {8, 8, 8}, .dtype = DType::uint32};
  options.dimension_names = {{"z", "y", "x"}};
  create_array(zarr, "", options).value();
  const auto type = [&](const CopyOptions& chosen) {
    const auto volume = memory_store();
    copy(zarr, volume, chosen).value();
    return info_of(volume).find("type")->text();
  };
  EXPECT_EQ(type({.format = "precomputed"}), "image");
  EXPECT_EQ(type({.format = "precomputed", .encoding = "compressed_segmentation"}), "segmentation");
  EXPECT_EQ(type({.format = "precomputed", .pyramid = Pyramid{.method = Pyramid::Method::mode}}), "segmentation");
  EXPECT_EQ(type({.format = "precomputed", .type = "segmentation"}), "segmentation");
  EXPECT_EQ(type({.format = "precomputed", .pyramid = Pyramid{.method = Pyramid::Method::mode}, .type = "image"}),
            "image");
  EXPECT_EQ(type({.format = "precomputed", .type = "image", .encoding = "compressed_segmentation"}), "image");
}

TEST(CopyIntoVolume, ImpossibleVolumesAreRefusedWithAdvice) {
  CreateOptions array{.shape = {8, 8, 8}, .dtype = DType::uint8};
  EXPECT_THAT(refusal(array, {}),
              HasSubstr("axes: the dimensions of the source have no names; name them (--axes z,y,x)"));
  EXPECT_THAT(refusal(array, {.axes = {"z", "y"}}), HasSubstr("axes: the array has 3 dimensions"));
  EXPECT_THAT(refusal(array, {.axes = {"z", "y", "q"}}), HasSubstr("'q' is not an axis"));
  EXPECT_THAT(refusal(array, {.axes = {"z", "y", "z"}}), HasSubstr("the axis z is given twice"));
  EXPECT_THAT(refusal(array, {.axes = {"t", "y", "x"}}), HasSubstr("a volume has no time (t)"));
  EXPECT_THAT(refusal(array, {.axes = {"c", "z", "x"}}), HasSubstr("there is no y"));
  const std::vector<std::string> zyx{"z", "y", "x"};
  EXPECT_THAT(refusal(array, {.shards = Shape{8, 8, 8}, .axes = zyx}),
              HasSubstr("shards: cannot be used with a volume; use sharding"));
  EXPECT_THAT(refusal(array, {.codecs = std::vector<Json>{"zstd"}, .axes = zyx}), HasSubstr("use encoding"));
  EXPECT_THAT(refusal(array, {.chunks = Shape{8, 8}, .axes = zyx}), HasSubstr("chunks: a chunk of a volume"));
  EXPECT_THAT(refusal(array, {.axes = zyx, .encoding = "compressed_segmentation"}),
              HasSubstr("encoding: compressed_segmentation: elements are uint32 or uint64"));
  EXPECT_THAT(refusal(array, {.axes = zyx, .sharding = Json("most")}), HasSubstr("sharding: must be \"auto\""));
  EXPECT_THAT(refusal(array, {.format = "zarr3", .encoding = "raw"}),
              HasSubstr("encoding: can only be used if the copy is a volume"));
  array.dtype = DType::float64;
  EXPECT_THAT(refusal(array, {.axes = zyx}), HasSubstr("'float64' is not a type of a volume"));
  const auto group = memory_store();
  create_group(group, "").value();
  EXPECT_THAT(copy(group, memory_store(), {.format = "precomputed"}).error().text(),
              HasSubstr("copy one of its arrays"));
}

TEST(CopyIntoVolume, AGroupWithWrongMultiscalesIsRefusedByMember) {
  const auto fault = [](const char* multiscales) {
    const auto zarr = memory_store();
    create_group(zarr, "", Json(Json::Object{{"ome", Json(Json::Object{{"multiscales", json(multiscales)}})}})).value();
    create_array(zarr, "0", {.shape = {4, 4}, .dtype = DType::uint8}).value();
    return copy(zarr, memory_store(), {.format = "precomputed"}).error().text();
  };
  EXPECT_THAT(fault(R"({"axes": 1})"), HasSubstr("copy one of its arrays"));
  EXPECT_THAT(fault("[3]"), HasSubstr("attributes.ome.multiscales[0].axes"));
  EXPECT_THAT(fault(R"([{"axes": {"x": 1}}])"), HasSubstr("attributes.ome.multiscales[0].axes"));
  EXPECT_THAT(fault(R"([{"axes": ["y", 3]}])"), HasSubstr("'' is not an axis"));
  EXPECT_THAT(fault(R"([{"axes": ["y", "x"], "datasets": {"path": "0"}}])"), HasSubstr("multiscales[0].datasets"));
  EXPECT_THAT(
      fault(R"([{"axes": ["y", "x"], "datasets": [{"path": "0", "coordinateTransformations": {"type": "scale"}}]}])"),
      HasSubstr("must be a list of transformations"));
  EXPECT_THAT(fault(R"([{"axes": ["y", "x"], "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale",
    "scale": {"a": 1, "b": 2}}]}]}])"),
              HasSubstr("must be a list of 2 numbers"));
  EXPECT_THAT(fault("[{}]"), HasSubstr("attributes.ome.multiscales[0].axes"));
  EXPECT_THAT(fault(R"([{"axes": [{"name": "w"}]}])"), HasSubstr("'w' is not an axis"));
  EXPECT_THAT(fault(R"([{"axes": ["z", "y", "x"]}])"), HasSubstr("multiscales[0].datasets"));
  EXPECT_THAT(fault(R"([{"axes": ["z", "y", "x"], "datasets": [{"path": "1"}]}])"),
              HasSubstr("the image has no array here"));
  EXPECT_THAT(fault(R"([{"axes": ["z", "y", "x"], "datasets": [{"path": "0"}]}])"), HasSubstr("as many dimensions as"));
  EXPECT_THAT(fault(R"([{"axes": ["y", "x"], "datasets": [{"path": "../0"}]}])"), HasSubstr("'..'"));
  EXPECT_THAT(fault(R"([{"axes": ["y", "x"], "datasets": [{"path": "0", "coordinateTransformations":
    [{"type": "scale", "scale": [0, 1]}]}]}])"),
              HasSubstr("datasets[0].coordinateTransformations: has a scale that is not positive"));
  EXPECT_THAT(fault(R"([{"axes": ["y", "x"], "datasets": [{"path": "0", "coordinateTransformations":
    [{"type": "affine"}]}]}])"),
              HasSubstr("not 'affine'"));
}

}  // namespace image_test
}  // namespace sherd
