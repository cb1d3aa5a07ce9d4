// Dimensions: those that metadata name, those that xarray names, and those that are made up for a length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace read_dataset_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::pair<std::string, std::string> kGroup{".zgroup", R"({"zarr_format": 2})"};

std::vector<std::string> dimension_names(const Variable& variable) {
  std::vector<std::string> names;
  for (const Dimension& each : variable.dimensions()) names.push_back(each.full_name());
  return names;
}
std::vector<std::string> dimension_names(const Dataset& dataset, const char* path) {
  return dimension_names(*dataset.root().variable(path));
}
std::string names(const std::string& list) { return R"({"_ARRAY_DIMENSIONS": )" + list + "}"; }

TEST(PureZarr, HasOneAnonymousDimensionForEachLength) {
  const Texts texts{kGroup,
                    {"a/.zarray", zarray("[3, 4, 3]", "<i4")},
                    {"g/.zgroup", kGroup.second},
                    {"g/b/.zarray", zarray("[4]", "<i4")}};
  const Dataset dataset = open_texts(texts).value();
  EXPECT_THAT(dimension_names(dataset, "a"),
              ElementsAre("/_Anonymous_Dim_3", "/_Anonymous_Dim_4", "/_Anonymous_Dim_3"));
  EXPECT_THAT(dimension_names(dataset, "g/b"), ElementsAre("/_Anonymous_Dim_4"));
  EXPECT_TRUE(dataset.root().dimensions()[0].anonymous);
  EXPECT_EQ(dimension_names(open_texts(texts, {.compat_seed = true}).value(), "a")[0], "/.zdim_3");
}

TEST(PureZarr, SharesDimensionsThatXarrayNames) {
  const Dataset dataset = open_texts({kGroup,
                                      {"a/.zarray", zarray("[3, 4]", "<i4")},
                                      {"a/.zattrs", names(R"(["y", "x"])")},
                                      {"x/.zarray", zarray("[4]", "<f4")},
                                      {"x/.zattrs", names(R"(["x"])")}})
                              .value();
  EXPECT_THAT(dimension_names(dataset, "a"), ElementsAre("/y", "/x"));
  EXPECT_EQ(dataset.root().dimensions().size(), 2U);
  EXPECT_THAT(dataset.root().variable("a")->attributes(), IsEmpty());
}

TEST(PureZarr, WithALengthThatContradictsCostsOneVariableItsNames) {
  const Dataset dataset = open_texts({kGroup,
                                      {"a/.zarray", zarray("[3]", "<i4")},
                                      {"a/.zattrs", names(R"(["x"])")},
                                      {"b/.zarray", zarray("[4]", "<i4")},
                                      {"b/.zattrs", names(R"(["x"])")},
                                      {"c/.zarray", zarray("[3, 4]", "<i4")},
                                      {"c/.zattrs", names(R"(["z", "z"])")}})
                              .value();
  EXPECT_THAT(dimension_names(dataset, "a"), ElementsAre("/x"));
  EXPECT_THAT(dimension_names(dataset, "b"), ElementsAre("/_Anonymous_Dim_4"));
  EXPECT_THAT(dimension_names(dataset, "c"), ElementsAre("/_Anonymous_Dim_3", "/_Anonymous_Dim_4"));
  EXPECT_THAT(dataset.warnings(), ElementsAre(HasSubstr("/b: is 4 long along 'x'"), HasSubstr("/c: has two lengths")));
}

TEST(PureZarr, NeedsANameForEachDimension) {
  const Dataset dataset = open_texts({kGroup,
                                      {"a/.zarray", zarray("[3, 4]", "<i4")},
                                      {"a/.zattrs", names(R"(["x"])")},
                                      {"b/.zarray", zarray("[3]", "<i4")},
                                      {"b/.zattrs", names("[7]")},
                                      {"c/.zarray", zarray("[3]", "<i4")},
                                      {"c/.zattrs", names("\"x\"")}})
                              .value();
  EXPECT_THAT(dimension_names(dataset, "a"), ElementsAre("/_Anonymous_Dim_3", "/_Anonymous_Dim_4"));
  EXPECT_THAT(dimension_names(dataset, "b"), ElementsAre("/_Anonymous_Dim_3"));
  EXPECT_THAT(dimension_names(dataset, "c"), ElementsAre("/_Anonymous_Dim_3"));
}

