// The second part of ChunkReader: decoding bytes in memory. A chunk is decoded directly into the caller's memory
// if it is dense there, streamed in blocks if it is large, and otherwise decoded through this thread's scratch
// memory.
#include <algorithm>

#include "array/blocks.hpp"
#include "array/chunk_reader.hpp"
#include "array/varlen.hpp"
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "store/span.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kStreamBytes = std::uint64_t{1} << 20;  // larger chunks are streamed if possible
constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 20;    // each thread may use this much without asking

bool is_affine(const ReadPart& part) {
  return !part.region.points && std::ranges::none_of(part.region.axes, &AxisPart::is_list);
}

/// The destination memory if a part is the whole chunk and dense in memory; otherwise nullptr.
std::byte* dense_target(const Piece& piece, std::span<const std::int64_t> strides) {
  for (const ReadPart& part : piece.parts)
    if (std::byte* to = dense_target(part.region, piece.shape, strides, part.target)) return to;
  return nullptr;
}

}  // namespace

Budget::Share ChunkReader::take(std::uint64_t bytes) const {
  if (taken_ || bytes <= kFreeBytes) return {};
  return budget_.decoded.take(bytes);
}

// For this much scratch memory, and what the chain needs in addition.
Budget::Share ChunkReader::take_for(const Piece& stored, std::uint64_t encoded, std::uint64_t scratch) const {
  const std::uint64_t chunk = chunk_bytes(stored.layout, stored.shape);
  if (taken_ || chunk + encoded <= kFreeBytes / 8) return {};
  return take(scratch + stored.layout.chain.decoding_bytes(stored.shape, encoded));
}

Result<void> ChunkReader::from_memory(std::span<const std::byte> encoded, const Piece& piece) const {
  if (!piece.layout.shard) {
    SHERD_TRY(piece.layout.check_encoded_size(piece.shape, encoded.size()));
    return leaf_in_memory(encoded, stored_piece(piece));
  }
  if (piece.layout.opaque_shard()) return opaque_in_memory(encoded, piece);
  return shard_in_memory(encoded, stored_piece(piece));
}

Result<void> ChunkReader::shard_in_memory(std::span<const std::byte> shard, const Piece& stored) const {
  const ShardLayout& layout = *stored.layout.shard;
  SpanSource source("", shard);
  Cache none(0);
  const ShardLocation location{source, {0, shard.size()}, layout, layout.grid(stored.shape), stored.first_id};
  const ReadCells cells(stored.parts, regular_axes(layout.inner_shape));
  SHERD_TRY(entries, read_entries(location, cells, none));
  const std::uint64_t bytes = layout.inner->shard ? kBatchBytes : chunk_bytes(*layout.inner, layout.inner_shape);
  const std::uint64_t batch = std::max<std::uint64_t>(1, kBatchBytes / std::max<std::uint64_t>(1, bytes));
  return parallel_for(ceil_div(cells.size(), batch), config_, [&](std::size_t task) -> Result<void> {
    Shape cell;
    Piece inner{*layout.inner, layout.inner_shape};
    for (std::uint64_t i = task * batch; i < std::min((task + 1) * batch, cells.size()); ++i) {
      cells.get(i, cell, inner.parts);
      if (layout.ids() != nullptr) inner.shape = layout.inner_shape_at(cell, stored.shape);
      const std::uint64_t slot = ravel(cell, location.grid);
      SHERD_TRY(extent, entries.extent(location, cell, slot));
      if (!extent && config_.missing_is_error) return std::move(not_found("the chunk is missing")).in_slot(slot);
      if (!extent) {
        SHERD_TRY(fill(inner));
      } else {
        SHERD_TRY(from_memory(shard.subspan(extent->offset, extent->length), inner).in_slot(slot));
      }
    }
    return {};
  });
}

