// Waiting for a lock: how long, what is reported to the user, and what ends the wait.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// A store's settings for its waits. They apply only outside of calls (base/call.hpp), which have their own; the hooks
/// are called on the waiting thread.
struct LockPatience {
  LockPatience() = default;
  explicit LockPatience(const Config& config)
      : timeout(config.lock_timeout), interrupted(config.interrupted), notice(config.notice) {}

  double timeout = Config{}.lock_timeout;  ///< seconds
  std::function<bool()> interrupted = {};
  std::function<void(const std::string&)> notice = {};
};

/// One wait for one lock. It begins with the first pause(), so a free lock costs nothing.
class LockWait {
 public:
  /// `object` returns the name of what is locked, for messages. Both must outlive this.
  LockWait(const LockPatience& patience, const std::function<std::string()>& object)
      : patience_(patience), object_(object) {}

  /// How long to sleep before trying the lock again: increasing, up to 50 ms. `unavailable` if the call is interrupted
  /// or the timeout has passed. May call the hooks, so the caller must not hold a mutex.
  Result<std::chrono::nanoseconds> pause();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] double timeout() const;
  void announce();

  const LockPatience& patience_;
  const std::function<std::string()>& object_;
  std::optional<Clock::time_point> since_;
  bool announced_ = false;
};

}  // namespace sherd
