// Converts Neuroglancer objects to tuples of arrays and back, for the dataclasses of sherd.neuroglancer.
#pragma once

#include <nanobind/nanobind.h>

#include "sherd/neuroglancer.hpp"

namespace sherd::python {

/// An id from an int of 0 to 2**64 - 1.
[[nodiscard]] std::uint64_t id_from(nanobind::handle value);

/// (vertices, edges, attributes).
[[nodiscard]] nanobind::tuple skeleton_to(const neuroglancer::Skeleton& skeleton,
                                          const neuroglancer::SkeletonInfo& info);
[[nodiscard]] neuroglancer::Skeleton skeleton_from(const nanobind::tuple& parts,
                                                   const neuroglancer::SkeletonInfo& info);
/// (vertices, triangles).
[[nodiscard]] nanobind::tuple mesh_to(const neuroglancer::Mesh& mesh);
[[nodiscard]] neuroglancer::Mesh mesh_from(const nanobind::tuple& parts);
/// (chunk_shape, grid_origin, levels), a level being (scale, vertex_offset, positions, sizes).
[[nodiscard]] nanobind::tuple manifest_to(const neuroglancer::MultiscaleMeshManifest& manifest);
[[nodiscard]] neuroglancer::MultiscaleMeshManifest manifest_from(nanobind::handle parts);
/// (geometry, properties, related).
[[nodiscard]] nanobind::tuple annotation_to(const neuroglancer::Annotation& annotation,
                                            const neuroglancer::AnnotationInfo& info);
[[nodiscard]] neuroglancer::Annotation annotation_from(const nanobind::tuple& parts,
                                                       const neuroglancer::AnnotationInfo& info);
/// (ids, geometry, properties, points).
[[nodiscard]] nanobind::tuple annotations_to(const neuroglancer::Annotations& annotations,
                                             const neuroglancer::AnnotationInfo& info);
[[nodiscard]] neuroglancer::Annotations annotations_from(const nanobind::tuple& parts,
                                                         const neuroglancer::AnnotationInfo& info);

}  // namespace sherd::python
