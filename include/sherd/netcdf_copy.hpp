// Copies of netCDF datasets: between NCZarr, pure Zarr and netCDF files, with other chunks and filters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/netcdf_writer.hpp"

namespace sherd::netcdf {

/// The filters of some variables.
struct FilterChoice {
  std::vector<std::string> variables = {};  ///< names, or paths such as "/g1/v"; empty: all
  std::vector<Filter> filters = {};         ///< in the order in which they are applied; empty: none
};

/// What a copy changes. Anything that is not set is kept from the source.
struct DatasetCopyOptions {
  /// "nczarr", or the kind of a netCDF file as Dataset::kind(). Empty: a file if the destination's name ends in .nc,
  /// .nc3, .nc4, .cdf or .netcdf, of the source's kind if that is a file and of "netCDF-4" otherwise; else "nczarr".
  std::string kind = {};
  std::string format = "zarr2";  ///< of the nodes of a dataset in Zarr: "zarr2" or "zarr3"
  Mode mode = {};                ///< of a dataset in Zarr, in addition to what the URL says
  Mode source_mode = {};         ///< likewise, of the source
  /// Chunk lengths by names of dimensions; 0: the dimension's whole length. Without them chunks are as in the source,
  /// but in Zarr v2 no longer than an unlimited dimension, with a warning. No chunk is longer than a fixed one.
  std::vector<std::pair<std::string, std::uint64_t>> dimension_chunks = {};
  /// Chunk shapes by names or paths of variables; empty: one chunk, and in files none. They take precedence over the
  /// lengths by dimension.
  std::vector<std::pair<std::string, Shape>> variable_chunks = {};
  bool unchunked = false;  ///< one chunk for each variable, and in files none
  /// In Zarr v3 only. Default: those of the source, if the copy has the same chunks.
  ShardLengths shards = {};
  /// 0 … 9; 0: no compression. Replaces all filters of the source.
  std::optional<int> deflate_level = {};
  bool shuffle = false;  ///< together with deflation
  /// They take precedence over level and shuffle; of several for one variable the last one counts.
  std::vector<FilterChoice> filters = {};
  /// Variables and groups to copy, by names or paths; empty: all. A group has its own variables only, and those around
  /// it are in the copy without theirs.
  std::vector<std::string> variables = {}, groups = {};
  /// Likewise, but everything is defined, and what is not named has fill values.
  std::vector<std::string> data_variables = {}, data_groups = {};
  bool fixed_dimensions = false;  ///< unlimited dimensions become fixed ones
  bool overwrite = false;         ///< replace what exists; without it that is `conflict`
  bool consolidated = true;       ///< consolidated metadata in Zarr
  /// memory_budget bounds what is in memory, except one chunk of the copy with all source chunks that it overlaps.
  Config config = {};
};

struct DatasetCopyReport {
  std::string kind;  ///< as in the options
  std::uint64_t groups = 0, variables = 0;
  std::uint64_t bytes = 0;  ///< of elements, decoded
  /// One sentence for each part of the source that the copy does not have, or has in another form.
  std::vector<std::string> warnings = {};
};

/// Copies a dataset. The copy appears under its name when it is complete. A filter that the destination cannot have is
/// `unsupported`: it is never dropped unless the options say so. Reads and writes of netCDF files need libnetcdf, which
/// works on one thread at a time; everything else is parallel.
SHERD_API Result<DatasetCopyReport> copy(std::string_view source, std::string_view destination,
                                         const DatasetCopyOptions& options = {});

}  // namespace sherd::netcdf
