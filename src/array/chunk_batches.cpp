// Reading many objects where each request has latency: what one chunk would wait for is asked for all of them at once.
// An object is opened together with its index, or whole where it is one chunk; what has come is decoded; then the runs
// of inner chunks of all shards are read in batches that fit the budget.
#include <algorithm>
#include <atomic>
#include <optional>

#include "array/chunk_plan.hpp"
#include "base/try.hpp"
#include "store/held.hpp"

namespace sherd {
namespace {

// Of the array at the beginning of a shard of ids; the rest, where there is more, costs a request of its own.
constexpr std::uint64_t kHeadBytes = std::uint64_t{64} << 10;

// All replies, in the order of the requests.
Result<std::vector<Result<ReadReply>>> read_all(Store& store, std::span<const ReadRequest> requests) {
  std::vector<Result<ReadReply>> replies(requests.size(), ReadReply{});
  SHERD_TRY(store.read(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
    replies[i] = std::move(reply);
    return {};
  }));
  return replies;
}

}  // namespace

ReadRequest ChunkReader::first_read(const std::string& key, const Piece& piece, const Shape& valid) const {
  const ChunkLayout& layout = piece.layout;
  ReadRequest request{.key = key};
  if (!layout.shard && layout.chain.raw_word_size() == 0) {
    request.length = layout.most_encoded(piece.shape) + 1;  // one that is too large shows itself
    return request;
  }
  const Piece inner = stored_piece(piece);
  if (!layout.shard) {
    const std::uint64_t element = layout.dtype.size();
    const auto strides = chunk_strides(inner.shape, element);
    std::vector<Wanted> wanted;
    for (const ReadPart& part : inner.parts) {
      const auto [low, high] = byte_range(part.region, strides, element);
      wanted.push_back({{low, high - low}});
    }
    const Extent first = coalesce(wanted, config_.coalesce_gap.value_or(traits_.coalesce_gap), run_bytes())[0].extent;
    request.offset = first.offset;
    request.length = first.length <= run_bytes() ? first.length : 0;
    return request;
  }
  const ShardLayout& shard = *layout.shard;
  if (shard.slots() == nullptr) {
    request.length = std::min(shard.ids()->format.sharding.head_bytes(), kHeadBytes);
    return request;
  }
  const Shape grid = shard.grid(inner.shape);
  const auto index = shard.slots()->encoded_size(grid, config_.limits);
  request.length = index ? *index : 0;  // where it is beyond a limit, the plan says so
  request.length = std::max(request.length, config_.tail_read_bytes.value_or(traits_.tail_read_bytes));
  const std::uint64_t inside = *element_count(shard.grid(layout.chain.stored_shape(valid)));
  if (ReadCells(inner.parts, regular_axes(shard.inner_shape)).size() >= inside)
    request.length = std::max(request.length, std::min(chunk_bytes(layout, valid) + request.length, run_bytes()));
  request.from_end = shard.slots()->location == IndexLocation::end;
  return request;
}

// One call of from_store().
struct ChunkReader::Together {
  struct Object {
    std::shared_ptr<HeldSource> source;  // null: settled
    Plan plan;
    std::atomic<std::size_t> runs_left{0};  // stays above 0 where one has failed
    std::atomic<bool> failed{false};
  };
  struct Ask {
    std::size_t object, run;
  };

  const ChunkReader& reader;
  Store& store;
  std::span<const Piece> pieces;
  const OnPiece& done;
  std::vector<Object> objects = std::vector<Object>(pieces.size());

  Result<void> open(std::span<const ReadRequest> first_reads) {
    SHERD_TRY(replies, read_all(store, first_reads));
    // Some of these still wait for requests: of what the first read did not bring, such as the index of a nested shard.
    const Config waiting = with_requests(reader.config_, reader.traits_.parallel_requests);
    return parallel_for(pieces.size(), waiting,
                        [&](std::size_t i) { return plan(i, std::exchange(replies[i], ReadReply{})); });
  }

