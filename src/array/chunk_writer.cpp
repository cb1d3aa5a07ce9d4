// The plan of a write. The affected slots of a shard are sorted into the requested order and encoded in batches by any
// free thread. Of the old version, only chunks that are partly overwritten are decoded.
#include "array/chunk_writer.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "shard/choose.hpp"
#include "shard/old_shard.hpp"
#include "store/read_into.hpp"
#include "store/span.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kEncodeBatchBytes = std::uint64_t{1} << 20;  // decoded
constexpr std::uint64_t kReservedBytes = std::uint64_t{64} << 20;

Shape inner_valid(const Shape& valid, const Shape& cell, const Shape& inner) {
  Shape result(cell.size());
  for (std::size_t d = 0; d < cell.size(); ++d) {
    const std::uint64_t begin = cell[d] * inner[d];
    result[d] = begin >= valid[d] ? 0 : std::min(inner[d], valid[d] - begin);
  }
  return result;
}

}  // namespace

struct ChunkWriter::SlotPlan {
  std::uint64_t order;
  std::uint64_t slot;
  Region part;
  Shape shape;
  Shape valid;
};

struct ChunkWriter::SlotPlans {
  std::vector<SlotPlan> slots;  ///< in the order of writing
  std::uint64_t slot_bytes;     ///< average decoded bytes of a slot, with the variable-length bytes written now
};

/// What is written of an inner chunk.
WritePiece ChunkWriter::piece_of(const WritePiece& stored, const SlotPlan& slot) {
  return {*stored.layout.shard->inner, slot.shape, slot.valid, slot.part, stored.from};
}

WritePiece stored_piece(const WritePiece& piece) {
  const auto& chain = piece.layout.chain;
  const auto& permutation = chain.permutation();
  return {piece.layout,
          chain.stored_shape(piece.shape),
          chain.stored_shape(piece.valid),
          piece.part.permuted(permutation),
          piece.from.permuted(permutation, piece.part.points),
          piece.first_id,
          piece.has_object};
}

std::uint64_t ChunkWriter::writing_bytes(const ChunkLayout& layout, const Shape& shape, bool update) {
  const std::uint64_t bytes = chunk_bytes(layout, shape);
  // The elements and their encoding; the old encoding.
  if (!layout.shard)
    return bytes * (update ? 3 : 2) + layout.chain.decoding_bytes(layout.chain.stored_shape(shape), bytes);
  // The chunks in progress; the shard, which is moved as it grows; its encoding; the same two of the old version; the
  // elements on each side of array codecs.
  return bytes * (5U + (update ? 2U : 0U) + (layout.chain.has_array_codecs() ? 2U : 0U));
}

std::uint64_t ChunkWriter::batch_bytes(const ChunkLayout& shard) {
  return std::max(kEncodeBatchBytes, chunk_bytes(*shard.shard->inner, shard.shard->inner_shape));
}

std::uint64_t ChunkWriter::thread_bytes(const ChunkLayout& shard) {
  const ShardLayout& inside = *shard.shard;
  return std::max(3 * kEncodeBatchBytes, writing_bytes(*inside.inner, inside.inner_shape, true));
}

Result<bool> ChunkWriter::to_memory(const WritePiece& piece, std::optional<std::span<const std::byte>> old,
                                    Buffer& to) const {
  const WritePiece stored = stored_piece(piece);
  if (!piece.layout.shard) return leaf_to_memory(stored, old, to);
  if (piece.layout.opaque_shard()) return opaque_to_memory(stored, old, to);
  return shard_to_memory(stored, old, to);
}

Result<bool> ChunkWriter::to_memory_in_turn(const WritePiece& piece, Buffer& to) const {
  const auto core = take_core(begun_++);
  return to_memory(piece, std::nullopt, to);
}

