#include "base/core_queue.hpp"

namespace sherd {

CoreQueue::Core CoreQueue::take(std::uint64_t number) {
  std::binary_semaphore turn(0);
  {
    const std::lock_guard hold(mutex_);
    if (free_ > 0) {
      --free_;
      return Core(*this);
    }
    waiting_.emplace(number, &turn);
  }
  turn.acquire();  // the core is handed over, so that no later thread takes it before
  return Core(*this);
}

std::size_t CoreQueue::waiting() const {
  const std::lock_guard hold(mutex_);
  return waiting_.size();
}

void CoreQueue::release() {
  const std::lock_guard hold(mutex_);
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  // Within the lock: the semaphore ends with the thread's turn.
  const auto first = waiting_.begin();
  first->second->release();
  waiting_.erase(first);
}

}  // namespace sherd
