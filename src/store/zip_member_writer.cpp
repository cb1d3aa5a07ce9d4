// Several writers are open at a time, and none knows the size of its member, so each has a place of its own until its
// commit. The kernel copies the unnamed files.
#include "store/zip_member_writer.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/try.hpp"
#include "store/file_source.hpp"
#include "store/reply.hpp"
#include "store/zip_source.hpp"

namespace sherd {
namespace {

/// Larger members are collected in files.
constexpr std::uint64_t kMaxBuffered = std::uint64_t{1} << 20;

/// The file that a source reads, and where in it the source begins; no file if that is unknown.
struct Beneath {
  const FileSource* file = nullptr;
  std::uint64_t offset = 0;
};

Result<Beneath> beneath(ByteSource& from) {
  if (const auto* file = dynamic_cast<const FileSource*>(&from)) return Beneath{file, 0};
  const auto* member = dynamic_cast<const ZipStoredSource*>(&from);
  if (member == nullptr) return Beneath{};
  const auto* archive = dynamic_cast<const FileSource*>(member->archive().source().get());
  if (archive == nullptr) return Beneath{};
  SHERD_TRY(data, member->archive().locate(member->member()).in_key(from.name()));
  return Beneath{archive, data};
}

}  // namespace

Result<void> ZipMemberWriter::spill() {
  SHERD_TRY(hold, contents_->begin());
  SHERD_TRY(file, hold.session->unnamed_file());
  file_ = std::move(file);
  if (os::pwrite_all(file_.get(), bytes_.span(), 0) != 0) return hold_.failed("write", errno);
  bytes_.reset();
  return {};
}

/// Makes room for the bytes from `offset` to `end`.
Result<void> ZipMemberWriter::extend(std::uint64_t offset, std::uint64_t end, bool to_file) {
  const std::unique_lock guard(mutex_);
  if (!file_ && (to_file || end > kMaxBuffered)) SHERD_TRY(spill());
  if (!file_ && end > size_) {
    SHERD_TRY(bytes_.grow(static_cast<std::size_t>(end)));
    if (offset > size_) std::memset(bytes_.data() + size_, 0, static_cast<std::size_t>(offset - size_));
  }
  size_ = std::max(size_, end);
  return {};
}

Result<void> ZipMemberWriter::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  SHERD_TRY(end, hold_.check_write(offset, bytes.size()));
  SHERD_TRY(extend(offset, end, false).in_key(key_));
  const std::shared_lock guard(mutex_);
  if (file_) return os::pwrite_all(file_.get(), bytes, offset) == 0 ? Result<void>{} : hold_.failed("write", errno);
  if (!bytes.empty()) std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
  return {};
}

Result<void> ZipMemberWriter::copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                                   std::uint64_t to_offset) {
  SHERD_TRY(end, hold_.check_write(to_offset, length));
  SHERD_TRY(size, from.size());
  SHERD_TRY(check_range(from_offset, length, size).in_key(from.name()));
  SHERD_TRY(source, beneath(from));
  std::uint64_t done = 0;
  if (source.file != nullptr && length > kMaxBuffered) {
    SHERD_TRY(extend(to_offset, end, true).in_key(key_));
    const std::shared_lock guard(mutex_);
    if (const auto* member = dynamic_cast<const ZipStoredSource*>(&from); member != nullptr && length == size)
      copied_ = Copied{from.name(), member->member()};
    while (done < length) {
      const ssize_t count = os::copy_file_range(source.file->fd(), source.offset + from_offset + done, file_.get(),
                                                to_offset + done, length - done);
      if (count <= 0) break;
      done += static_cast<std::uint64_t>(count);
    }
    SHERD_TRY(source.file->check_unchanged());
  }
  return ObjectWriter::copy(from, from_offset + done, length - done, to_offset + done);
}

Result<void> ZipMemberWriter::commit(const Condition& condition) {
  SHERD_TRY(hold_.check_usable());
  auto replaced = replace(condition);
  hold_.end();
  return replaced;
}

Result<void> ZipMemberWriter::replace(const Condition& condition) {
  SHERD_TRY(contents_->check(key_, condition));
  SHERD_TRY(hold, contents_->begin());
  SHERD_TRY(member, add(*hold.session).in_key(key_));
  const bool is_copy = copied_ && copied_->member.size == member->size;
  if (is_copy && copied_->member.crc != member->crc) return wrong_checksum(copied_->key);
  Generation generation = member->generation;
  SHERD_TRY(contents_->accept(key_, std::move(member), condition));
  committed_ = std::move(generation);
  return {};
}

Result<std::shared_ptr<const ZipSpooled>> ZipMemberWriter::add(ZipSession& session) {
  if (!file_) return session.add(key_, bytes_.span());
  struct stat status{};
  if (os::fstat(file_.get(), status) != 0) return hold_.failed("look at", errno);
  if (static_cast<std::uint64_t>(status.st_size) < size_ &&
      (os::ftruncate(file_.get(), size_) != 0 || os::fstat(file_.get(), status) != 0))
    return hold_.failed("extend", errno);
  FileSource file(key_, std::move(file_), status);
  return session.add(key_, file);
}

}  // namespace sherd
