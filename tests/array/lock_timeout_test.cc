// How long a handle waits for a lock is its own setting, regardless of how the store was opened.
#include <gtest/gtest.h>

#include "sherd/group.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/lock_holder.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace lock_timeout_test {

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
      const LockHolder holder(store, "a/c/0");
      EXPECT_EQ(code_of(array.write(Box{{0}, {8}}, std::span(values))), ErrorCode::unavailable);
      EXPECT_EQ(code_of(create_array(store, "a", options)), ErrorCode::unavailable);
    }
    {
      const LockHolder holder(store, "a/zarr.json");
      EXPECT_EQ(code_of(array.set_attributes(Json::Object{{"a", 1}})), ErrorCode::unavailable);
      EXPECT_EQ(code_of(array.resize({4})), ErrorCode::unavailable);
    }
    array.write(Box{{0}, {8}}, std::span(values)).value();
    array.resize({4}).value();
  }
}

TEST(LockTimeout, OfAMemoryStoreIsThatOfItsConfig) {
  const auto store = memory_store({.lock_timeout = 0});
  const LockHolder holder(store, "c/0");
  EXPECT_EQ(code_of(store->lock("c/0")), ErrorCode::unavailable);
}

}  // namespace lock_timeout_test
}  // namespace sherd
