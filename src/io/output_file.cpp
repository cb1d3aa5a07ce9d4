// Files that appear whole under their names. Until then a file has no name if the file system has O_TMPFILE, so that a
// process killed at any time leaves nothing. Otherwise, and for directories, it has a hidden name ending in
// ".sherd-part", and its maker holds a lock (flock) on it from before anything is written until it is gone or renamed.
// So if the lock can be taken, the maker was killed: creating the next file in that directory removes such leftovers.
// If the file system has no locks, nothing is removed.
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/try.hpp"
#include "io/files.hpp"
#include "os/directory.hpp"

namespace sherd {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPart = ".sherd-part";
/// A longer name would make the hidden name too long for a file system.
constexpr std::size_t kLongestNamed = 200;
constexpr int kAttempts = 100;

/// The file that `path` names, with links resolved, so that replacing it does not replace the link.
std::string resolved(const std::string& path) {
  std::error_code failure;
  const auto real = fs::canonical(path, failure);
  return failure ? path : real.string();
}

std::string directory_of(const std::string& path) {
  const auto parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

/// A hidden name next to `path` that no other process uses.
std::string hidden_name(const std::string& path) {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint64_t>(::getpid());
  const fs::path whole(path);
  std::string name = whole.filename().string();
  if (name.size() > kLongestNamed) name.clear();
  return (whole.parent_path() / ("." + name + "." + std::to_string(random) + std::string(kPart))).string();
}

bool is_named(const std::string& name, int descriptor) noexcept {
  struct stat named{};
  struct stat opened{};
  return os::fstatat(AT_FDCWD, name.c_str(), named, AT_SYMLINK_NOFOLLOW) == 0 && os::fstat(descriptor, opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/// Creates something under a hidden name next to `path` and locks it; `make(name)` returns a descriptor, or -1 and
/// errno. Before it is locked, remove_leftovers() of another process may remove it: then another name is tried.
template <class Make>
int make_hidden(const std::string& path, std::string& name, const Make& make) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    name = hidden_name(path);
    const int descriptor = make(name);
    if (descriptor < 0 && errno == ENOENT && attempt == 0) continue;
    if (descriptor < 0) return -1;
    const bool taken = os::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_named(name, descriptor)) return descriptor;
    os::close(descriptor);
  }
  errno = EAGAIN;
  return -1;
}

std::string descriptor_path(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// A file without a name that can get one later; -1 if the file system or a missing /proc does not allow it.
int open_unnamed(const std::string& directory, mode_t access) {
  const int descriptor = os::openat(AT_FDCWD, directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, access);
  if (descriptor < 0) return -1;
  struct stat reached{};
  struct stat opened{};
  if (os::fstatat(AT_FDCWD, descriptor_path(descriptor).c_str(), reached) == 0 && os::fstat(descriptor, opened) == 0 &&
      reached.st_dev == opened.st_dev && reached.st_ino == opened.st_ino) {
    (void)os::flock(descriptor, LOCK_EX | LOCK_NB);
    return descriptor;
  }
  os::close(descriptor);
  return -1;
}

int link_unnamed(int descriptor, const std::string& name) {
  const std::string from = descriptor_path(descriptor);
  return os::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/// Removes a file, or a directory and the files in it. `descriptor` is that of the directory, because another process
/// may have put another one, or a link, at its path.
void remove_all(const std::string& path, int descriptor) noexcept {
  if (os::unlinkat(AT_FDCWD, path.c_str(), 0) == 0 || errno != EISDIR) return;
  os::Directory entries(descriptor);
  while (const dirent64* entry = entries.next()) os::unlinkat(entries.fd(), entry->d_name, 0);
  os::unlinkat(AT_FDCWD, path.c_str(), AT_REMOVEDIR);
}

/// Removes leftovers of killed processes in a directory. A leftover contains nothing but its maker's output.
void remove_leftovers(const std::string& directory) noexcept {
  if (directory.ends_with(kPart)) return;
  os::Directory entries(AT_FDCWD, directory.c_str());
  while (const dirent64* entry = entries.next()) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with('.') || !name.ends_with(kPart)) continue;
    const std::string path = (fs::path(directory) / name).string();
    const int descriptor = os::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (os::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_named(path, descriptor)) remove_all(path, descriptor);
    os::close(descriptor);
  }
}

}  // namespace

