// What an array is as an image: from its names and attributes, the OME-NGFF group around it, or its volume.
#include "io/axes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/sherd.hpp"

namespace sherd {
namespace axes_test {

using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;

Json json(std::string_view text) { return Json::parse(text).value(); }

class ImageFactsOf : public ::testing::Test {
 protected:
  Array array(const std::string& path, const Shape& shape, const char* attributes = "{}",
              std::optional<std::vector<std::optional<std::string>>> names = {}, const DType& dtype = DType::uint8) {
    CreateOptions options{.shape = shape, .dtype = dtype, .chunks = shape, .attributes = json(attributes)};
    if (names) options.dimension_names = *names;
    return create_array(store_, path, options).value();
  }
  /// A group of OME-NGFF 0.5 with y and x, whose second level is half as fine and begins half an element later.
  void image(const char* more = "", const char* omero = "") {
    create_group(store_, "i",
                 json(std::string(R"({"ome": {"version": "0.5", )") + omero + R"("multiscales": [{)" + more +
                      R"("axes": [
      {"name": "y", "type": "space", "unit": "micrometer"}, {"name": "x", "type": "space", "unit": "micrometer"}],
      "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [2, 1]}]},
        {"path": "1", "coordinateTransformations": [{"type": "scale", "scale": [4, 2]},
          {"type": "translation", "translation": [1, 0.5]}]}]}]}})"))
        .value();
  }
  [[nodiscard]] ImageFacts facts(const std::string& path) const {
    return find_image_facts(open_array(store_, {.path = path}).value()).value();
  }
  static std::vector<std::string> names_of(const ImageFacts& facts) {
    std::vector<std::string> names;
    for (const ImageAxis& axis : facts.axes) names.push_back(axis.name);
    return names;
  }

  const std::shared_ptr<Store> store_ = memory_store();
};

TEST_F(ImageFactsOf, AnArrayAreItsNamesSpacingAndUnits) {
  array("a", {2, 3, 4}, R"({"spacing": [0.5, 1, 2], "units": ["mm", "um", ""], "voxel_offset": [2, 0, 1]})",
        {{"Channel", "y", "x"}});
  const ImageFacts found = facts("a");
  EXPECT_THAT(names_of(found), ElementsAre("c", "y", "x"));
  EXPECT_EQ(found.axes[0].spacing, 0.5);
  EXPECT_EQ(found.axes[0].unit, "mm");
  EXPECT_EQ(found.axes[0].origin, 1);
  EXPECT_EQ(found.axes[2].origin, 2);
  EXPECT_TRUE(found.has_plane());
  EXPECT_EQ(found.find("y"), 1U);
  EXPECT_EQ(found.find("z"), std::nullopt);
  EXPECT_FALSE(found.labels);
}

TEST_F(ImageFactsOf, AnArrayIgnoreAttributesInOtherForms) {
  array("a", {3, 4}, R"({"spacing": [1, 2, 3], "units": {"y": "mm"}, "voxel_offset": "none", "channels": 7})");
  const ImageFacts found = facts("a");
  EXPECT_THAT(names_of(found), ElementsAre("", ""));
  EXPECT_EQ(found.axes[0].spacing, std::nullopt);
  EXPECT_EQ(found.axes[0].origin, 0);
  EXPECT_FALSE(found.has_plane());
  EXPECT_THAT(found.channels, IsEmpty());
}

TEST_F(ImageFactsOf, AnArrayHaveNoNamesIfTwoAreEqual) {
  array("a", {3, 4, 5}, "{}", {{"x", "y", "X"}});
  EXPECT_THAT(names_of(facts("a")), ElementsAre("", "", ""));
}

