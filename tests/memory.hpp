// How much memory this process uses, and whether that is meaningful: sanitizers and debug builds keep memory of their
// own.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHERD_SANITIZED
#endif
#endif
#if defined(NDEBUG) && !defined(SHERD_SANITIZED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SHERD_MEASURES_MEMORY 1
#else
#define SHERD_MEASURES_MEMORY 0
#endif

namespace sherd {

/// A size in /proc/self/status, such as VmRSS or VmHWM, in bytes; 0 if it is missing.
inline std::uint64_t memory_field(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) << 10;
  return 0;
}

}  // namespace sherd
