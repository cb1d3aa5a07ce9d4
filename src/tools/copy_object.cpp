// How one stored object of a copy comes to be. A shard is written in the order that ChunkOrder says, whatever the
// memory: chunks that are moved follow one another in it, and where elements are needed, the touched slots are halved
// along that order until the box around them fits. Each half is a run of the order, so the same bytes come of any
// budget, and what the source does not store is not read.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "tools/copy.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kCopyBatchBytes = std::uint64_t{1} << 20;

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

// The dimension and the coordinate at which a box of cells is halved so that each half is a run of the order.
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
    // Of equal bits, the first dimension's is the highest in the code; the last one's where chunks stand by id.
    if (width < bit || (width == bit && shard.ids() == nullptr)) continue;
    bit = width;
    highest = d;
  }
  const std::uint64_t last = cells.origin[highest] + cells.shape[highest] - 1;
  return {highest, last >> bit << bit};
}

}  // namespace

struct ObjectCopy::Slot {
  std::uint64_t order;
  std::uint64_t slot;
  Extent extent = {};
  std::size_t object = 0;
  bool edge = false;  // to be encoded where all others are moved
};

// A shard in the making; shapes in stored order.
struct ObjectCopy::Slots {
  const CellAccess& at;
  const ShardLayout& shard;
  const std::vector<std::size_t>& permutation;
  Shape stored;  // of the shard
  Shape grid;
  Shape valid;

  Slots(const CellAccess& cell, const ChunkLayout& layout)
      : at(cell),
        shard(*layout.shard),
        permutation(layout.chain.permutation()),
        stored(layout.chain.stored_shape(cell.shape)),
        grid(shard.grid(stored)),
        valid(layout.chain.stored_shape(cell.valid)) {}

  // Whether the array ends inside this inner chunk.
  [[nodiscard]] bool is_edge(const Shape& cell) const {
    for (std::size_t j = 0; j < cell.size(); ++j)
      if ((cell[j] + 1) * shard.inner_shape[j] > valid[j]) return true;
    return false;
  }
  // The cells around some slots.
  [[nodiscard]] Box around(std::span<const Slot> slots) const {
    Shape low = unravel(slots.front().slot, grid);
    Shape high = low;
    for (const Slot& slot : slots) {
      const Shape cell = unravel(slot.slot, grid);
      for (std::size_t j = 0; j < cell.size(); ++j) {
        low[j] = std::min(low[j], cell[j]);
        high[j] = std::max(high[j], cell[j]);
      }
    }
    for (std::size_t j = 0; j < low.size(); ++j) high[j] += 1 - low[j];
    return {low, high};
  }
  // Its elements inside the array, relative to the shard.
  [[nodiscard]] Box elements(const Box& cells) const {
    Box box{cells.origin, cells.shape};
    for (std::size_t j = 0; j < box.origin.size(); ++j) {
      box.origin[j] *= shard.inner_shape[j];
      box.shape[j] = std::min((cells.origin[j] + cells.shape[j]) * shard.inner_shape[j], valid[j]) - box.origin[j];
    }
    return box;
  }
};

ObjectCopy::ObjectCopy(const ArrayCopy& task, const CopyShares& shares, CopyCounts& counts)
    : task_(task),
      to_(task.destination.state()),
      shares_(shares),
      counts_(counts),
      encoding_(encoding_config(shares.config, counts.encoding)),
      source_(task.source.with_config(reading_config(task.source.config(), shares))),
      budget_(shares.reading),
      reader_(encoding_, to_.place.store->traits(), to_.cache, budget_, nullptr),
      writer_(encoding_, shares.box_bytes / 2, reader_) {
  if (to_.scattered) values_.emplace(*to_.scattered, shares.box_bytes / 2);
}

Result<void> ValueBatch::put(const std::string& key, Buffer value) {
  {
    const std::lock_guard hold(mutex_);
    bytes_ += value.capacity();
    values_.emplace_back(*store_.id_of(key), std::move(value));
    if (bytes_ < most_) return {};
  }
  return flush();
}

Result<void> ValueBatch::flush() {
  std::vector<std::pair<std::uint64_t, Buffer>> values;
  {
    const std::lock_guard hold(mutex_);
    values.swap(values_);
    bytes_ = 0;
  }
  std::vector<neuroglancer::ShardedStore::Item> items;
  items.reserve(values.size());
  for (const auto& [id, value] : values) items.push_back({.id = id, .value = value.span()});
  SHERD_TRY(neuroglancer::change(store_.values(), items, {}));
  return {};
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
  return make().in_key(at.key);
}

