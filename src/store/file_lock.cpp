// Side files `.NAME.sherd-lock` next to an object NAME; the protocol is at the top of file.cpp. All calls that acquire
// or release a lock are here.
#include "store/file_lock.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "base/try.hpp"
#include "store/key.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

/// The number of attempts at a lock whose directory others keep removing.
constexpr int kLockAttempts = 100;
constexpr int kOpen = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/// Without waiting; returns an errno or 0.
int set_lock(int fd, short type) noexcept { return os::set_lock(fd, type) == 0 ? 0 : errno; }

/// 0 if the name still refers to the open file, ENOENT if it refers to another one or to none, and another
/// errno if that cannot be determined.
int check_named(int directory, const std::string& name, int fd) noexcept {
  struct stat opened{};
  struct stat named{};
  if (os::fstat(fd, opened) != 0 || os::fstatat(directory, name.c_str(), named, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino ? 0 : ENOENT;
}

bool is_held(int code) noexcept { return code == EAGAIN || code == EACCES; }

/// False if the directory of a lock has been exchanged: the lock does not exclude other processes in the new one.
bool is_in_place(const FileTree& tree, std::string_view prefix, const FileLock& lock) noexcept {
  struct stat opened{};
  struct stat named{};
  return os::fstat(lock.directory(), opened) == 0 && os::fstatat(AT_FDCWD, tree.path(prefix).c_str(), named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// Whether the file system, or its server, does not support locks.
bool is_refused(int code) noexcept { return code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP || code == EINVAL; }

}  // namespace

FileLock::FileLock(MadeDirectory directory, std::string side_file, LockFile file)
    : directory_(std::move(directory)),
      side_file_(std::move(side_file)),
      file_(std::move(file)),
      process_(::getpid()) {}

Result<std::unique_ptr<FileLock>> FileLock::take(const FileTree& tree, const std::string& key, LockWait& wait) {
  const auto [prefix, name] = split_key(key);
  Backoff backoff(tree.options().patience->interrupted);
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    SHERD_TRY(directory, tree.make_directory(prefix));
    SHERD_TRY(lock, take_in(std::move(directory), name, tree.options().lock, &wait));
    if (lock && (!name.starts_with(kScratchPrefix) || is_in_place(tree, prefix, *lock))) return lock;
    SHERD_TRY(backoff.wait());  // the directory was removed or replaced before the lock was taken
  }
  return system_error("lock", tree.path(key), ENOENT);
}

std::string locked_object(const FileTree& tree, const std::string& key) {
  const bool is_scratch = split_key(key).name.starts_with(kScratchPrefix);
  std::string path = tree.path(is_scratch ? split_key(key).prefix : key);
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Result<void> check_excluded(const FileLock& lock, const FileTree& tree, const std::string& key) {
  if (lock.refused() == 0) return {};
  return unsupported("cannot lock '" + locked_object(tree, key) + "': its file system has no locks (" +
                     std::system_category().message(lock.refused()) +
                     "), so an object can be replaced as a whole but not changed; mount it with locks, or choose "
                     "lock=\"none\" (--lock none), which promises that each object has one writer at a time")
      .in_key(key);
}

Result<std::unique_ptr<FileLock>> FileLock::take_in(MadeDirectory directory, std::string_view name, Locking mode,
                                                    LockWait* wait) {
  std::string side_file = side_file_of(name, kLockSuffix);
  const int at = directory.fd.get();
  for (;;) {
    auto file = LockFile::open(at, side_file, kOpen | O_CREAT | O_EXCL);
    const bool is_new = static_cast<bool>(file);
    if (!is_new && errno == ENOENT) return std::unique_ptr<FileLock>();
    if (!is_new && errno == EEXIST) {
      file = LockFile::open(at, side_file, kOpen);
      if (!file && errno == ENOENT) continue;
    }
    if (!file) return system_error("open", side_file, errno);
    // Sleeps here and not in the system call, where only a signal to this very thread would end the wait.
    int code = 0;
    while (mode == Locking::automatic && is_held(code = set_lock(file.get(), F_WRLCK)) && wait != nullptr) {
      SHERD_TRY(pause, wait->pause());
      std::this_thread::sleep_for(pause);
    }
    if (is_held(code)) return std::unique_ptr<FileLock>();
    const int refused = is_refused(code) ? code : 0;
    if (code != refused) {
      if (is_new) os::unlinkat(at, side_file.c_str(), 0);
      return system_error("lock", side_file, code);
    }
    code = check_named(at, side_file, file.get());
    if (code != 0) {
      file = LockFile();
      if (code == ENOENT) continue;
      if (is_new) remove_abandoned(at, side_file);
      return system_error("look at", side_file, code);
    }
    if (is_new) {
      std::unique_ptr<FileLock> lock(new FileLock(std::move(directory), std::move(side_file), std::move(file)));
      lock->refused_ = refused;
      return lock;
    }
    // Its holder was killed. It is not reused: if locks do not work, its holder may be alive and writing.
    if (os::unlinkat(at, side_file.c_str(), 0) != 0 && errno != ENOENT) return system_error("remove", side_file, errno);
  }
}

bool FileLock::remove_abandoned(int directory, const std::string& side_file) noexcept {
  const auto file = LockFile::open(directory, side_file, kOpen);
  if (!file || set_lock(file.get(), F_WRLCK) != 0) return false;
  return check_named(directory, side_file, file.get()) == 0 && os::unlinkat(directory, side_file.c_str(), 0) == 0;
}

FileLock::~FileLock() {
  if (process_ != ::getpid()) return;  // a child of fork() only inherits the lock
  // If locks do not work, another writer may have replaced the side file with its own.
  if (!side_file_.empty() && (!refused_ || check_named(directory(), side_file_, fd()) == 0))
    os::unlinkat(directory(), side_file_.c_str(), 0);
  // A child of vfork() may still have the file open, and closing only our descriptor would leave it locked.
  set_lock(file_.get(), F_UNLCK);
}

int FileLock::link(int to_directory, const std::string& name) const noexcept {
  if (const int code = check_named(directory(), side_file_, fd())) return code;
  return os::linkat(directory(), side_file_.c_str(), to_directory, name.c_str(), 0) == 0 ? 0 : errno;
}

void FileLock::move_to(Fd directory) noexcept {
  os::unlinkat(this->directory(), side_file_.c_str(), 0);
  directory_.keep();
  directory_.fd = std::move(directory);
}

int FileLock::claim(const std::string& name) {
  if (const int code = check_named(directory(), side_file_, fd())) return code;
  struct stat own{};
  if (os::fstat(fd(), own) != 0) return errno;
  // No other writer uses this name: while the file is open, no other file has this inode number.
  std::string claimed = side_file_of(name + "." + std::to_string(own.st_ino), kLinkSuffix);
  if (os::renameat(directory(), side_file_.c_str(), directory(), claimed.c_str()) != 0) return errno;
  side_file_.swap(claimed);
  const int code = check_named(directory(), side_file_, fd());
  if (code != ENOENT) return code;
  const std::string others = std::exchange(side_file_, {});
  if (os::renameat(directory(), others.c_str(), directory(), claimed.c_str(), RENAME_NOREPLACE) != 0)
    os::unlinkat(directory(), others.c_str(), 0);
  return code;
}

int FileLock::publish_new(const std::string& name) {
  if (const int code = refused_ != 0 ? claim(name) : 0) return code;
  if (const int code = link(directory(), name)) return code;
  directory_.keep();
  return 0;
}

int FileLock::publish(const std::string& name) {
  if (const int code = refused_ != 0 ? claim(name) : check_named(directory(), side_file_, fd())) return code;
  if (os::renameat(directory(), side_file_.c_str(), directory(), name.c_str()) != 0) return errno;
  side_file_.clear();
  directory_.keep();
  return 0;
}

}  // namespace sherd
