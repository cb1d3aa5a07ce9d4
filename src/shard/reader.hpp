// Slots of a shard as ranges of the object it stands in, and the few reads that fetch them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/cache.hpp"
#include "shard/layout.hpp"
#include "shard/uint64.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// A shard inside a source: the whole object, or the extent of a slot of another shard.
struct ShardPlace {
  ByteSource& source;
  Extent where;  ///< inside the source
  const ShardLayout& layout;
  Shape grid;  ///< inner chunks a dimension
};

/// Where the encoded index of this shard stands in the source; `corrupt` where the shard is too small for it.
Result<Extent> index_extent(const ShardPlace& shard, const Limits& limits);

/// The shard's index: from the cache if it has that generation's, otherwise read once and kept there.
Result<std::shared_ptr<const ShardIndex>> read_index(const ShardPlace& shard, const Limits& limits, Cache& cache);

/// Whether read_index would cost no request.
[[nodiscard]] bool has_index(const ShardPlace& shard, const Generation& generation, Cache& cache);

/// The index of a shard that stands in memory.
Result<ShardIndex> index_in(std::span<const std::byte> shard, const ShardLayout& layout, const Shape& grid,
                            const Limits& limits);

/// What reading minishards goes by.
struct MinishardReading {
  const Uint64Format& format;
  const Limits& limits;
  Cache& cache;
  std::uint64_t gap = 0;  ///< lists closer than this are read as one
};

/// The lists of these minishards, given in ascending order, of a shard of ids; null where there is none. What the cache
/// does not have is read with two dependent batches of reads. `corrupt` names the minishard.
Result<std::vector<std::shared_ptr<const MinishardIndex>>> read_minishards(ByteSource& source,
                                                                           std::span<const std::uint64_t> minishards,
                                                                           const MinishardReading& reading);

/// Something wanted of an object; `tag` is the caller's.
struct Wanted {
  Extent extent;
  std::size_t tag = 0;
};
/// Wanted[first, last) with one read of [extent.offset, extent.end()).
struct Run {
  Extent extent;
  std::size_t first = 0;
  std::size_t last = 0;
};
/// Sorts by offset and joins what stands closer than the gap, as long as a run stays within max_run_bytes
/// (one extent alone may be larger).
std::vector<Run> coalesce(std::vector<Wanted>& wanted, std::uint64_t gap, std::uint64_t max_run_bytes);

}  // namespace sherd
