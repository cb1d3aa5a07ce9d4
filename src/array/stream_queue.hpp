// The slices of one array that wait to be stored, and how they are stored.
// A ring: slice i of the array is at place i mod capacity, and the capacity is a multiple of the chunks' length along
// the axis, so a chunk is always contiguous in memory. What variable-length elements point to is in blocks of their
// own, one for each time that slices were accepted.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "array/stream_plan.hpp"
#include "base/buffer.hpp"

namespace sherd {

/// The bytes of variable-length elements of the slices before `end`.
struct StreamText {
  std::uint64_t end = 0;
  Buffer bytes;
};

/// All lengths are numbers of slices of the array. The appender's mutex guards `written` and functions that are not
/// said to be called without it.
class StreamQueue {
 public:
  StreamQueue(const StreamMember& streamed, StreamPlan made, unsigned threads, const std::atomic<bool>& cancelled);

  [[nodiscard]] const StreamPlan& plan() const noexcept { return plan_; }
  /// The array with the settings of the thread that stores slices.
  [[nodiscard]] const Array& array() const noexcept { return target_; }
  [[nodiscard]] std::uint64_t queued_bytes(std::uint64_t accepted) const noexcept;

  Result<void> allocate() { return ring_.resize(plan_.capacity * plan_.slice_bytes); }
  void release() noexcept;

  /// The slices with the axis, of any number. Without the mutex.
  [[nodiscard]] Result<ConstAnyView> fitted(const ConstAnyView& slices) const;
  /// How many of the slices [first, first + count) can be accepted now, at places that follow each other. At least one
  /// if the queue is empty, however long its elements are.
  [[nodiscard]] std::uint64_t room_for(const ConstAnyView& slices, std::uint64_t first, std::uint64_t count,
                                       std::uint64_t accepted) const;
  /// Copies slices [first, first + count) to the place of slice `to`. Without the mutex; only one thread at a time.
  Result<StreamText> copy(const ConstAnyView& slices, std::uint64_t first, std::uint64_t count, std::uint64_t to);
  void accept(StreamText text);

  /// Where the next write ends; `written` if there is nothing to write. `until` is where the present flush ends.
  [[nodiscard]] std::uint64_t next_end(std::uint64_t accepted, std::uint64_t until) const;
  /// Stores slices [written, end) beyond the end of the array, whose length is `shown`. Without the mutex, on the
  /// appender's thread.
  [[nodiscard]] Result<void> write(std::uint64_t end, std::uint64_t shown) const;
  /// Slices up to `end` are written.
  void free_before(std::uint64_t end);
  /// Changes the length of the array. Without the mutex, on the appender's thread.
  [[nodiscard]] Result<void> show(std::uint64_t from, std::uint64_t to) const;

  std::uint64_t written = 0;  ///< slices before it are in the store
  bool starved = false;       ///< a caller waits for room

 private:
  [[nodiscard]] Result<void> reserve(std::uint64_t end, std::uint64_t shown) const;
  [[nodiscard]] Box box_of(std::uint64_t first, std::uint64_t count) const;

  const StreamPlan plan_;
  const Technique technique_;
  const Array target_, completing_;
  Buffer ring_;
  std::deque<StreamText> texts_;
  std::uint64_t text_bytes_ = 0;  ///< of texts_
};

}  // namespace sherd
