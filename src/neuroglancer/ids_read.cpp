// Reads values by ids: sorts ids by shard and handles shards in parallel; reads the lists of the requested minishards;
// sorts the extents and merges them into few reads, each decoded while others are read. The plan is the same for a
// thread that reads one shard, and for many shards whose requests are sent together.
#include <algorithm>

#include "base/call.hpp"
#include "base/try.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "store/read_into.hpp"

namespace sherd::neuroglancer {
namespace {

using Chunk = MinishardIndex::Chunk;
using Location = Uint64Sharding::Location;

constexpr std::size_t kListsAtOnce = 4096;

struct Request {
  Location location;
  std::uint64_t id;
  std::size_t i;  // the caller's number
};

std::string chunk_name(const Chunk& chunk) { return "chunk " + std::to_string(chunk.id); }

/// Some chunks of a shard, merged into few reads.
struct Joined {
  std::vector<Wanted> wanted;  ///< tagged with the number of the chunk
  std::vector<Run> runs;
};

/// If most of a shard is needed, separate requests are not worthwhile.
Result<Joined> join(const ShardedStore::State& state, ByteSource& source, std::span<const Chunk> chunks, bool alone) {
  Joined joined;
  joined.wanted.reserve(chunks.size());
  const std::uint64_t limit = state.config().limits.chunk_bytes;
  SHERD_TRY(size, source.size());
  std::uint64_t wanted = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Chunk& chunk = chunks[i];
    if (chunk.length > limit)
      return unsupported(chunk_name(chunk) + " has " + std::to_string(chunk.length) +
                         " bytes, more than the limit chunk_bytes (" + std::to_string(limit) + ")");
    joined.wanted.push_back({{chunk.offset, chunk.length}, i});
    if (wanted <= size) wanted += chunk.length;
  }
  const std::uint64_t gap = state.gap();
  const std::uint64_t most =
      std::min(std::max(state.store->traits().max_run_bytes, gap), state.config().memory_budget / 2);
  const bool is_most = size <= most && wanted >= size - size / 2;
  joined.runs = alone ? coalesce(joined.wanted, 0, 0) : coalesce(joined.wanted, is_most ? size : gap, most);
  return joined;
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

/// All or some of the requests for one shard.
class GroupRead final : public ObjectRead {
 public:
  GroupRead(const ShardedStore::State& state, std::span<const Request> group, const IdsRead& call, Budget& budget)
      : state_(state), group_(group), call_(call), budget_(budget), given_(group.size(), 0) {
    for (const Request& each : group)
      if (minishards_.empty() || minishards_.back() != each.location.minishard)
        minishards_.push_back(each.location.minishard);
  }

  /// The part of the array with the extents of the lists, or its first page.
  [[nodiscard]] ReadRequest first() const override {
    const Extent extent = list_extents(minishards_, state_.format.sharding);
    return {.key = keys().shard, .offset = extent.offset, .length = extent.length};
  }
  [[nodiscard]] bool has_index() const noexcept override { return true; }
  [[nodiscard]] std::string other_key() const override { return keys().index; }
  Result<std::vector<Run>> plan(ByteSource* source) override {
    SHERD_TRY(planned(source, false).in_key(source != nullptr ? source->name() : keys().shard));
    return joined_.runs;
  }
  Result<void> take(ByteSource& source, const Run& run, std::span<const std::byte> bytes) override {
    return taken(run, bytes).in_key(source.name());
  }
  Result<void> finish() override {
    for (const std::size_t k : kept_) given_[k] = 1;
    for (const std::size_t k : absent_) SHERD_TRY(give_to(k, std::nullopt));
    return {};
  }
  Result<void> again() override { return read_alone(); }

  /// On this thread, in the version present by then.
  Result<void> read_alone() {
    return with_shard(state_, group_.front().location.shard,
                      [&](const std::shared_ptr<ByteSource>& source, unsigned attempt) -> Result<void> {
                        SHERD_TRY(planned(source.get(), attempt > 0));
                        SHERD_TRY(parallel_for(joined_.runs.size(), state_.config(),
                                               [&](std::size_t r) { return read_run(*source, joined_.runs[r]); }));
                        return finish();
                      });
  }

