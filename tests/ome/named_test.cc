// OME-NGFF's metadata name the nodes of a hierarchy where nothing lists them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/tools.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/unlisted.hpp"

namespace sherd {
namespace named_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kImage = R"({"multiscales": [{"version": "0.4", "axes": [{"name": "y", "type": "space"},
  {"name": "x", "type": "space"}], "datasets": [{"path": "s0"}, {"path": "deep/s1"}, {"path": "../s2"}, {"path": "gone"}]}]})";

/// A hierarchy of Zarr v2 without consolidated metadata, in a store that cannot list.
class NamedMembers : public testing::Test {
 protected:
  void group(const std::string& path, std::string_view attributes = "{}") {
    create_group(memory_, path, parsed(attributes), false, {}, "zarr2").value();
  }
  void array(const std::string& path) { create_array(memory_, path, bytes_array()).value(); }
  void image(const std::string& path) {
    group(path, kImage);
    array(path + "/s0");
    group(path + "/deep");
    array(path + "/deep/s1");
    array(path + "/unnamed");
  }
  [[nodiscard]] auto members(const std::string& path) const {
    return open_group(unlisted(memory_), {.path = path}).value().members().value();
  }

  std::shared_ptr<Store> memory_ = memory_store();
};

TEST_F(NamedMembers, OfAnImageAreItsResolutionsAndLabels) {
  image("image");
  EXPECT_THAT(members("image"), ElementsAre(Pair("deep", NodeType::group), Pair("s0", NodeType::array)));
  EXPECT_THAT(members("image/deep"), ElementsAre(Pair("s1", NodeType::array))) << "the group around it names it";
  group("image/labels", R"({"labels": ["cells"]})");
  image("image/labels/cells");
  EXPECT_THAT(members("image"),
              ElementsAre(Pair("deep", NodeType::group), Pair("labels", NodeType::group), Pair("s0", NodeType::array)));
  EXPECT_THAT(members("image/labels"), ElementsAre(Pair("cells", NodeType::group)));
}

TEST_F(NamedMembers, OfAPlateAreTheRowsOfItsWells) {
  group("", R"({"plate": {"wells": [{"path": "A/1"}, {"path": "A/2"}, {"path": "B/1"}]}})");
  for (const char* row : {"A", "B"}) group(row);
  group("A/1", R"({"well": {"images": [{"path": "0"}]}})");
  group("A/2", R"({"well": {"images": []}})");
  image("A/1/0");
  EXPECT_THAT(members(""), ElementsAre(Pair("A", NodeType::group), Pair("B", NodeType::group)));
  EXPECT_THAT(members("A"), ElementsAre(Pair("1", NodeType::group), Pair("2", NodeType::group)));
  EXPECT_THAT(members("A/1"), ElementsAre(Pair("0", NodeType::group)));
  const auto row = prefixed_store(unlisted(memory_), "A/");
  EXPECT_THAT(open_group(row).value().members().value(), testing::SizeIs(2)) << "also above the root of its store";
}

TEST_F(NamedMembers, OfASeriesAreItsImagesListedOrNumbered) {
  group("", R"({"bioformats2raw.layout": 3})");
  for (const char* path : {"0", "1", "3", "OME"}) group(path);
  EXPECT_THAT(members(""),
              ElementsAre(Pair("0", NodeType::group), Pair("1", NodeType::group), Pair("OME", NodeType::group)));
  open_group(memory_, {.path = "OME", .writable = true}).value().set_attributes(parsed(R"({"series": ["3"]})")).value();
  EXPECT_THAT(members(""), ElementsAre(Pair("3", NodeType::group), Pair("OME", NodeType::group)));
}

TEST_F(NamedMembers, OfOtherGroupsAreUnknown) {
  group("", R"({"title": "a"})");
  array("x");
  const auto listed = open_group(unlisted(memory_)).value().members();
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().message(), HasSubstr("open members by their paths"));
}

TEST_F(NamedMembers, AreCopied) {
  image("");
  const auto copied = memory_store();
  const CopyReport report = copy(unlisted(memory_), copied, {}).value();
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("only members that OME-NGFF's metadata name are copied")));
  EXPECT_TRUE(open(copied, {.path = "deep/s1"}));
  EXPECT_FALSE(open(copied, {.path = "unnamed"}));
}

}  // namespace named_test
}  // namespace sherd
