// Legacy meshes of one resolution: a JSON manifest `<id>:0` names fragments, each an object of
//
//   u32 vertices | f32 position[vertices][3] | u32 triangle[rest / 12][3]
//
// Never sharded; the info document is optional and contains little.
// Source: Neuroglancer's docs/datasource/precomputed, "Precomputed mesh format", its legacy part.
#include "neuroglancer/document.hpp"
#include "neuroglancer/words.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::string_view kMeshType = "neuroglancer_legacy_mesh";

Result<Mesh> parse_mesh(Bytes bytes) {
  WordReader reader(bytes);
  SHERD_TRY(vertices, reader.word<std::uint32_t>("the number of vertices"));
  Mesh mesh;
  SHERD_TRY(positions, reader.words<float, Position>(vertices, "vertices"));
  mesh.vertices = std::move(positions);
  if (reader.left() % sizeof(Triangle) != 0)
    return corrupt(std::to_string(reader.left()) + " bytes follow " + std::to_string(vertices) +
                   " vertices, but a triangle is 12 bytes");
  SHERD_TRY(triangles, reader.words<std::uint32_t, Triangle>(reader.left() / sizeof(Triangle), "triangles"));
  mesh.triangles = std::move(triangles);
  SHERD_TRY(check_indices<3>(mesh.triangles, vertices, "triangle", ErrorCode::corrupt));
  return mesh;
}

}  // namespace

Result<Mesh> Mesh::parse(Bytes bytes) {
  return parse_mesh(bytes).in([] { return "mesh"; });
}

Result<std::string> Mesh::print() const {
  SHERD_TRY(check_indices<3>(triangles, vertices.size(), "triangle", ErrorCode::invalid_argument));
  SHERD_TRY(count, count32(vertices.size(), "vertices"));
  WordWriter writer;
  writer.word(count);
  writer.words<float>(std::span(vertices));
  writer.words<std::uint32_t>(std::span(triangles));
  return std::move(writer).finish();
}

Result<LegacyMeshInfo> LegacyMeshInfo::parse(const Json& document) {
  SHERD_TRY(members, ObjectMembers::open(document, kMeshType));
  LegacyMeshInfo info;
  SHERD_TRY(properties, members.text("segment_properties", ""));
  info.segment_properties = std::move(properties);
  info.other = members.others();
  return info;
}

Result<Json> LegacyMeshInfo::print() const {
  Json document;
  document.set("@type", kMeshType);
  set_present(document, "segment_properties", segment_properties);
  return checked_print<LegacyMeshInfo>(std::move(document), other);
}

Result<LegacyMeshManifest> LegacyMeshManifest::parse(const Json& document) {
  SHERD_TRY(members, ObjectMembers::open(document));
  LegacyMeshManifest manifest;
  SHERD_TRY(fragments, members.texts("fragments"));
  manifest.fragments = std::move(fragments);
  manifest.other = members.others();
  return manifest;
}

Result<Json> LegacyMeshManifest::print() const {
  Json document;
  document.set("fragments", texts_json(fragments));
  return with_others(std::move(document), other);
}

std::string LegacyMeshManifest::key(std::uint64_t segment) { return std::to_string(segment) + ":0"; }

}  // namespace sherd::neuroglancer
