// The slices of one array that wait to be stored, and how they are stored.
// A ring: slice i of the array is at place i mod capacity, and the capacity is a multiple of the chunks' length along
// the axis, so a chunk is always contiguous in memory. What variable-length elements point to is in blocks of their
// own, one for each time that slices were accepted.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>

#include "array/stream_plan.hpp"
#include "base/buffer.hpp"

namespace sherd {

/// The bytes of variable-length elements of the slices before `end`.
struct StreamVarlen {
  std::uint64_t end = 0;
  Buffer bytes;
};

/// All lengths are numbers of slices of the array. The appender's mutex guards functions that are not said to be called
/// without it.
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
  Result<StreamVarlen> copy(const ConstAnyView& slices, std::uint64_t first, std::uint64_t count, std::uint64_t to);
  void accept(StreamVarlen varlen);

  /// Slices of this array that are written together.
  struct Slices {
    std::uint64_t first = 0, end = 0;
  };
  /// What is written next; empty if there is nothing, or if it must wait for a write that is under way. `until` is
  /// where the present flush ends.
  [[nodiscard]] Slices next(std::uint64_t accepted, std::uint64_t until) const;
  Result<void> begin_write(const Slices& slices);
  /// Stores the slices beyond the end of the array, whose length was `shown` when the write began. Without the mutex;
  /// several threads at a time.
  [[nodiscard]] Result<void> write(const Slices& slices, std::uint64_t shown) const;
  /// The room of slices is free once all slices before them are stored, too.
  void end_write(const Slices& slices);
  [[nodiscard]] bool is_idle() const noexcept { return under_way_.empty(); }
  /// Slices before it were in the store before.
  void begin_at(std::uint64_t length) noexcept { written_ = length; }
  /// Slices before it are in the store.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  /// Changes the length of the array. Without the mutex, on the appender's thread.
  [[nodiscard]] Result<void> show(std::uint64_t from, std::uint64_t to) const;

  bool starved = false;  ///< a caller waits for room

 private:
  struct Write {
    std::uint64_t end = 0;
    bool is_stored = false;
  };
  [[nodiscard]] std::uint64_t next_end(std::uint64_t first, std::uint64_t accepted, std::uint64_t until) const;
  [[nodiscard]] Result<void> reserve(const Slices& slices, std::uint64_t shown) const;
  [[nodiscard]] Box box_of(std::uint64_t first, std::uint64_t count) const;

  const StreamPlan plan_;
  const Technique technique_;
  const Array target_, completing_;
  Buffer ring_;
  std::deque<StreamVarlen> varlen_;
  std::uint64_t varlen_bytes_ = 0;  ///< of varlen_
  std::uint64_t written_ = 0;
  std::map<std::uint64_t, Write> under_way_;  ///< by their first slices; each begins where the one before ends
};

}  // namespace sherd
