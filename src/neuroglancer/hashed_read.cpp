// Reading chunks with hashed shards. The chunks of a call are read shard by shard: those that are close together in one
// come with one request, and are decoded while others are read.
#include <algorithm>

#include "base/try.hpp"
#include "neuroglancer/storage.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::uint64_t kIdsAtOnce = std::uint64_t{1} << 16;

// Reading chunk by chunk takes only what is wanted of one that is stored raw.
bool are_worth_joining(const CellsRead& call) {
  const Array::State& state = call.state;
  if (state.layout.chain.raw_word_size() == 0) return true;
  const std::uint64_t elements = call.cells.size() * chunk_bytes(state.layout, state.chunks) / state.dtype.size();
  return call.elements >= elements / 2;
}

}  // namespace

Result<void> HashedStorage::read(const CellsRead& call) const {
  if (call.config.cache != CacheMode::index || !are_worth_joining(call)) return read_each(call);
  const Array::State& state = call.state;
  std::vector<std::uint64_t> ids;
  for (std::uint64_t first = 0; first < call.cells.size(); first += kIdsAtOnce) {
    Shape cell;
    std::vector<ReadPart> parts;
    ids.resize(std::min(kIdsAtOnce, call.cells.size() - first));
    for (std::uint64_t i = 0; i < ids.size(); ++i) {
      call.cells.get(first + i, cell, parts);
      ids[i] = state.grid.first_id(cell);
    }
    const auto visit = [&](std::size_t i, std::optional<std::span<const std::byte>> chunk) -> Result<void> {
      const auto [at, piece] = call.cell(first + i);
      if (chunk) {
        SHERD_TRY(call.reader.from_memory(*chunk, piece).in([&] { return "chunk " + std::to_string(ids[i]); }));
      } else if (call.config.missing_is_error) {
        return not_found("the chunk is missing").in_key(at.key);
      } else {
        SHERD_TRY(call.reader.fill(piece));
      }
      call.count(piece);
      return {};
    };
    SHERD_TRY(read_ids(ids_->values(), ids, visit));
  }
  return {};
}

}  // namespace sherd::neuroglancer
