// Files of the local file system, read at any place. Import reads regular files only, because their size bounds what a
// header may claim.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/try.hpp"
#include "tools/files.hpp"

namespace sherd {
namespace {

constexpr std::size_t kLargestCall = std::size_t{1} << 30;

}  // namespace

Error file_error(std::string_view what, const std::string& path, int number) {
  const std::string reason = std::generic_category().message(number);
  const auto code = number == ENOENT || number == ENOTDIR ? ErrorCode::not_found
                    : number == EEXIST                    ? ErrorCode::conflict
                                                          : ErrorCode::io;
  return Error(code, std::string(what) + ": " + reason).in_key(path);
}

Result<std::unique_ptr<InputFile>> InputFile::open(const std::string& path) {
  // A pipe without a writer would block; a regular file does not care.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return file_error("cannot open", path, errno);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return invalid_argument("is not a regular file; only those can be imported").in_key(path);
  }
  return std::unique_ptr<InputFile>(new InputFile(path, descriptor, static_cast<std::uint64_t>(status.st_size)));
}

InputFile::~InputFile() { ::close(descriptor_); }

Result<std::size_t> InputFile::read_some(std::uint64_t offset, std::span<std::byte> into) {
  for (;;) {
    const ssize_t got =
        ::pread(descriptor_, into.data(), std::min(into.size(), kLargestCall), static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return file_error("cannot read", path_, errno);
  }
}

Result<void> InputFile::read_at(std::uint64_t offset, std::span<std::byte> into) {
  if (offset > size_ || into.size() > size_ - offset)
    return corrupt("truncated: " + std::to_string(into.size()) + " bytes are wanted at byte " + std::to_string(offset) +
                   ", the file ends at byte " + std::to_string(size_))
        .in_key(path_);
  while (!into.empty()) {
    SHERD_TRY(got, read_some(offset, into));
    if (got == 0)
      return corrupt("became shorter while it was read; it ends at byte " + std::to_string(offset)).in_key(path_);
    offset += got;
    into = into.subspan(got);
  }
  return {};
}

}  // namespace sherd
