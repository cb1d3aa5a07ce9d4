// The parts of copy(): what a copy's layout is, which chunks a source has where, how one stored object comes to be,
// and the walk over a hierarchy.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/chunk_writer.hpp"
#include "array/core.hpp"
#include "array/hierarchy.hpp"
#include "array/storage.hpp"
#include "neuroglancer/dual_format.hpp"
#include "ome/image.hpp"
#include "sherd/tools.hpp"
#include "tools/cutout.hpp"
#include "tools/reduce.hpp"

namespace sherd {

/// The cheapest way from one array to the other that is not cheaper than `best`.
CopyWay copy_way(const Array::State& source, const Array::State& destination, CopyWay best);

/// One array on its way.
struct ArrayCopy {
  Array source;
  Array destination;  ///< has no document in its store yet
  CopyWay way;
  bool clips;  ///< the last chunks of one side end where the array does, and those of the other go on: they are encoded
  std::vector<std::uint64_t>
      stored;  ///< the source's stored chunks that lie in the array, as numbers in C order, sorted
  std::vector<std::uint64_t> objects;  ///< the destination's objects that may come of them, likewise
  std::uint64_t bytes = 0;             ///< elements of those objects
  /// Set where what is missing in the source is something else in the destination, so that all of its objects, as many
  /// as these, are to be made.
  std::optional<std::uint64_t> everything = {};
  std::shared_ptr<const ElementMap> map = {};  ///< from the source's elements, where the copy has others

