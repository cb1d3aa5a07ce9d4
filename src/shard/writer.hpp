// Writes a shard's next version as planned by an update, chunk by chunk in an order chosen at run time. Offsets are
// assigned in the order of batches, so the bytes do not depend on which thread was first.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "shard/gaps.hpp"
#include "shard/layout.hpp"
#include "shard/update.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// The position of a chunk in the order in which the chunks of a shard are written.
[[nodiscard]] std::uint64_t order_key(const ShardLayout& shard, const Shape& cell, const Shape& grid,
                                      ChunkOrder order) noexcept;

/// Sets how the chunks of a new object are placed, by Config::chunk_order and Config::slack.
void set_placement(const Config& config, const ShardLayout& layout, ShardUpdate& update) noexcept;

/// Consecutive encoded chunks.
struct EncodedBatch {
  EncodedBatch() { bytes->truncate(0); }
  struct Chunk {
    std::uint64_t slot;
    std::uint64_t length;
    bool present;                       ///< false: equal to the fill value, not stored
    const std::byte* viewed = nullptr;  ///< where its bytes are, if they are not in `bytes`
  };
  /// Smaller chunks are combined, so that they are written by one call.
  static constexpr std::size_t kLargeBytes = std::size_t{64} << 10;
  /// Adds a chunk; may exchange its buffer for another one.
  Result<void> add(std::uint64_t slot, Buffer& encoded, bool present);
  /// Adds a chunk whose bytes stay where they are until they are written.
  void add(std::uint64_t slot, std::span<const std::byte> viewed) {
    chunks.push_back({slot, viewed.size(), true, viewed.data()});
  }
  Scratch bytes;               ///< of small chunks
  std::vector<Scratch> large;  ///< each of one chunk
  std::vector<Chunk> chunks;
};

class ShardWriter {
 public:
  /// At most `window` batches are in memory at once. The coding must outlive the writer.
  ShardWriter(const IndexCoding& coding, ShardUpdate update, std::size_t window);

  /// Moves the kept chunks into `to`, with one copy per move. `old` is the version that the update was planned from;
  /// null if nothing of it moves. For `amend`, `to` already contains the old version.
  Result<void> start(ObjectWriter& to, ByteSource* old = nullptr);

  /// Encodes batches on the pool. They follow earlier batches, in the order of their numbers.
  Result<void> put(std::size_t count, const Config& config,
                   const std::function<Result<EncodedBatch>(std::size_t)>& encode);
  /// Adds the next batch.
  Result<void> put(EncodedBatch batch);

  /// How a shard without occupied slots is stored: not at all, or as an index alone, if there must be an object.
  enum class Empty : std::uint8_t { absent, stored };
  /// Writes the index; false if nothing was written, so that no object should exist.
  Result<bool> finish(Empty empty = Empty::absent);
  /// The alignment of the amendment that the update needs; see ShardUpdate.
  [[nodiscard]] std::uint64_t alignment() const noexcept { return update_.alignment; }
  [[nodiscard]] UpdateKind kind() const noexcept { return update_.kind; }
  /// The present end of the shard, including the index once it is written.
  [[nodiscard]] std::uint64_t end() const noexcept { return update_.end; }

  /// The number of kept chunks of the old version.
  [[nodiscard]] std::uint64_t unchanged() const noexcept { return update_.unchanged_chunks; }
  /// The number of bytes of the old version's chunks that were overwritten.
  [[nodiscard]] std::uint64_t overwritten() const noexcept { return overwritten_; }
  /// Whether any chunk was put or removed.
  [[nodiscard]] bool has_changes() const noexcept { return has_puts_ || update_.replaced_chunks > 0; }

 private:
  class Turn;
  struct Placed {
    std::uint64_t offset;
    std::span<const std::byte> bytes;
  };
  [[nodiscard]] std::uint64_t allocate(std::uint64_t slot, std::uint64_t length);
  std::vector<Placed> place(const EncodedBatch& batch);
  Result<void> align(IndexCoding::Part& index);
  Result<void> append(std::span<const std::byte> bytes);
  std::vector<Placed> place_in_turn(std::size_t number, EncodedBatch batch, std::vector<EncodedBatch>& ready);

  const IndexCoding& coding_;
  const std::size_t window_;
  ObjectWriter* to_ = nullptr;

  std::mutex mutex_;  // guards what follows
  std::condition_variable advanced_;
  bool abandoned_ = false;
  std::size_t next_ = 0;  // the batch that gets the next offset
  std::map<std::size_t, EncodedBatch> waiting_;
  bool has_puts_ = false;
  bool index_changes_ = false;
  std::uint64_t overwritten_ = 0;
  std::uint64_t used_;  // the end of the last chunk, before its slack
  ShardUpdate update_;  // its index and its end grow with each chunk
  Gaps gaps_;
};

}  // namespace sherd
