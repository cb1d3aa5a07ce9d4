// Axes, spacing and units that the caller of an import gives.
#include "io/import_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd {
namespace import_space_test {

using testing::HasSubstr;

const Shape kShape{4, 5, 6};

ImportedSpace space_of(std::string_view attributes = "{}") {
  return {kShape, {"z", "y", "x"}, Json::parse(attributes).value()};
}
std::string applied(ImportedSpace space, const ImportOptions& options) {
  apply_space_options(space, options).value();
  return space.attributes.dump();
}
Error refused(const ImportOptions& options, ImportedSpace space = space_of()) {
  const auto outcome = apply_space_options(space, options);
  EXPECT_FALSE(outcome);
  return outcome ? invalid_argument("") : outcome.error();
}

TEST(ImportSpace, ResolutionIsNanometresAlongXYAndZ) {
  const ImportOptions options{.resolution = {{4, 5, 40}}};
  ImportedSpace space = space_of();
  apply_space_options(space, options).value();
  EXPECT_EQ(space.attributes.find("units")->elements()[0], Json("nanometer"));
  EXPECT_EQ(nanometres_of(space), (std::array<double, 3>{4, 5, 40}));
}

TEST(ImportSpace, SpacingIsInTheOrderOfDimensionsAndOneUnitIsThatOfAll) {
  ImportedSpace space = space_of();
  apply_space_options(space, {.spacing = {3, 2, 1}, .units = {"micrometer"}}).value();
  EXPECT_EQ(nanometres_of(space), (std::array<double, 3>{1000, 2000, 3000}));
}

TEST(ImportSpace, AxesReplaceTheNamesOfTheFile) {
  ImportedSpace space = space_of();
  apply_space_options(space, {.axes = {"x", "y", "z"}}).value();
  EXPECT_EQ(space.names.front(), "x");
  EXPECT_EQ(refused({.axes = {"x", "y"}}).member(), "axes");
}

TEST(ImportSpace, AnAffineThatANewSpacingWouldContradictBecomesAnOffset) {
  const auto affine = R"({"affine": [[2,0,0,10],[0,2,0,0],[0,0,2,4],[0,0,0,1]]})";
  const std::string attributes = applied(space_of(affine), {.spacing = {1, 1, 1}});
  EXPECT_THAT(attributes, testing::Not(HasSubstr("affine")));
  EXPECT_THAT(attributes, HasSubstr("\"voxel_offset\":[2"));
}

TEST(ImportSpace, ErrorsNameTheOption) {
  EXPECT_EQ(refused({.spacing = {1, 0, 1}}).member(), "spacing");
  EXPECT_EQ(refused({.spacing = {1, 1}}).member(), "spacing");
  EXPECT_EQ(refused({.units = {"second"}}).member(), "units");
  EXPECT_THAT(refused({.units = {"parrot"}}).text(), HasSubstr("is not a unit of length or time"));
  EXPECT_EQ(refused({.spacing = {1, 1, 1}, .resolution = {{1, 1, 1}}}).member(), "resolution");
  EXPECT_EQ(refused({.resolution = {{1, 1, 1}}}, {kShape, {"t", "c", "t"}, {}}).code(), ErrorCode::invalid_argument);
  ImportOptions contradicting{.spacing = {1, 1, 1}};
  contradicting.create.attributes = Json::parse(R"({"spacing": [2, 2, 2]})").value();
  EXPECT_EQ(refused(contradicting).member(), "spacing");
}

TEST(ImportSpace, HasNoNanometresWithoutAUnitOfLengthForEachAxis) {
  EXPECT_EQ(nanometres_of(space_of()), std::nullopt);
  EXPECT_EQ(nanometres_of(space_of(R"({"spacing": [1, 1, 1], "units": ["nanometer", null, "nanometer"]})")),
            std::nullopt);
}

}  // namespace import_space_test
}  // namespace sherd
