// Moves encoded chunks from one object to another: a whole object, a chunk that is an object on one side, and the
// chunks of a shard in the order of writing. What is read of the source is the version whose index was read.
#include <algorithm>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "copy/object.hpp"
#include "store/listing.hpp"
#include "store/read_into.hpp"

namespace sherd {
namespace {

/// Bytes of a window.
constexpr std::uint64_t kMostAtOnce = std::uint64_t{16} << 20;

// Moved bytes are not decoded, so nothing else shows whether they are a chunk.
Result<void> check_length(const ChunkLayout& chunk, const Shape& shape, std::uint64_t bytes) {
  SHERD_TRY(chunk.check_encoded_size(shape, bytes));
  const auto exact = chunk.shard ? std::nullopt : chunk.chain.encoded_size(chunk.chain.stored_shape(shape));
  if (!exact || *exact == bytes) return {};
  return corrupt("holds " + std::to_string(bytes) + " bytes, but a chunk has " + std::to_string(*exact));
}

// The volume has the chunk without its checksum, so damage would not be detected there.
Result<void> check_trailer(const SecondIndex& second, std::span<const std::byte> encoded) {
  if (second.trailer != sizeof(std::uint32_t) || encoded.size() < sizeof(std::uint32_t)) return {};
  const auto bytes = encoded.first(encoded.size() - sizeof(std::uint32_t));
  if (load_little<std::uint32_t>(encoded.data() + bytes.size()) == crc32c(bytes)) return {};
  return corrupt("crc32c: the checksum of a chunk does not match");
}

}  // namespace

Result<std::shared_ptr<ByteSource>> ObjectCopy::located_version(const LocatedObject& object) {
  Store& store = *task_.source.store();
  if (object.source != nullptr) return object.source;
  if (auto listed = listed_source(store, object.key, object.size, object.generation)) return listed;
  SHERD_TRY(source, store.open(object.key));
  if (source != nullptr) {
    SHERD_TRY(generation, source->generation());
    if (generation == object.generation) return source;
  }
  return of_source<std::shared_ptr<ByteSource>>(
      conflict("another writer has changed the source while it was copied; copy again").in_key(object.key));
}

Result<void> ObjectCopy::copy_whole(const CellAccess& at) {
  std::uint64_t chunks = 0;
  LeafFinder finder(task_, {to_.grid.cell_begin(at.cell), at.valid}, source_.config(),
                    {.is_moved = true, .whole = by_server_ ? 0 : shares_.box_bytes});
  SHERD_TRY(finder.visit([&](const SourceLeaf&) -> Result<bool> {
    ++chunks;
    return true;
  }));
  if (finder.objects().empty()) return {};
  SHERD_TRY(source, located_version(finder.objects().front()));
  SHERD_TRY(size, source->size());
  SHERD_TRY(put_part(at, *source, {0, size}));
  counts_.moved += chunks;
  return {};
}

Result<void> ObjectCopy::move_one(const CellAccess& at) {
  const std::uint64_t whole = task_.source.state().layout.shard || by_server_ ? 0 : shares_.box_bytes;
  LeafFinder finder(task_, {to_.grid.cell_begin(at.cell), at.valid}, source_.config(),
                    {.is_moved = true, .whole = whole});
  std::optional<SourceLeaf> leaf;
  SHERD_TRY(finder.visit([&](const SourceLeaf& found) -> Result<bool> {
    leaf = found;
    return false;
  }));
  if (!leaf) return task_.everything ? encode_one(at) : Result<void>();
  SHERD_TRY(source, located_version(finder.objects()[leaf->object]));
  SHERD_TRY(put_part(at, *source, leaf->extent));
  ++counts_.moved;
  return {};
}

// Copies a part of an object as an object, or as a value.
Result<void> ObjectCopy::put_part(const CellAccess& at, ByteSource& source, Extent part) {
  if (!to_.layout.shard) SHERD_TRY(of_source(check_length(to_.layout, at.shape, part.length).in_key(source.name())));
  if (collected_) {
    Buffer bytes;
    SHERD_TRY(of_source(read_into(source, part, bytes).in_key(source.name())));
    SHERD_TRY(collected_->put(at.key, std::move(bytes)));
  } else {
    SHERD_TRY(object, to_.location.store->write(at.key, {.size = part.length}));
    auto put = send(source, part, *object);
    if (put) put = object->commit();
    if (!put && put.error().code() == ErrorCode::corrupt) return of_source(std::move(put));
    SHERD_TRY(std::move(put));
  }
  ++counts_.written;
  return {};
}

// Where requests have latency, in windows as large as memory allows: a store reads the parts of one at the same time.
Result<void> ObjectCopy::send(ByteSource& source, Extent part, ObjectWriter& object) const {
  if (task_.source.store()->traits().parallel_requests <= 1 || by_server_ || source.view())
    return object.copy(source, part.offset, part.length, 0);
  const std::uint64_t most = std::clamp<std::uint64_t>(shares_.box_bytes, kCopyBatchBytes, kMostAtOnce);
  Scratch window;
  for (std::uint64_t done = 0; done < part.length;) {
    const Extent next{part.offset + done, std::min(most, part.length - done)};
    SHERD_TRY(of_source(read_into(source, next, *window).in_key(source.name())));
    SHERD_TRY(object.write(done, window->span()));
    done += next.length;
  }
  return {};
}

Result<void> ObjectCopy::move_into_shard(const CellAccess& at) {
  const Slots all(at, to_.layout);
  const Shape begin = to_.grid.cell_begin(at.cell);
  const bool all_moved = !task_.clips && !task_.everything;
  LeafFinder finder(task_, {begin, at.valid}, source_.config(), {.is_moved = all_moved});
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
  // Chunks that the source does not store are encoded from its fill value.
  const auto add_missing = [&] {
    std::vector<bool> found(*element_count(all.grid), false);
    for (const Slot& slot : slots) found[slot.slot] = true;
    const std::uint64_t bytes = chunk_bytes(*all.shard.inner, all.shard.inner_shape);
    for (std::uint64_t slot = 0; slot < found.size(); ++slot) {
      const Shape cell = unravel(slot, all.grid);
      if (found[slot] || all.is_outside(cell)) continue;
      slots.push_back({order_key(all.shard, cell, all.grid, encoding_.chunk_order), slot, {0, bytes}, 0, true});
    }
  };
  if (task_.everything) add_missing();
  if (slots.empty()) return {};
  std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.order < b.order; });
  SHERD_TRY(present, write_shard(all, [&](ShardWriter& writer) { return move_slots(all, slots, finder, writer); }));
  if (present) counts_.moved += static_cast<std::uint64_t>(std::ranges::count(slots, false, &Slot::edge));
  return {};
}

