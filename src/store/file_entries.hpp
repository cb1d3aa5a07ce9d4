// The entries of a directory, as a file store sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/try.hpp"
#include "os/calls.hpp"
#include "os/directory.hpp"
#include "sherd/result.hpp"
#include "store/file_tree.hpp"

namespace sherd {

/// The contents of a directory, processed by the caller after reading all of it.
struct Entries {
  std::vector<std::string> files;  ///< everything but directories
  std::vector<std::string> directories;
  std::vector<std::string> side_files;
};
[[nodiscard]] Result<Entries> entries_of(int directory, const std::string& path);

enum class Links : std::uint8_t { follow, keep };
/// The status of one entry, or nothing if it has vanished. A link that cannot be followed, such as one that leads
/// nowhere or to itself, is listed as an object, and opening it is an error.
[[nodiscard]] Result<std::optional<struct stat>> look_at(int directory, const std::string& name, Links links);

/// Calls visit(entry) for each entry of a directory except `.` and `..`, until it returns false.
template <class Visit>
Result<void> for_each_entry(int directory, const std::string& path, const Visit& visit) {
  os::Directory entries(directory);
  while (const dirent64* entry = entries.next()) {
    SHERD_TRY(more, visit(*entry));
    if (!more) return {};
  }
  if (entries.error() != 0) return system_error("list", path, entries.error());
  return {};
}

}  // namespace sherd