 private:
  [[nodiscard]] ShardKeys keys() const { return {state_.format.sharding, group_.front().location.shard}; }

  Result<void> planned(ByteSource* source, bool alone) {
    chunks_.clear();
    members_.clear();
    kept_.clear();
    absent_.clear();
    joined_ = {};
    std::vector<std::shared_ptr<const MinishardIndex>> lists(minishards_.size());
    if (source != nullptr) {
      SHERD_TRY(found, read_minishards(*source, minishards_, state_.reading()));
      lists = std::move(found);
    }
    for (std::size_t k = 0, list = 0; k < group_.size(); ++k) {
      while (minishards_[list] != group_[k].location.minishard) ++list;
      if (given_[k] != 0) continue;
      std::optional<Extent> extent;
      if (lists[list]) {
        SHERD_TRY(found, lists[list]->extent(group_[k].id));
        extent = found;
      }
      if (!extent)
        absent_.push_back(k);
      else
        SHERD_TRY(found(k, *source, *extent));
    }
    if (chunks_.empty()) return {};
    SHERD_TRY(joined, join(state_, *source, chunks_, alone));
    joined_ = std::move(joined);
    return {};
  }

  Result<void> found(std::size_t k, ByteSource& source, Extent extent) {
    if (call_.found) {
      SHERD_TRY(done, call_.found(group_[k].i, source, extent));
      if (done) return kept_.push_back(k), Result<void>{};
    }
    chunks_.push_back({group_[k].id, extent.offset, extent.length});
    members_.push_back(k);
    return {};
  }

  Result<void> read_run(ByteSource& source, const Run& run) {
    const auto share = budget_.take(run.extent.length);
    Scratch bytes;
    SHERD_TRY(read_into(source, run.extent, *bytes));
    return taken(run, bytes->span());
  }

  Result<void> taken(const Run& run, std::span<const std::byte> bytes) {
    for (std::size_t w = run.first; w < run.last; ++w) {
      const auto& [extent, number] = joined_.wanted[w];
      SHERD_TRY(give(state_, chunks_[number], bytes.subspan(extent.offset - run.extent.offset, extent.length),
                     [&](std::span<const std::byte> value) { return give_to(members_[number], value); }));
    }
    return {};
  }

  Result<void> give_to(std::size_t k, std::optional<std::span<const std::byte>> value) {
    SHERD_TRY(call_.visit(group_[k].i, value));
    given_[k] = 1;
    return {};
  }

  const ShardedStore::State& state_;
  const std::span<const Request> group_;
  const IdsRead& call_;
  Budget& budget_;
  std::vector<std::uint64_t> minishards_;
  std::vector<char> given_;  // each is one thread's at a time
  // The plan: chunks that were found, for whom, and how they are read; ids without a chunk, and chunks that need no
  // read.
  std::vector<Chunk> chunks_;
  std::vector<std::size_t> members_, absent_, kept_;
  Joined joined_;
};

std::vector<Request> sorted_requests(const Uint64Sharding& sharding, std::span<const std::uint64_t> ids) {
  std::vector<Request> requests;
  requests.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) requests.push_back({sharding.locate(ids[i]), ids[i], i});
  std::ranges::sort(requests, {}, [](const Request& each) { return std::tuple(each.location, each.id, each.i); });
  return requests;
}

}  // namespace

Result<std::optional<Chunk>> find_chunk(const ShardedStore::State& state, ByteSource& source, std::uint64_t id) {
  const std::uint64_t minishard = state.format.sharding.locate(id).minishard;
  SHERD_TRY(lists, read_minishards(source, {&minishard, 1}, state.reading()));
  if (!lists.front()) return std::optional<Chunk>();
  SHERD_TRY(extent, lists.front()->extent(id));
  if (!extent) return std::optional<Chunk>();
  return std::optional(Chunk{id, extent->offset, extent->length});
}

