#include "netcdf/shards.hpp"

#include <algorithm>

#include "array/create.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"

namespace sherd::netcdf {

namespace {

/// Compares by name or path, with or without a leading slash.
bool is_called(const std::string& wanted, const std::string& full_name) {
  return wanted == full_name || "/" + wanted == full_name || wanted == full_name.substr(full_name.rfind('/') + 1);
}

/// Whole chunks, as long as `length` or the dimension.
std::uint64_t shard_length(std::uint64_t length, const Dimension& dimension, std::uint64_t chunk) {
  std::uint64_t wanted = length == 0 ? dimension.length : length;
  if (!dimension.unlimited) wanted = std::min(wanted, dimension.length);
  return std::max<std::uint64_t>(ceil_div(wanted, chunk), 1) * chunk;
}

}  // namespace

Result<Shape> chosen_shards(const ShardLengths& wanted, const std::string& full_name,
                            std::span<const Dimension> dimensions, const Shape& chunks, const DType& dtype) {
  const std::size_t rank = dimensions.size();
  if (rank == 0 || chunks.size() != rank) return Shape();
  for (const auto& [name, lengths] : wanted.variables) {
    if (!is_called(name, full_name)) continue;
    if (!lengths.empty() && lengths.size() != rank)
      return invalid_argument("'" + full_name + "' has " + std::to_string(rank) + " dimensions, but there are " +
                              std::to_string(lengths.size()) + " shard lengths")
          .in_member("shards");
    Shape shards = lengths;
    for (std::size_t d = 0; d < rank && lengths.empty(); ++d)
      shards.push_back(shard_length(0, dimensions[d], chunks[d]));
    return shards;
  }
  Shape shards = chunks;
  bool any = false;
  for (std::size_t d = 0; d < rank; ++d)
    for (const auto& [name, length] : wanted.dimensions)
      if (name == dimensions[d].name || name == dimensions[d].full_name()) {
        shards[d] = shard_length(length, dimensions[d], chunks[d]);
        any = true;
      }
  if (any || !wanted.automatic) return any ? shards : Shape();
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(std::max(dimensions[d].length, chunks[d]));
  return auto_shards(shape, dtype, chunks);
}

}  // namespace sherd::netcdf
