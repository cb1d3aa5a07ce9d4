// The keys that any store allows: rules that keep a key inside its store.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sherd/result.hpp"

namespace sherd {

inline constexpr std::size_t kMaxKeyBytes = 4096;
inline constexpr std::size_t kMaxSegmentBytes = 255;

/// `invalid_argument` if the key is empty, absolute or too long, or has a segment that is empty, `.`, `..`, contains a
/// NUL byte or is the name of a side file. All other bytes are ordinary, including `\` and `%`.
[[nodiscard]] Result<void> check_key(std::string_view key);
/// A prefix is empty, or a key with a trailing `/`.
[[nodiscard]] Result<void> check_prefix(std::string_view prefix);

/// `.NAME.sherd-lock` is the file that a writer keeps next to an object while it works, and `.NAME.sherd-link` a new
/// version before it gets this second name. No object may have such a name.
inline constexpr std::string_view kLockSuffix = ".sherd-lock";
inline constexpr std::string_view kLinkSuffix = ".sherd-link";
[[nodiscard]] bool is_side_file(std::string_view name) noexcept;
/// The side file of an object with one of these suffixes.
[[nodiscard]] std::string side_file_of(std::string_view name, std::string_view suffix);

/// Below `.sherd-new-…/` at a store's root something is being made by the holder of the lock of that name. If the lock
/// is free, the maker is gone, and it may be removed unless there is an object directly in it: a note for a maker that
/// will resume it.
inline constexpr std::string_view kScratchPrefix = ".sherd-new-";

/// Whether Store::wait_for_writers(prefix) waits for the holder of this key. What is being made below `.sherd-new-…/`
/// is not part of what is stored at the root, and may take long.
[[nodiscard]] inline bool is_waited_for(std::string_view key, std::string_view prefix) noexcept {
  return key.starts_with(prefix) && !(prefix.empty() && key.starts_with(kScratchPrefix));
}

/// Sherd's own files, whose names no object or node may have.
[[nodiscard]] inline bool is_ours(std::string_view name) noexcept { return name.starts_with(".sherd-"); }
/// Whether a segment of a key other than the first is such a name.
[[nodiscard]] inline bool has_ours_below(std::string_view key) noexcept { return key.find("/.sherd-") != key.npos; }

/// The old version of the object KEY that a repair has changed: `KEY.sherd-backup`, or `KEY.sherd-backup-2` and so on.
/// It is an ordinary object, which belongs to the node of KEY, and which nothing reads.
[[nodiscard]] std::string backup_of(std::string_view key, unsigned number);
[[nodiscard]] bool is_backup(std::string_view name) noexcept;

/// The common prefix of the keys below a path inside a store.
[[nodiscard]] inline std::string prefix_of(std::string_view path) {
  return path.empty() ? std::string() : std::string(path) + "/";
}

/// The path to which a relative path leads from a directory; nullopt if it is outside the store.
[[nodiscard]] std::optional<std::string> path_below(const std::string& directory, std::string_view relative);

/// The key's last segment, and everything before it including the `/`.
struct KeyParts {
  std::string_view prefix;
  std::string_view name;
};
[[nodiscard]] KeyParts split_key(std::string_view key) noexcept;

}  // namespace sherd
