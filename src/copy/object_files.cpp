// A file has coordinates in a unit of length. A collection has stored model coordinates, which a transform converts to
// nanometres; legacy meshes have nanometres. Between files and collections everything is in nanometres.
#include "copy/object_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/buffer.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "io/files.hpp"
#include "ome/units.hpp"
#include "sherd/collection.hpp"

namespace sherd {
namespace {

using namespace neuroglancer;

constexpr std::string_view kSwc = "swc", kPly = "ply", kObj = "obj";
constexpr float kLargest = std::numeric_limits<float>::max();

/// Empty if it is none of these formats.
std::string_view format_of(std::string_view name, const std::string& file) {
  for (const std::string_view format : {kSwc, kPly, kObj}) {
    const std::string suffix = "." + std::string(format);
    const std::string_view suffixes[] = {suffix};
    if (name.empty() ? has_suffix(file, suffixes) : name == format) return format;
  }
  return {};
}

Result<std::string_view> find_format(const ObjectFileOptions& options, const std::string& file) {
  const std::string_view format = format_of(options.format, file);
  if (!format.empty()) return format;
  return options.format.empty()
             ? invalid_argument("the suffix is not .swc, .ply or .obj; name the format").in_key(file)
             : invalid_argument("'" + options.format + "' is not swc, ply or obj").in_member("format");
}

Result<double> unit_of(const ObjectFileOptions& options, std::string_view format) {
  if (options.unit.empty()) return format == kSwc ? 1000.0 : 1.0;
  if (const auto size = nanometres(options.unit)) return *size;
  return std::move(invalid_argument("'" + options.unit + "' is not a length, such as nm or um")).in_member("unit");
}

/// "17" of "dir/17.swc" and of "17_axon.swc".
std::optional<std::uint64_t> id_of(const std::string& file) {
  const std::string_view name = last_segment(file);
  std::uint64_t id = 0;
  const auto [stop, failed] = std::from_chars(name.data(), name.data() + name.size(), id);
  const bool ends = stop == name.data() + name.size() || std::string_view("._-:").find(*stop) != std::string_view::npos;
  return failed == std::errc() && ends ? std::optional(id) : std::nullopt;
}

Result<std::string> read_file(const std::string& path, const Limits& limits) {
  SHERD_TRY(file, InputFile::open(path));
  const std::uint64_t size = file->size_bound();
  if (size > limits.chunk_bytes)
    return unsupported("has " + std::to_string(size) + " bytes, more than the limit chunk_bytes").in_key(path);
  std::string text(size, '\0');
  SHERD_TRY(file->read_at(0, std::as_writable_bytes(std::span(text))).in_key(path));
  return text;
}

/// The inverse of `transform`; invalid_argument if it is singular.
Result<Transform> inverse(const Transform& t) {
  const auto minor = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    return t[a] * t[d] - t[b] * t[c];
  };
  const double determinant = t[0] * minor(5, 6, 9, 10) - t[1] * minor(4, 6, 8, 10) + t[2] * minor(4, 5, 8, 9);
  if (!std::isfinite(1 / determinant))
    return invalid_argument("the transform of the skeletons cannot be inverted").in_member("transform");
  const double s = 1 / determinant;
  Transform back{s * minor(5, 6, 9, 10), s * minor(2, 1, 10, 9), s * minor(1, 2, 5, 6), 0,
                 s * minor(6, 4, 10, 8), s * minor(0, 2, 8, 10), s * minor(2, 0, 6, 4), 0,
                 s * minor(4, 5, 8, 9),  s * minor(1, 0, 9, 8),  s * minor(0, 1, 4, 5), 0};
  for (std::size_t row = 0; row < 12; row += 4)
    back[row + 3] = -(back[row] * t[3] + back[row + 1] * t[7] + back[row + 2] * t[11]);
  return back;
}

Result<void> move_by(const Transform& t, std::vector<Position>& positions) {
  for (Position& position : positions) {
    const Position before = position;
    for (std::size_t d = 0; d < 3; ++d) {
      const double at = t[4 * d] * before[0] + t[4 * d + 1] * before[1] + t[4 * d + 2] * before[2] + t[4 * d + 3];
      if (!(std::abs(at) <= kLargest)) return invalid_argument("a position does not fit in float32");
      position[d] = static_cast<float>(at);
    }
  }
  return {};
}

Transform scaling(double factor) { return {factor, 0, 0, 0, 0, factor, 0, 0, 0, 0, factor, 0}; }

void scale_radii(Skeleton& skeleton, double factor) {
  for (Column& column : skeleton.attributes) {
    if (!(column.dtype == DType::float32)) continue;
    auto* values = reinterpret_cast<float*>(column.bytes.data());
    for (std::size_t i = 0; i < column.bytes.size() / sizeof(float); ++i)
      values[i] = static_cast<float>(values[i] * factor);
  }
}

void set_extent(const std::vector<Position>& positions, ObjectFileReport& report) {
  report.vertices = positions.size();
  for (std::size_t d = 0; d < 3 && !positions.empty(); ++d) {
    const auto [low, high] = std::ranges::minmax_element(positions, {}, [d](const Position& each) { return each[d]; });
    report.low[d] = (*low)[d];
    report.high[d] = (*high)[d];
  }
}

// ---- into a collection ----

/// The collection, which is created if it does not exist.
Result<Collection> open_or_create(const Collection::State::Location& location, bool skeletons, bool& created) {
  SHERD_TRY(found, Collection::State::find(location));
  if (found) return Collection(*std::move(found));
  CollectionInfo info = LegacyMeshInfo{};
  if (skeletons) {
    const auto attributes = swc_attributes();
    info = SkeletonInfo{.vertex_attributes = {attributes.begin(), attributes.end()},
                        .sharding = {},
                        .segment_properties = {},
                        .other = {}};
  }
  auto made = Collection::State::create(location, std::move(info), false);
  created = made.has_value();
  if (made) return Collection(*std::move(made));
  const auto other = Collection::State::find(location);  // another process may have created it
  if (made.error().code() == ErrorCode::conflict && other && *other) return Collection(**other);
  return std::move(made).error();
}

/// Uses the attributes of the collection, which must be among those of SWC.
Result<void> choose_attributes(const SkeletonInfo& info, Skeleton& skeleton) {
  std::vector<Column> chosen;
  for (const VertexAttribute& wanted : info.vertex_attributes) {
    const auto all = swc_attributes();
    const auto same = [&](const VertexAttribute& each) {
      return each.id == wanted.id && each.data_type == wanted.data_type && each.num_components == wanted.num_components;
    };
    const auto found = std::ranges::find_if(all, same);
    if (found == all.end())
      return invalid_argument("the skeletons here have the attribute '" + wanted.id + "' of " +
                              wanted.data_type.name() +
                              ", which SWC does not have; it has radius (float32) and vertex_types (uint8)");
    chosen.push_back(skeleton.attributes[static_cast<std::size_t>(found - all.begin())]);
  }
  skeleton.attributes = std::move(chosen);
  return {};
}

Result<void> refuse_existing(const Collection& collection, std::uint64_t id, bool overwrite) {
  if (overwrite) return {};
  bool exists = false;
  if (std::holds_alternative<SkeletonInfo>(collection.info())) {
    SHERD_TRY(skeleton, collection.read_skeleton(id));
    exists = skeleton.has_value();
  } else {
    SHERD_TRY(mesh, collection.read_mesh(id));
    exists = mesh.has_value();
  }
  if (!exists) return {};
  return conflict("there is an object " + std::to_string(id) + " in " + collection.url() +
                  "; overwrite it or choose another id");
}

Result<void> import_skeleton(const Collection& collection, Skeleton skeleton, ObjectFileReport& report) {
  const auto* info = std::get_if<SkeletonInfo>(&collection.info());
  if (info == nullptr) return invalid_argument(collection.url() + " does not hold skeletons, which SWC files are");
  SHERD_TRY(choose_attributes(*info, skeleton));
  set_extent(skeleton.vertices, report);
  report.parts = skeleton.edges.size();
  if (info->transform != kIdentity) {
    SHERD_TRY(back, inverse(info->transform));
    SHERD_TRY(move_by(back, skeleton.vertices));
  }
  return collection.write_skeleton(report.id, skeleton);
}

Result<void> import_mesh(const Collection& collection, Mesh mesh, ObjectFileReport& report) {
  if (std::holds_alternative<MultiscaleMeshInfo>(collection.info()))
    return unsupported(collection.url() +
                       " holds multi-resolution meshes, which are not made of PLY and OBJ files; use another "
                       "directory, for legacy meshes");
  if (!std::holds_alternative<LegacyMeshInfo>(collection.info()))
    return invalid_argument(collection.url() + " does not hold meshes, which PLY and OBJ files are");
  set_extent(mesh.vertices, report);
  report.parts = mesh.triangles.size();
  const MeshPart part{{}, std::move(mesh)};
  return collection.write_mesh(report.id, std::span(&part, 1));
}

// ---- out of a collection ----

Error no_object(const Collection& collection, std::uint64_t id) {
  return not_found("there is no object " + std::to_string(id) + " in " + collection.url());
}

void join(Mesh& all, const Mesh& part) {
  const auto first = static_cast<std::uint32_t>(all.vertices.size());
  all.vertices.insert(all.vertices.end(), part.vertices.begin(), part.vertices.end());
  for (const Triangle& each : part.triangles)
    all.triangles.push_back({each[0] + first, each[1] + first, each[2] + first});
}

/// The finest resolution, in nanometres.
Result<Mesh> finest_mesh(const Collection& collection, const MultiscaleMeshInfo& info, std::uint64_t id,
                         const Limits& limits) {
  SHERD_TRY(mesh, collection.read_multiscale_mesh(id));
  if (!mesh) return no_object(collection, id);
  Mesh all;
  const auto& levels = mesh->manifest.levels;
  for (std::size_t i = 0; !levels.empty() && i < levels[0].fragments.size(); ++i) {
    if (levels[0].fragments[i].size == 0) continue;
    SHERD_TRY(range, mesh->manifest.fragment_range(0, i));
    const auto bytes = as_bytes(mesh->fragments).subspan(range.offset, range.length);
    SHERD_TRY(decoded, QuantizedMesh::decode_draco(bytes, limits));
    SHERD_TRY(placed, mesh->manifest.place(decoded, 0, i, info.vertex_quantization_bits));
    join(all, placed);
  }
  SHERD_TRY(move_by(info.transform, all.vertices));
  return all;
}

Result<Mesh> export_mesh(const Collection& collection, std::uint64_t id, const Limits& limits) {
  if (const auto* info = std::get_if<MultiscaleMeshInfo>(&collection.info()))
    return finest_mesh(collection, *info, id, limits);
  SHERD_TRY(parts, collection.read_mesh(id));
  if (!parts) return no_object(collection, id);
  Mesh all;
  for (const MeshPart& part : *parts) join(all, part.mesh);
  return all;
}

Result<std::string> print_mesh(const Collection& collection, std::string_view format, const ObjectFileOptions& options,
                               ObjectFileReport& report) {
  SHERD_TRY(mesh, export_mesh(collection, report.id, options.config.limits));
  SHERD_TRY(unit, unit_of(options, format));
  set_extent(mesh.vertices, report);
  report.parts = mesh.triangles.size();
  SHERD_TRY(move_by(scaling(1 / unit), mesh.vertices));
  return format == kPly ? print_ply(mesh) : print_obj(mesh);
}

Result<std::string> print_skeleton(const Collection& collection, const ObjectFileOptions& options,
                                   ObjectFileReport& report) {
  const auto* info = std::get_if<SkeletonInfo>(&collection.info());
  if (info == nullptr)
    return invalid_argument(collection.url() + " does not hold skeletons; export a mesh as PLY or OBJ");
  SHERD_TRY(skeleton, collection.read_skeleton(report.id));
  if (!skeleton) return no_object(collection, report.id);
  SHERD_TRY(unit, unit_of(options, kSwc));
  SHERD_TRY(move_by(info->transform, skeleton->vertices));
  set_extent(skeleton->vertices, report);
  report.parts = skeleton->edges.size();
  SHERD_TRY(move_by(scaling(1 / unit), skeleton->vertices));
  scale_radii(*skeleton, 1 / unit);
  SHERD_TRY(printed, print_swc(*skeleton, info->vertex_attributes));
  if (printed.edges_left_out != 0 && options.note)
    options.note(std::to_string(printed.edges_left_out) +
                 " edges close a cycle and are left out: SWC can only store trees");
  return std::move(printed.text);
}

}  // namespace

