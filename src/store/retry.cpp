#include "store/retry.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace sherd {

bool Backoff::wait() {
  constexpr unsigned kLongestMicroseconds = 64000;
  if (++made_ >= kAttempts) return false;
  const unsigned longest = std::min(kLongestMicroseconds, 500U << std::min(made_, 10U));
  thread_local std::minstd_rand random(std::random_device{}());
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution<unsigned>(longest / 2, longest)(random)));
  return true;
}

}  // namespace sherd
