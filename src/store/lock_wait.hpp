// Waiting for a lock: how long, what the user hears of it, and what ends it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// A store's settings for its waits. They apply only outside of calls (base/call.hpp), which have their own; the hooks
/// are called on the thread that waits.
struct LockPatience {
  LockPatience() = default;
  explicit LockPatience(const Config& config)
      : timeout(config.lock_timeout), interrupted(config.interrupted), notice(config.notice) {}

  double timeout = Config{}.lock_timeout;  ///< seconds
  std::function<bool()> interrupted = {};
  std::function<void(const std::string&)> notice = {};
};

/// One wait for one lock; begins with the first pause(), so that a free lock costs nothing.
class LockWait {
 public:
  /// `object` names what is locked, for messages. Both must outlive this.
  LockWait(const LockPatience& patience, const std::function<std::string()>& object)
      : patience_(patience), object_(object) {}

  /// How long to sleep before the lock is tried again: ever longer, up to 50 ms. `unavailable` when the call is
  /// interrupted, or has waited for its time. May call the hooks: the caller must not hold a mutex.
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
