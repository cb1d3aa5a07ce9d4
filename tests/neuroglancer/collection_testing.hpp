// Collections for tests: one of each kind, sharded or not, with an object in it.
#pragma once

#include <memory>
#include <string>

#include "sherd/sherd.hpp"
#include "tests/neuroglancer/precomputed_testing.hpp"

namespace sherd::neuroglancer {

inline const Json kSharding =
    json(R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "murmurhash3_x86_128",
             "minishard_bits": 1, "shard_bits": 1, "minishard_index_encoding": "gzip", "data_encoding": "gzip"})");

inline Json sharding(bool sharded) { return sharded ? kSharding : Json(); }

inline SkeletonInfo skeleton_info(bool sharded) {
  SkeletonInfo info;
  info.vertex_attributes = {{.id = "radius"}};
  info.sharding = sharding(sharded);
  return info;
}
inline Skeleton skeleton(std::size_t vertices = 3) {
  Skeleton made;
  Column radius{DType::float32, 1, std::vector<std::byte>(4 * vertices)};
  for (std::size_t i = 0; i < vertices; ++i) {
    made.vertices.push_back({static_cast<float>(i), 2, 3});
    if (i > 0) made.edges.push_back({static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(i)});
  }
  made.attributes.push_back(std::move(radius));
  return made;
}

inline MultiscaleMeshInfo mesh_info(bool sharded) {
  MultiscaleMeshInfo info;
  info.sharding = sharding(sharded);
  return info;
}
/// With fragments that are no Draco.
inline MultiscaleMesh mesh(std::uint32_t bytes = 100) {
  MultiscaleMesh made;
  made.manifest.chunk_shape = {16, 16, 16};
  made.manifest.levels.push_back({1, {}, {{{0, 0, 0}, bytes}, {{1, 0, 0}, 7}}});
  made.fragments = std::string(bytes, 'a') + "bbbbbbb";
  return made;
}

inline AnnotationInfo annotation_info(bool sharded) {
  AnnotationInfo info;
  info.dimensions = {{"x", 8e-9, "m"}, {"y", 8e-9, "m"}};
  info.lower_bound = {0, 0};
  info.upper_bound = {30, 20};
  info.properties = {{.id = "score"}};
  info.relationships = {{"cells", {"cells", sharding(sharded)}}, {"axons", {"axons", sharding(sharded)}}};
  info.by_id = {"by_id", sharding(sharded)};
  info.spatial = {{{"spatial0", sharding(sharded)}, {1, 1}, {30, 20}, 10},
                  {{"spatial1", sharding(sharded)}, {3, 2}, {10, 10}, 10}};
  return info;
}
inline Annotation annotation() { return {{1, 2}, {column<float>(DType::float32, {0.5F})}, {{7, 8}, {}}}; }
inline Annotations annotations() { return {{5, 6}, {1, 2, 3, 4}, {}, {column<float>(DType::float32, {0.5F, 1})}}; }

}  // namespace sherd::neuroglancer