  /// How many objects are to be made, and which of them is number i.
  [[nodiscard]] std::uint64_t object_count() const { return everything.value_or(objects.size()); }
  [[nodiscard]] std::uint64_t object(std::uint64_t i) const { return everything ? i : objects[i]; }
};
/// Lists what is stored of the source.
Result<ArrayCopy> plan_copy(Array source, Array destination, std::shared_ptr<const ElementMap> map = {});

/// What a node of a copy is made of: the one before it, in half its resolution.
struct ReducedFrom {
  std::size_t node;
  Reduction how;
};
/// One node of a copy.
struct NodeCopy {
  std::string path;  ///< below the root of the copy
  NodeDocument document;
  std::vector<Document> stored = {};  ///< the documents that are written; empty until they are made of `document`
  std::optional<ArrayCopy> array = {};
  std::optional<ReducedFrom> reduced = {};
  std::function<Result<void>(const Array&)> fill = {};  ///< of an array that is made of a file
};

/// Whether a copy is one of an image, as a whole, rather than of nodes one by one.
bool is_image_copy(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options);
/// invalid_argument where something is asked for that a copy of arrays cannot have.
Result<void> refuse_volume_options(const CopyOptions& options);
/// The nodes of such a copy, groups before their members, and the links of a new volume that lead to nothing in it: see
/// CopyReport::dangling.
struct ImageCopy {
  std::vector<NodeCopy> nodes;
  std::vector<std::pair<std::string, std::string>> dangling = {};
};
/// `labelled` is the image whose labels the copy is to be.
struct LabelledImage;
Result<ImageCopy> plan_image(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options,
                             const std::optional<LabelledImage>& labelled);
/// The nodes of an image in several resolutions whose finest one, `0`, is filled by a function.
struct FilledImage {
  Image image;
  NodeDocument array;
  std::function<Result<void>(const Array&)> fill;
};
Result<std::vector<NodeCopy>> plan_filled(FilledImage image, const NodeLocation& destination,
                                          const CopyOptions& options);
/// The scales of a volume whose finest one is filled by a function. The axes of the image are x, y, z and c.
struct FilledVolume {
  Image image;
  Shape shape;
  DType dtype;
  std::function<Result<void>(const Array&)> fill;
};
Result<std::vector<NodeCopy>> plan_filled(FilledVolume volume, const NodeLocation& destination,
                                          const CopyOptions& options);
/// Makes the consolidated metadata of each group that has any describe what is copied, regardless of the source's.
Result<void> renew_consolidated_metadata(std::vector<NodeCopy>& nodes, const Format& format);
/// Whether a node's documents are stored as they are planned.
Result<bool> are_stored(Store& store, const NodeCopy& node, const Limits& limits);
/// Whether any of the groups has consolidated metadata.
[[nodiscard]] bool is_consolidated(const std::vector<NodeCopy>& nodes, const Format& format);
/// Adds what the group around the destination, if it keeps a list of its members, notes in them.
Result<void> add_notes(std::vector<NodeCopy>& nodes, const NodeLocation& destination);
/// What identifies a copy: the source, all documents that will be written, and what else decides about its bytes.
[[nodiscard]] std::string fingerprint(const NodeLocation& source, const std::vector<NodeCopy>& nodes,
                                      const CopyOptions& options);
/// Makes nodes that are planned, as copy_nodes() does.
Result<CopyReport> make_nodes(std::vector<NodeCopy> nodes, const NodeLocation& destination, const CopyOptions& options);
/// Makes an OME-NGFF group of a file, in the resolutions of options.pyramid or of the image whose labels it is to be.
Result<void> import_pyramid(const std::string& source, const ImportOptions& options, const NodeLocation& destination,
                            const std::optional<LabelledImage>& labelled);
/// Makes a volume of a file, where `destination` has that format.
Result<void> import_volume(const std::string& source, const ImportOptions& options, const NodeLocation& destination);
/// The location of a copy's source; if the copy becomes a volume, the volume counterpart of a dual-format array.
Result<NodeLocation> source_of_copy(const NodeLocation& source, const NodeLocation& destination,
                                    const CopyOptions& options);
/// The axes of the Zarr array's dimensions that such a counterpart knows. invalid_argument if `given` says otherwise.
Result<std::vector<std::string>> axes_of_counterpart(const VolumeCounterpart& counterpart,
                                                     const std::vector<std::string>& given);
/// What the volume counterpart of a copy at `to`, whose document else exists, says of itself: the same as the source's.
struct NodeOfCopy {
  const NodeLocation& location;
  const NodeDocument& document;
};
Result<NewCounterpart> counterpart_of_copy(const NodeOfCopy& source, const NodeOfCopy& to);
/// The document of a new array, as the destination's format lays it out. Keys stay alike as far as the format lets
/// them: what they begin with is its own.
Result<NodeDocument> new_node(const NodeLocation& destination, ArraySpec spec, const Json& attributes);
/// The attributes of an array's copy: in Zarr v3 `_FillValue` is what xarray requires there, elsewhere the number.
Json copied_attributes(const Format& from, const Format& to, const NodeDocument& array);
/// Adds to `copied`, the metadata of a copy of an array in another format, what Spelling keeps or restores. A spelling
/// with which the metadata would describe other data is not restored.
Result<void> carry_spelling(const Format& from, const NodeDocument& source, const NodeLocation& destination,
                            Json& copied);
/// The metadata of a copy of a group in another format, with what Spelling keeps or restores.
Result<Json> copied_group(const NodeLocation& location, const NodeDocument& source, const NodeLocation& destination);

/// Copies the node at `source`, whose format knows it, and all below it to `destination` (writable).
Result<CopyReport> copy_nodes(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options);

/// The array of a copy of `source` as a copy of that, in the format of `source`, will express it: without shards if the
/// source has none.
Result<ArraySpec> copied_back(ArraySpec copy, const Array::State& source);
/// Codecs without what not every format says of zstd: its frames say by themselves whether they have a checksum.
[[nodiscard]] std::vector<CodecSpec> without_checksums(std::vector<CodecSpec> codecs);
/// The array that a copy at `destination` becomes: the source's, or the part of it, with other chunks and codecs as far
/// as options name any.
Result<ArraySpec> copied_spec(const Array::State& source, const NodeLocation& destination, const CopyOptions& options,
                              const Cutout* cutout = nullptr);
/// The same array with chunks in C order; nullopt where they are already, or are inside other codecs.
Result<std::optional<ArraySpec>> in_c_order(ArraySpec spec);
/// Whether its last chunks end where the array does.
bool is_clipped(const Array::State& state);

/// What one call has to work with.
struct CopyShares {
  Config config;                ///< of the destination: threads, interrupted, no progress
  std::size_t lanes = 1;        ///< objects under way
  std::uint64_t box_bytes = 0;  ///< elements of one object in memory
  std::size_t window = 1;       ///< encoded batches of one object under way
  std::uint64_t reading = 0;    ///< the budget of one read
};
CopyShares share_memory(const ArrayCopy& task, const Config& config);

/// Stored chunks of a source, and what becomes of them.
struct SourceLeaf {
  Box box;             ///< of the copy, into which it goes; may reach beyond it
  Extent extent;       ///< inside the object
  std::size_t object;  ///< see LeafFinder::objects
};
/// Finds the stored chunks that meet a box among what is known to be stored.
class LeafFinder {
 public:
  struct Object {
    std::string key;
    Generation generation;
  };
  using Visit = std::function<Result<bool>(const SourceLeaf&)>;

