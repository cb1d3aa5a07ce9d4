// Shared by opening and copying a netCDF dataset: its URL as a store, and merged modes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "netcdf/url.hpp"
#include "node/node_location.hpp"
#include "sherd/netcdf.hpp"
#include "sherd/netcdf_cdl.hpp"
#include "sherd/netcdf_copy.hpp"

namespace sherd::netcdf {

[[nodiscard]] inline bool is_version_of_zarr(std::string_view format) { return format == "zarr2" || format == "zarr3"; }
/// The node at the root of a store, if it is in the other one of the two versions of Zarr.
[[nodiscard]] Result<std::optional<NodeLocation>> dataset_of_other_version(std::shared_ptr<Store> store,
                                                                           const std::string& format,
                                                                           const Config& config);
[[nodiscard]] Mode merged_mode(const Mode& a, const Mode& b);
/// Adds the mode set by the environment: SHERD_COMPAT=seed is for programs whose URLs cannot be changed. An empty value
/// counts as unset; other values are invalid_argument.
[[nodiscard]] Result<Mode> with_environment(Mode mode);
/// In the form that open_store() accepts. netcdf-c reads `file://name` as a path relative to the working directory.
[[nodiscard]] std::string store_of(const ParsedUrl& url);
/// The same as a path of the file system; empty for other stores.
[[nodiscard]] std::string file_path_of(const ParsedUrl& url);

/// Whether a copy to this URL is a netCDF file by default: it ends in .nc, .nc3, .nc4, .cdf or .netcdf.
[[nodiscard]] bool is_file_name(const ParsedUrl& url);
/// `conflict` if an array, an image or another group that is not a netCDF dataset is at this URL, which says so.
[[nodiscard]] Result<void> check_replaceable(const ParsedUrl& url, const Config& config);
/// Writes what CDL describes to a netCDF file of the kind in the options. `conflict` if it exists.
[[nodiscard]] Result<DatasetCopyReport> write_file(const Cdl& cdl, const ParsedUrl& to,
                                                   const DatasetCopyOptions& options);

}  // namespace sherd::netcdf
