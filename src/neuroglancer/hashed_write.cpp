// Writes chunks with hashed shards. The chunks of a call are sorted by shard; those of one shard are made in parallel,
// some at a time, and stored with one change. If some are only partly overwritten, the shard's lock is held from
// reading the old ones to storing the new ones.
#include <algorithm>
#include <atomic>

#include "base/try.hpp"
#include "neuroglancer/storage.hpp"
#include "store/read_into.hpp"
#include "store/retry.hpp"
#include "store/with_writers.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::uint64_t kSortedAtOnce = std::uint64_t{1} << 16;

struct CellChunk {
  Uint64Sharding::Location location;
  std::uint64_t id;
  std::uint64_t cell;  // its number in the call
};

/// A chunk to be stored; no bytes: it is not stored.
struct Made {
  Buffer bytes;
  bool present = false;
};

class HashedWriter {
 public:
  HashedWriter(const Array::State& state, const Config& config, const Cells& cells, const RegionWrite& call)
      : state_(state),
        ids_(*hashed_ids(state)),
        config_(config),
        cells_(cells),
        from_(call.from),
        shape_(call.shape),
        budget_(call.budget),
        reading_(config.memory_budget),
        reader_(config_, state.location.store->traits(), state.cache, reading_, nullptr),
        writer_(config_, ~std::uint64_t{0}, reader_) {}

  /// Writes chunks [first, last) of the call, calling done(bytes) for stored ones.
  Result<void> write(std::uint64_t first, std::uint64_t last, const std::function<void(std::uint64_t)>& done,
                     bool replaces_all) {
    const auto chunks = sorted(first, last);
    std::vector<std::span<const CellChunk>> shards;
    for (std::size_t begin = 0, end = 0; begin < chunks.size(); begin = end) {
      while (end < chunks.size() && chunks[end].location.shard == chunks[begin].location.shard) ++end;
      shards.push_back(std::span(chunks).subspan(begin, end - begin));
    }
    const std::size_t batch = batch_size(shards.size());
    return parallel_for(shards.size(), config_, [&](std::size_t i) -> Result<void> {
      const std::string key = ids_.shard_key(shards[i].front().location.shard);
      for (std::span<const CellChunk> left = shards[i]; !left.empty();) {
        const auto some = left.first(std::min(batch, left.size()));
        auto done_some = write_shard(some);
        const bool damaged = !done_some && done_some.error().code() == ErrorCode::corrupt;
        if (damaged && replaces_all && first == 0 && left.size() == shards[i].size()) {
          SHERD_TRY(erase_shard(key).in_key(key));
          done_some = write_shard(some);
        }
        SHERD_TRY(std::move(done_some).in_key(key));
        left = left.subspan(some.size());
        for (const CellChunk& chunk : some) done(part_of(chunk).element_count() * state_.dtype.size());
      }
      return {};
    });
  }

 private:
  Result<void> erase_shard(const std::string& key) const {
    SHERD_TRY(lock, ids_.lock(key));
    SHERD_TRY(confirm());
    SHERD_TRY(ids_.erase(key, {}));
    return {};
  }

  /// Where there are no locks, the call looks at the document before its first change and after its last one.
  Result<void> confirm() const {
    if (state_.location.store->traits().locks) SHERD_TRY(state_.confirm());  // volumes keep their shapes
    return {};
  }

  [[nodiscard]] Region part_of(const CellChunk& chunk) const {
    Shape cell;
    Region part;
    cells_.get(chunk.cell, cell, part);
    return part;
  }

  [[nodiscard]] std::vector<CellChunk> sorted(std::uint64_t first, std::uint64_t last) const {
    std::vector<CellChunk> chunks;
    chunks.reserve(last - first);
    Shape cell;
    Region part;
    for (std::uint64_t i = first; i < last; ++i) {
      cells_.get(i, cell, part);
      const std::uint64_t id = state_.grid.first_id(cell);
      chunks.push_back({ids_.values().format.sharding.locate(id), id, i});
    }
    std::ranges::sort(chunks, {}, [](const CellChunk& chunk) { return std::pair(chunk.location, chunk.id); });
    return chunks;
  }

