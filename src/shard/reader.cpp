// An index is read with one request, kept by object, position and generation, and never read twice while it holds.
#include "shard/reader.hpp"

#include <algorithm>
#include <map>

#include "base/checked.hpp"
#include "base/endian.hpp"
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

namespace {

constexpr std::uint64_t kPageEntries = 4096;                        // of the array at the beginning of a shard
constexpr std::uint64_t kListBatchBytes = std::uint64_t{16} << 20;  // of lists read at one time

// One pass over the minishards of a shard that are not in the cache.
class MinishardPass {
 public:
  MinishardPass(ByteSource& source, const MinishardReading& reading, std::uint64_t size, Generation generation)
      : source_(source), reading_(reading), size_(size), generation_(std::move(generation)) {}

  // The places of the lists, with the minishard's number in `missing` as their tag; none for empty ones.
  Result<std::vector<Wanted>> places(std::span<const std::uint64_t> missing) {
    const std::uint64_t head = reading_.format.sharding.head_bytes();
    if (size_ < head)
      return corrupt("a shard of " + std::to_string(size_) + " bytes is too small for its index of " +
                     std::to_string(head) + " bytes");
    SHERD_TRY(read_pages(missing));
    std::vector<Wanted> wanted;
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const Page& page = *pages_.at(missing[i] / kPageEntries);
      const std::uint64_t start = page[2 * (missing[i] % kPageEntries)];
      const std::uint64_t end = page[2 * (missing[i] % kPageEntries) + 1];
      if (start == end) continue;
      if (start > end || end > size_ - head)
        return corrupt("the entry of minishard " + std::to_string(missing[i]) + " (start " + std::to_string(start) +
                       ", end " + std::to_string(end) + ") reaches beyond the shard's " + std::to_string(size_) +
                       " bytes");
      wanted.push_back({{head + start, end - start}, i});
    }
    return wanted;
  }

  Result<void> read(std::span<const std::uint64_t> missing, std::vector<Wanted>& wanted,
                    std::span<std::shared_ptr<const MinishardIndex>> into) {
    const auto runs = coalesce(wanted, reading_.gap, kListBatchBytes);
    for (std::size_t first = 0, last = 0; first < runs.size(); first = last) {
      std::uint64_t bytes = 0;
      for (; last < runs.size() && (last == first || bytes + runs[last].extent.length <= kListBatchBytes); ++last)
        bytes += runs[last].extent.length;
      SHERD_TRY(check_limit(bytes));
      Scratch encoded;
      SHERD_TRY(encoded->resize(bytes));
      std::vector<RangeRead> ranges;
      for (std::uint64_t at = 0; const Run& run : std::span(runs).subspan(first, last - first)) {
        ranges.push_back({run.extent.offset, encoded->span().subspan(at, run.extent.length)});
        at += run.extent.length;
      }
      SHERD_TRY(source_.read(ranges));
      for (std::size_t i = first; i < last; ++i)
        for (const Wanted& list : std::span(wanted).subspan(runs[i].first, runs[i].last - runs[i].first)) {
          const auto bytes_of_list =
              ranges[i - first].into.subspan(list.extent.offset - runs[i].extent.offset, list.extent.length);
          SHERD_TRY(index, decode(bytes_of_list, list.extent).in([&] {
            return "minishard " + std::to_string(missing[list.tag]);
          }));
          into[list.tag] = std::move(index);
        }
    }
    return {};
  }

 private:
  using Page = std::vector<std::uint64_t>;

  Result<void> read_pages(std::span<const std::uint64_t> missing) {
    const std::uint64_t head = reading_.format.sharding.head_bytes();
    std::vector<std::pair<std::uint64_t, std::shared_ptr<Page>>> fresh;
    for (const std::uint64_t minishard : missing) {
      const std::uint64_t number = minishard / kPageEntries;
      if (pages_.contains(number)) continue;
      if (auto kept = reading_.cache.get<Page>(page_name(number), generation_)) {
        pages_.emplace(number, std::move(kept));
        continue;
      }
      const std::uint64_t begin = number * kPageEntries * 16;
      auto page = std::make_shared<Page>(std::min(kPageEntries * 16, head - begin) / 8);
      pages_.emplace(number, page);
      fresh.emplace_back(number, std::move(page));
    }
    std::vector<RangeRead> ranges;
    for (const auto& [number, page] : fresh)
      ranges.push_back({number * kPageEntries * 16, std::as_writable_bytes(std::span(*page))});
    if (!ranges.empty()) SHERD_TRY(source_.read(ranges));
    for (const auto& [number, page] : fresh) {
      for (auto& word : *page) word = load_little<std::uint64_t>(reinterpret_cast<const std::byte*>(&word));
      reading_.cache.put(page_name(number), generation_, page, page->size() * sizeof(std::uint64_t));
    }
    return {};
  }

  [[nodiscard]] std::string page_name(std::uint64_t number) const {
    return source_.name() + "@page" + std::to_string(number);
  }

  // A few bytes may say that they are the list of any number of minishards.
  Result<void> check_limit(std::uint64_t bytes) {
    if (bytes <= reading_.limits.index_bytes && held_ <= reading_.limits.index_bytes - bytes) return {};
    return beyond_limit();
  }

  [[nodiscard]] Error beyond_limit() const {
    return unsupported("the minishard indices take more than the limit index_bytes (" +
                       std::to_string(reading_.limits.index_bytes) + ")");
  }

  Result<std::shared_ptr<const MinishardIndex>> decode(std::span<const std::byte> encoded, Extent where) {
    Scratch decoded;
    auto done = reading_.format.index_codecs.decode_bytes(encoded, reading_.limits.index_bytes - held_, *decoded);
    if (!done && done.error().code() == ErrorCode::unsupported) return beyond_limit();
    if (!done) return std::move(done).error();
    SHERD_TRY(index, MinishardIndex::decode(decoded->span(), reading_.format.sharding.head_bytes(), size_));
    index.set_stored(where);
    held_ += decoded->size();
    return std::make_shared<const MinishardIndex>(std::move(index));
  }

  ByteSource& source_;
  const MinishardReading& reading_;
  const std::uint64_t size_;
  const Generation generation_;
  std::map<std::uint64_t, std::shared_ptr<const Page>> pages_;
  std::uint64_t held_ = 0;  // decoded by now
};

}  // namespace

Result<std::vector<std::shared_ptr<const MinishardIndex>>> read_minishards(ByteSource& source,
                                                                           std::span<const std::uint64_t> minishards,
                                                                           const MinishardReading& reading) {
  const auto name = [&](std::uint64_t minishard) { return source.name() + "@minishard" + std::to_string(minishard); };
  SHERD_TRY(size, source.size());
  SHERD_TRY(generation, source.generation());
  std::vector<std::shared_ptr<const MinishardIndex>> result(minishards.size());
  std::vector<std::uint64_t> missing;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < minishards.size(); ++i) {
    result[i] = reading.cache.get<MinishardIndex>(name(minishards[i]), generation);
    if (result[i]) continue;
    missing.push_back(minishards[i]);
    positions.push_back(i);
  }
  if (missing.empty()) return result;
  MinishardPass pass(source, reading, size, generation);
  SHERD_TRY(wanted, pass.places(missing));
  std::vector<std::shared_ptr<const MinishardIndex>> fresh(missing.size());
  SHERD_TRY(pass.read(missing, wanted, fresh));
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (fresh[i]) reading.cache.put(name(missing[i]), generation, fresh[i], fresh[i]->memory_bytes());
    result[positions[i]] = std::move(fresh[i]);
  }
  return result;
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
