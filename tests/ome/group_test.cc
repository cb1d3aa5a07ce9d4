// What a group is by OME-NGFF's metadata, and what becomes of these when a member is renamed or erased.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ome/ome.hpp"
#include "tests/format/documents_testing.hpp"

namespace sherd {
namespace group_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr const char* kPlate =
    R"({"plate": {"rows": [{"name": "A"}, {"name": "B"}], "columns": [{"name": "1"}, {"name": "2"}],
  "acquisitions": [{"id": 7}, {"id": "x"}, {"id": 3}],
  "wells": [{"path": "A/1", "rowIndex": 0, "columnIndex": 0}, {"path": "B/2", "rowIndex": 1, "columnIndex": 1}]}})";

std::optional<OmeGroup> group_of(std::string_view attributes, const std::string& path = "") {
  return ome_group(parsed(attributes), path);
}

TEST(OmeGroup, IsNothingIfItsAttributesOnlyHaveTheNames) {
  for (const char* attributes :
       {"{}", R"({"ome": 5})", R"({"ome": {}})", R"({"ome": {"version": "0.5"}})", R"({"multiscales": []})",
        R"({"multiscales": [{"datasets": []}, {}]})", R"({"multiscales": {"datasets": []}})", R"({"plate": "steel"})",
        R"({"well": {"depth": 3}})", R"({"labels": ["a"]})", R"({"image-label": "x"})", R"({"omero": {}})",
        R"({"multiscales": null})"})
    EXPECT_FALSE(group_of(attributes)) << attributes;
  EXPECT_FALSE(group_of(R"({"labels": ["a"]})", "image/other"));
  EXPECT_FALSE(group_of(R"({"labels": "a"})", "image/labels"));
}

TEST(OmeGroup, IsRecognizedInEitherVersion) {
  const auto old = group_of(R"({"multiscales": [{"datasets": [{"path": "0"}]}]})");
  ASSERT_TRUE(old);
  EXPECT_TRUE(old->is_old);
  EXPECT_EQ(old->prefix, "");
  const auto present = group_of(R"({"ome": {"version": "0.5", "multiscales": []}})");
  ASSERT_TRUE(present) << "within ome any form counts";
  EXPECT_FALSE(present->is_old);
  EXPECT_EQ(present->prefix, "ome.");
  EXPECT_TRUE(group_of(R"({"ome": {"omero": {}}})"));
  EXPECT_TRUE(group_of(R"({"image-label": {}})"));
  EXPECT_TRUE(group_of(R"({"bioformats2raw.layout": 3})")->is_series);
  EXPECT_FALSE(old->is_series);
}

TEST(OmeGroup, ListsWhatItsMembersName) {
  const auto plate = group_of(kPlate);
  EXPECT_THAT(plate->wells, ElementsAre("A/1", "B/2"));
  EXPECT_THAT(*plate->acquisitions, ElementsAre(7U, 3U));
  EXPECT_FALSE(group_of(R"({"plate": {"wells": []}})")->acquisitions);
  const auto well = group_of(R"({"well": {"images": [{"path": "0", "acquisition": 4}, {"path": ""}, {"path": "1"}]}})");
  EXPECT_THAT(well->images, ElementsAre("0", "1"));
  EXPECT_THAT(well->image_acquisitions, ElementsAre(4U));
  EXPECT_THAT(group_of(R"({"labels": ["a", 3, "", "b"]})", "i/labels")->labels, ElementsAre("a", "b"));
}

TEST(OmeDatasets, AreThoseOfAllImagesWithTheirPlaceInTheDocument) {
  const auto found = ome_datasets(parsed(R"({"ome": {"multiscales": [
    {"axes": [{"name": "y"}, "x", {}], "datasets": [{"path": "0"}, {"path": ""}, {"path": "1"}]},
    {}, {"datasets": [{"path": "z"}]}]}})"));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].member, "multiscales[0].datasets[0]");
  EXPECT_THAT(found[0].axes, ElementsAre("y", "x", ""));
  EXPECT_EQ(found[1].member, "multiscales[0].datasets[2]");
  EXPECT_EQ(found[1].path, "1");
  EXPECT_EQ(found[2].member, "multiscales[2].datasets[0]");
  EXPECT_EQ(found[2].image, 2U);
  EXPECT_THAT(found[2].axes, IsEmpty());
}

