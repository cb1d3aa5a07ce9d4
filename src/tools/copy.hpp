// The parts of copy(): the layout of a copy, the location of a source's chunks, how each stored object is made, and the
// walk over a hierarchy.
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
#include "array/storage.hpp"
#include "base/url.hpp"
#include "neuroglancer/dual_format.hpp"
#include "node/creation.hpp"
#include "ome/image.hpp"
#include "sherd/tools.hpp"
#include "tools/cutout.hpp"
#include "tools/reduce.hpp"

namespace sherd {

/// The cheapest way of copying from one array to the other that is not cheaper than `best`.
CopyWay copy_way(const Array::State& source, const Array::State& destination, CopyWay best);

using ReportProgress = std::function<void(const Progress&)>;
/// Writes the elements of an array. The function for progress may be empty.
using FillArray = std::function<Result<void>(const Array&, const ReportProgress&)>;

/// An array being copied.
struct ArrayCopy {
  Array source;
  Array destination;  ///< its document is not in its store yet
  CopyWay way;
  bool clips;  ///< the last chunks of only one side end where the array does: these chunks must be encoded again
  std::vector<std::uint64_t>
      stored;  ///< the source's stored chunks that are inside the array, as numbers in C order, sorted
  std::vector<std::uint64_t> objects;  ///< the destination's objects that may result from them, likewise
  std::uint64_t bytes = 0;             ///< of the elements of those objects
  /// Set if missing elements of the source have another value in the destination, so that all of its objects must be
  /// made: their number.
  std::optional<std::uint64_t> everything = {};
  std::shared_ptr<const ElementMap> map = {};  ///< from the source's elements, if the copy's are different
  /// Whether one of the stored chunks did not exist any more.
  std::shared_ptr<std::atomic<bool>> vanished = std::make_shared<std::atomic<bool>>(false);

