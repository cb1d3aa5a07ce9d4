// System calls that are repeated when a signal interrupts them.
#pragma once

#include <cerrno>

namespace sherd::os {

/// Repeats a system call until it is not interrupted, and returns its result; -1 is a failure. `call` keeps errno.
template <class Call>
auto repeat_interrupted(const Call& call) noexcept {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace sherd::os
