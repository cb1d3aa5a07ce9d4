// Keeps account of the space in the side file. A superseded member's space is used again when no source reads it any
// more, so rewriting a member many times does not make the archive larger many times.
#include "store/zip_session.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <new>
#include <system_error>
#include <utility>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "store/key.hpp"
#include "store/key_locks.hpp"
#include "store/read_into.hpp"
#include "store/zip_encode.hpp"

namespace sherd {
namespace {

constexpr std::size_t kChecksumBlock = std::size_t{1} << 20;
/// Members up to this size are written together with their header.
constexpr std::size_t kSmallMember = std::size_t{64} << 10;

Result<std::unique_ptr<FileLock>> take_lock(const FileTree& tree, const std::string& key) {
  if (tree.options().lock == Locking::none) {
    const std::function<std::string()> object = [&] { return tree.path(key); };
    LockWait wait(*tree.options().patience, object);
    return FileLock::take(tree, key, wait);
  }
  const auto [prefix, name] = split_key(key);
  SHERD_TRY(directory, tree.make_directory(prefix));
  SHERD_TRY(lock, FileLock::take_now(std::move(directory), name));
  if (lock) {
    SHERD_TRY(check_excluded(*lock, tree, key));
    return lock;
  }
  return conflict("another writer has the zip archive '" + tree.path(key) +
                  "': only one at a time can change it; wait until it has finished")
      .lasting();
}

/// Calls `visit` with the beginning and end of each run of data and each hole of a file, in order. Where the file
/// system does not tell, everything is data.
Result<void> for_each_run(
    FileSource& file, std::uint64_t size,
    const std::function<Result<void>(std::uint64_t from, std::uint64_t to, bool is_hole)>& visit) {
  for (std::uint64_t at = 0; at < size;) {
    std::int64_t data = os::lseek(file.fd(), at, SEEK_DATA);
    if (data < 0) data = errno == ENXIO ? static_cast<std::int64_t>(size) : static_cast<std::int64_t>(at);
    const std::uint64_t from = std::min(static_cast<std::uint64_t>(data), size);
    if (from > at) SHERD_TRY(visit(at, from, true));
    const std::int64_t hole = from < size ? os::lseek(file.fd(), from, SEEK_HOLE) : -1;
    at = hole < 0 ? size : std::min(static_cast<std::uint64_t>(hole), size);
    if (at > from) SHERD_TRY(visit(from, at, false));
  }
  return {};
}

Result<std::uint32_t> checksum(FileSource& file, std::uint64_t size) {
  Scratch block;
  SHERD_TRY(block->resize(static_cast<std::size_t>(std::min<std::uint64_t>(size, kChecksumBlock))));
  std::uint32_t crc = 0;
  SHERD_TRY(for_each_run(file, size, [&](std::uint64_t at, std::uint64_t to, bool is_hole) -> Result<void> {
    if (is_hole)
      std::ranges::fill(block->span().first(static_cast<std::size_t>(std::min<std::uint64_t>(to - at, block->size()))),
                        std::byte{0});
    while (at < to) {
      SHERD_TRY(check_interrupted());
      const auto bytes = block->span().first(static_cast<std::size_t>(std::min<std::uint64_t>(to - at, block->size())));
      if (!is_hole) SHERD_TRY(read_into(file, at, bytes));
      crc = crc32_after(crc, bytes);
      at += bytes.size();
    }
    return {};
  }));
  return crc;
}

}  // namespace

ZipSpooled::~ZipSpooled() { session_->release(where_); }

Result<std::shared_ptr<ZipSession>> ZipSession::begin(const FileTree& tree, const std::string& key) {
  const auto locks = std::make_shared<KeyLocks>();
  const std::function<std::string()> object = [&] { return tree.path(key); };
  LockWait wait(*tree.options().patience, object);
  SHERD_TRY(hold, locks->take(key, wait));
  SHERD_TRY(lock, take_lock(tree, key).in_key(key));
  std::shared_ptr<ZipSession> session(new ZipSession);
  session->path_ = tree.path(key);
  session->name_ = split_key(key).name;
  session->directory_ = Fd(os::openat(lock->directory(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Another open file than that of the lock, which must not outlive the writer.
  const std::string side_file = side_file_of(session->name_, kLockSuffix);
  session->file_ = Fd(os::openat(lock->directory(), side_file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status{};
  if (!session->directory_ || !session->file_ || os::fstat(session->file_.get(), status) != 0)
    return system_error("open", session->path_, errno).in_key(key);
  session->generation_ = generation_of(status).token;
  hold->file_lock = std::move(lock);
  SHERD_TRY(hold->begin_writer());
  session->writer_ = std::make_unique<FileWriter>(key, std::move(hold), tree, locks);
  session->writer_->survive_failures();  // the space of a member that was not added is free again
  return session;
}

ZipSession::Place ZipSession::allocate(const ZipStored& stored) {
  std::string header = zip_local_header(stored);
  const std::uint64_t bytes = header.size() + stored.size;
  const std::lock_guard guard(mutex_);
  const auto fits = std::ranges::find_if(free_, [&](const auto& range) { return range.second >= bytes; });
  Extent where{end_, bytes};
  const bool is_new = fits == free_.end();
  if (is_new) {
    end_ += bytes;
  } else {
    where.offset = fits->first;
    const std::uint64_t rest = fits->second - bytes;
    free_.erase(fits);
    if (rest > 0) free_.emplace(where.end(), rest);
  }
  auto member = std::make_shared<ZipSpooled>(shared_from_this(), where);
  member->crc = stored.crc;
  member->size = stored.size;
  member->generation = {generation_ + ":n" + std::to_string(++added_)};
  return {std::move(member), std::move(header), is_new};
}

void ZipSession::release(const Extent& where) noexcept try {
  const std::lock_guard guard(mutex_);
  Extent range = where;
  const auto after = free_.find(range.end());
  if (after != free_.end()) {
    range.length += after->second;
    free_.erase(after);
  }
  const auto next = free_.upper_bound(range.offset);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == range.offset) {
      before->second += range.length;
      return;
    }
  }
  free_.emplace(range.offset, range.length);
} catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the space stays unused
}

std::uint64_t ZipSession::open_front() noexcept {
  if (front_ == 0) return 0;
  release({0, std::exchange(front_, 0)});
  const std::lock_guard guard(mutex_);
  const auto front = free_.find(0);
  return front != free_.end() ? front->second : 0;
}

Result<std::uint64_t> ZipSession::trim() {
  const std::lock_guard guard(mutex_);
  if (free_.empty()) return end_;
  const auto last = std::prev(free_.end());
  if (last->first + last->second != end_) return end_;
  SHERD_TRY(writer_->truncate(last->first));
  end_ = last->first;
  free_.erase(last);
  return end_;
}

Result<void> ZipSession::cut() {
  const std::lock_guard guard(mutex_);
  return writer_->truncate(end_);
}

Result<std::shared_ptr<const ZipSpooled>> ZipSession::add(const std::string& key, std::span<const std::byte> bytes,
                                                          std::uint64_t padding) {
  padding = padding < kMinZipPadding ? 0 : std::min(padding, kMaxZipPadding);
  const auto [member, header, is_new] =
      allocate({.key = key, .crc = crc32(bytes), .size = bytes.size(), .padding = padding});
  if (bytes.size() > kSmallMember) {
    SHERD_TRY(writer_->write(member->header(), as_bytes(header)));
    SHERD_TRY(writer_->write(member->data(), bytes));
    return member;
  }
  Scratch together;
  SHERD_TRY(together->append(as_bytes(header)));
  SHERD_TRY(together->append(bytes));
  SHERD_TRY(writer_->write(member->header(), together->span()));
  return member;
}

Result<std::shared_ptr<const ZipSpooled>> ZipSession::add(const std::string& key, FileSource& file) {
  SHERD_TRY(size, file.size());
  SHERD_TRY(crc, checksum(file, size));
  const auto [member, header, is_new] = allocate({.key = key, .crc = crc, .size = size});
  SHERD_TRY(writer_->write(member->header(), as_bytes(header)));
  SHERD_TRY(is_new ? copy_data(file, size, member->data()) : writer_->copy(file, 0, size, member->data()));
  return member;
}

/// Copies to where nothing has been written yet: what is a hole in the file becomes one there.
Result<void> ZipSession::copy_data(FileSource& file, std::uint64_t size, std::uint64_t to) {
  SHERD_TRY(for_each_run(file, size, [&](std::uint64_t from, std::uint64_t end, bool is_hole) {
    return is_hole ? Result<void>() : writer_->copy(file, from, end - from, to + from);
  }));
  return size > 0 ? writer_->copy(file, size - 1, 1, to + size - 1) : Result<void>();  // it may be in a hole
}

Result<Fd> ZipSession::unnamed_file() const {
  Fd file(os::openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)) {
    if (!file) return system_error("make a temporary file beside", path_, errno);
    return file;
  }
  // Its name is that of a side file, which is ignored and removed if this process is killed right here.
  static std::atomic<std::uint64_t> made{0};
  const std::string name = side_file_of(name_ + "." + std::to_string(++made), kLockSuffix);
  os::unlinkat(directory_.get(), name.c_str(), 0);
  file = Fd(os::openat(directory_.get(), name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_error("make a temporary file beside", path_, errno);
  if (os::unlinkat(directory_.get(), name.c_str(), 0) != 0)
    return system_error("remove a temporary file beside", path_, errno);
  return file;
}

Result<void> ZipSession::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (!is_of_this_process())
    return conflict("the process that writes the zip archive '" + path_ + "' has not finished it").lasting();
  const ssize_t count = os::pread_all(file_.get(), into, offset);
  if (count < 0) return system_error("read", path_, errno);
  if (static_cast<std::size_t>(count) == into.size()) return {};
  return conflict("another program changed the zip archive '" + path_ + "' while it was written");
}

}  // namespace sherd
