// A store that counts what a call waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "base/try.hpp"
#include "tests/store/batches.hpp"

namespace sherd {

inline constexpr unsigned kParallel = 32;

/// Counts the round trips that a call waits for if kParallel requests are under way at a time.
class RoundTrips final : public BatchStore {
 public:
  using BatchStore::BatchStore;

  Result<void> erase_all(std::span<const std::string> keys) override {
    erased += keys.empty() ? 0 : 1;
    return store_->erase_all(keys);
  }
  void reset() { requests = rounds = batches = erased = 0; }

  std::atomic<std::uint64_t> requests{0}, rounds{0};
  std::atomic<std::uint64_t> batches{0};  ///< the round trips if any number of requests were under way
  std::atomic<std::uint64_t> erased{0};   ///< batches of erased objects

 protected:
  Result<void> read_batch(std::span<const ReadRequest> batch, const OnReply& reply) override {
    requests += batch.size();
    batches += batch.empty() ? 0 : 1;
    rounds += (batch.size() + kParallel - 1) / kParallel;
    std::vector<ReadRequest> beneath;
    for (const ReadRequest& request : batch) beneath.push_back(unwrapped<Source>(request));
    return store_->read_all(beneath, [&](std::size_t i, Result<ReadReply> answered) {
      const bool is_open = answered && answered->source && !batch[i].of && batch[i].length == 0;
      if (is_open) answered->source = std::make_shared<Source>(std::move(answered->source), *this);
      return reply(i, std::move(answered));
    });
  }

 private:
  /// Of an object that was opened without reading any of it.
  class Source final : public ForwardingSource {
   public:
    Source(std::shared_ptr<ByteSource> source, RoundTrips& store)
        : ForwardingSource(std::move(source)), store_(store) {}
    Result<void> read(std::span<const RangeRead> ranges) override {
      store_.requests += ranges.size();
      ++store_.rounds;
      ++store_.batches;
      return source_->read(ranges);
    }

   private:
    RoundTrips& store_;
  };
};

/// The same over a store that answers after a while. The number of round trips does not depend on how long that is.
inline std::shared_ptr<RoundTrips> slow_store(std::shared_ptr<Store> store) {
  return std::make_shared<RoundTrips>(delayed_store(std::move(store), std::chrono::microseconds(100), kParallel));
}

}  // namespace sherd
