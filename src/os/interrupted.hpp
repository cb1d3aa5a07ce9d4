// System calls that a signal has interrupted, and that are to go on.
#pragma once

#include <cerrno>

namespace sherd::os {

/// Makes a system call until it is not interrupted, and returns what it does: -1 is a failure. `call` keeps errno.
template <class Call>
auto repeat_interrupted(const Call& call) noexcept {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace sherd::os
