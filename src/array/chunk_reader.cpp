// The plan of a read. Shards are divided into slots, slots become extents of the object, and extents become few runs; a
// run is read once, and any free thread decodes its chunks. Chunks without compression are divided into blocks that fit
// the cache, as if they were shards with a known index, so reading a box reads only its own bytes.
#include "array/chunk_reader.hpp"

#include <algorithm>

#include "array/partial_source.hpp"
#include "array/varlen.hpp"
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "store/read_into.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{256} << 10;  // fits in a core's own cache

// The largest contiguous box of a dense chunk within kPieceBytes.
Shape piece_shape(const Shape& shape, std::uint64_t element_size) {
  Shape block(shape.size(), 1);
  std::uint64_t bytes = element_size;
  for (std::size_t d = shape.size(); d-- > 0;) {
    block[d] = std::clamp<std::uint64_t>(kPieceBytes / bytes, 1, std::max<std::uint64_t>(shape[d], 1));
    if (block[d] < shape[d]) break;
    bytes *= std::max<std::uint64_t>(shape[d], 1);
  }
  return block;
}

Result<void> check_raw_size(std::uint64_t stored, std::uint64_t decoded) {
  if (stored == decoded) return {};
  return corrupt("holds " + std::to_string(stored) + " bytes, the chunk has " + std::to_string(decoded));
}

}  // namespace

std::uint64_t chunk_bytes(const ChunkLayout& layout, const Shape& shape) {
  return element_count(shape).value_or(0) * layout.dtype.size();  // bounded by limits.chunk_bytes when built
}

std::uint64_t ravel(const Shape& cell, const Shape& grid) noexcept {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < cell.size(); ++d) number = number * grid[d] + cell[d];
  return number;
}

Shape unravel(std::uint64_t number, const Shape& grid) {
  Shape cell(grid.size());
  for (std::size_t d = grid.size(); d-- > 0; number /= grid[d]) cell[d] = number % grid[d];
  return cell;
}

Piece stored_piece(Piece piece) {
  const auto& permutation = piece.layout.chain.permutation();
  if (std::ranges::is_sorted(permutation)) return piece;
  piece.shape = piece.layout.chain.stored_shape(piece.shape);
  for (ReadPart& part : piece.parts)
    part = {part.region.permuted(permutation), part.target.permuted(permutation, part.region.points)};
  return piece;
}

Piece whole_piece(const ChunkLayout& layout, const Shape& shape, std::byte* to) {
  Region all;
  for (const auto length : shape) all.axes.push_back({.start = 0, .step = 1, .count = length, .first = 0});
  return {layout, shape, {{std::move(all), {to, chunk_strides(shape, layout.dtype.size())}}}};
}

Result<void> ChunkReader::fill(const Piece& piece) const {
  const std::uint64_t size = piece.layout.dtype.size();
  const std::byte* value = piece.layout.fill.bytes().data();
  const auto fill_all = [&](std::span<const ReadPart> parts) {
    for (const ReadPart& part : parts) fill_out(size, value, part.region, part.target);
  };
  if (element_count(piece.parts) * size <= kPieceBytes) {
    fill_all(piece.parts);
    return {};
  }
  const ReadCells blocks(piece.parts, regular_axes(piece_shape(piece.shape, size)));
  return parallel_for(blocks.size(), config_, [&](std::size_t i) -> Result<void> {
    Shape cell;
    std::vector<ReadPart> parts;
    blocks.get(i, cell, parts);
    fill_all(parts);
    return {};
  });
}

void ChunkReader::count_decoded() const noexcept {
  if (config_.recorder) config_.recorder->chunks_decoded.fetch_add(1, std::memory_order_relaxed);
}

// Whether CacheMode::chunks keeps a chunk: anything encoded as one, unless it is too large.
bool ChunkReader::keeps(const ChunkLayout& layout, const Shape& shape) const {
  if (config_.cache != CacheMode::chunks || chunk_bytes(layout, shape) > config_.cache_bytes) return false;
  if (!layout.shard) return true;
  return layout.opaque_shard() && !config_.missing_is_error;  // decoded chunks do not show what was missing
}

// Small enough that all threads get work within the budget.
std::uint64_t ChunkReader::run_bytes() const {
  const std::uint64_t fair = config_.memory_budget / (std::uint64_t{4} * thread_count(config_.threads));
  return std::min(traits_.max_run_bytes, std::max(fair, kBatchBytes));
}

