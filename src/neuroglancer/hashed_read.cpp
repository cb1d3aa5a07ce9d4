// Reads chunks with hashed shards. The chunks of a call are read shard by shard: those that are close together in a
// shard are read with one request, and are decoded while others are read.
#include <algorithm>

#include "array/partial_source.hpp"
#include "base/try.hpp"
#include "neuroglancer/storage.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::uint64_t kIdsAtOnce = std::uint64_t{1} << 16;

// Reading chunk by chunk reads only the needed part of a raw chunk.
bool are_worth_joining(const CellsRead& call) {
  const Array::State& state = call.state;
  if (state.layout.chain.raw_word_size() == 0) return true;
  const std::uint64_t elements = call.cells.size() * chunk_bytes(state.layout, state.chunks) / state.dtype.size();
  return call.elements >= elements / 2;
}

// The requests of one window of a call's chunks to the store of ids.
class Window {
 public:
  Window(const CellsRead& call, const IdObjects& objects, std::uint64_t first)
      : call_(call), objects_(objects), first_(first), ids_(std::min(kIdsAtOnce, call.cells.size() - first)) {
    Shape cell;
    std::vector<ReadPart> parts;
    for (std::uint64_t i = 0; i < ids_.size(); ++i) {
      call.cells.get(first + i, cell, parts);
      ids_[i] = call.state.grid.first_id(cell);
    }
    if (call.config.cache != CacheMode::index) versions_.resize(ids_.size());
  }

  Result<void> read() {
    IdsRead ids{ids_, [&](std::size_t i, auto value) { return take(i, value); }};
    if (!versions_.empty())
      ids.found = [&](std::size_t i, ByteSource& shard, Extent where) { return from_kept(i, shard, where); };
    return read_ids(objects_.values(), ids);
  }

 private:
  Result<void> take(std::size_t i, std::optional<std::span<const std::byte>> value) {
    const auto [at, piece] = call_.cell(first_ + i);
    if (!value && call_.config.missing_is_error) return not_found("the chunk is missing").in_key(at.key);
    SHERD_TRY(value ? decode(i, *value, piece) : call_.reader.fill(piece));
    call_.count(piece);
    return {};
  }

  Result<void> decode(std::size_t i, std::span<const std::byte> value, const Piece& piece) {
    const auto where = [&] { return "chunk " + std::to_string(ids_[i]); };
    if (versions_.empty()) return call_.reader.from_memory(value, piece).in(where);
    PartialSource source(versions_[i]);
    return call_.reader.from_whole(source, value, piece).in(where);
  }

  Result<bool> from_kept(std::size_t i, ByteSource& shard, Extent where) {
    const auto [at, piece] = call_.cell(first_ + i);
    SHERD_TRY(generation, value_generation(shard, where));
    versions_[i] = {at.key, std::move(generation), where.length};
    PartialSource source(versions_[i]);
    SHERD_TRY(kept, call_.reader.from_kept(source, piece));
    if (kept) call_.count(piece);
    return kept;
  }

  const CellsRead& call_;
  const IdObjects& objects_;
  const std::uint64_t first_;
  std::vector<std::uint64_t> ids_;
  std::vector<PartialSource::Version> versions_;  // versions of the values known to a cache; empty if none is cached
};

}  // namespace

Result<void> HashedStorage::read(const CellsRead& call) const {
  const bool is_slow = objects()->traits().parallel_requests > 1;
  if (!is_slow && (call.config.cache != CacheMode::index || !are_worth_joining(call))) return read_each(call);
  for (std::uint64_t first = 0; first < call.cells.size(); first += kIdsAtOnce)
    SHERD_TRY(Window(call, *ids_, first).read());
  return {};
}

}  // namespace sherd::neuroglancer
