// Trying again after another writer has changed an object, with the same waits and the same end everywhere.
#pragma once

#include "sherd/result.hpp"

namespace sherd {

/// The waits between attempts. Each is about twice as long as the one before, up to 64 ms, and of random length, so
/// that callers that met once do not meet again. All of them together take about half a second.
class Backoff {
 public:
  /// Waits before the next attempt; false without waiting if there have been enough.
  [[nodiscard]] bool wait();

 private:
  static constexpr unsigned kAttempts = 16;
  unsigned made_ = 0;
};

/// Calls `attempt` until it returns something else than `conflict`, or often enough: then it returns that conflict.
/// An attempt must begin from nothing: it opens again what it reads, and has written nothing that stays.
template <class Attempt>
auto retry_conflicts(const Attempt& attempt) -> decltype(attempt()) {
  for (Backoff backoff;;) {
    auto result = attempt();
    if (result || result.error().code() != ErrorCode::conflict || !backoff.wait()) return result;
  }
}

}  // namespace sherd
