// Moves directories of a file store by renaming what the file system allows to rename.
#pragma once

#include <functional>
#include <string>

#include "sherd/result.hpp"
#include "store/file_tree.hpp"

namespace sherd {

/// Renames a directory, or the symbolic link to one, where nothing is at its new name, so that all of it moves at once.
/// False if that cannot be done.
[[nodiscard]] Result<bool> move_directory(const FileTree& tree, const std::string& from, const std::string& to);

/// Moves what is left in a directory of another file system.
using CopyDirectory = std::function<Result<void>(const std::string& prefix, const std::string& new_prefix)>;

/// Renames what is in one directory into another, directories first; an existing one is entered. Directories in which
/// others put something meanwhile stay.
[[nodiscard]] Result<void> move_children(const FileTree& tree, int from, const std::string& prefix, int to,
                                         const std::string& new_prefix, const CopyDirectory& copy);

}  // namespace sherd
