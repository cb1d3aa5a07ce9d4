#include "array/stream_queue.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "array/array_state.hpp"
#include "array/resize.hpp"
#include "array/strided.hpp"
#include "array/varlen.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

Region rows_of(const Shape& shape, std::size_t axis, std::uint64_t first, std::uint64_t count) {
  Region rows;
  for (const std::uint64_t length : shape) rows.axes.push_back({.count = length});
  rows.axes[axis].count = count;
  rows.axes[axis].first = first;
  return rows;
}

}  // namespace

StreamQueue::StreamQueue(const StreamMember& streamed, StreamPlan made, unsigned threads,
                         const std::atomic<bool>& cancelled)
    : plan_(std::move(made)),
      technique_(streamed.technique),
      target_(streamed.array.with_config(streaming_config(streamed, threads, cancelled))),
      completing_(streamed.array.with_config(completing_config(target_.config(), technique_))) {}

std::uint64_t StreamQueue::queued_bytes(std::uint64_t accepted) const noexcept {
  return (accepted - written_) * plan_.slice_bytes + varlen_bytes_;
}

void StreamQueue::release() noexcept {
  ring_.reset();
  varlen_.clear();
  varlen_bytes_ = 0;
}

Result<ConstAnyView> StreamQueue::fitted(const ConstAnyView& slices) const {
  ConstAnyView view = slices;
  if (view.shape.size() + 1 == plan_.shape.size()) {
    view.shape.insert(view.shape.begin() + static_cast<std::ptrdiff_t>(plan_.axis), 1);
    view.strides.insert(view.strides.begin() + static_cast<std::ptrdiff_t>(plan_.axis), 0);
  }
  SHERD_TRY(target_.state().check_elements(view.dtype));
  const bool fits = view.shape.size() == plan_.shape.size() && view.strides.size() == view.shape.size();
  if (!fits || plan_.with_length(view.shape[plan_.axis]) != view.shape)
    return invalid_argument("slices of shape " + to_string(slices.shape) + " cannot be appended to " +
                            to_string(plan_.shape) + " along axis " + std::to_string(plan_.axis));
  return view;
}

std::uint64_t StreamQueue::room_for(const ConstAnyView& slices, std::uint64_t first, std::uint64_t count,
                                    std::uint64_t accepted) const {
  const std::uint64_t room =
      std::min({count, plan_.capacity - (accepted - written_), plan_.capacity - accepted % plan_.capacity});
  if (!plan_.is_variable) return room;
  std::uint64_t used = varlen_bytes_;
  for (std::uint64_t i = 0; i < room; ++i) {
    used += varlen_bytes(rows_of(plan_.shape, plan_.axis, first + i, 1), {slices.data, slices.strides});
    if (used > plan_.varlen_bytes() && accepted + i != written_) return i;
  }
  return room;
}

Result<StreamVarlen> StreamQueue::copy(const ConstAnyView& slices, std::uint64_t first, std::uint64_t count,
                                       std::uint64_t to) {
  const std::size_t size = target_.dtype().size();
  const auto strides = plan_.strides(size);
  std::byte* const place = ring_.data() + to % plan_.capacity * plan_.slice_bytes;
  copy_in(size, place, strides, rows_of(plan_.shape, plan_.axis, first, count), {slices.data, slices.strides});
  StreamVarlen varlen{to + count, {}};
  if (plan_.is_variable)
    SHERD_TRY(own_varlen_bytes(rows_of(plan_.shape, plan_.axis, 0, count), place, strides, varlen.bytes));
  return varlen;
}

void StreamQueue::accept(StreamVarlen varlen) {
  if (!plan_.is_variable) return;
  varlen_bytes_ += varlen.bytes.size();
  varlen_.push_back(std::move(varlen));
}

Result<void> StreamQueue::begin_write(const Slices& slices) {
  under_way_.emplace(slices.first, Write{slices.end});
  return {};
}

void StreamQueue::end_write(const Slices& slices) {
  under_way_.at(slices.first).is_stored = true;
  for (; !under_way_.empty() && under_way_.begin()->second.is_stored; under_way_.erase(under_way_.begin())) {
    written_ = under_way_.begin()->second.end;
    starved = false;
  }
  for (; !varlen_.empty() && varlen_.front().end <= written_; varlen_.pop_front())
    varlen_bytes_ -= varlen_.front().bytes.size();
}

StreamQueue::Slices StreamQueue::next(std::uint64_t accepted, std::uint64_t until) const {
  const std::uint64_t first = is_idle() ? written_ : under_way_.rbegin()->second.end;
  // A row of shards is changed by one write at a time.
  if (!is_idle() && first % plan_.object != 0) return {};
  return {first, next_end(first, accepted, until)};
}

std::uint64_t StreamQueue::next_end(std::uint64_t first, std::uint64_t accepted, std::uint64_t until) const {
  std::uint64_t end = until > first ? until : floor_to(accepted, plan_.object);
  if (is_idle()) {  // otherwise there will be room
    if (end <= first && (starved || accepted - first == plan_.capacity)) end = floor_to(accepted, plan_.chunk);
    if (end <= first && starved) end = accepted;
  }
  if (end <= first) return first;
  end = std::min(end, floor_to(first, plan_.capacity) + plan_.capacity);  // where the ring begins again
  if (first % plan_.object != 0) end = std::min(end, floor_to(first, plan_.object) + plan_.object);
  // At most half of the queue, so that it fills again meanwhile.
  const std::uint64_t half = first + plan_.capacity / 2;
  for (const std::uint64_t unit : {plan_.object, plan_.chunk})
    if (end > half && floor_to(half, unit) > first) end = floor_to(half, unit);
  return end;
}

Box StreamQueue::box_of(std::uint64_t first, std::uint64_t count) const {
  Box box{Shape(plan_.shape.size(), 0), plan_.with_length(count)};
  box.origin[plan_.axis] = first;
  return box;
}

/// If a row of shards begins with this write and is not filled by it: stores zeros at the places of all its chunks.
Result<void> StreamQueue::reserve(const Slices& slices, std::uint64_t shown) const {
  const std::uint64_t row = floor_to(slices.end, plan_.object);
  if (slices.end == row || slices.first > row) return {};
  const Box where = box_of(row, plan_.object);
  const std::vector<std::byte> zero(target_.dtype().size());
  const ConstAnyView zeros{zero.data(), target_.dtype(), where.shape, std::vector<std::int64_t>(where.shape.size(), 0)};
  return write_beyond(target_, plan_.with_length(shown), plan_.with_length(row + plan_.object), where, zeros);
}

Result<void> StreamQueue::write(const Slices& slices, std::uint64_t shown) const {
  const auto& [first, end] = slices;
  const bool completes = first % plan_.object != 0 && end % plan_.object == 0;
  std::uint64_t grown = end;
  if (technique_ == Technique::preallocated) {
    SHERD_TRY(reserve(slices, shown));
    grown = ceil_div(end, plan_.object) * plan_.object;  // so that the zeros beyond are kept
  }
  const Box where = box_of(first, end - first);
  const ConstAnyView view{ring_.data() + first % plan_.capacity * plan_.slice_bytes, target_.dtype(), where.shape,
                          plan_.strides(target_.dtype().size())};
  return write_beyond(completes ? completing_ : target_, plan_.with_length(shown), plan_.with_length(grown), where,
                      view);
}

Result<void> StreamQueue::show(std::uint64_t from, std::uint64_t to) const {
  return resize_from(target_, plan_.with_length(from), plan_.with_length(to));
}

}  // namespace sherd