Result<const std::byte*> ChunkWriter::elements(const WritePiece& stored, std::optional<std::span<const std::byte>> old,
                                               Buffer& scratch, VarBytesArena& arena) const {
  const ChunkLayout& layout = stored.layout;
  const std::size_t size = layout.dtype.size();
  const auto strides = chunk_strides(stored.shape, size);
  if (const std::byte* dense = dense_target(stored.part, stored.shape, strides, stored.from)) return dense;
  const std::uint64_t bytes = chunk_bytes(layout, stored.shape);
  SHERD_TRY(scratch.resize(bytes));
  if (!stored.covered() && old) {
    // `old` has the layout's own encoding, and the reader needs array order: a view with permuted strides.
    const Piece whole = whole_piece(layout, stored.shape, scratch.data());
    const auto& permutation = layout.chain.permutation();
    Piece natural = whole;
    for (std::size_t j = 0; j < permutation.size(); ++j) {
      natural.shape[permutation[j]] = stored.shape[j];
      natural.parts[0].region.axes[permutation[j]] = whole.parts[0].region.axes[j];
      natural.parts[0].target.strides[permutation[j]] = strides[j];
    }
    SHERD_TRY(reader_.with_arena(arena).from_memory(*old, natural));
  } else if (!stored.covered() || stored.valid != stored.shape) {
    fill_dense(size, layout.fill.bytes().data(), bytes / size, scratch.data());
  }
  copy_in(size, scratch.data(), strides, stored.part, stored.from);
  return scratch.data();
}

bool ChunkWriter::may_be_left_out(const WritePiece& stored) const noexcept {
  return !config_.write_empty_chunks && !stored.has_object;
}

bool ChunkWriter::is_left_out(const WritePiece& stored, std::span<const std::byte> elements) const {
  const ChunkLayout& layout = stored.layout;
  return may_be_left_out(stored) &&
         all_equal(layout.dtype, elements.data(), elements.size() / layout.dtype.size(), layout.fill.bytes().data());
}

void ChunkWriter::count_encoded() const noexcept {
  if (config_.recorder) config_.recorder->chunks_encoded.fetch_add(1, std::memory_order_relaxed);
}

Result<bool> ChunkWriter::leaf_to_memory(const WritePiece& stored, std::optional<std::span<const std::byte>> old,
                                         Buffer& to) const {
  const ChunkLayout& layout = stored.layout;
  Scratch scratch;
  VarBytesArena arena;
  SHERD_TRY(data, elements(stored, old, *scratch, arena));
  const std::span all(data, chunk_bytes(layout, stored.shape));
  if (is_left_out(stored, all)) return false;
  if (data == scratch->data() && layout.chain.raw_word_size() != 0) {
    layout.chain.to_native(scratch->span());
    std::swap(*scratch, to);
  } else {
    SHERD_TRY(layout.chain.encode(stored.shape, all, to));
  }
  count_encoded();
  return true;
}

std::optional<std::span<const std::byte>> ChunkWriter::as_stored(const WritePiece& stored) {
  const ChunkLayout& layout = stored.layout;
  if (layout.shard || layout.chain.raw_word_size() != 1) return std::nullopt;
  const std::uint64_t bytes = chunk_bytes(layout, stored.shape);
  if (bytes < EncodedBatch::kLargeBytes) return std::nullopt;
  const auto strides = chunk_strides(stored.shape, layout.dtype.size());
  const std::byte* data = dense_target(stored.part, stored.shape, strides, stored.from);
  if (data == nullptr || !layout.chain.is_native({data, bytes})) return std::nullopt;
  return std::span(data, bytes);
}

Result<bool> ChunkWriter::to_raw_object(const WritePiece& stored, const Blocks& blocks, ObjectWriter& to) const {
  const ChunkLayout& layout = stored.layout;
  const std::size_t element = layout.dtype.size();
  const auto strides = chunk_strides(stored.shape, element);
  const auto gather = [&](std::uint64_t number, Buffer& block) -> Result<void> {
    SHERD_TRY(block.resize(blocks.bytes()));
    Region part;
    const bool touched = blocks.get(number, part);
    if (!touched || !part.covers(blocks.shape()))
      fill_dense(element, layout.fill.bytes().data(), blocks.bytes() / element, block.data());
    if (touched) copy_in(element, block.data(), strides, part, stored.from);
    return {};
  };
  bool empty = may_be_left_out(stored);
  Scratch first;
  for (std::uint64_t i = 0; empty && i < blocks.count(); ++i) {
    SHERD_TRY(gather(i, *first));
    empty = is_left_out(stored, first->span());
  }
  if (empty) return false;
  SHERD_TRY(parallel_for(blocks.count(), config_, [&](std::size_t i) -> Result<void> {
    Scratch block;
    SHERD_TRY(gather(i, *block));
    layout.chain.to_native(block->span());
    return to.write(i * blocks.bytes(), block->span());
  }));
  count_encoded();
  return true;
}

