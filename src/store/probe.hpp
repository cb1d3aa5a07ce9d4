// Objects with which a process tries out what a server compares before it changes something.
#pragma once

#include <string_view>

#include "store/key.hpp"

namespace sherd {

/// The beginning of the last segments of their keys.
inline constexpr std::string_view kProbeName = ".sherd-probe-";

/// They are erased again, unless the process is killed.
[[nodiscard]] inline bool is_probe(std::string_view key) noexcept {
  return split_key(key).name.starts_with(kProbeName);
}

}  // namespace sherd
