// Shared by opening, creating and copying a netCDF dataset.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "netcdf/url.hpp"
#include "sherd/netcdf.hpp"
#include "sherd/netcdf_cdl.hpp"
#include "sherd/netcdf_copy.hpp"
#include "sherd/netcdf_writer.hpp"

namespace sherd::netcdf {

[[nodiscard]] inline bool is_version_of_zarr(std::string_view format) { return format == "zarr2" || format == "zarr3"; }
[[nodiscard]] Mode merged_mode(const Mode& a, const Mode& b);
/// Adds the mode set by the environment: SHERD_COMPAT=seed is for programs whose URLs cannot be changed. An empty value
/// counts as unset; other values are invalid_argument.
[[nodiscard]] Result<Mode> with_environment(Mode mode);
/// The place of a dataset and what its fragment says. netcdf-c reads `file://name` as a path relative to the working
/// directory.
[[nodiscard]] Result<ParsedUrl> parse_dataset_url(std::string_view text);
/// The path of a dataset in a directory, or of a file; empty in other stores.
[[nodiscard]] std::string file_path_of(const ParsedUrl& url);

/// The error of an output that lacks parts of a dataset: the text and the parts with their reasons, and the code of the
/// first. `parts` is not empty.
[[nodiscard]] Error lacking(std::string text, const std::vector<Unread>& parts);

/// Whether a copy to this URL is a netCDF file by default: it ends in .nc, .nc3, .nc4, .cdf or .netcdf.
[[nodiscard]] bool is_file_name(const ParsedUrl& url);
/// `conflict` if an array, an image or another group that is not a netCDF dataset is at this URL, which says so.
[[nodiscard]] Result<void> check_replaceable(const ParsedUrl& url, const Config& config);
/// Writes the contents of a new dataset.
using Fill = std::function<Result<void>(Writer)>;
/// Creates the dataset whose contents `fill` writes, and makes it visible when they are complete, in place of what
/// exists there; after a failure that still exists. `options.mode` is in addition to that of the URL; `options.path` is
/// empty.
[[nodiscard]] Result<void> create_whole(const ParsedUrl& to, const NewDataset& options, const Fill& fill);
/// Writes what CDL describes to a netCDF file of the kind in the options. `conflict` if it exists.
[[nodiscard]] Result<DatasetCopyReport> write_file(const Cdl& cdl, const ParsedUrl& to,
                                                   const DatasetCopyOptions& options);

}  // namespace sherd::netcdf
