// Writing files: the side file beside the object, which becomes the object by rename. The protocol, of which this is
// the part between taking the lock and giving it back, stands at the top of file.cpp.
#include "store/file_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "store/file_source.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kMaxFileBytes = ~std::uint64_t{0} >> 1;

/// Copies inside the kernel, by reference where the file system shares blocks; gives how much was copied before it
/// could go no further that way.
std::uint64_t copy_in_kernel(int from, std::uint64_t from_offset, int to, std::uint64_t to_offset,
                             std::uint64_t length) {
  std::uint64_t done = 0;
  while (done < length) {
    auto read_at = static_cast<off64_t>(from_offset + done);
    auto write_at = static_cast<off64_t>(to_offset + done);
    const ssize_t count = ::copy_file_range(from, &read_at, to, &write_at, length - done, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::uint64_t>(count);
  }
  return done;
}

}  // namespace

FileWriter::FileWriter(std::string key, std::shared_ptr<KeyHold> hold, FileTree::Options options)
    : key_(std::move(key)), name_(split_key(key_).name), options_(options), hold_(std::move(hold)) {}

FileWriter::~FileWriter() { end(); }

/// The side file has become the object or holds an unfinished one: either way it is of no further use.
void FileWriter::end() noexcept {
  if (!hold_) return;
  hold_->beneath.reset();
  hold_->end_writer();
  hold_.reset();
}

Error FileWriter::failed(std::string_view action, int code) {
  failed_ = true;
  return system_error(action, key_, code).in_key(key_);
}

Result<void> FileWriter::usable() {
  if (!hold_) return invalid_argument("a writer ends with its commit").in_key(key_);
  if (failed_) return io_error("an earlier write of this object has failed").in_key(key_);
  return {};
}

Result<void> FileWriter::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  SHERD_TRY(usable());
  const auto end = checked_add(offset, bytes.size());
  if (!end || *end > kMaxFileBytes) return invalid_argument("a write ends beyond 2^63 bytes").in_key(key_);
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(side_file().fd(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("write", count < 0 ? errno : ENOSPC);
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> FileWriter::copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                              std::uint64_t to_offset) {
  SHERD_TRY(usable());
  std::uint64_t done = 0;
  if (const auto* file = dynamic_cast<const FileSource*>(&from)) {
    if (from_offset > file->bytes() || length > file->bytes() - from_offset) {
      return corrupt("a copy ends beyond the object's " + std::to_string(file->bytes()) + " bytes").in_key(from.name());
    }
    if (to_offset > kMaxFileBytes - length) return invalid_argument("a copy ends beyond 2^63 bytes").in_key(key_);
    done = copy_in_kernel(file->fd(), from_offset, side_file().fd(), to_offset, length);
  }
  // What the kernel would not copy (across devices, say) is read and written; a real failure shows itself again there.
  if (done == length) return {};
  return ObjectWriter::copy(from, from_offset + done, length - done, to_offset + done);
}

Result<void> FileWriter::commit(const Condition& condition) {
  SHERD_TRY(usable());
  auto replaced = replace(condition);
  end();
  return replaced;
}

Result<void> FileWriter::replace(const Condition& condition) {
  SHERD_TRY(old, present());
  if (condition.kind == Condition::Kind::absent && old) return conflict("the object exists already").in_key(key_);
  if (condition.kind == Condition::Kind::matches && (!old || generation_of(*old) != condition.generation)) {
    return conflict("another writer has changed the object").in_key(key_);
  }
  SHERD_TRY(finish(old));
  struct stat status{};
  if (::fstat(side_file().fd(), &status) != 0) return failed("look at", errno);
  SHERD_TRY(publish());
  committed_ = generation_of(status);
  return {};
}

Result<std::optional<struct stat>> FileWriter::present() const {
  struct stat status{};
  const int flags = options_.follow_symlinks ? 0 : AT_SYMLINK_NOFOLLOW;
  if (::fstatat(side_file().directory(), name_.c_str(), &status, flags) == 0) return std::optional(status);
  if (errno == ENOENT) return std::optional<struct stat>();
  return system_error("look at", key_, errno).in_key(key_);
}

/// Gives the new version its mode and time, and brings it to the disk. After a failed fsync the pages may count as
/// written although they are not, so it is never repeated.
Result<void> FileWriter::finish(const std::optional<struct stat>& present) {
  if (present && ::fchmod(side_file().fd(), present->st_mode & 0777) != 0) return failed("set the mode of", errno);
  const timespec time = time_after(present ? present->st_mtim : timespec{});
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time};
  if (::futimens(side_file().fd(), times) != 0) return failed("set the time of", errno);
  if (options_.durable) {
    if (::fsync(side_file().fd()) != 0) return failed("sync", errno);
  } else {
    // Network file systems tell on close that a write has failed; a second descriptor asks without ending the lock.
    Fd second(::fcntl(side_file().fd(), F_DUPFD_CLOEXEC, 0));
    if (!second) return failed("write", errno);
    if (const int code = second.close()) return failed("write", code);
  }
  return {};
}

Result<void> FileWriter::publish() {
  if (const int code = side_file().publish(name_)) {
    if (code == ENOENT) return conflict("the next version was erased while it was written").in_key(key_);
    if (code == EISDIR) return conflict("there are objects below this key").in_key(key_);
    return failed("rename", code);
  }
  if (options_.durable && ::fsync(side_file().directory()) != 0) {
    return system_error("sync the directory of", key_, errno)
        .in("the new version is in place but may not outlive a power failure")
        .in_key(key_);
  }
  return {};
}

}  // namespace sherd
