#include "array/stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <new>
#include <string>
#include <utility>

#include "array/array_state.hpp"
#include "array/resize.hpp"
#include "base/call.hpp"
#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "node/consolidated.hpp"

namespace sherd {
namespace {

/// How long an appender waits for a change of shape before it reports a conflict, in seconds.
constexpr double kPatience = 1;
/// How long it waits where other variables of a dataset are extended, in seconds.
constexpr double kPatienceOfDatasets = 30;

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

}  // namespace

Result<std::unique_ptr<Appender::State>> Appender::State::plan(std::span<const StreamMember> members,
                                                               const AppenderOptions& options, const Config& config) {
  for (const StreamMember& member : members) SHERD_TRY(member.array.refresh());
  SHERD_TRY(plans, plan_streams(members, options.queue_bytes));
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uint64_t length = plans[i].shape[plans[i].axis];
    SHERD_TRY(check_resize(members[i].array, plans[i].with_length(checked_add(length, 1).value_or(length))));
  }
  return std::make_unique<State>(members, std::move(plans), options, config);
}

Appender::State::State(std::span<const StreamMember> members, std::vector<StreamPlan> plans,
                       const AppenderOptions& options, const Config& for_calls)
    : config(for_calls),
      auto_flush(options.auto_flush),
      has_two_threads(thread_count(options.threads != 0 ? options.threads : for_calls.threads) > 1),
      process(::getpid()) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    queues.emplace_back(members[i], std::move(plans[i]), options.threads, cancelled);
    StreamQueue* const queue = &queues.back();
    if (widest == nullptr || queue->plan().slice_bytes > widest->plan().slice_bytes) widest = queue;
  }
  for (const bool coordinates : {false, true})
    for (std::size_t i = 0; i < members.size(); ++i)
      if (members[i].is_coordinate == coordinates) shown_in_order.push_back(&queues[i]);
}

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

Result<std::vector<ConstAnyView>> Appender::State::fitted(std::span<const ConstAnyView> slices) const {
  if (slices.size() != queues.size())
    return invalid_argument("slices of " + std::to_string(slices.size()) + " arrays cannot be appended to " +
                            std::to_string(queues.size()));
  std::vector<ConstAnyView> views;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const std::string& path = queues[i].array().path();
    auto view = queues[i].fitted(slices[i]);
    if (!view && group) return std::move(view).error().in("'" + path + "'");
    if (!view) return std::move(view).error();
    const std::uint64_t count = view->shape[queues[i].plan().axis];
    const std::uint64_t first = views.empty() ? count : views.front().shape[queues.front().plan().axis];
    if (count != first)
      return invalid_argument("there are " + std::to_string(count) + " slices of '" + path + "', but " +
                              std::to_string(first) + " of '" + queues.front().array().path() + "'");
    views.push_back(*std::move(view));
  }
  return views;
}

Result<void> Appender::State::check_open() const {
  if (failure) return *failure;
  if (closing) return invalid_argument("the appender is closed");
  return {};
}

/// How many slices all arrays have room for at once.
std::uint64_t Appender::State::room_for(std::span<const ConstAnyView> slices, std::uint64_t first,
                                        std::uint64_t count) {
  std::uint64_t room = count;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const std::uint64_t here = queues[i].room_for(slices[i], first, count, accepted);
    if (here == 0 && !std::exchange(queues[i].starved, true)) changed.notify_all();
    room = std::min(room, here);
  }
  return room;
}

Result<void> Appender::State::copy(Hold& hold, std::span<const ConstAnyView> slices, std::uint64_t first,
                                   std::uint64_t count) {
  const std::uint64_t to = accepted;
  hold.unlock();
  std::vector<StreamVarlen> varlen;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    SHERD_TRY(copied, queues[i].copy(slices[i], first, count, to));
    varlen.push_back(std::move(copied));
  }
  hold.lock();
  if (failure) return *failure;
  for (std::size_t i = 0; i < queues.size(); ++i) queues[i].accept(std::move(varlen[i]));
  accepted += count;
  changed.notify_all();
  return {};
}

