// Two calls that create an array at one path at the same time: one with its first elements, which is made next to the
// path and moved there, and one without, which only writes a document.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace {

using Values = std::vector<std::uint16_t>;

/// What is at the path: the shape, and for the first array its elements, which were stored together with it.
Shape shape_of_whole(const std::shared_ptr<Store>& store, const Values& values) {
  const Array array = open_array(store, {.path = "a"}).value();
  if (array.shape() == Shape{8}) return array.shape();
  Values read(values.size());
  array.read(Box{{0, 0}, array.shape()}, std::span(read)).value();
  EXPECT_EQ(read, values);
  return array.shape();
}

TEST(Creators, OfOnePathLeaveTheArrayOfOneThatSucceeded) {
  const TempDir folder;
  Values values(std::size_t{32} * 32);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  const CreateOptions with_elements{.shape = {32, 32},
                                    .dtype = DType::uint16,
                                    .chunks = {8, 8},
                                    .overwrite = true,
                                    .contents = [&](const Array& array) {
                                      return array.write(Box{{0, 0}, {32, 32}}, std::span<const std::uint16_t>(values));
                                    }};
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const std::string path = folder.path() + "/" + std::to_string(round);
    const auto store = file_store(path, {.durable = false}).value();
    create_group(store, "").value();
    bool made = false, created = false;
    std::thread maker([&] {
      const auto done = create_array(store, "a", with_elements);
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
}

}  // namespace
}  // namespace sherd
