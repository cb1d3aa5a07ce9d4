// An array in two formats at once: a Zarr v3 array and a volume of Neuroglancer's that share the objects of their
// shards (docs/format/two-formats.md). Everything is written through the Zarr array, whichever was opened; what is read
// is read as if there were no other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "array/core.hpp"
#include "array/state.hpp"
#include "array/volume_view.hpp"

namespace sherd {

/// The member that ties the two: of the Zarr array's attributes, and of the volume's info.
inline constexpr std::string_view kLayoutMember = "sherd_layout";
inline constexpr std::string_view kTwoFormats = "zarr+neuroglancer";
/// Whether `object` has that member; `unsupported` where it has another value.
[[nodiscard]] Result<bool> is_two_formats(const Json& object);

/// The format of that name as the store of `place` has it; nullptr where there is none.
Result<std::shared_ptr<const Format>> format_called(const NodePlace& place, std::string_view name);

/// The second names of an array's shards.
struct TwinKeys {
  VolumeView view;
  ChunkGrid volume;
  std::string prefix;                    ///< of the names
  std::string document;                  ///< the key of the volume's
  bool stores_all = false;               ///< chunks that hold nothing but the fill value, too: it is not the volume's
  std::shared_ptr<const Format> format;  ///< of the volume, as are the rest
  std::string path;
  ArraySpec spec;
  Generation generation;  ///< of its document when it was opened

  /// Of the shard in this cell of the array's grid.
  [[nodiscard]] std::string key(const Shape& cell) const { return prefix + volume.key(volume_cell(cell)); }
  [[nodiscard]] std::uint64_t first_id(const Shape& cell) const { return volume.first_id(volume_cell(cell)); }
  /// The cell of the array's grid; nullopt for what is no such key.
  [[nodiscard]] std::optional<Shape> parse(std::string_view key) const;

  [[nodiscard]] Shape volume_cell(const Shape& cell) const;
};

/// What makes a handle write both names.
struct Twin {
  std::optional<TwinIndex> index;        ///< of the shards, for the Zarr array
  std::shared_ptr<const TwinKeys> keys;  ///< likewise
  std::shared_ptr<const Array> array;    ///< through which is written, for the volume's
};
/// The other half of a writable array that is laid out for two formats; nothing where it is not. `corrupt` where the
/// two documents do not agree, or there is only one.
Result<Twin> find_twin(const NodePlace& place, const NodeDocument& node, const ChunkLayout& layout);
/// The same store, in which shards have two names.
std::shared_ptr<Store> twin_store(std::shared_ptr<Store> store, std::shared_ptr<const TwinKeys> keys, ChunkGrid grid,
                                  std::string prefix);

/// The volume that a Zarr array is, too.
struct VolumeHalf {
  NodePlace place;                      ///< of the volume
  Json info;                            ///< its document
  std::vector<std::size_t> dimensions;  ///< the array's that is x, y, z and, where it has one, the channel
};
/// nullopt where `node` says nothing of one, or none stands there. `corrupt` where the two do not agree.
Result<std::optional<VolumeHalf>> find_volume_half(const NodePlace& place, const NodeDocument& node);

struct NewTwin {
  Json volume = {};         ///< CreateOptions::volume, or null
  bool stores_all = false;  ///< also chunks that hold nothing but the fill value
  /// Of the volume that a copy is made of, or null: its sharding is kept where shards are still that, and so is what
  /// has no place in `volume`.
  Json info = {};
};
/// Lays a new array out for two formats: marks its document and makes the volume's. invalid_argument where a condition
/// fails, which the error names.
Result<void> add_twin(const NodePlace& place, NodeDocument& node, const NewTwin& wanted);
/// Where `node` has a volume's document: finds out whether objects below the place can have two names, which leaves
/// nothing behind. `unsupported` where they cannot.
Result<void> check_links(const NodePlace& place, const NodeDocument& node);
/// Writes the volume's document, where `node` has one.
Result<void> write_twin(const NodePlace& place, const NodeDocument& node);

/// `unsupported` for changes of shape, which would leave the volume behind.
Result<void> refuse_resize(const NodePlace& place, const NodeDocument& node);
/// New attributes, with the tie that the present ones have.
[[nodiscard]] Json keep_tie(const Json& present, Json attributes);

}  // namespace sherd
