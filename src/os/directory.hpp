// The entries of a directory.
#pragma once

#include <dirent.h>

#include <cstddef>
#include <cstring>

#include "os/fd.hpp"

namespace sherd::os {

/// Reads a directory from its first entry to its last, except for `.` and `..`.
class Directory {
 public:
  /// Opens `path`, relative to the directory `at`.
  explicit Directory(int at, const char* path = ".") noexcept
      : fd_(openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)), error_(fd_ ? 0 : errno) {}

  /// The next entry, valid until the next call; nullptr at the end and after an error.
  [[nodiscard]] const dirent64* next() noexcept {
    while (error_ == 0) {
      if (at_ == filled_) {
        const ssize_t count = getdents(fd_.get(), buffer_);
        // A directory that is removed while it is read has no more entries.
        if (count < 0 && errno != ENOENT) error_ = errno;
        if (count <= 0) break;
        at_ = 0;
        filled_ = static_cast<std::size_t>(count);
      }
      const auto* entry = reinterpret_cast<const dirent64*>(&buffer_[at_]);
      at_ += entry->d_reclen;
      if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) return entry;
    }
    return nullptr;
  }
  /// The errno of what failed, or 0.
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  static constexpr std::size_t kBufferBytes = 32768;  // as in readdir(): the system fills it in one call

  Fd fd_;
  int error_;
  std::size_t at_ = 0, filled_ = 0;
  alignas(dirent64) std::byte buffer_[kBufferBytes];
};

}  // namespace sherd::os
