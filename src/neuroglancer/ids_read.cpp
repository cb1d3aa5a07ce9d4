// From ids to values: ids to shards, each in parallel with the others; lists of the minishards asked for; extents
// sorted and joined to few reads, each decoded while others are read.
#include <algorithm>

#include "base/try.hpp"
#include "neuroglancer/sharded_store.hpp"

namespace sherd::neuroglancer {
namespace {

using Chunk = MinishardIndex::Chunk;
using Place = Uint64Sharding::Place;

constexpr std::size_t kListsAtOnce = 4096;

struct Request {
  Place place;
  std::uint64_t id;
  std::size_t i;  // the caller's number
};

std::string chunk_name(const Chunk& chunk) { return "chunk " + std::to_string(chunk.id); }

/// How extents are joined: where most of a shard is wanted, what lies between is not worth a request.
struct Joining {
  std::uint64_t gap, most;
};
Result<Joining> joining(const ShardedStore::State& state, ByteSource& source, const ValueReading& values) {
  if (values.alone) return Joining{0, 0};
  const StoreTraits traits = state.store->traits();
  const Joining usual{state.gap(),
                      std::min(std::max(traits.max_run_bytes, state.gap()), state.config().memory_budget / 2)};
  SHERD_TRY(size, source.size());
  std::uint64_t wanted = 0;
  for (const Chunk& chunk : values.chunks)
    if (wanted <= size) wanted += chunk.length;
  if (size > usual.most || wanted < size - size / 2) return usual;
  return Joining{size, usual.most};
}

Result<void> give(const ShardedStore::State& state, const Chunk& chunk, std::span<const std::byte> stored,
                  const std::function<Result<void>(std::span<const std::byte>)>& visit) {
  if (state.config().recorder) ++state.config().recorder->chunks_decoded;
  if (!state.format.sharding.gzip_data) return visit(stored);
  Scratch decoded;
  SHERD_TRY(state.format.data_codecs.decode_bytes(stored, state.config().limits.chunk_bytes, *decoded).in([&] {
    return chunk_name(chunk);
  }));
  return visit(decoded->span());
}

/// The requests that fall into one shard.
class GroupReader {
 public:
  GroupReader(const ShardedStore::State& state, std::span<const Request> group, const IdVisit& visit, Budget& budget)
      : state_(state), group_(group), visit_(visit), budget_(budget), given_(group.size(), 0) {}

  Result<void> run() {
    return with_shard(state_, group_.front().place.shard,
                      [&](const std::shared_ptr<ByteSource>& source, unsigned attempt) -> Result<void> {
                        for (std::size_t first = 0, last = 0; first < group_.size(); first = last) {
                          std::vector<std::uint64_t> minishards;
                          for (; last < group_.size(); ++last) {
                            const std::uint64_t minishard = group_[last].place.minishard;
                            if (!minishards.empty() && minishards.back() == minishard) continue;
                            if (minishards.size() == kListsAtOnce) break;
                            minishards.push_back(minishard);
                          }
                          SHERD_TRY(read(source.get(), minishards, {first, last}, attempt));
                        }
                        return {};
                      });
  }

 private:
  struct Part {
    std::size_t first, last;
  };

  Result<void> read(ByteSource* source, std::span<const std::uint64_t> minishards, Part part, unsigned attempt) {
    std::vector<std::shared_ptr<const MinishardIndex>> lists(minishards.size());
    if (source != nullptr) {
      SHERD_TRY(found, read_minishards(*source, minishards, state_.reading()));
      lists = std::move(found);
    }
    std::vector<Chunk> chunks;
    std::vector<std::size_t> requests;
    for (std::size_t k = part.first, list = 0; k < part.last; ++k) {
      while (minishards[list] != group_[k].place.minishard) ++list;
      if (given_[k] != 0) continue;
      std::optional<Extent> extent;
      if (lists[list]) {
        SHERD_TRY(found, lists[list]->extent(group_[k].id));
        extent = found;
      }
      if (!extent) {
        SHERD_TRY(give_to(k, std::nullopt));
        continue;
      }
      chunks.push_back({group_[k].id, extent->offset, extent->length});
      requests.push_back(k);
    }
    if (chunks.empty()) return {};
    const auto visit = [&](std::size_t i, std::span<const std::byte> value) { return give_to(requests[i], value); };
    return read_values(state_, *source, {chunks, visit, budget_, attempt > 0});
  }

