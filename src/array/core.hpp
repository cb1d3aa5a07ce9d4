// The inside of an Array handle.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/chunk_reader.hpp"
#include "array/document.hpp"
#include "array/grid.hpp"
#include "array/state.hpp"
#include "base/cache.hpp"
#include "kv/id_objects.hpp"
#include "shard/layout.hpp"

namespace sherd {

struct TwinKeys;

struct Array::State {
  /// What the objects of chunks are besides; at most one of them is not null.
  struct Objects {
    std::shared_ptr<neuroglancer::IdObjects> by_id;  ///< place.store, where chunks are its values
    std::shared_ptr<const TwinKeys> twin;            ///< where place.store gives each shard a second name
    std::shared_ptr<const Array> through;            ///< the array to write through, where these are the second names
  };
  State(NodePlace where, NodeDocument node, std::shared_ptr<const ChunkLayout> chunk_layout, Objects chunk_objects);

  const NodePlace place;
  const Objects objects;
  const std::shared_ptr<neuroglancer::IdObjects>& scattered = objects.by_id;
  const DType dtype;
  const ChunkGrid grid;
  const std::shared_ptr<const ChunkLayout> shared_layout;
  const ChunkLayout& layout;    ///< the same
  const std::string prefix;     ///< of chunk keys
  Shape chunks;                 ///< innermost; empty where they differ
  std::optional<Shape> shards;  ///< empty where they differ
  mutable Cache cache;
  /// The chunks by id of shards that are boxes of chunks, encoded as they are stored; null for all other arrays.
  std::shared_ptr<const neuroglancer::ShardedStore::State> boxed;

  [[nodiscard]] const Config& config() const noexcept { return place.config; }
  [[nodiscard]] std::string key(const Shape& cell) const { return prefix + grid.key(cell); }
  /// Where chunks have ids: the lowest one in a stored chunk.
  [[nodiscard]] std::uint64_t first_id(const Shape& cell) const;
  [[nodiscard]] NodeDocument document() const;
  [[nodiscard]] Shape shape() const;
  /// Changes the document, in the store and here; the changes of one handle come one after the other.
  Result<void> edit(const DocumentEdit& change);
  /// Confirms that chunks are still what they were when the array was opened, and returns its shape. A shape and
  /// attributes that another handle has changed become this one's; `conflict` if the array was erased or replaced.
  /// A writer calls this while it holds the lock of the object that it is about to change: erasing or shrinking the
  /// array changes the document first and then waits for the holders of such locks (docs/decisions/0014).
  Result<Shape> confirm() const;
  /// Why nothing of its chunks can be read or written, where that is so.
  [[nodiscard]] Result<void> check_access() const;
  /// Whether elements can be changed.
  [[nodiscard]] Result<void> check_change() const;
  /// invalid_argument where a view's elements are not this array's.
  [[nodiscard]] Result<void> check_elements(const DType& of_view) const;
  /// The part of a chunk that lies inside an array of this shape.
  [[nodiscard]] Shape valid_shape(const Shape& cell, const Shape& array_shape) const;

 private:
  std::mutex editing_;
  /// `conflict` if an array of this document has other chunks than this one.
  Result<void> check_same(const NodeDocument& now) const;
  void adopt(NodeDocument now) const;
  [[nodiscard]] Error replaced_error(std::string_view how) const;
  /// Whether a document is of the version `seen`, a member that mutex_ guards; `conflict` if it is gone.
  [[nodiscard]] Result<bool> is_unchanged(const std::string& document, const Generation& seen) const;
  /// As confirm(), for the other half of a dual-format array.
  Result<void> confirm_counterpart() const;

  mutable std::mutex mutex_;        ///< guards what follows
  mutable NodeDocument document_;   ///< as it was last seen in the store; its shape and attributes may change
  mutable Generation counterpart_;  ///< of the other half's document, likewise
};

/// One chunk of the grid that a call is about.
struct CellAccess {
  Shape cell;
  Shape shape;  ///< declared
  Shape valid;  ///< inside the array
  std::string key;
  std::uint64_t first_id = 0;  ///< of a shard whose chunks stand by id: the lowest
};
CellAccess access(const Array::State& state, const Shape& cell, const Shape& array_shape);

/// Opens and reads one stored chunk into memory; once more where the object was replaced meanwhile.
Result<void> read_cell(const Array::State& state, const ChunkReader& reader, const CellAccess& cell, const Region& part,
                       const ReadTarget& target);

/// What is written, and within which bounds. The budget is that of the call, however many regions it writes.
struct RegionWrite {
  const WriteSource& from;
  Budget& budget;
  const Shape& shape;  ///< of the array, inside which the region was found to be
  /// Where set, the array may be smaller now, and this writes what is beyond its end: each version that was replaced,
  /// and the one that took its place (none where nothing remained). Of one chunk.
  std::vector<std::pair<Generation, Generation>>* replaced = nullptr;
};
/// Writes `region`; see Array::write.
Result<void> write_region(const Array::State& state, const Region& region, const RegionWrite& call);

/// Reading the chunks of a call together.
struct CellsRead {
  const Array::State& state;
  const Config& config;
  const Cells& cells;
  const ReadTarget& target;
  const ChunkReader& reader;
  std::atomic<std::uint64_t>& done;  ///< decoded bytes
};
/// In batches of requests, for stores whose requests have latency.
Result<void> read_together(const CellsRead& call);
/// Where chunks are values of a store of ids: by shards, with requests that are joined.
Result<void> read_scattered(const CellsRead& call);
/// Whether that is better than reading chunk by chunk, which takes only what is wanted of one that is stored raw.
[[nodiscard]] bool are_worth_joining(const Array::State& state, const Cells& cells, const Region& region);
/// As write_region() where chunks are values of a store of ids: those that fall into one shard are put into it
/// together.
Result<void> write_scattered(const Array::State& state, const Region& region, const RegionWrite& call);
/// The error of a selection beyond the array's end if `part` of a chunk is not inside an array of this shape.
Result<void> check_inside(const Array::State& state, const Shape& cell, const Region& part, const Shape& array_shape);

/// With no more threads than the memory budget allows to write at one time.
Config writing_config(Config config, const ChunkLayout& layout);

/// Calls `visit` for every stored chunk of the array, listing only what exists.
Result<void> for_each_stored(
    const Array::State& state,
    const std::function<Result<void>(const Shape& cell, const std::string& key, std::uint64_t size)>& visit);

}  // namespace sherd
