// The internals of an Array handle.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/chunk_reader.hpp"
#include "base/cache.hpp"
#include "node/document.hpp"
#include "node/grid.hpp"
#include "node/node_location.hpp"
#include "shard/layout.hpp"

namespace sherd {

class ChunkStorage;

struct Array::State {
  State(NodeLocation where, NodeDocument node, NodeKeys keys, std::shared_ptr<const ChunkLayout> chunk_layout,
        std::shared_ptr<const ChunkStorage> chunk_storage);

  const std::shared_ptr<const ChunkStorage> storage;
  const NodeLocation location;     ///< its store is that of the chunks
  const std::string document_key;  ///< of the document that makes the array visible
  const DType dtype;
  const ChunkGrid grid;
  const std::shared_ptr<const ChunkLayout> shared_layout;
  const ChunkLayout& layout;    ///< `*shared_layout`
  const std::string prefix;     ///< of chunk keys
  Shape chunks;                 ///< innermost; empty if they differ
  std::optional<Shape> shards;  ///< empty if they differ
  mutable Cache cache;

  [[nodiscard]] const Config& config() const noexcept { return location.config; }
  [[nodiscard]] std::string key(const Shape& cell) const { return prefix + grid.key(cell); }
  /// ChunkStorage::first_id() of this array.
  [[nodiscard]] std::uint64_t first_id(const Shape& cell) const;
  [[nodiscard]] NodeDocument document() const;
  /// A copy of what `part` selects in the document.
  template <class Part>
  [[nodiscard]] auto of_document(Part part) const {
    const std::lock_guard hold(mutex_);
    return part(document_);
  }
  [[nodiscard]] Shape shape() const;
  /// Changes the document, in the store and here; changes through one handle are made one after the other. Renews
  /// consolidated metadata unless the caller does. A change without other effects may first be tried on the document
  /// as it was last seen; see edit_document().
  enum class Renewal : std::uint8_t { now, by_caller };
  enum class Before : std::uint8_t { stored, seen };
  Result<void> edit(const DocumentEdit& change, Renewal renewal = Renewal::now, Before before = Before::stored);
  /// Confirms that the array still has the same chunks as when it was opened, and returns its shape. If another
  /// handle has changed the shape or attributes, this handle adopts them; `conflict` if the array was erased or
  /// replaced. A writer calls this while it holds the lock of the object that it is about to change: erasing or
  /// shrinking the array changes the document first and then waits for the holders of such locks
  /// (docs/decisions/0014). Attributes with a document of their own are checked once per call
  /// (Confirmed::attributes), not for each object.
  enum class Confirmed : std::uint8_t { chunks, attributes };
  Result<Shape> confirm(Confirmed what = Confirmed::chunks) const;
  /// For a reader that has not found some objects, or cannot decode them: `conflict` if the array was erased or
  /// replaced since it was opened. The conflict may be retried if the array exists, but its document is not the version
  /// that the last reader saw.
  Result<void> confirm_missing() const;
  /// The reason if none of its chunks can be read or written.
  [[nodiscard]] Result<void> check_access() const;
  /// Whether elements can be changed.
  [[nodiscard]] Result<void> check_change() const;
  /// invalid_argument if a view's element type is not this array's.
  [[nodiscard]] Result<void> check_elements(const DType& of_view) const;
  /// The error of a handle whose array was `how`: erased or replaced.
  [[nodiscard]] Error replaced_error(std::string_view how) const;
  /// The part of a chunk that is inside an array of this shape.
  [[nodiscard]] Shape valid_shape(const Shape& cell, const Shape& array_shape) const;

 private:
  std::mutex editing_;
  /// `conflict` if the array of this document has different chunks.
  Result<void> check_same(const NodeDocument& now) const;
  /// The document as it is stored; `conflict` if the array was erased or replaced.
  Result<NodeDocument> present_document(Store& documents) const;
  void adopt(NodeDocument now) const;
  /// Whether documents other than the one that makes the array visible are unchanged since they were last seen.
  Result<bool> saw_attributes() const;

