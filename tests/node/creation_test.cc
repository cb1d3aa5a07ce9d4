// How many requests, one after the other, it takes to create a node in a store whose requests have latency and that has
// no locks.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sherd/sherd.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/round_trips.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace {

TEST(Creation, OfAnArrayInAGroupTakesFourDependentRequests) {
  for (const char* format : {"zarr3", "zarr2"}) {
    const auto slow = delayed_store(lockless(false), std::chrono::microseconds(100), kParallel);
    const auto store = std::make_shared<TestStore>(slow);
    store->of = Op::batch | Op::write | Op::erase | Op::visit;  // nothing here is done by several threads
    store->in_batches = true;
    create_group(store, "", {}, false, {}, format).value();
    Group group = create_group(store, "g").value();
    store->forget();
    group.create_array("a", {.shape = {8}, .dtype = DType::uint8, .chunks = {4}}).value();
    EXPECT_EQ(store->count(), std::string(format) == "zarr2" ? 5U : 4U) << format << ", whose .zattrs follow .zarray";
  }
}

}  // namespace
}  // namespace sherd