  Result<void> give_to(std::size_t k, std::optional<std::span<const std::byte>> value) {
    SHERD_TRY(visit_(group_[k].i, value));
    given_[k] = 1;
    return {};
  }

  const ShardedStore::State& state_;
  std::span<const Request> group_;
  const IdVisit& visit_;
  Budget& budget_;
  std::vector<char> given_;  // each is one thread's at a time
};

std::vector<Request> sorted_requests(const Uint64Sharding& sharding, std::span<const std::uint64_t> ids) {
  std::vector<Request> requests;
  requests.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) requests.push_back({sharding.place(ids[i]), ids[i], i});
  std::ranges::sort(requests, {}, [](const Request& each) { return std::tuple(each.place, each.id, each.i); });
  return requests;
}

}  // namespace

Result<std::optional<Chunk>> find_chunk(const ShardedStore::State& state, ByteSource& source, std::uint64_t id) {
  const std::uint64_t minishard = state.format.sharding.place(id).minishard;
  SHERD_TRY(lists, read_minishards(source, {&minishard, 1}, state.reading()));
  if (!lists.front()) return std::optional<Chunk>();
  SHERD_TRY(extent, lists.front()->extent(id));
  if (!extent) return std::optional<Chunk>();
  return std::optional(Chunk{id, extent->offset, extent->length});
}

Result<void> read_values(const ShardedStore::State& state, ByteSource& source, const ValueReading& values) {
  std::vector<Wanted> wanted;
  wanted.reserve(values.chunks.size());
  const std::uint64_t limit = state.config().limits.chunk_bytes;
  for (std::size_t i = 0; i < values.chunks.size(); ++i) {
    const Chunk& chunk = values.chunks[i];
    if (chunk.length > limit)
      return unsupported(chunk_name(chunk) + " has " + std::to_string(chunk.length) +
                         " bytes, more than the limit chunk_bytes (" + std::to_string(limit) + ")");
    wanted.push_back({{chunk.offset, chunk.length}, i});
  }
  SHERD_TRY(join, joining(state, source, values));
  const auto runs = coalesce(wanted, join.gap, join.most);
  return parallel_for(runs.size(), state.config(), [&](std::size_t r) -> Result<void> {
    const auto share = values.budget.take(runs[r].extent.length);
    return read_runs(source, {&runs[r], 1}, wanted, [&](const Wanted& each, std::span<const std::byte> stored) {
      return give(state, values.chunks[each.tag], stored,
                  [&](std::span<const std::byte> value) { return values.visit(each.tag, value); });
    });
  });
}

Result<std::uint64_t> preceding_of(const ShardedStore::State& state, const Chunk& chunk,
                                   std::span<const std::byte> value) {
  SHERD_TRY(before, state.options.preceding(value).in([&] { return chunk_name(chunk); }));
  const std::uint64_t head = state.format.sharding.head_bytes();
  const std::uint64_t room = chunk.offset > head ? chunk.offset - head : 0;
  if (before <= room) return before;
  return corrupt(chunk_name(chunk) + ": " + std::to_string(before) + " bytes before it belong to it, and " +
                 std::to_string(room) + " are there");
}

Result<std::vector<std::uint64_t>> preceding_bytes(const ShardedStore::State& state, ByteSource& source,
                                                   std::span<const Chunk> chunks) {
  std::vector<std::uint64_t> bytes(chunks.size(), 0);
  if (!state.options.preceding) return bytes;
  Budget budget(state.config().memory_budget / 2);
  const auto visit = [&](std::size_t i, std::span<const std::byte> value) -> Result<void> {
    SHERD_TRY(before, preceding_of(state, chunks[i], value));
    bytes[i] = before;
    return {};
  };
  SHERD_TRY(read_values(state, source, {chunks, visit, budget}));
  return bytes;
}