  /// The box is one of the copy; the configuration, which must outlive this, is for what is read of indices.
  LeafFinder(const ArrayCopy& task, Box box, const Config& config);
  /// Calls `visit` for every chunk until it returns false. A shard that can only be decoded whole counts as one chunk.
  Result<void> visit(const Visit& visit);
  /// The objects met so far.
  [[nodiscard]] const std::vector<Object>& objects() const noexcept { return objects_; }

 private:
  Result<bool> visit_objects(const std::vector<Shape>& cells, const Visit& visit);
  const ArrayCopy& task_;
  const Array::State& state_;
  const Config& config_;
  const Box box_;
  std::vector<Object> objects_;
};

/// What a call has done so far.
struct CopyCounts {
  std::atomic<std::uint64_t> written{0}, skipped{0}, moved{0}, bytes{0};
  std::shared_ptr<Recorder> encoding = std::make_shared<Recorder>();  ///< counts encoded chunks, at every depth
};

/// The memory of variable-length elements, known only after decoding, estimated by what is stored of them and
/// by what was met so far. Thread-safe.
class TextSizes {
 public:
  /// Elements of so many bytes, with the text of so many stored ones; before anything was met, more than there can be.
  [[nodiscard]] std::uint64_t decoded(std::uint64_t elements, std::uint64_t stored) const noexcept;
  /// These have been decoded of so many stored bytes.
  void met(std::uint64_t stored, std::span<const std::byte> elements) noexcept;

 private:
  std::atomic<std::uint64_t> ratio_{0};  ///< the largest met
};

/// Returns free memory to the system while chunks are encoded. Codecs allocate and free large blocks in every call,
/// of changing sizes and on several threads; the C library keeps what becomes free between others, so that a process
/// with few bytes in use holds more the more objects it makes. Thread-safe.
class HeapTrimmer {
 public:
  explicit HeapTrimmer(std::uint64_t memory_budget) noexcept;
  /// So many bytes of elements have been encoded; trims the heap if enough have been since it was last trimmed.
  void encoded(std::uint64_t bytes) noexcept;

 private:
  const std::uint64_t every_;
  std::atomic<std::uint64_t> since_{0};
};

/// A copy that is not yet at its destination.
struct StagedCopy {
  ClearOptions clear;
  std::string note;                                       ///< says what is being copied
  std::vector<std::string> below = {};                    ///< the paths of its members
  std::function<Result<void>(const NodeLocation&)> make;  ///< all of it, there
};
/// Makes a copy next to its destination and puts it there when it is whole. What fails because of the
/// destination stays if the options say so, and can be resumed.
Result<void> make_staged(const NodeLocation& destination, const StagedCopy& copy, const CopyOptions& options);

/// Completes a copy whose document is at the destination already: makes the objects that are missing there, and erases
/// what an earlier run left. False, and nothing is done, if an earlier run had not moved its copy to the destination.
Result<bool> complete_staged(const NodeLocation& destination, const StagedCopy& copy);

/// Where objects are that are not chunks of an array.
struct ObjectsLocation {
  std::shared_ptr<Store> store;
  std::string path;
};
/// Copies every object below a path as it is; where `resume` is set, those that are not there yet.
Result<void> copy_below(const ObjectsLocation& from, const ObjectsLocation& to, bool resume, CopyCounts& counts,
                        const Config& config);
/// Where a collection is to come, and whether one exists there.
struct CollectionCopy {
  NodeLocation location;
  bool is_there = false;
};
/// Copies a collection of Neuroglancer's objects to a location whose format is that of volumes.
Result<CopyReport> copy_collection(const ObjectsLocation& from, const CollectionCopy& to, const CopyOptions& options);

/// Collects encoded chunks and stores many of them at a time. Thread-safe.
class ChunkBatch {
 public:
  /// Puts what it has whenever that is so many bytes. The storage must outlive it.
  ChunkBatch(const ChunkStorage& storage, std::uint64_t bytes) : storage_(storage), most_(bytes) {}
  Result<void> put(const std::string& key, Buffer bytes);
  Result<void> flush();

