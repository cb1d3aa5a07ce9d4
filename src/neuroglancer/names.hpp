// How writers of the precomputed format call objects: what may be in its directories, from any writer.
#pragma once

#include <string_view>

namespace sherd::neuroglancer {

/// The document of a volume or a collection, in its directory.
inline constexpr std::string_view kInfo = "info";

/// Whether an object in the directory of a scale is called as a chunk, compressed or not, or as a shard of today or of
/// before.
[[nodiscard]] bool is_chunk_name(std::string_view name) noexcept;

/// Whether an object is called as what is stored next to meshes and skeletons while they are made and found: parts
/// of one, ID:LOD or ID:BOX or ID:LOD:BOX, and of a box of the volume, BOX.frags and BOX.spatial; compressed or not.
[[nodiscard]] bool is_beside_objects(std::string_view name) noexcept;

}  // namespace sherd::neuroglancer