Result<void> ChunkReader::opaque_in_memory(std::span<const std::byte> encoded, const Piece& piece) const {
  const ChunkLayout& layout = piece.layout;
  const Piece stored = stored_piece(piece);
  // The shard; all its elements on each side of array codecs; the memory for decoding its chunks on all threads.
  const std::uint64_t copies =
      (layout.chain.has_bytes_codecs() ? 1U : 0U) + (layout.chain.has_array_codecs() ? 2U : 0U) + 1U;
  const auto share = take(copies * chunk_bytes(layout, stored.shape));
  Buffer shard;  // not scratch: it may be as large as a shard
  std::span<const std::byte> bytes = encoded;
  if (layout.chain.has_bytes_codecs()) {
    SHERD_TRY(layout.chain.decode_bytes(encoded, max_shard_bytes(config_.limits), shard));
    bytes = shard.span();
  }
  // The shard's own layout, without codecs around it.
  const auto inside = [&](const Piece& plain) { return taken().shard_in_memory(bytes, plain); };
  if (!layout.chain.has_array_codecs()) return inside(stored);
  SHERD_TRY(inner_type, layout.chain.inner_type(stored.shape));
  Buffer inner;
  SHERD_TRY(inner.resize(*element_count(inner_type.shape) * inner_type.dtype.size()));
  Piece plain = whole_piece(layout, inner_type.shape, inner.data());
  plain.parts.front().target.strides = chunk_strides(inner_type.shape, inner_type.dtype.size());
  SHERD_TRY(inside(plain));
  Buffer elements;
  SHERD_TRY(elements.resize(chunk_bytes(layout, stored.shape)));
  SHERD_TRY(layout.chain.decode_arrays(stored.shape, inner.span(), elements.span()));
  copy_out(layout.dtype.size(), elements.data(), chunk_strides(stored.shape, layout.dtype.size()), stored.parts);
  return {};
}

Result<void> ChunkReader::leaf_in_memory(std::span<const std::byte> encoded, const Piece& stored) const {
  const ChunkLayout& layout = stored.layout;
  const std::uint64_t bytes = chunk_bytes(layout, stored.shape);
  if (layout.chain.raw_word_size() != 0) {
    if (encoded.size() != bytes)
      return corrupt("holds " + std::to_string(encoded.size()) + " bytes, the chunk has " + std::to_string(bytes));
    return raw_in_memory(encoded, 0, stored);
  }
  count_decoded();
  const auto strides = chunk_strides(stored.shape, layout.dtype.size());
  if (std::byte* to = dense_target(stored, strides)) {
    const auto share = take_for(stored, encoded.size(), 0);
    SHERD_TRY(layout.chain.decode(stored.shape, encoded, {to, bytes}, arena_));
    for (const ReadPart& part : stored.parts)
      if (dense_target(part.region, stored.shape, strides, part.target) != to)
        copy_out(layout.dtype.size(), to, strides, part.region, part.target);
    return {};
  }
  if (layout.chain.decodes_parts()) {
    SHERD_TRY(done, decode_wanted(encoded, stored));
    if (done) return {};
  }
  if (bytes > kStreamBytes && std::ranges::all_of(stored.parts, is_affine)) {
    SHERD_TRY(done, stream_leaf(encoded, stored));
    if (done) return {};
  }
  if (bytes <= kStreamBytes && layout.chain.decodes_prefixes()) {
    SHERD_TRY(done, decode_beginning(encoded, stored));
    if (done) return {};
  }
  const auto share = take_for(stored, encoded.size(), bytes);
  Scratch elements;
  SHERD_TRY(elements->resize(bytes));
  if (layout.dtype.is_variable() && arena_ != nullptr) {
    VarBytesArena decoded;
    SHERD_TRY(layout.chain.decode(stored.shape, encoded, elements->span(), &decoded));
    SHERD_TRY(keep_wanted(elements->span(), strides, stored.parts, std::move(decoded), *arena_));
  } else {
    SHERD_TRY(layout.chain.decode(stored.shape, encoded, elements->span(), arena_));
  }
  copy_out(layout.dtype.size(), elements->data(), strides, stored.parts);
  return {};
}