Result<std::shared_ptr<ByteSource>> ObjectCopy::open_again(const LeafFinder::Object& object) {
  SHERD_TRY(source, task_.source.store()->open(object.key));
  if (source != nullptr) {
    SHERD_TRY(generation, source->generation());
    if (generation == object.generation) return source;
  }
  return std::move(conflict("another writer has changed the source while it was copied; copy again"))
      .in_key(object.key);
}

Result<void> ObjectCopy::copy_whole(const CellAccess& at) {
  std::uint64_t chunks = 0;
  LeafFinder finder(task_, {to_.grid.cell_begin(at.cell), at.valid});
  SHERD_TRY(finder.visit([&](const SourceLeaf&) -> Result<bool> {
    ++chunks;
    return true;
  }));
  if (finder.objects().empty()) return {};
  SHERD_TRY(source, open_again(finder.objects().front()));
  SHERD_TRY(size, source->size());
  SHERD_TRY(put_part(at, *source, {0, size}));
  counts_.moved += chunks;
  return {};
}

Result<void> ObjectCopy::move_one(const CellAccess& at) {
  LeafFinder finder(task_, {to_.grid.cell_begin(at.cell), at.valid});
  std::optional<SourceLeaf> leaf;
  SHERD_TRY(finder.visit([&](const SourceLeaf& found) -> Result<bool> {
    leaf = found;
    return false;
  }));
  if (!leaf) return {};
  SHERD_TRY(source, open_again(finder.objects()[leaf->object]));
  SHERD_TRY(put_part(at, *source, leaf->extent));
  ++counts_.moved;
  return {};
}

// A part of an object as an object, or as a value.
Result<void> ObjectCopy::put_part(const CellAccess& at, ByteSource& source, Extent part) {
  if (values_) {
    SHERD_TRY(to_.layout.check_encoded_size(at.shape, part.length).in_key(source.name()));
    Buffer bytes;
    SHERD_TRY(bytes.resize(part.length));
    const RangeRead range{part.offset, bytes.span()};
    SHERD_TRY(source.read({&range, 1}).in_key(source.name()));
    SHERD_TRY(values_->put(at.key, std::move(bytes)));
  } else {
    SHERD_TRY(object, to_.place.store->write(at.key, part.length));
    SHERD_TRY(object->copy(source, part.offset, part.length, 0));
    SHERD_TRY(object->commit());
  }
  ++counts_.written;
  return {};
}

Result<void> ObjectCopy::move_into_shard(const CellAccess& at) {
  const Slots all(at, to_.layout);
  const Shape begin = to_.grid.cell_begin(at.cell);
  LeafFinder finder(task_, {begin, at.valid});
  std::vector<Slot> slots;
  SHERD_TRY(finder.visit([&](const SourceLeaf& leaf) -> Result<bool> {
    Shape cell(begin.size());
    for (std::size_t j = 0; j < cell.size(); ++j) {
      const std::size_t d = all.permutation[j];
      cell[j] = (leaf.box.origin[d] - begin[d]) / all.shard.inner_shape[j];
    }
    slots.push_back({order_key(all.shard, cell, all.grid, encoding_.chunk_order), ravel(cell, all.grid), leaf.extent,
                     leaf.object, task_.clips && all.is_edge(cell)});
    return true;
  }));
  if (slots.empty()) return {};
  std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.order < b.order; });
  std::vector<std::size_t> ends;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    bytes += slots[i].extent.length;
    const bool alone = slots[i].edge || (i + 1 < slots.size() && slots[i + 1].edge);
    if (bytes < kCopyBatchBytes && i + 1 < slots.size() && !alone) continue;
    ends.push_back(i + 1);
    bytes = 0;
  }
  SHERD_TRY(object, to_.place.store->write(at.key));
  SHERD_TRY(coding, all.shard.coding(all.grid, at.first_id, encoding_.limits));
  ShardWriter writer(*coding, all.shard.most_encoded(), shares_.window);
  SHERD_TRY(writer.start_new(*object));
  SHERD_TRY(parallel_for(ends.size(), shares_.config, [&](std::size_t i) -> Result<void> {
    const std::size_t first = i == 0 ? 0 : ends[i - 1];
    ShardWriter::Turn turn(writer, i);
    auto batch = slots[first].edge ? encode_one_slot(all, slots[first])
                                   : fetch(std::span(slots).subspan(first, ends[i] - first), finder);
    if (!batch) return std::move(batch).error();
    return turn.put(*std::move(batch));
  }));
  SHERD_TRY(present, writer.finish());
  if (!present) return {};
  SHERD_TRY(object->commit());
  ++counts_.written;
  counts_.moved += static_cast<std::uint64_t>(std::ranges::count(slots, false, &Slot::edge));
  return {};
}

