// An index is read with one request, kept by object, position and generation, and never read twice while it holds.
#include "shard/reader.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

Result<Extent> place_index(const ShardLayout& layout, const Shape& grid, Extent where, const Limits& limits) {
  SHERD_TRY(size, layout.index.encoded_size(grid, limits));
  if (size > where.length)
    return corrupt("a shard of " + std::to_string(where.length) + " bytes is too small for its index of " +
                   std::to_string(size) + " bytes");
  const bool at_start = layout.index.location == IndexLocation::start;
  return Extent{at_start ? where.offset : where.end() - size, size};
}

// With its length: a nested shard may begin where the one around it begins.
std::string cached_name(const ShardPlace& shard) {
  return shard.source.name() + "@" + std::to_string(shard.where.offset) + "+" + std::to_string(shard.where.length);
}

}  // namespace

bool has_index(const ShardPlace& shard, const Generation& generation, Cache& cache) {
  return cache.get<ShardIndex>(cached_name(shard), generation) != nullptr;
}

Result<Extent> index_extent(const ShardPlace& shard, const Limits& limits) {
  return place_index(shard.layout, shard.grid, shard.where, limits);
}

Result<std::shared_ptr<const ShardIndex>> read_index(const ShardPlace& shard, const Limits& limits, Cache& cache) {
  const std::string name = cached_name(shard);
  SHERD_TRY(generation, shard.source.generation());
  if (auto kept = cache.get<ShardIndex>(name, generation)) return kept;
  SHERD_TRY(extent, index_extent(shard, limits));
  Scratch encoded;
  SHERD_TRY(encoded->resize(extent.length));
  const RangeRead range{extent.offset, encoded->span()};
  SHERD_TRY(shard.source.read({&range, 1}));
  SHERD_TRY(index, ShardIndex::decode(shard.layout.index, shard.grid, encoded->span(), shard.where.length));
  auto shared = std::make_shared<const ShardIndex>(std::move(index));
  cache.put(name, generation, shared, shared->memory_bytes());
  return shared;
}

Result<ShardIndex> index_in(std::span<const std::byte> shard, const ShardLayout& layout, const Shape& grid,
                            const Limits& limits) {
  SHERD_TRY(extent, place_index(layout, grid, {0, shard.size()}, limits));
  return ShardIndex::decode(layout.index, grid, shard.subspan(extent.offset, extent.length), shard.size());
}

std::vector<Run> coalesce(std::vector<Wanted>& wanted, std::uint64_t gap, std::uint64_t max_run_bytes) {
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return a.extent.offset != b.extent.offset ? a.extent.offset < b.extent.offset : a.tag < b.tag;
  });
  std::vector<Run> runs;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Extent next = wanted[i].extent;
    if (!runs.empty()) {
      Extent& run = runs.back().extent;
      const std::uint64_t end = std::max(run.end(), next.end());
      const bool near = next.offset <= run.end() || next.offset - run.end() <= gap;
      if (near && end - run.offset <= std::max(max_run_bytes, run.length)) {
        run.length = end - run.offset;
        runs.back().last = i + 1;
        continue;
      }
    }
    runs.push_back({next, i, i + 1});
  }
  return runs;
}

}  // namespace sherd
