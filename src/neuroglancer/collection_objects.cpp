// Reads and writes typed objects of a collection. Requests are first compared with the kind of the collection.
#include "base/buffer.hpp"
#include "base/try.hpp"
#include "neuroglancer/collection.hpp"
#include "neuroglancer/document.hpp"
#include "node/document.hpp"

namespace sherd::neuroglancer {
namespace {

using Name = ObjectValues::Name;
using State = Collection::State;

/// The info, if it has this type.
template <class Info>
Result<const Info*> expect(const State& state, std::string_view wanted) {
  if (const auto* info = std::get_if<Info>(&state.info)) return info;
  return invalid_argument(state.url + " holds " + std::string(kind_name(state.info)) + ", not " + std::string(wanted));
}

/// Reads an object and parses its bytes with `parse`.
template <class T, class Parse>
Result<std::optional<T>> read_object(const ObjectValues& values, const Name& name, std::string_view what,
                                     const Parse& parse) {
  SHERD_TRY(bytes, values.get(name));
  if (!bytes) return std::optional<T>();
  SHERD_TRY(object, about(parse(as_bytes(*bytes)), values, name, what));
  return std::optional<T>(std::move(object));
}

Result<void> write_object(const ObjectValues& values, const Name& name, std::string_view what,
                          Result<std::string> printed) {
  SHERD_TRY(bytes, about(std::move(printed), values, name, what));
  return values.put(name, as_bytes(bytes));
}

Result<ObjectValues> values_of(const State& state, std::size_t part) { return state.values(state.parts()[part]); }

/// The values of a relationship or a spatial level, which come after the index by id.
template <class T>
Result<ObjectValues> numbered(const State& state, const std::vector<T>& things, std::size_t number,
                              std::string_view what, std::size_t first) {
  if (number < things.size()) return values_of(state, first + number);
  return invalid_argument("the annotations have no " + std::string(what) + " " + std::to_string(number));
}

struct CellAt {
  const AnnotationInfo& info;
  ObjectValues values;
  Name name;
};
Result<CellAt> find_cell(const State& state, std::size_t level, std::span<const std::uint64_t> cell) {
  SHERD_TRY(info, expect<AnnotationInfo>(state, "annotations"));
  SHERD_TRY(values, numbered(state, info->spatial, level, "spatial level", 1 + info->relationships.size()));
  SHERD_TRY(name, cell_name(info->spatial[level], cell));
  return CellAt{*info, std::move(values), std::move(name)};
}

}  // namespace

Result<LegacyMeshManifest> parse_legacy_manifest(Bytes bytes, const Limits& limits) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  SHERD_TRY(json, Json::parse(text, limits.json_depth, limits.json_values));
  auto manifest = LegacyMeshManifest::parse(json);
  if (!manifest) return stored_error(std::move(manifest).error());
  return manifest;
}

Result<std::optional<Skeleton>> Collection::read_skeleton(std::uint64_t id) const {
  SHERD_TRY(info, expect<SkeletonInfo>(*state_, "skeletons"));
  SHERD_TRY(values, state_->values());
  return read_object<Skeleton>(values, state_->name(id), "skeleton",
                               [&](Bytes bytes) { return Skeleton::parse(bytes, info->vertex_attributes); });
}

Result<void> Collection::write_skeleton(std::uint64_t id, const Skeleton& skeleton) const {
  SHERD_TRY(info, expect<SkeletonInfo>(*state_, "skeletons"));
  SHERD_TRY(values, state_->values());
  return write_object(values, state_->name(id), "skeleton", skeleton.print(info->vertex_attributes));
}

Result<std::vector<MeshPart>> read_mesh_parts(const ObjectValues& values, const LegacyMeshManifest& manifest) {
  std::vector<MeshPart> parts;
  for (const std::string& part : manifest.fragments) {
    const Name name{0, part};
    SHERD_TRY(found, read_object<Mesh>(values, name, "fragment", Mesh::parse));
    if (!found)
      return corrupt("a manifest names the fragment '" + part + "', which does not exist").in_key(values.key(part));
    parts.push_back({part, *std::move(found)});
  }
  return parts;
}

