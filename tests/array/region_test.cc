// Regions of selections, and their division among the cells of a grid.
#include "array/region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd {
namespace region_test {

using testing::ElementsAre;

AxisPart range(std::int64_t start, std::int64_t step, std::uint64_t count) {
  return {.start = start, .step = step, .count = count};
}

std::vector<std::uint64_t> coordinates(const AxisPart& axis) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < axis.count; ++i) all.push_back(axis.coordinate(i));
  return all;
}
std::vector<std::uint64_t> positions(const AxisPart& axis) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < axis.count; ++i) all.push_back(axis.position(i));
  return all;
}

/// Each cell with the coordinates, relative to it, and the positions of its part in a dimension.
struct CellPart {
  Shape cell;
  std::vector<std::uint64_t> coordinates, positions;
  friend bool operator==(const CellPart&, const CellPart&) = default;
};
std::vector<CellPart> divided(const Region& region, const std::vector<AxisGrid>& grid, std::size_t dimension = 0) {
  const Cells cells(region, grid);
  std::vector<CellPart> all;
  Shape cell;
  Region part;
  for (std::uint64_t i = 0; i < cells.size(); ++i) {
    cells.get(i, cell, part);
    all.push_back({cell, coordinates(part.axes[dimension]), positions(part.axes[dimension])});
  }
  return all;
}

TEST(AxisPart, CoversALengthInEitherDirection) {
  EXPECT_TRUE(range(0, 1, 4).covers(4));
  EXPECT_TRUE(range(3, -1, 4).covers(4));
  EXPECT_FALSE(range(0, 1, 4).covers(5));
  EXPECT_FALSE(range(1, 1, 4).covers(4));
  EXPECT_FALSE(range(0, 2, 4).covers(8));
  const std::vector<std::uint64_t> list{5, 6, 6, 7}, places{0, 1, 2, 3};
  const AxisPart listed{.count = 4, .coordinates = list.data(), .positions = places.data(), .shift = 5};
  EXPECT_TRUE(listed.covers(3)) << "a coordinate may be repeated";
  EXPECT_FALSE(listed.covers(4));
}

TEST(AxisPart, KnowsItsLowestAndHighestCoordinate) {
  EXPECT_EQ(range(2, 3, 3).lowest(), 2U);
  EXPECT_EQ(range(2, 3, 3).highest(), 8U);
  EXPECT_EQ(range(8, -3, 3).lowest(), 2U);
  EXPECT_EQ(range(8, -3, 3).highest(), 8U);
}

TEST(Region, HasTheProductOfItsAxesOrOneElementPerPoint) {
  Region region{{range(0, 1, 2), range(0, 1, 3)}};
  EXPECT_EQ(region.element_count(), 6U);
  EXPECT_TRUE(region.covers({2, 3}));
  EXPECT_FALSE(region.covers({2, 4}));
  EXPECT_EQ(region.permuted(std::vector<std::size_t>{1, 0}).axes[0].count, 3U);
  const SelectedRegion points(Selection::points({{1, 0, 2}, {5, 6, 7}}));
  EXPECT_EQ(points.region().element_count(), 3U);
  const std::vector<ReadPart> parts{{region, {}}, {points.region(), {}}};
  EXPECT_EQ(element_count(parts), 9U);
}

TEST(SelectedRegion, SortsItsListsAndRemembersTheirOrder) {
  const SelectedRegion selected(Selection::orthogonal({Indices{7, 3, 5}, Range{4, 2, 3}}));
  const auto& axes = selected.region().axes;
  EXPECT_THAT(coordinates(axes[0]), ElementsAre(3, 5, 7));
  EXPECT_THAT(positions(axes[0]), ElementsAre(1, 2, 0));
  EXPECT_THAT(coordinates(axes[1]), ElementsAre(4, 7));
}

TEST(Cells, DivideARangeInEitherDirection) {
  const std::vector<AxisGrid> grid{AxisGrid(4)};
  EXPECT_THAT(divided({{range(2, 3, 4)}}, grid),
              ElementsAre(CellPart{{0}, {2}, {0}}, CellPart{{1}, {1}, {1}}, CellPart{{2}, {0, 3}, {2, 3}}));
  EXPECT_THAT(divided({{range(5, -2, 3)}}, grid),
              testing::UnorderedElementsAre(CellPart{{1}, {1}, {0}}, CellPart{{0}, {3, 1}, {1, 2}}));
  EXPECT_THAT(divided({{range(2, 1, 0)}}, grid), ElementsAre());
}

TEST(Cells, DivideCellsOfDifferentLengths) {
  const std::vector<AxisGrid> grid{AxisGrid(std::vector<std::pair<std::uint64_t, std::uint64_t>>{{2, 2}, {5, 1}})};
  EXPECT_THAT(divided({{range(1, 1, 5)}}, grid),
              ElementsAre(CellPart{{0}, {1}, {0}}, CellPart{{1}, {0, 1}, {1, 2}}, CellPart{{2}, {0, 1}, {3, 4}}));
}

TEST(Cells, AreTheProductOfThoseOfEachDimension) {
  const Region region{{range(0, 1, 4), range(3, 1, 3)}};
  const auto cells = divided(region, regular_axes({2, 4}), 1);
  EXPECT_THAT(cells, ElementsAre(CellPart{{0, 0}, {3}, {0}}, CellPart{{0, 1}, {0, 1}, {1, 2}},
                                 CellPart{{1, 0}, {3}, {0}}, CellPart{{1, 1}, {0, 1}, {1, 2}}));
}

TEST(Cells, GroupPointsByCell) {
  const SelectedRegion points(Selection::points({{0, 5, 1, 5}, {0, 0, 1, 1}}));
  EXPECT_THAT(divided(points.region(), regular_axes({4, 4})),
              ElementsAre(CellPart{{0, 0}, {0, 1}, {0, 2}}, CellPart{{1, 0}, {1, 1}, {1, 3}}));
}

TEST(ReadCells, HaveEachCellOnceWithAPartOfEachRegionThatTouchesIt) {
  std::byte first{}, second{};
  const std::vector<ReadPart> parts{
      {{{range(0, 1, 6)}}, {&first, {1}}}, {{{range(9, 1, 0)}}, {nullptr, {1}}}, {{{range(5, 1, 4)}}, {&second, {1}}}};
  const std::vector<AxisGrid> grid = regular_axes({4});
  const ReadCells cells(parts, grid);
  std::vector<std::pair<Shape, std::vector<const std::byte*>>> found;
  Shape cell;
  std::vector<ReadPart> own;
  for (std::uint64_t i = 0; i < cells.size(); ++i) {
    cells.get(i, cell, own);
    found.push_back({cell, {}});
    for (const ReadPart& part : own) found.back().second.push_back(part.target.data);
  }
  EXPECT_THAT(found, ElementsAre(testing::Pair(Shape{0}, ElementsAre(&first)),
                                 testing::Pair(Shape{1}, ElementsAre(&first, &second)),
                                 testing::Pair(Shape{2}, ElementsAre(&second))));
}

}  // namespace region_test
}  // namespace sherd
