// Strided views.
#include "sherd/view.hpp"

#include <gtest/gtest.h>

namespace sherd {
namespace view_test {

using Strides = std::vector<std::int64_t>;

TEST(DenseStrides, FollowTheOrder) {
  EXPECT_EQ(dense_strides({2, 3, 4}, 8), (Strides{96, 32, 8}));
  EXPECT_EQ(dense_strides({2, 3, 4}, 8, Order::f), (Strides{8, 16, 48}));
  EXPECT_EQ(dense_strides({}, 8), Strides{});
}

TEST(DenseStrides, TreatZeroLengthsAsOne) {
  EXPECT_EQ(dense_strides({2, 0, 4}, 1), (Strides{4, 4, 1}));
  EXPECT_EQ(dense_strides({2, 0, 4}, 1, Order::f), (Strides{1, 2, 2}));
}

TEST(StridedView, FindsElementsInBothOrders) {
  int values[6] = {0, 1, 2, 3, 4, 5};
  const StridedView<int> c(values, {2, 3});
  const StridedView<int> f(values, {2, 3}, Order::f);
  EXPECT_EQ(c(1, 2), 5);
  EXPECT_EQ(c(1, 0), 3);
  EXPECT_EQ(f(1, 0), 1);
  EXPECT_EQ(f(0, 2), 4);
  const StridedView<int> backwards(values + 5, {6}, Strides{-1});
  EXPECT_EQ(backwards(4), 1);
}

TEST(StridedView, HasByteStridesWithoutItsType) {
  const double values[6] = {};
  const auto view = StridedView<const double>(values, {2, 3}).untyped();
  EXPECT_EQ(view.strides, (Strides{24, 8}));
  EXPECT_EQ(view.dtype, DType::float64);
  EXPECT_EQ(view.shape, (Shape{2, 3}));
}

}  // namespace view_test
}  // namespace sherd
