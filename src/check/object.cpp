// Checks one stored chunk or shard. A shard's index is checked entry by entry. Each range is checked once, however many
// slots share it, and shards inside are entered only if they overlap nothing, so the work is bounded by the object's
// size. Decoding follows the order of bytes: neighbouring chunks are read together.
#include "check/object.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "base/try.hpp"
#include "store/read_into.hpp"
#include "store/span.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kStreamBytes = std::uint64_t{4} << 20;  // larger chunks are decoded in blocks if possible
constexpr std::uint64_t kDecodedBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxRunBytes = std::uint64_t{4} << 20;

bool overlap(Extent a, Extent b) { return a.length > 0 && b.length > 0 && a.offset < b.end() && b.offset < a.end(); }

// The one of these disjoint, sorted extents that overlaps another extent.
const Extent* overlapped(std::span<const Extent> sorted, Extent extent) {
  const auto next = std::partition_point(sorted.begin(), sorted.end(),
                                         [&](const Extent& each) { return each.end() <= extent.offset; });
  return next != sorted.end() && overlap(*next, extent) ? &*next : nullptr;
}

// Whether only the elements of a chunk cannot be decoded.
bool are_bytes_decoded(const ChunkLayout& layout, std::span<const std::byte> encoded, const Limits& limits) {
  Buffer decoded;
  return layout.chain.decode_bytes(encoded, limits.chunk_bytes, decoded).has_value();
}

}  // namespace

Result<void> ObjectCheck::check(const Shape& cell, const std::string& key, std::shared_ptr<ByteSource> listed,
                                Findings& to) const {
  if (const neuroglancer::IdObjects* ids = neuroglancer::hashed_ids(state_)) return hashed(*ids, key, to);
  if (state_.layout.shard && state_.layout.shard->ids() != nullptr) return box_aligned(cell, key, to);
  auto source = listed != nullptr ? std::move(listed) : state_.location.store->open(key);
  if (!source) return to.failed(std::move(source).error(), "unreadable", {});
  if (*source == nullptr) return {};  // erased since it was listed
  auto size = (*source)->size();
  if (!size) return to.failed(std::move(size).error(), "unreadable", {});
  SHERD_TRY(to.seen(**source));
  if (state_.layout.shard) ++to.counts.shards;
  Spot spot{**source, {0, *size}, state_.layout, state_.grid.cell_shape(cell)};
  spot.first_id = state_.first_id(cell);
  return chunk(spot, to);
}

Result<bool> ObjectCheck::is_sound(const Shape& cell, ByteSource& source, std::uint64_t size) const {
  Findings found(source.name());
  const ObjectCheck without_data(state_, false, config_, budget_);
  SHERD_TRY(without_data.shard({source, {0, size}, state_.layout, state_.grid.cell_shape(cell)}, found));
  return !found.has_errors();
}

Result<void> ObjectCheck::chunk(const Spot& spot, Findings& to) const {
  const ChunkLayout& layout = spot.layout;
  if (layout.shard && layout.chain.has_bytes_codecs()) return opaque(spot, to);
  if (layout.shard) return shard(spot, to);
  ++to.counts.chunks;
  to.counts.live_bytes += spot.where.length;
  std::vector<Found> one{{spot.where, 0}};
  return leaves(spot, one, to);
}

// Everything must be decoded before anything inside can be found.
Result<void> ObjectCheck::opaque(const Spot& spot, Findings& to) const {
  if (!data_) {
    to.counts.live_bytes += spot.where.length;
    return {};
  }
  const std::uint64_t limit = max_shard_bytes(config_.limits);
  if (spot.where.length > limit) {
    to.error("chunk_unsupported", spot.at(),
             "a compressed shard of " + std::to_string(spot.where.length) +
                 " bytes exceeds the limit chunk_bytes and is not checked");
    return {};
  }
  Buffer encoded;
  SHERD_TRY(encoded.resize(spot.where.length));
  if (auto read = read_into(spot.source, spot.where.offset, encoded.span()); !read)
    return to.failed(std::move(read).error(), "unreadable", spot.at());
  Buffer decoded;
  auto done = spot.layout.chain.decode_bytes(encoded.span(), limit, decoded);
  encoded.reset();
  if (!done) return to.failed(std::move(done).error(), "shard_decode", spot.at());
  SpanSource inside(spot.source.name(), decoded.span());
  const std::uint64_t live = to.counts.live_bytes, dead = to.counts.dead_bytes;
  SHERD_TRY(shard({inside, {0, decoded.size()}, spot.layout, spot.shape, spot.slot, spot.outer, false}, to));
  to.counts.live_bytes = live + spot.where.length;  // stored bytes count, not decoded ones
  to.counts.dead_bytes = dead;
  return {};
}

