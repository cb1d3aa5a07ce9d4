// Exclusion between the threads of one process, key by key. The table has an entry for each key that is held. An entry
// names its thread, so that a thread which holds a key may write and erase it without acquiring it again; and its
// process, because a child of fork() inherits the table but none of the threads that would release the keys.
#include "store/key_locks.hpp"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

/// A number that no other thread of this process has or had. The system reuses the ID of a thread that has ended, so
/// its successor would own what it left locked.
std::uint64_t this_thread() noexcept {
  static std::atomic<std::uint64_t> threads{0};
  thread_local const std::uint64_t number = ++threads;
  return number;
}

class HeldKey final : public StoreLock {
 public:
  explicit HeldKey(std::shared_ptr<KeyHold> hold) : hold_(std::move(hold)) {}

 private:
  std::shared_ptr<KeyHold> hold_;
};

}  // namespace

struct KeyLocks::Table {
  struct Entry {
    std::uint64_t thread = 0;
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
  file_lock.reset();
  if (process_ == ::getpid()) locks_->release(key_);
}

Result<void> KeyHold::begin_writer() {
  if (!has_writer_.exchange(true)) return {};
  return invalid_argument("this thread has a writer of the object already; commit or destroy it first").in_key(key_);
}

Result<void> WriterHold::check_usable() const {
  if (!hold_) return invalid_argument("the writer ended with its commit; a new version needs a new one").in_key(key_);
  if (failed_) return io_error("an earlier write of this object has failed").in_key(key_);
  return {};
}

Result<std::uint64_t> WriterHold::check_write(std::uint64_t offset, std::uint64_t size) const {
  SHERD_TRY(check_usable());
  const auto end = checked_add(offset, size);
  if (!end || *end > ~std::uint64_t{0} >> 1) return invalid_argument("a write ends beyond 2^63 bytes").in_key(key_);
  return *end;
}

Error WriterHold::failed(std::string_view action, int code) {
  if (!survives_) failed_ = true;
  return system_error(action, key_, code).in_key(key_);
}

void WriterHold::end() noexcept {
  if (!hold_) return;
  hold_->file_lock.reset();
  hold_->end_writer();
  hold_.reset();
}

KeyLocks::KeyLocks() : table_(std::make_unique<Table>()) {}
KeyLocks::~KeyLocks() = default;

Result<std::shared_ptr<KeyHold>> KeyLocks::take(const std::string& key, LockWait& wait) {
  const pid_t process = ::getpid();
  std::unique_lock guard(table_->mutex);
  std::optional<std::chrono::nanoseconds> pause;
  for (;;) {
    const auto [at, free] = table_->entries.try_emplace(key);
    auto& entry = at->second;
    if (free || entry.process != process) {
      auto hold = std::make_shared<KeyHold>(shared_from_this(), key);
      entry = {this_thread(), process, hold};
      return hold;
    }
    if (entry.thread == this_thread()) {
      if (auto hold = entry.hold.lock()) return hold;
    }
    if (pause) {
      table_->released.wait_for(guard, *std::exchange(pause, std::nullopt));
      continue;
    }
    guard.unlock();
    SHERD_TRY(next, wait.pause());
    pause = next;
    guard.lock();  // the key may have been released meanwhile, so it is tried again before the pause
  }
}

std::vector<std::string> KeyLocks::held_below(std::string_view prefix) const {
  std::vector<std::string> held;
  const std::lock_guard guard(table_->mutex);
  for (const auto& [key, entry] : table_->entries)
    if (is_waited_for(key, prefix)) held.push_back(key);
  return held;
}

void KeyLocks::release(const std::string& key) {
  {
    const std::lock_guard guard(table_->mutex);
    table_->entries.erase(key);
  }
  table_->released.notify_all();
}

std::unique_ptr<StoreLock> lock_of(std::shared_ptr<KeyHold> hold) { return std::make_unique<HeldKey>(std::move(hold)); }

Result<std::shared_ptr<KeyHold>> hold_key(KeyLocks& locks, const LockPatience& patience, const std::string& key) {
  SHERD_TRY(check_key(key));
  const std::function<std::string()> object = [&] { return key; };
  LockWait wait(patience, object);
  return locks.take(key, wait).in_key(key);
}

Result<void> wait_for_holders(KeyLocks& locks, const LockPatience& patience, const std::string& prefix) {
  SHERD_TRY(check_prefix(prefix));
  for (const std::string& key : locks.held_below(prefix)) SHERD_TRY(hold_key(locks, patience, key));
  return {};
}

Result<std::shared_ptr<KeyHold>> hold_object(KeyLocks& locks, const FileTree& tree, const std::string& key,
                                             Exclusion exclusion) {
  const std::function<std::string()> object = [&] { return locked_object(tree, key); };
  LockWait wait(*tree.options().patience, object);
  SHERD_TRY(held, locks.take(key, wait));
  if (!held->file_lock) {
    SHERD_TRY(lock, FileLock::take(tree, key, wait));
    held->file_lock = std::move(lock);
  }
  if (exclusion == Exclusion::required) SHERD_TRY(check_excluded(*held->file_lock, tree, key));
  return held;
}

}  // namespace sherd
