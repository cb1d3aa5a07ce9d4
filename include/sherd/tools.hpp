// Operations on whole arrays and hierarchies: copy, check, repair, compact, import, export, picture.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/array.hpp"
#include "sherd/group.hpp"

namespace sherd {

/// Coarser resolutions of an image, each half of the previous one along some axes, or reduced by other factors. If a
/// length is not a multiple of the factor, elements at the edge are computed from fewer elements.
struct Pyramid {
  /// How much coarser a level is than the previous one along an axis; the product over all axes is at most 512.
  struct Factor {
    std::string axis = {};  ///< name of the axis, such as "z"; empty: factors are in the order of the axes
    std::uint64_t factor = 2;
  };
  /// The mean, rounded half to even for integers, or the most frequent value (of several equally frequent values, the
  /// smallest).
  enum class Method : std::uint8_t { mean, mode };
  Method method = Method::mean;
  std::optional<std::uint64_t> levels = {};  ///< default: until the image fits in one chunk
  bool ignore_zero = false;                  ///< with mode: 0 is used only if there is no other value
  /// One per axis, or one for each of x, y and z, or by name (axes not named: 1). Empty: each level halves those of x,
  /// y and z with a spacing less than twice the finest one, so that planes 40 nm apart with pixels of 4 nm are kept
  /// until pixels have 32 nm.
  std::vector<Factor> factors = {};
};

/// What copy() changes; options that are not set are kept from the source. In a hierarchy, chunks and shards apply to
/// the arrays of their rank.
/// A Neuroglancer volume ("precomputed") is made from an array, an OME-NGFF group of one image, or a volume. Copies of
/// volumes are arrays with dimensions c, z, y, x. Chunks are in the order of the copy's dimensions.
struct CopyOptions {
  std::optional<Shape> chunks = {};
  std::optional<Shape> shards = {};  ///< empty: unsharded
  bool auto_shards = false;
  std::optional<std::vector<Json>> codecs = {};
  std::optional<IndexLocation> index_location = {};
  /// Continues an interrupted copy with the same options. If the store has no locks, no other process may be working on
  /// the copy.
  bool resume = false;
  bool overwrite = false;
  std::string source_path = {}, destination_path = {};  ///< below the stores' roots
  std::string format = {};                              ///< of the copy, such as "zarr3"; empty: the source's
  std::string source_format = {};                       ///< of the source; empty: detected
  /// The dimensions of a Zarr array, in its order: x, y, z, c (channel), t (time). Of a source; default: from its
  /// metadata. Of the copy of a volume; default: c, z, y, x, without c if there is one channel.
  std::vector<std::string> axes = {};
  std::optional<Pyramid> pyramid = {};  ///< add coarser resolutions; an array becomes a group
  /// What the elements are: "image" or "segmentation" (integers). It is the `type` of a volume and sets `image-label`
  /// of an OME-NGFF group. Default: as in the source; segmentation with a pyramid of modes or compressed_segmentation.
  std::string type = {};
  std::string encoding = {};  ///< of a volume's chunks: raw, jpeg, png, compressed_segmentation
  /// Nanometres per voxel along x, y and z in the finest resolution; coarser ones keep their factors. Default: as in
  /// the source. Allowed if the source or the copy is a volume, or with a pyramid.
  std::optional<std::array<double, 3>> resolution = {};
  /// The voxel of the finest resolution at which the image begins, along x, y and z. Default, and where it is allowed:
  /// as for `resolution`.
  std::optional<std::array<std::int64_t, 3>> voxel_offset = {};
  /// Of a volume: parameters, "auto" for those of choose_sharding(), or null for unsharded.
  std::optional<Json> sharding = {};
  /// The box of the source to copy, as read by Selection::parse(), with steps of 1. An integer selects one element, and
  /// the copy does not have that dimension. Of an image with several resolutions only the finest is copied. The copy's
  /// metadata record where it begins (docs/copy.md).
  std::optional<std::string> select = {};
  /// The copy's data type. Numbers are rounded to the nearest value; one that is out of range is invalid_argument.
  std::optional<DType> dtype = {};
  /// Remove those members `mesh`, `skeletons` and `segment_properties` from the info of a new volume that refer to
  /// nothing in the copy, because their target is outside the source or does not exist.
  bool drop_dangling = false;
  /// Copy the rest of a hierarchy with nodes that cannot be read, or that consolidated metadata or lists of NCZarr name
  /// and the store lacks, and warn of each; otherwise these are an error.
  bool skip_damaged = false;
  /// Called for what is unknown about the source: the unit of a volume's voxels, or where labels are in their image.
  std::function<void(const std::string&)> note = {};
  Config config = {};  ///< memory_budget bounds the whole copy
};
struct CopyReport {
  std::uint64_t arrays = 0, groups = 0;
  std::uint64_t shards = 0, shards_skipped = 0;  ///< stored objects: written, and already present
  std::uint64_t chunks_moved = 0, chunks_encoded = 0;
  /// The members of a volume's info that refer to nothing in the copy, with their paths. They were removed if
  /// CopyOptions::drop_dangling was set.
  std::vector<std::pair<std::string, std::string>> dangling = {};
  /// What was left out of the copy (damaged nodes, objects that belong to no node, collections of a volume that its
  /// info does not name, labels of an image), and how it was copied: documents of netcdf-c 4.8.0.
  std::vector<std::string> warnings = {};
};
/// Copies an array or a whole hierarchy. Chunks with the same codecs and grid are moved encoded. Bounded memory,
/// parallel, resumable: a finished object of the destination is never written twice (docs/copy.md). An existing
/// destination is a `conflict` unless overwritten or resumed, and so is a file in it that is not part of it.
SHERD_API Result<CopyReport> copy(std::string_view source, std::string_view destination,
                                  const CopyOptions& options = {});
/// Copies an array or hierarchy between stores, from options.source_path to options.destination_path.
SHERD_API Result<CopyReport> copy(std::shared_ptr<Store> source, std::shared_ptr<Store> destination,
                                  const CopyOptions& options = {});

/// One fault found in a store.
struct Fault {
  enum class Severity : std::uint8_t { warning, error } severity = Severity::error;
  std::string code;  ///< such as "index_checksum", "extent_out_of_bounds", "chunk_decode" (docs/check.md)
  std::string key;
  std::optional<std::uint64_t> slot;    ///< in the innermost shard; if shards are nested, the message identifies it
  std::optional<std::uint64_t> offset;  ///< byte offset inside the object
  std::string message;
};
/// How check() repairs what it finds.
struct RepairOptions {
  /// Also empties the slots whose chunks cannot be read, and erases such objects: what was there reads as missing.
  bool drop_broken = false;
  /// Keeps each object that a repair changes or erases, as KEY.sherd-backup.
  bool backup = true;
};
struct CheckOptions {
  std::string path = {};
  std::string format = {};  ///< such as "zarr2"; empty: detected
  bool data = false;        ///< also decode every chunk
  /// As the member `sharding` of an info document: the parameters of shards of values by id at the URL itself. Required
  /// if no info document describes them.
  std::optional<Json> sharding = {};
  /// If set, faults are repaired (docs/check.md), each object in the version that was checked and under its lock. The
  /// report has what was done, and the faults that remain. The store must be writable.
  std::optional<RepairOptions> repair = {};
  Config config = {};
};
/// What a repair has done.
struct Repair {
  std::string action;  ///< such as "index_restored", "tail_cut", "slots_emptied" (docs/check.md)
  std::string key;
  std::string message;
  std::string backup = {};  ///< the key of the old object; empty if it was not kept
};
struct CheckReport {
  std::uint64_t documents = 0, shards = 0, chunks = 0;
  /// Of stored chunks: bytes in use, bytes kept for growth, and bytes to which nothing refers.
  std::uint64_t live_bytes = 0, slack_bytes = 0, dead_bytes = 0;
  std::vector<Fault> faults;
  std::vector<Repair> repaired = {};
  [[nodiscard]] SHERD_API bool ok() const noexcept;  ///< no fault of severity error
  [[nodiscard]] SHERD_API Json to_json() const;
};
/// Verifies every metadata document, key, shard index (bounds, overlaps, checksum) and, with `data`, every chunk. Looks
/// only at what is stored. not_found if the node does not exist; damage is a fault, not an error.
SHERD_API Result<CheckReport> check(std::string_view url, const CheckOptions& options = {});
SHERD_API Result<CheckReport> check(std::shared_ptr<Store> store, const CheckOptions& options = {});

struct CompactOptions {
  std::string path = {};
  std::string format = {};  ///< such as "zarr2"; empty: detected
  Config config = {};
};
struct CompactReport {
  std::uint64_t reclaimed = 0;  ///< bytes by which shards became smaller
  std::uint64_t shards = 0;     ///< that were rewritten
  [[nodiscard]] SHERD_API Json to_json() const;
};
/// Rewrites every shard of a node, and of everything below it, that has bytes to which nothing refers, without these
/// bytes; also shards of values by id. Chunks are moved and not decoded, so memory is bounded by the index of a shard.
/// Readers find the old version of a shard or the new one, and other writers may write meanwhile. Shards inside shards
/// are moved as they are. not_found if the node does not exist; `corrupt` and `unsupported` name a shard that an update
/// would refuse.
SHERD_API Result<CompactReport> compact(std::string_view url, const CompactOptions& options = {});
SHERD_API Result<CompactReport> compact(std::shared_ptr<Store> store, const CompactOptions& options = {});

/// How a file is imported as an array. Formats: nifti, npy, raw, png, pgm, tiff. Images may be a directory or a pattern
/// of files (`slice_*.png`, `slice_%04d.png`) of the same size, in natural order.
struct ImportOptions {
  std::string from = {};            ///< empty: by suffix
  Shape shape = {};                 ///< raw only
  std::optional<DType> dtype = {};  ///< raw only
  bool big_endian = false;          ///< raw only
  bool apply_scale = false;         ///< NIfTI: multiply by scl_slope and add scl_inter, as float
  /// The dimensions of the array, in its order: x, y, z, c (channel), t (time); they become its dimension names.
  std::vector<std::string> axes = {};
  /// The attributes of these names: one entry per dimension, or one for each of x, y and z in the order of the array.
  std::vector<double> spacing = {};
  std::vector<std::string> units = {};  ///< like spacing, or one for all of x, y and z; empty text: none
  /// Nanometres per voxel along x, y and z; sets spacing and units.
  std::optional<std::array<double, 3>> resolution = {};
  /// Called for each part of the file that is left out, and for what is unknown, as in CopyOptions.
  std::function<void(const std::string&)> note = {};
  /// Makes the array an OME-NGFF group, with the array as "0" and coarser resolutions. The dimensions of the file must
  /// be known, from the file or from `axes`; channels are moved before space.
  std::optional<Pyramid> pyramid = {};
  /// The voxel at which the image begins, along x, y and z; becomes the attribute `voxel_offset`.
  std::optional<std::array<std::int64_t, 3>> voxel_offset = {};
  std::string type = {};  ///< as in CopyOptions; with a pyramid or a volume (create.format "precomputed")
  /// For volumes, as in CopyOptions.
  std::string encoding = {};
  std::optional<Json> sharding = {};
  CreateOptions create = {};  ///< shape and dtype are taken from the source
};
/// Creates an array with the elements of a file, in memory bounded by create.config.memory_budget. If it fails, no
/// array remains. Spatial metadata becomes attributes (docs/files.md); create.attributes take precedence. A volume gets
/// its resolution and offset from the spacing, units and affine of the file; made from an image, it has one slice.
/// Returns the array; of a pyramid or a volume, the finest level.
SHERD_API Result<Array> import_file(const std::string& source, std::string_view url, const ImportOptions& options = {});

struct ExportOptions {
  std::string to = {};  ///< empty: by suffix
  bool overwrite = true;
  /// Called with a sentence for each property of the array that the file format cannot express.
  std::function<void(const std::string&)> note = {};
};
/// Writes an array as a file, or as a directory of images, one per plane. A file appears whole or not at all. Uses
/// these settings of the array's config: memory_budget, durable, progress, interrupted.
SHERD_API Result<void> export_file(const Array& array, const std::string& destination,
                                   const ExportOptions& options = {});

/// The header of an .npy file in C order and native byte order.
SHERD_API Result<std::string> npy_header(const DType& dtype, const Shape& shape);

/// An axis of an array: its name (x, y, z, t, c, or the array's own) or its number.
struct AxisId {
  std::string text = {};  ///< empty: not given
  AxisId() = default;
  AxisId(std::string name) : text(std::move(name)) {}  // NOLINT(google-explicit-constructor)
  AxisId(const char* name) : text(name) {}             // NOLINT(google-explicit-constructor)
  template <std::integral T>
  AxisId(T number) : text(std::to_string(number)) {}  // NOLINT(google-explicit-constructor)
};

/// An index on an axis: a number, which counts from the end if negative, or, on the axis c, the name of a channel.
struct AxisIndex {
  std::string text = {};
  AxisIndex() = default;
  AxisIndex(std::string name) : text(std::move(name)) {}  // NOLINT(google-explicit-constructor)
  AxisIndex(const char* name) : text(name) {}             // NOLINT(google-explicit-constructor)
  template <std::integral T>
  AxisIndex(T number) : text(std::to_string(number)) {}  // NOLINT(google-explicit-constructor)
};

/// Which plane of an array is drawn, and how. Axes are known from dimension names, from the OME-NGFF group that
/// contains the array, or from the volume's format. Rows are along y and columns along x. If one of these has an index,
/// or is the axis across which the plane is cut, rows and columns are the remaining two of z, y, x. Without names they
/// are the last two dimensions.
struct PictureOptions {
  /// The axis across which the plane is cut. Default: z, or the first axis if axes have no names.
  AxisId axis = {};
  /// The position on that axis. Default: the middle.
  std::optional<AxisIndex> index = {};
  /// The values drawn as black and white, for every channel. Default: the window in `omero` or `channels`; without one,
  /// the minimum and maximum finite value of the plane (for bool, false and true). Labels are drawn as numbers.
  std::optional<std::pair<double, double>> range = {};
  /// Indices on axes that are not drawn. Default: the middle of z, 0 of others, and all channels, each in its colour.
  std::vector<std::pair<AxisId, AxisIndex>> at = {};
  /// Width of the picture in pixels. Default: that of the plane; if the spacings along rows and columns differ,
  /// elements are repeated so that lengths are in proportion. A side may be 65535 pixels long, or as long as the plane,
  /// and has at least 2.
  std::optional<std::uint64_t> width = {};
};
/// Draws one plane of an array into a PNG file or, if it has the suffix .jpg or .jpeg, a JPEG file. The picture is
/// gray. It is in colour if the axis c holds 3 or 4 uint8 (red, green, blue, opacity) or several channels. Labels have
/// the colours of the image's `image-label`, otherwise built-in colours, 0 black. A picture is never one pixel wide or
/// high: axes of length 1 are not drawn, and if fewer than two axes are left, it is `invalid_argument`.
SHERD_API Result<void> picture(const Array& array, const std::string& file, const PictureOptions& options = {});

}  // namespace sherd