Result<bool> ChunkWriter::opaque_to_memory(const WritePiece& stored, std::optional<std::span<const std::byte>> old,
                                           Buffer& to) const {
  const ChunkLayout& layout = stored.layout;
  Buffer shard;
  if (!layout.chain.has_array_codecs()) {
    Buffer decoded;
    if (old && !stored.covered()) {
      SHERD_TRY(layout.chain.decode_bytes(*old, max_shard_bytes(config_.limits), decoded));
      old = decoded.span();
    }
    SHERD_TRY(present, shard_to_memory(stored, old, shard));
    if (!present) return false;
    SHERD_TRY(layout.chain.encode_bytes(shard.span(), to));
    return true;
  }
  Buffer scratch;
  VarBytesArena arena;
  SHERD_TRY(data, elements(stored, old, scratch, arena));
  const std::uint64_t bytes = chunk_bytes(layout, stored.shape);
  Buffer inner;
  SHERD_TRY(layout.chain.encode_arrays(stored.shape, {data, bytes}, inner));
  SHERD_TRY(inner_type, layout.chain.inner_type(stored.shape));
  Piece whole = whole_piece(layout, inner_type.shape, inner.data());
  const WritePiece all{layout,
                       inner_type.shape,
                       inner_type.shape,
                       std::move(whole.parts[0].region),
                       {inner.data(), chunk_strides(inner_type.shape, inner_type.dtype.size())},
                       0,
                       stored.has_object};
  SHERD_TRY(present, shard_to_memory(all, std::nullopt, shard));
  if (!present) return false;
  SHERD_TRY(layout.chain.encode_bytes(shard.span(), to));
  return true;
}

Result<bool> ChunkWriter::shard_to_memory(const WritePiece& stored, std::optional<std::span<const std::byte>> old,
                                          Buffer& to) const {
  // So that it rarely has to be moved as it grows.
  SHERD_TRY(to.resize(std::min(chunk_bytes(stored.layout, stored.shape), kReservedBytes)));
  BufferWriter writer(to);
  if (!old || stored.covered()) return to_object(stored, nullptr, writer);
  SpanSource source("", *old);
  return to_object(stored, &source, writer);
}

ChunkWriter::SlotPlans ChunkWriter::plan_slots(const WritePiece& stored, const Cells& cells) const {
  const ShardLayout& shard = *stored.layout.shard;
  const Shape grid = shard.grid(stored.shape);
  std::vector<SlotPlan> slots(cells.size());
  Shape cell;
  for (std::uint64_t i = 0; i < cells.size(); ++i) {
    cells.get(i, cell, slots[i].part);
    slots[i].order = order_key(shard, cell, grid, config_.chunk_order);
    slots[i].slot = ravel(cell, grid);
    slots[i].shape = shard.inner_shape_at(cell, stored.shape);
    slots[i].valid = inner_valid(stored.valid, cell, shard.inner_shape);
  }
  std::sort(slots.begin(), slots.end(), [](const SlotPlan& a, const SlotPlan& b) { return a.order < b.order; });
  const std::uint64_t varlen = stored.varlen() / std::max<std::uint64_t>(1, slots.size());
  return {std::move(slots), std::max<std::uint64_t>(1, chunk_bytes(*shard.inner, shard.inner_shape)) + varlen};
}

struct ChunkWriter::NextVersion {
  std::unique_ptr<IndexCoding> coding;
  ShardUpdate update;
  std::optional<OldVersion> old = {};
};

