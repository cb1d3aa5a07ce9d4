// Exclusion between the threads of one process, key by key. The table has an entry for each key that is held.
// An entry names its thread, so that a thread which holds a key may write and erase it without asking twice; and its
// process, because a child of fork() inherits the table but none of the threads that would ever release it.
#include "store/key_locks.hpp"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "store/key.hpp"

namespace sherd {
namespace {

class HeldKey final : public StoreLock {
 public:
  explicit HeldKey(std::shared_ptr<KeyHold> hold) : hold_(std::move(hold)) {}

 private:
  std::shared_ptr<KeyHold> hold_;
};

}  // namespace

struct KeyLocks::Table {
  struct Entry {
    std::thread::id thread;
    pid_t process = 0;
    std::weak_ptr<KeyHold> hold;
  };
  std::mutex mutex;
  std::condition_variable released;
  std::unordered_map<std::string, Entry> entries;
};

KeyHold::KeyHold(std::shared_ptr<KeyLocks> locks, std::string key)
    : locks_(std::move(locks)), key_(std::move(key)), process_(::getpid()) {}

KeyHold::~KeyHold() {
  beneath.reset();
  if (process_ == ::getpid()) locks_->release(key_);
}

Result<void> KeyHold::begin_writer() {
  if (!has_writer_.exchange(true)) return {};
  return invalid_argument("this thread has a writer of the object already; commit or destroy it first").in_key(key_);
}

KeyLocks::KeyLocks() : table_(std::make_unique<Table>()) {}
KeyLocks::~KeyLocks() = default;

std::shared_ptr<KeyHold> KeyLocks::take(const std::string& key) {
  const pid_t process = ::getpid();
  std::unique_lock guard(table_->mutex);
  for (;;) {
    const auto [at, free] = table_->entries.try_emplace(key);
    auto& entry = at->second;
    if (free || entry.process != process) {
      auto hold = std::make_shared<KeyHold>(shared_from_this(), key);
      entry = {std::this_thread::get_id(), process, hold};
      return hold;
    }
    if (entry.thread == std::this_thread::get_id()) {
      if (auto hold = entry.hold.lock()) return hold;
    }
    table_->released.wait(guard);
  }
}

void KeyLocks::wait_below(std::string_view prefix) {
  std::vector<std::string> held;
  {
    const std::lock_guard guard(table_->mutex);
    for (const auto& [key, entry] : table_->entries)
      if (is_waited_for(key, prefix)) held.push_back(key);
  }
  for (const std::string& key : held) (void)take(key);
}

void KeyLocks::release(const std::string& key) {
  {
    const std::lock_guard guard(table_->mutex);
    table_->entries.erase(key);
  }
  table_->released.notify_all();
}

std::unique_ptr<StoreLock> lock_of(std::shared_ptr<KeyHold> hold) { return std::make_unique<HeldKey>(std::move(hold)); }

}  // namespace sherd