  // Decodes an object that came whole, and plans all others.
  Result<void> plan(std::size_t i, Result<ReadReply> reply) {
    if (!reply) return done(i, std::move(reply).error());
    const Piece& piece = pieces[i];
    if (!reply->source) {
      if (reader.config_.missing_is_error) return done(i, not_found("the chunk is missing"));
      return done(i, reader.fill(piece));
    }
    auto size = reply->source->size();
    if (!size) return done(i, std::move(size).error());
    auto source = std::make_shared<HeldSource>(reply->source, *size);
    source->hold(*std::move(reply));
    if (const auto whole = source->view()) return done(i, reader.from_memory(*whole, piece));
    if (!piece.layout.shard && piece.layout.chain.raw_word_size() == 0)
      return done(i, piece.layout.check_encoded_size(piece.shape, *size));
    Object& object = objects[i];
    if (auto planned = reader.make_plan(*source, *size, piece, object.plan); !planned)
      return done(i, std::move(planned));
    object.runs_left = object.plan.runs.size();
    auto filled = reader.fill_empty(object.plan, 0, object.plan.empty.size());
    if (!filled || object.plan.runs.empty()) return done(i, std::move(filled));
    object.source = std::move(source);
    return {};
  }

  Result<void> read_runs() {
    std::vector<Ask> asks;
    for (std::size_t i = 0; i < objects.size(); ++i)
      for (std::size_t run = 0; objects[i].source && run < objects[i].plan.runs.size(); ++run) asks.push_back({i, run});
    const std::uint64_t most = reader.config_.memory_budget / 2;
    for (std::size_t first = 0, last = 0; first < asks.size(); first = last) {
      std::uint64_t bytes = 0;
      for (; last < asks.size() && (last == first || bytes + extent(asks[last]).length <= most); ++last)
        bytes += extent(asks[last]).length;
      SHERD_TRY(read_batch(std::span(asks).subspan(first, last - first)));
    }
    return {};
  }

  Result<void> read_batch(std::span<const Ask> asks) {
    std::vector<std::optional<std::span<const std::byte>>> held;
    std::vector<ReadRequest> requests;
    std::vector<std::size_t> numbers;  // of their replies
    for (const Ask& ask : asks) {
      const HeldSource& source = *objects[ask.object].source;
      const Extent where = extent(ask);
      held.push_back(source.find(where.offset, where.length));
      numbers.push_back(requests.size());
      if (!held.back()) requests.push_back({.of = source.beneath(), .offset = where.offset, .length = where.length});
    }
    SHERD_TRY(replies, read_all(store, requests));
    return parallel_for(asks.size(), reader.config_, [&](std::size_t k) -> Result<void> {
      if (held[k]) return decode(asks[k], *held[k]);
      const Result<ReadReply> reply = std::exchange(replies[numbers[k]], ReadReply{});
      return reply ? decode(asks[k], reply->bytes) : settle(asks[k], reply.error());
    });
  }

  Result<void> decode(const Ask& ask, std::span<const std::byte> bytes) {
    const Object& object = objects[ask.object];
    return settle(ask, reader.decode_run(*object.source, object.plan, object.plan.runs[ask.run], bytes));
  }

  // A piece is done with its last run, or with the first that fails.
  Result<void> settle(const Ask& ask, Result<void> outcome) {
    Object& object = objects[ask.object];
    if (outcome) return --object.runs_left == 0 ? done(ask.object, {}) : Result<void>{};
    return object.failed.exchange(true) ? Result<void>{} : done(ask.object, std::move(outcome));
  }

  [[nodiscard]] Extent extent(const Ask& ask) const { return objects[ask.object].plan.runs[ask.run].extent; }
};

Result<void> ChunkReader::from_store(Store& store, std::span<const ReadRequest> first_reads,
                                     std::span<const Piece> pieces, const OnPiece& done) const {
  Together together{*this, store, pieces, done};
  SHERD_TRY(together.open(first_reads));
  return together.read_runs();
}

}  // namespace sherd
