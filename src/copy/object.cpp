// Makes one stored object of a copy. A shard is written in the order of ChunkOrder, with any amount of memory: moved
// chunks are written consecutively, and if elements are needed, the affected slots are halved along that order until
// the box around them fits in memory. Each half is a contiguous part of the order, so the bytes do not depend on the
// budget, and chunks that the source does not store are not read.
#include "copy/object.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "copy/options.hpp"
#include "store/capabilities.hpp"
#include "store/listing.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

Config encoding_config(const Config& config, std::shared_ptr<Recorder> recorder) {
  Config result = config;
  result.recorder = std::move(recorder);
  return result;
}

Config reading_config(const Config& source, const CopyShares& shares) {
  Config config = source;
  config.memory_budget = shares.reading;
  config.threads = shares.config.threads;
  config.interrupted = shares.config.interrupted;
  config.progress = nullptr;
  return config;
}

// Tried with a version that need not exist.
bool is_copied_by_server(const Store& source, const Store& destination) {
  const auto* const copying = dynamic_cast<const CopyingStore*>(&destination);
  const auto any = copying != nullptr ? listed_source(source, "any", 0, {R"("")"}) : nullptr;
  return any != nullptr && copying->copies_itself(*any);
}

// The dimension and the coordinate at which a box of cells is halved so that each half is contiguous in the order.
std::pair<std::size_t, std::uint64_t> halving(const ShardLayout& shard, const Box& cells, ChunkOrder order) {
  const std::size_t rank = cells.shape.size();
  if (order != ChunkOrder::morton) {
    std::size_t d = order == ChunkOrder::c ? 0 : rank - 1;
    while (cells.shape[d] == 1) d += order == ChunkOrder::c ? 1 : std::size_t(-1);
    return {d, cells.origin[d] + (cells.shape[d] + 1) / 2};
  }
  std::size_t highest = 0;
  int bit = -1;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::uint64_t last = cells.origin[d] + cells.shape[d] - 1;
    const int width = std::bit_width(cells.origin[d] ^ last) - 1;
    // Of equal bits, the first dimension's is the highest in the code; the last one's if chunks have ids.
    if (width < bit || (width == bit && shard.ids() == nullptr)) continue;
    bit = width;
    highest = d;
  }
  const std::uint64_t last = cells.origin[highest] + cells.shape[highest] - 1;
  return {highest, last >> bit << bit};
}

}  // namespace

ObjectCopy::ObjectCopy(const ArrayCopy& task, const CopyShares& shares, CopyCounts& counts)
    : task_(task),
      to_(task.destination.state()),
      shares_(shares),
      counts_(counts),
      encoding_(encoding_config(shares.config, counts.encoding)),
      source_(task.source.with_config(reading_config(task.source.config(), shares))),
      by_server_(is_copied_by_server(*task.source.store(), *to_.location.store)),
      budget_(shares.reading),
      reader_(encoding_, to_.location.store->traits(), to_.cache, budget_, nullptr),
      writer_(encoding_, shares.box_bytes / 2, reader_),
      under_way_(shares.box_bytes * shares.lanes),
      heap_(shares.config.memory_budget),
      commits_(shares.committing) {
  if (to_.storage->is_hashed()) collected_.emplace(*to_.storage, shares.box_bytes / 2);
}

Result<void> ObjectCopy::finish(Result<void> copied) {
  if (copied && collected_) copied = collected_->flush();
  return commits_.finish(std::move(copied));
}

