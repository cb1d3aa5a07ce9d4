// Neuroglancer's precomputed volumes: making one. Opened, a volume is a group whose members are its scales, arrays with
// dimensions x, y, z, channel; open_array() gives one of them.
#pragma once

#include <memory>
#include <string_view>

#include "sherd/group.hpp"
#include "sherd/neuroglancer.hpp"

namespace sherd::neuroglancer {

struct NewVolume {
  bool overwrite = false;
  Config config = {};
};

/// Writes the info of a volume and gives the array of its first scale. What stands there already is `conflict` unless
/// overwritten, which erases it; a file below that is no part of it is `conflict` even then. `unsupported` where the
/// chunks of a scale could not be written. Chunks of nothing but 0 are not stored unless config.write_empty_chunks says
/// so.
SHERD_API Result<Array> create_precomputed(std::string_view url, const VolumeInfo& info, const NewVolume& options = {});
SHERD_API Result<Array> create_precomputed(std::shared_ptr<Store> store, std::string_view path, const VolumeInfo& info,
                                           const NewVolume& options = {});

}  // namespace sherd::neuroglancer