Result<void> Appender::State::take(Hold& hold, std::span<const ConstAnyView> slices, std::uint64_t count,
                                   const Deadline& deadline) {
  const auto so_far = [&](std::uint64_t done) {
    return std::to_string(done) + " of " + std::to_string(count) + " slices were accepted";
  };
  for (std::uint64_t done = 0; done < count;) {
    std::uint64_t next = 0;
    const auto has_room = [&] {
      next = room_for(slices, done, count - done);
      return next > 0 || failure || closing;
    };
    const auto since = Clock::now();
    const bool waits = !has_room();
    auto room = waits ? wait(hold, deadline, has_room) : Result<bool>(true);
    if (waits) waited += Clock::now() - since;
    if (!room.has_value()) return std::move(room).error().in(so_far(done));
    if (!*room) return unavailable("the queue of the appender is full: " + so_far(done) + " within the timeout");
    SHERD_TRY(check_open());
    SHERD_TRY(copy(hold, slices, done, next).in([&] { return so_far(done); }));
    done += next;
  }
  return {};
}

/// The threads of a process are not in its children.
Result<void> Appender::State::check_process() const {
  if (process == ::getpid()) return {};
  return unsupported("the appender belongs to the process that this one was forked from; open another one");
}

Result<void> Appender::State::append(std::span<const ConstAnyView> slices, const Deadline& deadline) {
  SHERD_TRY(check_process());
  SHERD_TRY(views, fitted(slices));
  const std::uint64_t count = views.front().shape[queues.front().plan().axis];
  Hold hold(mutex);
  SHERD_TRY(check_open());
  SHERD_TRY(in_turn, wait(hold, deadline, [&] { return !filling || closing; }));
  if (!in_turn) return unavailable("another thread appends: no slices were accepted within the timeout");
  SHERD_TRY(check_open());
  filling = true;
  auto taken = caught([&] { return take(hold, views, count, deadline); });
  if (!hold.owns_lock()) hold.lock();  // out of memory while copying
  filling = false;
  changed.notify_all();
  return taken;
}

Result<void> Appender::State::flush() {
  SHERD_TRY(check_process());
  {
    Hold hold(mutex);
    const std::uint64_t end = accepted;
    wanted = std::max(wanted, end);
    changed.notify_all();
    SHERD_TRY(wait(hold, {}, [&] { return shown >= end || ended; }));
    if (failure) return *failure;
  }
  return caller ? caller->refresh() : Result<void>();
}

Result<void> Appender::State::close() {
  SHERD_TRY(check_process());
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
    const Hold hold(mutex);
    for (StreamQueue& queue : queues) queue.release();
  }
  if (failure) return *failure;
  return caller ? caller->refresh() : Result<void>();
}

Result<void> Appender::State::start() {
  for (StreamQueue& queue : queues) SHERD_TRY(queue.allocate());
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
  Locks locks;
  auto begun = caught([&]() -> Result<void> {
    SHERD_TRY(held, hold_shapes());
    locks = std::move(held);
    return begin_work();
  });
  {
    const Hold hold(mutex);
    started = true;
    if (!begun) failure = std::move(begun).error();
    changed.notify_all();
  }
  if (!failure) store_all();
  locks.clear();
  const Hold hold(mutex);
  ended = true;
  changed.notify_all();
}

void Appender::State::store_all() {
  const auto run_all = [this](bool shows) {
    while (step(shows)) {
    }
  };
  std::thread second;
  try {
    if (has_two_threads) second = std::thread(run_all, false);
  } catch (const std::exception&) {
    // The first thread stores everything.
  }
  run_all(true);
  if (second.joinable()) second.join();
}

Result<Appender::State::Locks> Appender::State::hold_shapes() const {
  Locks locks;
  std::map<std::string, const Array*> arrays;  // in the same order in every stream
  for (const StreamQueue& queue : queues) arrays.emplace(queue.array().state().document_key, &queue.array());
  for (const auto& [key, array] : arrays) {
    Config patient = array->config();
    patient.lock_timeout = std::min(patient.lock_timeout, kPatience);
    const auto since = Clock::now();
    auto lock = as_call(patient, [&] { return lock_shape(*array); });
    const bool has_waited = Clock::now() - since >= std::chrono::duration<double>(patient.lock_timeout);
    if (!lock && lock.error().code() == ErrorCode::unavailable && has_waited)
      return conflict("another appender of the array is open, or its shape is being changed; only one can be at a time")
          .lasting()
          .in_key(key);
    if (!lock) return std::move(lock).error();
    locks.push_back(*std::move(lock));
  }
  return locks;
}