  /// The number of objects to make, and the i-th of them.
  [[nodiscard]] std::uint64_t object_count() const { return everything.value_or(objects.size()); }
  [[nodiscard]] std::uint64_t object(std::uint64_t i) const { return everything ? i : objects[i]; }
};
/// Lists the stored chunks of the source.
Result<ArrayCopy> plan_copy(Array source, Array destination, std::shared_ptr<const ElementMap> map = {});

/// The source of a node in a pyramid: the previous level, at the finer resolution.
struct ReducedFrom {
  std::size_t node;
  Reduction how;
};
/// One node of a copy.
struct NodeCopy {
  std::string path;  ///< below the root of the copy
  NodeDocument document;
  std::vector<Document> stored = {};  ///< the documents to write; empty until they are made from `document`
  std::optional<ArrayCopy> array = {};
  std::optional<ReducedFrom> reduced = {};
  FillArray fill = {};  ///< for an array made from a file
};

/// Whether a copy treats an image as a whole, instead of copying nodes one by one.
bool is_image_copy(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options);
/// invalid_argument if options are set that a copy of arrays does not support.
Result<void> refuse_volume_options(const CopyOptions& options);
/// The nodes of such a copy, groups before their members, and the links of a new volume that lead to nothing in it: see
/// CopyReport::dangling.
struct ImageCopy {
  std::vector<NodeCopy> nodes;
  std::vector<std::pair<std::string, std::string>> dangling = {};
};
/// `labelled` is the image to whose labels the copy is added.
struct LabelledImage;
Result<ImageCopy> plan_image(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options,
                             const std::optional<LabelledImage>& labelled);
/// An image in several resolutions. A function fills the finest one, `0`.
struct FilledImage {
  Image image;
  NodeDocument array;
  FillArray fill;
};
Result<std::vector<NodeCopy>> plan_filled(FilledImage image, const NodeLocation& destination,
                                          const CopyOptions& options);
/// A volume with several scales. A function fills the finest one. The axes of the image are x, y, z and c.
struct FilledVolume {
  Image image;
  Shape shape;
  DType dtype;
  FillArray fill;
};
Result<std::vector<NodeCopy>> plan_filled(FilledVolume volume, const NodeLocation& destination,
                                          const CopyOptions& options);
/// Updates the consolidated metadata of each group that has any to describe the copy instead of the source.
Result<void> renew_consolidated_metadata(std::vector<NodeCopy>& nodes, const Format& format);
/// Whether the stored documents of a node are the planned ones.
Result<bool> are_stored(Store& store, const NodeCopy& node, const Limits& limits);
/// Adds the notes of the group around the destination about its new members, if it keeps a list of members.
Result<void> add_notes(std::vector<NodeCopy>& nodes, const NodeLocation& destination);
/// The identity of a copy: the source, all documents that will be written, and everything else that affects its bytes.
[[nodiscard]] std::string fingerprint(const NodeLocation& source, const std::vector<NodeCopy>& nodes,
                                      const CopyOptions& options);
/// Makes planned nodes, as copy_nodes() does.
Result<CopyReport> make_nodes(std::vector<NodeCopy> nodes, const NodeLocation& destination, const CopyOptions& options);
/// Imports a file as an OME-NGFF group, in the resolutions of options.pyramid or of the image whose labels it becomes.
Result<void> import_pyramid(const std::string& source, const ImportOptions& options, const NodeLocation& destination,
                            const std::optional<LabelledImage>& labelled);
/// Imports a file as a volume; `destination` has that format.
Result<void> import_volume(const std::string& source, const ImportOptions& options, const NodeLocation& destination);
/// The location of a copy's source: for a copy to a volume, the volume counterpart of a dual-format array.
Result<NodeLocation> source_of_copy(const NodeLocation& source, const NodeLocation& destination,
                                    const CopyOptions& options);
/// The axes of the Zarr array's dimensions according to such a counterpart. invalid_argument if `given` contradicts it.
Result<std::vector<std::string>> axes_of_counterpart(const VolumeCounterpart& counterpart,
                                                     const std::vector<std::string>& given);
/// The document of the volume counterpart of a copy at `to`, whose document otherwise exists; like the source's.
struct NodeOfCopy {
  const NodeLocation& location;
  const NodeDocument& document;
};
Result<NewCounterpart> counterpart_of_copy(const NodeOfCopy& source, const NodeOfCopy& to);
/// The document of a new array, laid out by the destination's format. Keys stay the same as far as the format allows;
/// their prefix is the format's own.
Result<NodeDocument> new_node(const NodeLocation& destination, ArraySpec spec, const Json& attributes);
/// The attributes of an array's copy: `_FillValue` has the form that xarray requires in Zarr v3, elsewhere a number.
Json copied_attributes(const Format& from, const Format& to, const NodeDocument& array);
/// Adds to `copied`, the metadata of a copy of an array in another format, what Spelling keeps or restores. A spelling
/// with which the metadata would describe different data is not restored.
Result<void> carry_spelling(const Format& from, const NodeDocument& source, const NodeLocation& destination,
                            Json& copied);
/// The metadata of a copy of a group in another format, including what Spelling keeps or restores.
Result<Json> copied_group(const NodeLocation& location, const NodeDocument& source, const NodeLocation& destination);

/// Copies the node at `source`, whose format recognizes it, and everything below it to `destination` (writable).
Result<CopyReport> copy_nodes(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options);

/// The array of a copy of `copy` back into the format of `source`, without shards if `source` has
/// none.
Result<ArraySpec> copied_back(ArraySpec copy, const Array::State& source);
/// Codecs without zstd's checksum setting, which not every format has: zstd frames record it themselves.
[[nodiscard]] std::vector<CodecSpec> without_checksums(std::vector<CodecSpec> codecs);
/// The array of a copy at `destination`: the source, or a part of it, with the chunks and codecs set in the
/// options.
Result<ArraySpec> copied_spec(const Array::State& source, const NodeLocation& destination, const CopyOptions& options,
                              const Cutout* cutout = nullptr);
/// The same array with chunks in C order; nullopt if they are already, or if they are inside other codecs.
Result<std::optional<ArraySpec>> in_c_order(ArraySpec spec);
/// Whether the last chunks end where the array does.
bool is_clipped(const Array::State& state);

/// The resources of one call.
struct CopyShares {
  Config config;                ///< of the destination: threads, interrupted, no progress
  std::size_t lanes = 1;        ///< the number of objects in progress
  std::uint64_t box_bytes = 0;  ///< of the elements of one object in memory
  std::size_t window = 1;       ///< encoded batches of one object in progress
  std::uint64_t reading = 0;    ///< the budget of one read
};
CopyShares share_memory(const ArrayCopy& task, const Config& config);

/// Stored chunks of a source, and where they go.
struct SourceLeaf {
  Box box;             ///< the destination box in the copy; may extend beyond it
  Extent extent;       ///< inside the object
  std::size_t object;  ///< an index into LeafFinder::objects
};
/// Finds the stored chunks that intersect a box, among those known to be stored.
class LeafFinder {
 public:
  struct Object {
    std::string key;
    Generation generation;
  };
  using Visit = std::function<Result<bool>(const SourceLeaf&)>;

  /// The box is one of the copy. `config` is for reading indexes, and must outlive this.
  LeafFinder(const ArrayCopy& task, Box box, const Config& config);
  /// Calls `visit` for every chunk until it returns false. A shard that must be decoded whole counts as one chunk.
  Result<void> visit(const Visit& visit);
  /// The objects encountered so far.
  [[nodiscard]] const std::vector<Object>& objects() const noexcept { return objects_; }