Result<void> ObjectCheck::shard(const Spot& spot, Findings& to) const {
  const ShardLayout& layout = *spot.layout.shard;
  SHERD_TRY(type, spot.layout.chain.inner_type(spot.layout.chain.stored_shape(spot.shape)));
  const ShardLocation location{spot.source, spot.where, layout, layout.grid(type.shape), spot.first_id};
  const auto note_torn = [&, is_object = !spot.slot && spot.in_object](const Error& error) {
    to.has_torn_index = to.has_torn_index || (is_object && error.code() == ErrorCode::corrupt);
  };
  auto index_at = index_extents(location, config_.limits);
  if (!index_at) note_torn(index_at.error());
  if (!index_at) return to.failed(std::move(index_at).error(), "index_size", spot.at());
  const Extent index_extent = index_at->front();
  if (layout.second) {
    auto second =
        second_extents(location, config_.limits);  // anything wrong with it is reported by the counterpart's check
    if (second) index_at->insert(index_at->end(), second->begin(), second->end());
    std::ranges::sort(*index_at, {}, &Extent::offset);
  }
  auto index = read_slots(location, config_.limits);
  if (!index) note_torn(index.error());
  if (!index) return to.failed(std::move(index).error(), "index_checksum", spot.at(index_extent.offset));

  std::vector<Found> found;
  for (std::uint64_t slot = 0; slot < index->slots(); ++slot) {
    const ShardIndex::Entry entry = index->entry(slot);
    if (entry == ShardIndex::Entry::empty) continue;
    if (!layout.inner->shard) ++to.counts.chunks;
    auto extent = index->extent(slot);
    FaultLocation at{slot, {}, spot.inside()};
    if (!extent) {
      const char* code = entry == ShardIndex::Entry::half_empty ? "entry_half_empty"
                         : entry == ShardIndex::Entry::overflow ? "extent_overflow"
                                                                : "extent_out_of_bounds";
      to.error(code, at, extent.error().message());
      continue;
    }
    const Extent where{spot.where.offset + (*extent)->offset, (*extent)->length};
    if (const Extent* part = overlapped(*index_at, where)) {
      if (spot.in_object) at.offset = where.offset;
      to.error("extent_in_index", at, range_text(where) + " reach into the shard's index at " + range_text(*part));
      continue;
    }
    found.push_back({where, slot});
  }
  std::uint64_t index_bytes = 0;
  for (const Extent& part : *index_at) index_bytes += part.length;
  to.counts.live_bytes += index_bytes;
  to.counts.dead_bytes += spot.where.length - index_bytes;
  return slots(spot, found, to);
}

// Finds overlaps, counts the bytes that are referred to, and continues with each distinct range.
Result<void> ObjectCheck::slots(const Spot& spot, std::vector<Found>& found, Findings& to) const {
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (a.extent.offset != b.extent.offset) return a.extent.offset < b.extent.offset;
    return a.extent.length != b.extent.length ? a.extent.length < b.extent.length : a.slot < b.slot;
  });
  const bool nested = spot.layout.shard->inner->shard != nullptr;
  std::vector<Found> distinct;
  std::uint64_t end = spot.where.offset;
  std::uint64_t used = 0;
  std::uint64_t reaching = 0;  // the slot that ends at `end`
  for (const Found& each : found) {
    // Writers may store equal chunks once.
    if (!distinct.empty() && distinct.back().extent == each.extent &&
        spot.chunk_shape(distinct.back().slot) == spot.chunk_shape(each.slot))
      continue;
    const bool overlaps = each.extent.length > 0 && each.extent.offset < end;
    if (overlaps)
      to.warning("extent_overlap",
                 {each.slot, spot.in_object ? each.extent.offset : std::optional<std::uint64_t>(), spot.inside()},
                 range_text(each.extent) + " overlap those of slot " + std::to_string(reaching) +
                     (nested ? "; the shard inside is not looked at" : ""));
    if (each.extent.end() > end) {
      used += each.extent.end() - std::max(end, each.extent.offset);
      end = each.extent.end();
      reaching = each.slot;
    }
    if (!nested || !overlaps) distinct.push_back(each);
  }
  to.counts.dead_bytes -= used;
  if (!nested) {
    to.counts.live_bytes += used;
    return leaves(spot, distinct, to);
  }
  const ShardLayout& layout = *spot.layout.shard;
  for (const Found& each : distinct)
    SHERD_TRY(chunk(
        {spot.source, each.extent, *layout.inner, layout.inner_shape, each.slot, spot.inside(), spot.in_object}, to));
  return {};
}