  /// The number of encoded chunks collected before they are stored. Each thread that works on a shard has a part of the
  /// budget.
  [[nodiscard]] std::size_t batch_size(std::size_t shards) const {
    const std::uint64_t lanes = std::clamp<std::uint64_t>(shards, 1, thread_count(config_.threads));
    const std::uint64_t bytes = std::max<std::uint64_t>(1, chunk_bytes(state_.layout, state_.chunks));
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(config_.memory_budget / 4 / lanes / bytes, 1, 4096));
  }

  Result<void> write_shard(std::span<const CellChunk> chunks) const {
    return retry_conflicts(config_, [&] { return write_once(chunks); });
  }

  /// All chunks are put into the version of the shard from which the old ones were read.
  Result<void> write_once(std::span<const CellChunk> chunks) const {
    const ShardedStore::State& values = ids_.values();
    const bool covered =
        std::ranges::all_of(chunks, [&](const CellChunk& chunk) { return piece(access_of(chunk)).covered(); });
    std::unique_ptr<StoreLock> lock;
    OpenedShard seen;
    const auto lock_and_open = [&]() -> Result<void> {
      SHERD_TRY(held, ids_.lock(access_of(chunks.front()).at.key));
      lock = std::move(held);
      SHERD_TRY(confirm());
      SHERD_TRY(opened, open_shard(values, chunks.front().location.shard));
      seen = std::move(opened);
      return {};
    };
    if (!covered) SHERD_TRY(lock_and_open());
    std::vector<Made> made(chunks.size());
    SHERD_TRY(parallel_for(chunks.size(), config_,
                           [&](std::size_t i) { return make(chunks[i], seen.source.get(), made[i]); }));
    std::vector<ShardedStore::Item> puts;
    std::vector<std::uint64_t> erased;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (made[i].present)
        puts.push_back({.id = chunks[i].id, .value = made[i].bytes.span()});
      else
        erased.push_back(chunks[i].id);
    }
    if (covered) SHERD_TRY(lock_and_open());
    SHERD_TRY(change_seen(values, std::move(seen), puts, erased));
    return {};
  }

  struct Touched {
    CellAccess at;
    Region part;
  };
  [[nodiscard]] Touched access_of(const CellChunk& chunk) const {
    Shape cell;
    Region part;
    cells_.get(chunk.cell, cell, part);
    return {access(state_, cell, shape_), std::move(part)};
  }
  [[nodiscard]] WritePiece piece(const Touched& touched) const {
    return {state_.layout, touched.at.shape, touched.at.valid, touched.part, from_};
  }

  Result<void> make(const CellChunk& chunk, ByteSource* shard, Made& to) const {
    const Touched touched = access_of(chunk);
    const WritePiece wanted = piece(touched);
    const bool update = !wanted.covered();
    const auto share = budget_.take(ChunkWriter::writing_bytes(state_.layout, wanted.shape, update));
    std::optional<MinishardIndex::Chunk> old;
    Scratch stored;
    std::optional<std::span<const std::byte>> before;
    if (update && shard != nullptr) {
      SHERD_TRY(found, find_chunk(ids_.values(), *shard, chunk.id));
      old = found;
    }
    if (old) {
      SHERD_TRY(state_.layout.check_encoded_size(wanted.shape, old->length));
      SHERD_TRY(read_into(*shard, {old->offset, old->length}, *stored));
      before = stored->span();
    }
    SHERD_TRY(present, writer_.to_memory(wanted, before, to.bytes));
    to.present = present;
    return {};
  }

  const Array::State& state_;
  IdObjects& ids_;
  const Config& config_;
  const Cells& cells_;
  const WriteSource& from_;
  const Shape shape_;
  Budget& budget_;
  mutable ReadBudget reading_;
  const ChunkReader reader_;
  const ChunkWriter writer_;
};

}  // namespace

Result<void> HashedStorage::write(const Array::State& state, const Region& region, const RegionWrite& call) const {
  SHERD_TRY(call.wait_for_look());
  const Cells cells(region, state.grid.axes());
  std::atomic<std::uint64_t> done{0};
  const Config reporting = with_progress(state.config(), done, region.element_count() * state.dtype.size());
  const StoreTraits traits = objects()->traits();
  Config config = with_writers(with_requests(reporting, traits.parallel_requests), traits, {.count = cells.size()});
  config.missing_is_error = false;  // missing parts of a chunk that is changed are filled
  HashedWriter writer(state, config, cells, call);
  const bool replaces_all = region.covers(call.shape);  // damaged or not
  const auto count = [&](std::uint64_t bytes) { done.fetch_add(bytes, std::memory_order_relaxed); };
  for (std::uint64_t first = 0; first < cells.size(); first += kSortedAtOnce)
    SHERD_TRY(writer.write(first, std::min(first + kSortedAtOnce, cells.size()), count, replaces_all));
  return {};
}

Result<void> HashedStorage::put(std::span<const EncodedChunk> chunks) const {
  std::vector<ShardedStore::Item> items;
  items.reserve(chunks.size());
  for (const EncodedChunk& chunk : chunks) items.push_back({.id = *ids_->id_of(chunk.key), .value = chunk.bytes});
  SHERD_TRY(change(ids_->values(), items, {}));
  return {};
}

Result<Array::Stored> HashedStorage::stored(const Array::State&) const {
  SHERD_TRY(shards, ids_->shard_objects());
  Array::Stored stored{.objects = shards.size()};
  for (const Listing::Object& shard : shards) stored.bytes += shard.size;
  return stored;
}

}  // namespace sherd::neuroglancer
