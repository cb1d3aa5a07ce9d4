// Assigns the offsets of encoded chunks, in batch order under a lock; the bytes are written outside the lock.
#include "shard/writer.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <memory>

#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::byte kZero[1] = {};

// Interleaves the bits of coordinates, the last dimension lowest; a dimension contributes while it has bits left.
std::uint64_t morton(const Shape& cell, const Shape& grid) noexcept {
  std::uint64_t code = 0;
  unsigned out = 0;
  for (unsigned bit = 0; bit < 64 && out < 64; ++bit)
    for (std::size_t d = grid.size(); d-- > 0;)
      if (bit < static_cast<unsigned>(std::bit_width(grid[d] - 1))) code |= ((cell[d] >> bit) & 1) << out++;
  return code;
}

}  // namespace

std::uint64_t order_key(const ShardLayout& shard, const Shape& cell, const Shape& grid, ChunkOrder order) noexcept {
  if (order == ChunkOrder::morton)
    return shard.ids() != nullptr ? shard.ids()->morton.encode(cell) : morton(cell, grid);
  std::uint64_t number = 0;
  const std::size_t rank = cell.size();
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = order == ChunkOrder::f ? rank - 1 - i : i;
    number = number * grid[d] + cell[d];
  }
  return number;
}

void set_placement(const Config& config, const ShardLayout& layout, ShardUpdate& update) noexcept {
  update.as_they_arrive = config.chunk_order == ChunkOrder::arrival;
  const IndexFormat* const slots = layout.slots();
  if (slots != nullptr && slots->location == IndexLocation::start && !keeps_object(update.kind))
    update.slack = config.slack;
}

Result<void> EncodedBatch::add(std::uint64_t slot, Buffer& encoded, bool present) {
  chunks.push_back({slot, present ? encoded.size() : 0, present});
  if (!present) return {};
  if (encoded.size() < kLargeBytes) {
    if (bytes->size() > 0) return bytes->append(encoded.span());
    std::swap(*bytes, encoded);
    return {};
  }
  std::swap(*large.emplace_back(), encoded);
  chunks.back().viewed = large.back()->data();
  return {};
}

ShardWriter::ShardWriter(const IndexCoding& coding, ShardUpdate update, std::size_t window)
    : coding_(coding),
      window_(std::max<std::size_t>(1, window)),
      used_(update.end),
      update_(std::move(update)),
      gaps_(std::move(update_.gaps)) {}

Result<void> ShardWriter::start(ObjectWriter& to, ByteSource* old) {
  assert(old != nullptr || update_.moves.empty());
  to_ = &to;
  for (const auto& [from, to_offset] : update_.moves) SHERD_TRY(to.copy(*old, from.offset, from.length, to_offset));
  return {};
}

std::uint64_t ShardWriter::allocate(std::uint64_t slot, std::uint64_t length) {
  if (const auto room = update_.rooms.find(slot); room != update_.rooms.end() && length <= room->second.length) {
    const Extent& old = room->second.old;
    if (length == old.length || update_.copies_index) {
      index_changes_ = index_changes_ || length != old.length;
      overwritten_ += old.length;
      return old.offset;
    }
  }
  index_changes_ = true;
  if (length > 0)
    if (const auto offset = gaps_.take(length)) return *offset;
  used_ = update_.end + length;
  const double share = update_.slack.share * static_cast<double>(length);
  return std::exchange(update_.end, update_.end + length + update_.slack.bytes + static_cast<std::uint64_t>(share));
}

/// A batch's turn to be encoded and put; turns begin in the order of their numbers. A turn that ends without a batch
/// abandons the whole shard, since the others would wait for its bytes for ever.
class ShardWriter::Turn {
 public:
  /// Waits until batch `number` may be encoded.
  Turn(ShardWriter& writer, std::size_t number);
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn();
  /// Stores the batch; thread-safe, in any order.
  Result<void> put(EncodedBatch batch);

 private:
  ShardWriter& writer_;
  const std::size_t number_;
  bool put_ = false;
};

