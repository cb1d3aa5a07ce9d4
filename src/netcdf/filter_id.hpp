// Numbers of HDF5's filters, as HDF5 and The HDF Group's list of registered filter plugins have them.
#pragma once

#include <cstdint>

namespace sherd::netcdf::filter_id {

inline constexpr std::uint32_t deflate = 1, shuffle = 2, fletcher32 = 3, szip = 4, nbit = 5, scaleoffset = 6,
                               bzip2 = 307, lzf = 32000, blosc = 32001, lz4 = 32004, bitshuffle = 32008, zfp = 32013,
                               zstd = 32015, sz = 32017;

}  // namespace sherd::netcdf::filter_id
