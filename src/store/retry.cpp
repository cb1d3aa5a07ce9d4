#include "store/retry.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "base/call.hpp"
#include "base/try.hpp"

namespace sherd {

Result<void> Backoff::wait(std::chrono::steady_clock::duration attempt) {
  constexpr int kAttemptsPerWait = 8;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(attempt);
  const auto limit = std::max(std::chrono::microseconds(64'000), kAttemptsPerWait * took);
  longest_ = std::max(longest_, took);
  SHERD_TRY(check_interrupted(interrupted_));
  thread_local std::minstd_rand random(std::random_device{}());
  const auto longest = longest_.count();
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution<std::int64_t>(longest / 2, longest)(random)));
  longest_ = std::min(limit, 2 * longest_);
  return {};
}

Result<void> check_patience(const Config& config, std::chrono::steady_clock::time_point since) {
  const std::chrono::duration<double> tried = std::chrono::steady_clock::now() - since;
  if (tried.count() < std::max(config.lock_timeout, 1.0)) return {};
  return unavailable(
      "other writers have changed the object before each attempt of this one; try again when they have ended, or raise "
      "lock_timeout (--lock-timeout)");
}

}  // namespace sherd
