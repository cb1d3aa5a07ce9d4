// What can be wrong with a shard of ids that is no box of chunks: its lists name chunks from anywhere in the
// array. Such a shard is looked at as if it were one of the whole array, of which it holds some slots:
// a slot is the number of the chunk in the array's grid, in C order.
#include <algorithm>

#include "base/try.hpp"
#include "tools/check_lists.hpp"
#include "tools/check_spot.hpp"

namespace sherd {
namespace {

using neuroglancer::ShardedStore;

// The array as a shard, with what the store of ids does to a chunk as the last of its codecs.
Result<ChunkLayout> layout_as_shard(const Array::State& state, const CompressedMorton& morton) {
  const ArraySpec spec = *state.document().array;
  const Uint64Format& format = state.scattered->values().format;
  std::vector<CodecSpec> codecs = spec.codecs;
  if (format.sharding.gzip_data) codecs.push_back(gzip_spec());
  SHERD_TRY(chunk, ChunkLayout::build(codecs, state.place.codecs(), {spec.dtype, spec.ids->chunk_shape},
                                      spec.fill_value, state.config().limits));
  ChunkLayout layout{.dtype = spec.dtype, .fill = spec.fill_value, .chain = {}, .shard = {}};
  layout.shard.emplace(ShardLayout{.inner_shape = spec.ids->chunk_shape,
                                   .index = IdIndex{format, morton},
                                   .inner = std::make_unique<ChunkLayout>(std::move(chunk))});
  return layout;
}

}  // namespace

Result<void> ObjectCheck::scattered(const std::string& key, Findings& to) const {
  const ShardedStore::State& values = state_.scattered->values();
  const auto number =
      neuroglancer::shard_number(values.format.sharding, std::string_view(key).substr(state_.prefix.size()));
  const Shape shape = state_.shape();
  const Shape grid = state_.grid.count(shape);
  const auto slot = [&](std::uint64_t id) -> std::optional<std::uint64_t> {
    const auto cell = state_.grid.parse_key(std::to_string(id));
    if (!cell || !std::ranges::equal(*cell, grid, std::ranges::less())) return std::nullopt;
    return ravel(*cell, grid);
  };
  const IdShard shard{values, *number, key, slot,
                      "is outside the array's shape " + to_string(shape) + ", nobody reads it"};
  SHERD_TRY(lists, check_lists(shard, config_.limits, to));
  if (!lists) return {};
  SHERD_TRY(morton, CompressedMorton::of(grid));
  SHERD_TRY(layout, layout_as_shard(state_, morton));
  const Spot spot{*lists->source, {0, lists->size}, layout, shape};
  to.counts.live_bytes += lists->index_bytes;
  to.counts.dead_bytes += lists->size - lists->index_bytes;
  return slots(spot, lists->found, to);
}

}  // namespace sherd
