// A stream of slices: a queue, and a thread that empties it.
// The queue is a ring of slices. Slice i of the array is at place i mod capacity, and the capacity is a multiple of the
// chunks' length along the axis, so a chunk is always contiguous in memory. The thread stores the oldest slices by one
// write beyond the array's end, and shows them by a change of shape once a flush is complete. It holds the lock of the
// shape from beginning to end.
#include "sherd/appender.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "array/array_state.hpp"
#include "array/resize.hpp"
#include "array/stream_plan.hpp"
#include "array/strided.hpp"
#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "node/consolidated.hpp"

namespace sherd {
namespace {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;

/// How long an appender waits for a change of shape before it reports a conflict, in seconds.
constexpr double kPatience = 1;
constexpr double kLongest = 1e9;

Deadline deadline_after(double seconds) {
  if (seconds > kLongest) return std::nullopt;
  const std::chrono::duration<double> wait(seconds > 0 ? seconds : 0);
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

/// What is thrown becomes an error, because it must leave neither the thread nor a lock.
template <class Run>
Result<void> caught(const Run& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return unavailable("out of memory");
  } catch (const std::exception& error) {
    return io_error(error.what());
  }
}

Region rows_of(const Shape& shape, std::size_t axis, std::uint64_t first, std::uint64_t count) {
  Region rows;
  for (const std::uint64_t length : shape) rows.axes.push_back({.count = length});
  rows.axes[axis].count = count;
  rows.axes[axis].first = first;
  return rows;
}

}  // namespace

struct Appender::State {
  State(const Array& caller, const AppenderOptions& options, StreamPlan made)
      : array(caller),
        plan(std::move(made)),
        technique(options.technique),
        auto_flush(options.auto_flush),
        target(array.with_config(streaming_config(array, options, cancelled))),
        completing(array.with_config(completing_config(target.config(), technique))) {}

  Result<void> start();
  Result<void> append(const ConstAnyView& slices, const Deadline& deadline);
  Result<void> flush();
  Result<void> close();

  std::atomic<bool> cancelled{false};
  const Array array;  ///< the caller's
  const StreamPlan plan;
  const Technique technique;
  const bool auto_flush;
  const Array target, completing;  ///< for the thread
  const pid_t process = ::getpid();
  Buffer ring;
  std::thread thread;
  std::mutex joining;

  mutable std::mutex mutex;  ///< guards what follows
  std::condition_variable changed;
  std::uint64_t begin = 0;  ///< the array's length at the start
  // Numbers of slices of the array: those before it are accepted, written to the store, shown by the stored shape, or
  // to be written and shown together.
  std::uint64_t accepted = 0, written = 0, shown = 0, wanted = 0;
  std::uint64_t flushes = 0;
  Clock::duration waited{};
  bool started = false, filling = false, closing = false, gave_up = false, ended = false;
  std::optional<Error> failure;

 private:
  using Hold = std::unique_lock<std::mutex>;
  template <class Done>
  Result<bool> wait(Hold& hold, const Deadline& deadline, const Done& done);
  Result<ConstAnyView> fitted(const ConstAnyView& slices) const;
  Result<void> check_open() const;
  Result<void> take(Hold& hold, const ConstAnyView& slices, const Deadline& deadline);
  void copy(const ConstAnyView& from, std::uint64_t first, std::uint64_t count, std::uint64_t to);

