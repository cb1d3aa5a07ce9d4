// Neuroglancer's precomputed volumes: creating them, and linking them to collections of objects. An open volume is a
// group whose members are its scales: arrays with dimensions x, y, z, channel. open_array() opens one of the scales.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sherd/group.hpp"
#include "sherd/neuroglancer.hpp"

namespace sherd::neuroglancer {

struct NewVolume {
  bool overwrite = false;
  Config config = {};
};

/// Writes the info of a volume and returns the array of its first scale. An existing node is a `conflict` unless
/// overwritten, which erases it. A foreign file below it is a `conflict` even then. `unsupported` if the chunks of
/// a scale could not be written. Chunks that contain only 0 are not stored unless config.write_empty_chunks is
/// set.
SHERD_API Result<Array> create_precomputed(std::string_view url, const VolumeInfo& info, const NewVolume& options = {});
SHERD_API Result<Array> create_precomputed(std::shared_ptr<Store> store, std::string_view path, const VolumeInfo& info,
                                           const NewVolume& options = {});

/// Opens the scale of a volume that has this resolution, in nanometres per voxel along x, y and z. If the volume does
/// not have it, returns not_found with the resolutions that it has. `options.scale` is ignored.
SHERD_API Result<Array> open_scale(std::string_view url, const std::array<double, 3>& resolution,
                                   const OpenOptions& options = {});
SHERD_API Result<Array> open_scale(std::shared_ptr<Store> store, const std::array<double, 3>& resolution,
                                   const OpenOptions& options = {});

/// The voxel at which a scale begins, along x, y and z. invalid_argument if the array is not a scale of a volume.
SHERD_API Result<std::array<std::int64_t, 3>> voxel_offset(const Array& scale);
/// The box of the voxels from `begin` (inclusive) to `end` (exclusive) with all channels, for Array::read() and
/// write(). Coordinates are those that Neuroglancer shows at this resolution: they count from voxel 0, not from
/// voxel_offset(). invalid_argument if any voxel is outside the scale.
SHERD_API Result<Box> box_of_voxels(const Array& scale, const std::array<std::int64_t, 3>& begin,
                                    const std::array<std::int64_t, 3>& end);

/// The collections of objects to which the info of a volume refers.
///
/// Each is a path from the volume's directory, such as "mesh" or "../skeletons".
struct VolumeLinks {
  std::optional<std::string> mesh = {};                ///< of legacy or multi-resolution meshes
  std::optional<std::string> skeletons = {};           ///< of skeletons
  std::optional<std::string> segment_properties = {};  ///< of segment properties
  friend bool operator==(const VolumeLinks&, const VolumeLinks&) = default;
};
/// The links of the volume at `url`.
SHERD_API Result<VolumeLinks> volume_links(std::string_view url, const Config& config = {});
SHERD_API Result<VolumeLinks> volume_links(std::shared_ptr<Store> store, std::string_view path,
                                           const Config& config = {});
/// Sets the members of the info that have a value in `links`, and removes those whose value is empty, in one
/// conditional write; returns all links. The target of a new path must be a collection of that kind; otherwise returns
/// not_found or invalid_argument and writes nothing. A volume that shares its shards with a Zarr array is linked at its
/// own directory.
SHERD_API Result<VolumeLinks> link_collections(std::string_view url, const VolumeLinks& links,
                                               const Config& config = {});
SHERD_API Result<VolumeLinks> link_collections(std::shared_ptr<Store> store, std::string_view path,
                                               const VolumeLinks& links, const Config& config = {});

}  // namespace sherd::neuroglancer