TEST(WithLabel, AddsItOnceWhereTheVersionHasIt) {
  EXPECT_EQ(with_label(parsed(R"({"a": 1})"), "n", "0.4").dump(), R"({"a":1,"labels":["n"]})");
  EXPECT_EQ(with_label(parsed(R"({"labels": ["n", "m"]})"), "n", "0.4").dump(), R"({"labels":["n","m"]})");
  EXPECT_EQ(with_label(parsed(R"({"a": 1})"), "n", "0.5").dump(), R"({"a":1,"ome":{"version":"0.5","labels":["n"]}})");
  EXPECT_EQ(with_label(parsed(R"({"ome": {"version": "0.6", "labels": ["m"]}})"), "n", "0.5").dump(),
            R"({"ome":{"version":"0.6","labels":["m","n"]}})");
  EXPECT_EQ(with_label(parsed(R"({"ome": 5})"), "n", "0.5").dump(), R"({"ome":{"version":"0.5","labels":["n"]}})");
  EXPECT_EQ(with_label(parsed(R"({"labels": 5})"), "n", "0.4").dump(), R"({"labels":["n"]})");
}

std::string renamed(std::string_view attributes, std::string_view name, const std::optional<std::string>& to,
                    const std::string& path = "") {
  const auto changed = with_renamed_member(parsed(attributes), path, name, to);
  return changed ? changed->dump() : "unchanged";
}

TEST(RenamedMember, HasItsNewPathInResolutions) {
  const char* image = R"({"ome":{"multiscales":[{"datasets":[{"path":"s/0","x":1},{"path":"s1"}]}]}})";
  EXPECT_EQ(renamed(image, "s", "t"), R"({"ome":{"multiscales":[{"datasets":[{"path":"t/0","x":1},{"path":"s1"}]}]}})");
  EXPECT_EQ(renamed(image, "s1", "t"), R"({"ome":{"multiscales":[{"datasets":[{"path":"s/0","x":1},{"path":"t"}]}]}})");
  EXPECT_EQ(renamed(image, "s1", std::nullopt), R"({"ome":{"multiscales":[{"datasets":[{"path":"s/0","x":1}]}]}})");
  EXPECT_EQ(renamed(image, "other", "t"), "unchanged");
  EXPECT_EQ(renamed(image, "s/0/c", "t"), "unchanged") << "a path above the renamed one";
}

TEST(RenamedMember, IsKeptIfItIsTheLastResolutionButNotTheLastLabel) {
  EXPECT_EQ(renamed(R"({"multiscales": [{"datasets": [{"path": "0"}]}]})", "0", std::nullopt), "unchanged");
  EXPECT_EQ(renamed(R"({"labels":["a",3]})", "a", std::nullopt, "i/labels"), R"({"labels":[3]})");
  EXPECT_EQ(renamed(R"({"labels":["a"]})", "a", std::nullopt, "i/labels"), R"({"labels":[]})");
  EXPECT_EQ(renamed(R"({"labels":["a","b"]})", "b", "c", "i/labels"), R"({"labels":["a","c"]})");
  EXPECT_EQ(renamed(R"({"labels":["a"]})", "a", "b", "i/others"), "unchanged");
}

TEST(RenamedMember, OfAWellIsAnImage) {
  const char* well = R"({"well":{"images":[{"path":"0"},{"path":"1"}]}})";
  EXPECT_EQ(renamed(well, "1", "2"), R"({"well":{"images":[{"path":"0"},{"path":"2"}]}})");
  EXPECT_EQ(renamed(well, "0", std::nullopt), R"({"well":{"images":[{"path":"1"}]}})");
}

std::string wells_of(std::string_view name, const std::optional<std::string>& to) {
  const auto changed = with_renamed_member(parsed(kPlate), "", name, to);
  return changed ? changed->find("plate")->find("wells")->dump() : "unchanged";
}

TEST(RenamedMember, OfAPlateHasTheIndicesOfItsNewRowAndColumn) {
  EXPECT_EQ(wells_of("A/1", "B/1"), R"([{"path":"B/1","rowIndex":1,"columnIndex":0},)"
                                    R"({"path":"B/2","rowIndex":1,"columnIndex":1}])");
  EXPECT_EQ(wells_of("A", "B"), R"([{"path":"B/1","rowIndex":1,"columnIndex":0},)"
                                R"({"path":"B/2","rowIndex":1,"columnIndex":1}])");
  EXPECT_EQ(wells_of("A/1", "C/1"), R"([{"path":"B/2","rowIndex":1,"columnIndex":1}])") << "the plate has no row C";
  EXPECT_EQ(wells_of("A/1", "A"), R"([{"path":"B/2","rowIndex":1,"columnIndex":1}])");
  EXPECT_EQ(wells_of("A/1", std::nullopt), R"([{"path":"B/2","rowIndex":1,"columnIndex":1}])");
  EXPECT_EQ(wells_of("A/1/0", "A/1/5"), "unchanged");
  EXPECT_EQ(renamed(R"({"plate": {"wells": [{"path": "A/1"}]}})", "A", std::nullopt), "unchanged") << "the last well";
}

}  // namespace group_test
}  // namespace sherd
