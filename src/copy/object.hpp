// How each stored object of a copy is made: its chunks are found in the source, moved or encoded, and stored.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/array_state.hpp"
#include "array/chunk_writer.hpp"
#include "array/locate.hpp"
#include "array/storage.hpp"
#include "base/url.hpp"
#include "copy/heap_trimmer.hpp"
#include "copy/planned_copy.hpp"
#include "store/commits.hpp"

namespace sherd {

/// The resources of one call.
struct CopyShares {
  Config config;                ///< of the destination: threads, interrupted, no progress
  std::size_t lanes = 1;        ///< the number of objects in progress
  std::size_t committing = 0;   ///< threads that commit them (Commits)
  std::uint64_t box_bytes = 0;  ///< of the elements of one object in memory
  std::size_t window = 1;       ///< encoded batches of one object in progress
  std::uint64_t reading = 0;    ///< the budget of one read
};
CopyShares share_memory(const ArrayCopy& task, const Config& config);
/// The decoded size of a chunk without chunks inside, without what variable-length elements refer to.
[[nodiscard]] std::uint64_t leaf_bytes(const Array::State& state);

/// Stored chunks of a source, and where they go.
struct SourceLeaf {
  Box box;             ///< the destination box in the copy; may extend beyond it
  Extent extent;       ///< inside the object
  std::size_t object;  ///< an index into LeafFinder::objects
};
/// Finds the stored chunks that intersect a box, among those known to be stored.
class LeafFinder {
 public:
  /// What is looked for. Where a list has shown all chunks, their extents are left out if they are not wanted.
  struct Wanted {
    bool extents = true;
    bool is_moved = false;    ///< all chunks that are found are read in the version that was located
    std::uint64_t whole = 0;  ///< an object that is probably no larger is read together with opening it
  };
  using Visit = std::function<Result<bool>(const SourceLeaf&)>;

  /// The box is one of the copy. `config` is for reading indexes, and must outlive this.
  LeafFinder(const ArrayCopy& task, Box box, const Config& config, Wanted wanted);
  /// Calls `visit` for every chunk until it returns false. A shard that must be decoded whole counts as one chunk.
  Result<void> visit(const Visit& visit);
  /// The objects encountered so far, without their chunks.
  [[nodiscard]] const std::vector<LocatedObject>& objects() const noexcept { return objects_; }

 private:
  Result<std::vector<std::optional<LocatedObject>>> locate(const std::vector<Shape>& cells) const;
  Result<bool> visit_objects(const std::vector<Shape>& cells, const Visit& visit);
  const ArrayCopy& task_;
  const Array::State& state_;
  const Config& config_;
  const Box box_;
  const Wanted wanted_;
  std::vector<LocatedObject> objects_;
};

/// The work that a call has done so far.
struct CopyCounts {
  std::atomic<std::uint64_t> written{0}, skipped{0}, moved{0}, bytes{0};
  std::shared_ptr<Recorder> encoding = std::make_shared<Recorder>();  ///< counts encoded chunks, at every depth
};

/// Estimates the memory of variable-length elements, which is known only after decoding, from their stored size and
/// from previously decoded elements. Thread-safe.
class VarlenSizes {
 public:
  /// The memory of `elements` bytes of elements, encoded in `stored` bytes; an upper bound until any were decoded.
  [[nodiscard]] std::uint64_t decoded(std::uint64_t elements, std::uint64_t stored) const noexcept;
  /// Records elements that were decoded from `stored` bytes.
  void met(std::uint64_t stored, std::span<const std::byte> elements) noexcept;

 private:
  std::atomic<std::uint64_t> ratio_{0};  ///< the maximum so far
};

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
  /// Stores the collected chunks, and waits until all objects are stored, unless the loop that copies them has failed
  /// (`copied`). Returns the first failure.
  Result<void> finish(Result<void> copied);

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
  Result<void> send(ByteSource& source, Extent part, ObjectWriter& object) const;
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
  Result<std::shared_ptr<ByteSource>> located_version(const LocatedObject& object);
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
  const bool by_server_;  ///< whether the destination's server copies objects of the source itself
  ReadBudget budget_;
  const ChunkReader reader_;
  const ChunkWriter writer_;
  Budget under_way_;  ///< elements, or encoded chunks being moved; a larger chunk is processed alone
  VarlenSizes varlen_;
  HeapTrimmer heap_;
  Commits commits_;
  std::optional<ChunkBatch> collected_;  ///< if a hash chooses the objects of the destination
};

/// The encoded bytes that are put into a shard at a time.
inline constexpr std::uint64_t kCopyBatchBytes = std::uint64_t{1} << 20;

struct ObjectCopy::Slot {
  std::uint64_t order;
  std::uint64_t slot;
  Extent extent = {};
  std::size_t object = 0;
  bool edge = false;  ///< must be encoded while all others are moved
};

/// A shard being made; shapes in stored order.
struct ObjectCopy::Slots {
  const CellAccess& at;
  const ShardLayout& shard;
  const std::vector<std::size_t>& permutation;
  Shape stored;  ///< of the shard
  Shape grid;
  Shape valid;
  std::uint64_t longest = 0;  ///< the longest stored chunk of the source that it needs

  Slots(const CellAccess& cell, const ChunkLayout& layout)
      : at(cell),
        shard(*layout.shard),
        permutation(layout.chain.permutation()),
        stored(layout.chain.stored_shape(cell.shape)),
        grid(shard.grid(stored)),
        valid(layout.chain.stored_shape(cell.valid)) {}

  /// Whether the array ends inside this inner chunk.
  [[nodiscard]] bool is_edge(const Shape& cell) const {
    for (std::size_t j = 0; j < cell.size(); ++j)
      if ((cell[j] + 1) * shard.inner_shape[j] > valid[j]) return true;
    return false;
  }
  /// Whether this inner chunk begins beyond the end of the array.
  [[nodiscard]] bool is_outside(const Shape& cell) const {
    for (std::size_t j = 0; j < cell.size(); ++j)
      if (cell[j] * shard.inner_shape[j] >= valid[j]) return true;
    return false;
  }
  /// The bounding box of the cells of some slots.
  [[nodiscard]] Box around(std::span<const Slot> slots) const {
    Shape low = unravel(slots.front().slot, grid);
    Shape high = low;
    for (const Slot& slot : slots) {
      const Shape cell = unravel(slot.slot, grid);
      for (std::size_t j = 0; j < cell.size(); ++j) {
        low[j] = std::min(low[j], cell[j]);
        high[j] = std::max(high[j], cell[j]);
      }
    }
    for (std::size_t j = 0; j < low.size(); ++j) high[j] += 1 - low[j];
    return {low, high};
  }
  /// Their elements inside the array, relative to the shard.
  [[nodiscard]] Box elements(const Box& cells) const {
    Box box{cells.origin, cells.shape};
    for (std::size_t j = 0; j < box.origin.size(); ++j) {
      box.origin[j] *= shard.inner_shape[j];
      box.shape[j] = std::min((cells.origin[j] + cells.shape[j]) * shard.inner_shape[j], valid[j]) - box.origin[j];
    }
    return box;
  }
};

}  // namespace sherd
