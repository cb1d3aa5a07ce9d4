// Meshes of several resolutions: a manifest of octree nodes, and a Draco mesh for each node ("fragment").
//
//   f32 chunk_shape[3], grid_origin[3] | u32 levels | f32 scale[levels] | f32 vertex_offset[levels][3]
//   | u32 count[levels] | each level: u32 x[count], y[count], z[count], size[count]
//
// The manifest does not say where the fragments are: consecutive in a separate object or, in a shard, in the bytes
// immediately before the stored manifest. Only their sizes determine where each begins.
// Source: Neuroglancer's docs/datasource/precomputed, "Precomputed mesh format", its multi-resolution part.
#include <bit>
#include <cmath>

#include "neuroglancer/document.hpp"
#include "neuroglancer/words.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::string_view kMultiscaleMeshType = "neuroglancer_multilod_draco";
constexpr std::size_t kLevelBytes = 4 + 12 + 4;
constexpr std::size_t kFragmentBytes = 16;

Result<void> check_bits(std::uint64_t bits) {
  if (bits == 10 || bits == 16) return {};
  return member_error("vertex_quantization_bits", "must be 10 or 16, not " + std::to_string(bits));
}

Result<std::vector<MeshFragment>> read_fragments(WordReader& reader, std::uint32_t count) {
  SHERD_TRY(bytes, reader.take(count, kFragmentBytes, "fragments"));
  std::vector<MeshFragment> fragments(count);
  const auto at = [&](std::size_t column, std::size_t i) {
    return load_little<std::uint32_t>(bytes.data() + (column * count + i) * sizeof(std::uint32_t));
  };
  for (std::size_t i = 0; i < count; ++i) fragments[i] = {{at(0, i), at(1, i), at(2, i)}, at(3, i)};
  return fragments;
}

Result<MultiscaleMeshManifest> parse_manifest(Bytes bytes) {
  WordReader reader(bytes);
  MultiscaleMeshManifest manifest;
  SHERD_TRY(shape, reader.words<float>(3, "words of chunk_shape"));
  SHERD_TRY(origin, reader.words<float>(3, "words of grid_origin"));
  manifest.chunk_shape = {shape[0], shape[1], shape[2]};
  manifest.grid_origin = {origin[0], origin[1], origin[2]};
  SHERD_TRY(levels, reader.word<std::uint32_t>("the number of levels"));
  if (levels > reader.left() / kLevelBytes)
    return corrupt(std::to_string(levels) + " levels need " + std::to_string(std::uint64_t{levels} * kLevelBytes) +
                   " bytes, " + std::to_string(reader.left()) + " are left");
  SHERD_TRY(scales, reader.words<float>(levels, "scales"));
  SHERD_TRY(offsets, (reader.words<float, Position>(levels, "vertex offsets")));
  SHERD_TRY(counts, reader.words<std::uint32_t>(levels, "numbers of fragments"));
  manifest.levels.resize(levels);
  for (std::size_t i = 0; i < levels; ++i) {
    auto fragments = read_fragments(reader, counts[i]);
    if (!fragments) return std::move(fragments).error().in("level " + std::to_string(i));
    manifest.levels[i] = {scales[i], offsets[i], *std::move(fragments)};
  }
  SHERD_TRY(reader.done());
  return manifest;
}

// Whether `a` precedes `b` on the Z-curve, in whose interleaved bits z is the highest.
bool before_on_z_curve(const std::array<std::uint32_t, 3>& a, const std::array<std::uint32_t, 3>& b) {
  std::size_t highest = 2;
  for (const std::size_t d : {1U, 0U})
    if (std::bit_width(a[d] ^ b[d]) > std::bit_width(a[highest] ^ b[highest])) highest = d;
  return a[highest] < b[highest];
}

std::string shown(const std::array<std::uint32_t, 3>& position) {
  return "(" + std::to_string(position[0]) + ", " + std::to_string(position[1]) + ", " + std::to_string(position[2]) +
         ")";
}

Result<void> check_fragment(const MultiscaleMeshManifest& manifest, std::size_t level, std::size_t fragment) {
  if (level < manifest.levels.size() && fragment < manifest.levels[level].fragments.size()) return {};
  return invalid_argument("the manifest has no fragment " + std::to_string(fragment) + " of level " +
                          std::to_string(level));
}

}  // namespace

Result<MultiscaleMeshInfo> MultiscaleMeshInfo::parse(const Json& document) {
  SHERD_TRY(members, ObjectMembers::open(document, kMultiscaleMeshType));
  MultiscaleMeshInfo info;
  SHERD_TRY(bits, members.integer("vertex_quantization_bits", 10, 16));
  SHERD_TRY(check_bits(bits));
  info.vertex_quantization_bits = static_cast<std::uint32_t>(bits);
  SHERD_TRY(transform, members.transform());
  info.transform = transform;
  SHERD_TRY(multiplier, members.number("lod_scale_multiplier"));
  if (multiplier <= 0) return member_error("lod_scale_multiplier", "must be more than 0");
  info.lod_scale_multiplier = multiplier;
  SHERD_TRY(members.rest(info));
  return info;
}

