// One stored array as a variable: its type, attributes and storage. The model adds its dimensions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "netcdf/model.hpp"
#include "netcdf/nodes.hpp"
#include "netcdf/notes.hpp"

namespace sherd::netcdf {

/// Properties shared by all nodes of a dataset.
struct Reading {
  NodeLocation location;
  std::shared_ptr<const NodeLocation> shared_location;  ///< a copy of `location`
  std::shared_ptr<OpenedArrays> opened = std::make_shared<OpenedArrays>();
  Mode mode;
  Generation generation = Generation::pure;
  std::optional<std::array<int, 3>> release;  ///< of netcdf-c that wrote it

  /// Whether NCZarr's metadata are used.
  [[nodiscard]] bool noted() const noexcept { return generation != Generation::pure; }
  /// Whether netcdf-c wrote it, in any mode.
  [[nodiscard]] bool by_netcdf() const noexcept { return noted() || release; }
};

/// A variable without dimensions, and what its array says about them.
struct MadeVariable {
  std::unique_ptr<Variable::State> state = nullptr;
  Shape shape = {};
  std::vector<std::optional<std::string>> dimension_names = {};
};

/// The variable of a stored array. Errors say why the type or the storage is not supported; an array of a type that
/// netCDF lacks is added to `others`. Moves the node's document into the array.
Result<MadeVariable> make_variable(const Reading& reading, StoredNode& node, const std::optional<ArrayNote>& note,
                                   Warnings& warnings, std::vector<Array>& others);

/// Where a variable's array is opened. netcdf-c 4.9.3 and later swaps the bytes of the fill value that it reads for a
/// missing chunk of big-endian elements, so in NCZarr of Zarr v2 such chunks are stored. In Zarr v2 without a fill
/// value a missing chunk is undefined (zarr-python 2 returns what was in memory), so all chunks that are written are
/// stored.
[[nodiscard]] NodeLocation variable_location(NodeLocation location, const Mode& mode, const NodeDocument& node);

/// Sets what a variable's Storage says about codecs.
void describe_codecs(const Array& array, Storage& storage);

/// The attributes that netCDF shows, with their types. `fill` is the type of `_FillValue` if the node is a variable.
[[nodiscard]] std::vector<Attribute> attributes_of(const Reading& reading, const StoredNode& node,
                                                   std::optional<Type> fill, Warnings& warnings);

}  // namespace sherd::netcdf
