// Skeletons and meshes as files of other programs: SWC, and PLY and OBJ. Their bytes as values, and files into and out
// of a collection.
//
// parse_…() returns `corrupt` with the line or the byte that is wrong, and `unsupported` for features of the
// format that Sherd does not read. Declared sizes are checked against the file before memory is allocated. Layouts:
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

/// The vertex attributes that SWC has, by cloud-volume's names: "radius" (float32) and "vertex_types" (uint8).
SHERD_API std::span<const neuroglancer::VertexAttribute> swc_attributes();
/// Positions and radii as they are in the file; attributes are swc_attributes(), and edges lead from child to parent.
SHERD_API Result<neuroglancer::Skeleton> parse_swc(std::string_view text);
struct SwcText {
  std::string text;
  std::uint64_t edges_left_out = 0;  ///< that close a cycle, which a tree cannot have
};
/// Every component is a tree whose root is its first vertex. Radii and types are those of the attributes of these
/// names, or 0 if they do not exist. invalid_argument if the attributes do not describe the skeleton.
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
  /// Of the coordinates in the file, a length such as "um". Empty: micrometers in SWC, as its specification has it;
  /// nanometers in PLY and OBJ, which do not say.
  std::string unit = {};
  bool overwrite = false;                             ///< replace an object, or a file
  std::function<void(const std::string&)> note = {};  ///< called with what is left out
  Config config = {};
};
struct ObjectFileReport {
  std::uint64_t id = 0;
  bool is_skeleton = false;  ///< otherwise it is a mesh
  std::uint64_t vertices = 0;
  std::uint64_t parts = 0;               ///< edges or triangles
  bool created = false;                  ///< the collection
  neuroglancer::Position low{}, high{};  ///< in nanometres
};
/// Whether this is one of the formats here: by name, or, if that is empty, by the suffix of the file.
SHERD_API bool is_object_file(std::string_view format, const std::string& file);
/// Adds the skeleton (SWC) or the mesh (PLY, OBJ) of a file to the collection of that kind at `url`. A collection that
/// does not exist is made, unsharded: skeletons with swc_attributes(), legacy meshes. Without an id it is the number
/// that the file's name begins with. `conflict` if the object exists, unless overwritten.
SHERD_API Result<ObjectFileReport> import_object(const std::string& file, std::string_view url,
                                                 const ObjectFileOptions& options = {});
/// Writes the object of options.id as a file; a mesh of several resolutions in its finest one. not_found if it does not
/// exist. The file appears whole or not at all.
SHERD_API Result<ObjectFileReport> export_object(std::string_view url, const std::string& file,
                                                 const ObjectFileOptions& options = {});

}  // namespace sherd
