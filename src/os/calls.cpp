// The real system calls.
#include "os/calls.hpp"

#include <dirent.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "os/interrupted.hpp"

namespace sherd::os {
namespace {

/// `write(bytes)` writes some of the bytes.
template <class Write>
int until_written(std::span<const std::byte> bytes, const Write& write) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = repeat_interrupted([&] { return write(bytes); });
    if (count == 0) errno = ENOSPC;
    if (count <= 0) return -1;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

int openat(int directory, const char* path, int flags, mode_t mode) noexcept {
  return ::openat(directory, path, flags, mode);
}

int mkostemp(char* path, int flags) noexcept { return ::mkostemp(path, flags); }

int close(int fd) noexcept { return ::close(fd) == 0 || errno == EINTR ? 0 : -1; }

int duplicate(int fd) noexcept { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }

int dup3(int from, int to, int flags) noexcept { return ::dup3(from, to, flags); }

ssize_t pread(int fd, std::span<std::byte> into, std::uint64_t offset) noexcept {
  return repeat_interrupted([&] { return ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset)); });
}

ssize_t pread_all(int fd, std::span<std::byte> into, std::uint64_t offset) noexcept {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = pread(fd, into.subspan(done), offset + done);
    if (count < 0) return -1;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(done);
}

int pwrite_all(int fd, std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  const std::uint64_t end = offset + bytes.size();
  return until_written(bytes, [=](std::span<const std::byte> left) {
    return ::pwrite(fd, left.data(), left.size(), static_cast<off_t>(end - left.size()));
  });
}

ssize_t pwrite_once(int fd, std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  return repeat_interrupted([&] { return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
}

int set_direct(int fd, bool direct) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags < 0 ? -1 : ::fcntl(fd, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

int write_all(int fd, std::span<const std::byte> bytes) noexcept {
  return until_written(bytes, [=](std::span<const std::byte> left) { return ::write(fd, left.data(), left.size()); });
}

ssize_t copy_file_range(int from, std::uint64_t from_offset, int to, std::uint64_t to_offset,
                        std::size_t length) noexcept {
  auto read_at = static_cast<off64_t>(from_offset);
  auto write_at = static_cast<off64_t>(to_offset);
  return repeat_interrupted([&] { return ::copy_file_range(from, &read_at, to, &write_at, length, 0); });
}

int clone(int from, int to) noexcept {
  return repeat_interrupted([&] { return ::ioctl(to, FICLONE, from); });
}

int ftruncate(int fd, std::uint64_t size) noexcept { return ::ftruncate(fd, static_cast<off_t>(size)); }

std::int64_t lseek(int fd, std::uint64_t offset, int whence) noexcept {
  return ::lseek(fd, static_cast<off_t>(offset), whence);
}

int fsync(int fd) noexcept { return ::fsync(fd); }

int fdatasync(int fd) noexcept { return ::fdatasync(fd); }

int fstat(int fd, struct stat& status) noexcept { return ::fstat(fd, &status); }

int statx(int fd, struct ::statx& status) noexcept {
  return ::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME | STATX_DIOALIGN, &status);
}

int fstatat(int directory, const char* path, struct stat& status, int flags) noexcept {
  return ::fstatat(directory, path, &status, flags);
}

int fstatfs(int fd, struct statfs& status) noexcept { return ::fstatfs(fd, &status); }

int fchmod(int fd, mode_t mode) noexcept { return ::fchmod(fd, mode); }

int fchmodat(int directory, const char* path, mode_t mode) noexcept { return ::fchmodat(directory, path, mode, 0); }

int chgrpat(int directory, const char* path, gid_t group) noexcept {
  return ::fchownat(directory, path, static_cast<uid_t>(-1), group, AT_SYMLINK_NOFOLLOW);
}

int futimens(int fd, const timespec (&times)[2]) noexcept { return ::futimens(fd, times); }

int mkdirat(int directory, const char* path, mode_t mode) noexcept { return ::mkdirat(directory, path, mode); }

int unlinkat(int directory, const char* path, int flags) noexcept { return ::unlinkat(directory, path, flags); }

ssize_t readlinkat(int directory, const char* path, std::span<char> into) noexcept {
  return ::readlinkat(directory, path, into.data(), into.size());
}

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) noexcept {
  return ::linkat(from_directory, from, to_directory, to, flags);
}

int renameat(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) noexcept {
  return flags == 0 ? ::renameat(from_directory, from, to_directory, to)
                    : ::renameat2(from_directory, from, to_directory, to, flags);
}

ssize_t getdents(int fd, std::span<std::byte> into) noexcept { return ::getdents64(fd, into.data(), into.size()); }

int set_lock(int fd, short type) noexcept {
  struct ::flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return repeat_interrupted([&] { return ::fcntl(fd, F_OFD_SETLK, &lock); });
}

int flock(int fd, int operation) noexcept { return ::flock(fd, operation); }

}  // namespace sherd::os
