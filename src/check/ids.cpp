// Checks a shard of ids. A box-aligned shard is treated as one in which each chunk of the box has a slot. The lists of
// a hashed shard name chunks from anywhere in the array; it is treated as a shard of the whole array that has some of
// its slots. Slots are numbered in C order.
#include <algorithm>

#include "base/try.hpp"
#include "check/lists.hpp"

namespace sherd {
namespace {

using neuroglancer::ShardedStore;
using neuroglancer::ShardedStoreOptions;

// The array as a shard.
Result<ChunkLayout> layout_as_shard(const Array::State& state, const Uint64Format& format,
                                    const CompressedMorton& morton) {
  const ArraySpec spec = *state.document().array;
  SHERD_TRY(chunk, ChunkLayout::build(spec.codecs, state.location.codecs(), {spec.dtype, spec.ids->chunk_shape},
                                      spec.fill_value, state.config().limits));
  ChunkLayout layout{.dtype = spec.dtype, .fill = spec.fill_value, .chain = {}, .shard = {}};
  layout.shard = std::make_unique<ShardLayout>(ShardLayout{.inner_shape = spec.ids->chunk_shape,
                                                           .index = IdIndex{format, morton},
                                                           .inner = std::make_unique<ChunkLayout>(std::move(chunk))});
  return layout;
}

// The slot of an id in a shard, for a box whose ids begin with `first`.
std::optional<std::uint64_t> slot_of(std::uint64_t id, std::uint64_t first, const CompressedMorton& morton,
                                     const Shape& grid) {
  if (id < first) return std::nullopt;
  const Shape at = morton.decode(id - first);
  if (!std::ranges::equal(at, grid, std::ranges::less()) || morton.encode(at) != id - first) return std::nullopt;
  return ravel(at, grid);
}

}  // namespace

IdShard ObjectCheck::id_shard(const ShardedStore::State& values, const std::string& key) const {
  const std::string_view name = std::string_view(key).substr(state_.prefix.size());
  return {values,
          *neuroglancer::shard_number(values.format.sharding, name),
          key,
          {},
          "is outside the array's shape " + to_string(state_.shape()) + ", where it is never read"};
}

Result<void> ObjectCheck::chunks_by_id(const IdShard& shard, const ChunkLayout& layout, const Shape& shape,
                                       Findings& to) const {
  SHERD_TRY(lists, check_lists(shard, config_.limits, to));
  if (!lists) return {};
  to.counts.live_bytes += lists->index_bytes;
  to.counts.dead_bytes += lists->size - lists->index_bytes;
  return slots({*lists->source, {0, lists->size}, layout, shape}, lists->found, to);
}

Result<void> ObjectCheck::box_aligned(const Shape& cell, const std::string& key, Findings& to) const {
  const ShardLayout& layout = *state_.layout.shard;
  const IdIndex& index = *layout.ids();
  ShardedStoreOptions options{.config = config_};
  options.config.cache_bytes = 0;
  const auto& store = state_.location.store;
  const ShardedStore::State values(state_.prefix.empty() ? store : prefixed_store(store, state_.prefix), index.format,
                                   options);
  const Shape shape = state_.grid.cell_shape(cell);
  SHERD_TRY(type, state_.layout.chain.inner_type(state_.layout.chain.stored_shape(shape)));
  IdShard shard = id_shard(values, key);
  shard.slot = [&, grid = layout.grid(type.shape), first = state_.first_id(cell)](std::uint64_t id) {
    return slot_of(id, first, index.morton, grid);
  };
  return chunks_by_id(shard, state_.layout, shape, to);
}

Result<void> ObjectCheck::hashed(const neuroglancer::IdObjects& ids, const std::string& key, Findings& to) const {
  const ShardedStore::State& values = ids.values();
  const Shape shape = state_.shape();
  const Shape grid = state_.grid.count(shape);
  IdShard shard = id_shard(values, key);
  shard.slot = [&](std::uint64_t id) -> std::optional<std::uint64_t> {
    const auto cell = state_.grid.parse_key(std::to_string(id));
    if (!cell || !std::ranges::equal(*cell, grid, std::ranges::less())) return std::nullopt;
    return ravel(*cell, grid);
  };
  SHERD_TRY(morton, CompressedMorton::of(grid));
  SHERD_TRY(layout, layout_as_shard(state_, values.format, morton));
  return chunks_by_id(shard, layout, shape, to);
}

}  // namespace sherd