Result<void> ChunkReader::from_object(ByteSource& source, const Piece& piece, const Shape& valid) const {
  if (const auto bytes = source.view()) return from_memory(*bytes, piece);
  SHERD_TRY(kept, from_kept(source, piece));
  if (kept) return {};
  SHERD_TRY(size, source.size());
  SHERD_TRY(whole, wants_whole(source, size, piece, valid));
  if (whole) return from_whole_object(source, size, piece);
  ReadPlan plan;
  SHERD_TRY(make_plan(source, size, piece, plan));
  return run(source, plan);
}

Result<void> ChunkReader::make_plan(ByteSource& source, std::uint64_t size, const Piece& piece, ReadPlan& plan) const {
  const Piece stored = stored_piece(piece);
  if (piece.layout.shard) {
    SHERD_TRY(collect(source, {0, size}, stored, plan));
  } else {
    SHERD_TRY(collect_raw({0, size}, stored, plan));
  }
  plan.wanted.resize(plan.jobs.size());
  for (std::size_t i = 0; i < plan.wanted.size(); ++i) plan.wanted[i] = {plan.jobs[i].extent, i};
  plan.runs = coalesce(plan.wanted, gap(), run_bytes());
  return {};
}

Result<bool> ChunkReader::wants_whole(ByteSource& source, std::uint64_t size, const Piece& piece,
                                      const Shape& valid) const {
  const ChunkLayout& layout = piece.layout;
  if (layout.opaque_shard()) return true;
  if (!layout.shard && layout.chain.raw_word_size() == 0) return true;
  if (size > max_shard_bytes(config_.limits)) return false;
  if (keeps_stored(size)) return true;
  if (!layout.shard) return keeps(layout, piece.shape);
  if (config_.cache != CacheMode::index) return false;
  if (size <= config_.tail_read_bytes.value_or(traits_.tail_read_bytes)) return true;
  if (size > std::min(std::max(traits_.max_run_bytes, gap()), config_.memory_budget / 2)) return false;
  const Shape stored = layout.chain.stored_shape(valid);
  const Piece inner = stored_piece(piece);
  std::uint64_t available = 1;
  for (std::size_t d = 0; d < stored.size(); ++d) available *= ceil_div(stored[d], layout.shard->inner_shape[d]);
  const ReadCells cells(inner.parts, regular_axes(layout.shard->inner_shape));
  if (cells.size() >= available) return true;
  const std::uint64_t missing = available - cells.size();
  // Reading bytes that are not needed costs less than a second request.
  const bool cheap = missing <= gap() / std::max<std::uint64_t>(1, size / available);
  if (!cheap) return false;
  SHERD_TRY(generation, source.generation());
  return !has_index({source, {0, size}, *layout.shard, layout.shard->grid(inner.shape)}, generation, cache_);
}

Result<void> ChunkReader::from_whole_object(ByteSource& source, std::uint64_t size, const Piece& piece) const {
  SHERD_TRY(piece.layout.check_object_size(piece.shape, size, config_.limits));
  const auto share = budget_.stored.take(size);
  const auto read = [&](Buffer& into) { return read_into(source, {0, size}, into); };
  if (keeps_stored(size)) {
    const auto fresh = std::make_shared<Buffer>();
    SHERD_TRY(read(*fresh));
    SHERD_TRY(keep_stored(source, fresh));
    return from_memory(fresh->span(), piece);
  }
  Scratch encoded;
  SHERD_TRY(read(*encoded));
  return from_whole(source, encoded->span(), piece);
}

Result<void> ChunkReader::from_whole(ByteSource& source, std::span<const std::byte> encoded, const Piece& piece) const {
  if (keeps_stored(encoded.size())) {
    const auto copy = std::make_shared<Buffer>();
    SHERD_TRY(copy->resize(encoded.size()));
    std::ranges::copy(encoded, copy->data());
    SHERD_TRY(keep_stored(source, copy));
  }
  if (keeps(piece.layout, piece.shape)) return decode_kept(source, {}, encoded, piece);
  return from_memory(encoded, piece);
}

Result<void> ChunkReader::keep_stored(ByteSource& source, std::shared_ptr<const Buffer> bytes) const {
  SHERD_TRY(generation, source.generation());
  const std::uint64_t size = bytes->size();
  cache_.put(source.name(), generation, std::move(bytes), size);
  return {};
}

Result<bool> ChunkReader::from_kept(ByteSource& source, const Piece& piece) const {
  if (keeps(piece.layout, piece.shape)) return from_cache(source, {}, piece);
  if (config_.cache != CacheMode::shard) return false;
  SHERD_TRY(generation, source.generation());
  const auto kept = cache_.get<Buffer>(source.name(), generation);
  if (!kept) return false;
  SHERD_TRY(from_memory(kept->span(), piece));
  return true;
}

