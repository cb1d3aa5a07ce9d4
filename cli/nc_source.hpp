// The source of ncdump and nccopy: a file or a dataset.
#pragma once

#include <filesystem>
#include <string>

#include "api/netcdf.hpp"
#include "io/netcdf_file.hpp"

namespace sherd::cli {

/// Refuses a file that is not a netCDF file: datasets of Zarr are directories.
inline Result<void> check_netcdf_source(const std::string& url) {
  const auto parsed = netcdf::parse_dataset_url(url);
  if (!parsed) return {};  // reported when it is opened
  const std::string path = netcdf::file_path_of(*parsed);
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed) || is_netcdf_file(path)) return {};
  return invalid_argument("'" + url + "' is neither a netCDF file nor a Zarr dataset (a directory)");
}

}  // namespace sherd::cli