bool is_object_file(std::string_view format, const std::string& file) { return !format_of(format, file).empty(); }

Result<ObjectFileReport> import_object_at(const std::string& file, Collection::State::Location location,
                                          const ObjectFileOptions& options) {
  SHERD_TRY(format, find_format(options, file));
  SHERD_TRY(unit, unit_of(options, format));
  const auto id = options.id ? options.id : id_of(file);
  if (!id)
    return invalid_argument("is missing: the name of the file does not begin with a number; set it (--id N)")
        .in_member("id");
  SHERD_TRY(text, read_file(file, options.config.limits));
  ObjectFileReport report{.id = *id, .is_skeleton = format == kSwc};
  Skeleton skeleton;
  Mesh mesh;
  if (format == kSwc) {
    SHERD_TRY(parsed, parse_swc(text).in_key(file));
    skeleton = std::move(parsed);
    scale_radii(skeleton, unit);
  } else {
    SHERD_TRY(parsed, (format == kPly ? parse_ply(as_bytes(text)) : parse_obj(text)).in_key(file));
    mesh = std::move(parsed);
  }
  auto& positions = format == kSwc ? skeleton.vertices : mesh.vertices;
  if (positions.empty()) return corrupt("there are no vertices").in_key(file);
  SHERD_TRY(move_by(scaling(unit), positions).in_key(file));
  SHERD_TRY(collection, open_or_create(location, format == kSwc, report.created));
  const bool fits = std::holds_alternative<SkeletonInfo>(collection.info())
                        ? format == kSwc
                        : std::holds_alternative<LegacyMeshInfo>(collection.info());
  if (fits) SHERD_TRY(refuse_existing(collection, report.id, options.overwrite));
  SHERD_TRY(format == kSwc ? import_skeleton(collection, std::move(skeleton), report)
                           : import_mesh(collection, std::move(mesh), report));
  return report;
}

Result<ObjectFileReport> export_object_from(Collection::State::Location location, const std::string& file,
                                            const ObjectFileOptions& options) {
  SHERD_TRY(format, find_format(options, file));
  if (!options.id) return invalid_argument("an id is needed: which object is to be exported").in_member("id");
  SHERD_TRY(state, Collection::State::open(std::move(location)));
  const Collection collection(std::move(state));
  ObjectFileReport report{.id = *options.id, .is_skeleton = format == kSwc};
  SHERD_TRY(text, format == kSwc ? print_skeleton(collection, options, report)
                                 : print_mesh(collection, format, options, report));
  SHERD_TRY(output, OutputFile::create(file, {.overwrite = options.overwrite, .durable = options.config.durable}));
  SHERD_TRY(output->append(as_bytes(text)));
  SHERD_TRY(output->commit());
  return report;
}

}  // namespace sherd
