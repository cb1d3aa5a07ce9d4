#include "array/stream_plan.hpp"

#include <algorithm>
#include <string>

#include "array/array_state.hpp"
#include "array/chunk_writer.hpp"
#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kMinQueueBytes = std::uint64_t{64} << 20;

/// Whether chunks have places in a shard before their elements are known, which read as zeros.
bool has_places(const ChunkLayout& layout) {
  if (!layout.shard || layout.opaque_shard() || layout.shard->slots() == nullptr) return false;
  const auto& fill = layout.fill.bytes();
  return layout.shard->inner->chain.raw_word_size() != 0 && !layout.shard->inner->shard && !layout.shard->second &&
         std::ranges::all_of(fill, [](std::byte byte) { return byte == std::byte{}; });
}

Result<void> check_technique(Technique technique, const StreamPlan& plan, const ChunkLayout& layout) {
  if (technique == Technique::preallocated && !has_places(layout))
    return invalid_argument("3 requires shards of uncompressed chunks (no codec but 'bytes') and the fill value 0")
        .in_member("technique");
  if (technique == Technique::whole_shards && plan.object != 1)
    return invalid_argument("1 requires shards (or chunks) of length 1 along axis " + std::to_string(plan.axis) +
                            "; these have length " + std::to_string(plan.object))
        .in_member("technique");
  return {};
}

}  // namespace

Result<StreamPlan> plan_stream(const Array& array, const AppenderOptions& options) {
  const Array::State& state = array.state();
  if (options.axis >= array.ndim())
    return invalid_argument("axis " + std::to_string(options.axis) + " of an array of " + std::to_string(array.ndim()) +
                            " dimensions");
  if (array.dtype().is_variable())
    return unsupported("an appender of elements of variable length (" + array.dtype().name() + "); use append()");
  const AxisGrid& axis = state.grid.axes()[options.axis];
  if (!axis.regular() || state.chunks.empty())
    return unsupported("an appender along an axis whose chunks have several lengths; use append()");
  StreamPlan plan{options.axis, array.shape()};
  plan.object = axis.first_length();
  plan.chunk = state.chunks[options.axis];
  if (plan.object % plan.chunk != 0) plan.chunk = plan.object;  // the last chunk of each shard is shorter
  SHERD_TRY(check_technique(options.technique, plan, state.layout));
  const auto elements = element_count(plan.with_length(1));
  const auto slice = elements ? checked_mul(*elements, array.dtype().size()) : std::nullopt;
  const auto row = slice ? checked_mul(*slice, plan.chunk) : std::nullopt;
  if (!row || *row > ~std::uint64_t{0} >> 2)
    return unsupported("a row of chunks of " + to_string(plan.shape) + " is too large for a queue");
  if (*row == 0) return invalid_argument("slices of an array of shape " + to_string(plan.shape) + " have no elements");
  plan.slice_bytes = *slice;
  std::uint64_t bytes = options.queue_bytes;
  if (bytes == 0) {
    const std::uint64_t shards = checked_mul(*slice, plan.object).value_or(~std::uint64_t{0} >> 2);
    bytes = std::min(std::max(checked_mul(shards, 2).value_or(shards), kMinQueueBytes), array.config().memory_budget);
    bytes = std::max(bytes, 2 * *row);
  }
  if (bytes < *row)
    return invalid_argument(std::to_string(bytes) + " bytes are less than a row of chunks, " + std::to_string(*row))
        .in_member("queue_bytes");
  const std::uint64_t slices = bytes / plan.slice_bytes;
  plan.capacity = floor_to(slices, slices / 2 >= plan.object ? plan.object : plan.chunk);
  return plan;
}

Config streaming_config(const Array& array, const AppenderOptions& options, const std::atomic<bool>& cancelled) {
  Config config = array.config();
  if (options.threads != 0) config.threads = options.threads;
  config.interrupted = [&cancelled] { return cancelled.load(); };
  config.progress = nullptr;
  config.notice = nullptr;
  if (options.technique == Technique::arrival) config.max_unused = 1;
  if (options.technique == Technique::preallocated) {
    config.update = Update::in_place;
    config.write_empty_chunks = true;  // a chunk that vanished would have another place later
  }
  return config;
}

Config completing_config(Config config, Technique technique) {
  if (technique != Technique::arrival) return config;
  config.update = Update::rewrite;
  config.max_unused = 0;
  return config;
}

std::uint64_t streaming_bytes(const Array& array, const StreamPlan& plan) {
  const ChunkLayout& layout = array.state().layout;
  const Config& config = array.config();
  const std::uint64_t queue = plan.capacity * plan.slice_bytes;
  const bool is_plain_shard = layout.shard && !layout.opaque_shard();
  const Shape cell = array.state().grid.cell_shape(Shape(plan.shape.size(), 0));
  const std::uint64_t one =
      is_plain_shard ? ChunkWriter::thread_bytes(layout) : ChunkWriter::writing_bytes(layout, cell, true);
  const std::uint64_t encoding = std::min(config.memory_budget, thread_count(config.threads) * one + queue / 2);
  constexpr std::uint64_t kEntryBytes = 16;
  std::uint64_t indexes = layout.shard ? kEntryBytes : 0;
  for (std::size_t d = 0; d < plan.shape.size(); ++d)
    indexes *= d == plan.axis ? ceil_div(plan.object, plan.chunk) : ceil_div(plan.shape[d], array.chunks()[d]);
  return queue + encoding + indexes;
}

}  // namespace sherd