TEST(PureZarr, HasNoNamesWithNoxarray) {
  const Texts texts{kGroup, {"a/.zarray", zarray("[3]", "<i4")}, {"a/.zattrs", names(R"(["x"])")}};
  EXPECT_THAT(dimension_names(open_texts(texts, {.noxarray = true}).value(), "a"), ElementsAre("/_Anonymous_Dim_3"));
}

TEST(PureZarr, InAGroupUsesTheDimensionsAboveOfTheSameLength) {
  const Dataset dataset = open_texts({kGroup,
                                      {"a/.zarray", zarray("[3]", "<i4")},
                                      {"a/.zattrs", names(R"(["x"])")},
                                      {"g/.zgroup", kGroup.second},
                                      {"g/b/.zarray", zarray("[3]", "<i4")},
                                      {"g/b/.zattrs", names(R"(["x"])")},
                                      {"h/.zgroup", kGroup.second},
                                      {"h/c/.zarray", zarray("[5]", "<i4")},
                                      {"h/c/.zattrs", names(R"(["x"])")}})
                              .value();
  EXPECT_THAT(dimension_names(dataset, "g/b"), ElementsAre("/x"));
  EXPECT_THAT(dimension_names(dataset, "h/c"), ElementsAre("/h/x"));
  EXPECT_THAT(dataset.warnings(), IsEmpty());
}

TEST(PureZarr, OfOneElementWithoutAWholeNameIsAScalar) {
  const Dataset dataset = open_texts({kGroup,
                                      {"a/.zarray", zarray("[1]", "<i4")},
                                      {"a/.zattrs", names(R"(["_scalar_"])")},
                                      {"b/.zarray", zarray("[]", "<i4")},
                                      {"c/.zarray", zarray("[1]", "<i4")}})
                              .value();
  EXPECT_THAT(dimension_names(dataset, "a"), IsEmpty());
  EXPECT_THAT(dimension_names(dataset, "b"), IsEmpty());
  EXPECT_THAT(dimension_names(dataset, "c"), ElementsAre("/_Anonymous_Dim_1"));
  EXPECT_EQ(dataset.root().variable("a")->read().value(), Values(std::vector<std::int32_t>{0}));
}

TEST(PureZarr, OfAnArrayAloneIsADatasetWithOneVariable) {
  const Dataset dataset = open_texts({{".zarray", zarray("[2]", "<i4")}}).value();
  EXPECT_THAT(dimension_names(dataset, "data"), ElementsAre("/_Anonymous_Dim_2"));
}

Texts noted(const std::string& group, const std::string& refs, const std::string& shape = "[3]") {
  return {
      {".zgroup", R"({"zarr_format": 2, "_nczarr_group": )" + group + "}"},
      {"v/.zarray", zarray(shape, "<i4", R"(, "_nczarr_array": {"dimrefs": )" + refs + R"(, "storage": "chunked"})")}};
}

TEST(NotedDimensions, AreAsLongAsTheLongestVariableIfTheyAreUnlimited) {
  const Dataset dataset =
      open_texts({{".zgroup", R"({"zarr_format": 2})"},
                  {".zattrs", R"({"_nczarr_group": {"dimensions": {"t": {"size": 2, "unlimited": 1}},
                                  "arrays": ["a", "b"], "groups": []}})"},
                  {"a/.zarray", zarray("[3]", "<i4")},
                  {"a/.zattrs", R"({"_nczarr_array": {"dimension_references": ["/t"]}})"},
                  {"b/.zarray", zarray("[1]", "<i2")},
                  {"b/.zattrs", R"({"_nczarr_array": {"dimension_references": ["/t"]}})"},
                  {"b/0", std::string("\5\0", 2)}})
          .value();
  EXPECT_EQ(dataset.root().dimension("t")->length, 3U);
  EXPECT_TRUE(dataset.root().dimension("t")->unlimited);
  EXPECT_EQ(dataset.root().variable("b")->shape(), Shape{3});
  EXPECT_EQ(dataset.root().variable("b")->read().value(), Values(std::vector<std::int16_t>{5, 0, 0}));
}

TEST(NotedDimensions, ThatContradictTheShapeAreAnonymousWithAWarning) {
  const std::string group = R"({"dims": {"x": 5}, "vars": ["v"], "groups": []})";
  for (const auto& [refs, why] :
       {std::pair(R"(["/x"])", "is 3 long along '/x'"), std::pair(R"(["/y"])", "does not exist"),
        std::pair(R"(["/x", "/x"])", "has 1 dimensions"), std::pair(R"(["/g/x"])", "does not exist")}) {
    const Dataset dataset = open_texts(noted(group, refs)).value();
    EXPECT_THAT(dimension_names(dataset, "v"), ElementsAre("/_Anonymous_Dim_3"));
    EXPECT_THAT(dataset.warnings(), ElementsAre(HasSubstr(why)));
  }
}

