// Shrinking is refused before anything is cut off if a shard at the new end cannot be changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"

namespace sherd {
namespace resize_test {

std::map<std::string, std::string> objects_of(Store& store) {
  std::map<std::string, std::string> objects;
  store
      .list("",
            [&](const std::string& key, std::uint64_t) {
              objects[key] = store.get(key).value().value();
              return true;
            })
      .value();
  return objects;
}

class ShrunkHdf5 : public testing::TestWithParam<Shape> {};

// Four chunks of four bytes and an index of 68 bytes; between them, at byte 512, an HDF5 file begins.
TEST_P(ShrunkHdf5, IsRefusedBeforeAnyShardIsCutOrErased) {
  const auto store = memory_store();
  CreateOptions options{.shape = {12, 8}, .dtype = DType::uint8, .chunks = {2, 2}, .shards = Shape{4, 4}};
  options.codecs = std::vector<Json>();
  Array array = create_array(store, "a", options).value();
  std::vector<std::uint8_t> values(96);
  std::iota(values.begin(), values.end(), std::uint8_t{1});
  array.write(Box{{0, 0}, {12, 8}}, std::span<const std::uint8_t>(values)).value();
  std::string shard = store->get("a/c/1/1").value().value();
  ASSERT_EQ(shard.size(), 16U + 68U);
  shard = shard.substr(0, 16) + std::string(496, '.') + "\x89HDF\r\n\x1a\n" + shard.substr(16);
  store->set("a/c/1/1", shard).value();
  const auto before = objects_of(*store);
  const auto resized = array.resize(GetParam());
  ASSERT_FALSE(resized);
  EXPECT_EQ(resized.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(resized.error().text(), testing::AllOf(testing::HasSubstr("a/c/1/1"), testing::HasSubstr("HDF5 file")));
  EXPECT_EQ(array.shape(), (Shape{12, 8}));
  EXPECT_EQ(objects_of(*store), before);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ShrunkHdf5, testing::Values(Shape{6, 8}, Shape{6, 6}, Shape{12, 7}, Shape{7, 20}));

}  // namespace resize_test
}  // namespace sherd
