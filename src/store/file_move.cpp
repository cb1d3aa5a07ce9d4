// Moves directories of a file store. The locks of writers are files in the directories of their objects, so they move
// together with a directory that is renamed as a whole, or with a link to it.
#include "store/file_move.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/try.hpp"
#include "store/file_entries.hpp"
#include "store/file_lock.hpp"
#include "store/key.hpp"
#include "store/move_order.hpp"

namespace sherd {
namespace {

/// Whether a directory could not be renamed because a directory exists at the new name, perhaps through a link, or
/// because the name is on another file system.
bool can_be_entered(int code) noexcept {
  return code == ENOTEMPTY || code == EEXIST || code == ENOTDIR || code == EBUSY || code == EXDEV;
}

Error move_error(const std::string& from, const std::string& to, int code) {
  return system_error("move '" + from + "' to", to, code);
}

/// A name in a directory whose key prefix is `above`.
struct Name {
  int directory;
  std::string_view above;
  std::string name;
};

/// Whether a name is a link that has another target from other directories. Its text would have to change after a move,
/// which cannot be done in one step.
bool is_relative_link(int directory, const std::string& name) noexcept {
  char first = 0;
  return os::readlinkat(directory, name.c_str(), {&first, 1}) == 1 && first != '/';
}

Error nothing_to_move(std::string_view prefix) { return not_found("there is nothing to move here").in_key(prefix); }

/// Removes the directory that a link was exchanged with from the link's old name. False, and they are exchanged again,
/// if it is not empty.
Result<bool> remove_replaced(const FileTree& tree, const Name& from, const Name& to) {
  if (os::unlinkat(from.directory, from.name.c_str(), AT_REMOVEDIR) == 0) return true;
  if (os::renameat(from.directory, from.name.c_str(), to.directory, to.name.c_str(), RENAME_EXCHANGE) == 0)
    return false;
  return move_error(tree.path(to.above) + to.name, tree.path(from.above) + from.name, errno);
}

/// Renames a directory or a link to one. False if anything exists at the new name, if it is on another file system, or
/// if the link would have another target there.
Result<bool> rename_at_once(const FileTree& tree, const Name& from, bool is_link, const Name& to) {
  SHERD_TRY(occupied, look_at(to.directory, to.name, Links::keep));
  if (occupied && !S_ISDIR(occupied->st_mode)) return false;
  if (from.above != to.above && is_relative_link(from.directory, from.name)) return false;
  // A directory can replace an empty one, but a link cannot.
  const bool exchanges = occupied && is_link;
  const unsigned flags = exchanges ? RENAME_EXCHANGE : 0;
  if (os::renameat(from.directory, from.name.c_str(), to.directory, to.name.c_str(), flags) == 0)
    return exchanges ? remove_replaced(tree, from, to) : true;
  const int code = errno;
  if (can_be_entered(code) || (exchanges && code == EINVAL)) return false;  // EINVAL: the file system cannot exchange
  if (code == ENOENT) {
    SHERD_TRY(left, look_at(from.directory, from.name, Links::keep));
    if (!left) return nothing_to_move(std::string(from.above) + from.name + "/");
  }
  return move_error(tree.path(from.above) + from.name, tree.path(to.above) + to.name, code);
}

}  // namespace

Result<bool> move_directory(const FileTree& tree, const std::string& from, const std::string& to) {
  if (from.empty() || to.empty() || to.starts_with(from)) return false;
  const auto [above, name] = split_key(std::string_view(from).substr(0, from.size() - 1));
  const auto [new_above, new_name] = split_key(std::string_view(to).substr(0, to.size() - 1));
  SHERD_TRY(source, tree.open_directory(above).in_key(from));
  if (!source) return nothing_to_move(from);
  SHERD_TRY(status, look_at(source.get(), std::string(name), Links::keep).in_key(from));
  if (!status) return nothing_to_move(from);
  const bool is_link = S_ISLNK(status->st_mode);
  if (is_link) {
    SHERD_TRY(leads_to, look_at(source.get(), std::string(name), Links::follow).in_key(from));
    status = leads_to;
  }
  if (!status || !S_ISDIR(status->st_mode) || (is_link && !tree.options().follow_symlinks)) return false;
  SHERD_TRY(target, tree.make_directory(new_above).in_key(to));
  SHERD_TRY(moved, rename_at_once(tree, {source.get(), above, std::string(name)}, is_link,
                                  {target.fd.get(), new_above, std::string(new_name)}));
  if (!moved) return false;
  target.keep();
  SHERD_TRY(tree.sync(target.fd.get(), new_above).in_key(to));
  SHERD_TRY(tree.sync(source.get(), above).in_key(from));
  return true;
}

Result<bool> may_move_directory(const FileTree& tree, const std::string& from, const std::string& to) {
  const auto [above, name] = split_key(std::string_view(from).substr(0, from.size() - 1));
  std::string_view new_above = split_key(std::string_view(to).substr(0, to.size() - 1)).prefix;
  SHERD_TRY(source, tree.open_directory(above).in_key(from));
  if (!source) return nothing_to_move(from);
  if (above != new_above && is_relative_link(source.get(), std::string(name))) return false;
  // Missing directories are made where the nearest one is.
  SHERD_TRY(target, tree.open_directory(new_above).in_key(to));
  while (!target && !new_above.empty()) {
    new_above = split_key(new_above.substr(0, new_above.size() - 1)).prefix;
    SHERD_TRY(nearest, tree.open_directory(new_above).in_key(to));
    target = std::move(nearest);
  }
  struct stat one{};
  struct stat other{};
  return os::fstat(source.get(), one) != 0 || os::fstat(target.get(), other) != 0 || one.st_dev == other.st_dev;
}

Result<void> move_children(const FileTree& tree, int from, const std::string& prefix, int to,
                           const std::string& new_prefix) {
  SHERD_TRY(entries, entries_of(from, tree.path(prefix)));
  std::ranges::sort(entries.directories);
  std::ranges::sort(entries.files, is_moved_before);
  for (const auto& name : entries.directories) {
    if (os::renameat(from, name.c_str(), to, name.c_str()) == 0) continue;
    const std::string below = prefix + name + "/", new_below = new_prefix + name + "/";
    if (!can_be_entered(errno)) return move_error(tree.path(prefix + name), tree.path(new_prefix + name), errno);
    const Fd source(os::openat(from, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!source) return system_error("open", tree.path(prefix + name), errno);
    SHERD_TRY(target, tree.make_directory(new_below));
    SHERD_TRY(move_children(tree, source.get(), below, target.fd.get(), new_below));
    target.keep();
    if (os::unlinkat(from, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT && errno != ENOTEMPTY)
      return system_error("erase", tree.path(prefix + name), errno);
  }
  if (!entries.files.empty()) SHERD_TRY(tree.sync(to, new_prefix));
  for (const auto& name : entries.files)
    if (os::renameat(from, name.c_str(), to, name.c_str()) != 0)
      return move_error(tree.path(prefix + name), tree.path(new_prefix + name), errno);
  for (const auto& name : entries.side_files) FileLock::remove_abandoned(from, name);
  return tree.sync(to, new_prefix);
}

}  // namespace sherd