// For a chunk whose parts can be decoded separately: those from the first to the last byte that is needed.
Result<bool> ChunkReader::decode_wanted(std::span<const std::byte> encoded, const Piece& stored) const {
  const std::size_t element = stored.layout.dtype.size();
  const auto strides = chunk_strides(stored.shape, element);
  const auto wanted = byte_range(stored.parts, strides, element);
  const auto share = take_for(stored, encoded.size(), chunk_bytes(stored.layout, stored.shape));
  Scratch part;
  SHERD_TRY(begin, stored.layout.chain.decode_part(stored.shape, encoded, wanted, *part));
  if (begin) copy_out(element, part->data() - *begin, strides, stored.parts);
  return begin.has_value();
}

// A chunk is decoded up to the last byte that is needed.
Result<bool> ChunkReader::decode_beginning(std::span<const std::byte> encoded, const Piece& stored) const {
  const std::size_t element = stored.layout.dtype.size();
  const auto strides = chunk_strides(stored.shape, element);
  const std::uint64_t end = byte_range(stored.parts, strides, element).second;
  if (end > chunk_bytes(stored.layout, stored.shape) / 8 * 7) return false;
  Scratch beginning;
  SHERD_TRY(beginning->resize(end));
  std::uint64_t decoded = 0;
  // Copied at once, because the rest goes through the same block if a checksum is verified.
  SHERD_TRY(done, stored.layout.chain.decode_blocks(stored.shape, encoded, beginning->span(),
                                                    [&](std::uint64_t, std::span<const std::byte> bytes) {
                                                      decoded = bytes.size();
                                                      if (decoded == end)
                                                        copy_out(element, bytes.data(), strides, stored.parts);
                                                      return false;
                                                    }));
  if (!done) return false;
  if (decoded != end) return corrupt("decodes to " + std::to_string(decoded) + " bytes, fewer than the chunk has");
  return true;
}

Result<void> ChunkReader::raw_in_memory(std::span<const std::byte> bytes, std::uint64_t skipped,
                                        const Piece& stored) const {
  const ChunkLayout& layout = stored.layout;
  const std::size_t element = layout.dtype.size();
  const auto strides = chunk_strides(stored.shape, element);
  count_decoded();
  if (layout.chain.is_native(bytes)) {
    copy_out(element, bytes.data() - skipped, strides, stored.parts);
    return {};
  }
  const auto share = take(bytes.size());
  Scratch native;
  SHERD_TRY(native->resize(bytes.size()));
  layout.chain.to_native(bytes, native->span());
  copy_out(element, native->data() - skipped, strides, stored.parts);
  return {};
}

Result<bool> ChunkReader::stream_leaf(std::span<const std::byte> encoded, const Piece& stored) const {
  const ChunkLayout& layout = stored.layout;
  const std::size_t element = layout.dtype.size();
  const auto strides = chunk_strides(stored.shape, element);
  std::vector<Blocks> wanted;  // one for each part
  std::uint64_t last = 0;
  for (const ReadPart& part : stored.parts) {
    auto blocks = Blocks::cut(stored.shape, part.region, element);
    if (!blocks) return false;  // a single decode of everything is cheaper
    last = std::max(last, blocks->last());
    wanted.push_back(*std::move(blocks));
  }
  const std::uint64_t block_bytes = wanted.front().bytes();
  // After the last block that is needed, decoding continues only if it verifies a checksum.
  const bool ends_early = layout.chain.decodes_prefixes();
  Scratch scratch;
  SHERD_TRY(scratch->resize(block_bytes));
  Region part;
  return layout.chain.decode_blocks(stored.shape, encoded, scratch->span(),
                                    [&](std::uint64_t offset, std::span<const std::byte> bytes) {
                                      const std::uint64_t number = offset / block_bytes;
                                      for (std::size_t i = 0; i < wanted.size(); ++i)
                                        if (wanted[i].get(number, part))
                                          copy_out(element, bytes.data(), strides, part, stored.parts[i].target);
                                      return !ends_early || number < last;
                                    });
}

}  // namespace sherd
