// Objects that are read together before they are opened.
#include "store/prefetched.hpp"

#include <gtest/gtest.h>

namespace sherd {
namespace prefetched_test {

class Prefetched : public testing::Test {
 protected:
  std::uint64_t requests() const { return recorder_->stats().requests; }

  std::shared_ptr<Store> memory_ = memory_store();
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  std::shared_ptr<Store> slow_ = recorded_store(delayed_store(memory_, std::chrono::microseconds(10), 4), recorder_);
};

TEST_F(Prefetched, ObjectsAndMissingOnesCostNoMoreRequests) {
  memory_->set("a", "text").value();
  const std::vector<std::string> keys{"a", "none"};
  const auto store = prefetched_store(*slow_, keys).value();
  EXPECT_EQ(requests(), 2U);
  EXPECT_EQ(store->get("a").value(), "text");
  EXPECT_EQ(store->get("none").value(), std::nullopt);
  EXPECT_EQ(requests(), 2U);
  memory_->set("b", "other").value();
  EXPECT_EQ(store->get("b").value(), "other") << "everything else is the store's";
  EXPECT_EQ(requests(), 3U);
}

TEST_F(Prefetched, TheRestOfALargeObjectIsReadWhenNeeded) {
  const std::string text(20 << 20, 'x');
  memory_->set("a", text).value();
  const std::vector<std::string> keys{"a"};
  const auto store = prefetched_store(*slow_, keys).value();
  EXPECT_LT(recorder_->stats().bytes_read, text.size());
  EXPECT_EQ(store->get("a").value(), text);
}

TEST_F(Prefetched, AStoreWithoutLatencyIsAskedOnlyForWhatIsOpened) {
  const auto recorded = recorded_store(memory_, recorder_);
  memory_->set("a", "text").value();
  const std::vector<std::string> keys{"a", "none"};
  const auto store = prefetched_store(*recorded, keys).value();
  EXPECT_EQ(requests(), 0U);
  EXPECT_EQ(store->get("a").value(), "text");
  EXPECT_EQ(requests(), 1U);
}

}  // namespace prefetched_test
}  // namespace sherd
