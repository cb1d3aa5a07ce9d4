// Neuroglancer's precomputed volumes: making one. Opened, a volume is a group whose members are its scales, arrays with
// dimensions x, y, z, channel; open_array() opens one of them.
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

/// Writes the info of a volume and returns the array of its first scale. An existing node is `conflict` unless
/// overwritten, which erases it; a foreign file below it is `conflict` even then. `unsupported` if the
/// chunks of a scale could not be written. Chunks that contain only 0 are not stored unless config.write_empty_chunks
/// is set.
SHERD_API Result<Array> create_precomputed(std::string_view url, const VolumeInfo& info, const NewVolume& options = {});
SHERD_API Result<Array> create_precomputed(std::shared_ptr<Store> store, std::string_view path, const VolumeInfo& info,
                                           const NewVolume& options = {});

}  // namespace sherd::neuroglancer
