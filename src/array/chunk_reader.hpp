// From stored chunks to elements in the caller's memory: one planner for whole, subset, strided, indexed and point
// access, for one region or many, at any depth of nesting, from a store or from bytes that are already in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/read_cells.hpp"
#include "base/cache.hpp"
#include "base/pool.hpp"
#include "shard/layout.hpp"
#include "shard/reader.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// Decoded bytes that are worth a task of their own.
inline constexpr std::uint64_t kBatchBytes = std::uint64_t{512} << 10;

/// What is wanted of one chunk of `shape`: at least one part, none empty. Array order of its layout.
struct Piece {
  const ChunkLayout& layout;
  Shape shape;
  std::vector<ReadPart> parts = {};
  std::uint64_t first_id = 0;  ///< of a shard whose chunks stand by id: the lowest
};

/// What reading may hold at one time: half of it as stored, half decoded. Who holds some of the first half may take of
/// the second, who holds some of the second takes no more, so there is always somebody who can go on.
struct ReadBudget {
  explicit ReadBudget(std::uint64_t bytes) noexcept : stored(bytes / 2), decoded(bytes / 2) {}
  Budget stored;
  Budget decoded;
};

class ChunkReader {
 public:
  /// `arena` may be null where the type is of fixed size. All references must outlive the reader.
  ChunkReader(const Config& config, StoreTraits traits, Cache& cache, ReadBudget& budget, VarBytesArena* arena)
      : config_(config), traits_(traits), cache_(cache), budget_(budget), arena_(arena) {}

  /// Reads a stored object. `valid` is the part of its shape inside the array: where all of that is wanted, a shard
  /// is read with one request.
  Result<void> from_object(ByteSource& source, const Piece& piece, const Shape& valid) const;
  /// Whether from_store() can read chunks of this layout.
  [[nodiscard]] bool reads_together(const ChunkLayout& layout) const noexcept {
    return config_.cache == CacheMode::index && !layout.opaque_shard();
  }
  /// What from_store() is to read of the object `key` together with opening it: enough to plan the rest, or all of it
  /// if that is wanted and fits a run. `valid` is as in from_object().
  [[nodiscard]] ReadRequest first_read(const std::string& key, const Piece& piece, const Shape& valid) const;
  /// Reads chunks of many objects of a store whose requests have latency, a batch after the other: first all objects
  /// are opened by the first reads, one for each piece; then their inner chunks are read. Calls `done` once for each
  /// piece, from several threads; a failure that it returns ends the call.
  using OnPiece = std::function<Result<void>(std::size_t piece, Result<void> outcome)>;
  Result<void> from_store(Store& store, std::span<const ReadRequest> first_reads, std::span<const Piece> pieces,
                          const OnPiece& done) const;
  /// Decodes what stands in memory; `encoded` is the whole chunk.
  Result<void> from_memory(std::span<const std::byte> encoded, const Piece& piece) const;
  /// The same reader, whose variable-length elements live in another arena.
  [[nodiscard]] ChunkReader with_arena(VarBytesArena& arena) const {
    ChunkReader reader = *this;
    reader.arena_ = &arena;
    return reader;
  }
  /// Puts the fill value everywhere.
  Result<void> fill(const Piece& piece) const;

 private:
  struct Level;
  struct Job;
  struct Plan;
  struct Together;

  Result<void> make_plan(ByteSource& source, std::uint64_t size, const Piece& piece, Plan& plan) const;

  Result<void> from_whole_object(ByteSource& source, std::uint64_t size, const Piece& piece) const;
  Result<bool> wants_whole(ByteSource& source, std::uint64_t size, const Piece& piece, const Shape& valid) const;
  Result<void> collect(ByteSource& source, Extent where, const Piece& stored, Plan& plan) const;
  Result<ShardEntries> read_entries(const ShardPlace& shard, const ReadCells& cells, Cache& cache) const;
  Result<void> collect_slot(ByteSource& source, Job job, const Piece& piece, Plan& plan) const;
  Result<void> collect_raw(Extent where, const Piece& piece, Plan& plan) const;
  Result<void> run(ByteSource& source, Plan& plan) const;
  Result<void> run_one(ByteSource& source, const Plan& plan, const Run& run) const;
  Result<void> decode_run(ByteSource& source, const Plan& plan, const Run& run, std::span<const std::byte> bytes) const;
  Result<void> fill_empty(const Plan& plan, std::size_t first, std::size_t last) const;
  Result<void> decode_job(ByteSource& source, const Job& job, std::span<const std::byte> bytes) const;
  Result<void> decode_kept(ByteSource& source, Extent where, std::span<const std::byte> bytes,
                           const Piece& piece) const;
  Result<bool> from_cache(ByteSource& source, Extent where, const Piece& piece) const;
  [[nodiscard]] bool keeps(const ChunkLayout& layout, const Shape& shape) const;
  [[nodiscard]] std::uint64_t run_bytes() const;

  Result<void> shard_in_memory(std::span<const std::byte> shard, const Piece& piece) const;
  Result<void> opaque_in_memory(std::span<const std::byte> encoded, const Piece& piece) const;
  Result<void> leaf_in_memory(std::span<const std::byte> encoded, const Piece& piece) const;
  Result<void> raw_in_memory(std::span<const std::byte> bytes, std::uint64_t skipped, const Piece& stored) const;
  Result<bool> decode_beginning(std::span<const std::byte> encoded, const Piece& stored) const;
  Result<bool> stream_leaf(std::span<const std::byte> encoded, const Piece& stored) const;
  void count_decoded() const noexcept;

  /// The part of the budget for `bytes` that decoding takes; nothing where they are few or have been taken already.
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

/// The same piece in the stored order of its layout's chain.
Piece stored_piece(Piece piece);
/// Decoded bytes of a chunk.
std::uint64_t chunk_bytes(const ChunkLayout& layout, const Shape& shape);
/// A cell's number in C order.
std::uint64_t ravel(const Shape& cell, const Shape& grid) noexcept;
/// The other way round.
Shape unravel(std::uint64_t number, const Shape& grid);
/// Piece for the whole chunk, dense in memory.
Piece whole_piece(const ChunkLayout& layout, const Shape& shape, std::byte* to);

}  // namespace sherd