Result<void> ObjectCopy::copy(const CellAccess& at) {
  const bool plain_shard = to_.layout.shard && !to_.layout.opaque_shard();
  const auto make = [&] {
    switch (task_.way) {
      case CopyWay::whole:
        return copy_whole(at);
      case CopyWay::moved:
        if (plain_shard) return move_into_shard(at);
        return task_.clips && at.valid != to_.chunks ? encode_one(at) : move_one(at);
      case CopyWay::encoded:
        break;
    }
    return plain_shard ? encode_shard(at) : encode_one(at);
  };
  auto made = retry_limited(shares_.config, [&] {
    auto once = make();
    if (!once && is_lost_race(once.error())) task_.source.state().cache.clear();  // of the versions of its objects
    return once;
  });
  // An element that the requested type cannot hold is an error in the request, not in this object.
  if (!made && made.error().member() == "dtype") return of_request(made.error());
  return std::move(made).in_key(at.key);
}

// Makes a chunk or an opaque shard in memory, in its stored form.
Result<void> ObjectCopy::encode_one(const CellAccess& at) {
  const Box box{to_.grid.cell_begin(at.cell), at.valid};
  const bool variable = to_.dtype.is_variable();
  LeafFinder finder(task_, box, source_.config(), {.extents = variable});
  bool is_stored = task_.everything.has_value();
  std::uint64_t stored = 0;
  if (!is_stored || variable)
    SHERD_TRY(finder.visit([&](const SourceLeaf& leaf) -> Result<bool> {
      is_stored = true;
      stored += leaf.extent.length;
      return variable;
    }));
  if (!is_stored) return {};
  const std::uint64_t bytes = *element_count(at.valid) * to_.dtype.size();
  const auto share = under_way_.take(variable ? varlen_.decoded(bytes, stored) : bytes);
  Scratch elements;
  VarBytesArena arena;
  SHERD_TRY(elements->resize(bytes));
  SHERD_TRY(read_elements(box, elements->data(), arena));
  if (variable) varlen_.met(stored, elements->span());
  Region part;
  for (const auto length : at.valid) part.axes.push_back({.start = 0, .step = 1, .count = length, .first = 0});
  const WritePiece piece{
      to_.layout, at.shape, at.valid, std::move(part), {elements->data(), chunk_strides(at.valid, to_.dtype.size())}};
  Scratch lent;
  Buffer own;
  Buffer& encoded = collected_ ? own : *lent;
  SHERD_TRY(present, writer_.to_memory(piece, std::nullopt, encoded));
  heap_.encoded(bytes);
  if (!present) return {};
  if (collected_) {
    SHERD_TRY(collected_->put(at.key, std::move(own)));
  } else {
    const EncodedChunk chunk{at.key, encoded.span()};
    SHERD_TRY(to_.storage->put({&chunk, 1}));
  }
  ++counts_.written;
  return {};
}

// The slots that stored chunks of the source affect, in the order of writing. For variable-length elements, each
// extent's length is approximately the number of stored bytes in the slot.
Result<std::vector<ObjectCopy::Slot>> ObjectCopy::touched(Slots& all) {
  const Shape begin = to_.grid.cell_begin(all.at.cell);
  const std::size_t rank = begin.size();
  const bool variable = to_.dtype.is_variable();
  std::vector<bool> seen(*element_count(all.grid), false);
  LeafFinder finder(task_, {begin, all.at.valid}, source_.config(), {.extents = variable});
  std::vector<Slot> slots;
  const auto touch = [&](const SourceLeaf& leaf) -> Result<bool> {
    Shape first(rank), last(rank);
    for (std::size_t j = 0; j < rank; ++j) {
      const std::size_t d = all.permutation[j];
      const std::uint64_t low = std::max(leaf.box.origin[d], begin[d]) - begin[d];
      const std::uint64_t high = std::min(leaf.box.origin[d] + leaf.box.shape[d] - begin[d], all.valid[j]);
      if (high <= low) return true;  // padding beyond the end of the array
      first[j] = low / all.shard.inner_shape[j];
      last[j] = (high - 1) / all.shard.inner_shape[j];
    }
    all.longest = std::max(all.longest, leaf.extent.length);
    std::uint64_t count = 1;
    for (std::size_t j = 0; j < rank; ++j) count *= last[j] - first[j] + 1;
    const Extent share{0, ceil_div(leaf.extent.length, count)};
    for (Shape cell = first;;) {
      const std::uint64_t slot = ravel(cell, all.grid);
      if (!seen[slot] || variable)
        slots.push_back({order_key(all.shard, cell, all.grid, encoding_.chunk_order), slot, share});
      seen[slot] = true;
      std::size_t j = rank;
      for (; j > 0; --j) {
        if (++cell[j - 1] <= last[j - 1]) break;
        cell[j - 1] = first[j - 1];
      }
      if (j == 0) return true;
    }
  };
  if (task_.everything) {
    SHERD_TRY(touch({{begin, all.at.valid}, {}, 0}));
  } else {
    SHERD_TRY(finder.visit(touch));
  }
  std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.order < b.order; });
  std::size_t kept = 0;
  for (const Slot& slot : slots) {
    if (kept > 0 && slots[kept - 1].slot == slot.slot)
      slots[kept - 1].extent.length += slot.extent.length;
    else
      slots[kept++] = slot;
  }
  slots.resize(kept);
  return slots;
}

