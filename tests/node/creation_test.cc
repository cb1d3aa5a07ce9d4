// How many requests, one after the other, it takes to create a node in a store whose requests have latency and that has
// no locks.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sherd/sherd.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/round_trips.hpp"

namespace sherd {
namespace {

/// Counts batches of reads, lists, commits and erases. Nothing here is done by several threads, so each depends on the
/// one before.
class DependentRequests final : public BatchStore {
 public:
  using BatchStore::BatchStore;
  int count = 0;

  Result<void> read_batch(std::span<const ReadRequest> requests, const OnReply& reply) override {
    return ++count, store_->read_all(requests, reply);
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    return ++count, store_->write(key, hints);
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    return ++count, store_->erase(key, condition);
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    return ++count, store_->visit(prefix, depth, visit);
  }
};

TEST(Creation, OfAnArrayInAGroupTakesFourDependentRequests) {
  for (const char* format : {"zarr3", "zarr2"}) {
    const auto slow = delayed_store(lockless(false), std::chrono::microseconds(100), kParallel);
    const auto store = std::make_shared<DependentRequests>(slow);
    create_group(store, "", {}, false, {}, format).value();
    Group group = create_group(store, "g").value();
    store->count = 0;
    group.create_array("a", {.shape = {8}, .dtype = DType::uint8, .chunks = {4}}).value();
    EXPECT_EQ(store->count, std::string(format) == "zarr2" ? 5 : 4) << format << ", whose .zattrs follow .zarray";
  }
}

}  // namespace
}  // namespace sherd
