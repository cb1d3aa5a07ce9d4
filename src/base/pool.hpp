// The thread pool: loops whose iterations are taken one by one by any free thread.
// There is one pool, started at first use; a process that forks gets a fresh one. The calling thread always works
// too, so a loop inside a loop cannot deadlock and one thread needs no pool at all.
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

/// The threads that a call with this setting uses (0: one for each core that this process may use).
[[nodiscard]] unsigned thread_count(unsigned wanted) noexcept;

/// Runs body(0) … body(count-1) on up to `config.threads` threads, inside another loop at most as many as that has, and
/// returns the error of the lowest index that failed; after the first failure no new iteration begins.
/// config.interrupted is polled on the calling thread. What an iteration or config.interrupted throws is thrown from
/// here once all others have ended.
Result<void> parallel_for(std::size_t count, const Config& config,
                          const std::function<Result<void>(std::size_t)>& body);

/// Work that is added while other work runs, for a thread that mostly waits: up to `config.threads` other threads run
/// the tasks, inside a loop at most as many as that has, and this thread does so whenever it would have nothing else to
/// do. Made, used and destroyed by one thread, in a loop or call; tasks may add tasks. After the first failure no task
/// begins.
class Tasks {
 public:
  using Task = std::function<Result<void>()>;

  /// `config` must outlive this.
  explicit Tasks(const Config& config);
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  ~Tasks();

  void add(Task task);
  /// To be run before all others that wait.
  void add_first(Task task);
  [[nodiscard]] bool failed() const noexcept;
  /// Runs tasks, or waits for those that run, until `done`, which tasks make true, or a failure.
  void help_until(const std::function<bool()>& done);
  /// Waits for the tasks that run, drops the others, and returns the first failure. What a task or a hook threw is
  /// thrown from here.
  Result<void> finish();

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// The call's configuration for a loop whose iterations wait for requests: `parallel_requests` threads at least, unless
/// requests have no latency (1).
[[nodiscard]] Config with_requests(const Config& config, unsigned parallel_requests);

/// The call's configuration with progress reported whenever interruption is polled. All three must outlive its use.
[[nodiscard]] Config with_progress(const Config& config, const std::atomic<std::uint64_t>& done, std::uint64_t total);

/// Bytes in flight. A task reserves what it needs before it allocates and releases it when done.
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

  /// Waits until the bytes are free. One task alone may exceed the total (it could never run otherwise).
  /// A thread that holds a share must not ask for another.
  [[nodiscard]] Share take(std::uint64_t bytes);

 private:
  std::uint64_t total_;
  std::uint64_t used_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
};

}  // namespace sherd
