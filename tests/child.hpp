// Runs parts of a test in processes of their own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <iostream>

#include "tests/memory.hpp"

namespace sherd {

/// Runs `body` in a child process, which ends without unwinding; returns how it ended.
inline int in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

/// The peak growth in bytes of a child process while it runs what `prepare` returns; memory that `prepare` itself needs
/// does not count. 2^64 - 1 if it fails.
inline std::uint64_t growth_in_child(const std::function<std::function<void()>()>& prepare) {
  constexpr std::uint64_t failed = ~std::uint64_t{0};
  int ends[2];
  if (::pipe(ends) != 0) return failed;
  std::uint64_t grown = failed;
  const int status = in_child([&] {
    try {
      const auto act = prepare();
      const std::uint64_t before = memory_field("VmRSS");
      act();
      grown = memory_field("VmHWM") - before;
    } catch (const std::exception& thrown) {
      std::cerr << thrown.what() << '\n';
    }
    ::_exit(::write(ends[1], &grown, sizeof grown) == sizeof grown ? 0 : 1);
  });
  ::close(ends[1]);
  if (::read(ends[0], &grown, sizeof grown) != sizeof grown) grown = failed;
  ::close(ends[0]);
  return status == 0 ? grown : failed;
}

}  // namespace sherd
