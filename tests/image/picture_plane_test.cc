// Which plane of an array a picture shows.
#include "image/picture_plane.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/sherd.hpp"

namespace sherd {
namespace picture_plane_test {

using testing::HasSubstr;
using At = std::pair<AxisId, AxisIndex>;

/// An axis for each letter; `_` has no name.
ImageFacts facts_of(const std::string& letters) {
  ImageFacts facts;
  for (const char letter : letters) facts.axes.push_back({.name = letter == '_' ? "" : std::string(1, letter)});
  return facts;
}
Result<PicturePlane> plane_of(const Shape& shape, const ImageFacts& facts, const PictureOptions& options = {}) {
  const Array array = create_array(memory_store(), "", {.shape = shape, .dtype = DType::uint8}).value();
  return find_picture_plane(array, facts, options);
}

TEST(PicturePlane, IsTheMiddleOfZ) {
  const PicturePlane plane = plane_of({4, 5, 6}, facts_of("zyx")).value();
  EXPECT_EQ(plane.box, (Box{{2, 0, 0}, {1, 5, 6}}));
  EXPECT_EQ(plane.row, 1U);
  EXPECT_EQ(plane.column, 2U);
  EXPECT_EQ(plane.axis, 0U);
  EXPECT_EQ(plane.index(), 2U);
}

TEST(PicturePlane, HasXAlongItsRowsInAnyOrderOfDimensions) {
  const PicturePlane plane = plane_of({6, 5, 4}, facts_of("xyz")).value();
  EXPECT_EQ(plane.row, 1U);
  EXPECT_EQ(plane.column, 0U);
  EXPECT_EQ(plane.box, (Box{{0, 0, 2}, {6, 5, 1}}));
}

TEST(PicturePlane, IsOfTheLastTwoAxesIfTheyHaveNoNames) {
  const PicturePlane plane = plane_of({3, 4, 5, 6}, facts_of("____")).value();
  EXPECT_EQ(plane.box, (Box{{1, 0, 0, 0}, {1, 1, 5, 6}}));
  EXPECT_EQ(plane_of({4, 1, 6}, facts_of("___")).value().row, 0U) << "an axis of length 1 is not drawn";
}

TEST(PicturePlane, IsCutAcrossAnyAxisAtAnIndexFromEitherEnd) {
  PictureOptions options{.axis = "y", .index = AxisIndex{"-1"}};
  const PicturePlane plane = plane_of({4, 5, 6}, facts_of("zyx"), options).value();
  EXPECT_EQ(plane.box, (Box{{0, 4, 0}, {4, 1, 6}}));
  options.index = AxisIndex{"5"};
  EXPECT_THAT(plane_of({4, 5, 6}, facts_of("zyx"), options).error().text(), HasSubstr("axis y has length 5"));
  options = {.axis = "w"};
  EXPECT_THAT(plane_of({4, 5, 6}, facts_of("zyx"), options).error().text(), HasSubstr("3 axes: z, y, x"));
}

TEST(PicturePlane, ShowsChannelsAsColoursOrOneByItsName) {
  ImageFacts facts = facts_of("cyx");
  facts.channels = {{.name = "red"}, {.name = "green"}};
  EXPECT_EQ(plane_of({2, 5, 6}, facts).value().channel, 0U);
  const PictureOptions green{.at = {At("c", "green")}};
  const PicturePlane plane = plane_of({2, 5, 6}, facts, green).value();
  EXPECT_EQ(plane.channel, std::nullopt);
  EXPECT_EQ(plane.box, (Box{{1, 0, 0}, {1, 5, 6}}));
  const PictureOptions blue{.at = {At("c", "blue")}};
  EXPECT_THAT(plane_of({2, 5, 6}, facts, blue).error().text(), HasSubstr("the channels are red, green"));
}

TEST(PicturePlane, HasStepsInOneUnit) {
  ImageFacts facts = facts_of("yx");
  facts.axes[0].spacing = 2;
  facts.axes[0].unit = "micrometer";
  facts.axes[1].spacing = 500;
  facts.axes[1].unit = "nanometer";
  const PicturePlane plane = plane_of({5, 6}, facts).value();
  EXPECT_EQ(plane.row_step / plane.column_step, 4);
}

TEST(PicturePlane, IsRefusedForALineOrWhatIsDrawnAlready) {
  EXPECT_EQ(plane_of({5}, facts_of("x")).error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(plane_of({5, 1}, facts_of("yx")).error().text(), HasSubstr("one pixel wide"));
  const PictureOptions drawn{.axis = "z", .at = {At("y", "1")}};
  EXPECT_THAT(plane_of({4, 5, 6}, facts_of("zyx"), drawn).error().text(), HasSubstr("which is drawn"));
  const PictureOptions twice{.at = {At("z", "1"), At("z", "2")}};
  EXPECT_THAT(plane_of({4, 5, 6}, facts_of("zyx"), twice).error().text(), HasSubstr("given twice"));
}

}  // namespace picture_plane_test
}  // namespace sherd
