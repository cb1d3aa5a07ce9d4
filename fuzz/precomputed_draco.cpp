// Any bytes as a Draco fragment are rejected, or make a mesh whose triangles refer to existing vertices.
#include <cstdlib>

#include "sherd/neuroglancer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sherd::Limits limits;
  limits.chunk_bytes = std::uint64_t{1} << 20;
  const auto mesh = sherd::neuroglancer::QuantizedMesh::decode_draco(std::as_bytes(std::span(data, size)), limits);
  if (!mesh) return 0;
  for (const auto& triangle : mesh->triangles)
    for (const std::uint32_t vertex : triangle)
      if (vertex >= mesh->vertices.size()) std::abort();
  return 0;
}
