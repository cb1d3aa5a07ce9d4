#include "store/retry.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "base/call.hpp"
#include "base/try.hpp"

namespace sherd {

Result<void> Backoff::wait() {
  constexpr std::chrono::microseconds kLongest{64'000};
  SHERD_TRY(check_interrupted(interrupted_));
  thread_local std::minstd_rand random(std::random_device{}());
  const auto longest = longest_.count();
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution<std::int64_t>(longest / 2, longest)(random)));
  longest_ = std::min(kLongest, 2 * longest_);
  return {};
}

}  // namespace sherd
