// Images as arrays and volumes describe them.
#include "io/image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd {
namespace image_test {

using testing::ElementsAre;
using testing::HasSubstr;

Json json(std::string_view text) { return Json::parse(text).value(); }

ArraySpec zyx() {
  ArraySpec spec;
  spec.shape = {4, 5, 6};
  spec.dtype = DType::uint8;
  spec.dimension_names = {"z", "y", "x"};
  return spec;
}
Result<Image> image_with(std::string_view attributes) { return image_of_array(zyx(), json(attributes), {}); }

TEST(ImageOfArray, HasTheSpacingUnitsAndOffsetOfItsAttributes) {
  const Image image =
      image_with(R"({"spacing": [40, 4, null], "units": ["nm", "micrometer", "voxel"], "voxel_offset": [1, 2, -3]})")
          .value();
  EXPECT_THAT(image.axes, ElementsAre("z", "y", "x"));
  EXPECT_THAT(image.units, ElementsAre("nanometer", "micrometer", ""));
  EXPECT_THAT(image.levels.front().spacing, ElementsAre(40, 4, 1));
  EXPECT_EQ(resolution_of(image, 0).value(), (std::array<double, 3>{1, 4000, 40}));
  EXPECT_EQ(voxel_offset_of(image, 0).value(), (std::array<std::int64_t, 3>{-3, 2, 1}));
  EXPECT_THAT(assumed_unit(image).value(), HasSubstr("1 along x is taken as nanometres"));
}

TEST(ImageOfArray, NeedsNamesOfItsDimensions) {
  ArraySpec unnamed = zyx();
  unnamed.dimension_names.clear();
  EXPECT_EQ(image_of_array(unnamed, {}, {}).error().member(), "axes");
  EXPECT_THAT(image_of_array(unnamed, {}, {"x", "y", "z"}).value().axes, ElementsAre("x", "y", "z"));
  EXPECT_THAT(image_of_array(unnamed, {}, {"x", "y"}).error().text(), HasSubstr("the array has 3 dimensions"));
}

TEST(ImageOfArray, ErrorsNameTheAttribute) {
  for (const char* wrong : {"[1, 2]", "[1, 2, 0]", "[1, 2, -1]", R"([1, 2, "3"])"}) {
    const auto refused = image_with(R"({"spacing": )" + std::string(wrong) + "}");
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code(), ErrorCode::corrupt) << wrong;
    EXPECT_EQ(refused.error().member(), "attributes.spacing") << wrong;
  }
  EXPECT_TRUE(image_with(R"({"spacing": "of another program"})"));
}

TEST(ImageOfArray, IsDescribedAgainByItsAttributes) {
  const Image image =
      image_with(R"({"spacing": [3, 2, 1], "units": ["nm", "nm", "nm"], "image_name": "cell"})").value();
  const Image again = image_of_array(zyx(), array_attributes(image, {}), {}).value();
  EXPECT_EQ(again.units, image.units);
  EXPECT_EQ(again.levels.front().spacing, image.levels.front().spacing);
  EXPECT_EQ(again.name, Json("cell"));
}

TEST(Resolution, NeedsAUnitOfLength) {
  const Image image = image_with(R"({"units": ["parsnip", "nm", "nm"]})").value();
  EXPECT_THAT(resolution_of(image, 0).error().text(), HasSubstr("the unit 'parsnip' of the axis z"));
  EXPECT_FALSE(voxel_offset_of(image_with(R"({"voxel_offset": [1e30, 0, 0]})").value(), 0));
}

TEST(Affine, IsAMatrixOfFiniteNumbers) {
  const AffineMatrix affine{{{2, 0, 0, 10}, {0, 2, 0, 0}, {0, 0, 4, 4}, {0, 0, 0, 1}}};
  EXPECT_EQ(parse_affine(affine_json(affine)), affine);
  for (const char* wrong : {"[]", "[[1,0,0,0],[0,1,0,0],[0,0,1,0]]", "[[1,0,0],[0,1,0],[0,0,1],[0,0,0]]",
                            R"([["1",0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]])"})
    EXPECT_EQ(parse_affine(json(wrong)), std::nullopt) << wrong;
}

TEST(Affine, HasAnOffsetUnlessItMirrorsOrRotates) {
  const auto offset = [](std::string_view affine) {
    return offset_of_affine(json(R"({"affine": )" + std::string(affine) + "}"));
  };
  EXPECT_EQ(offset("[[2,0,0,10],[0,2,0,0],[0,0,4,4],[0,0,0,1]]"), (std::array<double, 3>{5, 0, 1}));
  EXPECT_EQ(offset("[[-2,0,0,10],[0,2,0,0],[0,0,4,4],[0,0,0,1]]"), std::nullopt);
  EXPECT_EQ(offset("[[2,1,0,10],[0,2,0,0],[0,0,4,4],[0,0,0,1]]"), std::nullopt);
  EXPECT_EQ(offset_of_affine(json("{}")), std::nullopt);
}

TEST(ImageOfVolume, HasAResolutionForEachScaleOrOnlyOne) {
  const Json info = json(R"({"@type": "neuroglancer_multiscale_volume", "type": "segmentation", "data_type": "uint32",
    "num_channels": 1, "scales": [
    {"key": "a", "size": [8,8,8], "resolution": [4,5,40], "voxel_offset": [1,2,3], "chunk_sizes": [[4,4,4]],
     "encoding": "raw"},
    {"key": "b", "size": [4,4,8], "resolution": [8,10,40], "chunk_sizes": [[4,4,4]], "encoding": "raw"}]})");
  const Image image = image_of_volume(info, std::nullopt, {"x", "y", "z", "c"}).value();
  ASSERT_EQ(image.levels.size(), 2U);
  EXPECT_THAT(image.levels[0].spacing, ElementsAre(4, 5, 40, 1));
  EXPECT_THAT(image.levels[0].offset, ElementsAre(1, 2, 3, 0));
  EXPECT_TRUE(image.labels);
  const Image coarse = image_of_volume(info, 1, {"z", "y", "x"}).value();
  ASSERT_EQ(coarse.levels.size(), 1U);
  EXPECT_THAT(coarse.levels[0].spacing, ElementsAre(40, 10, 8));
}

}  // namespace image_test
}  // namespace sherd
