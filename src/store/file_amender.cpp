// Changes a file in place, by the protocol at the top of file.cpp: appended bytes are written and synced while nothing
// refers to them; then single words of the old bytes are overwritten and synced. Until the first of those words is
// written, giving up truncates the appended bytes.
#include "store/file_amender.hpp"

#include <linux/magic.h>
#include <unistd.h>

#include <cerrno>

#include "base/try.hpp"
#include "store/condition.hpp"
#include "store/file_lock.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

/// Clients of a network file system have their own page caches, and may see two writes in another order.
bool is_local(int fd) noexcept {
  constexpr std::uint32_t kCifs = 0xff534d42, kSmb2 = 0xfe534d42;
  struct statfs system{};
  if (os::fstatfs(fd, system) != 0) return false;
  const auto type = static_cast<std::uint32_t>(system.f_type);
  return type != NFS_SUPER_MAGIC && type != kCifs && type != kSmb2 && type != V9FS_MAGIC && type != AFS_SUPER_MAGIC;
}

}  // namespace

Result<Fd> FileAmender::open(int directory, const std::string& name, const Generation& of, struct stat& status) {
  Fd file(os::openat(directory, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file && errno == ENOENT) return conflict("another writer has erased the object");
  // With several names each would see the change, while replacing an object leaves its other names unchanged.
  if (!file || os::fstat(file.get(), status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1 ||
      !is_local(file.get()))
    return Fd();
  if (generation_of(status) != of) return conflict("another writer has changed the object");
  return file;
}

FileAmender::FileAmender(std::string key, std::shared_ptr<KeyHold> hold, Fd object, const struct stat& status,
                         bool durable)
    : key_(std::move(key)),
      hold_(std::move(hold), key_),
      object_(std::move(object)),
      status_(status),
      durable_(durable),
      process_(::getpid()) {}

FileAmender::~FileAmender() { end(); }

void FileAmender::end() noexcept {
  if (hold_.ended()) return;
  // A child of fork() only inherits the writer. If truncating fails, dead bytes remain after the end.
  if (!overwritten_ && process_ == ::getpid()) (void)!os::ftruncate(object_.get(), old_size());
  hold_.end();
}

Result<void> FileAmender::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (os::pwrite_all(object_.get(), bytes, offset) != 0) return hold_.failed("write", errno);
  return {};
}

Result<void> FileAmender::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  SHERD_TRY(end, hold_.check_write(offset, bytes.size()));
  if (offset >= old_size()) return put(offset, bytes);
  if (end > old_size()) return invalid_argument("a write crosses the object's end").in_key(key_);
  const std::lock_guard guard(mutex_);
  overwrites_[offset].assign(bytes.begin(), bytes.end());
  return {};
}

Result<void> FileAmender::check(const Condition& condition) const {
  SHERD_TRY(check_condition(condition, true, [&] { return generation_of(status_); }).in_key(key_));
  struct stat named{};
  const int directory = hold_.file_lock().directory();
  const std::string name(split_key(key_).name);
  const bool is_named = os::fstatat(directory, name.c_str(), named, AT_SYMLINK_NOFOLLOW) == 0;
  if (!is_named && errno != ENOENT) return system_error("look at", key_, errno).in_key(key_);
  if (!is_named || named.st_dev != status_.st_dev || named.st_ino != status_.st_ino)
    return conflict("the object was replaced while it was amended").in_key(key_);
  return {};
}

/// After a failed fsync the pages may be marked as written although they are not, so it is never repeated.
Result<void> FileAmender::sync() {
  if (durable_ && os::fsync(object_.get()) != 0) return hold_.failed("sync", errno);
  return {};
}

Result<void> FileAmender::overwrite() {
  for (const auto& [offset, bytes] : overwrites_) {
    overwritten_ = true;
    SHERD_TRY(put(offset, bytes));
  }
  overwritten_ = true;
  struct stat status{};
  if (os::fstat(object_.get(), status) != 0) return hold_.failed("look at", errno);
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time_after(status.st_mtim)};
  if (os::futimens(object_.get(), times) != 0) return hold_.failed("set the time of", errno);
  SHERD_TRY(sync());
  if (os::fstat(object_.get(), status) != 0) return hold_.failed("look at", errno);
  committed_ = generation_of(status);
  return {};
}

Result<void> FileAmender::commit(const Condition& condition) {
  SHERD_TRY(hold_.check_usable());
  auto done = check(condition);
  if (done) done = sync();
  if (done)
    done = overwrite().in([] { return "the new version is written in part, and may be lost in a power failure"; });
  end();
  return done;
}

}  // namespace sherd