Result<ChunkWriter::NextVersion> ChunkWriter::plan_next(const WritePiece& stored, const SlotPlans& plans,
                                                        ByteSource* old, const StoreTraits& traits) const {
  const ShardLayout& shard = *stored.layout.shard;
  const Shape grid = shard.grid(stored.shape);
  if (old == nullptr) {
    SHERD_TRY(coding, shard.coding(grid, stored.first_id, config_.limits));
    SHERD_TRY(update, plan_new(*coding));
    set_placement(config_, shard, update);
    return NextVersion{std::move(coding), std::move(update)};
  }
  SHERD_TRY(size, old->size());
  const ShardLocation location{*old, {0, size}, shard, grid, stored.first_id};
  SHERD_TRY(before, read_old_shard(location, config_.limits));
  std::vector<std::uint64_t> changed;
  for (const SlotPlan& slot : plans.slots) changed.push_back(slot.slot);
  std::ranges::sort(changed);
  if (shard.second && !before.overlaps_index) SHERD_TRY(check_indices_agree(location, before, changed, config_.limits));
  const auto put_bytes = checked_mul(changed.size(), plans.slot_bytes);
  const UpdateKind kind = choose(config_, traits, before, {changed, put_bytes.value_or(~std::uint64_t{0})});
  SHERD_TRY(coding, keeps_object(kind) ? shard.part_coding(grid, stored.first_id, changed, config_.limits)
                                       : shard.coding(grid, stored.first_id, config_.limits));
  SHERD_TRY(update, plan_update(kind, before, changed, *coding));
  set_placement(config_, shard, update);
  return NextVersion{std::move(coding), std::move(update), OldVersion{*old, std::move(before)}};
}

Result<AppliedUpdate> ChunkWriter::make_version(const WritePiece& stored, ByteSource* old, const StoreTraits& traits,
                                                const Carry& carry) const {
  const Cells cells(stored.part, regular_axes(stored.layout.shard->inner_shape));
  const SlotPlans plans = plan_slots(stored, cells);
  const std::uint64_t window = std::min(waiting_ / std::max(kEncodeBatchBytes, plans.slot_bytes),
                                        std::uint64_t{4} * thread_count(config_.threads));
  SHERD_TRY(next, plan_next(stored, plans, old, traits));
  const UpdateKind kind = next.update.kind;
  const std::uint64_t moved = keeps_object(kind) ? 0 : next.update.unchanged_chunks;
  SHERD_TRY(applied, carry(*next.coding, std::move(next.update), window, [&](ShardWriter& writer) {
              return put_slots(stored, plans, next.old ? &*next.old : nullptr, writer);
            }));
  if (config_.recorder) config_.recorder->chunks_moved.fetch_add(moved, std::memory_order_relaxed);
  if (kind == UpdateKind::in_place && next.old) record_in_place(config_, next.old->shard, applied.size);
  return applied;
}

ShardWriter::Empty if_empty(const WritePiece& stored) {
  return stored.has_object ? ShardWriter::Empty::stored : ShardWriter::Empty::absent;
}

// A version in memory is always dense, because a shard inside a shard has a maximum size.
Result<bool> ChunkWriter::to_object(const WritePiece& stored, ByteSource* old, ObjectWriter& to) const {
  SHERD_TRY(made, make_version(stored, old, {.writer_bytes = 1},
                               [&](const IndexCoding& coding, ShardUpdate update, std::size_t window,
                                   const auto& put) -> Result<AppliedUpdate> {
                                 ShardWriter writer(coding, std::move(update), window);
                                 SHERD_TRY(writer.start(to, old));
                                 SHERD_TRY(put(writer));
                                 SHERD_TRY(exists, writer.finish(if_empty(stored)));
                                 return AppliedUpdate{.exists = exists};
                               }));
  return made.exists;
}

Result<AppliedUpdate> ChunkWriter::update(const WritePiece& stored, const StoredShard& shard) const {
  return make_version(stored, shard.old, shard.store.traits(),
                      [&](const IndexCoding& coding, ShardUpdate update, std::size_t window, const auto& put) {
                        return apply(shard, coding, std::move(update), window, if_empty(stored), put);
                      });
}

