// Converts voxel coordinates of a volume, which begin at the voxel_offset of a scale, to elements of its array.
#include "base/try.hpp"
#include "neuroglancer/storage.hpp"
#include "node/node_location.hpp"
#include "sherd/precomputed.hpp"

namespace sherd::neuroglancer {

Result<std::array<std::int64_t, 3>> voxel_offset(const Array& scale) {
  const Json document = scale.metadata();
  const Json *info = document.find("info"), *number = document.find("scale");
  if (info == nullptr || number == nullptr) return invalid_argument(scale.url() + " is not a scale of a volume");
  SHERD_TRY(volume, VolumeInfo::parse(*info));
  return volume.scales.at(number->as_uint().value_or(0)).voxel_offset;
}

Result<Box> box_of_voxels(const Array& scale, const std::array<std::int64_t, 3>& begin,
                          const std::array<std::int64_t, 3>& end) {
  SHERD_TRY(offset, voxel_offset(scale));
  const Shape shape = scale.shape();
  Box box{Shape(shape.size(), 0), shape};
  for (std::size_t d = 0; d < 3; ++d) {
    // Unsigned, so that no difference overflows: positions before the scale become larger than any length.
    const auto from = static_cast<std::uint64_t>(begin[d]) - static_cast<std::uint64_t>(offset[d]);
    const auto length = static_cast<std::uint64_t>(end[d]) - static_cast<std::uint64_t>(begin[d]);
    if (begin[d] > end[d] || begin[d] < offset[d] || from > shape[d] || length > shape[d] - from)
      return invalid_argument("voxels " + std::to_string(begin[d]) + " to " + std::to_string(end[d]) + " along " +
                              "xyz"[d] + " are not in the scale, which has " + std::to_string(offset[d]) + " to " +
                              std::to_string(offset[d] + static_cast<std::int64_t>(shape[d])));
    box.origin[d] = from;
    box.shape[d] = length;
  }
  return box;
}

}  // namespace sherd::neuroglancer
