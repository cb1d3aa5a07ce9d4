// Writing: each affected object is rewritten and replaces the old one atomically. A whole chunk or shard is encoded
// without reading the old one. A partial write holds the object's lock from reading to replacing, replaces only the
// version that it has read, and is repeated if that is no longer the present one (docs/decisions/0016).
// How a shard is changed is decided in shard/choose.cpp; it may be appended to instead of being replaced.
// Nothing is kept of a chunk that is covered up to the array's end. So at the edge, that end is read from the store
// under the lock: a writer that enlarged the array did so before writing elements there.
// Every object is changed under its lock, and only after State::confirm() has found the array's document unchanged
// while that lock was held (docs/decisions/0014). A store without locks cannot keep other writers out, so there a
// call checks the document once before its first change, while covered chunks are encoded and the indexes of others
// are read, and once beside its last. At the array's end it checks each object.
#include <algorithm>
#include <array>
#include <atomic>

#include "array/array_state.hpp"
#include "array/chunk_writer.hpp"
#include "array/locate.hpp"
#include "array/storage.hpp"
#include "array/strided.hpp"
#include "base/call.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "store/capabilities.hpp"
#include "store/commits.hpp"
#include "store/condition.hpp"
#include "store/prefetched.hpp"
#include "store/read_into.hpp"
#include "store/retry.hpp"
#include "store/with_writers.hpp"

namespace sherd {
namespace {

// The part of the budget, not used by the threads, for encoded chunks that wait for those before them, in each of the
// shards that are written at a time.
std::uint64_t waiting_bytes(const ChunkLayout& layout, const Config& config, std::uint64_t cells) {
  if (!layout.shard || layout.opaque_shard()) return ~std::uint64_t{0};  // included in the memory for such a chunk
  const std::uint64_t threads = thread_count(config.threads);
  const std::uint64_t used = threads * ChunkWriter::thread_bytes(layout);
  return (std::max(config.memory_budget, used) - used) / std::clamp<std::uint64_t>(cells, 1, threads);
}

/// Whether a store on a server changes a part of an object by getting and sending all of it.
bool is_sent_again(const StoreTraits& traits) { return !traits.locks && traits.amend == AmendCost::copy; }

/// One write call: the state shared by all of its chunks.
class RegionWriter {
 public:
  RegionWriter(const Array::State& state, const Config& config, const RegionWrite& call, std::uint64_t cells,
               Commits& commits)
      : state_(state),
        config_(config),
        call_(call),
        commits_(commits),
        cells_(cells),
        reading_(config.memory_budget),
        reader_(config_, state.location.store->traits(), state.cache, reading_, nullptr),
        cores_(thread_count(state.config().threads)),
        writer_(config_, waiting_bytes(state.layout, config, cells), reader_,
                state.location.store->traits().parallel_requests > 1 ? &cores_ : nullptr) {
    if (call_.last_look != nullptr) call_.last_look->forget();
  }

  Result<void> write(const Shape& cell, const Region& part) const {
    const auto put = [&]() -> Result<void> {
      const CellAccess at = access_known(cell);
      const WritePiece piece{state_.layout, at.shape, at.valid, part, call_.from, at.first_id};
      if (!piece.covered()) return update(at, piece).in_key(at.key);
      SHERD_TRY(condition, before_replacing(at));
      return replace(at, piece, condition).in_key(at.key);
    };
    return retry_conflicts(config_, put);
  }

 private:
  [[nodiscard]] bool is_plain_shard() const { return state_.layout.shard && !state_.layout.opaque_shard(); }

  /// The part of a chunk inside the array as it was when the call began, and as it was last seen.
  [[nodiscard]] CellAccess access_known(const Shape& cell) const {
    CellAccess at = access(state_, cell, call_.shape);
    if (at.valid == at.shape) return at;
    const Shape now = state_.valid_shape(cell, state_.shape());
    for (std::size_t d = 0; d < now.size(); ++d) at.valid[d] = std::max(at.valid[d], now[d]);
    return at;
  }

