// The thread pool: runs loops whose iterations are taken one by one by any free thread.
// There is one pool, started at first use; a forked process gets a new one. The calling thread always works too, so
// a loop inside a loop cannot deadlock, and a single thread needs no pool.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// The number of threads that a call with this setting uses (0: one for each core available to this process).
[[nodiscard]] unsigned thread_count(unsigned wanted) noexcept;

/// Runs body(0) … body(count-1) on up to `config.threads` threads, in a nested loop at most as many as the outer loop
/// has. Returns the error of the lowest index that failed; after the first failure no new iteration begins.
/// config.interrupted is polled on the calling thread. An exception from an iteration or from config.interrupted is
/// rethrown here after all other iterations have ended.
Result<void> parallel_for(std::size_t count, const Config& config,
                          const std::function<Result<void>(std::size_t)>& body);

/// So many threads wait for files at a time, if there are fewer cores.
inline constexpr unsigned kWaitingThreads = 8;
/// parallel_for() for iterations that read files: once the calling thread has waited for most of its time, as many
/// threads join, unless the caller has said how many.
Result<void> parallel_for_files(std::size_t count, const Config& config,
                                const std::function<Result<void>(std::size_t)>& body);

/// Work that is added while other work runs, for a thread that mostly waits. Up to `config.threads` other threads run
/// the tasks, in a nested loop at most as many as the outer loop has; this thread helps whenever it has nothing else to
/// do. Created, used and destroyed by one thread, in a loop or call; tasks may add tasks. After the first failure no
/// task begins.
class Tasks {
 public:
  using Task = std::function<Result<void>()>;

  /// `config` must outlive this.
  explicit Tasks(const Config& config);
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  ~Tasks();

  void add(Task task);
  [[nodiscard]] bool failed() const noexcept;
  /// Runs tasks, or waits for running ones, until `done` (which tasks make true) or a failure.
  void help_until(const std::function<bool()>& done);
  /// Waits for running tasks, drops the others, and returns the first failure. Rethrows an exception from a task or a
  /// hook.
  Result<void> finish();

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// The call's configuration for a loop whose iterations wait for requests: at least `parallel_requests` threads, unless
/// requests have no latency (1).
[[nodiscard]] Config with_requests(const Config& config, unsigned parallel_requests);

/// The call's configuration, with progress reported whenever interruption is polled. All three must outlive its use.
[[nodiscard]] Config with_progress(const Config& config, const std::atomic<std::uint64_t>& done, std::uint64_t total);

/// Bytes in flight. A task reserves the bytes it needs before it allocates them, and releases them when done.
class Budget {
 public:
  explicit Budget(std::uint64_t bytes) noexcept : total_(bytes) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  class Share {
   public:
    Share() = default;
    Share(Budget* budget, std::uint64_t bytes) noexcept : budget_(budget), bytes_(bytes) {}
    Share(Share&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept;
    ~Share() { release(); }
    void release() noexcept;

   private:
    Budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  /// Waits until the bytes are free. A single task may exceed the total when it is alone, because it could never run
  /// otherwise. A thread that holds a share must not request another.
  [[nodiscard]] Share take(std::uint64_t bytes);

 private:
  std::uint64_t total_;
  std::uint64_t used_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
};

}  // namespace sherd
