// The next version of a shard as a value: which chunks are kept, how their bytes move, which bytes are free for changed
// chunks, and where appended bytes and the index begin. A plan function determines all of this from the old index
// alone, without I/O; ShardWriter carries it out. docs/decisions/0018-updates-are-values.md has the rationale, and what
// an update that changes the object itself would have to record before its first write.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shard/index.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"
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
  /// The old object stays as it is. Changed chunks go after its end. Then comes a new index or, at the beginning, what
  /// has changed of it is written.
  amend,
  /// As amend, but a changed chunk that fits where it was is overwritten there.
  in_place,
};

/// Whether the old object stays, and an amendment changes it.
[[nodiscard]] constexpr bool keeps_object(UpdateKind kind) noexcept {
  return kind == UpdateKind::amend || kind == UpdateKind::in_place;
}

/// The version that an update replaces.
struct OldShard {
  std::shared_ptr<const ShardIndex> index;            ///< has the slots of the new version, and the object's size
  std::vector<Extent> index_bytes = {};               ///< where the index itself is stored
  std::uint64_t max_chunk_bytes = ~std::uint64_t{0};  ///< longer entries are damage
  bool overlaps_index = false;  ///< chunks are where the new version has its index: kept chunks must be moved
  bool has_parts = false;       ///< the index can be replaced in parts, so that changed chunks can be appended
  Appending appending = {};     ///< how the store can append to the shard, whose index changes as a whole
  bool starts_with_index = false;
  bool checks_index = false;  ///< a part of the index is detected by its checksum
  bool is_exclusive = true;   ///< what the slots do not show: no other chunk has bytes of theirs
  /// The number of bytes to which nothing refers. If omitted, the index and its bytes are complete and determine it;
  /// otherwise they may lack what is far from the change, and a plan that needs all of them reads them first.
  std::optional<std::uint64_t> unused = {};

  [[nodiscard]] std::uint64_t unused_bytes() const;
  /// Whether a change in place that also appends, because a chunk does not fit, makes a new object: its index is at the
  /// end, and the store cannot append to it in one step.
  [[nodiscard]] bool is_copied_to_append() const noexcept {
    return !has_parts && !starts_with_index && appending.alignment == 0;
  }
};

struct ShardUpdate {
  /// Bytes of the old version and their new offset; may be several adjacent chunks.
  struct Move {
    Extent from;
    std::uint64_t to = 0;
    friend bool operator==(const Move&, const Move&) = default;
  };

  /// Where the chunk of a slot is overwritten.
  struct Room {
    Extent old;                ///< the chunk's bytes in the old version
    std::uint64_t length = 0;  ///< the maximum of the new chunk's; if it differs from the old one, the index changes
    friend bool operator==(const Room&, const Room&) = default;
  };

  UpdateKind kind = UpdateKind::dense;
  std::uint64_t old_size = 0;          ///< bytes of the old version; 0: there is none
  ShardIndex index;                    ///< kept chunks at their new offsets; changed slots are missing
  std::uint64_t unchanged_chunks = 0;  ///< the number of kept chunks
  std::uint64_t replaced_chunks = 0;   ///< the number of changed slots that are not empty in the old version
  std::vector<Move> moves = {};        ///< by offset in the old version; none if the object stays
  std::vector<Extent> gaps = {};       ///< by offset: free for changed chunks, which go into the first gap that fits
  std::uint64_t head = 0;              ///< size of the index part at the beginning; other parts follow the last chunk
  std::uint64_t end = 0;               ///< where bytes that fit into no gap are appended
  std::uint64_t alignment = 0;         ///< of the end of an amendment that becomes visible in one step; see Amendment
  std::map<std::uint64_t, Room> rooms = {};  ///< of changed slots, for `in_place`
  bool as_they_arrive = false;               ///< batches are placed in the order in which they are put
  Slack slack = {};                          ///< after each chunk that is put into a new object
  bool copies_index = false;  ///< an index at the beginning is overwritten, so a copy of it is appended before

  friend bool operator==(const ShardUpdate&, const ShardUpdate&) = default;
};

/// A shard without an old version. Fails like IndexCoding::head_bytes().
Result<ShardUpdate> plan_new(const IndexCoding& coding);

/// Makes a plan, which begins as plan_new(), that of the next version of `old`. The `changed` slots will be put or
/// removed; all others are kept. `corrupt` names the slot of a chunk that cannot be kept: its entry is damaged, it is
/// longer than max_chunk_bytes, or it overlaps the index. Chunks in changed slots may be damaged.
using PlanFunction = Result<void>(const OldShard& old, std::span<const std::uint64_t> changed, ShardUpdate& update);
PlanFunction plan_keep_offsets, plan_dense, plan_index_in_place, plan_amend, plan_in_place;

}  // namespace sherd