  /// Under the object's lock, if there are locks. `conflict` if more of the chunk is inside the array than was known:
  /// elements may have been stored there, so the attempt must start again.
  Result<void> confirm(const CellAccess& at, const Region& part) const {
    if (at.valid == at.shape && !state_.location.store->traits().locks && call_.shown == nullptr) return {};
    SHERD_TRY(shape, state_.confirm());
    if (call_.shown != nullptr) return call_.shown->contains(shape) ? Result<void>() : resized_error(state_);
    if (shape == call_.shape) return {};
    if (call_.replaced == nullptr) SHERD_TRY(check_inside(state_, at.cell, part, shape));
    const Shape valid = state_.valid_shape(at.cell, shape);
    for (std::size_t d = 0; d < valid.size(); ++d)
      if (valid[d] > at.valid[d]) return conflict("the array was made larger while it was written");
    return {};
  }

  /// The condition on which a covered object is replaced: none, unless others may enlarge the array meanwhile and store
  /// elements in the same chunk, and no lock excludes them.
  Result<Condition> before_replacing(const CellAccess& at) const {
    Store& store = *state_.location.store;
    if (at.valid == at.shape || store.traits().locks) return Condition{};
    SHERD_TRY(old, store.open(at.key));
    return unchanged_since(old.get());
  }

  /// Called by each attempt to change an object, before the first request that readers could notice.
  Result<void> begin_change(bool looks_later = false) const {
    SHERD_TRY(call_.wait_for_look());
    const std::uint64_t count = ++changes_;  // also those that are made again
    if (call_.last_look == nullptr || count < cells_) return {};
    if (count == cells_ && !looks_later)
      call_.last_look->begin();
    else
      call_.last_look->forget();
    return {};
  }

  Result<void> commit(std::unique_ptr<ObjectWriter> object, const Condition& condition, const std::string& key) const {
    SHERD_TRY(begin_change());
    return commits_.add(std::move(object), condition, key);
  }

  [[nodiscard]] bool can_erase(const Condition& condition) const {
    return condition.kind != Condition::Kind::matches || state_.location.store->traits().conditional_erase;
  }

  // Rewrites the whole object without reading the old one.
  Result<void> replace(const CellAccess& at, WritePiece piece, const Condition& condition) const {
    Store& store = *state_.location.store;
    piece.has_object = !can_erase(condition);
    const bool is_conditional = condition.kind == Condition::Kind::matches;
    if (is_plain_shard()) {
      SHERD_TRY(object, store.write(at.key, {.size = expected_size(piece), .is_conditional = is_conditional}));
      SHERD_TRY(confirm(at, piece.part));
      SHERD_TRY(present, writer_.to_object(stored_piece(piece), nullptr, *object));
      return present ? commit(std::move(object), condition, at.key) : erase(at.key, condition);
    }
    if (!piece.layout.shard && piece.layout.chain.raw_word_size() != 0) {
      const WritePiece stored = stored_piece(piece);
      if (const auto blocks = Blocks::cut(stored.shape, stored.part, state_.dtype.size())) {
        SHERD_TRY(object,
                  store.write(at.key, {.size = blocks->count() * blocks->bytes(), .is_conditional = is_conditional}));
        SHERD_TRY(confirm(at, piece.part));
        SHERD_TRY(present, writer_.to_raw_object(stored, *blocks, *object));
        return present ? commit(std::move(object), condition, at.key) : erase(at.key, condition);
      }
    }
    const auto share =
        call_.budget.take(ChunkWriter::writing_bytes(piece.layout, piece.shape, false) + 2 * piece.varlen());
    Scratch encoded;
    SHERD_TRY(present, piece.layout.shard ? writer_.to_memory(piece, std::nullopt, *encoded)
                                          : writer_.to_memory_in_turn(piece, *encoded));
    if (!present) return erase_unread(at, piece.part, condition);
    SHERD_TRY(object, store.write(at.key, {.size = encoded->size(), .is_conditional = is_conditional}));
    SHERD_TRY(confirm(at, piece.part));
    SHERD_TRY(object->write(0, encoded->span()));
    return commit(std::move(object), condition, at.key);
  }

  /// Of a shard that is written as a whole; 0 if its chunks are compressed.
  [[nodiscard]] std::uint64_t expected_size(const WritePiece& piece) const {
    const ChunkLayout& inner = *piece.layout.shard->inner;
    if (inner.shard || inner.chain.raw_word_size() == 0) return 0;
    return chunk_bytes(piece.layout, piece.shape) + first_index_bytes(piece.layout, piece.shape, config_.limits);
  }

