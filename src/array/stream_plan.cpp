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
constexpr std::uint64_t kMostRowBytes = ~std::uint64_t{0} >> 3;

/// Whether chunks have places in a shard before their elements are known, which read as zeros.
bool has_places(const ChunkLayout& layout) {
  if (!layout.shard || layout.opaque_shard() || layout.shard->slots() == nullptr) return false;
  const auto& fill = layout.fill.bytes();
  return layout.shard->inner->chain.raw_word_size() != 0 && !layout.shard->inner->shard && !layout.shard->second &&
         std::ranges::all_of(fill, [](std::byte byte) { return byte == std::byte{}; });
}

Result<void> check_technique(Technique technique, const StreamPlan& plan, const ChunkLayout& layout) {
  if (technique == Technique::preallocated && layout.dtype.is_variable())
    return unsupported("3 requires elements of fixed size, not " + layout.dtype.name()).in_member("technique");
  if (technique == Technique::preallocated && !has_places(layout))
    return invalid_argument("3 requires shards of uncompressed chunks (no codec but 'bytes') and the fill value 0")
        .in_member("technique");
  if (technique == Technique::whole_shards && plan.object != 1)
    return invalid_argument("1 requires shards (or chunks) of length 1 along axis " + std::to_string(plan.axis) +
                            "; these have length " + std::to_string(plan.object))
        .in_member("technique");
  return {};
}

Result<StreamPlan> plan_stream(const StreamMember& streamed) {
  const auto& [array, along, technique, is_coordinate] = streamed;
  const Array::State& state = array.state();
  if (along >= array.ndim())
    return invalid_argument("axis " + std::to_string(along) + " of an array of " + std::to_string(array.ndim()) +
                            " dimensions");
  const AxisGrid& axis = state.grid.axes()[along];
  if (!axis.regular() || state.chunks.empty())
    return unsupported("an appender along an axis whose chunks have several lengths; use append()");
  StreamPlan plan{.axis = along, .shape = array.shape(), .is_variable = array.dtype().is_variable()};
  plan.object = axis.first_length();
  plan.chunk = state.chunks[along];
  if (plan.object % plan.chunk != 0) plan.chunk = plan.object;  // the last chunk of each shard is shorter
  SHERD_TRY(check_technique(technique, plan, state.layout));
  const auto elements = element_count(plan.with_length(1));
  const auto slice = elements ? checked_mul(*elements, array.dtype().size()) : std::nullopt;
  const auto row = slice ? checked_mul(*slice, plan.chunk) : std::nullopt;
  if (!row || *row > kMostRowBytes)
    return unsupported("a row of chunks of " + to_string(plan.shape) + " is too large for a queue");
  if (*row == 0) return invalid_argument("slices of an array of shape " + to_string(plan.shape) + " have no elements");
  plan.slice_bytes = *slice;
  return plan;
}

/// Three rows of shards of each array, within bounds: two are stored while the third fills.
std::uint64_t default_bytes(std::span<const StreamPlan> plans, std::uint64_t rows, std::uint64_t budget) {
  std::uint64_t shards = 0;
  for (const StreamPlan& plan : plans)
    shards = checked_add(shards, checked_mul(3 * plan.place_bytes(), plan.object).value_or(budget)).value_or(budget);
  return std::max(std::min(std::max(shards, kMinQueueBytes), budget), 2 * rows);
}

/// Divides the bytes of the queue so that each array has room for as many slices, but for at least a row of its chunks.
void divide(std::span<StreamPlan> plans, std::uint64_t bytes) {
  for (bool is_divided = false; !is_divided;) {
    is_divided = true;
    std::uint64_t left = bytes, slice = 0;
    for (const StreamPlan& plan : plans) {
      left -= plan.queue_bytes();
      if (plan.capacity == 0) slice += plan.place_bytes();
    }
    for (StreamPlan& plan : plans) {
      if (plan.capacity != 0 || left / slice >= plan.chunk) continue;
      plan.capacity = plan.chunk;
      is_divided = false;
    }
    if (!is_divided) continue;
    for (StreamPlan& plan : plans)
      if (plan.capacity == 0)
        plan.capacity = floor_to(left / slice, left / slice / 2 >= plan.object ? plan.object : plan.chunk);
  }
}

}  // namespace

Result<std::vector<StreamPlan>> plan_streams(std::span<const StreamMember> arrays, std::uint64_t queue_bytes) {
  std::vector<StreamPlan> plans;
  std::uint64_t rows = 0, budget = 0;
  for (const StreamMember& each : arrays) {
    auto plan = plan_stream(each);
    if (!plan && arrays.size() > 1) return std::move(plan).error().in("'" + each.array.path() + "'");
    if (!plan) return std::move(plan).error();
    rows = checked_add(rows, plan->chunk * plan->place_bytes()).value_or(kMostRowBytes);
    if (rows >= kMostRowBytes) return unsupported("rows of chunks of all arrays are too large for a queue");
    budget = std::max(budget, each.array.config().memory_budget);
    plans.push_back(*std::move(plan));
  }
  const std::uint64_t bytes = queue_bytes != 0 ? queue_bytes : default_bytes(plans, rows, budget);
  if (bytes < rows)
    return invalid_argument(std::to_string(bytes) + " bytes are less than a row of chunks" +
                            (arrays.size() > 1 ? " of each array, " : ", ") + std::to_string(rows))
        .in_member("queue_bytes");
  divide(plans, bytes);
  return plans;
}

Config streaming_config(const StreamMember& streamed, unsigned threads, const std::atomic<bool>& cancelled) {
  Config config = streamed.array.config();
  if (threads != 0) config.threads = threads;
  config.interrupted = [&cancelled] { return cancelled.load(); };
  config.progress = nullptr;
  config.notice = nullptr;
  if (streamed.technique == Technique::arrival) config.max_unused = 1;
  if (streamed.technique == Technique::preallocated) {
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

std::uint64_t encoding_bytes(const Array& array, const StreamPlan& plan) {
  const ChunkLayout& layout = array.state().layout;
  const Config& config = array.config();
  const bool is_plain_shard = layout.shard && !layout.opaque_shard();
  const Shape cell = array.state().grid.cell_shape(Shape(plan.shape.size(), 0));
  const std::uint64_t one =
      is_plain_shard ? ChunkWriter::thread_bytes(layout) : ChunkWriter::writing_bytes(layout, cell, true);
  const std::uint64_t varlen = 2 * plan.varlen_bytes();
  return std::min(config.memory_budget, thread_count(config.threads) * one + plan.queue_bytes() / 2 + varlen);
}

std::uint64_t index_bytes(const Array& array, const StreamPlan& plan) {
  constexpr std::uint64_t kEntryBytes = 16;
  std::uint64_t bytes = array.state().layout.shard ? kEntryBytes : 0;
  for (std::size_t d = 0; d < plan.shape.size(); ++d)
    bytes *= d == plan.axis ? ceil_div(plan.object, plan.chunk) : ceil_div(plan.shape[d], array.chunks()[d]);
  return bytes;
}

}  // namespace sherd
