// What stores share to list what they hold.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sherd/store.hpp"

namespace sherd {

/// How many entries a list has in memory at a time, as remote stores have it.
inline constexpr std::size_t kListPage = 1000;

/// Store::visit() with ListDepth::all, for stores that list one level at a time. The objects of a directory are visited
/// before those of the directories in it, whose names wait in memory.
Result<bool> visit_levels(Store& store, const std::string& prefix, const OnEntry& visit);

/// Erases the objects directly below `prefix`, possibly millions, apart from those whose keys are kept.
/// Returns the names of the prefixes there.
Result<std::vector<std::string>> erase_objects(Store& store, const std::string& prefix,
                                               const std::function<bool(const std::string& key)>& is_kept);

/// What a store that cannot list answers to visit().
[[nodiscard]] Error cannot_list(const Store& store);

}  // namespace sherd
