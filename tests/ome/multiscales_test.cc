// OME-NGFF's multiscales: the size and position of elements, and what is refused with the member that is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ome/early.hpp"
#include "ome/ome.hpp"
#include "tests/format/documents_testing.hpp"

namespace sherd {
namespace multiscales_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kAxes =
    R"([{"name": "c", "type": "channel"}, {"name": "y", "type": "space", "unit": "micrometer"},
  {"name": "x", "type": "space", "unit": "micrometer"}])";

std::string level(const std::string& path, const std::string& steps) {
  return R"({"path": ")" + path + "\"" + (steps.empty() ? "" : R"(, "coordinateTransformations": )" + steps) + "}";
}
Result<Image> image_with(const std::string& datasets, const std::string& more = "", const std::string& axes = kAxes) {
  return image_in(
      parsed(R"({"ome": {"multiscales": [{"axes": )" + axes + R"(, "datasets": [)" + datasets + "]" + more + "}]}}"),
      0);
}
std::string scale(const std::string& values) { return R"({"type": "scale", "scale": )" + values + "}"; }
std::string shift(const std::string& values) { return R"({"type": "translation", "translation": )" + values + "}"; }

TEST(Multiscales, HaveAxesByTypeOrName) {
  const Image image = image_with(level("0", "")).value();
  EXPECT_THAT(image.axes, ElementsAre("c", "y", "x"));
  EXPECT_THAT(image.units, ElementsAre("", "micrometer", "micrometer"));
  EXPECT_THAT(image.levels[0].spacing, ElementsAre(1, 1, 1));
  EXPECT_THAT(image.levels[0].offset, ElementsAre(0, 0, 0));
  EXPECT_THAT(image_with(level("0", ""), "", R"([{"name": "w", "type": "time"}, "y", "x"])").value().axes,
              ElementsAre("t", "y", "x"));
}

TEST(Multiscales, OfAPyramidOfMeansHaveNoOffset) {
  const Image image = image_with(level("0", "[" + scale("[1, 0.5, 0.5]") + "]") + "," +
                                 level("1", "[" + scale("[1, 1, 1]") + "," + shift("[0, 0.25, 0.25]") + "]"))
                          .value();
  EXPECT_THAT(image.levels[1].spacing, ElementsAre(1, 1, 1));
  EXPECT_THAT(image.levels[1].offset, ElementsAre(0, 0, 0)) << "corners on corners";
  EXPECT_THAT(translation_of(image, 1), ElementsAre(0, 0.25, 0.25));
  EXPECT_THAT(translation_of(image, 0), ElementsAre(0, 0, 0));
}

TEST(Multiscales, AreScaledAndMovedByTheTransformationsOfTheWholeImage) {
  const Image image =
      image_with(level("0", "[" + scale("[1, 2, 3]") + "," + shift("[0, 4, 6]") + "]"),
                 R"(, "coordinateTransformations": [)" + scale("[1, 10, 0.1]") + "," + shift("[0, 20, 0.3]") + "]")
          .value();
  EXPECT_THAT(image.levels[0].spacing, ElementsAre(1, 20, 0.3));
  EXPECT_THAT(image.levels[0].offset, ElementsAre(0, 3, testing::DoubleNear(3, 1e-9)));
}

TEST(Multiscales, ApplyTheirTransformationsOneAfterTheOther) {
  const auto step = [](const std::string& steps) {
    return image_with(level("0", "[" + steps + "]")).value().levels[0];
  };
  const ImageLevel moved = step(shift("[0, 1, 1]") + "," + scale("[1, 2, 4]"));
  EXPECT_THAT(moved.spacing, ElementsAre(1, 2, 4));
  EXPECT_THAT(moved.offset, ElementsAre(0, 1, 1)) << "the translation is scaled, too";
  const ImageLevel twice =
      step(scale("[1, 2, 2]") + "," + scale("[1, 3, 0.5]") + "," + shift("[0, 6, 1]") + "," + shift("[0, 6, 1]"));
  EXPECT_THAT(twice.spacing, ElementsAre(1, 6, 1));
  EXPECT_THAT(twice.offset, ElementsAre(0, 2, 2));
  EXPECT_THAT(step(R"({"type": "identity"})").spacing, ElementsAre(1, 1, 1));
}

