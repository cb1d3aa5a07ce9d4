// Changes a file in place, by the protocol at the top of file.cpp: appended bytes are written and synced while nothing
// refers to them; then old bytes are overwritten and synced. Until the first of these is written, giving up truncates
// the appended bytes. Aligned ones are visible with the one call that writes them.
#include "store/file_amender.hpp"

#include <linux/magic.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/buffer.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"
#include "os/calls.hpp"
#include "store/amendment.hpp"
#include "store/file_tree.hpp"
#include "store/key.hpp"

namespace sherd {

bool appends_at_once(int fd) noexcept {
  struct statfs system{};
  struct ::statx status{};
  if (os::fstatfs(fd, system) != 0 || os::statx(fd, status) != 0) return false;
  const auto type = static_cast<std::uint32_t>(system.f_type);
  const bool is_known = type == EXT4_SUPER_MAGIC || type == XFS_SUPER_MAGIC || type == OVERLAYFS_SUPER_MAGIC;
  const std::uint32_t alignment = (status.stx_mask & STATX_DIOALIGN) != 0 ? status.stx_dio_offset_align : 0;
  return is_known && alignment != 0 && alignment <= kAppendAlignment;
}

bool is_local(int fd) noexcept {
  constexpr std::uint32_t kCifs = 0xff534d42, kSmb2 = 0xfe534d42;
  struct statfs system{};
  if (os::fstatfs(fd, system) != 0) return false;
  const auto type = static_cast<std::uint32_t>(system.f_type);
  return type != NFS_SUPER_MAGIC && type != kCifs && type != kSmb2 && type != V9FS_MAGIC && type != AFS_SUPER_MAGIC;
}

namespace {

/// With several names each would see the change, while replacing an object leaves its other names unchanged.
Result<Fd> open_amendable(int directory, const std::string& name, const Generation& of, struct stat& status) {
  Fd file(os::openat(directory, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file && errno == ENOENT) return conflict("another writer has erased the object");
  if (!file || os::fstat(file.get(), status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1 ||
      !is_local(file.get()))
    return Fd();
  if (generation_of(status) != of) return conflict("another writer has changed the object");
  return file;
}

class FileAmender {
 public:
  FileAmender(const std::string& key, int directory, Fd object, const struct stat& status, bool durable)
      : key_(key), directory_(directory), object_(std::move(object)), status_(status), durable_(durable) {}
  FileAmender(const FileAmender&) = delete;
  FileAmender& operator=(const FileAmender&) = delete;
  /// If truncating fails, dead bytes remain after the end.
  ~FileAmender() {
    if (!overwritten_) (void)!os::ftruncate(object_.get(), old_size());
  }

  Result<Generation> amend(const Amendment& amendment) {
    if (amendment.alignment != 0 && !amendment.appended.empty()) return amend_at_once(amendment);
    std::uint64_t end = old_size();
    for (const auto& bytes : amendment.appended) {
      SHERD_TRY(put(end, bytes));
      end += bytes.size();
    }
    SHERD_TRY(check_named());
    if (!amendment.appended.empty()) SHERD_TRY(sync());
    return overwrite(amendment).in(
        [] { return "the new version is written in part, and may be lost in a power failure"; });
  }

 private:
  [[nodiscard]] std::uint64_t old_size() const noexcept { return static_cast<std::uint64_t>(status_.st_size); }
  [[nodiscard]] Error failed(std::string_view action) const { return system_error(action, key_, errno); }

  /// The new version is visible as soon as its appended bytes are written.
  Result<Generation> amend_at_once(const Amendment& amendment) {
    SHERD_TRY(check_named());
    SHERD_TRY(append_at_once(amendment));
    overwritten_ = true;
    const auto finish = [&]() -> Result<Generation> {
      if (!amendment.overwrites.empty() && os::set_direct(object_.get(), false) != 0)
        return failed("open for buffered writes");
      for (const auto& [offset, bytes] : amendment.overwrites) SHERD_TRY(put(offset, bytes));
      SHERD_TRY(sync());
      struct stat status{};
      if (os::fstat(object_.get(), status) != 0) return failed("look at");
      return generation_of(status);
    };
    return finish().in([] { return "the new version is written, but may be lost in a power failure"; });
  }

  Result<void> append_at_once(const Amendment& amendment) {
    std::uint64_t size = 0;
    for (const auto& bytes : amendment.appended) size += bytes.size();
    Buffer block;
    SHERD_TRY(block.grow(size + amendment.alignment));
    const auto address = reinterpret_cast<std::uintptr_t>(block.data());
    std::byte* const aligned = block.data() + ceil_div(address, amendment.alignment) * amendment.alignment - address;
    std::uint64_t at = 0;
    for (const auto& bytes : amendment.appended) {
      std::memcpy(aligned + at, bytes.data(), bytes.size());
      at += bytes.size();
    }
    if (os::set_direct(object_.get(), true) != 0) return failed("open for direct writes");
    const ssize_t written = os::pwrite_once(object_.get(), {aligned, size}, appended_at(amendment));
    if (written < 0) return failed("write");
    if (static_cast<std::uint64_t>(written) == size) return {};
    return io_error("cannot write '" + key_ + "': only " + std::to_string(written) + " of " + std::to_string(size) +
                    " bytes were written, and are removed");
  }

  Result<void> put(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (os::pwrite_all(object_.get(), bytes, offset) != 0) return failed("write");
    return {};
  }

  /// That the name still is that of the object.
  [[nodiscard]] Result<void> check_named() const {
    struct stat named{};
    const std::string name(split_key(key_).name);
    const bool is_named = os::fstatat(directory_, name.c_str(), named, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_named && errno != ENOENT) return failed("look at");
    if (!is_named || named.st_dev != status_.st_dev || named.st_ino != status_.st_ino)
      return conflict("the object was replaced while it was amended");
    return {};
  }

  /// Of the metadata only the size must be durable: a time that is lost costs a journal's commit less. After a failed
  /// sync the pages may be marked as written although they are not, so it is never repeated.
  Result<void> sync() {
    if (durable_ && os::fdatasync(object_.get()) != 0) return failed("sync");
    return {};
  }

  Result<Generation> overwrite(const Amendment& amendment) {
    overwritten_ = true;
    for (const auto& [offset, bytes] : amendment.overwrites) SHERD_TRY(put(offset, bytes));
    struct stat status{};
    if (os::fstat(object_.get(), status) != 0) return failed("look at");
    const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time_after(status.st_mtim)};
    if (os::futimens(object_.get(), times) != 0) return failed("set the time of");
    SHERD_TRY(sync());
    if (os::fstat(object_.get(), status) != 0) return failed("look at");
    return generation_of(status);
  }

  const std::string& key_;
  const int directory_;
  const Fd object_;
  const struct stat status_;  ///< before anything was changed
  const bool durable_;
  bool overwritten_ = false;  ///< the object refers to the appended bytes
};

}  // namespace

Result<std::optional<Generation>> amend_file(const std::string& key, const FileLock& lock, const Amendment& amendment,
                                             bool durable) {
  struct stat status{};
  SHERD_TRY(object, open_amendable(lock.directory(), std::string(split_key(key).name), amendment.of, status));
  const bool in_one_step = amendment.alignment != 0 && !amendment.appended.empty();
  const bool is_possible =
      object && (!in_one_step || (amendment.alignment % kAppendAlignment == 0 && appends_at_once(object.get())));
  if (!is_possible) return std::optional<Generation>();
  SHERD_TRY(generation, FileAmender(key, lock.directory(), std::move(object), status, durable).amend(amendment));
  return std::optional(std::move(generation));
}

}  // namespace sherd