// Checks chunks without inner chunks, compressed or raw: those of a shard, or the object itself.
Result<void> ObjectCheck::leaves(const Spot& spot, std::vector<Found>& found, Findings& to) const {
  const bool inner = spot.layout.shard != nullptr;
  const ChunkLayout& leaf = spot.leaf();
  const auto wrong_size = [&](const Found& each) {
    const std::uint64_t length = each.extent.length;
    const Shape shape = spot.chunk_shape(each.slot);
    const auto expected = leaf.chain.encoded_size(leaf.chain.stored_shape(shape));
    const auto possible = leaf.check_encoded_size(shape, length);
    if (expected ? length == *expected : possible.has_value()) return false;
    FaultLocation at = inner ? FaultLocation{each.slot, each.extent.offset, spot.inside()} : spot.at();
    if (!spot.in_object) at.offset.reset();
    to.error("chunk_size", at,
             expected ? "holds " + std::to_string(length) + " bytes, but a chunk has " + std::to_string(*expected)
                      : possible.error().message());
    return true;
  };
  std::erase_if(found, wrong_size);
  if (!data_) return {};
  std::vector<Wanted> wanted(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) wanted[i] = {found[i].extent, i};
  const auto runs = coalesce(wanted, state_.location.store->traits().coalesce_gap, kMaxRunBytes);
  // `found` is already in the order of offsets, as by coalesce().
  return parallel_for(runs.size(), config_, [&](std::size_t i) {
    return run(spot, std::span(found).subspan(runs[i].first, runs[i].last - runs[i].first), to);
  });
}

// Reads neighbouring chunks together and decodes each; if they cannot be read together, one by one.
Result<void> ObjectCheck::run(const Spot& spot, std::span<const Found> found, Findings& to) const {
  const bool inner = spot.layout.shard != nullptr;
  const ChunkLayout& leaf = spot.leaf();
  Extent all = found.front().extent;
  for (const Found& each : found) all.length = std::max(all.end(), each.extent.end()) - all.offset;
  const auto location = [&](const Found& each) {
    if (!inner) return spot.at();
    return FaultLocation{each.slot, spot.in_object ? each.extent.offset : std::optional<std::uint64_t>(),
                         spot.inside()};
  };
  Budget::Share share;
  Scratch buffer;
  std::span<const std::byte> bytes;
  if (const auto view = spot.source.view()) {
    bytes = view->subspan(all.offset, all.length);
  } else {
    share = budget_.take(all.length + std::min(chunk_bytes(leaf, spot.chunk_shape(found.front().slot)), kStreamBytes));
    SHERD_TRY(buffer->resize(all.length));
    if (auto read = read_into(spot.source, all.offset, buffer->span()); !read) {
      if (found.size() == 1) return to.failed(std::move(read).error(), "unreadable", location(found.front()));
      share.release();
      for (std::size_t i = 0; i < found.size(); ++i) SHERD_TRY(run(spot, found.subspan(i, 1), to));
      return {};
    }
    bytes = buffer->span();
  }
  for (const Found& each : found) {
    const auto encoded = bytes.subspan(each.extent.offset - all.offset, each.extent.length);
    auto decoded = decode(leaf, spot.chunk_shape(each.slot), encoded);
    if (decoded) continue;
    const bool supported = decoded.error().code() != ErrorCode::unsupported;
    // Objects that are not texts, which json2 may have, are not damage. Anything else that cannot be decoded may be.
    if (!supported && state_.dtype.is_variable() && are_bytes_decoded(leaf, encoded, config_.limits))
      to.warning("chunk_unsupported", location(each), decoded.error().message());
    else
      SHERD_TRY(
          to.failed(std::move(decoded).error(), supported ? "chunk_decode" : "chunk_unsupported", location(each)));
  }
  return {};
}

Result<void> ObjectCheck::decode(const ChunkLayout& layout, const Shape& shape,
                                 std::span<const std::byte> encoded) const {
  const Shape stored = layout.chain.stored_shape(shape);
  const std::uint64_t bytes = chunk_bytes(layout, stored);
  if (config_.recorder) config_.recorder->chunks_decoded.fetch_add(1, std::memory_order_relaxed);
  Scratch elements;
  if (bytes > kStreamBytes) {
    SHERD_TRY(elements->resize(kDecodedBytes));
    SHERD_TRY(streamed, layout.chain.decode_blocks(stored, encoded, elements->span(), [](auto, auto) { return true; }));
    if (streamed) return {};
  }
  SHERD_TRY(elements->resize(bytes));
  VarBytesArena arena;
  return layout.chain.decode(stored, encoded, elements->span(), &arena);
}

}  // namespace sherd
