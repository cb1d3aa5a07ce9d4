// netCDF files, classic and netCDF-4, through libnetcdf, which is optional: without it they are recognized and refused.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.hpp"
#include "netcdf/sink.hpp"
#include "sherd/netcdf.hpp"

namespace sherd {

/// Whether a path names a regular file that begins as netCDF classic or HDF5 files do.
[[nodiscard]] bool is_netcdf_file(const std::string& path);

/// The dataset in such a file. Elements are read by one thread at a time.
Result<netcdf::Dataset> open_netcdf_file(const std::string& path, const Config& config);

/// The words for the kind of a file that a user may say: "classic", "nc3" or "3" are "classic", and so on.
/// invalid_argument for others.
Result<std::string> netcdf_kind(std::string_view word);

struct NewNetcdfFile {
  std::string path;
  std::string kind;  ///< as Dataset::kind()
  std::vector<netcdf::Attribute> attributes = {};
  WriteMode mode = {};
  bool fills = false;  ///< elements that are never written are fill values, also in classic files
};
/// A new file, which appears under its name when it is finished. `conflict` if it exists.
Result<std::unique_ptr<netcdf::Sink>> create_netcdf_file(const NewNetcdfFile& file);

/// Refuses a classic file that is shorter than its header says: libnetcdf reads zeros there.
Result<void> check_classic_file(const std::string& path);

}  // namespace sherd
