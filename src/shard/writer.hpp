// A shard's next version, written chunk by chunk in an order chosen at run time.
// A new shard is dense. An updated one keeps every untouched chunk at its old offset, so that a reader who still
// holds the old index finds old chunks where it expects them; changed chunks go into space that the old index does
// not use, or to the end. When too much of it would be dead, the shard is rewritten densely instead. An amendment only
// adds to a shard that stands: for kinds of index of which parts can be replaced.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "shard/gaps.hpp"
#include "shard/layout.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// The slots of a shard in the order in which their chunks are to be written.
[[nodiscard]] std::uint64_t order_key(const ShardLayout& shard, const Shape& cell, const Shape& grid,
                                      ChunkOrder order) noexcept;

/// Consecutive encoded chunks.
struct EncodedBatch {
  EncodedBatch() { bytes->truncate(0); }
  struct Chunk {
    std::uint64_t slot;
    std::uint64_t length;
    bool present;  ///< false: equal to the fill value, not stored
  };
  Scratch bytes;
  std::vector<Chunk> chunks;
};

/// The version that is being replaced.
struct OldShard {
  std::shared_ptr<const ShardIndex> index;  ///< its slots are those of the new version
  ByteSource* source = nullptr;
  std::vector<Extent> index_bytes;  ///< where the index itself stands
  bool in_the_way = false;          ///< chunks stand where the new version has an index: they must be moved
};

class ShardWriter {
 public:
  /// A batch's turn to be encoded and put. Batches are numbered 0 … count-1; turns must be begun in that order. A turn
  /// that ends without a batch gives up the whole shard: the others wait for its bytes and would do so for ever.
  class Turn {
   public:
    /// Waits until batch `number` may be encoded. The writer must outlive it.
    Turn(ShardWriter& writer, std::size_t number);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();
    /// Takes the batch; thread-safe, in any order. Offsets follow the batches' numbers, so the bytes do not depend on
    /// which thread was first.
    Result<void> put(EncodedBatch batch);

   private:
    ShardWriter& writer_;
    const std::size_t number_;
    bool put_ = false;
  };

  /// At most `window` batches have their turn at once.
  /// No chunk of an old version is longer than `most_bytes`. The coding must outlive the writer.
  ShardWriter(const IndexCoding& coding, std::uint64_t most_bytes, std::size_t window);

  /// Begins a new shard in `to`; or a further part of one, with slots and a coding of its own, where the part before
  /// has ended.
  Result<void> start_new(ObjectWriter& to, std::uint64_t from = 0);
  /// Begins the next version of `old`, of which the `changed` slots will be put and all others kept.
  /// `max_unused` is the share of dead bytes that is put up with.
  Result<void> start_update(ObjectWriter& to, const OldShard& old, std::span<const std::uint64_t> changed,
                            double max_unused);

  /// The same without a choice: all chunks that stay are moved together; or, in a version in which some of the old ones
  /// are gone and no others come, they keep their places and the index its own.
  Result<void> start_rewrite(ObjectWriter& to, const OldShard& old, std::span<const std::uint64_t> changed);
  Result<void> start_in_place(ObjectWriter& to, const OldShard& old, std::span<const std::uint64_t> changed);
  /// Begins an amendment of `old`, which `to` has: all of it stays where it is, chunks are put behind it, and of the
  /// index the coding encodes only what changes. Slots that are empty in old.index will be put or stay so.
  void start_amendment(ObjectWriter& to, const OldShard& old);

  /// A shard of which no slot is occupied: not written, or an index alone, where there has to be an object.
  enum class Empty : std::uint8_t { absent, stored };
  /// Writes the index; false if nothing was written, so that there is to be no object.
  Result<bool> finish(Empty empty = Empty::absent);
  /// Where the shard ends so far, with the index once that is written.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

  [[nodiscard]] std::uint64_t moved() const noexcept { return moved_; }

 private:
  struct Placed {
    std::uint64_t offset;
    std::span<const std::byte> bytes;
  };
  [[nodiscard]] std::uint64_t allocate(std::uint64_t length);
  std::vector<Placed> place(const EncodedBatch& batch);
  Result<void> keep_index(const OldShard& old, std::span<const std::uint64_t> changed);
  [[nodiscard]] Result<void> check_length(const Extent& extent) const;
  Result<void> move_densely(const OldShard& old, std::span<const std::uint64_t> changed);
  /// Sorts what is used and finds what is free before `end`.
  void find_gaps(std::vector<Extent>& used, std::uint64_t end);
  Result<void> copy_used(ByteSource& old, std::span<const Extent> sorted);

  const IndexCoding& coding_;
  const std::uint64_t most_bytes_;
  const std::size_t window_;
  ShardIndex index_;
  ObjectWriter* to_ = nullptr;
  bool amends_ = false;
  std::uint64_t moved_ = 0;

  std::mutex mutex_;  // guards what follows
  std::condition_variable advanced_;
  bool abandoned_ = false;
  std::size_t next_ = 0;  // the batch whose place comes next
  std::map<std::size_t, EncodedBatch> waiting_;
  Gaps gaps_;              // free space that changed chunks go into
  std::uint64_t end_ = 0;  // free from here on
};

}  // namespace sherd
