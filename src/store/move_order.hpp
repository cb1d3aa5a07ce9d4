// In which order the objects of a directory are moved.
#pragma once

#include <string_view>

namespace sherd {

/// Whether an object is moved before its neighbour of another name: hidden ones come last, documents of nodes among
/// them, so that what these make visible is there.
[[nodiscard]] inline bool is_moved_before(std::string_view name, std::string_view other) noexcept {
  const bool hidden = name.starts_with('.'), other_hidden = other.starts_with('.');
  if (hidden != other_hidden) return other_hidden;
  return hidden ? other < name : name < other;
}

}  // namespace sherd
