// Writes files: the side file next to the object becomes the object by a rename. The whole protocol is at the top of
// file.cpp; this is the part between acquiring the lock and releasing it.
#include "store/file_writer.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/try.hpp"
#include "store/condition.hpp"
#include "store/file_source.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

/// Copies inside the kernel, by reference if the file system shares blocks: then only calls that begin with a block
/// share it, so the bytes before are a call of their own. Returns how many bytes were copied before this was no longer
/// possible.
std::uint64_t copy_in_kernel(int from, std::uint64_t from_offset, int to, std::uint64_t to_offset,
                             std::uint64_t length) {
  const std::uint64_t in_block = from_offset % kSharedBlock;
  const bool can_share = in_block == to_offset % kSharedBlock && length > kSharedBlock;
  const std::uint64_t head = can_share ? (kSharedBlock - in_block) % kSharedBlock : 0;
  std::uint64_t done = 0;
  while (done < length) {
    const std::uint64_t end = done < head ? head : length;
    const ssize_t count = os::copy_file_range(from, from_offset + done, to, to_offset + done, end - done);
    if (count <= 0) break;
    done += static_cast<std::uint64_t>(count);
  }
  return done;
}

/// Fewer zeros are written: a hole saves nothing.
constexpr std::size_t kHoleBytes = 4096;

bool is_zero(std::span<const std::byte> bytes) noexcept {
  return bytes.front() == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

bool is_same_file(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

FileWriter::FileWriter(std::string key, std::shared_ptr<KeyHold> hold, FileTree tree, std::shared_ptr<KeyLocks> locks)
    : key_(std::move(key)),
      name_(split_key(key_).name),
      tree_(std::move(tree)),
      locks_(std::move(locks)),
      hold_(std::move(hold), key_) {}

FileWriter::~FileWriter() { end(); }

/// The side file has become the object or contains an unfinished one; in both cases it is no longer needed.
void FileWriter::end() noexcept {
  if (second_ && second_->linked) os::unlinkat(second_->directory(), second_->side_file.c_str(), 0);
  second_.reset();
  hold_.end();
}

void FileWriter::reach(std::uint64_t end) noexcept {
  for (std::uint64_t seen = end_; seen < end && !end_.compare_exchange_weak(seen, end);) {
  }
}

Result<void> FileWriter::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  SHERD_TRY(hold_.check_write(offset, bytes.size()));
  const bool is_hole = leaves_holes_ && bytes.size() >= kHoleBytes && is_zero(bytes);
  if (is_hole || is_clone_) reach(offset + bytes.size());
  if (is_hole) return {};
  if (os::pwrite_all(side_file().fd(), bytes, offset) != 0) return hold_.failed("write", errno);
  return {};
}

Result<void> FileWriter::truncate(std::uint64_t offset) {
  SHERD_TRY(hold_.check_usable());
  if (os::ftruncate(side_file().fd(), offset) != 0) return hold_.failed("truncate", errno);
  return {};
}

Result<void> FileWriter::copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                              std::uint64_t to_offset) {
  SHERD_TRY(hold_.check_write(to_offset, length));
  std::uint64_t done = 0;
  const auto* file = dynamic_cast<const FileSource*>(&from);
  if (file != nullptr) {
    if (from_offset > file->bytes() || length > file->bytes() - from_offset) {
      return corrupt("a copy ends beyond the object's " + std::to_string(file->bytes()) + " bytes").in_key(from.name());
    }
    // A copy inside the kernel shares whole blocks only, and chunks do not begin at blocks.
    if (std::exchange(may_clone_, false)) is_clone_ = os::clone(file->fd(), side_file().fd()) == 0;
    leaves_holes_ = leaves_holes_ && !is_clone_;
    if (is_clone_) reach(to_offset + length);
    done = is_clone_ ? length : copy_in_kernel(file->fd(), from_offset, side_file().fd(), to_offset, length);
  }
  // Bytes that the kernel did not copy (across devices, say) are read and written; a real failure occurs there again.
  if (done < length) SHERD_TRY(ObjectWriter::copy(from, from_offset + done, length - done, to_offset + done));
  return file != nullptr ? file->check_unchanged() : Result<void>();
}

Result<void> FileWriter::commit(const Condition& condition) {
  SHERD_TRY(hold_.check_usable());
  auto replaced = replace(condition);
  end();
  return replaced;
}

Result<void> FileWriter::replace(const Condition& condition) {
  if (condition.kind == Condition::Kind::matches) SHERD_TRY(check_excluded(side_file(), tree_, key_));
  SHERD_TRY(old, present());
  SHERD_TRY(check_condition(condition, old.has_value(), [&] { return generation_of(*old); }).in_key(key_));
  SHERD_TRY(finish(old));
  struct stat status{};
  if (os::fstat(side_file().fd(), status) != 0) return hold_.failed("look at", errno);
  SHERD_TRY(publish(condition.kind == Condition::Kind::absent));
  committed_ = generation_of(status);
  return {};
}

Result<std::optional<struct stat>> FileWriter::present() const {
  struct stat status{};
  const int flags = tree_.options().follow_symlinks ? 0 : AT_SYMLINK_NOFOLLOW;
  if (os::fstatat(side_file().directory(), name_.c_str(), status, flags) == 0) return std::optional(status);
  if (errno == ENOENT) return std::optional<struct stat>();
  return system_error("look at", key_, errno).in_key(key_);
}

