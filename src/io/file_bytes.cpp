// Files of the local file system, read at any offset. Import reads only regular files, because their size bounds what a
// header may claim.
#include <cerrno>
#include <system_error>

#include "base/try.hpp"
#include "io/files.hpp"
#include "os/calls.hpp"

namespace sherd {

Error file_error(std::string_view what, const std::string& path, int number) {
  const std::string reason = std::generic_category().message(number);
  const auto code = number == ENOENT || number == ENOTDIR ? ErrorCode::not_found
                    : number == EEXIST                    ? ErrorCode::conflict
                                                          : ErrorCode::io;
  return Error(code, std::string(what) + ": " + reason).in_key(path);
}

Result<std::unique_ptr<InputFile>> InputFile::open(const std::string& path) {
  // A pipe without a writer would block; a regular file is not affected.
  const int descriptor = os::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return file_error("cannot open", path, errno);
  struct stat status{};
  if (os::fstat(descriptor, status) != 0 || !S_ISREG(status.st_mode)) {
    os::close(descriptor);
    return invalid_argument("is not a regular file; only those can be imported").in_key(path);
  }
  return std::unique_ptr<InputFile>(new InputFile(path, descriptor, static_cast<std::uint64_t>(status.st_size)));
}

InputFile::~InputFile() { os::close(descriptor_); }

Result<std::size_t> InputFile::read_some(std::uint64_t offset, std::span<std::byte> into) {
  const ssize_t got = os::pread(descriptor_, into, offset);
  if (got < 0) return file_error("cannot read", path_, errno);
  return static_cast<std::size_t>(got);
}

Result<void> InputFile::read_at(std::uint64_t offset, std::span<std::byte> into) {
  if (offset > size_ || into.size() > size_ - offset)
    return corrupt("truncated: " + std::to_string(into.size()) + " bytes are wanted at byte " + std::to_string(offset) +
                   ", the file ends at byte " + std::to_string(size_))
        .in_key(path_);
  const ssize_t got = os::pread_all(descriptor_, into, offset);
  if (got < 0) return file_error("cannot read", path_, errno);
  if (static_cast<std::size_t>(got) == into.size()) return {};
  return corrupt("became shorter while it was read; it ends at byte " +
                 std::to_string(offset + static_cast<std::uint64_t>(got)))
      .in_key(path_);
}

}  // namespace sherd
