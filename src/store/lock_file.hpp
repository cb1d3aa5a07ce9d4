// A file that is opened for locking and not shared with children of fork().
#pragma once

#include <string>
#include <utility>

namespace sherd {

/// A lock belongs to the open file, which a child of fork() inherits: it would hold the lock for as long as it lives,
/// long after its parent was killed. So in the child, the descriptor of each LockFile refers to the root directory
/// instead, which can be neither read nor written through it; destroying it there is safe. exec() closes it.
class LockFile {
 public:
  LockFile() = default;
  /// Like openat() with O_CLOEXEC; false if it fails, with errno set.
  static LockFile open(int directory, const std::string& name, int flags) noexcept;
  LockFile(LockFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LockFile& operator=(LockFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~LockFile();

  explicit operator bool() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  explicit LockFile(int fd) noexcept : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace sherd
