// The shards of new variables, determined from lengths given for a whole dataset.
#pragma once

#include <span>

#include "sherd/netcdf_writer.hpp"

namespace sherd::netcdf {

/// The shards of a variable with these chunks; empty if none are specified. A length by dimension is rounded up to
/// whole chunks, and is at most what a fixed dimension needs.
[[nodiscard]] Result<Shape> chosen_shards(const ShardLengths& wanted, const std::string& full_name,
                                          std::span<const Dimension> dimensions, const Shape& chunks,
                                          const DType& dtype);

}  // namespace sherd::netcdf