// The encoded bytes of some slots, with one batch of reads an object.
Result<EncodedBatch> ObjectCopy::fetch(std::span<const Slot> slots, const LeafFinder& finder) {
  const ShardLayout& shard = *to_.layout.shard;  // its chunks are encoded as the source's
  EncodedBatch batch;
  std::uint64_t bytes = 0;
  std::vector<std::size_t> objects;
  for (const Slot& slot : slots) {
    SHERD_TRY(shard.inner->check_encoded_size(shard.inner_shape, slot.extent.length)
                  .in_key(finder.objects()[slot.object].key));
    batch.chunks.push_back({slot.slot, slot.extent.length, true});
    bytes += slot.extent.length;
    objects.push_back(slot.object);
  }
  SHERD_TRY(batch.bytes->resize(bytes));
  std::sort(objects.begin(), objects.end());
  objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
  for (const std::size_t object : objects) {
    SHERD_TRY(source, open_again(finder.objects()[object]));
    std::vector<RangeRead> reads;
    std::uint64_t at = 0;
    for (const Slot& slot : slots) {
      if (slot.object == object)
        reads.push_back({slot.extent.offset, batch.bytes->span().subspan(at, slot.extent.length)});
      at += slot.extent.length;
    }
    SHERD_TRY(source->read(reads).in_key(finder.objects()[object].key));
  }
  return batch;
}

// A chunk or an opaque shard: made in memory, as it is written.
Result<void> ObjectCopy::encode_one(const CellAccess& at) {
  const Box box{to_.grid.cell_begin(at.cell), at.valid};
  LeafFinder finder(task_, box);
  bool stored = task_.everything;
  if (!stored)
    SHERD_TRY(finder.visit([&](const SourceLeaf&) -> Result<bool> {
      stored = true;
      return false;
    }));
  if (!stored) return {};
  Buffer elements;
  VarBytesArena arena;
  SHERD_TRY(elements.resize(*element_count(at.valid) * to_.dtype.size()));
  SHERD_TRY(read_elements(box, elements.data(), arena));
  Region part;
  for (const auto length : at.valid) part.axes.push_back({.start = 0, .step = 1, .count = length, .first = 0});
  const WritePiece piece{
      to_.layout, at.shape, at.valid, std::move(part), {elements.data(), chunk_strides(at.valid, to_.dtype.size())}};
  Scratch lent;
  Buffer own;
  Buffer& encoded = values_ ? own : *lent;
  SHERD_TRY(present, writer_.to_memory(piece, std::nullopt, encoded));
  if (!present) return {};
  SHERD_TRY(values_ ? values_->put(at.key, std::move(own)) : to_.place.store->set(at.key, encoded.span()));
  ++counts_.written;
  return {};
}

