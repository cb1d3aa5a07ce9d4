// The order in which the objects of a directory are moved.
#pragma once

#include <string_view>

namespace sherd {

/// Whether an object is moved before another one in the same directory. Hidden ones, such as documents of nodes, come
/// last, so that what they make visible has arrived.
[[nodiscard]] inline bool is_moved_before(std::string_view name, std::string_view other) noexcept {
  const bool hidden = name.starts_with('.'), other_hidden = other.starts_with('.');
  if (hidden != other_hidden) return other_hidden;
  return hidden ? other < name : name < other;
}

}  // namespace sherd
