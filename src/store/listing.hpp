// Shared by stores for listing their contents.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sherd/store.hpp"

namespace sherd {

/// The maximum number of entries of a list in memory, as in remote stores.
inline constexpr std::size_t kListPage = 1000;

/// Store::visit() with ListDepth::all, for stores that list one level at a time. The objects of a directory are visited
/// before those of its subdirectories, whose names are kept in memory meanwhile.
Result<bool> visit_levels(Store& store, const std::string& prefix, const OnEntry& visit);

/// Whether visit() finds nothing below `prefix`. Only ListDepth::all shows that there are no objects: some servers list
/// the directories of erased objects as prefixes for ever.
Result<bool> lists_nothing(Store& store, const std::string& prefix, ListDepth depth = ListDepth::all);

/// Erases the objects directly below `prefix`, possibly millions, except those whose keys are kept. Returns the names
/// of the prefixes there.
Result<std::vector<std::string>> erase_objects(Store& store, const std::string& prefix,
                                               const std::function<bool(const std::string& key)>& is_kept);

/// The error of visit() in a store that cannot list.
[[nodiscard]] Error cannot_list(const Store& store);
/// Whether visit() failed because the store cannot list its objects or a server does not allow it. Then objects are
/// asked for by their keys.
[[nodiscard]] bool is_unlisted(const Error& error);
/// The version of an object that a list has shown, without a request, where the store can make one of it
/// (CopyingStore::listed()); otherwise nullptr.
[[nodiscard]] std::shared_ptr<ByteSource> listed_source(const Store& store, const std::string& key, std::uint64_t size,
                                                        const Generation& generation);

}  // namespace sherd
