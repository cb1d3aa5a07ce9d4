// The system calls that stores and files make, as functions that a test can replace by linking other definitions
// (tests/faults/simulated.hpp). Stores, formats, `io` and `tools` access the file system in no other way
// (layers/includes).
//
// Each function is named after its system call and fails as that does: it returns -1 and sets errno. It never throws,
// allocates memory or adds a system call. Reading, writing and locking continue when a signal interrupts them. The
// other functions report EINTR: a signal must be able to end the opening of a pipe, and an fsync() that failed must not
// be repeated.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace sherd::os {

// ---- descriptors ----

[[nodiscard]] int openat(int directory, const char* path, int flags, mode_t mode = 0666) noexcept;
/// Creates a file under an unused name. The last six bytes of `path` must be XXXXXX; they are replaced to form the name
/// of the file.
[[nodiscard]] int mkostemp(char* path, int flags) noexcept;
/// The descriptor is always closed. An error is that of an earlier write, which network file systems report late.
int close(int fd) noexcept;
/// Another descriptor of the same open file, closed by exec().
[[nodiscard]] int duplicate(int fd) noexcept;
int dup3(int from, int to, int flags) noexcept;

// ---- bytes ----

/// Returns the number of bytes read, which may be fewer than there are; 0 only at the end of the file.
[[nodiscard]] ssize_t pread(int fd, std::span<std::byte> into, std::uint64_t offset) noexcept;
/// Returns the number of bytes read; fewer than requested only if the file ends.
[[nodiscard]] ssize_t pread_all(int fd, std::span<std::byte> into, std::uint64_t offset) noexcept;
/// Writes all bytes and returns 0. After a failure any number of them may be written.
[[nodiscard]] int pwrite_all(int fd, std::span<const std::byte> bytes, std::uint64_t offset) noexcept;
/// One call that writes all bytes, or fewer: returns how many. The next call would not belong to the same step.
[[nodiscard]] ssize_t pwrite_once(int fd, std::span<const std::byte> bytes, std::uint64_t offset) noexcept;
/// Whether reads and writes of the open file bypass the page cache (O_DIRECT); they must then be aligned.
[[nodiscard]] int set_direct(int fd, bool direct) noexcept;
/// As pwrite_all(), at the file's position: for pipes and devices.
[[nodiscard]] int write_all(int fd, std::span<const std::byte> bytes) noexcept;
/// Copies within the kernel. Returns the number of bytes copied, which may be fewer than asked for.
[[nodiscard]] ssize_t copy_file_range(int from, std::uint64_t from_offset, int to, std::uint64_t to_offset,
                                      std::size_t length) noexcept;
/// Makes an empty file share all bytes of another one (FICLONE), where the file system can.
[[nodiscard]] int clone(int from, int to) noexcept;
[[nodiscard]] int ftruncate(int fd, std::uint64_t size) noexcept;
/// Where the next data or hole is (SEEK_DATA, SEEK_HOLE), from `offset` on; -1 and ENXIO after the last data.
[[nodiscard]] std::int64_t lseek(int fd, std::uint64_t offset, int whence) noexcept;
[[nodiscard]] int fsync(int fd) noexcept;
/// fsync() without the times.
[[nodiscard]] int fdatasync(int fd) noexcept;

// ---- status ----

[[nodiscard]] int fstat(int fd, struct stat& status) noexcept;
[[nodiscard]] int fstatat(int directory, const char* path, struct stat& status, int flags = 0) noexcept;
/// The status of an open file, with its creation time and its alignment of direct writes if the file system knows them.
[[nodiscard]] int statx(int fd, struct ::statx& status) noexcept;
[[nodiscard]] int fstatfs(int fd, struct statfs& status) noexcept;
[[nodiscard]] int fchmod(int fd, mode_t mode) noexcept;
[[nodiscard]] int fchmodat(int directory, const char* path, mode_t mode) noexcept;
/// fchownat() that changes only the group, of a link itself.
[[nodiscard]] int chgrpat(int directory, const char* path, gid_t group) noexcept;
/// The times of the last access and of the last change.
[[nodiscard]] int futimens(int fd, const timespec (&times)[2]) noexcept;

// ---- names ----

[[nodiscard]] int mkdirat(int directory, const char* path, mode_t mode) noexcept;
int unlinkat(int directory, const char* path, int flags) noexcept;
/// Reads the text of a symbolic link, up to the size of `into`.
[[nodiscard]] ssize_t readlinkat(int directory, const char* path, std::span<char> into) noexcept;
[[nodiscard]] int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) noexcept;
/// renameat2() if there are flags, otherwise renameat(), which every file system supports.
[[nodiscard]] int renameat(int from_directory, const char* from, int to_directory, const char* to,
                           unsigned flags = 0) noexcept;
/// Reads entries as `dirent64`, one after the other, and returns the number of bytes filled; 0 at the end.
[[nodiscard]] ssize_t getdents(int fd, std::span<std::byte> into) noexcept;

// ---- locks: none waits ----

/// Sets a lock of the open file (F_OFD_SETLK) on all its bytes: F_RDLCK, F_WRLCK or F_UNLCK.
int set_lock(int fd, short type) noexcept;
int flock(int fd, int operation) noexcept;

// ---- what a path names, after links ----

[[nodiscard]] inline bool exists(const char* path) noexcept {
  struct stat status{};
  return fstatat(AT_FDCWD, path, status) == 0;
}
[[nodiscard]] inline bool is_directory(const char* path) noexcept {
  struct stat status{};
  return fstatat(AT_FDCWD, path, status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace sherd::os
