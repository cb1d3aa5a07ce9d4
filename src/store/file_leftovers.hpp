// What killed writers leave in the directories of a file store (file.cpp describes it), and the removal of everything
// in a directory.
#pragma once

#include <string>

#include "store/capabilities.hpp"
#include "store/file_tree.hpp"
#include "store/key.hpp"

namespace sherd {

/// Deeper directories cannot be reached by any key.
inline constexpr int kMaxDirectoryDepth = static_cast<int>(kMaxKeyBytes / 2);

/// Files first: an array without metadata is gone, while one without its chunks would read as fill values.
/// Symbolic links are removed, never entered.
Result<void> erase_children(int directory, const std::string& path, int depth);

/// Removes leftovers in a directory, as far as possible, unless it is very large.
void sweep(int directory, bool is_root);

/// LeftoverStore::remove_leftovers().
Result<void> remove_leftovers_in(const FileTree& tree, const std::string& prefix, const OnLeftover& removed);

}  // namespace sherd
