// How long a handle waits for a lock is its own setting, regardless of how the store was opened.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "sherd/group.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace {

/// Holds the lock of an object on a thread of its own.
class Holder {
 public:
  Holder(const std::shared_ptr<Store>& store, const std::string& key) {
    std::promise<void> begun;
    thread_ = std::thread([&begun, store, key, end = end_.get_future()] {
      const auto lock = store->lock(key).value();
      begun.set_value();
      end.wait();
    });
    begun.get_future().wait();
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    end_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> end_;
  std::thread thread_;
};

TEST(LockTimeout, OfAHandleCountsInEveryStore) {
  const TempDir directory;
  for (const auto& store : {memory_store(), file_store(directory.path(), {.durable = false}).value()}) {
    CreateOptions options{.shape = {8}, .dtype = DType::uint8, .chunks = {4}, .config = {.lock_timeout = 0}};
    create_array(store, "a", options).value();
    Array array =
        open_array(store, {.path = "a", .writable = true, .config = {.threads = 2, .lock_timeout = 0}}).value();
    options.overwrite = true;
    const std::vector<std::uint8_t> values(8, 7);
    {
      const Holder holder(store, "a/c/0");
      EXPECT_EQ(code_of(array.write(Box{{0}, {8}}, std::span(values))), ErrorCode::unavailable);
      EXPECT_EQ(code_of(create_array(store, "a", options)), ErrorCode::unavailable);
    }
    {
      const Holder holder(store, "a/zarr.json");
      EXPECT_EQ(code_of(array.set_attributes(Json::Object{{"a", 1}})), ErrorCode::unavailable);
      EXPECT_EQ(code_of(array.resize({4})), ErrorCode::unavailable);
    }
    array.write(Box{{0}, {8}}, std::span(values)).value();
    array.resize({4}).value();
  }
}

TEST(LockTimeout, OfAMemoryStoreIsThatOfItsConfig) {
  const auto store = memory_store({.lock_timeout = 0});
  const Holder holder(store, "c/0");
  EXPECT_EQ(code_of(store->lock("c/0")), ErrorCode::unavailable);
}

}  // namespace
}  // namespace sherd
