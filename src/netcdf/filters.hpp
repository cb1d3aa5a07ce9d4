// Converts between filters of HDF5, by number, and codecs of Zarr, by name. Numbers are those of HDF5 and of The HDF
// Group's list of registered filter plugins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

namespace filter_id {

inline constexpr std::uint32_t deflate = 1, shuffle = 2, fletcher32 = 3, szip = 4, nbit = 5, scaleoffset = 6,
                               bzip2 = 307, lzf = 32000, blosc = 32001, lz4 = 32004, bitshuffle = 32008, zfp = 32013,
                               zstd = 32015, sz = 32017;

}  // namespace filter_id

/// "zstd (32015)", or the number alone.
[[nodiscard]] std::string filter_name(std::uint32_t id);

/// The name of a codec without numcodecs' prefix.
[[nodiscard]] std::string plain_name(const Json& codec);
/// Whether a codec only converts elements to bytes, which netCDF does not treat as a filter.
[[nodiscard]] bool is_layout(const Json& codec);
/// The codecs inside shards, if there are any.
[[nodiscard]] std::vector<Json> inner_codecs(const Json& codecs);

/// The filter equivalent to a codec; nullopt if HDF5 has none, or if the codec's configuration contains more than the
/// filter's parameters.
[[nodiscard]] std::optional<Filter> filter_of(const Json& codec);
/// The codec equivalent to a filter; nullopt if Zarr has none. Element sizes are in bytes.
[[nodiscard]] std::optional<Json> codec_of(const Filter& filter, std::size_t element_size, bool v3);

/// Codecs in the JSON form of `_Codecs`: codecs of numcodecs with `id` as printed by netcdf-c, others as in Zarr v3.
/// The codec that converts elements to bytes is named only if it is not the first.
[[nodiscard]] std::string codecs_text(const std::vector<Json>& codecs);
/// The codecs of such a text.
[[nodiscard]] Result<std::vector<Json>> codecs_of_text(const std::string& text);

}  // namespace sherd::netcdf
