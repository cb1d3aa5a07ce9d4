#include "base/call.hpp"

#include <chrono>

namespace sherd {
namespace {

thread_local Call* current_call = nullptr;
thread_local bool made_current_call = false;

}  // namespace

bool poll_is_due() noexcept {
  thread_local std::chrono::steady_clock::time_point last{};
  const auto now = std::chrono::steady_clock::now();
  if (now - last < kBetweenPolls) return false;
  last = now;
  return true;
}

bool call_interrupted() {
  Call* const call = Call::current();
  return call != nullptr && call->interrupted();
}

Result<void> check_interrupted(const std::function<bool()>& hook) {
  const bool interrupted = Call::current() != nullptr ? call_interrupted() : hook && poll_is_due() && hook();
  return interrupted ? Result<void>(unavailable("interrupted")) : Result<void>();
}

Call* Call::current() noexcept { return current_call; }
bool Call::is_caller() noexcept { return made_current_call; }

bool Call::interrupted() {
  if (interrupted_.load(std::memory_order_relaxed)) return true;
  if (!is_caller()) return false;
  deliver();
  if (!hooks_->interrupted || !poll_is_due()) return false;
  try {
    if (hooks_->interrupted()) interrupted_ = true;
  } catch (...) {
    thrown_ = std::current_exception();
    interrupted_ = true;
  }
  return interrupted_;
}

void Call::notify(std::string text) {
  {
    const std::lock_guard hold(mutex_);
    notices_.push_back(std::move(text));
    has_notices_ = true;
  }
  if (is_caller()) deliver();
}

void Call::deliver() {
  if (!has_notices_.load(std::memory_order_relaxed)) return;
  std::vector<std::string> texts;
  {
    const std::lock_guard hold(mutex_);
    texts.swap(notices_);
    has_notices_ = false;
  }
  if (!hooks_->notice) return;
  for (const std::string& text : texts) hooks_->notice(text);
}

Call::Working::Working(Call& call, bool is_caller) noexcept
    : outer_(std::exchange(current_call, &call)), was_caller_(std::exchange(made_current_call, is_caller)) {}

Call::Working::~Working() {
  current_call = outer_;
  made_current_call = was_caller_;
}

}  // namespace sherd
