// Where encoded chunks are put. Places are given in batch order under a lock; the bytes are written outside it.
#include "shard/writer.hpp"

#include <algorithm>
#include <bit>

#include "base/try.hpp"

namespace sherd {
namespace {

// Bits of the coordinates interleaved, the last dimension lowest; a dimension takes part while it has bits left.
std::uint64_t morton(const Shape& cell, const Shape& grid) noexcept {
  std::uint64_t code = 0;
  unsigned out = 0;
  for (unsigned bit = 0; bit < 64 && out < 64; ++bit)
    for (std::size_t d = grid.size(); d-- > 0;)
      if (bit < static_cast<unsigned>(std::bit_width(grid[d] - 1))) code |= ((cell[d] >> bit) & 1) << out++;
  return code;
}

// The chunks that can be read, and how many bytes they have.
std::uint64_t live_bytes(const ShardIndex& index, std::uint64_t most_bytes, std::vector<Extent>& extents) {
  std::uint64_t live = 0;
  for (std::uint64_t slot = 0; slot < index.slots(); ++slot) {
    const auto extent = index.extent(slot);
    if (!extent || !*extent || (*extent)->length > most_bytes) continue;
    if (live <= index.object_size()) live += (*extent)->length;  // overlaps may add up to more than fits 64 bits
    extents.push_back(**extent);
  }
  return live;
}

}  // namespace

std::uint64_t order_key(const ShardLayout& shard, const Shape& cell, const Shape& grid, ChunkOrder order) noexcept {
  if (order == ChunkOrder::morton)
    return shard.ids() != nullptr ? shard.ids()->morton.encode(cell) : morton(cell, grid);
  std::uint64_t number = 0;
  const std::size_t rank = cell.size();
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = order == ChunkOrder::c ? i : rank - 1 - i;
    number = number * grid[d] + cell[d];
  }
  return number;
}

ShardWriter::ShardWriter(const IndexCoding& coding, std::uint64_t most_bytes, std::size_t window)
    : coding_(coding), most_bytes_(most_bytes), window_(std::max<std::size_t>(1, window)), index_(coding.slots()) {}

Result<void> ShardWriter::start_new(ObjectWriter& to, std::uint64_t from) {
  to_ = &to;
  SHERD_TRY(head, coding_.head_bytes());
  end_ = std::max(head, from);
  return {};
}

Result<void> ShardWriter::start_update(ObjectWriter& to, const OldShard& old, std::span<const std::uint64_t> changed,
                                       double max_unused) {
  SHERD_TRY(start_new(to));
  const std::uint64_t size = old.index->object_size();
  std::vector<Extent> used;
  std::uint64_t live = live_bytes(*old.index, most_bytes_, used);
  for (const Extent& extent : old.index_bytes) live += extent.length;
  const bool wasteful = size > live && static_cast<double>(size - live) > max_unused * static_cast<double>(size);
  if (wasteful) return move_densely(old, changed);
  SHERD_TRY(keep_index(old, changed));
  used.insert(used.end(), old.index_bytes.begin(), old.index_bytes.end());
  find_gaps(used, size);
  return copy_used(*old.source, used);
}

Result<void> ShardWriter::start_rewrite(ObjectWriter& to, const OldShard& old, std::span<const std::uint64_t> changed) {
  SHERD_TRY(start_new(to));
  return move_densely(old, changed);
}

Result<void> ShardWriter::start_in_place(ObjectWriter& to, const OldShard& old,
                                         std::span<const std::uint64_t> changed) {
  SHERD_TRY(start_new(to));
  SHERD_TRY(keep_index(old, changed));
  std::vector<Extent> used;
  live_bytes(index_, most_bytes_, used);
  std::uint64_t end = index_.object_size();
  for (const Extent& part : old.index_bytes) {
    if (part.offset < end_)
      used.push_back(part);  // at the head, where no chunk may come
    else
      end = std::min(end, part.offset);
  }
  find_gaps(used, end);
  return copy_used(*old.source, used);
}

void ShardWriter::start_amendment(ObjectWriter& to, const OldShard& old) {
  to_ = &to;
  amends_ = true;
  index_ = *old.index;
  moved_ = index_.count();
  end_ = index_.object_size();
}

// What an entry names must be there to be kept. One that reaches beyond the old shard might in a longer one name the
// bytes of other chunks, one that is too long is not copied, and what stands in the index changes with that. Entries
// that are broken wherever the shard ends do stay; they spoil no slot but their own.
Result<void> ShardWriter::keep_index(const OldShard& old, std::span<const std::uint64_t> changed) {
  index_ = *old.index;
  for (const auto slot : changed) index_.clear(slot);
  auto parts = old.index_bytes;
  std::ranges::sort(parts, {}, &Extent::offset);
  for (std::uint64_t slot = 0; slot < index_.slots(); ++slot) {
    const auto entry = index_.entry(slot);
    if (entry != ShardIndex::Entry::out_of_bounds && entry != ShardIndex::Entry::stored) continue;
    SHERD_TRY(extent, index_.extent(slot));
    SHERD_TRY(check_length(*extent).in_slot(slot));
    const auto behind = std::ranges::lower_bound(parts, extent->end(), {}, &Extent::offset);
    if (extent->length > 0 && behind != parts.begin() && std::prev(behind)->end() > extent->offset)
      return std::move(corrupt("its bytes reach into the shard's index, and would change with that")).in_slot(slot);
  }
  moved_ = index_.count();
  return {};
}

