// The names of objects in the precomputed format, from any writer.
#pragma once

#include <string_view>

namespace sherd::neuroglancer {

/// The document of a volume or a collection, in its directory.
inline constexpr std::string_view kInfo = "info";

/// Whether an object in the directory of a scale is named like a chunk, compressed or not, or like a shard of the
/// present or the previous form.
[[nodiscard]] bool is_chunk_name(std::string_view name) noexcept;

/// Whether an object is named like the auxiliary files of meshes and skeletons: parts of one (ID:LOD, ID:BOX or
/// ID:LOD:BOX), those of a box of the volume (BOX.frags and BOX.spatial) and the ids of a shard (SHARD.labels),
/// compressed or not.
[[nodiscard]] bool is_beside_objects(std::string_view name) noexcept;

/// Whether an object in the directory of a volume is named like the histogram that igneous keeps of a slice
/// (levels/MIP/Z), compressed or not.
[[nodiscard]] bool is_beside_scales(std::string_view name) noexcept;
/// Whether an object in the directory of a scale is named like igneous' counts of voxels (below stats/) or like its
/// steps towards connected components (below ccl/), compressed or not.
[[nodiscard]] bool is_beside_chunks(std::string_view name) noexcept;

}  // namespace sherd::neuroglancer
