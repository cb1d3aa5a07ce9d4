// Slots of a shard as ranges of its object, and reading them with few requests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/cache.hpp"
#include "shard/layout.hpp"
#include "shard/uint64.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// A shard inside a source: the whole object, or the extent of a slot in another shard.
struct ShardLocation {
  ByteSource& source;
  Extent where;  ///< inside the source
  const ShardLayout& layout;
  Shape grid;                  ///< inner chunks per dimension
  std::uint64_t first_id = 0;  ///< the lowest of its ids, if chunks have ids

  /// The id of an inner chunk.
  [[nodiscard]] std::uint64_t id(const Shape& cell) const { return first_id + layout.ids()->morton.encode(cell); }
};

/// The location of this shard's encoded index in the source, by offset; `corrupt` if the shard is too small for
/// it.
Result<std::vector<Extent>> index_extents(const ShardLocation& shard, const Limits& limits);
/// The location of the encoded second index of a shard with two.
Result<std::vector<Extent>> second_extents(const ShardLocation& shard, const Limits& limits);
/// The second index's entries for the chunks that both indexes have, by minishard and id.
struct SecondIndexEntry {
  SecondIndex::Slot slot;
  std::optional<Extent> extent;  ///< absent: no chunk
};
Result<std::vector<SecondIndexEntry>> read_second_index(const ShardLocation& shard, const Limits& limits);

/// The index of a shard with slots, where its format has it.
Result<ShardIndex> read_slots(const ShardLocation& shard, const Limits& limits);
/// The copy of an index at the beginning that a writer appends before it overwrites the index; at the end of the shard,
/// behind all chunks. `corrupt` if there is none.
Result<ShardIndex> read_slots_copy(const ShardLocation& shard, const Limits& limits);

/// The shard's index, with slots in C order of the inner chunks: from the cache if it has this generation, otherwise
/// read and cached. Ids of chunks outside this shard are not in it. The copy of an index at the beginning replaces one
/// that a killed writer has overwritten in part.
Result<std::shared_ptr<const ShardIndex>> read_index(const ShardLocation& shard, const Limits& limits, Cache& cache);

/// Whether read_index would cost no request.
[[nodiscard]] bool has_index(const ShardLocation& shard, const Generation& generation, Cache& cache);

/// The index entries of some inner chunks.
class ShardEntries {
 public:
  /// Reads as much of the index as can be read at once: all of it, or the minishards of some `ids`.
  static Result<ShardEntries> read(const ShardLocation& shard, std::span<const std::uint64_t> ids, const Limits& limits,
                                   Cache& cache);
  /// The chunk's bytes relative to the shard, nullopt if it is not stored; `corrupt` as for ShardIndex::extent().
  [[nodiscard]] Result<std::optional<Extent>> extent(const ShardLocation& shard, const Shape& cell,
                                                     std::uint64_t slot) const;

 private:
  std::shared_ptr<const ShardIndex> slots_;
  std::vector<std::uint64_t> minishards_;  // in ascending order
  std::vector<std::shared_ptr<const MinishardIndex>> lists_;
};

/// The settings for reading minishards.
struct MinishardReading {
  const Uint64Format& format;
  const Limits& limits;
  Cache& cache;
  std::uint64_t gap = 0;  ///< lists closer than this are read together
};

/// The lists of these minishards (in ascending order) of a shard of ids; null if there is none. Lists that the cache
/// lacks are read with two dependent batches of reads. `corrupt` names the minishard.
Result<std::vector<std::shared_ptr<const MinishardIndex>>> read_minishards(ByteSource& source,
                                                                           std::span<const std::uint64_t> minishards,
                                                                           const MinishardReading& reading);

/// The part of the array at the beginning of a shard that read_minishards() reads for these minishards (in ascending
/// order); only its beginning if it is long.
[[nodiscard]] Extent list_extents(std::span<const std::uint64_t> minishards, const Uint64Sharding& sharding);

/// `corrupt`, as above, unless the index and these lists are inside the shard.
Result<void> check_list_extents(ByteSource& source, std::span<const std::uint64_t> minishards,
                                const MinishardReading& reading);

/// Bytes requested from an object; `tag` is the caller's.
struct Wanted {
  Extent extent;
  std::size_t tag = 0;
};
/// One read of [extent.offset, extent.end()) for wanted[first, last).
struct Run {
  Extent extent;
  std::size_t first = 0;
  std::size_t last = 0;
};
/// Sorts by offset and merges extents closer than the gap, as long as a run is at most max_run_bytes (a single extent
/// may be larger).
std::vector<Run> coalesce(std::vector<Wanted>& wanted, std::uint64_t gap, std::uint64_t max_run_bytes);
/// Reads these runs with one batch of reads, all of them in memory at a time, and visits the bytes of each request, in
/// the order of `wanted`. A failure of `visit` ends it.
Result<void> read_runs(ByteSource& source, std::span<const Run> runs, std::span<const Wanted> wanted,
                       const std::function<Result<void>(const Wanted&, std::span<const std::byte>)>& visit);
/// Reads and visits runs; the visited bytes remain in `bytes`.
Result<void> read_runs(ByteSource& source, std::span<const Run> runs, std::span<const Wanted> wanted, Buffer& bytes,
                       const std::function<Result<void>(const Wanted&, std::span<const std::byte>)>& visit);

}  // namespace sherd