TEST_F(ImageFactsOf, ChannelsAreThoseThatAreValid) {
  array("a", {2, 3, 4}, R"({"channels": [
    {"label": "red", "color": "#FF0000", "active": false, "window": {"start": 1, "end": 9}},
    {"label": 3, "color": "00ff00ff", "window": {"start": 9, "end": 1}}]})",
        {{"c", "y", "x"}});
  const ImageFacts found = facts("a");
  ASSERT_EQ(found.channels.size(), 2U);
  EXPECT_EQ(found.channels[0].name, "red");
  EXPECT_EQ(found.channels[0].colour, 0xff0000U);
  EXPECT_EQ(found.channels[0].window, (std::pair<double, double>(1, 9)));
  EXPECT_FALSE(found.channels[0].active);
  EXPECT_EQ(found.channels[1].name, "");
  EXPECT_EQ(found.channels[1].colour, 0x00ff00U);
  EXPECT_EQ(found.channels[1].window, std::nullopt);
  EXPECT_TRUE(found.channels[1].active);
  array("other", {3, 3, 4}, R"({"channels": [{"label": "of another image"}]})", {{"c", "y", "x"}});
  EXPECT_THAT(facts("other").channels, IsEmpty());
}

TEST_F(ImageFactsOf, LabelsHaveTheColoursThatAreValid) {
  array("a", {3, 4}, R"({"image-label": {"colors": [{"label-value": 1, "rgba": [255, 0, 16]},
    {"label-value": 2, "rgba": [255, 255, 0, 127]}, {"label-value": 3, "rgba": [256, 0, 0]},
    {"label-value": 4, "rgba": [1, 2]}, {"rgba": [1, 2, 3]}, {"label-value": -1, "rgba": [0, 0, 1]}]}})");
  const ImageFacts found = facts("a");
  EXPECT_TRUE(found.labels);
  EXPECT_EQ(found.label_colours, (LabelColours{{1, 0xff0010}, {2, 0x7f7f00}, {~std::uint64_t{0}, 0x000001}}));
}

TEST_F(ImageFactsOf, AResolutionAreThoseOfItsImage) {
  image(R"("name": "cells", )", R"("omero": {"channels": [{"label": "dapi", "color": "0000FF"}]}, )");
  array("i/0", {8, 8}, "{}", {{"y", "x"}});
  array("i/1", {4, 4}, "{}", {{"y", "x"}});
  const ImageFacts fine = facts("i/0"), coarse = facts("i/1");
  EXPECT_THAT(names_of(coarse), ElementsAre("y", "x"));
  EXPECT_EQ(fine.axes[0].spacing, 2);
  EXPECT_EQ(coarse.axes[0].spacing, 4);
  EXPECT_EQ(coarse.axes[0].unit, "micrometer");
  EXPECT_EQ(fine.axes[0].origin, 0);
  EXPECT_EQ(coarse.axes[0].origin, 1);  // the centre of its first element
  EXPECT_EQ(coarse.axes[1].origin, 0.5);
  ASSERT_EQ(coarse.channels.size(), 1U);
  EXPECT_EQ(coarse.channels[0].colour, 0x0000ffU);
  EXPECT_EQ(coarse.attributes.find("image_name")->text(), "cells");
}

TEST_F(ImageFactsOf, ACoarserResolutionInheritTheAffineOfTheFinest) {
  image();
  array(
      "i/0", {8, 8},
      R"({"scl_slope": 2, "units": ["um", "um"], "affine": [[1, 0, 0, 7], [0, 2, 0, 9], [0, 0, 1, 0], [0, 0, 0, 1]]})",
      {{"y", "x"}});
  array("i/1", {4, 4}, "{}", {{"y", "x"}});
  const ImageFacts coarse = facts("i/1");
  EXPECT_EQ(*coarse.attributes.find("scl_slope"), Json(2));
  // Twice the steps along x and y, and half a step further.
  ASSERT_NE(coarse.attributes.find("affine"), nullptr);
  EXPECT_EQ(parse_affine(*coarse.attributes.find("affine")),
            parse_affine(json("[[2, 0, 0, 7.5], [0, 4, 0, 10], [0, 0, 1, 0], [0, 0, 0, 1]]")));
}

