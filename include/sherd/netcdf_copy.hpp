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

/// The filters to use for some variables.
struct FilterChoice {
  std::vector<std::string> variables = {};  ///< names, or paths such as "/g1/v"; empty: all
  std::vector<Filter> filters = {};         ///< in the order in which they are applied; empty: none
};

/// What a copy changes. Options that are not set are kept from the source.
struct DatasetCopyOptions {
  /// "nczarr", or the kind of a netCDF file as returned by Dataset::kind(). Empty: a file if the destination ends in
  /// .nc, .nc3, .nc4, .cdf or .netcdf, of the source's kind if that is a file, otherwise "netCDF-4"; else "nczarr".
  std::string kind = {};
  std::string format = "zarr2";    ///< of the nodes of a Zarr dataset: "zarr2" or "zarr3"
  Mode mode = {};                  ///< of a Zarr dataset, in addition to what the URL says
  Mode source_mode = {};           ///< of a source in Zarr, in addition to its URL
  std::string source_format = {};  ///< of the nodes of a source in Zarr; empty: detected
  /// Chunk lengths by names of dimensions; 0: the dimension's whole length. Default: as in the source, but in Zarr v2
  /// at most the length of an unlimited dimension, with a warning. No chunk is longer than a fixed dimension.
  std::vector<std::pair<std::string, std::uint64_t>> dimension_chunks = {};
  /// Chunk shapes by names or paths of variables; empty: one chunk, or in files no chunks. They take precedence over
  /// the lengths by dimension.
  std::vector<std::pair<std::string, Shape>> variable_chunks = {};
  bool unchunked = false;  ///< one chunk for each variable, or in files no chunks
  /// Zarr v3 only. Default: those of the source, if the copy has the same chunks.
  ShardLengths shards = {};
  /// 0 … 9; 0: no compression. Replaces all filters of the source.
  std::optional<int> deflate_level = {};
  bool shuffle = false;  ///< used only together with deflation
  /// They take precedence over level and shuffle; if several apply to a variable, the last one is used.
  std::vector<FilterChoice> filters = {};
  /// Variables and groups to copy, by names or paths; empty: all. Only a group's own variables are copied with it; the
  /// groups that contain it are in the copy without their variables.
  std::vector<std::string> variables = {}, groups = {};
  /// Variables and groups whose data are copied, by names or paths; empty: all. Everything is defined, and other
  /// variables have fill values.
  std::vector<std::string> data_variables = {}, data_groups = {};
  bool fixed_dimensions = false;  ///< unlimited dimensions become fixed ones
  bool overwrite = false;         ///< replace an existing destination, which is otherwise a `conflict`
  /// Copy the rest of a source that has unread() parts; otherwise these are an error, unless `variables` or `groups`
  /// leave them out. Damaged elements are an error in any case.
  bool skip_damaged = false;
  bool consolidated = true;  ///< consolidated metadata in Zarr
  /// memory_budget bounds the memory, except for one chunk of the copy with all source chunks that it overlaps. Strings
  /// of any length are therefore read twice, the first time to measure them.
  Config config = {};
};

struct DatasetCopyReport {
  std::string kind;  ///< as in the options
  std::uint64_t groups = 0, variables = 0;
  std::uint64_t bytes = 0;  ///< of decoded elements
  /// One sentence for each part of the source that the copy lacks, or has in another form.
  std::vector<std::string> warnings = {};
};

/// Copies a dataset. The copy appears under its name when it is complete. A filter that the destination cannot have is
/// `unsupported`; it is never dropped unless the options say so. Reading and writing netCDF files requires libnetcdf,
/// which works on one thread at a time; everything else is parallel.
SHERD_API Result<DatasetCopyReport> copy(std::string_view source, std::string_view destination,
                                         const DatasetCopyOptions& options = {});

}  // namespace sherd::netcdf
