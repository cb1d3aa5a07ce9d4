// HDF5 files that libnetcdf misreads, lists in part or crashes on: what the look at them finds, as opening reports it.
// tests/data/hdf5/make_hdf5_files.py made them.
#include <gtest/gtest.h>

#include "tests/io/netcdf_testing.hpp"

namespace sherd::files_testing {
namespace netcdf_look_test {

using netcdf::Values;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::UnorderedElementsAre;

class NetcdfLooks : public NetcdfFiles {
 protected:
  static Result<netcdf::Dataset> open(const std::string& name, const Config& config = {}) {
    return open_netcdf_file(test_data("hdf5/" + name), config);
  }
  /// Every file also has the variable `ok`.
  static netcdf::Dataset opened(const std::string& name) {
    auto dataset = open(name).value();
    EXPECT_EQ(dataset.root().variable("ok")->read().value(), Values(std::vector<double>{0, 1, 2})) << name;
    return dataset;
  }
  static std::vector<std::string> unread(const netcdf::Dataset& dataset) {
    std::vector<std::string> paths;
    for (const netcdf::Unread& each : dataset.unread()) paths.push_back(each.path);
    return paths;
  }
};

TEST_F(NetcdfLooks, NameWhatHasNoTypeOfNetcdf) {
  const auto dataset = opened("types.h5");
  EXPECT_THAT(dataset.warnings(),
              UnorderedElementsAre(HasSubstr("/: the attribute 'choice' is left out: its values are enumerations"),
                                   HasSubstr("/boolean: the variable is left out: its elements are enumerations"),
                                   HasSubstr("/complex: the variable is left out: its elements are compounds"),
                                   HasSubstr("/group/opaque: the variable is left out: its elements are opaque bytes"),
                                   HasSubstr("/group/wide: the variable is left out")));
  EXPECT_THAT(unread(dataset), IsEmpty());  // netCDF has no type for any of them
  EXPECT_EQ(*dataset.root().attribute("number"), Values(std::vector<std::int64_t>{3}));
}

TEST_F(NetcdfLooks, FindTextsOfFixedLength) {
  const auto dataset = opened("texts.h5");
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  const auto texts = dataset.root().variable("fixed").value();
  EXPECT_EQ(texts.type(), netcdf::Type::string);
  EXPECT_EQ(texts.read().value(), Values(std::vector<std::string>{"ab", "", "c", "defg"}));
  EXPECT_EQ(texts.read({{1, 1}, {1, 1}}).value(), Values(std::vector<std::string>{"defg"}));
}

TEST_F(NetcdfLooks, ReadAttributesBesideATable) {
  const auto dataset = opened("tables.h5");
  const auto group = dataset.root().group("group").value();
  EXPECT_EQ(*group.attribute("text"), Values(std::vector<std::string>{"text"}));
  EXPECT_EQ(*group.attribute("list"), Values(std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(group.attribute("table"), nullptr);
  EXPECT_THAT(unread(dataset), ElementsAre("/lost"));
  EXPECT_THAT(dataset.unread().front().error.text(), HasSubstr("'table' has more than one dimension"));
}

TEST_F(NetcdfLooks, LeaveOutAVariableWithAScaleOfAnotherLength) {
  const auto dataset = opened("longer_scale.h5");
  EXPECT_THAT(unread(dataset), ElementsAre("/v"));
  EXPECT_THAT(dataset.unread().front().error.text(), HasSubstr("has 3 elements along its dimension 'x'"));
  EXPECT_FALSE(dataset.unread().front().may_be_group);
}

TEST_F(NetcdfLooks, ReadASecondLinkToAScaleOnce) {
  const auto dataset = opened("second_link.h5");
  EXPECT_THAT(dataset.warnings(), ElementsAre("/other: the variable is left out: it is a second link to '/x', which is "
                                              "read once"));
  EXPECT_THAT(unread(dataset), IsEmpty());
  EXPECT_EQ(dataset.root().variable("v")->dimensions().front().name, "x");
}

TEST_F(NetcdfLooks, RefuseWhatLibnetcdfWouldNotSurvive) {
  EXPECT_TRUE(fails(open("self.h5"), ErrorCode::unsupported, "'/a/b/up' is a link to a group that contains it"));
  EXPECT_TRUE(fails(open("scalar_scale.h5"), ErrorCode::unsupported, "'/x' is a dimension scale without a dimension"));
  EXPECT_TRUE(fails(open("odd_list.h5"), ErrorCode::unsupported, "'/ok' has an attribute DIMENSION_LIST"));
  EXPECT_TRUE(fails(open("text_fill.h5"), ErrorCode::unsupported, "'/t' has texts of fixed length with a fill value"));
}

TEST_F(NetcdfLooks, NameTheSuspectIfLibnetcdfCannotOpenTheFile) {
  const auto dataset = open("no_scale.h5");
  ASSERT_FALSE(dataset);
  EXPECT_THAT(dataset.error().text(), HasSubstr("'/v' has an attribute DIMENSION_LIST that refers to no dimension"));
  EXPECT_THAT(dataset.error().text(), HasSubstr("h5py"));
}

TEST_F(NetcdfLooks, FollowTheLimitsOfTexts) {
  Config config;
  config.limits.element_bytes = 3;
  EXPECT_THAT(unread(open("texts.h5", config).value()), ElementsAre("/fixed"));
  config = {};
  config.limits.metadata_bytes = 16;
  EXPECT_TRUE(fails(open("tables.h5", config), ErrorCode::unsupported, "exceeds the limit metadata_bytes"));
}

TEST_F(NetcdfLooks, CanBeInterrupted) {
  Config config;
  config.interrupted = [] { return true; };
  std::filesystem::remove(path_);
  auto file = new_netcdf(path_);
  for (int i = 0; i < 300; ++i) file->define_group("/g" + std::to_string(i), {}).value();
  file->end_definitions().value();
  file->finish().value();
  EXPECT_TRUE(fails(open_netcdf_file(path_, config), ErrorCode::unavailable, ""));
}

}  // namespace netcdf_look_test
}  // namespace sherd::files_testing
