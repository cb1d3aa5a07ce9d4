// Changes an object of a file store in place: bytes after its end, and a few before it.
#pragma once

#include <optional>
#include <string>

#include "sherd/store.hpp"
#include "store/file_lock.hpp"

namespace sherd {

/// Store::amend() of the object that `lock` holds, by the protocol at the top of file.cpp. Returns nullopt, having
/// changed nothing, if the object must be replaced instead: if it is not a regular file with a single name on a local
/// file system.
Result<std::optional<Generation>> amend_file(const std::string& key, const FileLock& lock, const Amendment& amendment,
                                             bool durable);

}  // namespace sherd