Result<void> Appender::State::begin_work() {
  std::uint64_t longest = 0;
  for (const StreamQueue& queue : queues) {
    SHERD_TRY(queue.array().refresh());
    const Shape now = queue.array().shape();
    const std::uint64_t length = now[queue.plan().axis];
    if (now != queue.plan().with_length(length)) return resized_error(queue.array().state());
    longest = std::max(longest, length);
  }
  bool is_extended = false;
  for (const StreamQueue* queue : shown_in_order) {
    const std::uint64_t length = queue->array().shape()[queue->plan().axis];
    if (length == longest) continue;
    SHERD_TRY(queue->show(length, longest));
    is_extended = true;
  }
  if (is_extended) SHERD_TRY(announce());
  begin = accepted = shown = longest;
  for (StreamQueue& queue : queues) queue.begin_at(longest);
  return {};
}

Appender::State::Step Appender::State::next_step(bool shows) {
  const std::uint64_t flush = closing ? accepted : wanted;
  const std::uint64_t row = widest->plan().object;
  std::uint64_t stored = accepted;
  for (const StreamQueue& queue : queues) stored = std::min(stored, queue.written());
  if (flush > shown && stored >= flush) return shows ? Step{nullptr, {shown, flush}, shown} : Step();
  std::uint64_t until = flush;
  if (flush <= shown && auto_flush) until = floor_to(accepted, row);
  if (flush <= shown && auto_flush && shows && floor_to(stored, row) > shown)
    return {nullptr, {shown, floor_to(stored, row)}, shown};
  Step next;
  for (StreamQueue& queue : queues) {  // the one that is furthest behind
    const StreamQueue::Slices slices = queue.next(accepted, until);
    if (slices.end > slices.first && (next.queue == nullptr || slices.first < next.slices.first))
      next = {&queue, slices, shown};
  }
  return next;
}

/// The error with which the stream ends.
Error Appender::State::ended_by(Error error) const {
  (void)caught([&]() -> Result<void> {  // without memory for it, the error stays as it is
    std::move(error).in("the stream ended at length " + std::to_string(shown) + ", with " +
                        std::to_string(accepted - shown) + " slices that are not stored");
    return {};
  });
  return error;
}

/// Returns false at the end of the stream.
bool Appender::State::step(bool shows) {
  Step next;
  Result<void> done;
  {
    Hold hold(mutex);
    changed.wait(hold, [&] {
      next = next_step(shows);
      return failure || !next.is_empty() || (closing && !filling && shown == accepted);
    });
    if (failure || next.is_empty()) return false;
    if (next.queue != nullptr) done = caught([&] { return next.queue->begin_write(next.slices); });
  }
  if (done) done = caught([&] { return run(next); });
  const Hold hold(mutex);
  if (!done) {
    if (!failure) failure = ended_by(std::move(done).error());
  } else if (next.queue != nullptr) {
    next.queue->end_write(next.slices);
  } else {
    shown = next.slices.end;
    ++flushes;
  }
  changed.notify_all();
  return !failure;
}

Result<void> Appender::State::run(const Step& step) const {
  if (step.queue != nullptr) return step.queue->write(step.slices, step.shown);
  for (const StreamQueue* queue : shown_in_order) SHERD_TRY(queue->show(step.slices.first, step.slices.end));
  return announce();
}

/// After changes of shapes.
Result<void> Appender::State::announce() const {
  if (!group) return renew_consolidated(queues.front().array().state().location);
  Config patient = group->config;
  patient.lock_timeout = std::min(patient.lock_timeout, kPatienceOfDatasets);
  auto listed = as_call(patient, [&] { return group->tables.lengths_changed(*group); });
  // It waits for the locks of this stream if it finds arrays of the stream shorter than their dimension.
  if (!listed && listed.error().code() == ErrorCode::unavailable && group->store->traits().locks)
    return conflict(
               "another writer has appended along the dimension while the stream was open, so its arrays are too short "
               "(" +
               listed.error().message() + ")")
        .lasting();
  SHERD_TRY(std::move(listed));
  std::vector<std::string> paths;
  for (const StreamQueue& queue : queues) paths.push_back(queue.array().path());
  return renew_consolidated_of(*group, paths);
}

std::uint64_t Appender::State::estimate_memory() const {
  std::uint64_t kept = 0, encoding = 0;
  for (const StreamQueue& queue : queues) {
    kept += queue.plan().queue_bytes() + index_bytes(queue.array(), queue.plan());
    encoding = std::max(encoding, encoding_bytes(queue.array(), queue.plan()));  // of one array at a time
  }
  return kept + (has_two_threads ? 2 : 1) * encoding;
}

}  // namespace sherd
