// A dataset being written: its definitions, and the metadata that represent them.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "array/nodes.hpp"
#include "netcdf/notes.hpp"
#include "node/node_location.hpp"
#include "sherd/netcdf_writer.hpp"

namespace sherd::netcdf {

struct GroupDefinition;

/// The names of attributes that were set since a node was opened or stored; nullopt for a new node, whose attributes
/// were all set here.
using Touched = std::optional<std::set<std::string, std::less<>>>;

struct DimensionDefinition {
  std::string name;
  GroupDefinition* group = nullptr;
  std::uint64_t length = 0;
  bool unlimited = false;
  bool anonymous = false;                   ///< not defined in its group's metadata
  std::optional<std::uint64_t> noted = {};  ///< the length when the dimensions were opened or stored
};

struct VariableDefinition {
  NewVariable options;
  std::vector<DimensionDefinition*> dimensions;
  std::uint64_t string_length = 0;  ///< in bytes; for strings in Zarr v2
  std::optional<Array> array = {};  ///< set once it is stored
  /// Of the array as the writer read or made it last. The handle follows changes by others.
  Shape known_shape = {};
  bool changed = false;  ///< since it was stored
  bool listed = false;   ///< in the stored metadata of its group
  Touched touched = {};
  std::string refused = {};        ///< why its elements cannot be written; empty if they can
  std::vector<Box> unfilled = {};  ///< new parts of the array that do not have the fill value yet, if it is a text

  [[nodiscard]] Shape shape() const;
  [[nodiscard]] const Values* attribute(std::string_view name) const noexcept;
};

struct GroupDefinition {
  std::string name, path = "/";
  GroupDefinition* parent = nullptr;
  std::vector<std::unique_ptr<DimensionDefinition>> dimensions = {};
  std::vector<Attribute> attributes = {};
  std::vector<std::unique_ptr<VariableDefinition>> variables = {};
  std::vector<std::unique_ptr<GroupDefinition>> groups = {};
  bool stored = false, changed = true;
  bool listed = false;  ///< in the stored metadata of its group
  Touched touched = {};
  std::optional<GroupNote> known = {};  ///< its note as the writer read or stored it last

  [[nodiscard]] DimensionDefinition* dimension(std::string_view called) const noexcept;
  [[nodiscard]] bool has_member(std::string_view called) const noexcept;
};

/// The group to which a path leads, and the member's name.
struct SplitPath {
  std::string_view group, name;
};
[[nodiscard]] SplitPath split_path(std::string_view path);
[[nodiscard]] Result<GroupDefinition*> find_group(GroupDefinition& root, std::string_view path);
[[nodiscard]] Result<VariableDefinition*> find_variable(GroupDefinition& root, std::string_view path);

/// The form in which metadata are written.
struct Form {
  NodeLocation location;  ///< of the root
  Mode mode;
  bool unlimited = false;  ///< whether any dimension is, so that readers of the newest generation need their own notes
  /// Where an existing dataset in Zarr v2 has its notes: those of netcdf-c 4.9.3 and later only in attributes.
  bool in_documents = true, in_attributes = false;
  ShardLengths shards = {};  ///< of new variables without their own
  bool little_only = false;  ///< its readers ignore the byte order, since releases before 4.9.3 did not swap bytes
  /// Whether groups and variables have their notes in attributes.
  [[nodiscard]] bool notes_attributes() const noexcept { return !mode.pure && (v3() || unlimited || in_attributes); }
  [[nodiscard]] bool v3() const noexcept { return location.format->name() == "zarr3"; }
  [[nodiscard]] NodeLocation at(const std::string& path) const;
};

/// Whether strings have any length: in Zarr v3, and in pure Zarr v2 as xarray stores them. netcdf-c only knows strings
/// of a fixed size.
[[nodiscard]] constexpr bool has_variable_strings(const Mode& mode, bool v3) {
  return v3 || (mode.pure && !mode.compat_seed);
}

/// Whether a variable is better stored without a fill value if all its elements are written. Readers of pure Zarr v2
/// take a fill value for the mark of missing elements: xarray would make whole numbers floats.
[[nodiscard]] bool needs_no_fill(const Mode& mode, const NewVariable& variable);

/// All metadata of a group. For a stored group, only those attributes that were set.
[[nodiscard]] Result<Json> group_metadata(const Form& form, const GroupDefinition& group);
/// The attributes of a variable of this group as stored, including the notes.
[[nodiscard]] Result<Json> stored_attributes(const Form& form, const std::string& group,
                                             const VariableDefinition& variable);
/// The metadata of a new variable's array, lowered.
[[nodiscard]] Result<NodeDocument> new_variable(const Form& form, const std::string& group,
                                                const VariableDefinition& variable);
/// The value stored for elements that are never written, if the array's fill value cannot express it.
[[nodiscard]] std::optional<std::string> text_fill(const VariableDefinition& variable);

}  // namespace sherd::netcdf