Result<void> read_values(const ShardedStore::State& state, ByteSource& source, const ValueReading& values) {
  SHERD_TRY(joined, join(state, source, values.chunks, values.alone));
  return parallel_for(joined.runs.size(), state.config(), [&](std::size_t r) -> Result<void> {
    const auto share = values.budget.take(joined.runs[r].extent.length);
    const auto visit = [&](const Wanted& each, std::span<const std::byte> stored) {
      return give(state, values.chunks[each.tag], stored,
                  [&](std::span<const std::byte> value) { return values.visit(each.tag, value); });
    };
    return read_runs(source, {&joined.runs[r], 1}, joined.wanted, visit);
  });
}

Result<std::uint64_t> preceding_of(const ShardedStore::State& state, const Chunk& chunk,
                                   std::span<const std::byte> value) {
  SHERD_TRY(before, state.options.preceding(value).in([&] { return chunk_name(chunk); }));
  const std::uint64_t head = state.format.sharding.head_bytes();
  const std::uint64_t available = chunk.offset > head ? chunk.offset - head : 0;
  if (before <= available) return before;
  return corrupt(chunk_name(chunk) + ": " + std::to_string(before) + " bytes before it belong to it, but only " +
                 std::to_string(available) + " precede it");
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

Result<void> read_ids(const ShardedStore::State& state, const IdsRead& call) {
  const auto requests = sorted_requests(state.format.sharding, call.ids);
  std::vector<std::span<const Request>> groups;
  for (std::size_t first = 0, last = 0; first < requests.size(); first = last) {
    for (std::size_t lists = 1; ++last < requests.size();) {
      const Location &before = requests[last - 1].location, &next = requests[last].location;
      if (next.shard != before.shard) break;
      if (next.minishard != before.minishard && ++lists > kListsAtOnce) break;
    }
    groups.push_back(std::span(requests).subspan(first, last - first));
  }
  Budget budget(state.config().memory_budget / 2);
  if (state.store->traits().parallel_requests > 1)
    return read_objects({*state.store, state.config(), state.cache, state.gap()}, groups.size(),
                        [&](std::uint64_t g) { return std::make_unique<GroupRead>(state, groups[g], call, budget); });
  return parallel_for(groups.size(), state.config(),
                      [&](std::size_t g) { return GroupRead(state, groups[g], call, budget).read_alone(); });
}

Result<void> ShardedStore::get_many(std::span<const std::uint64_t> ids, const Visit& visit) const {
  const auto give = [&](std::size_t i, std::optional<std::span<const std::byte>> value) -> Result<void> {
    visit(i, value);
    return {};
  };
  return read_ids(*state_, {ids, give});
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
  bool has = false;  // according to the last attempt
  const auto give = [&](std::size_t, std::optional<std::span<const std::byte>>) -> Result<void> {
    has = false;
    return {};
  };
  const auto found = [&](std::size_t, ByteSource&, Extent) -> Result<bool> { return has = true; };
  SHERD_TRY(read_ids(*state_, {{&id, 1}, give, found}));
  return has;
}

Result<std::optional<std::string>> ShardedStore::get_preceding(std::uint64_t id) const {
  return as_call(state_->config(), [&]() -> Result<std::optional<std::string>> {
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
      return read_into(*source, chunk->offset - bytes.front(), std::as_writable_bytes(std::span(*found)));
    };
    SHERD_TRY(with_shard(*state_, state_->format.sharding.locate(id).shard, read));
    return found;
  });
}

Result<bool> ShardedStore::list(const std::function<bool(std::uint64_t, std::uint64_t)>& visit) const {
  return as_call(state_->config(), [&]() -> Result<bool> {
    SHERD_TRY(numbers, shard_numbers(*state_));
    for (const std::uint64_t number : numbers) {
      std::uint64_t next = 0;  // the first minishard not visited yet
      bool more = true;
      SHERD_TRY(with_shard(*state_, number, [&](const std::shared_ptr<ByteSource>& source, unsigned) -> Result<void> {
        if (source == nullptr) return {};
        const auto visit_list = [&](std::uint64_t minishard, const MinishardIndex& list) -> Result<bool> {
          SHERD_TRY(check_interrupted(state_->config().interrupted));
          for (const Chunk& chunk : list.chunks()) {
            // No reader finds a value in a minishard other than its own.
            if (state_->format.sharding.locate(chunk.id) != Location{number, minishard}) continue;
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
  });
}

}  // namespace sherd::neuroglancer
