// Which threads of this process hold which keys of a store, and how those of a file store also exclude other processes.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/store.hpp"
#include "store/file_lock.hpp"
#include "store/file_tree.hpp"
#include "store/lock_wait.hpp"

namespace sherd {

class KeyLocks;

/// A key held by one thread. All owners share the hold, so a writer made under a lock can safely outlive that lock.
class KeyHold {
 public:
  KeyHold(std::shared_ptr<KeyLocks> locks, std::string key);
  KeyHold(const KeyHold&) = delete;
  KeyHold& operator=(const KeyHold&) = delete;
  ~KeyHold();

  /// Begins a writer; refused if there is another one, which would belong to this same thread.
  [[nodiscard]] Result<void> begin_writer();
  void end_writer() noexcept { has_writer_ = false; }

  /// A file store's lock of the same object against other processes; released first. Set only by the holding thread.
  std::unique_ptr<FileLock> file_lock;

 private:
  std::shared_ptr<KeyLocks> locks_;
  std::string key_;
  pid_t process_;
  std::atomic<bool> has_writer_{false};
};

/// The hold of an object's only writer, released by its commit.
class WriterHold {
 public:
  /// For a writer that has called begin_writer().
  WriterHold(std::shared_ptr<KeyHold> hold, std::string key) : hold_(std::move(hold)), key_(std::move(key)) {}
  WriterHold(const WriterHold&) = delete;
  WriterHold& operator=(const WriterHold&) = delete;
  ~WriterHold() { end(); }

  /// `invalid_argument` after the end of the writer, `io` after a failure.
  [[nodiscard]] Result<void> check_usable() const;
  /// check_usable(), and returns where a write of this size ends: within 2^63.
  [[nodiscard]] Result<std::uint64_t> check_write(std::uint64_t offset, std::uint64_t size) const;
  /// The error of a system call. Since bytes are missing, the writer can no longer commit, unless it survives failures.
  [[nodiscard]] Error failed(std::string_view action, int code);
  void survive_failures() noexcept { survives_ = true; }
  void end() noexcept;
  [[nodiscard]] bool ended() const noexcept { return hold_ == nullptr; }
  /// For a file store, before the end of the writer.
  [[nodiscard]] FileLock& file_lock() const noexcept { return *hold_->file_lock; }

 private:
  std::shared_ptr<KeyHold> hold_;
  const std::string key_;
  std::atomic<bool> failed_{false};
  bool survives_ = false;
};

class KeyLocks : public std::enable_shared_from_this<KeyLocks> {
 public:
  KeyLocks();
  ~KeyLocks();
  /// Waits until no other thread holds the key. A thread that already holds it gets the same hold again.
  [[nodiscard]] Result<std::shared_ptr<KeyHold>> take(const std::string& key, LockWait& wait);
  /// The keys held now that Store::wait_for_writers() waits for.
  [[nodiscard]] std::vector<std::string> held_below(std::string_view prefix) const;

 private:
  friend class KeyHold;
  void release(const std::string& key);
  struct Table;
  std::unique_ptr<Table> table_;
};

/// The lock that lock() returns for a hold.
[[nodiscard]] std::unique_ptr<StoreLock> lock_of(std::shared_ptr<KeyHold> hold);

/// Waits until no other thread holds the key: for stores that exclude only threads of this process. The key is checked.
Result<std::shared_ptr<KeyHold>> hold_key(KeyLocks& locks, const LockPatience& patience, const std::string& key);
/// Waits for each key below the prefix that is held now, one after the other.
Result<void> wait_for_holders(KeyLocks& locks, const LockPatience& patience, const std::string& prefix);

enum class Exclusion : std::uint8_t {
  required,
  where_possible,  ///< for objects that are replaced or erased unconditionally: the last writer wins
};
/// For a file store: waits until neither another thread of this process nor another process holds the object.
Result<std::shared_ptr<KeyHold>> hold_object(KeyLocks& locks, const FileTree& tree, const std::string& key,
                                             Exclusion exclusion = Exclusion::required);

}  // namespace sherd
