// The shards of new variables, from the lengths that were chosen for a whole dataset.
#pragma once

#include <span>

#include "sherd/netcdf_writer.hpp"

namespace sherd::netcdf {

/// The shards of a variable with such chunks; empty if none were chosen for it. A length by dimension is rounded up to
/// whole chunks, and is no longer than a fixed dimension needs.
[[nodiscard]] Result<Shape> chosen_shards(const ShardLengths& wanted, const std::string& full_name,
                                          std::span<const Dimension> dimensions, const Shape& chunks,
                                          const DType& dtype);

}  // namespace sherd::netcdf
