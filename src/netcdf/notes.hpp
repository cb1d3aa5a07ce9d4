// Reads NCZarr's own metadata, whichever generation of netcdf-c wrote them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "netcdf/nodes.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

struct DimensionNote {
  std::string name;
  std::uint64_t length = 0;
  bool unlimited = false;
  bool operator==(const DimensionNote&) const = default;
};
struct GroupNote {
  std::vector<DimensionNote> dimensions;
  std::vector<ListedMember> members;  ///< variables, then groups
  bool operator==(const GroupNote&) const = default;
};
struct ArrayNote {
  std::vector<std::string> dimensions;  ///< with their paths
  bool scalar = false;
  bool characters = false;  ///< of single bytes; only noted in Zarr v3
  bool no_fill = false;     ///< elements that were never written are undefined; only noted in Zarr v3
};
struct AttributeNotes {
  std::vector<std::pair<std::string_view, const std::string*>> types;  ///< by name, sorted; texts of the node
  const Json* stored = nullptr;  ///< the object that has them, in its own order; nullptr if there is none
  [[nodiscard]] const std::string* type_of(std::string_view attribute) const noexcept;
};

/// Adds a warning about a node, with its path.
void warn(Warnings& warnings, const StoredNode& node, const std::string& what);

/// Determined from the root; `pure` if there are no NCZarr metadata.
[[nodiscard]] Generation generation_of(const StoredNode& root, bool v1);
/// nullopt if the node has none or, with a warning, if its note has another form.
[[nodiscard]] std::optional<GroupNote> group_note(const StoredNode& node, Warnings& warnings);
[[nodiscard]] std::optional<ArrayNote> array_note(const StoredNode& node, Warnings& warnings);
[[nodiscard]] AttributeNotes attribute_notes(const StoredNode& node);
AttributeNotes attribute_notes(StoredNode&& node) = delete;  // its texts are those of the node

/// The release of netcdf-c in `_NCProperties`, such as {4, 9, 1}; nullopt if none is named. "4.9.3-development", which
/// is in netCDF4 1.6.5, counts as 4.9.2 unless the metadata are those of 4.9.3.
[[nodiscard]] std::optional<std::array<int, 3>> release_in(std::string_view properties, Generation generation) noexcept;

}  // namespace sherd::netcdf
