#include "store/file_leftovers.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "store/file_entries.hpp"
#include "store/file_lock.hpp"
#include "store/move_order.hpp"

namespace sherd {
namespace {

/// The maximum number of entries that are searched in a directory when something is written into it.
constexpr std::size_t kMaxSweptEntries = 10000;

/// Removes everything below a scratch directory whose maker is gone, unless it contains a copy that can be resumed.
bool remove_scratch(int directory, const std::string& name) {
  MadeDirectory here;
  here.fd = Fd(os::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!here.fd) return false;
  const auto lock = FileLock::try_take(std::move(here), name);
  const Fd scratch(os::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (lock == nullptr || !scratch) return false;
  const auto entries = entries_of(scratch.get(), name);
  if (!entries || !entries->files.empty()) return false;
  return erase_children(scratch.get(), name, 0) && os::unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0;
}

/// The side files in all directories below one.
class Leftovers {
 public:
  explicit Leftovers(const OnLeftover& removed) : removed_(removed) {}

  /// Removes the locks, whose holders are gone, and collects the links.
  Result<void> in(const Fd& directory, const std::string& prefix, int depth) {
    if (depth > kMaxDirectoryDepth) return invalid_argument("'" + prefix + "' is nested too deeply");
    SHERD_TRY(entries, entries_of(directory.get(), prefix));
    for (const std::string& name : entries.side_files) {
      if (name.ends_with(kLinkSuffix))
        links_.emplace_back(prefix, name);
      else if (FileLock::remove_abandoned(directory.get(), name))
        SHERD_TRY(removed_(prefix + name));
    }
    for (const std::string& name : entries.directories) {
      if (prefix.empty() && name.starts_with(kScratchPrefix) && remove_scratch(directory.get(), name)) {
        SHERD_TRY(removed_(name));
        continue;
      }
      const Fd child(os::openat(directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
      if (child) SHERD_TRY(in(child, prefix + name + "/", depth + 1));
    }
    return {};
  }

  /// After all locks: a link that still has another name is the next version of a second name, which its next writer
  /// puts in place.
  Result<void> remove_links(const FileTree& tree) const {
    for (const auto& [prefix, name] : links_) {
      SHERD_TRY(directory, tree.open_directory(prefix));
      struct stat status{};
      if (!directory || os::fstatat(directory.get(), name.c_str(), status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (status.st_nlink == 1 && FileLock::remove_abandoned(directory.get(), name)) SHERD_TRY(removed_(prefix + name));
    }
    return {};
  }

 private:
  const OnLeftover& removed_;
  std::vector<std::pair<std::string, std::string>> links_;
};

}  // namespace

Result<void> erase_children(int directory, const std::string& path, int depth) {
  if (depth > kMaxDirectoryDepth) return invalid_argument("'" + path + "' is nested too deeply");
  SHERD_TRY(entries, entries_of(directory, path));
  // In the reverse order of moves: while a node's document exists, everything else does.
  std::ranges::sort(entries.files, [](const auto& a, const auto& b) { return is_moved_before(b, a); });
  for (const auto& name : entries.files) {
    if (os::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT) {
      return system_error("erase", std::string(path).append("/").append(name), errno);
    }
  }
  for (const auto& name : entries.directories) {
    const std::string below = std::string(path).append("/").append(name);
    const Fd child(os::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!child && errno == ENOENT) continue;
    if (!child) return system_error("open", below, errno);
    SHERD_TRY(erase_children(child.get(), below, depth + 1));
    if (os::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOTEMPTY && errno != ENOENT) {
      return system_error("erase", below, errno);
    }
  }
  for (const auto& name : entries.side_files) FileLock::remove_abandoned(directory, name);
  return {};
}

void sweep(int directory, bool is_root) {
  std::size_t seen = 0;
  std::vector<std::string> side_files, scratch;
  (void)for_each_entry(directory, "", [&](const dirent64& entry) -> Result<bool> {
    const std::string_view name = entry.d_name;
    // A link shows the next writer of its object how to continue.
    if (is_side_file(name) && name.ends_with(kLockSuffix)) side_files.emplace_back(name);
    if (is_root && name.starts_with(kScratchPrefix)) scratch.emplace_back(name);
    return ++seen < kMaxSweptEntries;
  });
  for (const auto& name : scratch) remove_scratch(directory, name);
  for (const auto& name : side_files) FileLock::remove_abandoned(directory, name);
}

Result<void> remove_leftovers_in(const FileTree& tree, const std::string& prefix, const OnLeftover& removed) {
  SHERD_TRY(directory, tree.open_directory(prefix).in_key(prefix));
  if (!directory) return {};
  Leftovers leftovers(removed);
  SHERD_TRY(leftovers.in(directory, prefix, 0));
  return leftovers.remove_links(tree);
}

}  // namespace sherd
