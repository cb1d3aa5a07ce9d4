// From the caller's memory to encoded chunks: chunks that the write covers are encoded, other chunks are taken over,
// encoded, from the previous version.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "array/blocks.hpp"
#include "array/chunk_reader.hpp"
#include "array/varlen.hpp"
#include "base/core_queue.hpp"
#include "shard/apply.hpp"
#include "shard/writer.hpp"

namespace sherd {

/// What is written of one chunk. In array order of its layout, or stored order where stated.
struct WritePiece {
  const ChunkLayout& layout;
  Shape shape;  ///< declared
  Shape valid;  ///< the part inside the array; the rest is filled
  Region part;
  WriteSource from;
  std::uint64_t first_id = 0;  ///< the lowest id of a shard whose chunks have ids
  bool has_object = false;     ///< even if everything is the fill value: a chunk of it, or a shard without chunks

  [[nodiscard]] bool covered() const noexcept { return part.covers(valid); }
  /// The bytes to which its elements point, if they are variable-length.
  [[nodiscard]] std::uint64_t varlen() const noexcept {
    return layout.dtype.is_variable() ? varlen_bytes(part, from) : 0;
  }
};

class ChunkWriter {
 public:
  /// `reader` decodes chunks that are only partly overwritten. Up to `waiting` encoded bytes of one shard may wait for
  /// those before them. `cores`, if there are any, limits how many threads encode at a time; an object begun
  /// earlier comes first. References and `cores` must outlive the writer.
  ChunkWriter(const Config& config, std::uint64_t waiting, const ChunkReader& reader, CoreQueue* cores = nullptr)
      : config_(config), waiting_(waiting), reader_(reader), cores_(cores) {}

  /// Approximate memory of to_memory() for a chunk of this shape, with its encoding, without variable-length bytes.
  [[nodiscard]] static std::uint64_t writing_bytes(const ChunkLayout& layout, const Shape& shape, bool update);
  /// Approximate memory of each thread that works on a shard, and of the decoded bytes put into it at a time.
  [[nodiscard]] static std::uint64_t thread_bytes(const ChunkLayout& shard);
  [[nodiscard]] static std::uint64_t batch_bytes(const ChunkLayout& shard);

  /// The encoded bytes of the chunk after the write; `old` is its present version if the piece does not cover it. False
  /// if everything is the fill value, so that nothing is stored; never if the piece has_object.
  Result<bool> to_memory(const WritePiece& piece, std::optional<std::span<const std::byte>> old, Buffer& to) const;

  /// to_memory() of a covered chunk that is no shard, once there is a core for it.
  Result<bool> to_memory_in_turn(const WritePiece& piece, Buffer& to) const;

  /// Writes a chunk that is stored raw (no codec but bytes), block by block; `stored` must cover the chunk.
  Result<bool> to_raw_object(const WritePiece& stored, const Blocks& blocks, ObjectWriter& to) const;

  /// Writes a shard (not an opaque one), with the piece in stored order; `old` may be null. False as for to_memory().
  Result<bool> to_object(const WritePiece& stored, ByteSource* old, ObjectWriter& to) const;
  /// Stores the next version of a shard that is only partly overwritten, as choose() decides; `shard.old` may be null.
  Result<AppliedUpdate> update(const WritePiece& stored, const StoredShard& shard) const;

 private:
  struct SlotPlan;
  struct SlotPlans;
  /// The previous version, and what a write reads of it.
  struct OldVersion {
    ByteSource& source;
    OldShard shard;
  };
  /// Its chunks that are only partly overwritten, which are read together.
  struct OldChunks;
  [[nodiscard]] static WritePiece piece_of(const WritePiece& stored, const SlotPlan& slot);
  /// The parts of the plan point into `cells`.
  SlotPlans plan_slots(const WritePiece& stored, const Cells& cells) const;
  Result<void> put_slots(const WritePiece& stored, const SlotPlans& slots, const OldVersion* old,
                         ShardWriter& writer) const;
  /// Carries out the plan of a shard's next version.
  using Carry = std::function<Result<AppliedUpdate>(const IndexCoding& coding, ShardUpdate update, std::size_t window,
                                                    const std::function<Result<void>(ShardWriter&)>& put)>;
  Result<AppliedUpdate> make_version(const WritePiece& stored, ByteSource* old, const StoreTraits& traits,
                                     const Carry& carry) const;
  /// How the next version of a shard is made, and what was read for it of the previous one, if there is one.
  struct NextVersion;
  Result<NextVersion> plan_next(const WritePiece& stored, const SlotPlans& plans, ByteSource* old,
                                const StoreTraits& traits) const;
  Result<OldChunks> read_old_chunks(const WritePiece& stored, std::span<const SlotPlan> slots,
                                    const OldVersion* old) const;
  Result<EncodedBatch> encode_batch(const WritePiece& stored, std::span<const SlotPlan> slots,
                                    const OldVersion* old) const;
  Result<bool> leaf_to_memory(const WritePiece& stored, std::optional<std::span<const std::byte>> old,
                              Buffer& to) const;
  Result<bool> opaque_to_memory(const WritePiece& stored, std::optional<std::span<const std::byte>> old,
                                Buffer& to) const;
  Result<bool> shard_to_memory(const WritePiece& stored, std::optional<std::span<const std::byte>> old,
                               Buffer& to) const;
  /// The caller's own memory if it contains all of a chunk that is not small as it is stored.
  [[nodiscard]] static std::optional<std::span<const std::byte>> as_stored(const WritePiece& stored);
  /// Whether a chunk is not stored if it has only the fill value; whether these elements of it have no other.
  [[nodiscard]] bool may_be_left_out(const WritePiece& stored) const noexcept;
  [[nodiscard]] bool is_left_out(const WritePiece& stored, std::span<const std::byte> elements) const;
  void count_encoded() const noexcept;
  [[nodiscard]] CoreQueue::Core take_core(std::uint64_t object) const {
    return cores_ != nullptr ? cores_->take(object) : CoreQueue::Core();
  }
  /// All elements of a chunk after the write, dense in stored order; may be the caller's own memory.
  Result<const std::byte*> elements(const WritePiece& stored, std::optional<std::span<const std::byte>> old,
                                    Buffer& scratch, VarBytesArena& arena) const;

  const Config& config_;
  std::uint64_t waiting_;
  const ChunkReader& reader_;
  CoreQueue* cores_;
  mutable std::atomic<std::uint64_t> begun_{0};  ///< objects
};

WritePiece stored_piece(const WritePiece& piece);

}  // namespace sherd
