// A store that counts what a call waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "tests/store/test_store.hpp"

namespace sherd {

inline constexpr unsigned kParallel = 32;

/// Counts the round trips that a call waits for if kParallel requests are under way at a time.
class RoundTrips final : public TestStore {
 public:
  explicit RoundTrips(std::shared_ptr<Store> store) : TestStore(std::move(store)) {
    in_batches = true;
    of = Op::batch | Op::read | Op::erase_all;
    before = [this](const Asked& asked) {
      if (asked.op == Op::erase_all) {
        ++erased;
        return;
      }
      const std::size_t count = asked.op == Op::read ? asked.ranges : asked.batch.size();
      requests += count;
      rounds += asked.op == Op::read ? 1 : (count + kParallel - 1) / kParallel;
      ++batches;
    };
  }

  void reset() { requests = rounds = batches = erased = 0; }

  std::atomic<std::uint64_t> requests{0}, rounds{0};
  std::atomic<std::uint64_t> batches{0};  ///< the round trips if any number of requests were under way
  std::atomic<std::uint64_t> erased{0};   ///< batches of erased objects
};

/// RoundTrips over a store that answers after a while. The number of round trips does not depend on how long that is.
inline std::shared_ptr<RoundTrips> slow_store(std::shared_ptr<Store> store) {
  return std::make_shared<RoundTrips>(delayed_store(std::move(store), std::chrono::microseconds(100), kParallel));
}

}  // namespace sherd
