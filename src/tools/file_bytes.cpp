// Files of the local file system: reading at any place, and writing under a temporary name until all is there.
// Import reads regular files only, because their size bounds what a header may claim.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/try.hpp"
#include "tools/files.hpp"

namespace sherd {
namespace {

/// Longer names would be too long for a file system with something added to them.
constexpr std::size_t kLongestNamed = 200;
constexpr std::size_t kLargestCall = std::size_t{1} << 30;

// The file that `path` names after links, so that replacing it does not replace the link.
std::string resolved(const std::string& path) {
  std::error_code failure;
  const auto real = std::filesystem::canonical(path, failure);
  return failure ? path : real.string();
}

}  // namespace

Error file_error(std::string_view what, const std::string& path, int number) {
  const std::string reason = std::generic_category().message(number);
  const auto code = number == ENOENT || number == ENOTDIR ? ErrorCode::not_found
                    : number == EEXIST                    ? ErrorCode::conflict
                                                          : ErrorCode::io;
  return Error(code, std::string(what) + ": " + reason).in_key(path);
}

std::string temporary_name(const std::string& path) {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint64_t>(::getpid());
  const std::filesystem::path whole(path);
  std::string name = whole.filename().string();
  if (name.size() > kLongestNamed) name.clear();
  return (whole.parent_path() / ("." + name + "." + std::to_string(random))).string();
}

int put_in_place(const std::string& from, const std::string& to, bool overwrite) {
  if (overwrite) return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // Network file systems have no such rename, but links, which replace nothing either.
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());
  return 0;
}

Result<void> sync_directory(const std::string& file) {
  const auto parent = std::filesystem::path(file).parent_path();
  const std::string name = parent.empty() ? "." : parent.string();
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return file_error("cannot open the directory", name, errno);
  const int failed = ::fsync(descriptor);
  const int number = errno;
  ::close(descriptor);
  if (failed != 0) return file_error("cannot flush the directory", name, number);
  return {};
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

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path, WriteMode mode) {
  std::string real = resolved(path);
  struct stat status{};
  const bool exists = ::stat(real.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return invalid_argument("is a directory; name a file").in_key(path);
  if (exists && !S_ISREG(status.st_mode)) {
    const int descriptor = ::open(real.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return file_error("cannot open for writing", path, errno);
    return std::unique_ptr<OutputFile>(new OutputFile(std::move(real), {}, descriptor, mode));
  }
  if (exists && !mode.overwrite) return conflict("exists already").in_key(path);
  std::string temporary = temporary_name(real);
  // What nobody else may read is not shown while it is written, either.
  const mode_t access = exists ? status.st_mode & 0777 : 0666;
  const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, access);
  if (descriptor < 0) return file_error("cannot create", path, errno);
  std::unique_ptr<OutputFile> file(new OutputFile(std::move(real), std::move(temporary), descriptor, mode));
  if (exists && ::fchmod(descriptor, access) != 0) return file_error("cannot set the mode of", path, errno);
  return file;
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  end_ = offset + bytes.size();
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), kLargestCall);
    const ssize_t put = temporary_.empty() ? ::write(descriptor_, bytes.data(), size)
                                           : ::pwrite(descriptor_, bytes.data(), size, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return file_error("cannot write", path_, errno);
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> OutputFile::commit() {
  if (temporary_.empty()) return {};
  if (mode_.durable) {
    if (::fsync(descriptor_) != 0) return file_error("cannot flush", path_, errno);
  } else if (const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0); copy < 0 || ::close(copy) != 0) {
    // Network file systems tell on close that a write has failed.
    return file_error("cannot write", path_, errno);
  }
  if (const int code = put_in_place(temporary_, path_, mode_.overwrite))
    return file_error("cannot put in place", path_, code);
  temporary_.clear();
  if (mode_.durable) SHERD_TRY(sync_directory(path_));
  return {};
}

}  // namespace sherd
