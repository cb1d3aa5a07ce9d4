// A store that says it answers several requests at a time: a base for stores of tests, so that requests are sent
// together.
#pragma once

#include "tests/store/batches.hpp"

namespace sherd {

template <unsigned kRequests>
class ParallelStore : public BatchStore {
 public:
  using BatchStore::BatchStore;

  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.parallel_requests = kRequests;
    return traits;
  }
};

}  // namespace sherd
