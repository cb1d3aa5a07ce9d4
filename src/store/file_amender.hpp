// Changes an object of a file store in place: bytes after its end, and a few before it.
#pragma once

#include <optional>
#include <string>

#include "sherd/store.hpp"
#include "store/file_lock.hpp"

namespace sherd {

/// The alignment of bytes that are appended in one step: the largest block of these file systems.
inline constexpr std::uint64_t kAppendAlignment = 4096;

/// Whether readers of the open file find either all or none of the bytes that one direct write appends to it. That is
/// known of ext4, XFS and overlayfs, where the kernel reports an alignment of direct writes: ext4 with data=journal has
/// none.
[[nodiscard]] bool appends_at_once(int fd) noexcept;

/// Whether the open file is in a file system of this machine. Clients of another one have their own page caches, and
/// may see two writes in another order.
[[nodiscard]] bool is_local(int fd) noexcept;

/// Store::amend() of the object that `lock` holds, by the protocol at the top of file.cpp. Returns nullopt, having
/// changed nothing, if the object must be replaced instead: if it is not a regular file with a single name on a local
/// file system.
Result<std::optional<Generation>> amend_file(const std::string& key, const FileLock& lock, const Amendment& amendment,
                                             bool durable);

}  // namespace sherd