Result<void> ShardWriter::check_length(const Extent& extent) const {
  if (extent.length <= most_bytes_) return {};
  return corrupt("holds " + std::to_string(extent.length) + " bytes; no encoding of a chunk takes more than " +
                 std::to_string(most_bytes_));
}

// Only what the index refers to: between that, a hostile shard may have a hole of any size.
Result<void> ShardWriter::copy_used(ByteSource& old, std::span<const Extent> sorted) {
  for (std::size_t i = 0; i < sorted.size();) {
    Extent run = sorted[i];
    for (++i; i < sorted.size() && sorted[i].offset <= run.end(); ++i)
      run.length = std::max(run.end(), sorted[i].end()) - run.offset;
    SHERD_TRY(to_->copy(old, run.offset, run.length, run.offset));
  }
  return {};
}

// Untouched chunks one after the other, in the order in which they stand.
Result<void> ShardWriter::move_densely(const OldShard& old, std::span<const std::uint64_t> changed) {
  std::vector<bool> skip(index_.slots(), false);
  for (const auto slot : changed) skip[slot] = true;
  std::vector<std::pair<Extent, std::uint64_t>> kept;
  for (std::uint64_t slot = 0; slot < index_.slots(); ++slot) {
    if (skip[slot]) continue;
    SHERD_TRY(extent, old.index->extent(slot));
    if (!extent) continue;
    SHERD_TRY(check_length(*extent).in_slot(slot));
    kept.emplace_back(*extent, slot);
  }
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.first.offset < b.first.offset; });
  for (std::size_t i = 0; i < kept.size();) {
    Extent run{kept[i].first.offset, 0};  // chunks that follow each other are copied as one
    const std::uint64_t to = end_;
    for (; i < kept.size() && kept[i].first.offset == run.end(); ++i) {
      const auto& [extent, slot] = kept[i];
      index_.set(slot, {end_, extent.length});
      end_ += extent.length;
      run.length += extent.length;
    }
    SHERD_TRY(to_->copy(*old.source, run.offset, run.length, to));
  }
  moved_ = kept.size();
  return {};
}

void ShardWriter::find_gaps(std::vector<Extent>& used, std::uint64_t end) {
  std::sort(used.begin(), used.end(), [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::vector<Extent> free;
  std::uint64_t at = 0;
  for (const Extent& extent : used) {
    if (extent.offset > at) free.push_back({at, extent.offset - at});
    at = std::max(at, extent.end());
  }
  gaps_ = Gaps(std::move(free));
  end_ = std::max(at, end);
}

std::uint64_t ShardWriter::allocate(std::uint64_t length) {
  if (length > 0)
    if (const auto offset = gaps_.take(length)) return *offset;
  return std::exchange(end_, end_ + length);
}

ShardWriter::Turn::Turn(ShardWriter& writer, std::size_t number) : writer_(writer), number_(number) {
  std::unique_lock hold(writer_.mutex_);
  writer_.advanced_.wait(hold, [&] { return writer_.abandoned_ || number_ < writer_.next_ + writer_.window_; });
}

ShardWriter::Turn::~Turn() {
  if (put_) return;
  const std::lock_guard hold(writer_.mutex_);
  writer_.abandoned_ = true;
  writer_.advanced_.notify_all();
}

std::vector<ShardWriter::Placed> ShardWriter::place(const EncodedBatch& batch) {
  std::vector<Placed> placed;
  std::uint64_t at = 0;
  for (const auto& chunk : batch.chunks) {
    if (!chunk.present) {
      index_.clear(chunk.slot);
      continue;
    }
    const std::uint64_t offset = allocate(chunk.length);
    index_.set(chunk.slot, {offset, chunk.length});
    const auto bytes = batch.bytes->span().subspan(at, chunk.length);
    at += chunk.length;
    if (!placed.empty() && placed.back().offset + placed.back().bytes.size() == offset)
      placed.back().bytes = {placed.back().bytes.data(), placed.back().bytes.size() + bytes.size()};
    else
      placed.push_back({offset, bytes});
  }
  return placed;
}

Result<void> ShardWriter::Turn::put(EncodedBatch batch) {
  std::vector<EncodedBatch> ready;
  std::vector<Placed> placed;
  {
    const std::lock_guard hold(writer_.mutex_);
    auto& waiting = writer_.waiting_;
    waiting.emplace(number_, std::move(batch));
    while (!waiting.empty() && waiting.begin()->first == writer_.next_) {
      ready.push_back(std::move(waiting.begin()->second));
      waiting.erase(waiting.begin());
      const auto more = writer_.place(ready.back());
      placed.insert(placed.end(), more.begin(), more.end());
      ++writer_.next_;
    }
  }
  if (!ready.empty()) writer_.advanced_.notify_all();
  for (const auto& [offset, bytes] : placed) SHERD_TRY(writer_.to_->write(offset, bytes));
  put_ = true;
  return {};
}

Result<bool> ShardWriter::finish(Empty empty) {
  if (!amends_ && empty == Empty::absent && index_.count() == 0) return false;
  SHERD_TRY(parts, coding_.encode(index_, end_));
  for (const IndexCoding::Part& part : parts) {
    if (part.bytes.size() == 0) continue;
    SHERD_TRY(to_->write(part.offset, part.bytes.span()));
    end_ = std::max<std::uint64_t>(end_, part.offset + part.bytes.size());
  }
  return true;
}

}  // namespace sherd
