// The engine call that a thread works for. Code that waits or computes for long asks it whether to continue, on any
// thread and at any depth. The pool passes it from the calling thread to its workers.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sherd/options.hpp"
#include "sherd/result.hpp"
#include "sherd/store.hpp"  // call_interrupted()

namespace sherd {

/// The interval at which a waiting thread polls.
inline constexpr std::chrono::milliseconds kBetweenPolls{20};

/// Lives on the calling thread's stack from the start of the outermost parallel loop or as_call() to its end. A user's
/// hooks are called on that thread only; other threads see the outcome.
class Call {
 public:
  explicit Call(const Config& config) noexcept : lock_timeout_(config.lock_timeout), hooks_(&config) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// The call that this thread works for; nullptr outside of calls.
  [[nodiscard]] static Call* current() noexcept;
  /// Whether this thread made the current call itself.
  [[nodiscard]] static bool is_caller() noexcept;

  /// Whether the call should end. Polls Config::interrupted on the calling thread, at most once per kBetweenPolls. An
  /// exception from the hook counts as an interrupt, and is rethrown at the end of the outermost loop.
  [[nodiscard]] bool interrupted();
  /// Config::lock_timeout of the handle that the call was made on.
  [[nodiscard]] double lock_timeout() const noexcept { return lock_timeout_; }
  /// Passes a sentence to Config::notice: at once or, from another thread, at the next poll of the calling thread.
  void notify(std::string text);
  /// Returns an exception thrown by a hook, once.
  [[nodiscard]] std::exception_ptr take_thrown() noexcept { return std::exchange(thrown_, nullptr); }

  /// During its lifetime, also polls the hooks of an inner loop, if any. No effect on other threads.
  class Hooks {
   public:
    Hooks(Call& call, const Config& config) noexcept : call_(is_caller() ? &call : nullptr), outer_(nullptr) {
      if (call_ != nullptr) outer_ = std::exchange(call.hooks_, config.interrupted ? &config : call.hooks_);
    }
    Hooks(const Hooks&) = delete;
    Hooks& operator=(const Hooks&) = delete;
    ~Hooks() {
      if (call_ != nullptr) call_->hooks_ = outer_;
    }

   private:
    Call* call_;
    const Config* outer_;
  };

  /// The value of current() on this thread, until this is destroyed.
  class Working {
   public:
    Working(Call& call, bool is_caller) noexcept;
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;
    ~Working();

   private:
    Call* outer_;
    bool was_caller_;
  };

 private:
  void deliver();

  const double lock_timeout_;
  const Config* hooks_;  // calling thread only
  std::exception_ptr thrown_;
  std::atomic<bool> interrupted_{false};
  std::atomic<bool> has_notices_{false};
  std::mutex mutex_;  // guards the notices
  std::vector<std::string> notices_;
};

/// Begins `work` on another thread, for the call that this thread works for. If no thread can be started, get() does
/// it.
template <class Work>
[[nodiscard]] std::future<std::invoke_result_t<Work>> begin_beside(Work work) {
  return std::async(std::launch::async | std::launch::deferred, [call = Call::current(), work = std::move(work)] {
    if (call == nullptr) return work();
    const Call::Working working(*call, false);
    return work();
  });
}

/// `unavailable` if the call that this thread works for should end; outside of calls, if the hook says so.
Result<void> check_interrupted(const std::function<bool()>& hook = {});

/// Runs `body` on this thread. Unless it is already part of a call, it becomes a call of `config`, so that waits for
/// locks use the handle's settings, regardless of how the store was opened.
template <class Body>
std::invoke_result_t<Body&> as_call(const Config& config, Body&& body) {
  if (Call::current() != nullptr) return body();
  Call call(config);
  auto outcome = [&] {
    const Call::Working working(call, true);
    return body();
  }();
  if (const auto thrown = call.take_thrown()) std::rethrow_exception(thrown);
  return outcome;
}

/// True at most once per kBetweenPolls on each thread, so that many short loops do not all poll.
[[nodiscard]] bool poll_is_due() noexcept;

}  // namespace sherd