Result<void> read_ids(const ShardedStore::State& state, std::span<const std::uint64_t> ids, const IdVisit& visit) {
  const auto requests = sorted_requests(state.format.sharding, ids);
  std::vector<std::span<const Request>> groups;
  for (std::size_t first = 0, last = 0; first < requests.size(); first = last) {
    while (last < requests.size() && requests[last].place.shard == requests[first].place.shard) ++last;
    groups.push_back(std::span(requests).subspan(first, last - first));
  }
  Budget budget(state.config().memory_budget / 2);
  return parallel_for(groups.size(), with_requests(state.config(), state.store->traits().parallel_requests),
                      [&](std::size_t g) { return GroupReader(state, groups[g], visit, budget).run(); });
}

Result<void> ShardedStore::get_many(std::span<const std::uint64_t> ids, const Visit& visit) const {
  return read_ids(*state_, ids, [&](std::size_t i, std::optional<std::span<const std::byte>> value) -> Result<void> {
    visit(i, value);
    return {};
  });
}

Result<std::vector<std::optional<std::string>>> ShardedStore::get_many(std::span<const std::uint64_t> ids) const {
  std::vector<std::optional<std::string>> values(ids.size());
  SHERD_TRY(get_many(ids, [&](std::size_t i, std::optional<Bytes> value) {
    if (value) values[i].emplace(reinterpret_cast<const char*>(value->data()), value->size());
  }));
  return values;
}

Result<std::optional<std::string>> ShardedStore::get(std::uint64_t id) const {
  SHERD_TRY(values, get_many({&id, 1}));
  return std::move(values.front());
}

Result<bool> ShardedStore::contains(std::uint64_t id) const {
  bool found = false;
  SHERD_TRY(with_shard(*state_, state_->format.sharding.place(id).shard,
                       [&](const std::shared_ptr<ByteSource>& source, unsigned) -> Result<void> {
                         found = false;
                         if (source == nullptr) return {};
                         SHERD_TRY(chunk, find_chunk(*state_, *source, id));
                         found = chunk.has_value();
                         return {};
                       }));
  return found;
}

Result<std::optional<std::string>> ShardedStore::get_preceding(std::uint64_t id) const {
  if (!state_->options.preceding)
    return invalid_argument(
        "the store does not know how many bytes precede values; open it with the option 'preceding'");
  std::optional<std::string> found;
  const auto read = [&](const std::shared_ptr<ByteSource>& source, unsigned) -> Result<void> {
    found.reset();
    if (source == nullptr) return {};
    SHERD_TRY(chunk, find_chunk(*state_, *source, id));
    if (!chunk) return {};
    SHERD_TRY(bytes, preceding_bytes(*state_, *source, {&*chunk, 1}));
    if (bytes.front() > state_->config().limits.chunk_bytes)
      return unsupported(std::to_string(bytes.front()) + " bytes before chunk " + std::to_string(id) +
                         " are more than the limit chunk_bytes (" +
                         std::to_string(state_->config().limits.chunk_bytes) + ")");
    found.emplace(static_cast<std::size_t>(bytes.front()), '\0');
    const RangeRead range{chunk->offset - bytes.front(), std::as_writable_bytes(std::span(*found))};
    return range.into.empty() ? Result<void>{} : source->read({&range, 1});
  };
  SHERD_TRY(with_shard(*state_, state_->format.sharding.place(id).shard, read));
  return found;
}

Result<bool> ShardedStore::list(const std::function<bool(std::uint64_t, std::uint64_t)>& visit) const {
  SHERD_TRY(numbers, shard_numbers(*state_));
  for (const std::uint64_t number : numbers) {
    std::uint64_t next = 0;  // the first minishard that was not visited yet
    bool more = true;
    SHERD_TRY(with_shard(*state_, number, [&](const std::shared_ptr<ByteSource>& source, unsigned) -> Result<void> {
      if (source == nullptr) return {};
      const auto visit_list = [&](std::uint64_t minishard, const MinishardIndex& list) -> Result<bool> {
        if (state_->config().interrupted && state_->config().interrupted()) return unavailable("interrupted");
        for (const Chunk& chunk : list.chunks()) {
          // What stands in a minishard that is not its own cannot be found by anybody.
          if (state_->format.sharding.place(chunk.id) != Place{number, minishard}) continue;
          if (more) more = visit(chunk.id, chunk.length);
        }
        next = minishard + 1;
        return more;
      };
      SHERD_TRY(for_each_list(*state_, *source, visit_list, next));
      return {};
    }));
    if (!more) return false;
  }
  return true;
}

}  // namespace sherd::neuroglancer