 private:
  const ChunkStorage& storage_;
  const std::uint64_t most_;
  std::mutex mutex_;  ///< guards what follows
  std::vector<std::pair<std::string, Buffer>> chunks_;
  std::uint64_t bytes_ = 0;
};

/// Makes the objects of one array's copy.
class ObjectCopy {
 public:
  /// References must outlive it.
  ObjectCopy(const ArrayCopy& task, const CopyShares& shares, CopyCounts& counts);

  /// Makes the object of this number in the destination's grid, if there is anything to put into it. Where chunks
  /// share objects that have no shape, some are collected first, to be stored together.
  Result<void> copy(const CellAccess& at);
  /// Puts those that wait.
  Result<void> finish() { return collected_ ? collected_->flush() : Result<void>(); }

 private:
  struct Slot;
  struct Slots;
  Result<void> copy_whole(const CellAccess& at);
  Result<void> move_one(const CellAccess& at);
  Result<void> move_into_shard(const CellAccess& at);
  Result<void> move_slots(const Slots& all, std::span<const Slot> slots, const LeafFinder& finder, ShardWriter& writer);
  Result<EncodedBatch> fetch(const Slots& all, std::span<const Slot> slots, const LeafFinder& finder);
  Result<void> encode_one(const CellAccess& at);
  Result<void> put_part(const CellAccess& at, ByteSource& source, Extent part);
  Result<void> encode_shard(const CellAccess& at);
  /// False if nothing was stored, because every chunk equals the fill value.
  Result<bool> write_shard(const Slots& all, const std::function<Result<void>(ShardWriter&)>& fill);
  Result<void> encode_boxes(const Slots& all, std::span<const Slot> slots, ShardWriter& writer);
  Result<void> encode_box(const Slots& all, std::span<const Slot> slots, ShardWriter& writer);
  Result<EncodedBatch> encode_one_slot(const Slots& all, const Slot& slot);
  [[nodiscard]] static std::uint64_t stored_bytes(std::span<const Slot> slots);
  [[nodiscard]] std::uint64_t bytes_of(const Slots& all, std::span<const Slot> slots) const;
  Result<void> read_elements(const Box& box, std::byte* to, VarBytesArena& arena);
  Result<WriteSource> read_box(const Slots& all, const Box& cells, Buffer& elements, VarBytesArena& arena);
  Result<EncodedBatch> encode_batch(const Slots& all, std::span<const Slot> slots, const Box& cells,
                                    const WriteSource& from);
  Result<std::vector<Slot>> touched(Slots& all);
  Result<std::shared_ptr<ByteSource>> open_again(const LeafFinder::Object& object);

  const ArrayCopy& task_;
  const Array::State& to_;
  const CopyShares& shares_;
  CopyCounts& counts_;
  Config encoding_;
  Array source_;
  ReadBudget budget_;
  const ChunkReader reader_;
  const ChunkWriter writer_;
  Budget under_way_;  ///< elements, or encoded chunks that are moved; a chunk larger than it is alone
  TextSizes text_;
  HeapTrimmer heap_;
  std::optional<ChunkBatch> collected_;  ///< where a hash chooses the objects of the destination
};

}  // namespace sherd
