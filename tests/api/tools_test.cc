// The entry points for whole trees: which node is meant, what cannot be copied where, and what a copy leaves out.
#include "sherd/tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sherd/collection.hpp"
#include "sherd/neuroglancer.hpp"
#include "sherd/sherd.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace tools_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Array filled(const std::shared_ptr<Store>& store, const std::string& path) {
  const Array array = create_array(store, path, bytes_array()).value();
  const std::vector<std::uint8_t> values{1, 2, 3, 4};
  Array(array).write(Box{{0}, {4}}, std::span(values)).value();
  return array;
}
std::vector<std::uint8_t> elements(const Array& array) {
  std::vector<std::uint8_t> values(4);
  array.read(Box{{0}, {4}}, std::span(values)).value();
  return values;
}

TEST(CopyOfANode, IsOfTheFirstFormatThatIsFoundUnlessOneIsNamed) {
  const auto store = memory_store(), to = memory_store();
  filled(store, "a");
  store->set("a/.zarray", "{").value();
  EXPECT_EQ(elements(*[&] {
              copy(store, to, {.source_path = "a"}).value();
              return open_array(to);
            }()),
            (std::vector<std::uint8_t>{1, 2, 3, 4}));
  const auto v2 = copy(store, memory_store(), {.source_path = "a", .source_format = "zarr2"});
  EXPECT_EQ(code_of(v2), ErrorCode::corrupt);
  EXPECT_EQ(code_of(copy(store, memory_store(), {.source_format = "zarr9"})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(copy(store, memory_store(), {.source_path = "a", .format = "zarr9"})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(copy(store, memory_store(), {.source_path = "none"})), ErrorCode::not_found);
}

TEST(CopyOfANode, CannotBeInsideItsSourceNorAroundIt) {
  const auto store = memory_store();
  filled(store, "g/a");
  for (const auto& [from, to] : {std::pair("g", "g/copy"), {"g/a", "g"}, {"g", "g"}, {"", "x"}}) {
    const auto refused = copy(store, store, {.overwrite = true, .source_path = from, .destination_path = to});
    ASSERT_FALSE(refused) << from << " " << to;
    EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().text(), HasSubstr("one lies inside the other"));
  }
  EXPECT_TRUE(copy(store, store, {.source_path = "g", .destination_path = "g2"})) << "a name that begins alike";
  EXPECT_TRUE(copy(store, memory_store(), {.source_path = "g", .destination_path = "g/copy"})) << "another store";
}

TEST(CopyOfANode, CannotBeInsideItsSourceThroughASymbolicLink) {
  const TempDir directory;
  filled(file_store(directory / "g").value(), "a");
  std::filesystem::create_directory_symlink(directory / "g", directory / "link");
  const auto refused = copy(directory / "g", directory / "link/copy");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(copy(directory / "link", directory / "g", {.overwrite = true})), ErrorCode::invalid_argument);
  EXPECT_EQ(elements(open_array(directory / "g/a").value()), (std::vector<std::uint8_t>{1, 2, 3, 4}));
}

TEST(CopyByUrl, JoinsTheHierarchyAroundItsDestinationAndHasItsFormat) {
  const TempDir directory;
  filled(file_store(directory / "source").value(), "");
  create_group(directory / "v2", parsed(R"({"a": 1})"), false, {}, "zarr2").value();
  copy(directory / "source", directory / "v2/a").value();
  EXPECT_EQ(open_array(directory / "v2/a").value().format(), "zarr2");
  copy(directory / "source", directory / "v2/b", {.format = "zarr2"}).value();
  const auto before = directory.contents();
  const auto refused = copy(directory / "source", directory / "v2/c", {.format = "zarr3"});
  EXPECT_EQ(code_of(refused), ErrorCode::conflict);
  EXPECT_THAT(refused.error().text(), HasSubstr("--standalone"));
  EXPECT_EQ(directory.contents(), before);
}

TEST(CopyByUrl, ReadsAMemberOfAHierarchyThatIsOneStore) {
  const TempDir directory;
  CreateOptions options = bytes_array();
  options.format = "draft2022";
  create_array(file_store(directory / "draft").value(), "g/a", options).value();
  copy(directory / "draft/g/a", directory / "a", {.format = "zarr3"}).value();
  EXPECT_EQ(open_array(directory / "a").value().shape(), (Shape{4}));
  EXPECT_EQ(code_of(copy(directory / "draft/g/none", directory / "b")), ErrorCode::not_found);
}

