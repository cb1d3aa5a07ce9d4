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
  abandon();
  end();
}

Result<void> Commits::add(std::unique_ptr<ObjectWriter> object, const Condition& condition, std::string key) {
  {
    const std::lock_guard hold(mutex_);
    if (thrown_) std::rethrow_exception(thrown_);
    // It is not of this object, which would fail in the same way if it were made again.
    if (!failure_) return Error(failure_.error()).lasting();
    if (waiting_.size() < threads_) {
      waiting_.push_back({std::move(object), condition, std::move(key)});
      if (waiting_.size() > idle_ && workers_.size() < threads_)
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
  Result<void> done;
  std::exception_ptr thrown;
  try {
    done = next.object->commit(next.condition).in_key(next.key);
  } catch (...) {
    thrown = std::current_exception();
  }
  next.object.reset();
  hold.lock();
  if (done && !thrown) return;
  waiting_.clear();
  if (!thrown_) thrown_ = thrown;
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

void Commits::abandon() noexcept {
  const std::lock_guard hold(mutex_);
  waiting_.clear();
}

void Commits::end() noexcept {
  {
    const std::lock_guard hold(mutex_);
    ended_ = true;
  }
  added_.notify_all();
  for (const std::future<void>& worker : workers_) worker.wait();
}

Result<void> Commits::finish(Result<void> made) {
  if (!made) abandon();
  end();
  if (thrown_) std::rethrow_exception(thrown_);
  SHERD_TRY(failure_);
  return made;
}

}  // namespace sherd