  void work();
  [[nodiscard]] Result<std::unique_ptr<StoreLock>> hold_shape() const;
  Result<void> begin_work();
  /// What the thread does next: slices to write, and the length to show after that; nothing if both ranges are empty.
  struct Step {
    std::uint64_t from = 0, to = 0, shown = 0, show = 0;
    [[nodiscard]] bool is_empty() const noexcept { return from == to && show == shown; }
  };
  [[nodiscard]] Step next_step() const;
  [[nodiscard]] std::uint64_t next_end(std::uint64_t flush) const;
  bool step();
  Result<void> run(const Step& step) const;
  [[nodiscard]] Result<void> write(const Step& step) const;
  [[nodiscard]] Result<void> reserve(const Step& step) const;
  [[nodiscard]] Box box_of(std::uint64_t first, std::uint64_t count) const;
};

/// Waits for a change until `done`; false if the deadline has passed.
template <class Done>
Result<bool> Appender::State::wait(Hold& hold, const Deadline& deadline, const Done& done) {
  while (!done()) {
    const auto now = Clock::now();
    if (deadline && now >= *deadline) return false;
    const auto next = now + kBetweenPolls;
    changed.wait_until(hold, deadline ? std::min(*deadline, next) : next);
    hold.unlock();  // the hook may wait for a lock of its own
    const auto uninterrupted = check_interrupted();
    hold.lock();
    if (!uninterrupted) return uninterrupted.error();
  }
  return true;
}

Result<ConstAnyView> Appender::State::fitted(const ConstAnyView& slices) const {
  ConstAnyView view = slices;
  if (view.shape.size() + 1 == plan.shape.size()) {
    view.shape.insert(view.shape.begin() + static_cast<std::ptrdiff_t>(plan.axis), 1);
    view.strides.insert(view.strides.begin() + static_cast<std::ptrdiff_t>(plan.axis), 0);
  }
  SHERD_TRY(array.state().check_elements(view.dtype));
  const bool fits = view.shape.size() == plan.shape.size() && view.strides.size() == view.shape.size();
  if (!fits || plan.with_length(view.shape[plan.axis]) != view.shape)
    return invalid_argument("slices of shape " + to_string(slices.shape) + " cannot be appended to " +
                            to_string(plan.shape) + " along axis " + std::to_string(plan.axis));
  return view;
}

Result<void> Appender::State::check_open() const {
  if (failure) return *failure;
  if (closing) return invalid_argument("the appender is closed");
  return {};
}

void Appender::State::copy(const ConstAnyView& from, std::uint64_t first, std::uint64_t count, std::uint64_t to) {
  const std::size_t size = array.dtype().size();
  const auto strides = plan.strides(size);
  copy_in(size, ring.data() + to % plan.capacity * plan.slice_bytes, strides,
          rows_of(plan.shape, plan.axis, first, count), {from.data, from.strides});
}

Result<void> Appender::State::take(Hold& hold, const ConstAnyView& slices, const Deadline& deadline) {
  const std::uint64_t count = slices.shape[plan.axis];
  const auto has_room = [&] { return accepted - written < plan.capacity || failure || closing; };
  const auto so_far = [&](std::uint64_t done) {
    return std::to_string(done) + " of " + std::to_string(count) + " slices were accepted";
  };
  for (std::uint64_t done = 0; done < count;) {
    const auto since = Clock::now();
    const bool waits = !has_room();
    auto room = wait(hold, deadline, has_room);
    if (waits) waited += Clock::now() - since;
    if (!room.has_value()) return std::move(room).error().in(so_far(done));
    if (!*room) return unavailable("the queue of the appender is full: " + so_far(done) + " within the timeout");
    SHERD_TRY(check_open());
    const std::uint64_t next =
        std::min({count - done, plan.capacity - (accepted - written), plan.capacity - accepted % plan.capacity});
    const std::uint64_t to = accepted;
    hold.unlock();
    copy(slices, done, next, to);
    hold.lock();
    accepted += next;
    done += next;
    changed.notify_all();
  }
  return {};
}

Result<void> Appender::State::append(const ConstAnyView& slices, const Deadline& deadline) {
  SHERD_TRY(view, fitted(slices));
  Hold hold(mutex);
  SHERD_TRY(check_open());
  SHERD_TRY(in_turn, wait(hold, deadline, [&] { return !filling || closing; }));
  if (!in_turn) return unavailable("another thread appends: no slices were accepted within the timeout");
  SHERD_TRY(check_open());
  filling = true;
  auto taken = caught([&] { return take(hold, view, deadline); });
  if (!hold.owns_lock()) hold.lock();  // out of memory while copying
  filling = false;
  changed.notify_all();
  return taken;
}

Result<void> Appender::State::flush() {
  {
    Hold hold(mutex);
    const std::uint64_t end = accepted;
    wanted = std::max(wanted, end);
    changed.notify_all();
    SHERD_TRY(wait(hold, {}, [&] { return shown >= end || ended; }));
    if (failure) return *failure;
  }
  return array.refresh();
}

Result<void> Appender::State::close() {
  {
    Hold hold(mutex);
    closing = true;
    changed.notify_all();
    const auto done = wait(hold, {}, [&] { return ended && !filling; });
    gave_up = !done.has_value();
    if (gave_up) return done.error();
  }
  {
    const std::lock_guard once(joining);
    if (thread.joinable()) thread.join();
    ring.reset();
  }
  if (failure) return *failure;
  return array.refresh();
}

Result<void> Appender::State::start() {
  SHERD_TRY(ring.resize(plan.capacity * plan.slice_bytes));
  try {
    thread = std::thread([this] { work(); });
  } catch (const std::exception& error) {
    return unavailable(std::string("the appender's thread cannot be started: ") + error.what());
  }
  Hold hold(mutex);
  changed.wait(hold, [&] { return started; });
  if (failure) return *failure;
  return {};
}

// ---- the thread ----

void Appender::State::work() {
  std::unique_ptr<StoreLock> lock;
  auto begun = caught([&]() -> Result<void> {
    SHERD_TRY(held, hold_shape());
    lock = std::move(held);
    return begin_work();
  });
  {
    const Hold hold(mutex);
    started = true;
    if (!begun) failure = std::move(begun).error();
    changed.notify_all();
  }
  if (!failure)
    while (step()) {
    }
  lock.reset();
  const Hold hold(mutex);
  ended = true;
  changed.notify_all();
}

Result<std::unique_ptr<StoreLock>> Appender::State::hold_shape() const {
  Config patient = target.config();
  patient.lock_timeout = std::min(patient.lock_timeout, kPatience);
  auto lock = as_call(patient, [&] { return lock_shape(target); });
  if (lock || lock.error().code() != ErrorCode::unavailable) return lock;
  return conflict("another appender of the array is open, or its shape is being changed; only one can be at a time")
      .lasting()
      .in_key(target.state().document_key);
}

Result<void> Appender::State::begin_work() {
  SHERD_TRY(target.refresh());
  const Shape now = target.shape();
  if (now != plan.with_length(now[plan.axis])) return resized_error(target.state());
  begin = accepted = written = shown = now[plan.axis];
  return {};
}

/// Where the next write ends; `written` if there is nothing to write. `flush` is where the present flush ends.
std::uint64_t Appender::State::next_end(std::uint64_t flush) const {
  std::uint64_t end = flush > written ? flush : floor_to(accepted, plan.object);
  if (end <= written && accepted - written == plan.capacity) end = floor_to(accepted, plan.chunk);
  if (end <= written) return written;
  end = std::min(end, floor_to(written, plan.capacity) + plan.capacity);  // where the ring begins again
  if (written % plan.object != 0) end = std::min(end, floor_to(written, plan.object) + plan.object);
  // At most half of the queue, so that it fills again meanwhile.
  const std::uint64_t half = written + plan.capacity / 2;
  for (const std::uint64_t unit : {plan.object, plan.chunk})
    if (end > half && floor_to(half, unit) > written) end = floor_to(half, unit);
  return end;
}

Appender::State::Step Appender::State::next_step() const {
  const std::uint64_t flush = closing ? accepted : wanted;
  Step next{written, next_end(flush), shown, shown};
  if (flush > shown) {
    if (next.to >= flush) next.show = flush;
  } else if (auto_flush && next.to % plan.object == 0) {
    next.show = next.to;
  }
  return next;
}

/// Returns false at the end of the stream.
bool Appender::State::step() {
  Step next;
  {
    Hold hold(mutex);
    changed.wait(hold, [&] {
      next = next_step();
      return !next.is_empty() || (closing && !filling);
    });
  }
  if (next.is_empty()) return false;
  auto done = caught([&] { return run(next); });
  const Hold hold(mutex);
  if (done) {
    written = next.to;
    shown = next.show;
    flushes += next.show != next.shown ? 1 : 0;
  } else {
    failure = std::move(done).error().in("the stream ended at length " + std::to_string(shown) + ", with " +
                                         std::to_string(accepted - shown) + " slices that are not stored");
  }
  changed.notify_all();
  return !failure;
}

Box Appender::State::box_of(std::uint64_t first, std::uint64_t count) const {
  Box box{Shape(plan.shape.size(), 0), plan.with_length(count)};
  box.origin[plan.axis] = first;
  return box;
}

/// If a row of shards begins with this write and is not filled by it: stores zeros at the places of all its chunks.
Result<void> Appender::State::reserve(const Step& step) const {
  const std::uint64_t row = floor_to(step.to, plan.object);
  if (step.to == row || step.from > row) return {};
  const Box where = box_of(row, plan.object);
  const std::vector<std::byte> zero(array.dtype().size());
  const ConstAnyView zeros{zero.data(), array.dtype(), where.shape, std::vector<std::int64_t>(where.shape.size(), 0)};
  return write_beyond(target, plan.with_length(step.shown), plan.with_length(row + plan.object), where, zeros);
}

Result<void> Appender::State::write(const Step& step) const {
  const bool completes = step.from % plan.object != 0 && step.to % plan.object == 0;
  std::uint64_t end = step.to;
  if (technique == Technique::preallocated) {
    SHERD_TRY(reserve(step));
    end = ceil_div(end, plan.object) * plan.object;  // so that the zeros beyond are kept
  }
  const Box where = box_of(step.from, step.to - step.from);
  const ConstAnyView slices{ring.data() + step.from % plan.capacity * plan.slice_bytes, array.dtype(), where.shape,
                            plan.strides(array.dtype().size())};
  return write_beyond(completes ? completing : target, plan.with_length(step.shown), plan.with_length(end), where,
                      slices);
}

Result<void> Appender::State::run(const Step& step) const {
  if (step.from != step.to) SHERD_TRY(write(step));
  if (step.show == step.shown) return {};
  SHERD_TRY(resize_from(target, plan.with_length(step.shown), plan.with_length(step.show)));
  return renew_consolidated(target.state().location);
}

// ---- the public face ----

Appender::Appender(std::unique_ptr<State> state) : state_(std::move(state)) {}
Appender::Appender(Appender&&) noexcept = default;
Appender& Appender::operator=(Appender&& other) noexcept {
  if (this == &other) return *this;
  end();
  state_ = std::move(other.state_);
  return *this;
}
Appender::~Appender() { end(); }

void Appender::end() noexcept {
  if (!state_) return;
  if (state_->process != ::getpid()) return static_cast<void>(state_.release());  // its thread is the parent's
  {
    const std::lock_guard hold(state_->mutex);
    state_->closing = true;
    if (state_->gave_up) state_->cancelled = true;
    state_->changed.notify_all();
  }
  if (state_->thread.joinable()) state_->thread.join();
  state_.reset();
}

Result<void> Appender::append(const ConstAnyView& slices, double timeout) {
  const Deadline deadline = deadline_after(timeout);
  return as_call(state_->array.config(), [&] { return state_->append(slices, deadline); });
}

Result<void> Appender::flush() {
  return as_call(state_->array.config(), [&] { return state_->flush(); });
}

Result<void> Appender::close() {
  return as_call(state_->array.config(), [&] { return state_->close(); });
}

Appender::Stats Appender::stats() const {
  const State& state = *state_;
  const std::lock_guard hold(state.mutex);
  return {.appended = state.accepted - state.begin,
          .stored = state.shown - state.begin,
          .length = state.shown,
          .queued_bytes = state.failure ? 0 : (state.accepted - state.written) * state.plan.slice_bytes,
          .queue_bytes = state.plan.capacity * state.plan.slice_bytes,
          .flushes = state.flushes,
          .waited = std::chrono::duration<double>(state.waited).count()};
}

std::uint64_t Appender::estimate_memory() const { return streaming_bytes(state_->target, state_->plan); }

Result<ConstAnyView> Appender::dense(const std::byte* data, DType dtype, std::size_t elements) const {
  const StreamPlan& plan = state_->plan;
  const std::uint64_t of_slice = *element_count(plan.with_length(1));
  if (elements % of_slice != 0)
    return invalid_argument("the span has " + std::to_string(elements) + " elements, a slice " +
                            std::to_string(of_slice));
  return ConstAnyView::dense(data, std::move(dtype), plan.with_length(elements / of_slice));
}

Result<Appender> Array::appender(const AppenderOptions& options) const {
  SHERD_TRY(refresh());
  SHERD_TRY(plan, plan_stream(*this, options));
  const std::uint64_t length = plan.shape[plan.axis];
  SHERD_TRY(check_resize(*this, plan.with_length(checked_add(length, 1).value_or(length))));
  auto state = std::make_unique<Appender::State>(*this, options, std::move(plan));
  Appender made(std::move(state));
  SHERD_TRY(made.state_->start());
  return made;
}

}  // namespace sherd
