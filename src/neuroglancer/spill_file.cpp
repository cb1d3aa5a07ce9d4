// Creates a file that no other process sees and that is gone however this process ends: it never has a name if the file
// system supports that, otherwise only until it has been opened.
#include "neuroglancer/spill_file.hpp"

#include <cerrno>
#include <filesystem>

#include "base/try.hpp"
#include "os/calls.hpp"

namespace sherd {
namespace {

/// File systems without O_TMPFILE return various errors; all other errors will occur here again.
Fd open_named(const std::string& directory) {
  std::string path = directory + "/.sherd-build-XXXXXX";
  Fd file(os::mkostemp(path.data(), O_CLOEXEC));
  if (file) os::unlinkat(AT_FDCWD, path.c_str(), 0);
  return file;
}

}  // namespace

Result<std::unique_ptr<SpillFile>> SpillFile::make(const std::string& directory) {
  std::filesystem::path location = directory;
  while (location.has_relative_path() && !os::is_directory(location.c_str())) location = location.parent_path();
  if (location.empty()) location = ".";
  Fd file(os::openat(AT_FDCWD, location.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) file = open_named(location.string());
  if (!file) return system_error("make a temporary file in", location.string(), errno);
  return std::unique_ptr<SpillFile>(new SpillFile(std::move(file), location.string()));
}

Result<void> SpillFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (os::pwrite_all(file_.get(), bytes, offset) == 0) return {};
  return system_error("write", name_, errno)
      .in("building needs space for the values; choose another directory for temporary files");
}

Result<void> SpillFile::read(std::span<const RangeRead> ranges) {
  for (const auto& [offset, into] : ranges) {
    const ssize_t count = os::pread_all(file_.get(), into, offset);
    if (count < 0) return system_error("read", name_, errno);
    if (static_cast<std::size_t>(count) != into.size()) return system_error("read", name_, EIO);
  }
  return {};
}

}  // namespace sherd
