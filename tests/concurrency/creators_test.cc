// Two calls that create an array at the same path at the same time: with its first elements, in which case it is made
// next to the path and moved there or, without locks, made under a claim; or without, in which case only a document is
// written.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "sherd/sherd.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace creators_test {

using Values = std::vector<std::uint16_t>;

/// What exists at the path: the shape and, for the first array, its elements, which were stored together with it.
Shape shape_of_whole(const std::shared_ptr<Store>& store, const Values& values) {
  const Array array = open_array(store, {.path = "a"}).value();
  if (array.shape() == Shape{8}) return array.shape();
  Values read(values.size());
  array.read(Box{{0, 0}, array.shape()}, std::span(read)).value();
  EXPECT_EQ(read, values);
  return array.shape();
}

CreateOptions with_elements(const Values& values, bool overwrite) {
  return {.shape = {32, 32},
          .dtype = DType::uint16,
          .chunks = {8, 8},
          .overwrite = overwrite,
          .contents = [&values](const Array& array) {
            return array.write(Box{{0, 0}, {32, 32}}, std::span<const std::uint16_t>(values));
          }};
}

Values values_from(std::uint16_t first) {
  Values values(std::size_t{32} * 32);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// A call that replaces what exists, and one that creates an array.
void expect_array_of_one_that_succeeded(const std::shared_ptr<Store>& store, int round) {
  const Values values = values_from(1);
  create_group(store, "").value();
  bool made = false, created = false;
  std::thread maker([&] {
    const auto done = create_array(store, "a", with_elements(values, true));
    made = done.has_value();
    EXPECT_TRUE(done || done.error().code() == ErrorCode::conflict) << done.error().text();
  });
  std::thread creator([&] {
    std::this_thread::sleep_for(std::chrono::microseconds(round * 20));
    const auto done = create_array(store, "a", {.shape = {8}, .dtype = DType::uint8, .chunks = {8}});
    created = done.has_value();
    EXPECT_TRUE(done || done.error().code() == ErrorCode::conflict) << done.error().text();
  });
  maker.join();
  creator.join();
  ASSERT_TRUE(made || created);
  const Shape shape = shape_of_whole(store, values);
  EXPECT_TRUE(shape == Shape{8} ? created : made);
  EXPECT_TRUE(!made || shape == (Shape{32, 32}));  // it replaces what was there before
}

TEST(Creators, OfOnePathLeaveTheArrayOfOneThatSucceeded) {
  const TempDir folder;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    expect_array_of_one_that_succeeded(
        file_store(folder.path() + "/" + std::to_string(round), {.durable = false}).value(), round);
  }
}

// Without `overwrite` one succeeds. With it, both do if one is done before the other begins.
TEST(LocklessMakers, OfOnePathLeaveTheWholeArrayOfOneThatSucceeded) {
  const Values values[] = {values_from(1), values_from(5000), values_from(10000)};
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const auto store = lockless(round % 2 == 0);
    create_group(store, "").value();
    const bool overwrite = round % 4 > 1;
    if (overwrite) create_array(store, "a", with_elements(values[2], true)).value();
    bool made[2] = {false, false};
    std::vector<std::thread> makers;
    for (const int i : {0, 1})
      makers.emplace_back([&, i] {
        if (i == 1) std::this_thread::sleep_for(std::chrono::microseconds(round * 10));
        const auto done = create_array(store, "a", with_elements(values[i], overwrite));
        made[i] = done.has_value();
        EXPECT_TRUE(done || done.error().code() == ErrorCode::conflict) << done.error().text();
      });
    for (std::thread& maker : makers) maker.join();
    EXPECT_TRUE(made[0] || made[1]);
    EXPECT_FALSE(!overwrite && made[0] && made[1]);
    Values read(values[0].size());
    open_array(store, {.path = "a"}).value().read(Box{{0, 0}, {32, 32}}, std::span(read)).value();
    EXPECT_TRUE((made[0] && read == values[0]) || (made[1] && read == values[1]));
    EXPECT_EQ(keys_of(*store).size(), 18u) << "16 chunks and two documents";
  }
}

}  // namespace creators_test
}  // namespace sherd
