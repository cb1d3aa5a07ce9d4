// Chunk and shard lengths as written in the options of the netCDF tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sherd/netcdf_writer.hpp"

namespace sherd::cli {

[[nodiscard]] Result<std::uint64_t> number_of(std::string_view text, std::string_view option);

/// "temp:10,20", "temp:"; or "time/10,lat/".
Result<void> add_lengths(const std::string& text, std::string_view option, netcdf::ShardLengths& to);
/// Parses the values of --shards, including "auto".
[[nodiscard]] Result<netcdf::ShardLengths> shard_lengths(const std::vector<std::string>& texts);

/// The help of --shards.
inline constexpr const char* kShardsHelp =
    "Zarr v3 only: shard lengths by dimension, in whole chunks: time/120,lat/ (lat whole); or of a variable: "
    "temp:120,500,500, and temp: for one shard; auto: by size";

}  // namespace sherd::cli
