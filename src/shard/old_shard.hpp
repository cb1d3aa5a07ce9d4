// What an update reads of the version that it replaces, and which versions are not replaced by updates.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "shard/reader.hpp"
#include "shard/update.hpp"

namespace sherd {

/// Where a file that is a shard and an HDF5 file at the same time has its HDF5 signature: at byte 0, 512, 1024, 2048, …
/// Bytes of chunks and indexes may look like one.
class Hdf5Signature {
 public:
  explicit Hdf5Signature(std::uint64_t object_size);
  /// Removes positions inside bytes that the shard uses.
  void leave_out(const Extent& used);
  /// Reads the other positions, if there are any.
  Result<bool> is_in(ByteSource& shard) const;

 private:
  std::vector<std::uint64_t> positions_;
};

/// `unsupported`, for a shard that is an HDF5 file at the same time: bytes that no index refers to are the metadata of
/// that file, and a new version would not have them. `instead` is what to do.
[[nodiscard]] Error updates_hdf5(std::string_view instead);

/// Refuses a shard with such a signature.
Result<void> refuse_hdf5(const OldShard& old, ByteSource& shard);

/// For a shard with slots that is an object of its own: adds where its index is, and how it can be appended to.
Result<void> add_slots(const ShardLocation& shard, const Limits& limits, OldShard& old);

/// Reads the indexes of a shard that is to be updated. `unsupported` if it is an HDF5 file at the same time; `corrupt`
/// if it has chunks that a new version would lose: with ids of another shard, overlapping the index, or, if they are
/// shards, too long to be moved.
Result<OldShard> read_old_shard(const ShardLocation& shard, const Limits& limits);

/// `corrupt` if the two indexes of a shard disagree about a chunk that is not among the `changed` slots (ascending).
Result<void> check_indices_agree(const ShardLocation& shard, const OldShard& old,
                                 std::span<const std::uint64_t> changed, const Limits& limits);

}  // namespace sherd
