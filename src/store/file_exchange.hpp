// Exchanges directories of a file store, where the file system can do that in one step.
#pragma once

#include <string>

#include "sherd/result.hpp"
#include "store/file_lock.hpp"
#include "store/file_tree.hpp"

namespace sherd {

/// See RenamingStore; `to` is not empty.
[[nodiscard]] Result<bool> exchange_directories(const FileTree& tree, const std::string& from, const std::string& to);

/// Where a store's root is while it is exchanged with a directory inside it: next to it, under a name that belongs to
/// no node. After a kill, it is what was to be the root, or was it.
struct RootNeighbor {
  std::string directory;  ///< that contains the root, after links
  std::string root;       ///< its name there
  std::string name;       ///< of the neighbor
};
/// nullopt if the root does not exist, or is that of the file system.
[[nodiscard]] std::optional<RootNeighbor> neighbor_of_root(const FileTree& tree);

/// Exchanges the root with the directory `from` inside it. There must be nothing under the neighbor's name. `lock` is
/// in the root, and in the new root afterwards.
[[nodiscard]] Result<bool> exchange_root(const FileTree& tree, const std::string& from, const RootNeighbor& neighbor,
                                         FileLock& lock);

}  // namespace sherd