  // Most chunks with only the fill value were never stored, and a lock costs more than everything else.
  Result<void> erase_unread(const CellAccess& at, const Region& part, const Condition& condition) const {
    Store& store = *state_.location.store;
    if (const auto old = store.open(at.key); old && *old == nullptr) return {};
    SHERD_TRY(object, store.write(at.key));  // for its lock
    SHERD_TRY(confirm(at, part));
    return erase(at.key, condition);
  }

  // Changes a part of the object. Its version is opened before the array's shape is confirmed: without locks, an array
  // that others enlarge in between has elements only in a later version, so the condition fails.
  Result<void> update(const CellAccess& at, WritePiece piece) const {
    Store& store = *state_.location.store;
    // Memory before the lock, as in replace(): otherwise two processes could wait for each other's locks.
    Budget::Share share;
    if (!is_plain_shard())
      share = call_.budget.take(ChunkWriter::writing_bytes(piece.layout, piece.shape, true) + 2 * piece.varlen());
    SHERD_TRY(lock, store.lock(at.key));
    if (auto* const amending = dynamic_cast<AmendingLock*>(lock.get()); amending != nullptr && expects_amend(piece))
      amending->expect_amend();
    SHERD_TRY(old, open_with(store, old_part(at, piece)));
    if (is_plain_shard() && old != nullptr && is_sent_again(store.traits())) {
      SHERD_TRY(size, old->size());
      share = call_.budget.take(2 * size);  // the old version and the new one
    }
    SHERD_TRY(condition, unchanged_since(old.get()));
    SHERD_TRY(confirm(at, piece.part));
    // A new array has no object to compare with, either, so the second look follows.
    SHERD_TRY(begin_change(old == nullptr));
    piece.has_object = !can_erase(condition);
    if (is_plain_shard()) {
      SHERD_TRY(applied, writer_.update(stored_piece(piece), {store, at.key, old.get(), condition}));
      return applied.exists ? note_replaced(condition, std::move(applied.generation)) : erase_rest(at.key, condition);
    }
    Buffer before;
    std::optional<std::span<const std::byte>> bytes;
    if (old != nullptr) {
      SHERD_TRY(whole, read_whole(*old, piece, before));
      bytes = whole;
    }
    Scratch encoded;
    SHERD_TRY(present, writer_.to_memory(piece, bytes, *encoded));
    if (!present) return erase_rest(at.key, condition);
    SHERD_TRY(object, store.write(at.key, {.size = encoded->size(), .is_conditional = true}));
    SHERD_TRY(object->write(0, encoded->span()));
    SHERD_TRY(object->commit(condition));
    return note_replaced(condition, object->committed());
  }

  /// Whether the object is probably amended: large shards are, where that is cheap.
  [[nodiscard]] bool expects_amend(const WritePiece& piece) const {
    const StoreTraits traits = state_.location.store->traits();
    return is_plain_shard() && traits.amend != AmendCost::copy && config_.update != Update::rewrite &&
           chunk_bytes(piece.layout, piece.shape) >= traits.amend_from_bytes;
  }

  /// What an update reads of the old version: the index of a shard, a chunk as a whole.
  [[nodiscard]] ReadRequest old_part(const CellAccess& at, const WritePiece& piece) const {
    ReadRequest request{.key = at.key};
    if (!is_plain_shard()) {
      if (!piece.layout.shard) request.length = limit_plus(piece.layout.max_encoded_size(piece.shape), 1);
      return request;
    }
    const ShardLayout& shard = *piece.layout.shard;
    request.from_end = shard.slots() != nullptr && shard.slots()->location == IndexLocation::end;
    request.length = std::max(first_index_bytes(piece.layout, piece.shape, config_.limits),
                              config_.tail_read_bytes.value_or(state_.location.store->traits().tail_read_bytes));
    return request;
  }

  /// Nothing remains after an update.
  Result<void> erase_rest(const std::string& key, const Condition& condition) const {
    SHERD_TRY(erase_now(key, condition));
    return note_replaced(condition, {});
  }