TEST_F(ImageFactsOf, AResolutionOfAnotherRankAreCorrupt) {
  image();
  const auto found = find_image_facts(array("i/0", {8, 8, 8}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(found.error().text(), HasSubstr("as many dimensions as the image has axes"));
}

TEST_F(ImageFactsOf, AScaleOfAVolumeAreThoseOfItsInfo) {
  store_
      ->set("info", R"({"type": "segmentation", "data_type": "uint64", "num_channels": 1, "scales": [
    {"key": "a", "size": [8, 8, 8], "resolution": [4, 5, 40], "voxel_offset": [1, 0, 0], "chunk_sizes": [[8, 8, 8]],
     "encoding": "raw"}]})")
      .value();
  const ImageFacts found = facts("a");
  EXPECT_THAT(names_of(found), ElementsAre("x", "y", "z", "c"));
  EXPECT_EQ(found.axes[2].spacing, 40);
  EXPECT_EQ(found.axes[0].origin, 4);
  EXPECT_TRUE(found.labels);
}

TEST_F(ImageFactsOf, ColourSamplesAreThreeOrFourBytesOfThePrimaries) {
  ImageFacts found{.axes = {{.name = "y"}, {.name = "x"}, {.name = "c"}}};
  EXPECT_TRUE(found.is_interleaved());
  EXPECT_TRUE(found.has_colour_samples({2, 2, 3}, DType::uint8));
  EXPECT_TRUE(found.has_colour_samples({2, 2, 4}, DType::uint8));
  EXPECT_FALSE(found.has_colour_samples({2, 2, 2}, DType::uint8));
  EXPECT_FALSE(found.has_colour_samples({2, 2, 3}, DType::uint16));
  found.channels = {{.colour = 0xff0000}, {.colour = 0x00ff00}, {.colour = 0x0000ff}};
  EXPECT_TRUE(found.has_colour_samples({2, 2, 3}, DType::uint8));
  found.channels[1].colour = 0xff00ff;
  EXPECT_FALSE(found.has_colour_samples({2, 2, 3}, DType::uint8));
  found.channels.clear();
  found.labels = true;
  EXPECT_FALSE(found.has_colour_samples({2, 2, 3}, DType::uint8));
  EXPECT_FALSE(ImageFacts({.axes = {{.name = "c"}, {.name = "y"}, {.name = "x"}}}).is_interleaved());
}

TEST_F(ImageFactsOf, ASingleLevelKeepWhereItBegins) {
  image();
  array("i/0", {8, 8}, "{}", {{"y", "x"}});
  const Array coarse = array("i/1", {4, 4}, "{}", {{"y", "x"}});
  const SingleLevel level = find_single_level(coarse, false).value().value();
  ASSERT_EQ(level.image.levels.size(), 1U);
  EXPECT_EQ(level.image.levels[0].spacing, (std::vector<double>{4, 2}));
  EXPECT_EQ(level.image.levels[0].offset[0] * 4, 1);  // the centre of its first element
  EXPECT_EQ(find_single_level(array("alone", {4, 4}), false).value(), std::nullopt);
}

TEST_F(ImageFactsOf, ALevelOfAGroupAreFoundByNumber) {
  image();
  array("i/0", {8, 8}, "{}", {{"y", "x"}});
  array("i/1", {4, 4}, "{}", {{"y", "x"}});
  const Group group = open_group(store_, {.path = "i"}).value();
  EXPECT_EQ(open_level(group, 1).value()->shape(), (Shape{4, 4}));
  EXPECT_THAT(open_level(group, 2).error().text(), HasSubstr("has no level 2; it has 2, the finest is 0"));
  EXPECT_FALSE(open_level(create_group(store_, "plain").value(), 0).value());
}

}  // namespace axes_test
}  // namespace sherd