// In batches, as many at a time as there is memory for.
Result<void> ObjectCopy::move_slots(const Slots& all, std::span<const Slot> slots, const LeafFinder& finder,
                                    ShardWriter& writer) {
  struct Batch {
    std::span<const Slot> slots;
    std::uint64_t bytes = 0;
  };
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool joins = i > 0 && !slots[i].edge && !slots[i - 1].edge && batches.back().bytes < kCopyBatchBytes;
    if (!joins) batches.push_back({slots.subspan(i, 0)});
    Batch& batch = batches.back();
    batch.slots = {batch.slots.data(), batch.slots.size() + 1};
    batch.bytes += slots[i].extent.length;
  }
  for (std::size_t first = 0; first < batches.size();) {
    std::size_t last = first;
    std::uint64_t bytes = 0;
    do {
      bytes += batches[last++].bytes;
    } while (last < batches.size() && bytes + batches[last].bytes <= shares_.box_bytes);
    const auto share = under_way_.take(bytes);
    SHERD_TRY(writer.put(last - first, shares_.config, [&](std::size_t i) {
      const auto part = batches[first + i].slots;
      return part.front().edge ? encode_one_slot(all, part.front()) : of_source(fetch(all, part, finder));
    }));
    first = last;
  }
  return {};
}

// The encoded bytes of some slots, with one batch of reads per object.
Result<EncodedBatch> ObjectCopy::fetch(const Slots& all, std::span<const Slot> slots, const LeafFinder& finder) {
  const ShardLayout& shard = all.shard;  // its chunks are encoded like the source's
  EncodedBatch batch;
  std::uint64_t bytes = 0;
  std::vector<std::size_t> objects;
  for (const Slot& slot : slots) {
    const Shape shape = shard.inner_shape_at(unravel(slot.slot, all.grid), all.stored);
    SHERD_TRY(check_length(*shard.inner, shape, slot.extent.length).in_key(finder.objects()[slot.object].key));
    batch.chunks.push_back({slot.slot, slot.extent.length, true});
    bytes += slot.extent.length;
    objects.push_back(slot.object);
  }
  SHERD_TRY(batch.bytes->resize(bytes));
  std::sort(objects.begin(), objects.end());
  objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
  for (const std::size_t object : objects) {
    SHERD_TRY(source, located_version(finder.objects()[object]));
    std::vector<RangeRead> reads;
    std::uint64_t at = 0;
    for (const Slot& slot : slots) {
      if (slot.object == object)
        reads.push_back({slot.extent.offset, batch.bytes->span().subspan(at, slot.extent.length)});
      at += slot.extent.length;
    }
    SHERD_TRY(source->read(reads).in_key(finder.objects()[object].key));
    if (shard.second)
      for (const RangeRead& read : reads)
        SHERD_TRY(check_trailer(*shard.second, read.into).in_key(finder.objects()[object].key));
  }
  return batch;
}

}  // namespace sherd
