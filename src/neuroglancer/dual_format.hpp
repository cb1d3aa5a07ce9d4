// Dual-format arrays: a Zarr v3 array and a volume whose shards are the same objects (docs/format/dual-format.md). Each
// is the counterpart of the other. Writes go through the Zarr array, whichever of the two was opened; reads of one do
// not use the other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "array/storage.hpp"
#include "neuroglancer/volume_view.hpp"

namespace sherd {

/// The member of the Zarr array's attributes, and of the volume's info, that says so.
inline constexpr std::string_view kLayoutMember = "sherd_layout";
inline constexpr std::string_view kDualFormat = "zarr+neuroglancer";
/// The document of an array, or the info of a volume, without that member.
[[nodiscard]] Json without_layout(Json document);

/// The names that shards of the Zarr array have in its counterpart, the volume.
struct CounterpartKeys {
  VolumeView view;
  ChunkGrid volume;
  std::string prefix;       ///< of the names
  NodeLocation location;    ///< of the volume's first scale
  ArraySpec spec;           ///< likewise
  bool stores_all = false;  ///< the fill value is not the volume's, so that every chunk must be stored

  /// Of the shard in this cell of the array's grid.
  [[nodiscard]] std::string key(const Shape& cell) const { return prefix + volume.key(volume_cell(cell)); }
  [[nodiscard]] std::uint64_t first_id(const Shape& cell) const { return volume.first_id(volume_cell(cell)); }
  /// The cell of the array's grid; nullopt if it is not such a key.
  [[nodiscard]] std::optional<Shape> parse(std::string_view key) const;

  [[nodiscard]] Shape volume_cell(const Shape& cell) const;
};

/// The same store, in which the shards of the Zarr array have both names.
std::shared_ptr<Store> dual_format_store(std::shared_ptr<Store> store, std::shared_ptr<const CounterpartKeys> keys,
                                         ChunkGrid grid, std::string prefix);

/// The keys of a writable dual-format array; null for every other array, and for its counterpart.
[[nodiscard]] const CounterpartKeys* counterpart_keys(const Array::State& array) noexcept;
/// The array that writes go through: the counterpart of a writable dual-format volume, otherwise the array itself.
[[nodiscard]] const Array::State& written_array(const Array::State& array) noexcept;

/// The volume of a dual-format array.
struct VolumeCounterpart {
  NodeLocation location;                ///< of the volume
  Json info;                            ///< its document
  std::vector<std::size_t> dimensions;  ///< the array's that is x, y, z and, if it has one, the channel
};
/// nullopt if `node` is not a dual-format array, or has no counterpart. `corrupt` if the two do not agree.
Result<std::optional<VolumeCounterpart>> find_volume_counterpart(const NodeLocation& location,
                                                                 const NodeDocument& node);

struct NewCounterpart {
  Json volume = {};         ///< CreateOptions::volume, or null
  bool stores_all = false;  ///< also chunks that hold only the fill value
  /// The info of the volume that a copy is made of, or null. Its sharding is kept if the shards are still those, and so
  /// is what `volume` cannot say.
  Json info = {};
};
/// Makes a new array a dual-format one: marks its document and makes the volume's. invalid_argument names the condition
/// that is not met.
Result<void> add_counterpart(const NodeLocation& location, NodeDocument& node, const NewCounterpart& wanted);

}  // namespace sherd