Result<Json> MultiscaleMeshInfo::print() const {
  Json document;
  document.set("@type", kMultiscaleMeshType);
  document.set("vertex_quantization_bits", static_cast<std::uint64_t>(vertex_quantization_bits));
  document.set("transform", numbers_json(transform));
  document.set("lod_scale_multiplier", number_json(lod_scale_multiplier));
  set_present(document, "sharding", sharding);
  set_present(document, "segment_properties", segment_properties);
  return checked_print<MultiscaleMeshInfo>(std::move(document), other);
}

Result<MultiscaleMeshManifest> MultiscaleMeshManifest::parse(Bytes bytes) {
  return parse_manifest(bytes).in([] { return "mesh manifest"; });
}

Result<std::string> MultiscaleMeshManifest::print() const {
  SHERD_TRY(check_order());
  SHERD_TRY(level_count, count32(levels.size(), "levels"));
  WordWriter writer;
  writer.words<float>(std::span<const float>(chunk_shape));
  writer.words<float>(std::span<const float>(grid_origin));
  writer.word(level_count);
  for (const MeshLevel& level : levels) writer.word(level.scale);
  for (const MeshLevel& level : levels) writer.words<float>(std::span<const float>(level.vertex_offset));
  for (const MeshLevel& level : levels) {
    SHERD_TRY(count, count32(level.fragments.size(), "fragments"));
    writer.word(count);
  }
  for (const MeshLevel& level : levels) {
    for (std::size_t d = 0; d < 3; ++d)
      for (const MeshFragment& fragment : level.fragments) writer.word(fragment.position[d]);
    for (const MeshFragment& fragment : level.fragments) writer.word(fragment.size);
  }
  return std::move(writer).finish();
}

Result<void> MultiscaleMeshManifest::check_order() const {
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto& fragments = levels[level].fragments;
    for (std::size_t i = 1; i < fragments.size(); ++i)
      if (!before_on_z_curve(fragments[i - 1].position, fragments[i].position))
        return invalid_argument("level " + std::to_string(level) + ": fragment " + std::to_string(i) + " at " +
                                shown(fragments[i].position) + " must come before the one at " +
                                shown(fragments[i - 1].position) + " in Z-curve order");
  }
  return {};
}

std::uint64_t MultiscaleMeshManifest::fragments_size() const noexcept {
  std::uint64_t size = 0;
  for (const MeshLevel& level : levels)
    for (const MeshFragment& fragment : level.fragments) size += fragment.size;
  return size;
}

Result<ByteRange> MultiscaleMeshManifest::fragments_before(std::uint64_t manifest_start) const {
  const std::uint64_t size = fragments_size();
  if (size > manifest_start)
    return corrupt("mesh manifest: its fragments have " + std::to_string(size) + " bytes, but it begins at byte " +
                   std::to_string(manifest_start) + " of the shard");
  return ByteRange{manifest_start - size, size};
}

Result<ByteRange> MultiscaleMeshManifest::fragment_range(std::size_t level, std::size_t fragment) const {
  SHERD_TRY(check_fragment(*this, level, fragment));
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < level; ++i)
    for (const MeshFragment& before : levels[i].fragments) offset += before.size;
  for (std::size_t i = 0; i < fragment; ++i) offset += levels[level].fragments[i].size;
  return ByteRange{offset, levels[level].fragments[fragment].size};
}

Result<Mesh> MultiscaleMeshManifest::place(const QuantizedMesh& mesh, std::size_t level, std::size_t fragment,
                                           std::uint32_t bits) const {
  SHERD_TRY(check_bits(bits));
  SHERD_TRY(check_fragment(*this, level, fragment));
  const std::uint32_t highest = (std::uint32_t{1} << bits) - 1;
  Mesh placed{{}, mesh.triangles};
  placed.vertices.reserve(mesh.vertices.size());
  for (const auto& vertex : mesh.vertices) {
    Position position;
    for (std::size_t d = 0; d < 3; ++d) {
      if (vertex[d] > highest)
        return corrupt("mesh fragment: position " + shown(vertex) + " does not fit " + std::to_string(bits) + " bits");
      const double node = levels[level].fragments[fragment].position[d] + static_cast<double>(vertex[d]) / highest;
      position[d] = static_cast<float>(grid_origin[d] + levels[level].vertex_offset[d] +
                                       std::ldexp(double{chunk_shape[d]} * node, static_cast<int>(level)));
    }
    placed.vertices.push_back(position);
  }
  return placed;
}

std::string MultiscaleMeshManifest::key(std::uint64_t segment) { return fragments_key(segment) + ".index"; }
std::string MultiscaleMeshManifest::fragments_key(std::uint64_t segment) { return std::to_string(segment); }

}  // namespace sherd::neuroglancer
