// netCDF files as datasets: their definitions and elements, limits, and files that are none.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "tests/io/netcdf_testing.hpp"

// libnetcdf 4.9.0 forgets where the scales of a variable are (36 bytes) if it cannot read the rest of the variable. The
// leak checker of clang asks for what to ignore.
extern "C" const char* __lsan_default_suppressions();                                   // NOLINT: its name
extern "C" const char* __lsan_default_suppressions() { return "leak:libnetcdf.so\n"; }  // NOLINT

namespace sherd::files_testing {
namespace netcdf_read_test {

using netcdf::Type, netcdf::Values;

class NetcdfDataset : public NetcdfFiles {
 protected:
  /// The file has a group with a variable along an unlimited dimension and a fixed one.
  void make(const std::string& kind = "netCDF-4", const Shape& chunks = {2, 2}) {
    const std::string group = kind == "netCDF-4" ? "/g" : "/";
    auto file =
        create_netcdf_file({.path = path_,
                            .kind = kind,
                            .attributes = {{"title", std::string("a file")}, {"scale", std::vector<double>{0.5, 2}}},
                            .mode = {.overwrite = true, .durable = false}})
            .value();
    if (group != "/") file->define_group(group, {}).value();
    file->define_dimension({.name = "t", .group = "/", .unlimited = true}).value();
    file->define_dimension({.name = "x", .group = group, .length = 3}).value();
    netcdf::NewVariable variable = integers("v", {"/t", group == "/" ? "/x" : "/g/x"});
    variable.attributes = {{"units", std::string("m")}};
    if (kind.starts_with("netCDF-4")) variable.chunks = chunks;
    file->define_variable(group, variable, {}).value();
    file->end_definitions().value();
    put(*file, group == "/" ? "/v" : "/g/v", {{0, 0}, {2, 3}}, {0, 1, 2, 10, 11, 12});
    file->finish().value();
  }
  [[nodiscard]] Result<netcdf::Dataset> open(const Config& config = {}) const {
    return open_netcdf_file(path_, config);
  }
};

TEST_F(NetcdfDataset, HasGroupsDimensionsAndAttributes) {
  make();
  const auto dataset = open().value();
  EXPECT_EQ(dataset.kind(), "netCDF-4");
  EXPECT_EQ(dataset.format(), "netcdf");
  EXPECT_EQ(dataset.url(), path_);
  EXPECT_THAT(dataset.warnings(), testing::IsEmpty());
  const auto root = dataset.root();
  EXPECT_EQ(*root.attribute("title"), Values(std::string("a file")));
  EXPECT_EQ(*root.attribute("scale"), Values(std::vector<double>{0.5, 2}));
  const netcdf::Dimension t{.name = "t", .group = "/", .length = 2, .unlimited = true};
  const netcdf::Dimension x{.name = "x", .group = "/g", .length = 3};
  EXPECT_THAT(root.dimensions(), testing::ElementsAre(t));
  const auto variable = root.variable("g/v").value();
  EXPECT_THAT(variable.dimensions(), testing::ElementsAre(t, x));
  EXPECT_EQ(variable.type(), Type::int32);
  EXPECT_FALSE(variable.has_array());
  EXPECT_EQ(*variable.attribute("units"), Values(std::string("m")));
}

TEST_F(NetcdfDataset, ReadsAnyBoxOfAVariable) {
  for (const char* kind : {"classic", "netCDF-4"}) {
    make(kind);
    const auto root = open().value().root();
    const auto variable = (root.group("g") ? root.variable("g/v") : root.variable("v")).value();
    EXPECT_EQ(variable.read().value(), Values(std::vector<std::int32_t>{0, 1, 2, 10, 11, 12})) << kind;
    EXPECT_EQ(variable.read({{1, 1}, {1, 2}}).value(), Values(std::vector<std::int32_t>{11, 12})) << kind;
    EXPECT_EQ(variable.read({{2, 0}, {0, 3}}).value(), Values(std::vector<std::int32_t>{})) << kind;
    EXPECT_FALSE(variable.read({{1, 1}, {2, 2}})) << kind;
    std::array<std::byte, 3> small{};
    EXPECT_FALSE(variable.read({{0, 0}, {1, 1}}, small)) << kind;
  }
}

TEST_F(NetcdfDataset, IsReadBySeveralThreads) {
  make();
  const auto variable = open().value().root().variable("g/v").value();
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k)
        right += variable.read({{1, 0}, {1, 3}}).value() == Values(std::vector<std::int32_t>{10, 11, 12}) ? 1 : 0;
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(right, 200);
}

TEST_F(NetcdfDataset, OutlivesTheNameOfItsFile) {
  make();
  const auto variable = open().value().root().variable("g/v").value();
  std::filesystem::remove(path_);
  EXPECT_EQ(variable.read({{0, 2}, {2, 1}}).value(), Values(std::vector<std::int32_t>{2, 12}));
}

TEST_F(NetcdfDataset, RefusesWhatExceedsItsLimits) {
  make("netCDF-4", {1024, 3});
  Config config;
  config.limits.chunk_bytes = 1024;
  EXPECT_TRUE(fails(open(config), ErrorCode::unsupported, "/g/v"));
  config = {};
  config.limits.dimensions = 1;
  EXPECT_TRUE(fails(open(config), ErrorCode::unsupported, "has 2 dimensions"));
  config = {};
  config.limits.metadata_bytes = 8;
  EXPECT_TRUE(fails(open(config), ErrorCode::unsupported, "the attribute 'title'"));
}

TEST_F(NetcdfDataset, NamesTheFileThatIsNoneOrIsCut) {
  make();
  const std::string whole = load(path_);
  for (const std::size_t size : {whole.size() / 2, std::size_t{600}, std::size_t{40}}) {
    save(path_, whole.substr(0, size));
    const auto opened = open();
    ASSERT_FALSE(opened) << size;
    EXPECT_NE(opened.error().text().find(path_), std::string::npos) << opened.error().text();
  }
  make("classic");
  save(path_, load(path_).substr(0, load(path_).size() - 1));
  EXPECT_TRUE(fails(open(), ErrorCode::corrupt, "truncated"));
  save(path_, "no netCDF at all");
  EXPECT_FALSE(open());
  EXPECT_TRUE(fails(open_netcdf_file(folder_ / "missing", {}), ErrorCode::not_found, "missing"));
}

TEST_F(NetcdfDataset, HasTheRecordsThatAPipedClassicFileHas) {
  make("64-bit offset");
  std::string bytes = load(path_);
  ASSERT_EQ(bytes.substr(4, 4), std::string("\0\0\0\2", 4));
  bytes.replace(4, 4, "\xff\xff\xff\xff");
  save(path_, bytes);
  const auto root = open().value().root();
  EXPECT_EQ(root.dimensions().front().length, 2U);
  EXPECT_EQ(root.variable("v")->shape(), (Shape{2, 3}));
}

}  // namespace netcdf_read_test
}  // namespace sherd::files_testing
