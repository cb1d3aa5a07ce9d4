// Retries after another writer has changed an object: the only place that decides about them, and their delays.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// The delays between attempts. Each is about twice the previous one, up to a limit, and of random length, so that
/// callers that collided once do not collide again. They are no shorter than an attempt: of several callers that
/// attempt the same thing all the time, only one succeeds.
class Backoff {
 public:
  /// `interrupted` is asked outside of calls (base/call.hpp) and must outlive this.
  explicit Backoff(const std::function<bool()>& interrupted) : interrupted_(interrupted) {}
  /// Waits before the next attempt, after one that took this long; `unavailable` if the call is interrupted.
  [[nodiscard]] Result<void> wait(std::chrono::steady_clock::duration attempt = {});
  /// The maximum of the next delay; its minimum is half of that.
  [[nodiscard]] std::chrono::microseconds longest() const noexcept { return longest_; }

 private:
  const std::function<bool()>& interrupted_;
  std::chrono::microseconds longest_{250};
};

/// Whether an attempt failed because another writer was first, so that a retry may succeed.
[[nodiscard]] inline bool is_lost_race(const Error& error) noexcept {
  return error.code() == ErrorCode::conflict && !error.is_lasting();
}

/// `unavailable` if Config::lock_timeout, but at least a second, has passed since then.
[[nodiscard]] Result<void> check_patience(const Config& config, std::chrono::steady_clock::time_point since);

/// Calls `attempt`, which changes something, until it returns anything but a `conflict` that a retry may resolve, or
/// the call is interrupted, or Config::lock_timeout has passed. The number of attempts is unlimited, because each
/// conflict means that another writer has made progress. Each attempt must start over: it opens again what it reads,
/// and leaves nothing behind if it fails.
template <class Attempt>
auto retry_conflicts(const Config& config, const Attempt& attempt) -> decltype(attempt()) {
  const auto since = std::chrono::steady_clock::now();
  for (Backoff backoff(config.interrupted);;) {
    const auto began = std::chrono::steady_clock::now();
    auto result = attempt();
    const auto took = std::chrono::steady_clock::now() - began;
    if (result.has_value() || !is_lost_race(result.error())) return result;
    if (auto patient = check_patience(config, since); !patient) return std::move(patient).error();
    if (auto waited = backoff.wait(took); !waited) return std::move(waited).error();
  }
}

/// Retries a limited number of times, for callers such as readers, where retrying makes no progress: a program that
/// changes an object without a pause must not delay them for ever. After some seconds the conflict is returned, as a
/// lasting conflict.
template <class Attempt>
auto retry_limited(const Config& config, const Attempt& attempt) -> decltype(attempt()) {
  constexpr int kMax = 64;
  int made = 0;
  return retry_conflicts(config, [&]() -> decltype(attempt()) {
    auto result = attempt();
    if (!result.has_value() && ++made == kMax) return std::move(result).error().lasting();
    return result;
  });
}

}  // namespace sherd
