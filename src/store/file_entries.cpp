// Reads directories and distinguishes files, directories and the side files of writers.
#include "store/file_entries.hpp"

#include <cerrno>

#include "store/key.hpp"

namespace sherd {

Result<std::optional<struct stat>> look_at(int directory, const std::string& name, Links links) {
  struct stat status{};
  if (os::fstatat(directory, name.c_str(), status, links == Links::follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0)
    return std::optional(status);
  const int code = errno;
  const bool is_link = links == Links::follow &&
                       os::fstatat(directory, name.c_str(), status, AT_SYMLINK_NOFOLLOW) == 0 &&
                       S_ISLNK(status.st_mode);
  if (is_link) return std::optional(status);
  if (code == ENOENT) return std::optional<struct stat>();
  return system_error("look at", name, code);
}

Result<Entries> entries_of(int directory, const std::string& path) {
  Entries entries;
  SHERD_TRY(for_each_entry(directory, path, [&](const dirent64& entry) -> Result<bool> {
    bool is_directory = entry.d_type == DT_DIR;
    if (entry.d_type == DT_UNKNOWN) {
      SHERD_TRY(status, look_at(directory, entry.d_name, Links::keep));
      is_directory = status && S_ISDIR(status->st_mode);
    }
    auto& list = is_directory ? entries.directories : is_side_file(entry.d_name) ? entries.side_files : entries.files;
    list.emplace_back(entry.d_name);
    return true;
  }));
  return entries;
}

}  // namespace sherd