// The slots into which stored chunks of the source fall, in the order in which they are written.
Result<std::vector<ObjectCopy::Slot>> ObjectCopy::touched(const Slots& all) {
  const Shape begin = to_.grid.cell_begin(all.at.cell);
  const std::size_t rank = begin.size();
  std::vector<bool> seen(*element_count(all.grid), false);
  LeafFinder finder(task_, {begin, all.at.valid});
  std::vector<Slot> slots;
  const auto touch = [&](const SourceLeaf& leaf) -> Result<bool> {
    Shape first(rank), last(rank);
    for (std::size_t j = 0; j < rank; ++j) {
      const std::size_t d = all.permutation[j];
      const std::uint64_t low = std::max(leaf.box.origin[d], begin[d]) - begin[d];
      const std::uint64_t high = std::min(leaf.box.origin[d] + leaf.box.shape[d] - begin[d], all.valid[j]);
      if (high <= low) return true;  // padding beyond the array
      first[j] = low / all.shard.inner_shape[j];
      last[j] = (high - 1) / all.shard.inner_shape[j];
    }
    for (Shape cell = first;;) {
      const std::uint64_t slot = ravel(cell, all.grid);
      if (!seen[slot]) slots.push_back({order_key(all.shard, cell, all.grid, encoding_.chunk_order), slot});
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
  return slots;
}

Result<void> ObjectCopy::encode_shard(const CellAccess& at) {
  const Slots all(at, to_.layout);
  SHERD_TRY(slots, touched(all));
  if (slots.empty()) return {};
  SHERD_TRY(object, to_.place.store->write(at.key));
  SHERD_TRY(coding, all.shard.coding(all.grid, at.first_id, encoding_.limits));
  ShardWriter writer(*coding, all.shard.most_encoded(), shares_.window);
  SHERD_TRY(writer.start_new(*object));
  std::size_t batches = 0;
  SHERD_TRY(encode_boxes(all, slots, writer, batches));
  SHERD_TRY(present, writer.finish());
  if (!present) return {};
  SHERD_TRY(object->commit());
  ++counts_.written;
  return {};
}

Result<void> ObjectCopy::encode_boxes(const Slots& all, std::span<const Slot> slots, ShardWriter& writer,
                                      std::size_t& batches) {
  if (slots.empty()) return {};
  const Box cells = all.around(slots);
  const std::uint64_t bytes =
      element_count(all.elements(cells).shape).value_or(~std::uint64_t{0} / 64) * to_.dtype.size();
  if (bytes <= shares_.box_bytes || slots.size() == 1) return encode_box(all, slots, writer, batches);
  const auto [dimension, coordinate] = halving(all.shard, cells, encoding_.chunk_order);
  const auto middle = std::partition_point(
      slots.begin(), slots.end(),
      [&, d = dimension, c = coordinate](const Slot& slot) { return unravel(slot.slot, all.grid)[d] < c; });
  const auto first = static_cast<std::size_t>(middle - slots.begin());
  SHERD_TRY(encode_boxes(all, slots.first(first), writer, batches));
  return encode_boxes(all, slots.subspan(first), writer, batches);
}

// What a box of the copy holds, dense.
Result<void> ObjectCopy::read_elements(const Box& box, std::byte* to, VarBytesArena& arena) {
  if (!task_.reduction) return source_.read(box, AnyView::dense(to, to_.dtype, box.shape), &arena);
  const Box finer = task_.reduction->made_of(box, source_.shape());
  Buffer elements;
  SHERD_TRY(elements.resize(*element_count(finer.shape) * to_.dtype.size()));
  SHERD_TRY(source_.read(finer, AnyView::dense(elements.data(), to_.dtype, finer.shape), &arena));
  return reduce(*task_.reduction, to_.dtype, {finer, elements.data()}, {box, to}, shares_.config);
}

// The elements around some slots, strides in stored order.
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

Result<void> ObjectCopy::encode_box(const Slots& all, std::span<const Slot> slots, ShardWriter& writer,
                                    std::size_t& batches) {
  const Box cells = all.around(slots);
  Buffer elements;
  VarBytesArena arena;
  SHERD_TRY(from, read_box(all, cells, elements, arena));
  const std::uint64_t inner = std::max<std::uint64_t>(1, chunk_bytes(*all.shard.inner, all.shard.inner_shape));
  const auto batch = static_cast<std::size_t>(std::max<std::uint64_t>(1, kCopyBatchBytes / inner));
  const std::size_t count = ceil_div(slots.size(), batch);
  const std::size_t base = std::exchange(batches, batches + count);
  return parallel_for(count, shares_.config, [&](std::size_t i) -> Result<void> {
    ShardWriter::Turn turn(writer, base + i);
    SHERD_TRY(encoded,
              encode_batch(all, slots.subspan(i * batch, std::min(batch, slots.size() - i * batch)), cells, from));
    return turn.put(std::move(encoded));
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
    const std::uint64_t length = present ? encoded->size() : 0;
    batch.chunks.push_back({slot.slot, length, present});
    const std::size_t at = batch.bytes->size();
    SHERD_TRY(batch.bytes->grow(at + length));
    if (length > 0) std::memcpy(batch.bytes->data() + at, encoded->data(), length);
  }
  return batch;
}

}  // namespace sherd
