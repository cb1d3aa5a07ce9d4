// Trying again after another writer has changed an object: decided here only, and how long it waits between attempts.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// The waits between attempts. Each is about twice as long as the one before, up to 64 ms, and of random length, so
/// that callers that met once do not meet again.
class Backoff {
 public:
  /// `interrupted` is asked outside of calls (base/call.hpp) and must outlive this.
  explicit Backoff(const std::function<bool()>& interrupted) : interrupted_(interrupted) {}
  /// Waits before the next attempt; `unavailable` if the call is interrupted.
  [[nodiscard]] Result<void> wait();
  /// The longest that the next wait can be; the shortest is half of it.
  [[nodiscard]] std::chrono::microseconds longest() const noexcept { return longest_; }

 private:
  const std::function<bool()>& interrupted_;
  std::chrono::microseconds longest_{250};
};

/// Whether an attempt has failed because another writer was faster, so that a new one may succeed.
[[nodiscard]] inline bool is_lost_race(const Error& error) noexcept {
  return error.code() == ErrorCode::conflict && !error.is_lasting();
}

/// Calls `attempt`, which changes something, until it returns anything but a `conflict` that a new attempt may resolve,
/// or the call is interrupted. The number of attempts has no limit: each conflict means that another writer has made
/// progress. An attempt must start over: it opens again what it reads, and leaves nothing behind if it fails.
template <class Attempt>
auto retry_conflicts(const Config& config, const Attempt& attempt) -> decltype(attempt()) {
  for (Backoff backoff(config.interrupted);;) {
    auto result = attempt();
    if (result.has_value() || !is_lost_race(result.error())) return result;
    if (auto waited = backoff.wait(); !waited) return std::move(waited).error();
  }
}

/// The same for a limited number of attempts. A program that changes an object without a pause must not keep the caller
/// for ever where that means no progress, as for readers: after some seconds the conflict is the answer, and a lasting
/// one.
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
