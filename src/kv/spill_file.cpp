// Knows how to make a file that nobody else sees and that is gone however this process ends: it never has a name where
// the file system can do that, and otherwise only until it has been opened.
#include "kv/spill_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/try.hpp"

namespace sherd {
namespace {

/// File systems without O_TMPFILE say so in several ways; all others fail again here.
Fd open_named(const std::string& directory) {
  std::string path = directory + "/.sherd-build-XXXXXX";
  Fd file(::mkostemp(path.data(), O_CLOEXEC));
  if (file) ::unlink(path.c_str());
  return file;
}

}  // namespace

Result<std::unique_ptr<SpillFile>> SpillFile::make(const std::string& directory) {
  std::filesystem::path place = directory;
  std::error_code ignored;
  while (place.has_relative_path() && !std::filesystem::is_directory(place, ignored)) place = place.parent_path();
  if (place.empty()) place = ".";
  Fd file(::open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) file = open_named(place.string());
  if (!file) return system_error("make a temporary file in", place.string(), errno);
  return std::unique_ptr<SpillFile>(new SpillFile(std::move(file), place.string()));
}

Result<void> SpillFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return system_error("write", name_, count < 0 ? errno : ENOSPC)
          .in("a build needs room for its values; name another directory for temporary files");
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> SpillFile::read(std::span<const RangeRead> ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto [offset, into] = ranges[i];
    while (!into.empty()) {
      const ssize_t count = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return system_error("read", name_, count < 0 ? errno : EIO);
      offset += static_cast<std::uint64_t>(count);
      into = into.subspan(static_cast<std::size_t>(count));
    }
  }
  return {};
}

}  // namespace sherd