Result<std::optional<std::vector<MeshPart>>> Collection::read_mesh(std::uint64_t id) const {
  SHERD_TRY(expect<LegacyMeshInfo>(*state_, "legacy meshes"));
  SHERD_TRY(values, state_->values());
  const auto parse = [&](Bytes bytes) -> Result<std::vector<MeshPart>> {
    SHERD_TRY(manifest, parse_legacy_manifest(bytes, state_->location.config.limits));
    return read_mesh_parts(values, manifest);
  };
  return read_object<std::vector<MeshPart>>(values, state_->name(id), "mesh", parse);
}

namespace {

// A fragment may have any name that nothing else in the directory has.
Result<void> check_fragment_name(const Collection::State& collection, const std::string& name) {
  const std::string key = plain_path(name);
  if (key != "info" && !collection.id_of(key) && !key.starts_with(".sherd-")) return {};
  return invalid_argument("a fragment cannot be named '" + name + "': this is the name of " +
                          (key == "info" ? "the info document" : "a manifest or of one of Sherd's own files"));
}

}  // namespace

Result<void> Collection::write_mesh(std::uint64_t id, std::span<const MeshPart> parts) const {
  SHERD_TRY(expect<LegacyMeshInfo>(*state_, "legacy meshes"));
  for (const MeshPart& part : parts) SHERD_TRY(check_fragment_name(*state_, part.name));
  SHERD_TRY(values, state_->values());
  LegacyMeshManifest manifest;
  for (const MeshPart& part : parts) {
    const std::string number = std::to_string(manifest.fragments.size());
    manifest.fragments.push_back(part.name.empty() ? LegacyMeshManifest::key(id) + ":" + number : part.name);
    const Name name{0, manifest.fragments.back()};
    SHERD_TRY(write_object(values, name, "fragment", part.mesh.print()));
  }
  SHERD_TRY(document, manifest.print());
  return write_object(values, state_->name(id), "mesh", document.dump());
}

Result<std::optional<MultiscaleMesh>> read_multiscale_mesh(const ObjectValues& values, std::uint64_t id) {
  const Name name{id, MultiscaleMeshManifest::key(id)};
  MultiscaleMesh mesh;
  if (values.is_sharded()) {
    SHERD_TRY(pair, values.get_pair(id));
    if (!pair) return std::optional<MultiscaleMesh>();
    SHERD_TRY(manifest, about(MultiscaleMeshManifest::parse(as_bytes(pair->value)), values, name, "mesh"));
    return std::optional(MultiscaleMesh{std::move(manifest), std::move(pair->preceding)});
  }
  SHERD_TRY(manifest, read_object<MultiscaleMeshManifest>(values, name, "mesh", MultiscaleMeshManifest::parse));
  if (!manifest) return std::optional<MultiscaleMesh>();
  mesh.manifest = *std::move(manifest);
  const Name fragments_name{id, MultiscaleMeshManifest::fragments_key(id)};
  SHERD_TRY(fragments, values.get(fragments_name));
  const std::uint64_t size = fragments ? fragments->size() : 0;
  if (size < mesh.manifest.fragments_size())
    return corrupt("has " + std::to_string(size) + " bytes, but the fragments of mesh " + std::to_string(id) +
                   " need " + std::to_string(mesh.manifest.fragments_size()))
        .in_key(values.key(fragments_name));
  mesh.fragments = fragments ? *std::move(fragments) : std::string();
  mesh.fragments.resize(static_cast<std::size_t>(mesh.manifest.fragments_size()));
  return std::optional(std::move(mesh));
}

Result<std::optional<MultiscaleMesh>> Collection::read_multiscale_mesh(std::uint64_t id) const {
  SHERD_TRY(expect<MultiscaleMeshInfo>(*state_, "multi-resolution meshes"));
  SHERD_TRY(values, state_->values());
  return neuroglancer::read_multiscale_mesh(values, id);
}