  Result<void> note_replaced(const Condition& condition, Generation stored) const {
    if (call_.replaced != nullptr) call_.replaced->emplace_back(condition.generation, std::move(stored));
    return {};
  }

  Result<std::span<const std::byte>> read_whole(ByteSource& source, const WritePiece& piece, Buffer& to) const {
    if (const auto bytes = source.view()) return *bytes;
    SHERD_TRY(size, source.size());
    SHERD_TRY(piece.layout.check_object_size(piece.shape, size, config_.limits));
    SHERD_TRY(read_into(source, {0, size}, to));
    return std::span<const std::byte>(to.span());
  }

  Result<void> erase(const std::string& key, const Condition& condition) const {
    SHERD_TRY(begin_change());
    return erase_now(key, condition);
  }

  /// In an update, an absent object stays absent.
  Result<void> erase_now(const std::string& key, const Condition& condition) const {
    if (condition.kind != Condition::Kind::absent) SHERD_TRY(state_.location.store->erase(key, condition));
    return {};
  }

  const Array::State& state_;
  const Config& config_;
  const RegionWrite& call_;
  Commits& commits_;
  const std::uint64_t cells_;
  mutable std::atomic<std::uint64_t> changes_{0};
  mutable ReadBudget reading_;
  const ChunkReader reader_;
  mutable CoreQueue cores_;
  const ChunkWriter writer_;
};

/// Whether a write most likely covers each of its chunks, and there are more of these than cores. Of a box, all are
/// covered if the first and the last are.
bool covers_chunks(const Array::State& state, const Cells& cells, const Shape& array_shape) {
  if (cells.size() <= thread_count(state.config().threads)) return false;
  Shape cell;
  Region part;
  return std::ranges::all_of(std::array{std::uint64_t{0}, cells.size() - 1}, [&](std::uint64_t number) {
    cells.get(number, cell, part);
    return part.covers(state.valid_shape(cell, array_shape));
  });
}

}  // namespace

void LastLook::begin() {
  if (state_.location.store->traits().parallel_requests < 2) return;
  const std::lock_guard hold(mutex_);
  look_ = begin_beside([this] { return state_.confirm(); });
}

void LastLook::forget() {
  const std::lock_guard hold(mutex_);
  look_ = {};
}

Result<Shape> LastLook::get() { return look_.valid() ? look_.get() : state_.confirm(); }

Config writing_config(const Array::State& state, const Config& call, std::uint64_t cells) {
  const ChunkLayout& layout = state.layout;
  const StoreTraits traits = state.location.store->traits();
  // One thread for each request that can be under way, because the requests of a cell depend on previous replies.
  Config config = with_writers(with_requests(call, traits.parallel_requests), traits,
                               {.count = cells, .bytes = chunk_bytes(layout, state.chunks)});
  if (!layout.shard || layout.opaque_shard()) return config;  // such chunks use the budget one by one
  const std::uint64_t most =
      config.memory_budget / (ChunkWriter::thread_bytes(layout) + ChunkWriter::batch_bytes(layout));
  config.threads = static_cast<unsigned>(std::clamp<std::uint64_t>(most, 1, thread_count(config.threads)));
  return config;
}

Result<void> check_inside(const Array::State& state, const Shape& cell, const Region& part, const Shape& array_shape) {
  for (std::size_t d = 0; d < cell.size(); ++d) {
    const AxisPart& axis = part.axes[d];
    if (axis.count == 0) continue;
    std::uint64_t highest = axis.highest();
    for (std::uint64_t i = 0; part.points && i < axis.count; ++i) highest = std::max(highest, axis.coordinate(i));
    const std::uint64_t index = state.grid.axes()[d].begin(cell[d]) + highest;
    if (index >= array_shape[d])
      return invalid_argument("dimension " + std::to_string(d) + ": index " + std::to_string(index) +
                              " is out of bounds for length " + std::to_string(array_shape[d]));
  }
  return {};
}

Result<void> ChunkStorage::write(const Array::State& state, const Region& region, const RegionWrite& call) const {
  const Cells cells(region, state.grid.axes());
  const StoreTraits traits = state.location.store->traits();
  std::atomic<std::uint64_t> done{0};
  const std::uint64_t written = region.element_count() * state.dtype.size();
  Config reporting = with_progress(state.config(), done, written);
  const std::size_t committing = covers_chunks(state, cells, call.shape) ? committing_threads(reporting, traits) : 0;
  if (committing > 0) reporting.threads = thread_count(0);
  Config config = writing_config(state, reporting, cells.size());
  const WriteOrder order(config, traits, cells.size());
  config.missing_is_error = false;  // missing parts of a chunk that is changed are filled
  config.write_empty_chunks = config.write_empty_chunks || stores_fill_values();
  return retry_limited(config, [&]() -> Result<void> {
    done = 0;
    Commits commits(committing);
    const RegionWriter writer(state, config, call, cells.size(), commits);
    return commits.finish(parallel_for(cells.size(), config, [&](std::size_t i) -> Result<void> {
      Shape cell;
      Region part;
      cells.get(order(i), cell, part);
      SHERD_TRY(writer.write(cell, part));
      done.fetch_add(part.element_count() * state.dtype.size(), std::memory_order_relaxed);
      return {};
    }));
  });
}

Result<void> Array::write(const Selection& selection, const ConstAnyView& from) const {
  return write_selected(*this, nullptr, selection, from);
}

namespace {

Error resized_meanwhile(const Shape& now) {
  return invalid_argument("the array was resized in the meantime, to " + to_string(now) +
                          "; try again when its other writers have ended, or raise lock_timeout");
}

/// A look at the array's document costs a round trip, in which chunks are encoded and old ones read.
Result<void> write_while_looking(const Array& array, const Shape* made_for, const Selection& selection,
                                 const ConstAnyView& from) {
  const Array::State& state = array.state();
  const Shape known = made_for != nullptr ? *made_for : state.shape();
  const auto confirm = [&] { return state.confirm(Array::State::Confirmed::attributes); };
  const std::shared_future<Result<Shape>> look = begin_beside(confirm).share();
  const std::function<Result<void>()> looked = [&]() -> Result<void> {
    const Result<Shape>& now = look.get();
    if (!now) return now.error();
    return *now == known ? Result<void>() : resized_error(state);
  };
  auto written = write_confirmed(array, known, selection, from, &looked);
  const Result<Shape>& now = look.get();
  if (!now) return now.error();
  if (*now == known) return written;
  return made_for != nullptr ? resized_meanwhile(*now) : write_confirmed(array, *now, selection, from);
}

}  // namespace

Result<void> write_selected(const Array& array, const Shape* made_for, const Selection& selection,
                            const ConstAnyView& from) {
  const Array::State& state = array.state();
  return as_call(state.config(), [&]() -> Result<void> {
    SHERD_TRY(require_writable(state.location));
    SHERD_TRY(state.check_change());
    if (!state.location.store->traits().locks) return write_while_looking(array, made_for, selection, from);
    SHERD_TRY(array_shape, state.confirm(Array::State::Confirmed::attributes));
    if (made_for != nullptr && *made_for != array_shape) return resized_meanwhile(array_shape);
    return write_confirmed(array, array_shape, selection, from);
  });
}

Result<void> write_confirmed(const Array& array, const Shape& array_shape, const Selection& selection,
                             const ConstAnyView& from, const std::function<Result<void>()>* looked) {
  const Array::State& state = array.state();
  return as_call(state.config(), [&]() -> Result<void> {
    SHERD_TRY(selection.check(array_shape));
    SHERD_TRY(strides, fitting_strides(selection, from.shape, from.strides));
    SHERD_TRY(state.check_elements(from.dtype));
    const SelectedRegion selected(selection);
    const std::uint64_t cells = Cells(selected.region(), state.grid.axes()).size();
    Budget budget(writing_config(state, state.config(), cells).memory_budget);
    const bool looks = !state.location.store->traits().locks;
    LastLook last_look(state);
    SHERD_TRY(state.storage->write(state, selected.region(),
                                   {.from = {from.data, std::move(strides)},
                                    .budget = budget,
                                    .shape = array_shape,
                                    .looked = looked,
                                    .last_look = looks ? &last_look : nullptr}));
    if (!looks) return {};
    SHERD_TRY(now, last_look.get());
    return selection.check(now);
  });
}

}  // namespace sherd
