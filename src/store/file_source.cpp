// Reads files with pread until all bytes are there, in the version that was opened. Other programs and amenders change
// existing files: afterwards each read of a source opened before is a `conflict`, so that an older index is never used
// with newer data. The exception is a file that has become longer, if the owner of the source finds the version intact.
#include "store/file_source.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/try.hpp"
#include "store/amendment.hpp"
#include "store/file_amender.hpp"
#include "store/reply.hpp"

namespace sherd {
namespace {

Result<void> read_range(int fd, std::uint64_t offset, std::span<std::byte> into) {
  const ssize_t count = os::pread_all(fd, into, offset);
  if (count < 0) return io_error(std::string("cannot read: ").append(std::system_category().message(errno)));
  if (static_cast<std::size_t>(count) == into.size()) return {};
  return conflict("another program cut the file short, to " +
                  std::to_string(offset + static_cast<std::uint64_t>(count)) +
                  " bytes, while it was read; try again when no other process writes to it");
}

bool is_same(const struct stat& a, const struct stat& b) noexcept {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

class FileSource::Present final : public ByteSource {
 public:
  explicit Present(const FileSource& of) : of_(of) {}

  [[nodiscard]] const std::string& name() const noexcept override { return of_.key_; }
  Result<std::uint64_t> size() override { return of_.bytes(); }
  Result<Generation> generation() override { return generation_of(of_.status_); }
  Result<void> read(std::span<const RangeRead> ranges) override {
    for (const auto& [offset, into] : ranges) {
      SHERD_TRY(check_range(offset, into.size(), of_.bytes()).in_key(of_.key_));
      SHERD_TRY(read_range(of_.file_.get(), offset, into).in_key(of_.key_));
    }
    return {};
  }

 private:
  const FileSource& of_;
};

Result<void> FileSource::read(std::span<const RangeRead> ranges) {
  SHERD_TRY(Present(*this).read(ranges));
  return check_unchanged();
}

Result<void> FileSource::check_unchanged() const {
  SHERD_TRY(unchanged, is_unchanged().in_key(key_));
  if (unchanged) return {};
  return conflict("another program wrote into the file while it was read; try again when no other process writes to it")
      .in_key(key_);
}

/// An append sets the time of the file first and its size a moment later.
Result<bool> FileSource::is_unchanged() const {
  constexpr int kLooks = 40;
  constexpr std::chrono::microseconds kPause{250};
  const std::lock_guard hold(mutex_);
  for (int looks = 0; looks < kLooks; ++looks) {
    struct stat now{};
    if (os::fstat(file_.get(), now) != 0) return system_error("look at", key_, errno);
    if (is_same(now, seen_)) return true;
    if (!is_intact_ || now.st_size < seen_.st_size) return false;
    if (now.st_size > seen_.st_size) return has_only_grown(now);
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

Result<bool> FileSource::has_only_grown(struct stat now) const {
  Present present(*this);
  SHERD_TRY(is_intact, is_intact_(present));
  if (is_intact) seen_ = now;
  return is_intact;
}

void FileSource::outlive_appends(IsIntact is_intact) {
  const std::lock_guard hold(mutex_);
  is_intact_ = std::move(is_intact);
}

Appending FileSource::appending() {
  if (status_.st_nlink != 1) return {.obstacle = kSeveralNames};
  if (appends_at_once(file_.get())) return {.alignment = kAppendAlignment};
  if (!is_local(file_.get())) return {.obstacle = kFarAway};
  return {.obstacle = "readers may see a part of an append in this file system"};
}

}  // namespace sherd
