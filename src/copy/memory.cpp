// The memory of a copy: how the budget is divided, estimates for variable-length bytes, and chunks that are collected
// before they are stored.
#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "copy/object.hpp"
#include "store/with_writers.hpp"

namespace sherd {

std::uint64_t leaf_bytes(const Array::State& state) {
  const Shape shape = state.grid.cell_shape(Shape(state.grid.axes().size(), 0));
  return chunk_bytes(state.layout, state.layout.shard ? state.layout.leaf_shape(shape) : shape);
}

CopyShares share_memory(const ArrayCopy& task, const Config& config) {
  const Array::State& from = task.source.state();
  const Array::State& to = task.destination.state();
  constexpr std::uint64_t kMin = std::uint64_t{1} << 20;
  const std::uint64_t finer = task.map ? task.map->most() : 0;  // elements from which one is computed
  const std::uint64_t leaf = std::max({leaf_bytes(from), leaf_bytes(to) * (1 + finer), kMin});
  const Shape shape = to.shape();
  Shape object = to.grid.cell_shape(Shape(shape.size(), 0));
  for (std::size_t d = 0; d < shape.size(); ++d) object[d] = std::min(object[d], shape[d]);
  const std::uint64_t object_bytes =
      std::max<std::uint64_t>(1, element_count(object).value_or(~std::uint64_t{0} / 64) * to.dtype.size());

  CopyShares shares{.config = config};
  shares.config.progress = nullptr;
  const StoreTraits traits = to.location.store->traits();
  // Moving encoded chunks is mostly waiting; a copy that decodes reads its source in batches.
  const bool encodes = task.way == CopyWay::encoded;
  const unsigned parallel = std::max(from.location.store->traits().parallel_requests, traits.parallel_requests);
  Config given = encodes ? config : with_requests(config, parallel);
  if (encodes && to.layout.shard && !to.layout.opaque_shard()) shares.committing = committing_threads(config, traits);
  if (shares.committing > 0) given.threads = thread_count(0);
  const Config writing = with_writers(given, traits, {.bytes = object_bytes});
  const std::uint64_t budget = std::max(writing.memory_budget, 8 * kMin);
  const unsigned most = thread_count(writing.threads);
  const std::uint64_t threads = std::clamp<std::uint64_t>(budget / 4 / leaf, 1, most);
  shares.config.threads = static_cast<unsigned>(threads);
  shares.lanes = encodes ? std::clamp<std::uint64_t>(budget / 4 / object_bytes, 1, threads) : threads;
  shares.box_bytes = budget / 4 / shares.lanes / (1 + finer);
  shares.reading = budget / 4 / shares.lanes;
  shares.window = std::clamp<std::uint64_t>(budget / 8 / shares.lanes / leaf, 1, ceil_div(4 * threads, shares.lanes));
  return shares;
}

std::uint64_t VarlenSizes::decoded(std::uint64_t elements, std::uint64_t stored) const noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t ratio = ratio_;
  if (ratio == 0) return most;
  return checked_add(elements, checked_mul(stored, ratio).value_or(most)).value_or(most);
}

void VarlenSizes::met(std::uint64_t stored, std::span<const std::byte> elements) noexcept {
  const std::uint64_t ratio = ceil_div(varlen_bytes(elements) + 1, std::max<std::uint64_t>(1, stored));
  for (std::uint64_t known = ratio_; known < ratio && !ratio_.compare_exchange_weak(known, ratio);) {
  }
}

Result<void> ChunkBatch::put(const std::string& key, Buffer bytes) {
  {
    const std::lock_guard hold(mutex_);
    bytes_ += bytes.capacity();
    chunks_.emplace_back(key, std::move(bytes));
    if (bytes_ < most_) return {};
  }
  return flush();
}

Result<void> ChunkBatch::flush() {
  std::vector<std::pair<std::string, Buffer>> chunks;
  {
    const std::lock_guard hold(mutex_);
    chunks.swap(chunks_);
    bytes_ = 0;
  }
  std::vector<EncodedChunk> encoded;
  encoded.reserve(chunks.size());
  for (const auto& [key, bytes] : chunks) encoded.push_back({key, bytes.span()});
  return storage_.put(encoded);
}

}  // namespace sherd