TEST(CopyByUrl, IsRefusedInsideAVolume) {
  const TempDir directory;
  neuroglancer::VolumeInfo info;
  info.data_type = DType::uint8;
  info.scales.push_back({.key = "1", .size = {4, 4, 4}, .chunk_sizes = {{4, 4, 4}}, .resolution = {1, 1, 1}});
  neuroglancer::create_precomputed(directory / "volume", info).value();
  filled(file_store(directory / "source").value(), "");
  EXPECT_EQ(code_of(copy(directory / "source", directory / "volume/a")), ErrorCode::conflict);
}

TEST(CopyOfACollection, CannotHaveAnotherFormat) {
  const auto store = memory_store();
  neuroglancer::Collection::create(store, neuroglancer::SkeletonInfo{}, {.path = "s"}).value();
  const auto refused = copy(store, memory_store(), {.source_path = "s", .format = "zarr3"});
  EXPECT_EQ(code_of(refused), ErrorCode::unsupported);
  const auto to = memory_store();
  copy(store, to, {.source_path = "s", .destination_path = "t"}).value();
  EXPECT_EQ(text_at(*to, "t/info"), text_at(*store, "s/info"));
  EXPECT_EQ(code_of(copy(store, store, {.source_path = "s", .destination_path = "s/t"})), ErrorCode::invalid_argument);
}

TEST(CopyOfAGroup, NamesTheLabelsThatItLeavesOut) {
  const auto store = memory_store();
  const Json image = parsed(R"({"ome": {"version": "0.5", "multiscales": [{"axes": [{"name": "y", "type": "space"},
    {"name": "x", "type": "space"}], "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale",
    "scale": [1, 1]}]}]}]}})");
  create_group(store, "i", image).value();
  create_array(store, "i/0", {.shape = {8, 8}, .dtype = DType::uint8, .chunks = {4, 4}}).value();
  create_group(store, "i/labels", parsed(R"({"ome": {"version": "0.5", "labels": ["cells", "nuclei"]}})")).value();
  EXPECT_THAT(copy(store, memory_store(), {.source_path = "i"}).value().warnings, IsEmpty()) << "a whole tree";
  const auto report = copy(store, memory_store(), {.source_path = "i", .pyramid = Pyramid{.levels = 1}}).value();
  EXPECT_THAT(report.warnings, ElementsAre(testing::AllOf(HasSubstr("cells, nuclei"), HasSubstr("i/labels"))));
}

TEST(CheckOfANode, IsOfTheFormatThatIsNamed) {
  const auto store = memory_store();
  filled(store, "a");
  store->set("a/.zarray", "{").value();
  EXPECT_TRUE(check(store, {.path = "a", .format = "zarr3"}).value().ok());
  EXPECT_FALSE(check(store, {.path = "a", .format = "zarr2"}).value().ok());
  EXPECT_EQ(code_of(check(store, {.path = "none"})), ErrorCode::not_found);
  EXPECT_EQ(code_of(check(store, {.path = "a", .format = "zarr9"})), ErrorCode::invalid_argument);
}

TEST(CheckByUrl, FindsAMemberOfAHierarchyThatIsOneStore) {
  const TempDir directory;
  CreateOptions options = bytes_array();
  options.format = "draft2022";
  create_array(file_store(directory / "draft").value(), "g/a", options).value();
  EXPECT_THAT(check(directory / "draft/g/a").value().faults, IsEmpty());
  EXPECT_EQ(code_of(check(directory / "draft/g/none")), ErrorCode::not_found);
}

TEST(ImportOfAFile, RefusesOptionsOfVolumesForASingleArray) {
  const TempDir directory;
  std::ofstream(directory / "x.raw") << "abcdefgh";
  ImportOptions options;
  options.from = "raw";
  options.shape = {2, 2, 2};
  options.dtype = DType::uint8;
  options.type = "segmentation";
  const auto refused = import_file(directory / "x.raw", directory / "a.zarr", options);
  EXPECT_EQ(code_of(refused), ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().member(), "type");
  EXPECT_THAT(directory.contents(), ElementsAre("x.raw"));
  options.type.clear();
  EXPECT_EQ(import_file(directory / "x.raw", directory / "a.zarr", options).value().shape(), (Shape{2, 2, 2}));
}

TEST(ImportOfAFile, WithAPyramidReturnsTheFinestResolution) {
  const TempDir directory;
  std::ofstream(directory / "x.raw") << "abcdefgh";
  ImportOptions options;
  options.from = "raw";
  options.shape = {2, 2, 2};
  options.dtype = DType::uint8;
  options.create.chunks = {1, 1, 1};
  options.axes = {"z", "y", "x"};
  options.pyramid = Pyramid{};
  const auto array = import_file(directory / "x.raw", directory / "i", options);
  ASSERT_TRUE(array) << array.error().text();
  EXPECT_EQ(array->shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(open_array(directory / "i/1").value().shape(), (Shape{1, 1, 1}));
}

}  // namespace tools_test
}  // namespace sherd