// netcdf-c 4.9.1 opens no dataset with such chunks, which Zarr allows.
TEST(NotedDimensions, AreKeptWhereChunksAreLongerThanTheShape) {
  const std::string document = R"({"zarr_format": 2, "shape": [2, 3], "chunks": [4, 8], "dtype": "|u1", "fill_value": 9,
                                   "order": "C", "compressor": null, "filters": null)";
  std::string chunk(32, '\7');
  chunk.replace(0, 3, "\1\2\3").replace(8, 3, "\4\5\6");
  const Texts v2b{{".zgroup", R"({"zarr_format": 2, "_nczarr_group": {"dims": {"y": 2, "x": 3}, "vars": ["v"]}})"},
                  {"v/.zarray", document + R"(, "_nczarr_array": {"dimrefs": ["/y", "/x"], "storage": "chunked"}})"},
                  {"v/0.0", chunk}};
  const Texts v2c{{".zgroup", R"({"zarr_format": 2})"},
                  {".zattrs", R"({"_nczarr_group": {"dimensions": {"y": 2, "x": {"size": 3, "unlimited": 1}},
                                 "arrays": ["v"], "groups": []}})"},
                  {"v/.zarray", document + "}"},
                  {"v/.zattrs", R"({"_nczarr_array": {"dimension_references": ["/y", "/x"]}})"},
                  {"v/0.0", chunk}};
  for (const Texts& texts : {v2b, v2c}) {
    const Dataset dataset = open_texts(texts).value();
    EXPECT_THAT(dimension_names(dataset, "v"), ElementsAre("/y", "/x"));
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    const Variable variable = *dataset.root().variable("v");
    EXPECT_EQ(variable.shape(), (Shape{2, 3}));
    EXPECT_EQ(variable.storage().chunks, (Shape{4, 8}));
    EXPECT_EQ(variable.read().value(), Values(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(variable.read({{1, 1}, {1, 2}}).value(), Values(std::vector<std::uint8_t>{5, 6}));
  }
}

TEST(NotedDimensions, MayBeAnonymousInAllThreeSpellings) {
  for (const char* name : {"_Anonymous_Dim_3", "_zdim_3", ".zdim_3", ".zdim3"}) {
    const Dataset dataset =
        open_texts(noted(R"({"dims": {}, "vars": ["v"], "groups": []})", std::string(R"(["/)") + name + "\"]")).value();
    EXPECT_THAT(dimension_names(dataset, "v"), ElementsAre("/_Anonymous_Dim_3")) << name;
    EXPECT_THAT(dataset.warnings(), IsEmpty());
  }
}

TEST(AnonymousDimensions, HaveNamesOfTheirOwn) {
  const Dataset dataset =
      open_texts(
          {{".zgroup", R"({"zarr_format": 2, "_nczarr_group": {"dims": {"_Anonymous_Dim_5": 4}, "vars": ["a", "b"],
                                  "groups": []}})"},
           {"a/.zarray", zarray("[4]", "<i4", R"(, "_nczarr_array": {"dimrefs": ["/_Anonymous_Dim_5"]})")},
           {"b/.zarray", zarray("[5]", "<i4")}})
          .value();
  EXPECT_THAT(dimension_names(dataset, "a"), ElementsAre("/_Anonymous_Dim_5"));
  EXPECT_THAT(dimension_names(dataset, "b"), ElementsAre("/_Anonymous_Dim_5_"));
  EXPECT_EQ(dataset.root().variable("b")->dimensions()[0].length, 5U);
  EXPECT_EQ(dataset.root().dimension("_Anonymous_Dim_5")->length, 4U);
}

TEST(NotedDimensions, CountMoreThanTheNamesOfXarray) {
  Texts texts = noted(R"({"dims": {"x": 3, "other": 3}, "vars": ["v"], "groups": []})", R"(["/x"])");
  texts.emplace_back("v/.zattrs", R"({"_ARRAY_DIMENSIONS": ["other"]})");
  const Dataset dataset = open_texts(texts).value();
  EXPECT_THAT(dimension_names(dataset, "v"), ElementsAre("/x"));
  EXPECT_THAT(dataset.warnings(), IsEmpty());
}

}  // namespace read_dataset_test

}  // namespace sherd::netcdf
