// An index is read with one request, cached by object, position and generation, and not read again while cached.
#include "shard/reader.hpp"

#include <algorithm>
#include <map>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "store/read_into.hpp"

namespace sherd {
namespace {

Result<Extent> slots_extent(const ShardLocation& shard, const Limits& limits) {
  const IndexFormat& index = *shard.layout.slots();
  SHERD_TRY(size, index.encoded_size(shard.grid, limits));
  if (size > shard.where.length)
    return corrupt("a shard of " + std::to_string(shard.where.length) + " bytes is too small for its index of " +
                   std::to_string(size) + " bytes");
  return Extent{index.location == IndexLocation::start ? shard.where.offset : shard.where.end() - size, size};
}

// Includes everything that distinguishes shards of one object: an entry of a damaged shard may name the enclosing shard
// as its contents.
std::string cached_name(const ShardLocation& shard) {
  return shard.source.name() + "@" + std::to_string(shard.where.offset) + "+" + std::to_string(shard.where.length) +
         to_string(shard.grid);
}

constexpr std::uint64_t kPageEntries = 4096;                        // of the array at the beginning of a shard
constexpr std::uint64_t kListBatchBytes = std::uint64_t{16} << 20;  // of lists read at one time

// One pass over those minishards of a shard that are not in the cache.
class MinishardPass {
 public:
  MinishardPass(ByteSource& source, const MinishardReading& reading, std::uint64_t size, Generation generation)
      : source_(source), reading_(reading), size_(size), generation_(std::move(generation)) {}

