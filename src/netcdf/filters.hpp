// Filters of HDF5 by their numbers and codecs of Zarr by their names, each as the other. Numbers are those of HDF5 and
// of The HDF Group's list of registered filter plugins.
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

/// The name of a codec without the prefix of numcodecs.
[[nodiscard]] std::string plain_name(const Json& codec);
/// Whether a codec only says how elements become bytes, which netCDF has apart from filters.
[[nodiscard]] bool is_layout(const Json& codec);
/// The codecs inside shards, if there are any.
[[nodiscard]] std::vector<Json> inner_codecs(const Json& codecs);

/// The filter that is the same as a codec; nullopt for a codec that HDF5 has no filter for, or whose configuration says
/// more than the filter's parameters.
[[nodiscard]] std::optional<Filter> filter_of(const Json& codec);
/// The codec that is the same as a filter; nullopt if Zarr has none. Sizes of elements are in bytes.
[[nodiscard]] std::optional<Json> codec_of(const Filter& filter, std::size_t element_size, bool v3);

/// Codecs as `_Codecs` has them, in JSON: those of numcodecs with `id` as netcdf-c prints them, others as Zarr v3 has
/// them. What makes bytes of elements is named only if it is not the first.
[[nodiscard]] std::string codecs_text(const std::vector<Json>& codecs);
/// The codecs of such a text.
[[nodiscard]] Result<std::vector<Json>> codecs_of_text(const std::string& text);

}  // namespace sherd::netcdf
