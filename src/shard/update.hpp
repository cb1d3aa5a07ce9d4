// The next version of a shard as a value: which chunks are kept, how their bytes move, which bytes are free for changed
// chunks, and where appended bytes and the index begin. plan_update() determines all of this from the old index alone,
// without I/O; ShardWriter carries it out. docs/decisions/0018-updates-are-values.md has the rationale, and what an
// update that changes the object itself would have to record before its first write.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "shard/index.hpp"
#include "store/extent.hpp"

namespace sherd {

/// How the next version of a shard is derived from the old one.
enum class UpdateKind : std::uint8_t {
  /// Kept chunks stay at their offsets. Changed chunks go into bytes that the old version does not use, or to the end,
  /// followed by a new index. A reader with the old index finds kept chunks where it expects them.
  keep_offsets,
  /// Kept chunks are compacted in the order of their offsets; changed chunks follow. No byte is dead.
  dense,
  /// Kept chunks and the index stay at their offsets: for updates that only remove chunks or make them
  /// shorter.
  index_in_place,
  /// The old object stays as it is. Changed chunks go after its end, and only the changed parts of the index are
  /// written. For kinds of index that can be replaced in parts, and for an object that is written in several parts.
  amend,
};

struct UpdatePolicy {
  UpdateKind kind = UpdateKind::keep_offsets;
  /// The maximum share of dead bytes in a shard. For keep_offsets: above it the next version is dense.
  double max_unused = 1.0;

  [[nodiscard]] bool is_wasteful(std::uint64_t dead, std::uint64_t size) const noexcept {
    return static_cast<double>(dead) > max_unused * static_cast<double>(size);
  }
};

/// The version that an update replaces.
struct OldShard {
  std::shared_ptr<const ShardIndex> index;            ///< has the slots of the new version, and the object's size
  std::vector<Extent> index_bytes = {};               ///< where the index itself is stored
  std::uint64_t max_chunk_bytes = ~std::uint64_t{0};  ///< longer entries are damage
  bool overlaps_index = false;  ///< chunks are where the new version has its index: kept chunks must be moved
};

struct ShardUpdate {
  /// Bytes of the old version and their new offset; may be several adjacent chunks.
  struct Move {
    Extent from;
    std::uint64_t to = 0;
    friend bool operator==(const Move&, const Move&) = default;
  };

  UpdateKind kind = UpdateKind::dense;  ///< the chosen kind; never keep_offsets if that would be wasteful
  std::uint64_t old_size = 0;           ///< bytes of the old version; 0: there is none
  ShardIndex index;                     ///< kept chunks at their new offsets; changed slots are missing
  std::uint64_t unchanged_chunks = 0;   ///< the number of kept chunks
  std::vector<Move> moves = {};         ///< by offset in the old version; none for `amend`, which keeps all bytes
  std::vector<Extent> gaps = {};        ///< by offset: free for changed chunks, which go into the first gap that fits
  std::uint64_t head = 0;               ///< size of the index part at the beginning; other parts follow the last chunk
  std::uint64_t end = 0;                ///< where bytes that fit into no gap are appended

  friend bool operator==(const ShardUpdate&, const ShardUpdate&) = default;
};

/// A shard without an old version. Fails like IndexCoding::head_bytes().
Result<ShardUpdate> plan_new(const IndexCoding& coding);

/// The next version of `old`. The `changed` slots will be put or removed; all others are kept. `corrupt` names the slot
/// of a chunk that cannot be kept: its entry is damaged, it is longer than max_chunk_bytes, or it overlaps the index.
/// Chunks in changed slots may be damaged.
Result<ShardUpdate> plan_update(const UpdatePolicy& policy, const OldShard& old, std::span<const std::uint64_t> changed,
                                const IndexCoding& coding);

}  // namespace sherd
