// Which format and hierarchy a location belongs to: by the store and path, by the URL, and for new nodes.
#include "api/location.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sherd/neuroglancer.hpp"
#include "sherd/sherd.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace location_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(Open, NamesTheLocationWhenThereIsNoNode) {
  const auto node = open(memory_store(), {.path = "a/b"});
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code(), ErrorCode::not_found);
  EXPECT_EQ(node.error().key(), "a/b/zarr.json");
  EXPECT_THAT(node.error().message(), HasSubstr("a/b/zarr.json"));
}

TEST(Open, AcceptsAFormatName) {
  auto store = memory_store();
  create_group(store, "").value();
  EXPECT_TRUE(open(store, {.format = "zarr3"}));
  const auto node = open(store, {.format = "zarr9"});
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(node.error().message(), HasSubstr("zarr3"));
}

TEST(Open, DistinguishesArraysAndGroups) {
  auto store = memory_store();
  create_array(store, "a", bytes_array()).value();
  EXPECT_EQ(code_of(open_group(store, {.path = "a"})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(open_array(store)), ErrorCode::invalid_argument);
  EXPECT_TRUE(open_array(store, {.path = "a"}));
}

TEST(Open, AcceptsTheUrlOfANodeWithAnyName) {
  const TempDir directory;
  const auto store = file_store(directory.path() + "/a b%20c#d").value();
  for (const std::string name : {"a b", "a%20b", "a?b#c", "100%", "a+b&c=d", "\u00e9\u65e5\U0001f5ff", "a:b", "\\"}) {
    const Array array = create_array(store, "group/" + name, bytes_array()).value();
    EXPECT_EQ(open_array(array.url()).value().url(), array.url());
    const Group group = create_group(store, name, parsed(R"({"is": "it"})")).value();
    EXPECT_EQ(open_group(group.url()).value().attributes(), group.attributes()) << group.url();
  }
}

TEST(NewNode, IsNotMadeInsideOneThatIsBeingMade) {
  const auto store = lockless(false);
  const std::string claim = "h/a/.sherd-new-00000000/claim";
  store->set(claim, "{}").value();
  EXPECT_TRUE(refuse_inside(*prefixed_store(store, "h/b/"), {}));
  for (const char* inside : {"h/a/x/", "h/a/x/y/"}) {
    const auto refused = refuse_inside(*prefixed_store(store, inside), {});
    EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
    EXPECT_THAT(claim, testing::EndsWith(refused.error().key()));
  }
}

TEST(CreateByUrl, CreatesMissingGroupsBelowTheNearestNode) {
  const TempDir directory;
  create_group(directory / "study").value();
  create_array(directory / "study/images/day 1/a", bytes_array()).value();
  create_group(directory / "study/./tables//t/").value();
  create_group(directory / "study/../study/tables/u").value();
  const Group study = open_group(directory / "study").value();
  EXPECT_THAT(study.members().value(), ElementsAre(Pair("images", NodeType::group), Pair("tables", NodeType::group)));
  EXPECT_TRUE(study.open("images/day 1/a"));
}

TEST(CreateByUrl, StartsTheHierarchyAtADirectoryNamedZarr) {
  const TempDir directory;
  create_array(directory / "old.zarr/new.zarr/a/b", bytes_array()).value();
  EXPECT_THAT(open_group(directory / "old.zarr/new.zarr").value().members().value(),
              ElementsAre(Pair("a", NodeType::group)));
  EXPECT_EQ(code_of(open(directory / "old.zarr")), ErrorCode::not_found);
}

TEST(CreateByUrl, CreatesAStandaloneNodeElsewhere) {
  const TempDir directory;
  create_array(directory / "data/x/__a", bytes_array()).value();
  EXPECT_THAT(directory.contents(), ElementsAre("data", "data/x", "data/x/__a", "data/x/__a/zarr.json"));
}

TEST(CreateByUrl, FollowsTheRulesOfTheEnclosingHierarchy) {
  const TempDir directory;
  create_array(directory / "a.zarr/x", bytes_array()).value();
  const auto before = directory.contents();
  for (const std::string name : {"a.zarr/__x", "a.zarr/__x/y", "a.zarr/g/...", "b.zarr/__x"}) {
    EXPECT_EQ(code_of(create_array(directory / name, bytes_array())), ErrorCode::invalid_argument) << name;
    EXPECT_EQ(code_of(create_group(directory / name)), ErrorCode::invalid_argument) << name;
  }
  EXPECT_EQ(code_of(create_array(directory / "a.zarr/x/inside", bytes_array())), ErrorCode::conflict);
  CreateOptions wrong = bytes_array();
  wrong.chunks = {0};
  EXPECT_FALSE(create_array(directory / "a.zarr/g/h/y", wrong));
  EXPECT_EQ(directory.contents(), before) << "nothing is written before all is checked";
}

TEST(Open, ThePathOptionIsRelativeToTheUrl) {
  const TempDir directory;
  const std::string root = directory.path() + "/data set.zarr";
  EXPECT_EQ(create_array(root + "/a/b", bytes_array()).value().path(), "");
  EXPECT_EQ(open_array(root, {.path = "a/b"}).value().path(), "a/b");
  EXPECT_EQ(open_array(root + "/a/b/").value().path(), "");
  std::string url = "file://" + root;
  url.replace(url.find(' '), 1, "%20");
  EXPECT_TRUE(open_array(url, {.path = "a/b"}));
  EXPECT_EQ(code_of(open("nowhere://x")), ErrorCode::unsupported);
}

TEST(FormatsCalled, AreAllWithoutANameAndAnErrorListsThem) {
  EXPECT_GT(formats_called("").value().size(), 3U);
  EXPECT_EQ(formats_called("zarr2").value().front()->name(), "zarr2");
  EXPECT_EQ(formats_called("zarr2").value().size(), 1U);
  const auto refused = formats_called("zarr");
  EXPECT_EQ(code_of(refused), ErrorCode::invalid_argument);
  const auto all = formats_called("").value();
  for (const Format* format : all) EXPECT_THAT(refused.error().text(), HasSubstr(format->name()));
}

std::optional<NodeLocation> found_at(const std::shared_ptr<Store>& store, const std::string& path) {
  return find_format_of(make_location(store, path, {}).value(), formats_called("").value()).value();
}

TEST(FindFormat, ReturnsTheFirstFormatThatRecognizesSomething) {
  const auto store = memory_store();
  EXPECT_FALSE(found_at(store, "a"));
  store->set("a/.zarray", "{").value();
  EXPECT_EQ(found_at(store, "a")->format->name(), "zarr2") << "a document that cannot be read counts";
  store->set("a/zarr.json", R"({"zarr_format": 3, "node_type": "group"})").value();
  EXPECT_EQ(found_at(store, "a")->format->name(), "zarr3");
  EXPECT_EQ(found_at(store, "/a//")->path, "a");
  EXPECT_EQ(code_of(make_location(store, "a/../..", {})), ErrorCode::invalid_argument);
}

TEST(NewLocation, HasTheFormatOfTheHierarchyAroundIt) {
  const auto store = memory_store();
  EXPECT_EQ(new_location(store, "a", "", {}).value().format->name(), "zarr3") << "the default of an empty store";
  EXPECT_EQ(new_location(store, "a", "zarr2", {}).value().format->name(), "zarr2");
  store->set(".zgroup", R"({"zarr_format": 2})").value();
  EXPECT_EQ(new_location(store, "a", "", {}).value().format->name(), "zarr2");
  EXPECT_TRUE(new_location(store, "a", "", {}).value().writable);
  const auto other = new_location(store, "a", "zarr3", {});
  EXPECT_EQ(code_of(other), ErrorCode::conflict);
  EXPECT_EQ(other.error().key(), ".zarray");
  EXPECT_EQ(code_of(new_location(store, "a", "zarr9", {})), ErrorCode::invalid_argument);
}

TEST(NewLocation, IsRefusedBelowADamagedEntryPoint) {
  const TempDir directory;
  std::filesystem::create_directory(directory / "h");
  const auto store = file_store(directory / "h").value();
  store->set("zarr.json", R"({"zarr_format": "https://purl.org/zarr/spec/core/3.0", "metadata_encoding": 1})").value();
  const auto refused = new_location(directory / "h/a", "", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().text(), HasSubstr("zarr.json"));
}

Enclosure around(const std::string& url) { return enclosure(*open_store(url).value(), {}).value().value(); }
bool is_alone(const std::string& url, const Config& config = {}) {
  return !enclosure(*open_store(url, config).value(), config).value();
}

TEST(Enclosure, IsTheNearestNodeAboveADirectory) {
  const TempDir directory;
  create_group(directory / "outer", parsed(R"({"a": 1})")).value();
  create_group(directory / "outer/inner", parsed(R"({"a": 1})")).value();
  EXPECT_EQ(around(directory / "outer/inner/x/y").path, "x/y");
  EXPECT_EQ(around(directory / "outer/inner/x/y").format->name(), "zarr3");
  EXPECT_EQ(around(directory / "outer/x").path, "x");
  EXPECT_TRUE(is_alone(directory / "elsewhere/x"));
  Config standalone;
  standalone.storage_options["standalone"] = "true";
  EXPECT_TRUE(is_alone(directory / "outer/x", standalone));
}

TEST(Enclosure, BeginsAtTheNearestDirectoryNamedZarrIfThereIsNoNode) {
  const TempDir directory;
  const Enclosure found = around(directory / "a.zarr/b.zarr/c");
  EXPECT_EQ(found.path, "c");
  EXPECT_EQ(found.format, nullptr);
  create_group(directory / "a.zarr").value();
  EXPECT_EQ(around(directory / "a.zarr/b.zarr/c").path, "b.zarr/c") << "a node is preferred to a name";
}

TEST(Enclosure, OfAnEmptyGroupIsOnlyWhatIsCreatedThroughIt) {
  const TempDir directory;
  create_group(directory / "g").value();
  EXPECT_EQ(around(directory / "g/a/b").path, "a/b") << "a does not exist";
  std::filesystem::create_directory(directory / "g/a");
  EXPECT_TRUE(is_alone(directory / "g/a/b"));
  EXPECT_EQ(around(directory / "g/c").path, "c") << "a direct member";
  create_group(directory / "g/member").value();
  EXPECT_EQ(around(directory / "g/a/b").path, "a/b") << "the group is not empty any more";
}

neuroglancer::VolumeInfo small_volume() {
  neuroglancer::VolumeInfo info;
  info.data_type = DType::uint8;
  info.scales.push_back({.key = "1", .size = {4, 4, 4}, .chunk_sizes = {{4, 4, 4}}, .resolution = {1, 1, 1}});
  return info;
}

TEST(Enclosure, IsRefusedInsideAVolume) {
  const TempDir directory;
  neuroglancer::create_precomputed(directory / "volume", small_volume()).value();
  const auto store = open_store(directory / "volume/x").value();
  EXPECT_EQ(code_of(refuse_inside(*store, {})), ErrorCode::conflict);
  EXPECT_EQ(code_of(enclosure_of_new(*store, {})), ErrorCode::conflict);
  EXPECT_EQ(code_of(create_array(directory / "volume/x", bytes_array())), ErrorCode::conflict);
  EXPECT_TRUE(refuse_inside(*open_store(directory / "other/x").value(), {}));
}

TEST(FindAround, ReturnsTheHierarchyOfADraftWhoseMemberTheUrlNames) {
  const TempDir directory;
  CreateOptions options = bytes_array();
  options.format = "draft2022";
  create_array(file_store(directory / "h").value(), "g/a", options).value();
  EXPECT_EQ(open_array(directory / "h/g/a").value().shape(), (Shape{4}));
  const auto found = find_around(*open_store(directory / "h/g/a").value(), formats_called("draft2022").value(), {});
  ASSERT_TRUE(found.value());
  EXPECT_EQ((*found)->path, "g/a");
  EXPECT_FALSE(find_around(*open_store(directory / "h/g/b").value(), formats_called("draft2022").value(), {}).value());
}

TEST(Standalone, ConcernsOnlyNewNodes) {
  const TempDir directory;
  create_array(directory / "a", bytes_array()).value();
  Config config;
  EXPECT_TRUE(refuse_standalone(config));
  config.storage_options["standalone"] = "true";
  const auto refused = refuse_standalone(config);
  EXPECT_EQ(code_of(refused), ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().member(), "storage_options.standalone");
  EXPECT_TRUE(open_existing(directory / "a", config).value()->parent().value()) << "an existing node is not apart";
}

}  // namespace location_test
}  // namespace sherd
