// Changes an array's shape, and counts stored chunks without visiting missing ones.
// Elements that are cut off are erased first and the document is changed second, so that a kill in between leaves no
// old elements that reappear when the array grows. A writer that confirmed the old shape under the lock of its chunk
// may still store it afterwards, so this waits for active writers, and erases what they have stored. Until all of that
// is done, other changes of shape must wait. They use a separate lock, because that of the document ends when the
// document is replaced (docs/decisions/0014).
// In a store without locks, one process at a time may shrink an array, and no other one may write beyond its new end.
#include "array/resize.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>

#include "array/array_state.hpp"
#include "array/chunk_reader.hpp"
#include "array/storage.hpp"
#include "array/strided.hpp"
#include "base/call.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "node/storage_kind.hpp"
#include "shard/old_shard.hpp"

namespace sherd {
namespace {

/// Appended to the key of an array's document; no object has this name.
constexpr std::string_view kShapeLock = ".sherd-shape";

// The parts of a chunk outside `valid`, as disjoint boxes: for each dimension the part beyond it, restricted to the
// inside in all previous dimensions.
std::vector<Region> beyond(const Shape& shape, const Shape& valid) {
  std::vector<Region> parts;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (valid[d] >= shape[d]) continue;
    Region part;
    for (std::size_t e = 0; e < shape.size(); ++e) {
      const std::uint64_t begin = e == d ? valid[d] : 0;
      const std::uint64_t end = e < d ? valid[e] : shape[e];
      part.axes.push_back({.start = static_cast<std::int64_t>(begin), .step = 1, .count = end - begin, .first = 0});
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

Region shifted(Region part, const Shape& origin) {
  for (std::size_t d = 0; d < part.axes.size(); ++d) part.axes[d].start += static_cast<std::int64_t>(origin[d]);
  return part;
}

bool is_empty(const Region& part) {
  return std::any_of(part.axes.begin(), part.axes.end(), [](const AxisPart& axis) { return axis.count == 0; });
}

/// The old and the new shape, and the versions of chunks across the new end in which everything beyond it is erased.
struct Shrinking {
  Shape from, to;
  std::map<std::string, Generation> cut = {};
};

// Writes fill values over the elements of a stored chunk between the new shape and the old one. Returns the version
// that is known to have them; none if the chunk is gone or must be examined again.
Result<Generation> cut(const Array::State& state, const Shape& cell, const Shrinking& change, Budget& budget) {
  const std::string key = state.key(cell);
  const auto known = change.cut.find(key);
  if (known != change.cut.end()) {
    SHERD_TRY(now, stored_generation(*state.location.store, key));
    if (now.value_or(Generation()) == known->second) return known->second;
  }
  std::vector<std::pair<Generation, Generation>> replaced;
  const Shape before = state.valid_shape(cell, change.from);
  const WriteSource from{state.layout.fill.bytes().data(), std::vector<std::int64_t>(cell.size(), 0)};
  for (const Region& part : beyond(before, state.valid_shape(cell, change.to)))
    if (!is_empty(part))
      SHERD_TRY(state.storage->write(state, shifted(part, state.grid.cell_begin(cell)),
                                     {from, budget, change.from, &replaced}));
  for (std::size_t i = 1; i < replaced.size(); ++i)
    if (replaced[i].first != replaced[i - 1].second) return Generation();  // another writer came in between
  return replaced.empty() ? Generation() : std::move(replaced.back().second);
}

using StoredCells = std::vector<std::pair<Shape, std::string>>;

ShardLocation located(const Array::State& state, const Shape& cell, ByteSource& source, std::uint64_t size) {
  const ShardLayout& shard = *state.layout.shard;
  const Shape grid = shard.grid(state.layout.chain.stored_shape(state.grid.cell_shape(cell)));
  return {source, {0, size}, shard, grid, state.first_id(cell)};
}

// Finds shards that cannot be updated before anything is cut or erased.
Result<void> check_cut(const Array::State& state, const Shape& cell, const std::string& key, const Shrinking& change) {
  if (!state.layout.shard || state.layout.opaque_shard() || change.cut.contains(key)) return {};
  SHERD_TRY(source, state.location.store->open(key));
  if (source == nullptr) return {};
  SHERD_TRY(size, source->size());
  SHERD_TRY(read_old_shard(located(state, cell, *source, size), state.config().limits).in_key(key));
  return {};
}

// Erases the contents of stored chunks beyond the new shape, also on disk; visits only stored chunks.
Result<void> erase_beyond(const Array::State& state, Shrinking& change) {
  StoredCells outside, across;
  const auto add = [&](const Shape& cell, const std::string& key, std::uint64_t) -> Result<void> {
    const Shape now = state.valid_shape(cell, change.to);
    if (std::find(now.begin(), now.end(), 0) != now.end())
      outside.emplace_back(cell, key);
    else if (now != state.valid_shape(cell, change.from))
      across.emplace_back(cell, key);
    return {};
  };
  SHERD_TRY(state.storage->list(state, change.from, add));
  const auto check = [&](std::size_t i) { return check_cut(state, across[i].first, across[i].second, change); };
  SHERD_TRY(parallel_for(across.size(), with_requests(state.config(), state.location.store->traits().parallel_requests),
                         check));
  const Config config = writing_config(state, state.config(), across.size());
  Budget budget(config.memory_budget);
  std::vector<Generation> generations(across.size());
  SHERD_TRY(parallel_for(across.size(), config, [&](std::size_t i) -> Result<void> {
    SHERD_TRY(generation, cut(state, across[i].first, change, budget));
    generations[i] = std::move(generation);
    return {};
  }));
  for (std::size_t i = 0; i < across.size(); ++i) change.cut[across[i].second] = std::move(generations[i]);
  std::vector<std::string> keys;
  for (auto& [cell, key] : outside) keys.push_back(std::move(key));
  return state.storage->erase(state, keys);
}

// The number of innermost chunks stored in a shard and the shards inside it.
Result<std::uint64_t> count_slots(const ShardLocation& shard, const Config& config, Cache& cache) {
  SHERD_TRY(index, read_index(shard, config.limits, cache));
  const ChunkLayout& inner = *shard.layout.inner;
  if (!inner.shard || inner.opaque_shard()) return index->count();
  const Shape grid = inner.shard->grid(inner.chain.stored_shape(shard.layout.inner_shape));
  std::atomic<std::uint64_t> count{0};
  SHERD_TRY(parallel_for(index->slots(), config, [&](std::size_t slot) -> Result<void> {
    SHERD_TRY(extent, index->extent(slot));
    if (!extent) return {};
    const ShardLocation nested{shard.source, {shard.where.offset + extent->offset, extent->length}, *inner.shard, grid};
    SHERD_TRY(chunks, count_slots(nested, config, cache).in_slot(slot));
    count += chunks;
    return {};
  }));
  return count.load();
}

Result<std::uint64_t> count_chunks(const Array::State& state, const Shape& cell, const std::string& key) {
  if (!state.layout.shard || state.layout.opaque_shard()) return std::uint64_t{1};
  SHERD_TRY(source, state.location.store->open(key));
  if (source == nullptr) return std::uint64_t{0};
  SHERD_TRY(size, source->size());
  return count_slots(located(state, cell, *source, size), state.config(), state.cache);
}

/// Computes the new shape from the present one.
using NextShape = std::function<Result<Shape>(const Shape& present)>;

/// During its lifetime, nothing that this thread does for an array is interrupted.
class Uninterrupted {
 public:
  explicit Uninterrupted(Config config) : config_(std::move(config)), call_(config_), working_(call_, true) {
    config_.interrupted = nullptr;
  }
  [[nodiscard]] const Config& config() const noexcept { return config_; }

 private:
  Config config_;
  Call call_;
  const Call::Working working_;
};

/// Undoes a shrink that could not wait for active writers: the array keeps its size, because elements that they have
/// stored beyond the new end would reappear when it grows again.
void take_back(Array::State& state, const Shrinking& change, Array::State::Renewal renewal) {
  const Uninterrupted rollback(state.config());
  (void)state.edit(
      [&](const NodeDocument& present) -> Result<Json> {
        if (present.array->shape != change.to) return invalid_argument("the array was resized in the meantime");
        return state.location.format->changed(present.document, {.shape = change.from});
      },
      renewal);
}

/// The document of the array with another shape. A format may derive codec parameters from the array's shape; with
/// others the stored chunks would be misread.
Result<Json> resized_document(const Array::State& state, const NodeDocument& present, const Shape& to) {
  SHERD_TRY(counterpart, find_counterpart(state.location, present));
  if (counterpart)
    return unsupported(
        "an array that shares its shards with one of another format cannot be resized; create another one");
  SHERD_TRY(document, state.location.format->changed(present.document, {.shape = to}));
  SHERD_TRY(resized, state.location.format->lower(document, state.config().limits));
  const auto &before = present.array->codecs, &after = resized.array->codecs;
  const auto [was, is] = std::ranges::mismatch(before, after);
  if (was == before.end() && is == after.end()) return document;
  return unsupported("the codec '" + (was != before.end() ? was->name : is->name) +
                     "' depends on the shape of the array, so the stored chunks would become unreadable; copy the " +
                     "array with other codecs, and resize the copy");
}

Result<std::unique_ptr<StoreLock>> lock_shape_of(const Array::State& state) {
  const std::string turn = state.document_key + std::string(kShapeLock);
  auto lock = as_call(state.config(), [&] { return state.location.store->lock(turn).in_key(turn); });
  if (lock || lock.error().code() != ErrorCode::unsupported) return lock;
  return unsupported(lock.error().message()).in_key(state.document_key);  // which the user knows
}

/// Why the shape is changed. The rows of a failed append are not erased where others may append behind it meanwhile.
enum class Purpose : std::uint8_t { resize, append, undo_append };

Result<void> change_shape(Array::State& state, const NextShape& next,
                          Array::State::Renewal renewal = Array::State::Renewal::now,
                          Purpose purpose = Purpose::resize) {
  SHERD_TRY(require_writable(state.location));
  const bool has_locks = state.location.store->traits().locks;
  SHERD_TRY(lock, lock_shape_of(state));
  Shrinking change;
  bool shrinks = false;
  SHERD_TRY(state.edit(
      [&](const NodeDocument& present) -> Result<Json> {
        SHERD_TRY(shape, next(present.array->shape));
        change = {present.array->shape, std::move(shape)};
        shrinks = false;
        for (std::size_t d = 0; d < change.to.size(); ++d) shrinks = shrinks || change.to[d] < change.from[d];
        SHERD_TRY(document, resized_document(state, present, change.to));
        if (shrinks) SHERD_TRY(state.check_change());
        if (shrinks && (has_locks || purpose == Purpose::resize)) SHERD_TRY(erase_beyond(state, change));
        return document;
      },
      renewal, purpose == Purpose::append ? Array::State::Before::seen : Array::State::Before::stored));
  if (!shrinks || !has_locks) return {};  // other writers cannot be waited for
  auto finished = as_call(state.config(), [&] { return state.location.store->wait_for_writers(state.prefix); });
  if (finished) finished = erase_beyond(state, change);
  if (!finished) take_back(state, change, renewal);
  return finished;
}

}  // namespace

Result<void> Array::resize(const Shape& shape) {
  return change_shape(*state_, [&](const Shape& present) -> Result<Shape> {
    if (shape.size() == present.size()) return shape;
    return invalid_argument("the new shape has " + std::to_string(shape.size()) + " dimensions, the array " +
                            std::to_string(present.size()));
  });
}

Result<void> resize_from(const Array& array, const Shape& from, const Shape& to) {
  auto& state = const_cast<Array::State&>(array.state());  // handles share it, and it is never a const object
  bool differs = false;                                    // not a conflict inside the edit, which would be retried
  auto done = change_shape(
      state,
      [&](const Shape& present) -> Result<Shape> {
        differs = present != from;
        if (!differs) return to;
        return invalid_argument("the array was resized in the meantime");
      },
      Array::State::Renewal::by_caller);
  if (!done && differs) return resized_error(state);
  return done;
}

Error resized_error(const Array::State& state) {
  return conflict("the array was resized in the meantime; open it again").lasting().in_key(state.document_key);
}

Result<std::unique_ptr<StoreLock>> lock_shape(const Array& array) { return lock_shape_of(array.state()); }

Result<void> check_resize(const Array& array, const Shape& to) {
  const Array::State& state = array.state();
  SHERD_TRY(require_writable(state.location));
  SHERD_TRY(state.check_change());
  SHERD_TRY(resized_document(state, state.document(), to).in_key(state.document_key));
  return {};
}

Result<void> write_beyond(const Array& array, const Shape& shown, const Shape& grown, const Box& where,
                          const ConstAnyView& from) {
  const Array::State& state = array.state();
  return as_call(state.config(), [&]() -> Result<void> {
    SHERD_TRY(shape, state.confirm(Array::State::Confirmed::attributes));
    ShapeRange expected{shown, shown};
    for (std::size_t d = 0; d < shown.size(); ++d) expected.last[d] = std::max(shown[d], where.origin[d]);
    if (!expected.contains(shape)) return resized_error(state);
    const SelectedRegion selected{Selection(where)};
    const std::uint64_t cells = Cells(selected.region(), state.grid.axes()).size();
    Budget budget(writing_config(state, state.config(), cells).memory_budget);
    const WriteSource source{from.data, from.strides};
    return state.storage->write(state, selected.region(), {source, budget, grown, nullptr, &expected});
  });
}

namespace {

/// Consolidated metadata around the array are renewed while elements are written, where requests have latency.
std::future<Result<void>> renew_beside(const Array::State& state) {
  const auto renew = [&state] { return renew_consolidated(state.location); };
  const bool has_latency = state.location.store->traits().parallel_requests > 1;
  return has_latency ? begin_beside(renew) : std::async(std::launch::deferred, renew);
}

}  // namespace

Result<Shape> Array::append(const ConstAnyView& from, std::size_t axis) {
  const State& state = *state_;
  if (axis >= ndim() || from.shape.size() != ndim())
    return invalid_argument("cannot append an array of shape " + to_string(from.shape) + " along axis " +
                            std::to_string(axis) + " to one of shape " + to_string(shape()));
  SHERD_TRY(state.check_change());
  SHERD_TRY(state.check_elements(from.dtype));
  SHERD_TRY(fitting_strides(Box{Shape(ndim(), 0), from.shape}, from.shape, from.strides));
  Shape old_shape, grown;
  const auto next = [&](const Shape& present) -> Result<Shape> {
    old_shape = grown = present;
    const auto length = checked_add(old_shape[axis], from.shape[axis]);
    grown[axis] = length.value_or(0);
    for (std::size_t d = 0; d < grown.size(); ++d)
      if (!length || (d != axis && grown[d] != from.shape[d]))
        return invalid_argument("cannot append shape " + to_string(from.shape) + " to " + to_string(old_shape) +
                                " along axis " + std::to_string(axis));
    return grown;
  };
  SHERD_TRY(change_shape(*state_, next, State::Renewal::by_caller, Purpose::append));
  Shape origin(ndim(), 0);
  origin[axis] = old_shape[axis];
  Result<void> renewed;
  auto written = as_call(state.config(), [&]() -> Result<void> {
    auto renewing = renew_beside(state);
    auto done = write_confirmed(*this, grown, Box{origin, from.shape}, from);
    renewed = renewing.get();
    return done;
  });
  if (written) {
    SHERD_TRY(std::move(renewed));
    return origin;
  }
  // Undone as far as still possible: not if another writer has appended behind it. An interruption ends the write, but
  // not this.
  const Uninterrupted rollback(state.config());
  const Array again = with_config(rollback.config());
  const auto before = [&](const Shape& present) -> Result<Shape> {
    return present == grown ? old_shape : Result<Shape>(invalid_argument("the array was resized in the meantime"));
  };
  (void)change_shape(*again.state_, before, State::Renewal::now, Purpose::undo_append);
  (void)state.confirm();
  return std::move(written).error();
}

Result<std::uint64_t> Array::nchunks_initialized() const {
  const State& state = *state_;
  SHERD_TRY(state.check_access());
  constexpr std::size_t kAtOnce = 4096;
  const Config config = with_requests(state.config(), state.location.store->traits().parallel_requests);
  std::atomic<std::uint64_t> count{0};
  StoredCells stored;
  const auto count_stored = [&]() -> Result<void> {
    SHERD_TRY(parallel_for(stored.size(), config, [&](std::size_t i) -> Result<void> {
      const auto& [cell, key] = stored[i];
      SHERD_TRY(chunks, count_chunks(state, cell, key).in_key(key));
      count += chunks;
      return {};
    }));
    stored.clear();
    return {};
  };
  const Shape shape = state.shape();
  SHERD_TRY(
      state.storage->list(state, shape, [&](const Shape& cell, const std::string& key, std::uint64_t) -> Result<void> {
        const Shape valid = state.valid_shape(cell, shape);
        if (std::find(valid.begin(), valid.end(), 0) == valid.end()) stored.emplace_back(cell, key);
        return stored.size() < kAtOnce ? Result<void>() : count_stored();
      }));
  SHERD_TRY(count_stored());
  return count.load();
}

Result<Array::Stored> Array::stored() const { return state_->storage->stored(*state_); }

}  // namespace sherd
