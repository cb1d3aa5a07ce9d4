// The clock of a delayed store, which a test replaces.
#pragma once

#include <chrono>
#include <memory>

#include "sherd/store.hpp"

namespace sherd {

class DelayClock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~DelayClock() = default;
  [[nodiscard]] virtual Time now() const { return Time::clock::now(); }
  /// `unavailable` if the call that this thread works for is interrupted meanwhile.
  virtual Result<void> wait_until(Time time);
};

std::shared_ptr<Store> delayed_store(std::shared_ptr<Store> store, Latency latency, unsigned parallel,
                                     std::shared_ptr<DelayClock> clock);

}  // namespace sherd
