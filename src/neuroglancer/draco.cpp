// Decodes the fragments of multi-resolution meshes with libdraco, if this build has it. Positions are those that
// Neuroglancer accepts: three integers per vertex, or floats quantized by Draco, whose stored integers are used. The
// first bytes give the size of the mesh; they are checked before libdraco allocates memory for it.
#include "sherd/neuroglancer.hpp"

#ifdef SHERD_DRACO
#include <draco/compression/decode.h>
#include <draco/core/varint_decoding.h>
#include <draco/metadata/metadata_decoder.h>

#include <new>
#endif

#include "base/checked.hpp"
#include "base/try.hpp"

namespace sherd::neuroglancer {

#ifdef SHERD_DRACO

namespace {

// The bit stream's header: "DRACO", u8 major, u8 minor, u8 geometry, u8 method, u16 flags; then metadata, if the flags
// say so.
struct Header {
  std::array<char, 5> magic;
  std::uint8_t major, minor, geometry, method;
  std::uint16_t flags;
};
constexpr std::uint16_t kHasMetadata = 0x8000;

Result<Header> read_header(draco::DecoderBuffer& buffer) {
  Header header{};
  if (!buffer.Decode(header.magic.data(), header.magic.size()) ||
      std::string_view(header.magic.data(), header.magic.size()) != "DRACO" || !buffer.Decode(&header.major) ||
      !buffer.Decode(&header.minor) || !buffer.Decode(&header.geometry) || !buffer.Decode(&header.method) ||
      !buffer.Decode(&header.flags))
    return corrupt("has no Draco header");
  if (header.geometry != draco::TRIANGULAR_MESH) return corrupt("contains no mesh");
  if (header.major != 2 || header.minor < 2)
    return unsupported("is of Draco's bit stream " + std::to_string(header.major) + "." + std::to_string(header.minor) +
                       ", and 2.2 is supported");
  draco::GeometryMetadata metadata;
  if ((header.flags & kHasMetadata) != 0 && !draco::MetadataDecoder().DecodeGeometryMetadata(&buffer, &metadata))
    return corrupt("has damaged metadata");
  return header;
}

// Sequential: varint faces, points. Edgebreaker: u8 traversal, varint vertices, faces.
Result<void> check_size(Bytes fragment, const Limits& limits) {
  draco::DecoderBuffer buffer;
  buffer.Init(reinterpret_cast<const char*>(fragment.data()), fragment.size());
  SHERD_TRY(header, read_header(buffer));
  std::uint8_t traversal = 0;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  buffer.set_bitstream_version(DRACO_BITSTREAM_VERSION(header.major, header.minor));
  if ((header.method == draco::MESH_EDGEBREAKER_ENCODING && !buffer.Decode(&traversal)) ||
      !draco::DecodeVarint(&first, &buffer) || !draco::DecodeVarint(&second, &buffer))
    return corrupt("ends within its header");
  const std::uint64_t bytes = (std::uint64_t{first} + second) * sizeof(Triangle);
  if (bytes > limits.chunk_bytes)
    return unsupported("decodes to " + std::to_string(bytes) +
                       " bytes, more than the limit chunk_bytes = " + std::to_string(limits.chunk_bytes));
  return {};
}

Result<QuantizedMesh> take_mesh(const draco::Mesh& decoded) {
  const draco::PointAttribute* positions = decoded.GetNamedAttribute(draco::GeometryAttribute::POSITION);
  if (positions == nullptr || positions->num_components() != 3) return corrupt("has no positions of three components");
  if (positions->data_type() != draco::DT_INT32 && positions->data_type() != draco::DT_UINT32)
    return unsupported("has positions that are not integers, which Neuroglancer cannot read");
  QuantizedMesh mesh;
  mesh.vertices.resize(positions->size());
  for (std::uint32_t i = 0; i < positions->size(); ++i)
    if (!positions->ConvertValue<std::uint32_t, 3>(draco::AttributeValueIndex(i), mesh.vertices[i].data()))
      return corrupt("position " + std::to_string(i) + " is negative");
  mesh.triangles.resize(decoded.num_faces());
  for (std::uint32_t i = 0; i < decoded.num_faces(); ++i) {
    const draco::Mesh::Face& face = decoded.face(draco::FaceIndex(i));
    for (std::size_t corner = 0; corner < 3; ++corner) {
      if (face[corner].value() >= decoded.num_points())
        return corrupt("triangle " + std::to_string(i) + " refers to a missing point");
      const std::uint32_t vertex = positions->mapped_index(face[corner]).value();
      if (vertex >= mesh.vertices.size())
        return corrupt("triangle " + std::to_string(i) + " refers to a missing vertex");
      mesh.triangles[i][corner] = vertex;
    }
  }
  return mesh;
}

Result<QuantizedMesh> decode(Bytes fragment, const Limits& limits) {
  SHERD_TRY(check_size(fragment, limits));
  draco::DecoderBuffer buffer;
  buffer.Init(reinterpret_cast<const char*>(fragment.data()), fragment.size());
  draco::Decoder decoder;
  decoder.SetSkipAttributeTransform(draco::GeometryAttribute::POSITION);
  try {
    auto decoded = decoder.DecodeMeshFromBuffer(&buffer);
    if (!decoded.ok()) return corrupt("libdraco: " + decoded.status().error_msg_string());
    if (buffer.remaining_size() != 0) return corrupt(std::to_string(buffer.remaining_size()) + " bytes follow the end");
    return take_mesh(*decoded.value());
  } catch (const std::bad_alloc&) {
    return unavailable("out of memory for a mesh");
  }
}

}  // namespace

bool QuantizedMesh::can_decode_draco() noexcept { return true; }

Result<QuantizedMesh> QuantizedMesh::decode_draco(Bytes fragment, const Limits& limits) {
  return decode(fragment, limits).in([] { return "mesh fragment"; });
}

#else

bool QuantizedMesh::can_decode_draco() noexcept { return false; }

Result<QuantizedMesh> QuantizedMesh::decode_draco(Bytes, const Limits&) {
  return unsupported(
      "mesh fragment: this Sherd was built without libdraco; install libdraco-dev and build again with SHERD_DRACO=ON");
}

#endif

}  // namespace sherd::neuroglancer
