// Owners of descriptors.
#pragma once

#include <cerrno>
#include <utility>

#include "os/calls.hpp"

namespace sherd::os {

/// An open file descriptor, or none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { (void)close(); }

  explicit operator bool() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// Closes now. Returns 0 or an errno, which on network file systems may be that of an earlier write.
  int close() noexcept {
    if (fd_ < 0) return 0;
    return os::close(std::exchange(fd_, -1)) == 0 ? 0 : errno;
  }

 private:
  int fd_ = -1;
};

}  // namespace sherd::os
