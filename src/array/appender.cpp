// Appenders of arrays and groups; array/stream.hpp explains how they work.
#include "sherd/appender.hpp"

#include <unistd.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/nodes.hpp"
#include "array/stream.hpp"
#include "base/call.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "node/document.hpp"

namespace sherd {
namespace {

constexpr double kLongest = 1e9;

/// Until when a call waits; nullopt: as long as needed.
std::optional<std::chrono::steady_clock::time_point> deadline_after(double seconds) {
  using Clock = std::chrono::steady_clock;
  if (seconds > kLongest) return std::nullopt;
  const std::chrono::duration<double> wait(seconds > 0 ? seconds : 0);
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

/// The name of the dimension along which slices are appended.
std::optional<std::string> dimension_of(const StreamMember& member) {
  auto names = member.array.dimension_names();
  return member.axis < names.size() ? std::move(names[member.axis]) : std::nullopt;
}

/// The arrays of a group's stream, whose axes must have the same dimension as far as dimensions have names. A
/// coordinate is one-dimensional, and has the name of its dimension if that has a name.
Result<std::vector<StreamMember>> members_among(const Group& group, const std::vector<AppendedArray>& arrays,
                                                Technique technique) {
  std::vector<StreamMember> members;
  std::set<std::string> paths;
  std::optional<std::string> known;
  for (const auto& [path, axis] : arrays) {
    SHERD_TRY(node, group.open(path));
    const auto* const array = std::get_if<Array>(&node);
    if (array == nullptr) return invalid_argument("'" + path + "' is a group");
    if (!paths.insert(array->path()).second) return invalid_argument("'" + path + "' is listed twice");
    StreamMember member{*array, axis, technique};
    const auto dimension = dimension_of(member);
    if (dimension && known.value_or(*dimension) != *dimension)
      return invalid_argument("axis " + std::to_string(axis) + " of '" + path + "' is the dimension '" + *dimension +
                              "', that of other arrays is '" + *known + "'");
    if (dimension) known = dimension;
    member.is_coordinate = array->ndim() == 1 && (!dimension || *dimension == last_segment(array->path()));
    if (member.is_coordinate) member.technique = Technique::automatic;
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace

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
  return append(std::vector{slices}, timeout);
}

Result<void> Appender::append(const std::vector<ConstAnyView>& slices, double timeout) {
  if (!(timeout >= 0)) return invalid_argument("the timeout must be 0 or more seconds");
  const auto deadline = deadline_after(timeout);
  return as_call(state_->config, [&] { return state_->append(slices, deadline); });
}

Result<void> Appender::flush() {
  return as_call(state_->config, [&] { return state_->flush(); });
}

Result<void> Appender::close() {
  return as_call(state_->config, [&] { return state_->close(); });
}

Appender::Stats Appender::stats() const {
  const State& state = *state_;
  const std::lock_guard hold(state.mutex);
  Stats stats{.appended = state.accepted - state.begin,
              .stored = state.shown - state.begin,
              .length = state.shown,
              .flushes = state.flushes,
              .waited = std::chrono::duration<double>(state.waited).count()};
  for (const StreamQueue& queue : state.queues) {
    if (!state.failure) stats.queued_bytes += queue.queued_bytes(state.accepted);
    stats.queue_bytes += queue.plan().queue_bytes();
  }
  return stats;
}

std::uint64_t Appender::estimate_memory() const { return state_->estimate_memory(); }

Result<ConstAnyView> Appender::dense(const std::byte* data, DType dtype, std::size_t elements) const {
  const StreamPlan& plan = state_->queues.front().plan();
  const std::uint64_t of_slice = *element_count(plan.with_length(1));
  if (elements % of_slice != 0)
    return invalid_argument("the span has " + std::to_string(elements) + " elements, a slice " +
                            std::to_string(of_slice));
  return ConstAnyView::dense(data, std::move(dtype), plan.with_length(elements / of_slice));
}

Result<Appender> Array::appender(const AppenderOptions& options) const {
  const StreamMember member{*this, options.axis, options.technique};
  SHERD_TRY(state, Appender::State::plan({&member, 1}, options, config()));
  Appender made(std::move(state));
  made.state_->caller = *this;
  SHERD_TRY(made.state_->start());
  return made;
}

Result<Appender> Group::appender(const std::vector<AppendedArray>& arrays, const AppenderOptions& options) const {
  if (arrays.empty()) return invalid_argument("at least one array is appended to").in_member("arrays");
  NodeLocation location = location_of(*this);
  SHERD_TRY(require_writable(location));
  SHERD_TRY(as_call(config(), [&] { return location.tables.lengths_changed(location); }));
  SHERD_TRY(members, members_among(*this, arrays, options.technique).in_member("arrays"));
  SHERD_TRY(state, Appender::State::plan(members, options, config()));
  location.config = state->queues.front().array().config();
  state->group = std::move(location);
  Appender made(std::move(state));
  SHERD_TRY(made.state_->start());
  return made;
}

}  // namespace sherd
