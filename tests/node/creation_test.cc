// How many round trips it takes to create a node in a store whose requests have latency and that has no locks.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "sherd/sherd.hpp"
#include "store/forwarding.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/round_trips.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace creation_test {

TEST(Creation, OfAnArrayInAGroupTakesFourRoundTripsAtMost) {
  for (const char* format : {"zarr3", "zarr2"}) {
    SCOPED_TRACE(format);
    const auto slow = delayed_store(lockless(false), std::chrono::microseconds(100), kParallel);
    const auto store = std::make_shared<TestStore>(slow);
    store->of = Op::batch | Op::write | Op::erase | Op::visit;
    store->in_batches = true;
    create_group(store, "", {}, false, {}, format).value();
    Group group = create_group(store, "g").value();
    store->forget();
    std::latch both(2);
    std::atomic<bool> has_read{false};
    store->before = [&](const Asked& asked) {
      if (asked.op == Op::visit || (asked.op == Op::batch && !has_read.exchange(true))) both.arrive_and_wait();
    };
    group.create_array("a", {.shape = {8}, .dtype = DType::uint8, .chunks = {4}}).value();
    const std::size_t round_trips = store->count() - 1;  // the list is under way with the first documents that are read
    EXPECT_EQ(round_trips, std::string_view(format) == "zarr2" ? 4 : 3) << "its .zattrs follow .zarray";
  }
}

/// Lists the directories of all objects that it has ever had, as SeaweedFS does.
class DirectoriesStay final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    for (std::size_t end = key.find('/'); end != key.npos; end = key.find('/', end + 1))
      directories_.insert(key.substr(0, end));
    return store_->write(key, hints);
  }
  [[nodiscard]] bool can_move_to(const std::string&) const override { return false; }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    SHERD_TRY(more, store_->visit(prefix, depth, [&](const ListEntry& entry) -> Result<bool> {
      return entry.is_prefix ? Result<bool>(true) : visit(entry);
    }));
    if (!more || depth == ListDepth::all) return more;
    for (const std::string& each : directories_) {
      if (!each.starts_with(prefix) || each.find('/', prefix.size()) != each.npos) continue;
      SHERD_TRY(again, visit({.name = std::string_view(each).substr(prefix.size()), .is_prefix = true}));
      if (!again) return false;
    }
    return true;
  }

 private:
  std::set<std::string> directories_;
};

TEST(Creation, TakesNoDirectoryOfErasedObjectsForSomething) {
  for (const char* format : {"zarr3", "zarr2", "draft2022"}) {
    SCOPED_TRACE(format);
    const auto store = std::make_shared<DirectoriesStay>(lockless());
    Group group = create_group(store, "", {}, false, {}, format).value();
    const CreateOptions options{.shape = {8}, .dtype = DType::uint8, .chunks = {4}};
    for (int i = 0; i < 2; ++i) {
      auto array = group.create_array("m/a", options);
      ASSERT_TRUE(array) << array.error().text();
      const std::vector<std::uint8_t> elements(8, 1);
      array->write(Box{{0}, {8}}, std::span(elements)).value();
      group.erase("m").value();
      EXPECT_TRUE(group.members().value().empty());
    }
  }
}

}  // namespace creation_test
}  // namespace sherd
