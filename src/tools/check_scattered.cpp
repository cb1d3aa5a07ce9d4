// What can be wrong with a shard of ids that is no box of chunks: its lists are judged chunk by chunk, wherever in the
// array a chunk belongs. Such a shard is looked at as if it were one of the whole array, of which it holds some slots:
// a slot is the number of the chunk in the array's grid, in C order.
#include <algorithm>

#include "base/try.hpp"
#include "tools/check.hpp"
#include "tools/check_spot.hpp"

namespace sherd {
namespace {

using neuroglancer::ShardedStore;

// The array as a shard, with what the store of ids does to a chunk as the last of its codecs.
Result<ChunkLayout> layout_as_shard(const Array::State& state, const CompressedMorton& morton) {
  const ArraySpec spec = *state.document().array;
  const Uint64Format& format = state.scattered->values().format;
  std::vector<CodecSpec> codecs = spec.codecs;
  if (format.sharding.gzip_data) codecs.emplace_back().name = "gzip";
  SHERD_TRY(chunk, ChunkLayout::build(codecs, state.place.codecs(), {spec.dtype, spec.ids->chunk_shape},
                                      spec.fill_value, state.config().limits));
  ChunkLayout layout{.dtype = spec.dtype, .fill = spec.fill_value, .chain = {}, .shard = {}};
  layout.shard.emplace(ShardLayout{.inner_shape = spec.ids->chunk_shape,
                                   .index = IdIndex{format, morton},
                                   .inner = std::make_unique<ChunkLayout>(std::move(chunk))});
  return layout;
}

std::uint64_t joined_bytes(std::vector<Extent>& extents) {
  std::ranges::sort(extents, {}, &Extent::offset);
  std::uint64_t bytes = 0, end = 0;
  for (const Extent& each : extents) {
    if (each.end() <= end) continue;
    bytes += each.end() - std::max(end, each.offset);
    end = each.end();
  }
  return bytes;
}

}  // namespace

// What the lists of one shard say.
struct ObjectCheck::Lists {
  const ShardedStore::State& values;
  const CompressedMorton& morton;
  std::uint64_t number;
  Shape grid;
  std::vector<Extent> stored = {};
  std::vector<Found> found = {};
};

Result<void> ObjectCheck::scattered(const std::string& key, Findings& to) const {
  const ShardedStore::State& values = state_.scattered->values();
  const Uint64Sharding& sharding = values.format.sharding;
  const auto number = neuroglancer::shard_number(sharding, std::string_view(key).substr(state_.prefix.size()));
  auto opened = neuroglancer::open_shard(values, *number);
  const bool is_data = key.ends_with(".data");  // told of with the index before it
  if (!opened) return is_data ? Result<void>() : to.failed(std::move(opened).error(), "unreadable", {});
  if (opened->source == nullptr && !is_data) return {};  // erased since it was listed
  if (opened->is_pair == key.ends_with(".shard")) {
    to.warning("stray_object", {}, "is no part of the shard that is read");
    return {};
  }
  if (is_data) return {};
  ++to.counts.shards;
  const Shape shape = state_.shape();
  SHERD_TRY(morton, CompressedMorton::of(state_.grid.count(shape)));
  SHERD_TRY(layout, layout_as_shard(state_, morton));
  Lists lists{values, morton, *number, state_.grid.count(shape)};
  auto listed = neuroglancer::for_each_list(
      values, *opened->source,
      [&](std::uint64_t minishard, const MinishardIndex& list) { return take_list(minishard, list, lists, to); });
  if (!listed) return to.failed(std::move(listed).error(), "index_checksum", {});
  auto size = opened->source->size();
  if (!size) return to.failed(std::move(size).error(), "unreadable", {});
  Spot spot{*opened->source, {0, *size}, layout, shape};
  const std::uint64_t index_bytes = sharding.head_bytes() + joined_bytes(lists.stored);
  to.counts.live_bytes += index_bytes;
  to.counts.dead_bytes += *size - index_bytes;
  std::erase_if(lists.found, [&](const Found& each) { return reaches_into(lists.stored, each, to); });
  return slots(spot, lists.found, to);
}

Result<bool> ObjectCheck::take_list(std::uint64_t minishard, const MinishardIndex& list, Lists& lists,
                                    Findings& to) const {
  lists.stored.push_back(list.stored());
  const auto& sharding = lists.values.format.sharding;
  const auto text = [](std::uint64_t id) { return "chunk " + std::to_string(id); };
  for (const std::uint64_t id : list.repeated())
    to.warning("id_repeated", {},
               text(id) + " stands more than once in minishard " + std::to_string(minishard) + "; the first counts");
  for (const MinishardIndex::Chunk& chunk : list.chunks()) {
    ++to.counts.chunks;
    const auto place = sharding.place(chunk.id);
    if (place != Uint64Sharding::Place{lists.number, minishard}) {
      to.error("id_misplaced", {},
               text(chunk.id) + " stands in minishard " + std::to_string(minishard) + " and belongs into minishard " +
                   std::to_string(place.minishard) + " of " + state_.scattered->shard_key(place.shard) +
                   ", where it is looked for");
      continue;
    }
    const auto cell = state_.grid.parse_key(std::to_string(chunk.id));
    const bool outside = !cell || !std::ranges::equal(*cell, lists.grid, std::ranges::less());
    if (outside) {
      to.warning("chunk_outside", {},
                 text(chunk.id) + " is outside the array's shape " + to_string(state_.shape()) + ", nobody reads it");
      continue;
    }
    const std::uint64_t slot = ravel(*cell, lists.grid);
    auto extent = list.extent(chunk);
    if (!extent)
      to.error("extent_out_of_bounds", {slot}, extent.error().message());
    else if (extent->length > 0 && extent->offset < sharding.head_bytes())
      to.error("extent_in_index", {slot, extent->offset}, text(chunk.id) + " reaches into the shard's index");
    else
      lists.found.push_back({*extent, slot});
  }
  if (lists.found.size() <= config_.limits.index_bytes / sizeof(Found)) return true;
  return unsupported("the lists of this shard take more than the limit index_bytes (" +
                     std::to_string(config_.limits.index_bytes) + ")");
}

// Lists are sorted by offset here; they may overlap each other.
bool ObjectCheck::reaches_into(std::span<const Extent> lists, const Found& chunk, Findings& to) {
  const auto next =
      std::ranges::partition_point(lists, [&](const Extent& list) { return list.offset < chunk.extent.end(); });
  const bool overlaps =
      chunk.extent.length > 0 && next != lists.begin() && std::prev(next)->end() > chunk.extent.offset;
  if (overlaps)
    to.error("extent_in_index", {chunk.slot, chunk.extent.offset},
             "bytes " + std::to_string(chunk.extent.offset) + " to " + std::to_string(chunk.extent.end()) +
                 " reach into a list of the shard");
  return overlaps;
}

}  // namespace sherd