Result<void> Collection::write_multiscale_mesh(std::uint64_t id, const MultiscaleMesh& mesh) const {
  SHERD_TRY(expect<MultiscaleMeshInfo>(*state_, "multi-resolution meshes"));
  SHERD_TRY(values, state_->values());
  const Name name = state_->name(id);
  SHERD_TRY(manifest, about(mesh.manifest.print(), values, name, "mesh"));
  if (mesh.fragments.size() != mesh.manifest.fragments_size())
    return invalid_argument("mesh " + std::to_string(id) + " comes with " + std::to_string(mesh.fragments.size()) +
                            " bytes of fragments, but its manifest declares " +
                            std::to_string(mesh.manifest.fragments_size()));
  if (values.is_sharded()) return values.put(name, as_bytes(manifest), as_bytes(mesh.fragments));
  SHERD_TRY(values.put({id, MultiscaleMeshManifest::fragments_key(id)}, as_bytes(mesh.fragments)));
  return values.put(name, as_bytes(manifest));
}

Result<std::optional<Annotation>> Collection::read_annotation(std::uint64_t id) const {
  SHERD_TRY(info, expect<AnnotationInfo>(*state_, "annotations"));
  SHERD_TRY(values, state_->values());
  return read_object<Annotation>(values, state_->name(id), "annotation",
                                 [&](Bytes bytes) { return Annotation::parse(bytes, *info); });
}

Result<void> Collection::write_annotation(std::uint64_t id, const Annotation& annotation) const {
  SHERD_TRY(info, expect<AnnotationInfo>(*state_, "annotations"));
  SHERD_TRY(values, state_->values());
  return write_object(values, state_->name(id), "annotation", annotation.print(*info));
}

Result<std::optional<Annotations>> Collection::read_related(std::size_t relationship, std::uint64_t object) const {
  SHERD_TRY(info, expect<AnnotationInfo>(*state_, "annotations"));
  SHERD_TRY(values, numbered(*state_, info->relationships, relationship, "relationship", 1));
  return read_object<Annotations>(values, state_->name(object), "annotations of object",
                                  [&](Bytes bytes) { return Annotations::parse(bytes, *info); });
}

Result<void> Collection::write_related(std::size_t relationship, std::uint64_t object,
                                       const Annotations& annotations) const {
  SHERD_TRY(info, expect<AnnotationInfo>(*state_, "annotations"));
  SHERD_TRY(values, numbered(*state_, info->relationships, relationship, "relationship", 1));
  return write_object(values, state_->name(object), "annotations of object", annotations.print(*info));
}

Result<std::optional<Annotations>> Collection::read_cell(std::size_t level, std::span<const std::uint64_t> cell) const {
  SHERD_TRY(at, find_cell(*state_, level, cell));
  return read_object<Annotations>(at.values, at.name, "annotations of cell",
                                  [&](Bytes bytes) { return Annotations::parse(bytes, at.info); });
}

Result<void> Collection::write_cell(std::size_t level, std::span<const std::uint64_t> cell,
                                    const Annotations& annotations) const {
  SHERD_TRY(at, find_cell(*state_, level, cell));
  return write_object(at.values, at.name, "annotations of cell", annotations.print(at.info));
}

Result<bool> Collection::list(const std::function<bool(std::uint64_t)>& visit) const {
  if (const auto* properties = std::get_if<SegmentProperties>(&state_->info)) {
    for (const std::uint64_t id : properties->ids)
      if (!visit(id)) return false;
    return true;
  }
  SHERD_TRY(values, state_->values());
  return values.list([&](const Name& name, std::uint64_t) -> Result<bool> {
    if (values.is_sharded()) return visit(name.id);
    const auto id = state_->id_of(name.object);
    return !id || visit(*id);
  });
}

Result<bool> Collection::erase(std::uint64_t id) const {
  if (std::holds_alternative<SegmentProperties>(state_->info))
    return invalid_argument("segment properties are one document, not separate objects; create it again to change it");
  SHERD_TRY(values, state_->values());
  SHERD_TRY(there, values.erase(state_->name(id)));
  if (std::holds_alternative<MultiscaleMeshInfo>(state_->info) && !values.is_sharded())
    SHERD_TRY(values.erase({id, MultiscaleMeshManifest::fragments_key(id)}));
  return there;
}

Collection::Collection(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
const CollectionInfo& Collection::info() const noexcept { return state_->info; }
const std::string& Collection::url() const noexcept { return state_->url; }

}  // namespace sherd::neuroglancer
