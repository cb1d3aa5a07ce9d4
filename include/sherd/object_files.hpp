// Skeletons and meshes as files of other programs: SWC, PLY and OBJ. Converts their bytes to and from values, and
// imports and exports files into and from a collection.
//
// parse_…() returns `corrupt` with the line or byte that is wrong, and `unsupported` for features of the format
// that Sherd does not read. Declared sizes are checked against the file before memory is allocated. Layouts:
// docs/files.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/export.hpp"
#include "sherd/neuroglancer.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// The vertex attributes of SWC, named as in cloud-volume: "radius" (float32) and "vertex_types" (uint8).
SHERD_API std::span<const neuroglancer::VertexAttribute> swc_attributes();
/// Positions and radii are as in the file; attributes are swc_attributes(), and edges go from child to parent.
SHERD_API Result<neuroglancer::Skeleton> parse_swc(std::string_view text);
struct SwcText {
  std::string text;
  std::uint64_t edges_left_out = 0;  ///< edges that close a cycle, which a tree cannot have
};
/// Every component becomes a tree rooted at its first vertex. Radii and types are taken from the attributes with these
/// names, or are 0 without them. invalid_argument if the attributes do not match the skeleton.
SHERD_API Result<SwcText> print_swc(const neuroglancer::Skeleton& skeleton,
                                    std::span<const neuroglancer::VertexAttribute> attributes);

/// ASCII or binary of either byte order. Elements and properties other than positions and faces are skipped; faces of
/// more than three vertices become fans of triangles.
SHERD_API Result<neuroglancer::Mesh> parse_ply(neuroglancer::Bytes bytes);
/// Binary, little-endian.
SHERD_API Result<std::string> print_ply(const neuroglancer::Mesh& mesh);
/// Vertices and faces; other lines are skipped.
SHERD_API Result<neuroglancer::Mesh> parse_obj(std::string_view text);
SHERD_API Result<std::string> print_obj(const neuroglancer::Mesh& mesh);

struct ObjectFileOptions {
  std::string format = {};  ///< swc, ply or obj; empty: by suffix
  std::optional<std::uint64_t> id = {};
  /// The unit of the coordinates in the file, such as "um". Default: micrometers in SWC, as its specification says;
  /// nanometers in PLY and OBJ, which have no unit.
  std::string unit = {};
  bool overwrite = false;                             ///< replace an object, or a file
  std::function<void(const std::string&)> note = {};  ///< called for each part that is left out
  Config config = {};
};
struct ObjectFileReport {
  std::uint64_t id = 0;
  bool is_skeleton = false;  ///< otherwise it is a mesh
  std::uint64_t vertices = 0;
  std::uint64_t parts = 0;               ///< edges or triangles
  bool created = false;                  ///< the collection was created
  neuroglancer::Position low{}, high{};  ///< in nanometres
};
/// Whether this is one of these formats: by name, or, if the name is empty, by the suffix of the file.
SHERD_API bool is_object_file(std::string_view format, const std::string& file);
/// Adds the skeleton (SWC) or the mesh (PLY, OBJ) of a file to the collection of that kind at `url`. A collection that
/// does not exist is created, unsharded: skeletons with swc_attributes(), or legacy meshes. The default id is the
/// number at the beginning of the file's name. `conflict` if the object exists, unless overwritten.
SHERD_API Result<ObjectFileReport> import_object(const std::string& file, std::string_view url,
                                                 const ObjectFileOptions& options = {});
/// Writes the object options.id as a file; of a mesh with several resolutions, the finest. not_found if the object does
/// not exist. The file appears whole or not at all.
SHERD_API Result<ObjectFileReport> export_object(std::string_view url, const std::string& file,
                                                 const ObjectFileOptions& options = {});

}  // namespace sherd
