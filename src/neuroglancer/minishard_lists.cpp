// The lists of a whole shard, a part at a time, and statistics from them: the number of chunks and of dead bytes.
#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "shard/old_shard.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::uint64_t kMinishardsAtOnce = 4096;

std::string stats_name(const std::string& name) { return name + "@stats"; }

// The numbers of some minishards beginning with this one; none after the last.
std::vector<std::uint64_t> minishards_from(std::uint64_t first, const Uint64Sharding& sharding) {
  const std::uint64_t count = std::uint64_t{1} << sharding.minishard_bits;
  std::vector<std::uint64_t> numbers(
      static_cast<std::size_t>(std::min(kMinishardsAtOnce, count - std::min(first, count))));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

Result<bool> for_each_list(const ShardedStore::State& state, ByteSource& source, const ListVisit& visit,
                           std::uint64_t first) {
  for (auto wanted = minishards_from(first, state.format.sharding); !wanted.empty();
       wanted = minishards_from(wanted.back() + 1, state.format.sharding)) {
    SHERD_TRY(lists, read_minishards(source, wanted, state.reading()));
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (!lists[i]) continue;
      SHERD_TRY(more, visit(wanted[i], *lists[i]).in([&] { return "minishard " + std::to_string(wanted[i]); }));
      if (!more) return false;
    }
  }
  return true;
}

Result<void> check_list_extents(const ShardedStore::State& state, ByteSource& source) {
  for (auto each = minishards_from(0, state.format.sharding); !each.empty();
       each = minishards_from(each.back() + 1, state.format.sharding))
    SHERD_TRY(check_list_extents(source, each, state.reading()));
  return {};
}

Result<ShardStats> shard_stats(const ShardedStore::State& state, std::uint64_t number, ByteSource& source) {
  SHERD_TRY(size, source.size());
  SHERD_TRY(generation, source.generation());
  if (const auto kept = state.cache.get<ShardStats>(stats_name(source.name()), generation)) return *kept;
  const Uint64Sharding& sharding = state.format.sharding;
  std::uint64_t live = 0;
  Hdf5Signature signature(size);
  std::vector<Extent> used;
  const auto use = [&](const Extent& extent) {
    live = checked_add(live, extent.length).value_or(~std::uint64_t{0});  // overlapping extents may add up to anything
    signature.leave_out(extent);
    if (state.config().update == Update::in_place && extent.length > 0) used.push_back(extent);
  };
  use({0, sharding.head_bytes()});
  ShardStats stats;
  SHERD_TRY(for_each_list(state, source, [&](std::uint64_t minishard, const MinishardIndex& list) -> Result<bool> {
    SHERD_TRY(list.check({number, minishard}, sharding));
    SHERD_TRY(preceding, preceding_bytes(state, source, list.chunks()));
    for (std::size_t i = 0; i < preceding.size(); ++i) {
      const auto& chunk = list.chunks()[i];
      use({chunk.offset - preceding[i], chunk.length + preceding[i]});
    }
    stats.chunks += preceding.size();
    use(list.stored());
    return true;
  }));
  stats.dead = size > live ? size - live : 0;
  std::ranges::sort(used, {}, &Extent::offset);
  const auto overlap = [](const Extent& a, const Extent& b) { return b.offset < a.end(); };
  stats.shares_bytes = std::ranges::adjacent_find(used, overlap) != used.end();
  SHERD_TRY(is_hdf5, signature.is_in(source));
  stats.is_hdf5 = is_hdf5;
  keep_stats(state, source.name(), generation, stats);
  return stats;
}

void keep_stats(const ShardedStore::State& state, const std::string& name, const Generation& generation,
                ShardStats stats) {
  if (generation.token.empty()) return;
  state.cache.put(stats_name(name), generation, std::make_shared<const ShardStats>(stats), sizeof(ShardStats));
}

}  // namespace sherd::neuroglancer