Result<void> ChunkWriter::put_slots(const WritePiece& stored, const SlotPlans& plans, const OldVersion* old,
                                    ShardWriter& writer) const {
  const std::span<const SlotPlan> slots(plans.slots);
  const auto batch = static_cast<std::size_t>(std::max<std::uint64_t>(1, kEncodeBatchBytes / plans.slot_bytes));
  const std::size_t count = (slots.size() + batch - 1) / batch;
  Config config = config_;
  // Threads that write to one file wait for each other, and here they would do nothing else.
  if (!slots.empty() && as_stored(piece_of(stored, slots.front()))) config.threads = 1;
  // A batch with a shard inside is encoded by further loops, and one that needs old chunks waits for them.
  const bool only_computes = old == nullptr && !stored.layout.shard->inner->shard;
  return writer.put(count, config, [&, object = begun_++](std::size_t i) {
    const auto core = only_computes ? take_core(object) : CoreQueue::Core();
    return encode_batch(stored, slots.subspan(i * batch, std::min(batch, slots.size() - i * batch)), old);
  });
}

struct ChunkWriter::OldChunks {
  std::vector<std::optional<std::span<const std::byte>>> chunks;  ///< the stored chunks of the first slots
  Scratch bytes;
};

// Reads as many slots as their stored bytes allow in a batch, at least one. So a batch of small chunks waits for one
// round trip, and its bytes stay within thread_bytes().
Result<ChunkWriter::OldChunks> ChunkWriter::read_old_chunks(const WritePiece& stored, std::span<const SlotPlan> slots,
                                                            const OldVersion* old) const {
  const ChunkLayout& layout = *stored.layout.shard->inner;
  OldChunks read{std::vector<std::optional<std::span<const std::byte>>>(slots.size()), {}};
  if (old == nullptr) return read;
  std::vector<Wanted> wanted;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const SlotPlan& slot = slots[i];
    if (slot.part.covers(slot.valid)) continue;
    SHERD_TRY(extent, old->shard.index->extent(slot.slot));
    if (!extent) continue;
    if (!layout.shard) SHERD_TRY(layout.check_encoded_size(slot.shape, extent->length).in_slot(slot.slot));
    bytes += extent->length;
    if (bytes > kEncodeBatchBytes && !wanted.empty()) {
      read.chunks.resize(i);
      break;
    }
    wanted.push_back({*extent, i});
  }
  std::vector<Run> runs = coalesce(wanted, reader_.gap(), reader_.run_bytes());
  std::uint64_t with_gaps = 0;
  for (const Run& run : runs) with_gaps += run.extent.length;
  if (with_gaps > std::max(kEncodeBatchBytes, bytes)) runs = coalesce(wanted, 0, reader_.run_bytes());
  const auto keep = [&](const Wanted& chunk, std::span<const std::byte> encoded) -> Result<void> {
    read.chunks[chunk.tag] = encoded;
    return {};
  };
  auto done = read_runs(old->source, runs, wanted, *read.bytes, keep);
  if (!done && wanted.size() == 1) return std::move(done).error().in_slot(slots[wanted[0].tag].slot);
  if (!done) return std::move(done).error();
  return read;
}

Result<EncodedBatch> ChunkWriter::encode_batch(const WritePiece& stored, std::span<const SlotPlan> slots,
                                               const OldVersion* old) const {
  EncodedBatch batch;
  Scratch encoded;
  while (!slots.empty()) {
    SHERD_TRY(before, read_old_chunks(stored, slots, old));
    for (std::size_t i = 0; i < before.chunks.size(); ++i) {
      const SlotPlan& slot = slots[i];
      const WritePiece inner = piece_of(stored, slot);
      const auto view = as_stored(inner);
      if (!view) {
        SHERD_TRY(stores, to_memory(inner, before.chunks[i], *encoded).in_slot(slot.slot));
        SHERD_TRY(batch.add(slot.slot, *encoded, stores));
      } else if (is_left_out(inner, *view)) {
        SHERD_TRY(batch.add(slot.slot, *encoded, false));
      } else {
        batch.add(slot.slot, *view);
        count_encoded();
      }
    }
    slots = slots.subspan(before.chunks.size());
  }
  return batch;
}

}  // namespace sherd
