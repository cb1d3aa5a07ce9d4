// From the caller's memory to encoded chunks: what the write covers is encoded, what it does not is taken over
// encoded from the version before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "array/blocks.hpp"
#include "array/chunk_reader.hpp"
#include "array/text.hpp"
#include "shard/writer.hpp"

namespace sherd {

/// What is written of one chunk. Array order of its layout, or stored order where said.
struct WritePiece {
  const ChunkLayout& layout;
  Shape shape;  ///< declared
  Shape valid;  ///< inside the array; what lies beyond is filled
  Region part;
  WriteSource from;
  std::uint64_t first_id = 0;  ///< the lowest id of a shard whose chunks have ids
  bool has_object = false;     ///< also where all is fill value: a chunk of it, or a shard without chunks

  [[nodiscard]] bool covered() const noexcept { return part.covers(valid); }
  /// What its elements point to, where they are of variable length.
  [[nodiscard]] std::uint64_t text() const noexcept { return layout.dtype.is_variable() ? text_bytes(part, from) : 0; }
};

class ChunkWriter {
 public:
  /// `reader` decodes what is only partly overwritten. Up to `waiting` encoded bytes of one shard wait for those before
  /// them. References must outlive the writer.
  ChunkWriter(const Config& config, std::uint64_t waiting, const ChunkReader& reader)
      : config_(config), waiting_(waiting), reader_(reader) {}

  /// About what to_memory() holds while it makes a chunk of this shape and encodes it, without variable-length bytes.
  [[nodiscard]] static std::uint64_t writing_bytes(const ChunkLayout& layout, const Shape& shape, bool update);
  /// About what each thread holds that works on a shard, and the decoded bytes of what is put into it at one time.
  [[nodiscard]] static std::uint64_t thread_bytes(const ChunkLayout& shard);
  [[nodiscard]] static std::uint64_t batch_bytes(const ChunkLayout& shard);

  /// The chunk's encoded bytes after the write; `old` is its present version where the piece does not cover it.
  /// False: all is fill value, so that nothing is to be stored. Not where the piece has_object.
  Result<bool> to_memory(const WritePiece& piece, std::optional<std::span<const std::byte>> old, Buffer& to) const;

  /// Writes a chunk that is stored as it is (no codec but bytes), piece in stored order and covered, block by block.
  Result<bool> to_raw_object(const WritePiece& stored, const Blocks& blocks, ObjectWriter& to) const;

  /// The chunks of a shard of ids after the write, each in a batch of its own, for a shard to which they are added.
  Result<std::vector<EncodedBatch>> to_batches(const WritePiece& stored, ByteSource& old) const;

  /// Writes a shard (not an opaque one), piece in stored order; `old` may be null. False as above.
  Result<bool> to_object(const WritePiece& stored, ByteSource* old, ObjectWriter& to) const;

 private:
  struct SlotPlan;
  struct SlotPlans;
  /// The version before, and what a write reads of it.
  struct OldVersion {
    ByteSource& source;
    OldShard shard;
  };
  /// Chunks of it that are only partly overwritten, read together.
  struct OldChunks;
  Result<OldVersion> read_old(const WritePiece& stored, ByteSource& old) const;
  /// The parts of the plan point into `cells`.
  SlotPlans plan_slots(const WritePiece& stored, const Cells& cells) const;
  Result<bool> write_slots(const WritePiece& stored, const SlotPlans& slots, const OldVersion* old,
                           ShardWriter& writer) const;
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
  /// All elements of a chunk after the write, dense in stored order; may be the caller's own memory.
  Result<const std::byte*> elements(const WritePiece& stored, std::optional<std::span<const std::byte>> old,
                                    Buffer& scratch, VarBytesArena& arena) const;

  const Config& config_;
  std::uint64_t waiting_;
  const ChunkReader& reader_;
};

WritePiece stored_piece(const WritePiece& piece);

}  // namespace sherd
