// Paths below a file store's root. If symbolic links are followed, a path is opened in one call. If they are refused,
// it is walked from the root, opening each directory relative to the previous one without following a link, so that no
// rename in between can lead the walk outside. Directories are also created on such a walk.
#include "store/file_tree.hpp"

#include <linux/magic.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <optional>
#include <ranges>
#include <system_error>

#include "base/try.hpp"
#include "os/interrupted.hpp"
#include "store/key.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

constexpr int kWalk = O_PATH | O_DIRECTORY | O_CLOEXEC;
constexpr int kList = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
constexpr int kRead = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
/// The number of attempts at something that others keep undoing, or that a network file system has lost.
constexpr int kAttempts = 100;
constexpr int kStaleAttempts = 3;

int open_at(int directory, const char* path, int flags) noexcept {
  int fd = -1;
  for (int attempt = 0; attempt < kStaleAttempts; ++attempt) {
    fd = os::repeat_interrupted([&] { return os::openat(directory, path, flags); });
    if (fd >= 0 || errno != ESTALE) break;
  }
  return fd;
}

bool is_symlink(int directory, const char* name) noexcept {
  struct stat status{};
  return os::fstatat(directory, name, status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

/// The link that makes a path below the root lead nowhere. Its target, for example on a disk that is not mounted, may
/// well exist, so the file is not absent.
std::optional<std::string> broken_link(std::string path, std::size_t root_length) {
  for (; path.size() > root_length; path.erase(path.rfind('/'))) {
    struct stat status{};
    if (os::fstatat(AT_FDCWD, path.c_str(), status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;
      break;
    }
    // The name exists, through any number of links, but is not this file, or was created in the meantime.
    if (!S_ISLNK(status.st_mode) || os::fstatat(AT_FDCWD, path.c_str(), status) == 0) break;
    return path;
  }
  return std::nullopt;
}

Error broken_symlink(const std::string& path) { return io_error("'" + path + "' is a broken symbolic link"); }

Error refused_symlink(const std::string& path) {
  return unsupported("'" + path + "' is or passes through a symbolic link, and follow_symlinks is off");
}

bool is_absent(int code) noexcept { return code == ENOENT || code == ENOTDIR; }

/// Whether every sync makes all changes of names durable that were made before, by any process: ext4 and XFS write
/// them to their journals in order.
bool keeps_names_in_order(int directory) noexcept {
  struct statfs system{};
  if (os::fstatfs(directory, system) != 0) return false;
  const auto type = static_cast<std::uint64_t>(system.f_type);
  return type == EXT4_SUPER_MAGIC || type == XFS_SUPER_MAGIC;
}

/// Directories are synced to disk by syncing their parent. O_PATH descriptors cannot be synced.
int sync_walked(int directory) noexcept {
  if (keeps_names_in_order(directory)) return 0;
  const Fd opened(open_at(directory, ".", kList));
  return opened && os::fsync(opened.get()) == 0 ? 0 : errno;
}

std::optional<SyncedDirectories::Identity> identity_of(const Fd& directory) noexcept {
  struct ::statx status{};
  if (!directory || os::statx(directory.get(), status) != 0) return std::nullopt;
  return SyncedDirectories::Identity{{status.stx_dev_major, status.stx_dev_minor},
                                     status.stx_ino,
                                     {status.stx_btime.tv_sec, status.stx_btime.tv_nsec}};
}

/// The maximum number of directories remembered.
constexpr std::size_t kMaxSynced = std::size_t{1} << 16;

}  // namespace

bool SyncedDirectories::contains(const Identity& directory) {
  const std::lock_guard hold(mutex_);
  return all_.contains(directory);
}

void SyncedDirectories::add(const Identity& directory) {
  const std::lock_guard hold(mutex_);
  if (all_.size() >= kMaxSynced) all_.clear();
  all_.insert(directory);
}

Error system_error(std::string_view action, const std::string& path, int code) {
  std::string message = "cannot ";
  message.append(action).append(" '").append(path).append("': ").append(std::system_category().message(code));
  switch (code) {
    case ENAMETOOLONG:
      return invalid_argument(std::move(message));
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return unavailable(std::move(message));
    default:
      return io_error(std::move(message));
  }
}

Generation generation_of(const struct stat& status) {
  const std::uint64_t words[] = {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                                 static_cast<std::uint64_t>(status.st_mtim.tv_sec),
                                 static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
  return {std::string(reinterpret_cast<const char*>(words), sizeof words)};
}

timespec time_after(const timespec& before) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (now.tv_sec != before.tv_sec ? now.tv_sec > before.tv_sec : now.tv_nsec > before.tv_nsec) return now;
  timespec next = before;
  if (++next.tv_nsec == 1'000'000'000) next = {before.tv_sec + 1, 0};
  return next;
}

MadeDirectory::~MadeDirectory() {
  for (const auto& name : std::views::reverse(made)) {
    if (os::unlinkat(above.get(), name.c_str(), AT_REMOVEDIR) != 0) break;
  }
}

std::string FileTree::path(std::string_view key) const {
  std::string path;
  path.reserve(root_.size() + 1 + key.size());
  return path.append(root_).append("/").append(key);
}

Result<Fd> FileTree::open_file(const std::string& key) const {
  const std::string whole = path(key);
  if (options_.follow_symlinks) {
    Fd file(open_at(AT_FDCWD, whole.c_str(), kRead));
    if (file) return file;
    if (!is_absent(errno)) return system_error("open", whole, errno);
    if (const auto link = broken_link(whole, root_.size())) return broken_symlink(*link);
    return file;
  }
  const auto [prefix, name] = split_key(key);
  SHERD_TRY(directory, walk_to(prefix, kWalk));
  if (!directory) return Fd();
  Fd file(open_at(directory.get(), std::string(name).c_str(), kRead | O_NOFOLLOW));
  if (file || is_absent(errno)) return file;
  if (errno == ELOOP) return refused_symlink(whole);
  return system_error("open", whole, errno);
}

Result<Fd> FileTree::open_directory(std::string_view prefix) const {
  if (!options_.follow_symlinks) return walk_to(prefix, kList);
  const std::string whole = path(prefix);
  Fd directory(open_at(AT_FDCWD, whole.c_str(), kList));
  if (directory) return directory;
  if (!is_absent(errno)) return system_error("open", whole, errno);
  if (const auto link = broken_link(whole, root_.size())) return broken_symlink(*link);
  return directory;
}

Result<Fd> FileTree::walk_to(std::string_view prefix, int flags) const {
  Fd at(open_at(AT_FDCWD, path("").c_str(), prefix.empty() ? flags : kWalk));
  int code = errno;
  for (std::size_t begin = 0; at && begin < prefix.size();) {
    const std::size_t end = prefix.find('/', begin);
    const std::string name(prefix.substr(begin, end - begin));
    begin = end + 1;
    Fd next(open_at(at.get(), name.c_str(), (begin == prefix.size() ? flags : kWalk) | O_NOFOLLOW));
    code = errno;
    if (!next && is_symlink(at.get(), name.c_str())) return refused_symlink(path(prefix.substr(0, end)));
    at = std::move(next);
  }
  if (!at && !is_absent(code)) return system_error("open", path(prefix), code);
  return at;
}

Result<MadeDirectory> FileTree::make_directory(std::string_view prefix) const {
  // A walk could create a directory that is too deep for any path to open it.
  if (path(prefix).size() + kMaxSegmentBytes >= PATH_MAX) return system_error("make", path(prefix), ENAMETOOLONG);
  Backoff backoff(options_.patience->interrupted);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    MadeDirectory directory;
    SHERD_TRY(found, open_directory(prefix));
    directory.fd = std::move(found);
    SHERD_TRY(directory.fd ? sync_entry(directory.fd, prefix) : make_missing(prefix, directory));
    if (directory.fd) return directory;
    SHERD_TRY(backoff.wait());
  }
  return system_error("make", path(prefix), ENOENT);
}

Result<void> FileTree::sync(int directory, std::string_view prefix) const {
  if (!options_.durable || os::fsync(directory) == 0) return {};
  return system_error("sync", path(prefix), errno);
}

/// Leaves directory.fd empty if others are creating and removing the same directories at this moment.
Result<void> FileTree::make_missing(std::string_view prefix, MadeDirectory& directory) const {
  const std::string whole = path(prefix);
  Fd at(open_at(AT_FDCWD, "/", kWalk));
  bool is_synced = false;  // the entry of `at`
  for (std::size_t begin = 1; at && begin < whole.size();) {
    const std::size_t end = std::min(whole.find('/', begin), whole.size());
    const std::string name = whole.substr(begin, end - begin);
    const bool follow = begin <= root_.size() || options_.follow_symlinks;
    begin = end + 1;
    if (name.empty()) continue;
    const int flags = follow ? kWalk : kWalk | O_NOFOLLOW;
    Fd next(open_at(at.get(), name.c_str(), flags));
    const bool is_missing = !next && errno == ENOENT;
    if (is_missing) {
      if (!is_synced) SHERD_TRY(sync_entry(at, prefix));
      SHERD_TRY(make_one(at, name, directory));
      next = Fd(open_at(at.get(), name.c_str(), flags));
    }
    if (const int code = errno; !next && code != ENOENT) {
      if (!follow && is_symlink(at.get(), name.c_str())) return refused_symlink(whole.substr(0, end));
      if (code == ENOTDIR)
        return conflict("'" + whole.substr(0, end) + "' is a file; nothing can be stored below it").lasting();
      return system_error("open", whole.substr(0, end), code);
    }
    if (is_missing && !next && is_symlink(at.get(), name.c_str())) return broken_symlink(whole.substr(0, end));
    is_synced = is_missing;
    at = std::move(next);
  }
  if (!at) return {};
  const auto made = options_.durable && is_synced ? identity_of(at) : std::nullopt;
  if (made) synced_->add(*made);
  if (!made) SHERD_TRY(sync_entry(at, prefix));
  directory.fd = Fd(open_at(at.get(), ".", kList));
  return {};
}

/// A process that has just created a directory may not have synced the parent yet. It does so before it creates another
/// one below, so only the last entry of an existing path is in doubt. A directory that is a mount point, or below an
/// unreadable directory, was not created by a writer.
Result<void> FileTree::sync_entry(const Fd& directory, std::string_view prefix) const {
  if (!options_.durable || keeps_names_in_order(directory.get())) return {};
  const auto identity = identity_of(directory);
  if (!identity) return system_error("look at", path(prefix), errno);
  if (synced_->contains(*identity)) return {};
  const Fd above(open_at(directory.get(), "..", kList));
  const auto around = identity_of(above);
  if (around && around->device == identity->device && os::fsync(above.get()) != 0)
    return system_error("sync the directory above", path(prefix), errno);
  synced_->add(*identity);
  return {};
}

Result<void> FileTree::make_one(const Fd& at, const std::string& name, MadeDirectory& directory) const {
  if (os::mkdirat(at.get(), name.c_str(), 0777) == 0) {
    if (directory.made.empty()) directory.above = Fd(os::duplicate(at.get()));
    directory.made.push_back(directory.made.empty() ? name : directory.made.back() + "/" + name);
  } else if (errno == ENOENT) {
    return {};  // another writer removed the parent, which was empty: the caller tries again
  } else if (errno != EEXIST) {
    return system_error("make the directory", name, errno);
  }
  const int code = options_.durable ? sync_walked(at.get()) : 0;
  if (code != 0) return system_error("sync the directory above", name, code);
  return {};
}

}  // namespace sherd
