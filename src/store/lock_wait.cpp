#include "store/lock_wait.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/call.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::seconds kAnnounceAfter{1};
constexpr nanoseconds kShortestPause = std::chrono::microseconds(50), kLongestPause = std::chrono::milliseconds(50);

std::string print_seconds(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3g s", seconds);
  return text.data();
}

}  // namespace

Result<nanoseconds> LockWait::pause() {
  const auto now = Clock::now();
  if (!since_) since_ = now;
  const nanoseconds waited = now - *since_;
  SHERD_TRY(check_interrupted(patience_.interrupted));
  const double timeout = this->timeout();
  if (std::chrono::duration<double>(waited).count() >= timeout)
    return unavailable("another writer holds the lock of '" + object_() + "' (waited " + print_seconds(timeout) +
                       "); try again when it has ended, or raise lock_timeout (--lock-timeout)");
  if (waited >= kAnnounceAfter && !announced_) announce();
  // A quarter of the time waited, so the lock is acquired soon after its release, with few attempts.
  return std::clamp<nanoseconds>(waited / 4, kShortestPause, kLongestPause);
}

double LockWait::timeout() const {
  const Call* const call = Call::current();
  return call != nullptr ? call->lock_timeout() : patience_.timeout;
}

void LockWait::announce() {
  announced_ = true;
  std::string text = "waiting for another writer, which holds the lock of '" + object_() + "'";
  if (Call* const call = Call::current())
    call->notify(std::move(text));
  else if (patience_.notice)
    patience_.notice(text);
}

}  // namespace sherd