ShardWriter::Turn::Turn(ShardWriter& writer, std::size_t number) : writer_(writer), number_(number) {
  std::unique_lock hold(writer_.mutex_);
  if (writer_.update_.as_they_arrive) return;
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
      index_changes_ = true;
      update_.index.clear(chunk.slot);
      continue;
    }
    has_puts_ = true;
    const std::uint64_t offset = allocate(chunk.slot, chunk.length);
    update_.index.set(chunk.slot, {offset, chunk.length});
    std::span<const std::byte> bytes(chunk.viewed, chunk.length);
    if (chunk.viewed == nullptr) {
      bytes = batch.bytes->span().subspan(at, chunk.length);
      at += chunk.length;
    }
    if (!placed.empty() && placed.back().offset + placed.back().bytes.size() == offset &&
        std::to_address(placed.back().bytes.end()) == bytes.data())
      placed.back().bytes = {placed.back().bytes.data(), placed.back().bytes.size() + bytes.size()};
    else
      placed.push_back({offset, bytes});
  }
  return placed;
}

/// The places of this batch and of those that have waited for it; the batches themselves are added to `ready`.
std::vector<ShardWriter::Placed> ShardWriter::place_in_turn(std::size_t number, EncodedBatch batch,
                                                            std::vector<EncodedBatch>& ready) {
  std::vector<Placed> placed;
  const std::lock_guard hold(mutex_);
  waiting_.emplace(number, std::move(batch));
  while (!waiting_.empty() && (update_.as_they_arrive || waiting_.begin()->first == next_)) {
    ready.push_back(std::move(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
    const auto more = place(ready.back());
    placed.insert(placed.end(), more.begin(), more.end());
    ++next_;
  }
  return placed;
}

Result<void> ShardWriter::Turn::put(EncodedBatch batch) {
  std::vector<EncodedBatch> ready;
  const std::vector<Placed> placed = writer_.place_in_turn(number_, std::move(batch), ready);
  if (!ready.empty()) writer_.advanced_.notify_all();
  for (const auto& [offset, bytes] : placed) SHERD_TRY(writer_.to_->write(offset, bytes));
  put_ = true;
  return {};
}

Result<void> ShardWriter::put(std::size_t count, const Config& config,
                              const std::function<Result<EncodedBatch>(std::size_t)>& encode) {
  return parallel_for(count, config, [&, first = next_](std::size_t i) -> Result<void> {
    Turn turn(*this, first + i);
    SHERD_TRY(batch, encode(i));
    return turn.put(std::move(batch));
  });
}

Result<void> ShardWriter::put(EncodedBatch batch) { return Turn(*this, next_).put(std::move(batch)); }

// Moves the index, which is one part, so that it and the object end at a multiple of the alignment.
Result<void> ShardWriter::align(IndexCoding::Part& index) {
  const std::uint64_t end = update_.end + index.bytes.size();
  SHERD_TRY(append(std::vector<std::byte>(ceil_div(end, update_.alignment) * update_.alignment - end)));
  index.offset = update_.end;
  return {};
}

Result<void> ShardWriter::append(std::span<const std::byte> bytes) {
  SHERD_TRY(to_->write(update_.end, bytes));
  update_.end += bytes.size();
  return {};
}

Result<bool> ShardWriter::finish(Empty empty) {
  if (empty == Empty::absent && update_.index.count() == 0) return false;
  if (update_.kind == UpdateKind::in_place && !index_changes_) return true;
  SHERD_TRY(parts, coding_.encode(update_.index, update_.end));
  if (update_.alignment != 0) SHERD_TRY(align(parts.front()));
  if (update_.copies_index) SHERD_TRY(append(parts.front().bytes.span()));
  for (const IndexCoding::Part& part : parts) {
    if (part.bytes.size() == 0) continue;
    SHERD_TRY(to_->write(part.offset, part.bytes.span()));
    update_.end = std::max<std::uint64_t>(update_.end, part.offset + part.bytes.size());
  }
  // The room of the last chunk is a part of the object.
  if (update_.slack != Slack() && update_.end > used_) SHERD_TRY(to_->write(update_.end - 1, kZero));
  return true;
}

}  // namespace sherd
