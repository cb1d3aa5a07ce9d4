// What the tests of netCDF files share. Without libnetcdf there are none to write, so they end at once.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/netcdf_file.hpp"
#include "tests/io/files_testing.hpp"

namespace sherd::files_testing {

inline std::unique_ptr<netcdf::Sink> new_netcdf(const std::string& path, const std::string& kind = "netCDF-4") {
  return create_netcdf_file({.path = path, .kind = kind, .mode = {.overwrite = false, .durable = false}}).value();
}

inline netcdf::NewVariable integers(const std::string& name, std::vector<std::string> dimensions) {
  return {.name = name, .type = netcdf::Type::int32, .dimensions = std::move(dimensions)};
}

inline void put(netcdf::Sink& file, const std::string& variable, const Box& box,
                const std::vector<std::int32_t>& values) {
  file.write(variable, box, std::as_bytes(std::span(values))).value();
}

class NetcdfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto made = create_netcdf_file({.path = folder_ / "probe", .kind = "classic"});
    if (!made && made.error().code() == ErrorCode::unsupported) GTEST_SKIP() << made.error().text();
  }

  const Folder folder_;
  const std::string path_ = folder_ / "f.nc";
};

}  // namespace sherd::files_testing
