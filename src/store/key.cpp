// The rules for keys. They are the same for every store, so that objects can be copied between stores: segments between
// single slashes, none of them `.` or `..`, of at most 255 bytes, as in file systems.
#include "store/key.hpp"

#include "base/text.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::string_view kBackupSuffix = ".sherd-backup";

Result<void> check_segment(std::string_view segment) {
  if (segment.empty()) return invalid_argument("a key cannot have empty segments, and cannot begin or end with '/'");
  if (segment == "." || segment == "..") return invalid_argument("a key cannot have the segments '.' and '..'");
  if (segment.size() > kMaxSegmentBytes) return invalid_argument("a segment of a key is longer than 255 bytes");
  if (segment.find('\0') != std::string_view::npos) return invalid_argument("a key cannot contain NUL bytes");
  if (is_side_file(segment)) {
    return invalid_argument("names like '.x.sherd-lock' are reserved for locks");
  }
  return {};
}

}  // namespace

Result<void> check_key(std::string_view key) {
  if (key.size() > kMaxKeyBytes) return invalid_argument("a key is longer than 4096 bytes");
  for (std::size_t begin = 0; begin <= key.size();) {
    std::size_t end = key.find('/', begin);
    if (end == std::string_view::npos) end = key.size();
    SHERD_TRY(check_segment(key.substr(begin, end - begin)).in_key(key));
    begin = end + 1;
  }
  return {};
}

Result<void> check_prefix(std::string_view prefix) {
  if (prefix.empty()) return {};
  if (!prefix.ends_with('/')) return invalid_argument("a prefix must end with '/'").in_key(prefix);
  return check_key(prefix.substr(0, prefix.size() - 1));
}

bool is_side_file(std::string_view name) noexcept {
  return name.starts_with('.') && (name.ends_with(kLockSuffix) || name.ends_with(kLinkSuffix));
}

std::string side_file_of(std::string_view name, std::string_view suffix) {
  const std::size_t longest = kMaxSegmentBytes - 1 - suffix.size();
  std::string stem(name);
  if (name.size() > longest) {
    // FNV-1a. Two names with the same hash would share a lock, which is harmless.
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    stem = std::to_string(hash);
  }
  return "." + stem + std::string(suffix);
}

std::string backup_of(std::string_view key, unsigned number) {
  std::string name = std::string(key) + std::string(kBackupSuffix);
  return number > 1 ? name + "-" + std::to_string(number) : name;
}

bool is_backup(std::string_view name) noexcept {
  const std::size_t at = name.rfind(kBackupSuffix);
  if (at == name.npos || at == 0) return false;
  const std::string_view number = name.substr(at + kBackupSuffix.size());
  return number.empty() ||
         (number.starts_with('-') && number.size() > 1 && number.find_first_not_of("0123456789", 1) == number.npos);
}

KeyParts split_key(std::string_view key) noexcept {
  const auto name = last_segment(key);
  return {key.substr(0, key.size() - name.size()), name};
}

std::optional<std::string> path_below(const std::string& directory, std::string_view key) {
  std::string path = directory;
  while (!key.empty()) {
    const std::size_t end = key.find('/');
    const std::string_view segment = key.substr(0, end);
    key = end == key.npos ? std::string_view() : key.substr(end + 1);
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      if (path.empty()) return std::nullopt;
      path.resize(parent_path(path).size());
    } else {
      path += (path.empty() ? "" : "/") + std::string(segment);
    }
  }
  return path;
}

}  // namespace sherd