TEST(Multiscales, AreRefusedWithTheMemberThatIsWrong) {
  const std::string good = level("0", "");
  const auto refusal = [](const Result<Image>& image) {
    EXPECT_FALSE(image);
    if (image) return std::string();
    EXPECT_EQ(image.error().code(), ErrorCode::corrupt);
    return image.error().member() + ": " + image.error().message();
  };
  const std::string first = "multiscales[0].";
  EXPECT_THAT(refusal(image_with("")), HasSubstr(first + "datasets: must be a list"));
  EXPECT_THAT(refusal(image_with(good, "", "[]")), HasSubstr(first + "axes: must be a list of axes"));
  EXPECT_THAT(refusal(image_with(good, "", R"(["y", "y"])")), HasSubstr(first + "axes: the axis y is given twice"));
  EXPECT_THAT(refusal(image_with(good, "", R"(["y", "q"])")), HasSubstr("'q' is not an axis"));
  EXPECT_THAT(refusal(image_with(good + ", {}")), HasSubstr(first + "datasets[1].path: must be the path"));
  EXPECT_THAT(refusal(image_with(level("../0", ""))), HasSubstr(first + "datasets[0].path: "));
  const std::string member = first + "datasets[0].coordinateTransformations: ";
  EXPECT_THAT(refusal(image_with(level("0", "5"))), HasSubstr(member + "must be a list of transformations"));
  EXPECT_THAT(refusal(image_with(level("0", "[" + scale("[1, 1]") + "]"))), HasSubstr(member + "must be a list of 3"));
  EXPECT_THAT(refusal(image_with(level("0", "[" + scale("[1, 1e999, 1]") + "]"))),
              HasSubstr(member + "must be finite"));
  EXPECT_THAT(refusal(image_with(level("0", "[" + scale("[1, 0, 1]") + "]"))), HasSubstr("scale that is not positive"));
  EXPECT_THAT(refusal(image_with(level("0", R"([{"type": "affine"}])"))), HasSubstr("not 'affine'"));
  EXPECT_THAT(refusal(image_with(good, R"(, "coordinateTransformations": {})")),
              HasSubstr(first + "coordinateTransformations: "));
  EXPECT_THAT(refusal(image_in(parsed(R"({"ome": {"multiscales": []}})"), 0)),
              HasSubstr("multiscales[0]: does not exist"));
}

TEST(GroupAttributes, DescribeTheImageThatIsReadFromThem) {
  Image image = image_with(level("a", "[" + scale("[1, 0.5, 0.25]") + "," + shift("[0, 3, 4]") + "]") + "," +
                           level("b", "[" + scale("[1, 1, 0.5]") + "," + shift("[0, 3.25, 4.125]") + "]"))
                    .value();
  image.name = "cells";
  image.info = parsed(R"({"@type": "neuroglancer_multiscale_volume"})");
  const Json attributes = group_attributes(image, parsed(R"({"mine": 1})"), DType::uint8);
  EXPECT_EQ(attributes.find("mine")->dump(), "1");
  EXPECT_EQ(attributes.find("ome")->find("version")->text(), "0.5");
  EXPECT_EQ(attributes.find("ome")->find("omero"), nullptr) << "its channels are not known";
  EXPECT_TRUE(check_ome(attributes, "0.5", "").empty());
  const Image read = image_in(attributes, 0).value();
  EXPECT_EQ(read.axes, image.axes);
  EXPECT_EQ(read.units, image.units);
  EXPECT_EQ(read.name, image.name);
  EXPECT_EQ(read.info, image.info);
  ASSERT_EQ(read.levels.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read.levels[i].path, image.levels[i].path);
    EXPECT_EQ(read.levels[i].spacing, image.levels[i].spacing);
    EXPECT_EQ(read.levels[i].offset, image.levels[i].offset);
  }
}

TEST(GroupAttributes, CompleteChannelsOrLeaveThemOutIfTheyAreNone) {
  Image image = image_with(level("0", "")).value();
  image.channels = parsed(R"([{"label": "a"}, {"color": "0000FF"}])");
  const Json attributes = group_attributes(image, {}, DType::uint8), ome = *attributes.find("ome");
  const auto& channels = ome.find("omero")->find("channels")->elements();
  EXPECT_EQ(channels[0].find("window")->dump(), R"({"min":0,"max":255,"start":0,"end":255})");
  EXPECT_EQ(channels[1].find("color")->text(), "0000FF");
  EXPECT_TRUE(check_ome(attributes, "0.5", "").empty());
  image.channels = parsed(R"([1])");
  EXPECT_EQ(group_attributes(image, {}, DType::uint8).find("ome")->find("omero"), nullptr);
  const Json given = parsed(R"({"ome": {"omero": {"id": 3, "channels": [{"color": "ABCDEF"}]}}})");
  const Json kept = group_attributes(image, given, DType::uint8);
  EXPECT_EQ(kept.find("ome")->find("omero")->find("id")->dump(), "3");
  EXPECT_EQ(kept.find("ome")->find("omero")->find("channels")->elements()[0].find("color")->text(), "ABCDEF");
}

TEST(ImageOfGroup, SaysInWhichDocumentTheFaultIs) {
  const auto store = memory_store();
  const Json wrong = parsed(R"({"ome": {"version": "0.5", "multiscales": [{"axes": []}]}})");
  const Group group = create_group(store, "g", wrong).value();
  const auto image = describe_image(group);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(image.error().key(), "g/zarr.json");
  EXPECT_EQ(image.error().member(), "attributes.ome.multiscales[0].axes");
  EXPECT_FALSE(describe_image(create_group(store, "plain").value()).value());
}

}  // namespace multiscales_test
}  // namespace sherd
