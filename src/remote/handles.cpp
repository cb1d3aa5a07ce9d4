#include "remote/handles.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace sherd::remote {
namespace {

Handles* handles = nullptr;  // replaced in a forked child, and never destroyed
/// The number of servers whose times are kept.
constexpr std::size_t kServers = 16;

}  // namespace

Handles& Handles::get() {
  static const bool is_made = [] {
    handles = new Handles;
    return pthread_atfork(nullptr, nullptr, [] { handles = new Handles; }) == 0;
  }();
  static_cast<void>(is_made);
  return *handles;
}

std::unique_ptr<Handle> Handles::take() {
  const std::lock_guard guard(mutex_);
  if (idle_.empty()) return nullptr;
  auto handle = std::move(idle_.back());
  idle_.pop_back();
  return handle;
}

void Handles::give_back(std::unique_ptr<Handle> handle, std::size_t most) {
  if (handle->connections == 0) return;
  std::vector<std::unique_ptr<Handle>> closed;
  const std::lock_guard guard(mutex_);
  std::size_t count = handle->connections;
  for (const auto& each : idle_) count += each->connections;
  auto kept = idle_.begin();
  for (; kept != idle_.end() && count > most; ++kept) {
    count -= (*kept)->connections;
    closed.push_back(std::move(*kept));
  }
  idle_.erase(idle_.begin(), kept);
  idle_.push_back(std::move(handle));
}

void Handles::add_time(const Origin& server, ReplyTimes::Duration time) {
  const std::lock_guard guard(mutex_);
  auto found = std::ranges::find(times_, server, &std::pair<Origin, ReplyTimes>::first);
  if (found == times_.end()) {
    if (times_.size() == kServers) times_.erase(times_.begin());
    found = times_.insert(times_.end(), {server, {}});
  }
  std::rotate(found, found + 1, times_.end());
  times_.back().second.add(time);
}

std::optional<ReplyTimes::Duration> Handles::late(const Origin& server) {
  const std::lock_guard guard(mutex_);
  const auto found = std::ranges::find(times_, server, &std::pair<Origin, ReplyTimes>::first);
  return found == times_.end() ? std::nullopt : found->second.late();
}

}  // namespace sherd::remote