// `stored` is the shard's piece in stored order.
Result<void> ChunkReader::collect(ByteSource& source, Extent where, const Piece& stored, ReadPlan& plan) const {
  const ShardLayout& layout = *stored.layout.shard;
  const ShardLocation shard{source, where, layout, layout.grid(stored.shape), stored.first_id};
  plan.levels.push_back({*layout.inner, layout.inner_shape, ReadCells(stored.parts, regular_axes(layout.inner_shape)),
                         false, layout.ids() != nullptr ? &layout : nullptr, stored.shape});
  const ReadPlan::Level& level = plan.levels.back();
  SHERD_TRY(entries, read_entries(shard, level.cells, cache_));
  Shape cell;
  Piece inner{level.layout, level.shape};
  for (std::uint64_t i = 0; i < level.cells.size(); ++i) {
    level.get(i, cell, inner);
    const std::uint64_t slot = ravel(cell, shard.grid);
    SHERD_TRY(extent, entries.extent(shard, cell, slot));
    if (!extent) {
      if (config_.missing_is_error) return std::move(not_found("the chunk is missing")).in_slot(slot);
      plan.empty.push_back({&level, i, slot, {}, 0});
      continue;
    }
    const Extent absolute{where.offset + extent->offset, extent->length};
    auto collected = collect_slot(source, {&level, i, slot, absolute, 0}, inner, plan).in_slot(slot);
    if (!collected && !waits_for_bytes(source)) return collected;
  }
  return {};
}

Result<ShardEntries> ChunkReader::read_entries(const ShardLocation& shard, const ReadCells& cells, Cache& cache) const {
  std::vector<std::uint64_t> ids;
  Shape cell;
  std::vector<ReadPart> parts;
  for (std::uint64_t i = 0; shard.layout.ids() != nullptr && i < cells.size(); ++i) {
    cells.get(i, cell, parts);
    ids.push_back(shard.id(cell));
  }
  return ShardEntries::read(shard, ids, config_.limits, cache);
}

Result<void> ChunkReader::collect_slot(ByteSource& source, ReadPlan::Job job, const Piece& piece,
                                       ReadPlan& plan) const {
  const ChunkLayout& inner = piece.layout;
  if (inner.shard && !inner.opaque_shard()) return collect(source, job.extent, stored_piece(piece), plan);
  const bool keep = keeps(inner, piece.shape);
  if (inner.chain.raw_word_size() != 0 && !keep) {
    const std::uint64_t bytes = chunk_bytes(inner, piece.shape);
    const Piece stored = stored_piece(piece);
    if (bytes > 2 * kPieceBytes) return collect_raw(job.extent, stored, plan);
    SHERD_TRY(check_raw_size(job.extent.length, bytes));
    const auto [low, high] =
        byte_range(stored.parts, chunk_strides(stored.shape, inner.dtype.size()), inner.dtype.size());
    job.extent = {job.extent.offset + low, high - low};
    job.skipped = low;
    job.raw = true;
  } else if (!inner.shard) {
    SHERD_TRY(inner.check_encoded_size(piece.shape, job.extent.length));
  }
  if (keep) {
    SHERD_TRY(hit, from_cache(source, job.extent, piece));
    if (hit) return {};
  }
  plan.jobs.push_back(job);
  return {};
}

Result<void> ChunkReader::collect_raw(Extent where, const Piece& stored, ReadPlan& plan) const {
  const std::uint64_t bytes = chunk_bytes(stored.layout, stored.shape);
  SHERD_TRY(check_raw_size(where.length, bytes));
  const std::uint64_t element = stored.layout.dtype.size();
  const auto strides = chunk_strides(stored.shape, element);
  const Shape block = piece_shape(stored.shape, element);
  plan.levels.push_back({stored.layout, stored.shape, ReadCells(stored.parts, regular_axes(block)), true});
  const ReadPlan::Level& level = plan.levels.back();
  Shape cell;
  std::vector<ReadPart> parts;
  for (std::uint64_t i = 0; i < level.cells.size(); ++i) {
    level.cells.get(i, cell, parts);
    std::uint64_t begin = 0;
    for (std::size_t d = 0; d < cell.size(); ++d) begin += cell[d] * block[d] * static_cast<std::uint64_t>(strides[d]);
    const auto [low, high] = byte_range(parts, strides, element);
    plan.jobs.push_back({&level, i, 0, {where.offset + begin + low, high - low}, low, true});
  }
  return {};
}

