// From stored chunks to elements in the caller's memory. One planner serves whole, subset, strided, indexed and point
// access, for one region or many, at any depth of nesting, from a store or from bytes already in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/chunk_plan.hpp"
#include "array/read_objects.hpp"
#include "array/strided.hpp"
#include "base/cache.hpp"
#include "base/pool.hpp"
#include "shard/layout.hpp"
#include "shard/reader.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// Decoded bytes above which work is worth a separate task.
inline constexpr std::uint64_t kBatchBytes = std::uint64_t{512} << 10;

/// What reading may hold in memory: half of it stored, half decoded bytes. A holder of the first half may wait for the
/// second, a holder of the second waits for nothing else, so one of them can always proceed.
struct ReadBudget {
  explicit ReadBudget(std::uint64_t bytes) noexcept : stored(bytes / 2), decoded(bytes / 2) {}
  Budget stored;
  Budget decoded;
};

class ChunkReader {
 public:
  /// `arena` may be null for types of fixed size. All references must outlive the reader.
  ChunkReader(const Config& config, StoreTraits traits, Cache& cache, ReadBudget& budget, VarBytesArena* arena)
      : config_(config), traits_(traits), cache_(cache), budget_(budget), arena_(arena) {}

  /// Reads a stored object. `valid` is the part of its shape inside the array: if all of it is requested, a shard is
  /// read with one request.
  Result<void> from_object(ByteSource& source, const Piece& piece, const Shape& valid) const;
  /// The actions of read_objects() for a stored object: as from_object(), but a missing object is read, too.
  struct Outcome {
    std::function<void()> finished;       ///< everything has been read
    std::function<Result<void>()> again;  ///< ObjectRead::again()
  };
  [[nodiscard]] std::unique_ptr<ObjectRead> object_read(std::string key, Piece piece, Shape valid,
                                                        Outcome outcome) const;
  /// From what a cache keeps of a stored object that is read as a whole; false if it has nothing of that version.
  Result<bool> from_kept(ByteSource& source, const Piece& piece) const;
  /// Decodes such an object, and keeps what the configuration requests.
  Result<void> from_whole(ByteSource& source, std::span<const std::byte> encoded, const Piece& piece) const;
  /// Decodes bytes in memory; `encoded` is the whole chunk.
  Result<void> from_memory(std::span<const std::byte> encoded, const Piece& piece) const;
  /// This reader with another arena for variable-length elements.
  [[nodiscard]] ChunkReader with_arena(VarBytesArena& arena) const {
    ChunkReader reader = *this;
    reader.arena_ = &arena;
    return reader;
  }
  /// Puts the fill value everywhere.
  Result<void> fill(const Piece& piece) const;
  /// Chunks closer than this are read together, up to a maximum number of bytes.
  [[nodiscard]] std::uint64_t gap() const { return config_.coalesce_gap.value_or(traits_.coalesce_gap); }
  [[nodiscard]] std::uint64_t run_bytes() const;

 private:
  class Object;

  Result<void> make_plan(ByteSource& source, std::uint64_t size, const Piece& piece, ReadPlan& plan) const;

  Result<void> from_whole_object(ByteSource& source, std::uint64_t size, const Piece& piece) const;
  Result<void> keep_stored(ByteSource& source, std::shared_ptr<const Buffer> bytes) const;
  Result<bool> wants_whole(ByteSource& source, std::uint64_t size, const Piece& piece, const Shape& valid) const;
  Result<void> collect(ByteSource& source, Extent where, const Piece& stored, ReadPlan& plan) const;
  Result<ShardEntries> read_entries(const ShardLocation& shard, const ReadCells& cells, Cache& cache) const;
  Result<void> collect_slot(ByteSource& source, ReadPlan::Job job, const Piece& piece, ReadPlan& plan) const;
  Result<void> collect_raw(Extent where, const Piece& piece, ReadPlan& plan) const;
  Result<void> run(ByteSource& source, ReadPlan& plan) const;
  Result<void> run_one(ByteSource& source, const ReadPlan& plan, const Run& run) const;
  Result<void> decode_run(ByteSource& source, const ReadPlan& plan, const Run& run,
                          std::span<const std::byte> bytes) const;
  Result<void> fill_empty(const ReadPlan& plan, std::size_t first, std::size_t last) const;
  Result<void> decode_job(ByteSource& source, const ReadPlan::Job& job, std::span<const std::byte> bytes) const;
  Result<void> decode_kept(ByteSource& source, Extent where, std::span<const std::byte> bytes,
                           const Piece& piece) const;
  Result<bool> from_cache(ByteSource& source, Extent where, const Piece& piece) const;
  [[nodiscard]] bool keeps(const ChunkLayout& layout, const Shape& shape) const;
  [[nodiscard]] bool keeps_stored(std::uint64_t bytes) const noexcept {
    return config_.cache == CacheMode::shard && bytes <= config_.cache_bytes;
  }

  Result<void> shard_in_memory(std::span<const std::byte> shard, const Piece& piece) const;
  Result<void> opaque_in_memory(std::span<const std::byte> encoded, const Piece& piece) const;
  Result<void> leaf_in_memory(std::span<const std::byte> encoded, const Piece& piece) const;
  Result<void> raw_in_memory(std::span<const std::byte> bytes, std::uint64_t skipped, const Piece& stored) const;
  Result<bool> decode_wanted(std::span<const std::byte> encoded, const Piece& stored) const;
  Result<bool> decode_beginning(std::span<const std::byte> encoded, const Piece& stored) const;
  Result<bool> stream_leaf(std::span<const std::byte> encoded, const Piece& stored) const;
  void count_decoded() const noexcept;

  /// The share of the budget for `bytes` that decoding uses; none if they are few or were taken already.
  [[nodiscard]] Budget::Share take(std::uint64_t bytes) const;
  [[nodiscard]] Budget::Share take_for(const Piece& stored, std::uint64_t encoded, std::uint64_t scratch) const;
  [[nodiscard]] ChunkReader taken() const {
    ChunkReader reader = *this;
    reader.taken_ = true;
    return reader;
  }

  const Config& config_;
  StoreTraits traits_;
  Cache& cache_;
  ReadBudget& budget_;
  VarBytesArena* arena_;
  bool taken_ = false;
};

/// `piece` in the stored order of its layout's chain.
Piece stored_piece(Piece piece);
/// Decoded bytes of a chunk.
std::uint64_t chunk_bytes(const ChunkLayout& layout, const Shape& shape);
/// A cell's number in C order.
std::uint64_t ravel(const Shape& cell, const Shape& grid) noexcept;
/// The inverse: the cell of a number.
Shape unravel(std::uint64_t number, const Shape& grid);
/// A piece for the whole chunk, dense in memory.
Piece whole_piece(const ChunkLayout& layout, const Shape& shape, std::byte* to);

}  // namespace sherd