/// Sets mode and time of the new version, and syncs it to disk. After a failed fsync the pages may be marked as written
/// although they are not, so it is never repeated.
Result<void> FileWriter::finish(const std::optional<struct stat>& present) {
  if (end_ > 0) {
    struct stat status{};
    if (os::fstat(side_file().fd(), status) != 0) return hold_.failed("look at", errno);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if ((end_ > size || (is_clone_ && end_ < size)) && os::ftruncate(side_file().fd(), end_) != 0)
      return hold_.failed("set the size of", errno);
  }
  if (present && os::fchmod(side_file().fd(), present->st_mode & 0777) != 0)
    return hold_.failed("set the mode of", errno);
  const timespec time = time_after(present ? present->st_mtim : timespec{});
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time};
  if (os::futimens(side_file().fd(), times) != 0) return hold_.failed("set the time of", errno);
  if (tree_.options().durable) {
    if (os::fsync(side_file().fd()) != 0) return hold_.failed("sync", errno);
  } else {
    // Network file systems report a failed write on close; closing a second descriptor keeps the lock.
    Fd second(os::duplicate(side_file().fd()));
    if (!second) return hold_.failed("write", errno);
    if (const int code = second.close()) return hold_.failed("write", code);
  }
  return {};
}

Result<void> FileWriter::publish(bool is_new) {
  if (second_) SHERD_TRY(link_second());
  const bool others_may_make_it = is_new && side_file().refused() != 0;
  if (const int code = others_may_make_it ? side_file().publish_new(name_) : side_file().publish(name_)) {
    if (code == EEXIST) return conflict("the object exists already").in_key(key_);
    if (code == ENOENT)
      return conflict("another process erased the new version while it was being written").in_key(key_);
    if (code == EISDIR) return conflict("there are objects below this key").lasting().in_key(key_);
    return hold_.failed("rename", code);
  }
  auto synced = sync(side_file().directory(), key_).in([] {
    return "the new version is written, but may be lost in a power failure";
  });
  if (second_) SHERD_TRY(publish_second());  // even after a failure, because the two names must become one file
  return synced;
}

Result<void> FileWriter::sync(int directory, const std::string& key) const {
  if (!tree_.options().durable || os::fsync(directory) == 0) return {};
  return system_error("sync the directory of", key, errno).in_key(key);
}

Result<void> FileWriter::link(const std::string& key) {
  SHERD_TRY(hold_.check_usable());
  SHERD_TRY(check_key(key));
  if (key == key_ || second_) return invalid_argument("link() may be called once, with another key").in_key(key);
  const auto [prefix, name] = split_key(key);
  Second second{key, std::string(name), side_file_of(name, kLinkSuffix), nullptr};
  SHERD_TRY(held, hold_object(*locks_, tree_, key));
  second.hold = std::move(held);
  SHERD_TRY(repair(second).in_key(key));
  SHERD_TRY(check_pair(second).in_key(key));
  second_ = std::move(second);
  return {};
}

/// Continues after a writer that was killed between the two names, or removes leftovers of one that was killed earlier.
Result<void> FileWriter::repair(const Second& second) const {
  const int at = second.directory();
  struct stat left{};
  if (os::fstatat(at, second.side_file.c_str(), left, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return system_error("look at", second.key, errno);
  }
  struct stat first{};
  const bool is_first =
      os::fstatat(side_file().directory(), name_.c_str(), first, AT_SYMLINK_NOFOLLOW) == 0 && is_same_file(left, first);
  if (is_first && os::renameat(at, second.side_file.c_str(), at, second.name.c_str()) != 0)
    return system_error("rename", second.key, errno);
  // Renaming one name over another name of the same file keeps both.
  if (os::unlinkat(at, second.side_file.c_str(), 0) != 0 && errno != ENOENT)
    return system_error("remove", second.side_file, errno);
  return sync(at, second.key);
}

Result<void> FileWriter::check_pair(const Second& second) const {
  struct stat first{};
  struct stat other{};
  const bool has_first = os::fstatat(side_file().directory(), name_.c_str(), first, AT_SYMLINK_NOFOLLOW) == 0;
  if (!has_first && errno != ENOENT) return system_error("look at", key_, errno);
  if (os::fstatat(second.directory(), second.name.c_str(), other, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return system_error("look at", second.key, errno);
  }
  if (has_first && is_same_file(first, other)) return {};
  return conflict("is no longer the same file as '" + key_ +
                  "': a program that uses only one name has written there; remove the name that is not "
                  "to be kept, and if that is '" +
                  key_ + "', create it again as a hard link to the other")
      .lasting();
}

Result<void> FileWriter::link_second() {
  const int code = side_file().link(second_->directory(), second_->side_file);
  second_->linked = code == 0;
  switch (code) {
    case 0:
      return sync(second_->directory(), second_->key);
    case EPERM:
    case ENOSYS:
    case EOPNOTSUPP:
    case EMLINK:
    case EXDEV:
      return unsupported("cannot make a hard link to '" + key_ + "' (" + std::system_category().message(code) +
                         "): an object with two names needs one file system with hard links")
          .in_key(second_->key);
    case ENOENT:
      return conflict("another process erased the new version while it was being written").in_key(key_);
    default:
      return system_error("link", second_->key, code).in_key(second_->key);
  }
}

Result<void> FileWriter::publish_second() {
  const int at = second_->directory();
  if (os::renameat(at, second_->side_file.c_str(), at, second_->name.c_str()) != 0) {
    const int code = errno;
    second_->linked = false;  // kept, so that the next writer can continue
    return system_error("rename", second_->key, code)
        .in("the new version has its first name, and not yet its second")
        .in_key(second_->key);
  }
  second_->linked = false;
  return sync(at, second_->key).in([] { return "the new version is written, but may be lost in a power failure"; });
}

}  // namespace sherd
