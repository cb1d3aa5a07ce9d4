// A stream of slices: queues, one for each array, and threads that empty them (array/stream_queue.hpp).
// They store the oldest slices by writes beyond the arrays' ends: two at a time, of different arrays or of different
// rows of shards, so that one is encoded while the other waits for the store. The first thread shows slices by changes
// of shape once all of a flush are stored: those of coordinates last, so that no array is shorter than its coordinate.
// It holds the locks of all shapes from beginning to end. If it is killed between two of these changes, the
// slices are stored in all arrays; so the next stream gives all of them the length of the longest.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "array/stream_queue.hpp"
#include "node/node_location.hpp"
#include "sherd/appender.hpp"

namespace sherd {

struct Appender::State {
  using Clock = std::chrono::steady_clock;
  using Deadline = std::optional<Clock::time_point>;

  static Result<std::unique_ptr<State>> plan(std::span<const StreamMember> members, const AppenderOptions& options,
                                             const Config& config);
  State(std::span<const StreamMember> members, std::vector<StreamPlan> plans, const AppenderOptions& options,
        const Config& for_calls);

  Result<void> start();
  Result<void> append(std::span<const ConstAnyView> slices, const Deadline& deadline);
  Result<void> flush();
  Result<void> close();
  [[nodiscard]] std::uint64_t estimate_memory() const;

  std::atomic<bool> cancelled{false};
  const Config config;  ///< of calls
  const bool auto_flush, has_two_threads;
  std::optional<Array> caller = {};        ///< whose handle gets the new shape
  std::optional<NodeLocation> group = {};  ///< of several arrays
  std::deque<StreamQueue> queues;          ///< in the order of the caller; they do not move
  std::vector<StreamQueue*> shown_in_order;
  const StreamQueue* widest = nullptr;  ///< that of the largest slices
  const pid_t process;
  std::thread thread;
  std::mutex joining;

  mutable std::mutex mutex;  ///< guards what follows, and the queues
  std::condition_variable changed;
  std::uint64_t begin = 0;  ///< the arrays' length at the start
  // Numbers of slices of the arrays: those before it are accepted, shown by the stored shapes, or to be stored and
  // shown together.
  std::uint64_t accepted = 0, shown = 0, wanted = 0;
  std::uint64_t flushes = 0;
  Clock::duration waited{};
  bool started = false, filling = false, closing = false, gave_up = false, ended = false;
  std::optional<Error> failure;

 private:
  using Hold = std::unique_lock<std::mutex>;
  template <class Done>
  Result<bool> wait(Hold& hold, const Deadline& deadline, const Done& done);
  [[nodiscard]] Result<std::vector<ConstAnyView>> fitted(std::span<const ConstAnyView> slices) const;
  [[nodiscard]] Result<void> check_process() const;
  [[nodiscard]] Result<void> check_open() const;
  [[nodiscard]] std::uint64_t room_for(std::span<const ConstAnyView> slices, std::uint64_t first, std::uint64_t count);
  Result<void> take(Hold& hold, std::span<const ConstAnyView> slices, std::uint64_t count, const Deadline& deadline);
  Result<void> copy(Hold& hold, std::span<const ConstAnyView> slices, std::uint64_t first, std::uint64_t count);

  using Locks = std::vector<std::unique_ptr<StoreLock>>;
  void work();
  void store_all();
  [[nodiscard]] Result<Locks> hold_shapes() const;
  Result<void> begin_work();
  /// What a thread does next: write slices of an array, or show all arrays up to `slices.end`.
  struct Step {
    StreamQueue* queue = nullptr;
    StreamQueue::Slices slices;  ///< all arrays are shown up to `first`
    std::uint64_t shown = 0;     ///< the length of the arrays when the step begins
    [[nodiscard]] bool is_empty() const noexcept { return slices.first == slices.end; }
  };
  /// The thread that holds the locks shows slices; any of them writes.
  [[nodiscard]] Step next_step(bool shows);
  bool step(bool shows);
  [[nodiscard]] Error ended_by(Error error) const;
  [[nodiscard]] Result<void> run(const Step& step) const;
  [[nodiscard]] Result<void> announce() const;
};

}  // namespace sherd