std::uint64_t ObjectCopy::stored_bytes(std::span<const Slot> slots) {
  std::uint64_t bytes = 0;
  for (const Slot& slot : slots) bytes += slot.extent.length;
  return bytes;
}

Result<void> ObjectCopy::encode_shard(const CellAccess& at) {
  Slots all(at, to_.layout);
  SHERD_TRY(slots, touched(all));
  if (slots.empty()) return {};
  SHERD_TRY(write_shard(all, [&](ShardWriter& writer) { return encode_boxes(all, slots, writer); }));
  return {};
}

Result<bool> ObjectCopy::write_shard(const Slots& all, const std::function<Result<void>(ShardWriter&)>& fill) {
  SHERD_TRY(object, to_.location.store->write(all.at.key));
  SHERD_TRY(coding, all.shard.coding(all.grid, all.at.first_id, encoding_.limits));
  SHERD_TRY(update, plan_new(*coding));
  set_placement(encoding_, all.shard, update);
  ShardWriter writer(*coding, std::move(update), shares_.window);
  SHERD_TRY(writer.start(*object));
  SHERD_TRY(fill(writer));
  SHERD_TRY(present, writer.finish());
  if (!present) return false;
  SHERD_TRY(commits_.add(std::move(object), {}, all.at.key));
  ++counts_.written;
  return true;
}

Result<void> ObjectCopy::encode_boxes(const Slots& all, std::span<const Slot> slots, ShardWriter& writer) {
  if (slots.empty()) return {};
  const Box cells = all.around(slots);
  if (bytes_of(all, slots) <= shares_.box_bytes || slots.size() == 1) return encode_box(all, slots, writer);
  const auto [dimension, coordinate] = halving(all.shard, cells, encoding_.chunk_order);
  const auto middle = std::partition_point(
      slots.begin(), slots.end(),
      [&, d = dimension, c = coordinate](const Slot& slot) { return unravel(slot.slot, all.grid)[d] < c; });
  const auto first = static_cast<std::size_t>(middle - slots.begin());
  SHERD_TRY(encode_boxes(all, slots.first(first), writer));
  return encode_boxes(all, slots.subspan(first), writer);
}

// The memory of the elements around some slots.
std::uint64_t ObjectCopy::bytes_of(const Slots& all, std::span<const Slot> slots) const {
  const Shape shape = all.elements(all.around(slots)).shape;
  const std::uint64_t bytes = element_count(shape).value_or(~std::uint64_t{0} / 64) * to_.dtype.size();
  return to_.dtype.is_variable() ? varlen_.decoded(bytes, stored_bytes(slots)) : bytes;
}

