#include "store/commits.hpp"

#include <utility>

#include "base/call.hpp"
#include "base/try.hpp"

namespace sherd {

// Reserved at once: an allocation that fails later could forget a thread that has begun.
Commits::Commits(std::size_t threads) : threads_(threads) {
  waiting_.reserve(threads);
  workers_.reserve(threads);
}

Commits::~Commits() {
  {
    const std::lock_guard hold(mutex_);
    waiting_.clear();
  }
  end();
}

Result<void> Commits::add(std::unique_ptr<ObjectWriter> object, const Condition& condition, std::string key) {
  {
    const std::lock_guard hold(mutex_);
    SHERD_TRY(failure_);
    if (waiting_.size() < threads_) {
      waiting_.push_back({std::move(object), condition, std::move(key)});
      if (idle_ == 0 && workers_.size() < threads_)
        workers_.push_back(begin_beside([this] { work(); }));
      else
        added_.notify_one();
      return {};
    }
  }
  return object->commit(condition).in_key(key);  // as many wait already
}

void Commits::make_next(std::unique_lock<std::mutex>& hold) {
  Commit next = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  hold.unlock();
  Result<void> done = next.object->commit(next.condition).in_key(next.key);
  next.object.reset();
  hold.lock();
  if (done) return;
  waiting_.clear();
  if (failure_) failure_ = std::move(done);
}

void Commits::work() {
  std::unique_lock hold(mutex_);
  for (;;) {
    if (!waiting_.empty()) {
      make_next(hold);
    } else if (ended_) {
      return;
    } else {
      ++idle_;
      added_.wait(hold);
      --idle_;
    }
  }
}

void Commits::end() noexcept {
  {
    const std::lock_guard hold(mutex_);
    ended_ = true;
  }
  added_.notify_all();
  for (const std::future<void>& worker : workers_) worker.wait();
}

Result<void> Commits::finish() {
  end();
  for (std::future<void>& worker : std::exchange(workers_, {})) worker.get();
  return failure_;
}

}  // namespace sherd
