// Moves directories of a file store by renaming them, as far as the file system allows.
#pragma once

#include <string>

#include "sherd/result.hpp"
#include "store/file_tree.hpp"

namespace sherd {

/// Renames a directory, or the symbolic link to one, so that all of it moves at once; its new name must be free.
/// Returns false if this is not possible; `not_found` if nothing has the old name.
[[nodiscard]] Result<bool> move_directory(const FileTree& tree, const std::string& from, const std::string& to);

/// See RenamingStore.
[[nodiscard]] Result<bool> may_move_directory(const FileTree& tree, const std::string& from, const std::string& to);

/// Renames the entries of one directory into another, directories first; enters those that exist already. Directories
/// into which others put something meanwhile are kept.
[[nodiscard]] Result<void> move_children(const FileTree& tree, int from, const std::string& prefix, int to,
                                         const std::string& new_prefix);

}  // namespace sherd