// Reads the elements of a box of the copy, dense.
Result<void> ObjectCopy::read_elements(const Box& box, std::byte* to, VarBytesArena& arena) {
  if (task_.map) return of_source(task_.map->read(source_, box, {to, arena, shares_.config}));
  return of_source(source_.read(box, AnyView::dense(to, to_.dtype, box.shape), &arena));
}

// Reads the elements around some slots, with strides in stored order.
Result<WriteSource> ObjectCopy::read_box(const Slots& all, const Box& cells, Buffer& elements, VarBytesArena& arena) {
  const Box stored = all.elements(cells);
  const std::size_t rank = stored.shape.size();
  Box box{to_.grid.cell_begin(all.at.cell), Shape(rank)};
  for (std::size_t j = 0; j < rank; ++j) {
    box.origin[all.permutation[j]] += stored.origin[j];
    box.shape[all.permutation[j]] = stored.shape[j];
  }
  SHERD_TRY(elements.resize(*element_count(box.shape) * to_.dtype.size()));
  SHERD_TRY(read_elements(box, elements.data(), arena));
  const WriteSource natural{elements.data(), chunk_strides(box.shape, to_.dtype.size())};
  return natural.permuted(all.permutation, false);
}

Result<EncodedBatch> ObjectCopy::encode_one_slot(const Slots& all, const Slot& slot) {
  const Box cells = all.around({&slot, 1});
  Scratch elements;
  VarBytesArena arena;
  SHERD_TRY(from, read_box(all, cells, *elements, arena));
  return encode_batch(all, {&slot, 1}, cells, from);
}

Result<void> ObjectCopy::encode_box(const Slots& all, std::span<const Slot> slots, ShardWriter& writer) {
  const Box cells = all.around(slots);
  // A chunk of variable-length elements is decoded whole, however little of it is needed.
  const std::uint64_t least = to_.dtype.is_variable() ? varlen_.decoded(0, 2 * all.longest) : 0;
  const auto share = under_way_.take(std::max(least, bytes_of(all, slots)));
  Buffer elements;
  VarBytesArena arena;
  SHERD_TRY(from, read_box(all, cells, elements, arena));
  std::uint64_t inner = std::max<std::uint64_t>(1, chunk_bytes(*all.shard.inner, all.shard.inner_shape));
  if (to_.dtype.is_variable()) {
    varlen_.met(stored_bytes(slots), elements.span());
    inner += varlen_bytes(elements.span()) / slots.size();
  }
  const auto batch = static_cast<std::size_t>(std::max<std::uint64_t>(1, kCopyBatchBytes / inner));
  return writer.put(ceil_div(slots.size(), batch), shares_.config, [&](std::size_t i) {
    return encode_batch(all, slots.subspan(i * batch, std::min(batch, slots.size() - i * batch)), cells, from);
  });
}

Result<EncodedBatch> ObjectCopy::encode_batch(const Slots& all, std::span<const Slot> slots, const Box& cells,
                                              const WriteSource& from) {
  EncodedBatch batch;
  Scratch encoded;
  for (const Slot& slot : slots) {
    const Shape cell = unravel(slot.slot, all.grid);
    WritePiece piece{*all.shard.inner, all.shard.inner_shape_at(cell, all.stored), Shape(cell.size()), {}, from};
    for (std::size_t j = 0; j < cell.size(); ++j) {
      const std::uint64_t length = all.shard.inner_shape[j];
      piece.valid[j] = std::min(length, all.valid[j] - cell[j] * length);
      piece.part.axes.push_back(
          {.start = 0, .step = 1, .count = piece.valid[j], .first = (cell[j] - cells.origin[j]) * length});
    }
    SHERD_TRY(present, writer_.to_memory(piece, std::nullopt, *encoded).in_slot(slot.slot));
    SHERD_TRY(batch.add(slot.slot, *encoded, present));
  }
  heap_.encoded(slots.size() * chunk_bytes(*all.shard.inner, all.shard.inner_shape));
  return batch;
}

}  // namespace sherd