  // The extents of the lists, tagged with the minishard's number in `missing`; none for empty ones.
  Result<std::vector<Wanted>> locations(std::span<const std::uint64_t> missing) {
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
      const auto visit = [&](const Wanted& list, std::span<const std::byte> encoded) -> Result<void> {
        SHERD_TRY(index,
                  decode(encoded, list.extent).in([&] { return "minishard " + std::to_string(missing[list.tag]); }));
        into[list.tag] = std::move(index);
        return {};
      };
      SHERD_TRY(read_runs(source_, std::span(runs).subspan(first, last - first), wanted, visit));
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

  // A few bytes may claim to be the list of any number of minishards.
  Result<void> check_limit(std::uint64_t bytes) {
    if (bytes <= reading_.limits.index_bytes && held_ <= reading_.limits.index_bytes - bytes) return {};
    return beyond_limit();
  }

  [[nodiscard]] Error beyond_limit() const {
    return unsupported("the minishard indices exceed the limit index_bytes (" +
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
  std::uint64_t held_ = 0;  // decoded so far
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
  SHERD_TRY(wanted, pass.locations(missing));
  std::vector<std::shared_ptr<const MinishardIndex>> fresh(missing.size());
  SHERD_TRY(pass.read(missing, wanted, fresh));
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (fresh[i]) reading.cache.put(name(missing[i]), generation, fresh[i], fresh[i]->memory_bytes());
    result[positions[i]] = std::move(fresh[i]);
  }
  return result;
}

Extent list_extents(std::span<const std::uint64_t> minishards, const Uint64Sharding& sharding) {
  constexpr std::uint64_t kPages = 16;
  constexpr std::uint64_t kPageBytes = kPageEntries * 16;
  const std::uint64_t first = minishards.front() / kPageEntries;
  const std::uint64_t last = std::min(minishards.back() / kPageEntries, first + kPages - 1);
  return {first * kPageBytes, std::min((last + 1) * kPageBytes, sharding.head_bytes()) - first * kPageBytes};
}

Result<void> check_list_extents(ByteSource& source, std::span<const std::uint64_t> minishards,
                                const MinishardReading& reading) {
  SHERD_TRY(size, source.size());
  SHERD_TRY(generation, source.generation());
  SHERD_TRY(MinishardPass(source, reading, size, generation).locations(minishards));
  return {};
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

Result<void> read_runs(ByteSource& source, std::span<const Run> runs, std::span<const Wanted> wanted,
                       const std::function<Result<void>(const Wanted&, std::span<const std::byte>)>& visit) {
  Scratch bytes;
  return read_runs(source, runs, wanted, *bytes, visit);
}

Result<void> read_runs(ByteSource& source, std::span<const Run> runs, std::span<const Wanted> wanted, Buffer& bytes,
                       const std::function<Result<void>(const Wanted&, std::span<const std::byte>)>& visit) {
  std::uint64_t total = 0;
  for (const Run& run : runs) total += run.extent.length;
  SHERD_TRY(bytes.resize(total));
  std::vector<RangeRead> ranges;
  ranges.reserve(runs.size());
  for (std::uint64_t at = 0; const Run& run : runs) {
    ranges.push_back({run.extent.offset, bytes.span().subspan(at, run.extent.length)});
    at += run.extent.length;
  }
  if (total > 0) SHERD_TRY(source.read(ranges));
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const Wanted& each : wanted.subspan(runs[i].first, runs[i].last - runs[i].first))
      SHERD_TRY(visit(each, ranges[i].into.subspan(each.extent.offset - runs[i].extent.offset, each.extent.length)));
  return {};
}

namespace {

std::vector<std::uint64_t> minishards_of(std::span<const std::uint64_t> ids, const Uint64Sharding& sharding) {
  std::vector<std::uint64_t> minishards;
  for (const std::uint64_t id : ids) minishards.push_back(sharding.locate(id).minishard);
  std::sort(minishards.begin(), minishards.end());
  minishards.erase(std::unique(minishards.begin(), minishards.end()), minishards.end());
  return minishards;
}

// For an index of ids, the only one or the second: the array at the beginning, and the lists of all minishards.
Result<std::vector<Extent>> extents_of_ids(const ShardLocation& shard, const Uint64Format& format,
                                           std::span<const std::uint64_t> ids, const Limits& limits) {
  const auto minishards = minishards_of(ids, format.sharding);
  SHERD_TRY(size, shard.source.size());
  Cache none(0);
  const MinishardReading reading{format, limits, none};
  MinishardPass pass(shard.source, reading, size, {});
  SHERD_TRY(lists, pass.locations(minishards));
  std::vector<Extent> extents{{0, format.sharding.head_bytes()}};
  for (const Wanted& list : lists) extents.push_back(list.extent);
  std::sort(extents.begin(), extents.end(), [](Extent a, Extent b) { return a.offset < b.offset; });
  return extents;
}

Result<ShardIndex> read_ids(const ShardLocation& shard, const Limits& limits, Cache& cache) {
  SHERD_TRY(ids, shard.layout.all_ids(shard.grid, shard.first_id, limits));
  const Uint64Format& format = shard.layout.ids()->format;
  const auto minishards = minishards_of(ids, format.sharding);
  SHERD_TRY(lists, read_minishards(shard.source, minishards, {format, limits, cache}));
  ShardIndex index(ids.size(), shard.where.length);
  for (std::uint64_t slot = 0; slot < ids.size(); ++slot) {
    const std::uint64_t minishard = format.sharding.locate(ids[slot]).minishard;
    const auto number = std::lower_bound(minishards.begin(), minishards.end(), minishard) - minishards.begin();
    const auto& list = lists[static_cast<std::size_t>(number)];
    if (const auto* chunk = list ? list->find(ids[slot]) : nullptr) index.set(slot, {chunk->offset, chunk->length});
  }
  return index;
}

Result<ShardIndex> read_slots_at(const ShardLocation& shard, ByteSource& source, const Extent& extent) {
  const IndexFormat& format = *shard.layout.slots();
  if (const auto bytes = source.view())
    return ShardIndex::decode(format, shard.grid, bytes->subspan(extent.offset, extent.length), shard.where.length);
  Scratch encoded;
  SHERD_TRY(read_into(source, extent, *encoded));
  return ShardIndex::decode(format, shard.grid, encoded->span(), shard.where.length);
}

Result<ShardIndex> read_slots_or_copy(const ShardLocation& shard, const Limits& limits) {
  auto index = read_slots(shard, limits);
  if (index || index.error().code() != ErrorCode::corrupt) return index;
  auto copy = read_slots_copy(shard, limits);
  if (!copy) return index;
  copy->set_copy();
  return copy;
}

/// Whether a version is intact, by its index and the present one at the beginning of the object: all chunks that have
/// changed since then were put after its end.
bool has_only_appended(const ShardIndex& known, const ShardIndex& present) {
  for (std::uint64_t slot = 0; slot < known.slots(); ++slot) {
    const bool is_old = present.empty(slot) || present.placed(slot) == known.placed(slot);
    if (!is_old && present.placed(slot).offset < known.object_size()) return false;
  }
  return true;
}

/// Keeps a version readable while others append to the object: an index at the end stays where it is. `known` is the
/// version's index; null before it is read, when only the checksum of an index at the end will tell that it is intact.
void outlive_appends(const ShardLocation& shard, const Limits& limits, std::shared_ptr<const ShardIndex> known) {
  const IndexFormat* const format = shard.layout.slots();
  if (format == nullptr || shard.layout.second) return;
  const bool is_at_end = format->location == IndexLocation::end;
  if (known == nullptr && !(is_at_end && format->codecs.has_checksum())) return;
  const auto size = shard.source.size();
  const auto extent = slots_extent(shard, limits);
  if (!size || !extent || shard.where != Extent{0, *size}) return;
  // The layout outlives the reads of the call that has opened the source.
  shard.source.outlive_appends([layout = &shard.layout, grid = shard.grid, where = shard.where, extent = *extent,
                                is_at_end, known = std::move(known)](ByteSource& now) -> Result<bool> {
    if (known == nullptr) return true;
    const auto index = read_slots_at({now, where, *layout, grid}, now, extent);
    return index && (is_at_end ? *index == *known : has_only_appended(*known, *index));
  });
}

}  // namespace

Result<ShardIndex> read_slots(const ShardLocation& shard, const Limits& limits) {
  SHERD_TRY(extent, slots_extent(shard, limits));
  return read_slots_at(shard, shard.source, extent);
}

Result<ShardIndex> read_slots_copy(const ShardLocation& shard, const Limits& limits) {
  SHERD_TRY(extent, slots_extent(shard, limits));
  const IndexFormat& format = *shard.layout.slots();
  if (format.location != IndexLocation::start || !format.codecs.has_checksum() ||
      shard.where.length < 2 * extent.length)
    return corrupt("the shard has no copy of its index");
  const Extent copy{shard.where.end() - extent.length, extent.length};
  SHERD_TRY(index, read_slots_at(shard, shard.source, copy));
  for (std::uint64_t slot = 0; slot < index.slots(); ++slot) {
    SHERD_TRY(chunk, index.extent(slot));
    if (chunk && chunk->end() > copy.offset - shard.where.offset) return corrupt("a chunk is where the copy is");
  }
  return index;
}

bool has_index(const ShardLocation& shard, const Generation& generation, Cache& cache) {
  return cache.get<ShardIndex>(cached_name(shard), generation) != nullptr;
}

Result<std::vector<Extent>> index_extents(const ShardLocation& shard, const Limits& limits) {
  if (shard.layout.slots() != nullptr) {
    SHERD_TRY(extent, slots_extent(shard, limits));
    return std::vector<Extent>{extent};
  }
  SHERD_TRY(ids, shard.layout.all_ids(shard.grid, shard.first_id, limits));
  return extents_of_ids(shard, shard.layout.ids()->format, ids, limits);
}

Result<std::vector<Extent>> second_extents(const ShardLocation& shard, const Limits& limits) {
  const SecondIndex& second = *shard.layout.second;
  SHERD_TRY(slots, second.slots(shard.grid, shard.first_id, limits));
  std::vector<std::uint64_t> ids;
  for (const SecondIndex::Slot& slot : slots) ids.push_back(slot.id);
  return extents_of_ids(shard, second.index.format, ids, limits);
}

Result<std::vector<SecondIndexEntry>> read_second_index(const ShardLocation& shard, const Limits& limits) {
  const SecondIndex& second = *shard.layout.second;
  SHERD_TRY(slots, second.slots(shard.grid, shard.first_id, limits));
  std::vector<std::uint64_t> ids;
  for (const SecondIndex::Slot& slot : slots) ids.push_back(slot.id);
  const auto minishards = minishards_of(ids, second.index.format.sharding);
  Cache none(0);
  SHERD_TRY(lists, read_minishards(shard.source, minishards, {second.index.format, limits, none}));
  std::vector<SecondIndexEntry> entries;
  for (std::size_t list = 0; const SecondIndex::Slot& slot : slots) {
    while (minishards[list] != second.index.format.sharding.locate(slot.id).minishard) ++list;
    const auto* chunk = lists[list] ? lists[list]->find(slot.id) : nullptr;
    entries.push_back({slot, chunk != nullptr ? std::optional(Extent{chunk->offset, chunk->length}) : std::nullopt});
  }
  return entries;
}

Result<std::shared_ptr<const ShardIndex>> read_index(const ShardLocation& shard, const Limits& limits, Cache& cache) {
  const std::string name = cached_name(shard);
  SHERD_TRY(generation, shard.source.generation());
  if (auto kept = cache.get<ShardIndex>(name, generation)) {
    outlive_appends(shard, limits, kept);
    return kept;
  }
  outlive_appends(shard, limits, nullptr);
  auto index = shard.layout.ids() != nullptr ? read_ids(shard, limits, cache) : read_slots_or_copy(shard, limits);
  if (!index) return std::move(index).error();
  auto shared = std::make_shared<const ShardIndex>(*std::move(index));
  outlive_appends(shard, limits, shared);
  cache.put(name, generation, shared, shared->memory_bytes());
  return shared;
}

Result<ShardEntries> ShardEntries::read(const ShardLocation& shard, std::span<const std::uint64_t> ids,
                                        const Limits& limits, Cache& cache) {
  ShardEntries entries;
  const IdIndex* index = shard.layout.ids();
  if (index == nullptr) {
    SHERD_TRY(slots, read_index(shard, limits, cache));
    entries.slots_ = std::move(slots);
    return entries;
  }
  entries.minishards_ = minishards_of(ids, index->format.sharding);
  SHERD_TRY(lists, read_minishards(shard.source, entries.minishards_, {index->format, limits, cache}));
  entries.lists_ = std::move(lists);
  return entries;
}

Result<std::optional<Extent>> ShardEntries::extent(const ShardLocation& shard, const Shape& cell,
                                                   std::uint64_t slot) const {
  if (slots_) return slots_->extent(slot);
  const std::uint64_t id = shard.id(cell);
  const std::uint64_t minishard = shard.layout.ids()->format.sharding.locate(id).minishard;
  const auto number = std::lower_bound(minishards_.begin(), minishards_.end(), minishard) - minishards_.begin();
  const auto& list = lists_[static_cast<std::size_t>(number)];
  return list ? list->extent(id) : Result<std::optional<Extent>>(std::optional<Extent>());
}

}  // namespace sherd