 private:
  Result<bool> visit_objects(const std::vector<Shape>& cells, const Visit& visit);
  const ArrayCopy& task_;
  const Array::State& state_;
  const Config& config_;
  const Box box_;
  std::vector<Object> objects_;
};

/// The work that a call has done so far.
struct CopyCounts {
  std::atomic<std::uint64_t> written{0}, skipped{0}, moved{0}, bytes{0};
  std::shared_ptr<Recorder> encoding = std::make_shared<Recorder>();  ///< counts encoded chunks, at every depth
};

/// Estimates the memory of variable-length elements, which is known only after decoding, from their stored size and
/// from previously decoded elements. Thread-safe.
class TextSizes {
 public:
  /// The memory of `elements` bytes of elements, encoded in `stored` bytes; an upper bound until any were decoded.
  [[nodiscard]] std::uint64_t decoded(std::uint64_t elements, std::uint64_t stored) const noexcept;
  /// Records elements that were decoded from `stored` bytes.
  void met(std::uint64_t stored, std::span<const std::byte> elements) noexcept;

 private:
  std::atomic<std::uint64_t> ratio_{0};  ///< the maximum so far
};

/// Returns free memory to the system while chunks are encoded. Codecs allocate and free large blocks of varying sizes
/// in every call, on several threads. The C library keeps freed blocks between others, so a process that uses few bytes
/// would hold more memory with each object it makes. Thread-safe.
class HeapTrimmer {
 public:
  explicit HeapTrimmer(std::uint64_t memory_budget) noexcept;
  /// To be called after encoding `bytes` of elements; trims the heap if enough were encoded since the last time.
  void encoded(std::uint64_t bytes) noexcept;

 private:
  const std::uint64_t every_;
  std::atomic<std::uint64_t> since_{0};
};

/// A copy that has not been moved to its destination yet.
struct NewCopy {
  ClearOptions clear;
  std::string note;                                       ///< identifies what is being copied
  std::vector<std::string> below = {};                    ///< the paths of its members
  std::function<Result<void>(const NodeLocation&)> make;  ///< makes all of it at that location
};
/// Makes a copy next to its destination and moves it there when it is complete. If it fails because of the destination,
/// it is kept if the options say so, and can be resumed.
Result<void> make_new_copy(const NodeLocation& destination, const NewCopy& copy, const CopyOptions& options);

/// Completes a copy whose document is already at the destination: makes missing objects there, and erases leftovers of
/// an earlier run. Returns false, having done nothing, if an earlier run had not moved its copy to the destination.
Result<bool> complete_copy(const NodeLocation& destination, const NewCopy& copy);

/// The location of objects that are not chunks of an array.
struct ObjectsLocation {
  std::shared_ptr<Store> store;
  std::string path;
};
/// Copies every object below a path unchanged; with `resume`, only those that are missing at the destination.
Result<void> copy_below(const ObjectsLocation& from, const ObjectsLocation& to, bool resume, CopyCounts& counts,
                        const Config& config);
/// Copies an object, if it still exists, unchanged; with `resume`, only if it is missing at the destination.
struct ObjectToCopy {
  Store& from;
  std::string key;
  Store& to;
  std::string new_key;
};
Result<void> copy_unchanged(const ObjectToCopy& object, bool resume, CopyCounts& counts);
/// The destination of a collection, and whether one exists there.
struct CollectionCopy {
  NodeLocation location;
  bool is_there = false;
};
/// Copies a collection of Neuroglancer's objects to a location that has the format of volumes.
Result<CopyReport> copy_collection(const ObjectsLocation& from, const CollectionCopy& to, const CopyOptions& options);

/// Collects encoded chunks and stores many of them at a time. Thread-safe.
class ChunkBatch {
 public:
  /// Stores the collected chunks whenever they have that many bytes. The storage must outlive it.
  ChunkBatch(const ChunkStorage& storage, std::uint64_t bytes) : storage_(storage), most_(bytes) {}
  Result<void> put(const std::string& key, Buffer bytes);
  Result<void> flush();

 private:
  const ChunkStorage& storage_;
  const std::uint64_t most_;
  std::mutex mutex_;  ///< guards everything below
  std::vector<std::pair<std::string, Buffer>> chunks_;
  std::uint64_t bytes_ = 0;
};

/// Makes the objects of the copy of one array.
class ObjectCopy {
 public:
  /// References must outlive it.
  ObjectCopy(const ArrayCopy& task, const CopyShares& shares, CopyCounts& counts);

  /// Makes the object with this number in the destination's grid, if it has any contents. If chunks share objects that
  /// have no shape, some are collected first and stored together.
  Result<void> copy(const CellAccess& at);
  /// Stores the collected chunks.
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
  /// False if nothing was stored because every chunk equals the fill value.
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
  /// An error in reading names the source's store; callers add that of the destination to all others.
  template <class T>
  Result<T> of_source(Result<T> read) const {
    return in_store(std::move(read), task_.source.store()->url());
  }

  const ArrayCopy& task_;
  const Array::State& to_;
  const CopyShares& shares_;
  CopyCounts& counts_;
  Config encoding_;
  Array source_;
  ReadBudget budget_;
  const ChunkReader reader_;
  const ChunkWriter writer_;
  Budget under_way_;  ///< elements, or encoded chunks being moved; a larger chunk is processed alone
  TextSizes text_;
  HeapTrimmer heap_;
  std::optional<ChunkBatch> collected_;  ///< if a hash chooses the objects of the destination
};

}  // namespace sherd
