// The boxes in which a variable is copied.
#include <gtest/gtest.h>

#include "copy/netcdf_copy.hpp"

namespace sherd::netcdf {
namespace netcdf_boxes_test {

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;

TEST(Boxes, AreWholeChunksOfBothSidesWhereMemoryAllows) {
  const BoxPlan plan{{125, 1000, 1000}, {1, 500, 500}, {125, 100, 100}, 4};
  EXPECT_EQ(box_shape(plan, 128 * kMebi, kMebi), (Shape{125, 500, 500}));
  const BoxPlan odd{{100, 100}, {6, 100}, {4, 50}, 1};
  EXPECT_EQ(box_shape(odd, kMebi, 1), (Shape{12, 100}));
}

TEST(Boxes, AreWholeObjectsOfTheCopyWhateverTheMemory) {
  const BoxPlan plan{{125, 1000, 1000}, {1, 500, 500}, {125, 100, 100}, 4};
  for (const std::uint64_t memory : {std::uint64_t{1}, kMebi, 16 * kMebi, 60 * kMebi}) {
    const Shape box = box_shape(plan, memory, kMebi);
    EXPECT_EQ(box[0], 125U);
    EXPECT_EQ(box[1] % 100, 0U);
    EXPECT_EQ(box[2] % 100, 0U);
    EXPECT_LE(box[0] * box[1] * box[2] * 4, std::max<std::uint64_t>(memory, 125 * 100 * 100 * 4));
  }
  const BoxPlan huge{{std::uint64_t{1} << 40U, std::uint64_t{1} << 40U}, {3, 5}, {7, std::uint64_t{1} << 40U}, 8};
  EXPECT_EQ(box_shape(huge, kMebi, kMebi), (Shape{7, std::uint64_t{1} << 40U}));
}

TEST(Boxes, OfSmallChunksAreJoined) {
  const BoxPlan plan{{1000, 1000}, {10, 10}, {10, 10}, 4};
  EXPECT_EQ(box_shape(plan, 128 * kMebi, 40 * 1000), (Shape{10, 1000}));
  EXPECT_EQ(box_shape(plan, 128 * kMebi, 400 * 1000), (Shape{100, 1000}));
  EXPECT_EQ(box_shape({{}, {}, {}, 8}, kMebi, kMebi), Shape());
  EXPECT_EQ(box_shape({{0, 5}, {}, {1, 5}, 8}, kMebi, kMebi), (Shape{1, 5}));
}

}  // namespace netcdf_boxes_test
}  // namespace sherd::netcdf
