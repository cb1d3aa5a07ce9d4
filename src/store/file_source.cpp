// Reads files with pread until all bytes are there, in the version that was opened. Other programs and amenders change
// existing files: afterwards each read of a source opened before is a `conflict`, so that an older index is never used
// with newer data.
#include "store/file_source.hpp"

#include <cerrno>
#include <system_error>

#include "base/try.hpp"
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

}  // namespace

Result<void> FileSource::read(std::span<const RangeRead> ranges) {
  for (const auto& [offset, into] : ranges) {
    SHERD_TRY(check_range(offset, into.size(), bytes()).in_key(key_));
    SHERD_TRY(read_range(file_.get(), offset, into).in_key(key_));
  }
  return check_unchanged();
}

Result<void> FileSource::check_unchanged() const {
  struct stat now{};
  if (os::fstat(file_.get(), now) != 0) return system_error("look at", key_, errno).in_key(key_);
  if (now.st_size == status_.st_size && now.st_mtim.tv_sec == status_.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == status_.st_mtim.tv_nsec)
    return {};
  return conflict("another program wrote into the file while it was read; try again when no other process writes to it")
      .in_key(key_);
}

}  // namespace sherd
