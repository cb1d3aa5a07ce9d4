// netCDF files that are written: what each kind can hold, and when a file appears under its name.
#include <gtest/gtest.h>

#include "tests/io/netcdf_testing.hpp"

namespace sherd::files_testing {
namespace netcdf_write_test {

using netcdf::Type;

class NetcdfSink : public NetcdfFiles {
 protected:
  /// A file with the dimension x of 3 elements, and one with y of 2.
  std::unique_ptr<netcdf::Sink> with_dimensions(const std::string& kind = "netCDF-4") {
    auto file = new_netcdf(path_, kind);
    file->define_dimension({.name = "x", .group = "/", .length = 3}).value();
    file->define_dimension({.name = "y", .group = "/", .length = 2}).value();
    return file;
  }
};

TEST_F(NetcdfSink, MakesFilesOfEachKind) {
  for (const char* kind : {"classic", "64-bit offset", "cdf5", "netCDF-4", "netCDF-4 classic model"}) {
    std::filesystem::remove(path_);
    auto file = with_dimensions(kind);
    file->define_variable("/", integers("v", {"/y", "/x"}), {}).value();
    file->end_definitions().value();
    put(*file, "/v", {{0, 0}, {2, 3}}, {1, 2, 3, 4, 5, 6});
    put(*file, "/v", {{1, 1}, {1, 2}}, {8, 9});
    file->finish().value();
    const auto dataset = netcdf::Dataset::open(path_).value();
    EXPECT_EQ(dataset.kind(), kind);
    EXPECT_EQ(dataset.root().variable("v")->read().value(), netcdf::Values(std::vector<std::int32_t>{1, 2, 3, 4, 8, 9}))
        << kind;
  }
}

TEST_F(NetcdfSink, AppearsUnderItsNameWhenItIsFinished) {
  auto file = with_dimensions();
  file->end_definitions().value();
  EXPECT_FALSE(std::filesystem::exists(path_));
  file->finish().value();
  file.reset();
  EXPECT_THAT(folder_.names(), testing::ElementsAre("f.nc"));
}

TEST_F(NetcdfSink, LeavesNothingIfItIsNotFinished) {
  for (const char* kind : {"classic", "netCDF-4"}) {
    with_dimensions(kind)->define_variable("/", integers("v", {"/x"}), {}).value();
    EXPECT_THAT(folder_.names(), testing::IsEmpty()) << kind;
  }
}

TEST_F(NetcdfSink, ReplacesAFileOnlyIfAsked) {
  save(path_, "mine");
  NewNetcdfFile file{.path = path_, .kind = "classic", .mode = {.overwrite = false, .durable = false}};
  EXPECT_TRUE(fails(create_netcdf_file(file), ErrorCode::conflict, path_));
  EXPECT_EQ(load(path_), "mine");
  file.mode.overwrite = true;
  auto sink = create_netcdf_file(file).value();
  sink->end_definitions().value();
  EXPECT_EQ(load(path_), "mine");
  sink->finish().value();
  EXPECT_TRUE(is_netcdf_file(path_));
}

TEST_F(NetcdfSink, KeepsAFileThatAppearedMeanwhile) {
  auto file = with_dimensions("classic");
  file->end_definitions().value();
  save(path_, "of another program");
  EXPECT_FALSE(file->finish());
  EXPECT_EQ(load(path_), "of another program");
}

TEST_F(NetcdfSink, IsNoDirectoryAndNeedsOne) {
  EXPECT_TRUE(fails(create_netcdf_file({.path = folder_ / "", .kind = "classic"}), ErrorCode::invalid_argument,
                    "is not a file"));
  EXPECT_FALSE(create_netcdf_file({.path = folder_ / "missing/f.nc", .kind = "classic"}));
}

TEST_F(NetcdfSink, RefusesTypesThatAKindLacks) {
  const auto define = [&](const char* kind, Type type) {
    return with_dimensions(kind)->define_variable("/", {.name = "v", .type = type, .dimensions = {"/x"}}, {});
  };
  for (const char* kind : {"classic", "64-bit offset", "netCDF-4 classic model"}) {
    EXPECT_TRUE(define(kind, Type::float64)) << kind;
    EXPECT_TRUE(fails(define(kind, Type::uint64), ErrorCode::invalid_argument, "choose netCDF-4 or cdf5")) << kind;
  }
  EXPECT_TRUE(define("cdf5", Type::uint64));
  EXPECT_TRUE(fails(define("cdf5", Type::string), ErrorCode::invalid_argument, "choose netCDF-4"));
  EXPECT_TRUE(define("netCDF-4", Type::string));
}

TEST_F(NetcdfSink, RefusesAttributesOfTypesThatAKindLacks) {
  NewNetcdfFile file{.path = path_, .kind = "classic", .attributes = {{"a", std::vector<std::int64_t>{1}}}};
  EXPECT_TRUE(fails(create_netcdf_file(file), ErrorCode::invalid_argument, "the attribute 'a'"));
  file.kind = "cdf5";
  EXPECT_TRUE(create_netcdf_file(file));
}

TEST_F(NetcdfSink, HasGroupsOnlyInNetcdf4) {
  EXPECT_TRUE(fails(new_netcdf(path_, "cdf5")->define_group("/g", {}), ErrorCode::invalid_argument, "have no groups"));
  auto file = new_netcdf(path_);
  EXPECT_TRUE(fails(file->define_group("/g/h", {}), ErrorCode::not_found, "'/g'"));
  file->define_group("/g", {{"of", std::string("g")}}).value();
  file->define_group("/g/h", {}).value();
  file->define_dimension({.name = "x", .group = "/g", .length = 2}).value();
  file->define_variable("/g/h", integers("v", {"/g/x"}), {}).value();
  file->end_definitions().value();
  put(*file, "/g/h/v", {{0}, {2}}, {5, 6});
  file->finish().value();
  const auto root = netcdf::Dataset::open(path_).value().root();
  EXPECT_EQ(*root.group("g")->attribute("of"), netcdf::Values(std::string("g")));
  EXPECT_EQ(root.variable("g/h/v")->dimensions().front().full_name(), "/g/x");
}

TEST_F(NetcdfSink, HasOneUnlimitedDimensionInClassicFiles) {
  const auto define = [&](const char* kind) {
    auto file = new_netcdf(path_, kind);
    file->define_dimension({.name = "t", .group = "/", .unlimited = true}).value();
    return file->define_dimension({.name = "u", .group = "/", .unlimited = true});
  };
  EXPECT_FALSE(define("classic"));
  EXPECT_TRUE(define("netCDF-4"));
  EXPECT_TRUE(fails(new_netcdf(path_, "classic")->define_dimension({.name = "e", .group = "/"}),
                    ErrorCode::invalid_argument, "has the length 0"));
  EXPECT_TRUE(new_netcdf(path_)->define_dimension({.name = "e", .group = "/"}));
}

TEST_F(NetcdfSink, StoresChunksAndFiltersOfNetcdf4) {
  netcdf::NewVariable variable = integers("v", {"/y", "/x"});
  variable.chunks = {1, 3};
  variable.deflate_level = 4;
  variable.shuffle = variable.fletcher32 = variable.big_endian = true;
  auto file = with_dimensions();
  file->define_variable("/", variable, {}).value();
  file->end_definitions().value();
  put(*file, "/v", {{0, 0}, {2, 3}}, {1, 2, 3, 4, 5, 6});
  file->finish().value();
  const auto stored = netcdf::Dataset::open(path_).value().root().variable("v").value();
  EXPECT_EQ(stored.storage().chunks, (Shape{1, 3}));
  EXPECT_EQ(stored.storage().deflate_level, 4);
  EXPECT_TRUE(stored.storage().shuffle && stored.storage().fletcher32 && stored.storage().big_endian);
  EXPECT_EQ(stored.read().value(), netcdf::Values(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  std::filesystem::remove(path_);
  EXPECT_TRUE(
      fails(with_dimensions("cdf5")->define_variable("/", integers("w", {"/x"}), {{.id = 1, .parameters = {1}}}),
            ErrorCode::invalid_argument, "have no filters"));
}

TEST_F(NetcdfSink, NamesAFilterThatHdf5Lacks) {
  EXPECT_TRUE(fails(with_dimensions()->define_variable("/", integers("v", {"/x"}), {{.id = 40'000}}),
                    ErrorCode::unsupported, "filters=\"none\""));
}

TEST_F(NetcdfSink, WritesOnlyWhatIsDefined) {
  auto file = with_dimensions();
  EXPECT_TRUE(fails(file->define_variable("/", integers("v", {"/z"}), {}), ErrorCode::not_found, "'/z'"));
  file->end_definitions().value();
  EXPECT_TRUE(fails(file->write("/v", {{0}, {1}}, {}), ErrorCode::not_found, "'/v'"));
}

TEST_F(NetcdfSink, WritesTextsOfAnyLength) {
  auto file = with_dimensions();
  file->define_variable("/", {.name = "s", .type = Type::string, .dimensions = {"/x"}}, {}).value();
  file->end_definitions().value();
  file->write_strings("/s", {{0}, {3}}, {"", "ä", std::string(100'000, 'l')}).value();
  file->finish().value();
  EXPECT_EQ(netcdf::Dataset::open(path_).value().root().variable("s")->read().value(),
            netcdf::Values(std::vector<std::string>{"", "ä", std::string(100'000, 'l')}));
}

}  // namespace netcdf_write_test
}  // namespace sherd::files_testing
