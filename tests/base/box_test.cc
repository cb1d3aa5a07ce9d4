// Shapes and selections, compared with NumPy.
#include "sherd/box.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sherd {
namespace box_test {

constexpr std::uint64_t kMaxLength = std::numeric_limits<std::int64_t>::max();

Range range_of(const Selection& selection, std::size_t d = 0) { return std::get<Range>(selection.axes()[d]); }

TEST(ElementCount, IsAbsentWhenItOverflows) {
  EXPECT_EQ(element_count({}), 1u);
  EXPECT_EQ(element_count({3, 4}), 12u);
  EXPECT_EQ(element_count({std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1}), 0xFFFFFFFF00000000u);
  EXPECT_EQ(element_count({std::uint64_t{1} << 32, std::uint64_t{1} << 32}), std::nullopt) << "wraps to 0";
  EXPECT_EQ(element_count({kMaxLength, kMaxLength, 0}), 0u) << "no elements, for any other lengths";
}

TEST(ShapeText, IsWrittenAsAPythonTuple) {
  EXPECT_EQ(to_string(Shape{}), "()");
  EXPECT_EQ(to_string(Shape{3}), "(3,)");
  EXPECT_EQ(to_string(Shape{3, 4}), "(3, 4)");
}

TEST(SelectionParse, ClampsSlicesAsNumPyDoes) {
  const struct {
    std::uint64_t length;
    const char* text;
    std::uint64_t start, count;
    std::int64_t step;
  } rows[] = {
      {0, ":", 0, 0, 1},          {0, "2:", 0, 0, 1},         {0, "-3:", 0, 0, 1},        {0, ":2", 0, 0, 1},
      {0, ":-2", 0, 0, 1},        {0, "::2", 0, 0, 2},        {0, "1::3", 0, 0, 3},       {0, "::-1", 0, 0, -1},
      {0, "::-2", 0, 0, -2},      {0, "3:0:-1", 0, 0, -1},    {0, "-2:-9:-3", 0, 0, -3},  {0, "20:", 0, 0, 1},
      {0, "-20:3", 0, 0, 1},      {0, "8:2", 0, 0, 1},        {0, "2:8:-1", 0, 0, -1},    {0, "100::-1", 0, 0, -1},
      {0, ":3:-1", 0, 0, -1},     {0, "-1:-1", 0, 0, 1},      {0, "1:1", 0, 0, 1},        {0, "::100", 0, 0, 100},
      {0, "::-100", 0, 0, -100},  {0, "-100:100:7", 0, 0, 7}, {1, ":", 0, 1, 1},          {1, "2:", 0, 0, 1},
      {1, "-3:", 0, 1, 1},        {1, ":2", 0, 1, 1},         {1, ":-2", 0, 0, 1},        {1, "::2", 0, 1, 2},
      {1, "1::3", 0, 0, 3},       {1, "::-1", 0, 1, -1},      {1, "::-2", 0, 1, -2},      {1, "3:0:-1", 0, 0, -1},
      {1, "-2:-9:-3", 0, 0, -3},  {1, "20:", 0, 0, 1},        {1, "-20:3", 0, 1, 1},      {1, "8:2", 0, 0, 1},
      {1, "2:8:-1", 0, 0, -1},    {1, "100::-1", 0, 1, -1},   {1, ":3:-1", 0, 0, -1},     {1, "-1:-1", 0, 0, 1},
      {1, "1:1", 0, 0, 1},        {1, "::100", 0, 1, 100},    {1, "::-100", 0, 1, -100},  {1, "-100:100:7", 0, 1, 7},
      {5, ":", 0, 5, 1},          {5, "2:", 2, 3, 1},         {5, "-3:", 2, 3, 1},        {5, ":2", 0, 2, 1},
      {5, ":-2", 0, 3, 1},        {5, "::2", 0, 3, 2},        {5, "1::3", 1, 2, 3},       {5, "::-1", 4, 5, -1},
      {5, "::-2", 4, 3, -2},      {5, "3:0:-1", 3, 3, -1},    {5, "-2:-9:-3", 3, 2, -3},  {5, "20:", 0, 0, 1},
      {5, "-20:3", 0, 3, 1},      {5, "8:2", 0, 0, 1},        {5, "2:8:-1", 0, 0, -1},    {5, "100::-1", 4, 5, -1},
      {5, ":3:-1", 4, 1, -1},     {5, "-1:-1", 0, 0, 1},      {5, "1:1", 0, 0, 1},        {5, "::100", 0, 1, 100},
      {5, "::-100", 4, 1, -100},  {5, "-100:100:7", 0, 1, 7}, {10, ":", 0, 10, 1},        {10, "2:", 2, 8, 1},
      {10, "-3:", 7, 3, 1},       {10, ":2", 0, 2, 1},        {10, ":-2", 0, 8, 1},       {10, "::2", 0, 5, 2},
      {10, "1::3", 1, 3, 3},      {10, "::-1", 9, 10, -1},    {10, "::-2", 9, 5, -2},     {10, "3:0:-1", 3, 3, -1},
      {10, "-2:-9:-3", 8, 3, -3}, {10, "20:", 0, 0, 1},       {10, "-20:3", 0, 3, 1},     {10, "8:2", 0, 0, 1},
      {10, "2:8:-1", 0, 0, -1},   {10, "100::-1", 9, 10, -1}, {10, ":3:-1", 9, 6, -1},    {10, "-1:-1", 0, 0, 1},
      {10, "1:1", 0, 0, 1},       {10, "::100", 0, 1, 100},   {10, "::-100", 9, 1, -100}, {10, "-100:100:7", 0, 2, 7},
  };
  for (const auto& row : rows) {
    const auto selection = Selection::parse(row.text, {row.length});
    ASSERT_TRUE(selection) << row.text;
    EXPECT_EQ(range_of(*selection), (Range{row.start, row.count, row.step})) << row.text << " of " << row.length;
    EXPECT_TRUE(selection->check({row.length})) << row.text << " of " << row.length;
  }
}

TEST(SelectionParse, AcceptsNumbersOfAnySizeInSlices) {
  const Shape huge = {kMaxLength};
  EXPECT_EQ(range_of(*Selection::parse("-99999999999999999999999:99999999999999999999999", huge)),
            (Range{0, kMaxLength, 1}));
  EXPECT_EQ(range_of(*Selection::parse("::-99999999999999999999999", huge)).count, 1u);
  EXPECT_EQ(range_of(*Selection::parse("::9223372036854775807", huge)),
            (Range{0, 1, std::numeric_limits<std::int64_t>::max()}));
  EXPECT_EQ(range_of(*Selection::parse("-1", huge)), (Range{kMaxLength - 1, 1, 1}));
  EXPECT_FALSE(Selection::parse("9223372036854775807", huge));
}

TEST(SelectionParse, DropsIntegerDimensionsAndExpandsEllipses) {
  const Shape shape = {10, 8, 6, 4};
  std::vector<std::size_t> dropped;
  const auto selection = Selection::parse(" 0:10 , -2 , ... , +3 ", shape, &dropped);
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->shape(), (Shape{10, 1, 6, 1}));
  EXPECT_EQ(dropped, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(range_of(*selection, 1), (Range{6, 1, 1}));
  EXPECT_EQ(range_of(*selection, 3), (Range{3, 1, 1}));
  EXPECT_EQ(Selection::parse("", shape)->shape(), shape);
  EXPECT_EQ(Selection::parse("...", shape)->shape(), shape);
  EXPECT_EQ(Selection::parse("5,", shape)->shape(), (Shape{1, 8, 6, 4}));
  EXPECT_EQ(Selection::parse(":,:,:,:,...", shape)->shape(), shape);
  EXPECT_EQ(Selection::parse("...,1", shape)->shape(), (Shape{10, 8, 6, 1}));
  EXPECT_EQ(Selection::parse("", {})->shape(), Shape{});
  EXPECT_EQ(Selection::parse("...", {})->shape(), Shape{});
}

TEST(SelectionParse, RefusesWhatNumPyRefuses) {
  for (const char* text : {"10", "-11", "0,0", "...,...", "a", "1.5", "1:2:3:4", "::0", "1 2", ",", "1,,", "--1", "+-1",
                           "0x1", "...:", "1:a", "0,0,..."}) {
    const auto selection = Selection::parse(text, {10});
    ASSERT_FALSE(selection) << text;
    EXPECT_EQ(selection.error().code(), ErrorCode::invalid_argument) << text;
  }
  EXPECT_EQ(Selection::parse("0,99", {10, 5}).error().text(), "dimension 1: index 99 is out of bounds for length 5");
  EXPECT_FALSE(Selection::parse("0", {0})) << "an axis without elements has no index";
}

TEST(Selection, OfABoxIsItsRanges) {
  const Selection selection(Box{{1, 2}, {3, 4}});
  EXPECT_EQ(selection.shape(), (Shape{3, 4}));
  EXPECT_TRUE(selection.check({4, 6}));
  EXPECT_FALSE(selection.check({4, 5}));
  EXPECT_FALSE(selection.check({4}));
  EXPECT_FALSE(Selection(Box{{1}, {3, 4}}).check({9, 9})) << "origin and shape differ in rank";
  EXPECT_FALSE(Selection(Box{{1, 2, 3}, {3, 4}}).check({9, 9}));
}

TEST(Selection, ChecksEveryCoordinateWithoutOverflow) {
  const auto fits = [](Range range, std::uint64_t length) {
    return Selection::orthogonal({range}).check({length}).has_value();
  };
  EXPECT_TRUE(fits({0, 10, 1}, 10));
  EXPECT_FALSE(fits({0, 11, 1}, 10));
  EXPECT_TRUE(fits({9, 10, -1}, 10));
  EXPECT_FALSE(fits({9, 11, -1}, 10));
  EXPECT_FALSE(fits({10, 1, 1}, 10));
  EXPECT_TRUE(fits({10, 0, 1}, 10)) << "nothing is selected";
  EXPECT_FALSE(fits({0, 5, 0}, 10));
  EXPECT_FALSE(fits({1, ~std::uint64_t{0}, std::numeric_limits<std::int64_t>::max()}, kMaxLength));
  EXPECT_FALSE(fits({1, ~std::uint64_t{0}, std::numeric_limits<std::int64_t>::min()}, kMaxLength));
  EXPECT_FALSE(fits({0, 3, std::int64_t{1} << 62}, 10));
  EXPECT_FALSE(fits({5, (std::uint64_t{1} << 63) + 1, 2}, 10)) << "count times step wraps to 0";
}

TEST(Selection, ChecksIndicesAndPoints) {
  EXPECT_TRUE(Selection::orthogonal({Indices{3, 0, 3}, Range{0, 2, 1}}).check({4, 2}));
  EXPECT_FALSE(Selection::orthogonal({Indices{3, 4}, Range{0, 2, 1}}).check({4, 2}));
  const auto points = Selection::points({{0, 1, 2}, {5, 5, 0}});
  EXPECT_TRUE(points.is_points());
  EXPECT_EQ(points.shape(), (Shape{3}));
  EXPECT_TRUE(points.check({3, 6}));
  EXPECT_FALSE(points.check({3, 5}));
  EXPECT_FALSE(points.check({3, 6, 1}));
  EXPECT_FALSE(Selection::points({{0, 1}, {0}}).check({3, 6})) << "one coordinate is missing";
  EXPECT_FALSE(Selection::points({}).check({}));
}

}  // namespace box_test
}  // namespace sherd