  mutable std::mutex mutex_;       ///< guards what follows
  mutable NodeDocument document_;  ///< as last seen in the store; its shape and attributes may change
  mutable Generation read_at_;     ///< the version of another document of this array that confirm_missing() has seen
};

/// One chunk of the grid that a call accesses.
struct CellAccess {
  Shape cell;
  Shape shape;  ///< declared
  Shape valid;  ///< inside the array
  std::string key;
  std::uint64_t first_id = 0;  ///< the lowest id of a shard whose chunks have ids
};
/// Array::write(). If the array no longer has the shape `made_for`, nothing is written: `invalid_argument`, and the
/// handle has the new shape. nullptr: the selection fits any shape that contains it.
Result<void> write_selected(const Array& array, const Shape* made_for, const Selection& selection,
                            const ConstAnyView& from);
/// Array::write() after the caller has found, or made, the array of this shape.
Result<void> write_confirmed(const Array& array, const Shape& array_shape, const Selection& selection,
                             const ConstAnyView& from, const std::function<Result<void>()>* looked = nullptr);
/// The error of a change that was made for another shape than the stored one.
[[nodiscard]] Error resized_error(const Array::State& state);
/// The prefix of an array's chunk keys: empty, or ends in `/`.
[[nodiscard]] std::string chunk_prefix(const NodeLocation& location, const NodeDocument& node);
/// Elements and shape of the first stored chunk.
[[nodiscard]] ChunkType chunk_type(const ArraySpec& spec);

CellAccess access(const Array::State& state, const Shape& cell, const Shape& array_shape);

/// The look at an array's document beside the last change of a call, in a store without locks. Thread-safe, except
/// get().
class LastLook {
 public:
  explicit LastLook(const Array::State& state) : state_(state) {}
  /// All changes have begun or are about to. Where a look costs no latency, it is left to get().
  void begin();
  /// More changes follow than have been expected.
  void forget();
  /// The shape that begin() has found last or, without it, the one that is found now.
  Result<Shape> get();

 private:
  const Array::State& state_;
  std::mutex mutex_;
  std::future<Result<Shape>> look_;
};

/// The shapes from one to another.
struct ShapeRange {
  Shape first, last;
  [[nodiscard]] bool contains(const Shape& shape) const {
    if (shape.size() != first.size()) return false;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] < first[d] || shape[d] > last[d]) return false;
    return true;
  }
};

/// What is written, and within which bounds. The budget belongs to the call, which may write several regions.
struct RegionWrite {
  const WriteSource& from;
  Budget& budget;
  const Shape& shape;  ///< of the array; the region was found to be inside it
  /// If set, the array may be smaller now, and this writes beyond its end. Records each version that was replaced and
  /// its replacement (empty if nothing remained). For one chunk only.
  std::vector<std::pair<Generation, Generation>>* replaced = nullptr;
  /// If set, the array ends before the region, and grows over it later. A lasting `conflict` if the stored shape is not
  /// one of these.
  const ShapeRange* shown = nullptr;
  /// If set, no object is changed before this succeeds. It waits for what is read of the array's document meanwhile.
  const std::function<Result<void>()>* looked = nullptr;
  LastLook* last_look = nullptr;  ///< if set, begun beside the last change

  [[nodiscard]] Result<void> wait_for_look() const { return looked != nullptr ? (*looked)() : Result<void>(); }
};

/// One chunk of a read call: where it is stored, and the requested elements.
struct CellRead {
  CellAccess at;
  Piece piece;
};

/// The chunks of one read call, each occurring once even if several regions need it.
struct CellsRead {
  const Array::State& state;
  const Shape& shape;  ///< of the array; the regions were found to be inside it
  const Config& config;
  const ReadCells& cells;
  const ChunkReader& reader;
  std::atomic<std::uint64_t>& done;  ///< decoded bytes
  std::uint64_t elements;            ///< of all regions
  std::atomic<bool>& missing;        ///< set if an object is missing

  [[nodiscard]] CellRead cell(std::uint64_t i) const;
  /// Adds the requested bytes of a chunk to the progress.
  void count(const Piece& piece) const noexcept;
};

/// Opens one stored chunk and reads it into memory; starts again if the object was replaced meanwhile.
Result<void> read_cell(const CellsRead& call, const CellRead& cell);
/// The error of a selection beyond the array's end if `part` of a chunk is not inside an array of this shape.
Result<void> check_inside(const Array::State& state, const Shape& cell, const Region& part, const Shape& array_shape);

/// The configuration for writing this many chunks or shards: threads for all requests that can be under way, but at
/// most as many as the memory budget allows; without the memory that the store's writers hold.
Config writing_config(const Array::State& state, const Config& config, std::uint64_t cells);

/// Receives a stored chunk: its cell, and the key and size in bytes of its object.
using OnStored = std::function<Result<void>(const Shape& cell, const std::string& key, std::uint64_t size)>;

}  // namespace sherd
