// The side file of one object of a file store: the lock against other processes, and the file of the next version.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "sherd/store.hpp"
#include "store/file_tree.hpp"
#include "store/lock_file.hpp"
#include "store/lock_wait.hpp"

namespace sherd {

class FileLock {
 public:
  /// Waits until no other process holds the lock of the object `key`. The side file is then new and empty, without
  /// leftovers of a killed holder. If the file system has no locks, it neither waits for writers nor excludes them.
  static Result<std::unique_ptr<FileLock>> take(const FileTree& tree, const std::string& key, LockWait& wait);
  /// Takes the lock of a name in a directory, without waiting; nullptr if a writer holds it.
  static Result<std::unique_ptr<FileLock>> take_now(MadeDirectory directory, std::string_view name) {
    return take_in(std::move(directory), name, Locking::automatic, nullptr);
  }
  /// What take_now() takes; nullptr also on an error, and if it is unknown whether a writer holds the lock.
  static std::unique_ptr<FileLock> try_take(MadeDirectory directory, std::string_view name) {
    auto lock = take_now(std::move(directory), name);
    return lock && *lock && (*lock)->refused() == 0 ? *std::move(lock) : nullptr;
  }
  /// Removes a side file unless a writer holds its lock, or it is unknown whether one does. Returns whether it did.
  static bool remove_abandoned(int directory, const std::string& side_file) noexcept;
  ~FileLock();

  [[nodiscard]] int fd() const noexcept { return file_.get(); }
  /// Why the file system refused the lock, an errno; 0 if other writers are excluded, by it or by the user's promise.
  [[nodiscard]] int refused() const noexcept { return refused_; }
  [[nodiscard]] int directory() const noexcept { return directory_.fd.get(); }
  /// Adds a name to the side file, which must not be in use. Returns an errno or 0; ENOENT as for publish().
  [[nodiscard]] int link(int to_directory, const std::string& name) const noexcept;
  /// Renames the side file to the object's name, which ends the lock. Returns an errno or 0; ENOENT if the side file or
  /// its directory has been removed.
  [[nodiscard]] int publish(const std::string& name);
  /// publish() for a new object; EEXIST if it exists, even if no lock prevents others from creating it.
  [[nodiscard]] int publish_new(const std::string& name);
  /// Removes the side file's name from its directory. It has the same name in `directory`, by link().
  void move_to(Fd directory) noexcept;

 private:
  FileLock(MadeDirectory directory, std::string side_file, LockFile file);
  /// nullptr if the directory has been removed meanwhile, or another writer holds the lock and there is no `wait`.
  static Result<std::unique_ptr<FileLock>> take_in(MadeDirectory directory, std::string_view name, Locking mode,
                                                   LockWait* wait);
  /// Without a lock, others may replace the side file at any moment: renames ours to a name that only this writer uses.
  /// Returns an errno or 0; ENOENT if it has been removed, or if it was another writer's, who gets it back.
  [[nodiscard]] int claim(const std::string& name);

  MadeDirectory directory_;  // released last, because it contains the side file
  std::string side_file_;    // empty once it has become the object
  LockFile file_;
  int refused_ = 0;
  pid_t process_;
};

/// For messages: the path of the object or, for a scratch directory, whose name means nothing to the user, of its node.
[[nodiscard]] std::string locked_object(const FileTree& tree, const std::string& key);
/// `unsupported`, with advice for the user, if the file system refused the lock of a side file.
Result<void> check_excluded(const FileLock& lock, const FileTree& tree, const std::string& key);

}  // namespace sherd