int put_in_place(const std::string& from, const std::string& to, bool overwrite) {
  const unsigned flags = overwrite ? 0 : RENAME_NOREPLACE;
  if (os::renameat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0) return 0;
  if (overwrite || (errno != EINVAL && errno != ENOSYS)) return errno;
  // Network file systems lack this rename but have links, which do not replace anything either.
  if (os::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0) != 0) return errno;
  os::unlinkat(AT_FDCWD, from.c_str(), 0);
  return 0;
}

Result<void> sync_directory(const std::string& file) {
  const std::string name = directory_of(file);
  const int descriptor = os::openat(AT_FDCWD, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return file_error("cannot open the directory", name, errno);
  const int failed = os::fsync(descriptor);
  const int number = errno;
  os::close(descriptor);
  if (failed != 0) return file_error("cannot flush the directory", name, number);
  return {};
}

Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& path, mode_t access) {
  remove_leftovers(directory_of(path));
  std::string name;
  const int descriptor = make_hidden(path, name, [access](const std::string& hidden) {
    if (os::mkdirat(AT_FDCWD, hidden.c_str(), access) != 0) return -1;
    const int made = os::openat(AT_FDCWD, hidden.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int code = errno;
    if (made < 0) os::unlinkat(AT_FDCWD, hidden.c_str(), AT_REMOVEDIR);
    errno = code;
    return made;
  });
  if (descriptor < 0) return file_error("cannot make a directory in it", directory_of(path), errno);
  return TemporaryDirectory(std::move(name), descriptor);
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) remove_all(path_, descriptor_);
  if (descriptor_ >= 0) os::close(descriptor_);
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path, WriteMode mode) {
  SHERD_TRY(local, path_to_export(path));
  std::string real = resolved(local);
  struct stat status{};
  const bool exists = os::fstatat(AT_FDCWD, real.c_str(), status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return invalid_argument("is a directory; name a file").in_key(path);
  if (exists && !S_ISREG(status.st_mode)) {
    const int descriptor = os::openat(AT_FDCWD, real.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return file_error("cannot open for writing", path, errno);
    std::unique_ptr<OutputFile> direct(new OutputFile(std::move(real), descriptor, mode));
    direct->direct_ = true;
    return direct;
  }
  if (exists && !mode.overwrite) return conflict("exists already; overwrite it or choose another path").in_key(path);
  remove_leftovers(directory_of(real));
  // A file that other users may not read is also hidden while it is written.
  const mode_t access = exists ? status.st_mode & 0777 : 0666;
  std::string hidden;
  int descriptor = open_unnamed(directory_of(real), access);
  if (descriptor < 0) {
    descriptor = make_hidden(real, hidden, [access](const std::string& name) {
      return os::openat(AT_FDCWD, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, access);
    });
  }
  if (descriptor < 0) return file_error("cannot create", path, errno);
  std::unique_ptr<OutputFile> file(new OutputFile(std::move(real), descriptor, mode));
  file->hidden_ = std::move(hidden);
  if (exists && os::fchmod(descriptor, access) != 0) return file_error("cannot set the mode of", path, errno);
  return file;
}

OutputFile::~OutputFile() {
  if (!hidden_.empty()) os::unlinkat(AT_FDCWD, hidden_.c_str(), 0);
  os::close(descriptor_);
}

Result<void> OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  end_ = offset + bytes.size();
  const int failed = direct_ ? os::write_all(descriptor_, bytes) : os::pwrite_all(descriptor_, bytes, offset);
  if (failed != 0) return file_error("cannot write", path_, errno);
  return {};
}

int OutputFile::put_in_place() {
  if (hidden_.empty()) {
    const int code = link_unnamed(descriptor_, path_);
    if (code != EEXIST || !mode_.overwrite) return code;
    // A link cannot replace a file, but a rename can.
    std::string name = hidden_name(path_);
    if (const int failed = link_unnamed(descriptor_, name)) return failed;
    hidden_ = std::move(name);
  }
  if (const int code = sherd::put_in_place(hidden_, path_, mode_.overwrite)) return code;
  hidden_.clear();
  return 0;
}

Result<void> OutputFile::commit() {
  if (direct_) return {};
  if (mode_.durable) {
    if (os::fsync(descriptor_) != 0) return file_error("cannot flush", path_, errno);
  } else if (const int copy = os::duplicate(descriptor_); copy < 0 || os::close(copy) != 0) {
    // Network file systems report a failed write on close.
    return file_error("cannot write", path_, errno);
  }
  if (const int code = put_in_place()) return file_error("cannot be moved into place", path_, code);
  if (mode_.durable) SHERD_TRY(sync_directory(path_));
  return {};
}

}  // namespace sherd
