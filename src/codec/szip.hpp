// Parameters of szip that HDF5 and netcdf-c derive and do not store.
#pragma once

#include <cstdint>

#include "sherd/box.hpp"

namespace sherd {

/// The pixels per scanline, if lines of the data have `length` elements: the length of the last dimension, of chunks in
/// HDF5 and of the array in netcdf-c. Lines shorter than a block are joined, up to the size of a chunk.
[[nodiscard]] std::uint64_t szip_scanline(std::uint64_t pixels_per_block, std::uint64_t length,
                                          const Shape& chunk) noexcept;

}  // namespace sherd
