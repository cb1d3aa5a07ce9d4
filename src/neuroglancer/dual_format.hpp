// Dual-format arrays: a Zarr v3 array and a volume whose shards are the same objects (docs/format/dual-format.md). Each
// is the counterpart of the other. Writes always go through the Zarr array, even if the volume was opened; reads of one
// do not use the other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "array/storage.hpp"
#include "neuroglancer/volume_view.hpp"

namespace sherd {

/// The member of the Zarr array's attributes, and of the volume's info, that marks them.
inline constexpr std::string_view kLayoutMember = "sherd_layout";
inline constexpr std::string_view kDualFormat = "zarr+neuroglancer";
/// The document of an array, or the info of a volume, without that member.
[[nodiscard]] Json without_layout(Json document);

/// The names of the Zarr array's shards in its counterpart, the volume.
struct CounterpartKeys {
  VolumeView view;
  ChunkGrid volume;
  std::string prefix;       ///< of the names
  NodeLocation location;    ///< of the volume's first scale
  ArraySpec spec;           ///< of the volume's first scale
  bool stores_all = false;  ///< the volume has another fill value, so that every chunk must be stored

  /// Of the shard in this cell of the array's grid.
  [[nodiscard]] std::string key(const Shape& cell) const { return prefix + volume.key(volume_cell(cell)); }
  [[nodiscard]] std::uint64_t first_id(const Shape& cell) const { return volume.first_id(volume_cell(cell)); }
  /// The cell of the array's grid; nullopt if the key is not one of these names.
  [[nodiscard]] std::optional<Shape> parse(std::string_view key) const;

  [[nodiscard]] Shape volume_cell(const Shape& cell) const;
};

/// `store`, in which the shards of the Zarr array have both names.
std::shared_ptr<Store> dual_format_store(std::shared_ptr<Store> store, std::shared_ptr<const CounterpartKeys> keys,
                                         ChunkGrid grid, std::string prefix);

/// The keys of a writable dual-format array; null for other arrays and for its counterpart.
[[nodiscard]] const CounterpartKeys* counterpart_keys(const Array::State& array) noexcept;
/// The array that receives writes: the counterpart of a writable dual-format volume, otherwise the array itself.
[[nodiscard]] const Array::State& written_array(const Array::State& array) noexcept;

/// The volume of a dual-format array.
struct VolumeCounterpart {
  NodeLocation location;                ///< of the volume
  Json info;                            ///< its document
  std::vector<std::size_t> dimensions;  ///< the array's dimension for each of x, y, z and, if present, the channel
};
/// nullopt if `node` is not a dual-format array, or lacks its counterpart. `corrupt` if the two do not match.
Result<std::optional<VolumeCounterpart>> find_volume_counterpart(const NodeLocation& location,
                                                                 const NodeDocument& node);

struct NewCounterpart {
  Json volume = {};         ///< CreateOptions::volume, or null
  bool stores_all = false;  ///< even chunks that hold only the fill value
  /// The info of a volume that is copied, or null. Its sharding is kept if the shards are still the same, and so are
  /// members that `volume` cannot express.
  Json info = {};
};
/// Makes a new array dual-format: marks its document and creates the volume's. invalid_argument names the condition
/// that is not met.
Result<void> add_counterpart(const NodeLocation& location, NodeDocument& node, const NewCounterpart& wanted);

}  // namespace sherd
