// How many requests this thread has sent to servers, of those that no operation has counted yet. A store that counts
// operations compares the counts before and after one, because one operation may take several requests.
#pragma once

#include <cstdint>

namespace sherd {

struct RequestCount {
  std::uint64_t requests = 0;
  std::uint64_t retries = 0;  ///< those that repeated another one, which had failed or was late
};
/// Of this thread, which may change it.
[[nodiscard]] RequestCount& requests_of_thread() noexcept;

}  // namespace sherd