Result<void> ChunkReader::run(ByteSource& source, ReadPlan& plan) const {
  constexpr std::size_t kFills = 16;
  const std::size_t fills = ceil_div(plan.empty.size(), kFills);
  return parallel_for(plan.runs.size() + fills, config_, [&](std::size_t i) -> Result<void> {
    if (i < plan.runs.size()) return run_one(source, plan, plan.runs[i]);
    const std::size_t first = (i - plan.runs.size()) * kFills;
    return fill_empty(plan, first, std::min(first + kFills, plan.empty.size()));
  });
}

Result<void> ChunkReader::fill_empty(const ReadPlan& plan, std::size_t first, std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) SHERD_TRY(fill(plan.empty[i].piece()));
  return {};
}

Result<void> ChunkReader::run_one(ByteSource& source, const ReadPlan& plan, const Run& run) const {
  const auto share = budget_.stored.take(run.extent.length);
  Scratch buffer;
  SHERD_TRY(read_into(source, run.extent, *buffer));
  return decode_run(source, plan, run, buffer->span());
}

Result<void> ChunkReader::decode_run(ByteSource& source, const ReadPlan& plan, const Run& run,
                                     std::span<const std::byte> bytes) const {
  const ReadPlan::Job& first = plan.jobs[plan.wanted[run.first].tag];
  const std::uint64_t decoded = first.raw ? run.extent.length : chunk_bytes(first.level->layout, first.level->shape);
  const std::size_t count = run.last - run.first;
  const auto batch =
      static_cast<std::size_t>(std::max<std::uint64_t>(1, kBatchBytes / std::max<std::uint64_t>(1, decoded)));
  return parallel_for((count + batch - 1) / batch, config_, [&](std::size_t task) -> Result<void> {
    const std::size_t begin = run.first + task * batch;
    for (std::size_t i = begin; i < std::min(begin + batch, run.last); ++i) {
      const ReadPlan::Job& job = plan.jobs[plan.wanted[i].tag];
      const auto encoded = bytes.subspan(job.extent.offset - run.extent.offset, job.extent.length);
      SHERD_TRY(decode_job(source, job, encoded).in_slot(job.slot));
    }
    return {};
  });
}

Result<void> ChunkReader::decode_job(ByteSource& source, const ReadPlan::Job& job,
                                     std::span<const std::byte> bytes) const {
  const Piece piece = job.piece();
  if (job.raw) return raw_in_memory(bytes, job.skipped, job.level->blocks ? piece : stored_piece(piece));
  if (keeps(piece.layout, piece.shape)) return decode_kept(source, job.extent, bytes, piece);
  return from_memory(bytes, piece);
}

namespace {

// A decoded chunk in the form that CacheMode::chunks keeps.
struct Decoded {
  Buffer elements;
  VarBytesArena arena;

  // Includes the bytes to which its elements point.
  [[nodiscard]] std::uint64_t bytes(const DType& dtype) const {
    return elements.size() + (dtype.is_variable() ? varlen_bytes(elements.span()) : 0);
  }
};

// Includes the shape, because entries of a damaged shard may name the same bytes for chunks of several shapes.
std::string decoded_name(const ByteSource& source, Extent where, const Shape& shape) {
  return source.name() + "#" + std::to_string(where.offset) + "+" + std::to_string(where.length) + to_string(shape);
}

}  // namespace

Result<bool> ChunkReader::from_cache(ByteSource& source, Extent where, const Piece& piece) const {
  SHERD_TRY(generation, source.generation());
  auto kept = cache_.get<Decoded>(decoded_name(source, where, piece.shape), generation);
  if (!kept) return false;
  const auto strides = chunk_strides(piece.shape, piece.layout.dtype.size());
  copy_out(piece.layout.dtype.size(), kept->elements.data(), strides, piece.parts);
  if (arena_ != nullptr) arena_->keep(std::move(kept));
  return true;
}

Result<void> ChunkReader::decode_kept(ByteSource& source, Extent where, std::span<const std::byte> bytes,
                                      const Piece& piece) const {
  SHERD_TRY(generation, source.generation());
  const std::uint64_t size = chunk_bytes(piece.layout, piece.shape);
  const auto share = take(size);
  auto decoded = std::make_shared<Decoded>();
  SHERD_TRY(decoded->elements.resize(size));
  const Piece whole = whole_piece(piece.layout, piece.shape, decoded->elements.data());
  SHERD_TRY(taken().with_arena(decoded->arena).from_memory(bytes, whole));
  const auto strides = chunk_strides(piece.shape, piece.layout.dtype.size());
  copy_out(piece.layout.dtype.size(), decoded->elements.data(), strides, piece.parts);
  cache_.put(decoded_name(source, where, piece.shape), generation, decoded, decoded->bytes(piece.layout.dtype));
  if (arena_ != nullptr) arena_->keep(std::move(decoded));
  return {};
}

}  // namespace sherd
