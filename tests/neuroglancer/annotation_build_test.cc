// Annotations with all of their indices: every annotation is found by its id, by its related objects, and in one level
// by its location.
#include "sherd/annotation_build.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

#include "neuroglancer/annotation_cells.hpp"
#include "neuroglancer/collection.hpp"
#include "sherd/collection.hpp"
#include "sherd/tools.hpp"
#include "tests/neuroglancer/precomputed_testing.hpp"
#include "tests/store/tree.hpp"

namespace sherd::neuroglancer {
namespace annotation_build_test {

using testing::ElementsAre;
using testing::HasSubstr;

AnnotationInfo info_of(AnnotationType type) {
  AnnotationInfo info;
  info.dimensions = {{"x", 8e-9, "m"}, {"y", 8e-9, "m"}, {"z", 40e-9, "m"}};
  info.type = type;
  info.properties = {{.id = "kind", .type = AnnotationProperty::Type::uint8}, {.id = "score"}};
  info.relationships = {{"segment", {}}};
  return info;
}

struct Table {
  Annotations rows;
  std::vector<RelatedIds> related{1};
};

/// Vectors of each annotation, in order; ids are 1000 + 3 * row, related to 5 and to row % 7.
Table table_of(AnnotationType type, const std::vector<std::vector<float>>& geometry) {
  Table table;
  Column kind{DType::uint8, 1, {}}, score{DType::float32, 1, {}};
  for (std::size_t row = 0; row < geometry.size(); ++row) {
    table.rows.ids.push_back(1000 + 3 * row);
    table.rows.geometry.insert(table.rows.geometry.end(), geometry[row].begin(), geometry[row].end());
    if (type == AnnotationType::polyline)
      table.rows.points.push_back(static_cast<std::uint32_t>(geometry[row].size() / 3));
    kind.bytes.push_back(static_cast<std::byte>(row));
    const auto number = static_cast<float>(row);
    const auto* bytes = reinterpret_cast<const std::byte*>(&number);
    score.bytes.insert(score.bytes.end(), bytes, bytes + sizeof number);
    table.related[0].counts.push_back(row % 7 == 5 ? 1 : 2);
    table.related[0].ids.push_back(5);
    if (row % 7 != 5) table.related[0].ids.push_back(row % 7);
  }
  table.rows.properties = {kind, score};
  return table;
}

std::vector<std::vector<float>> random_geometry(std::size_t count, std::size_t vectors, float spread) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> at(0, 1000), near(-spread, spread);
  std::vector<std::vector<float>> all;
  for (std::size_t i = 0; i < count; ++i) {
    const float centre[] = {at(random), at(random), at(random) / 5};
    std::vector<float> one(centre, centre + 3);
    for (std::size_t v = 1; v < vectors; ++v)
      for (const float c : centre) one.push_back(c + near(random));
    all.push_back(one);
  }
  return all;
}

AnnotationBuildReport build(const std::shared_ptr<Store>& store, const AnnotationInfo& info, const Table& table,
                            AnnotationBuildOptions options = {}) {
  AnnotationBuilder builder = AnnotationBuilder::create(store, info, std::move(options)).value();
  builder.add(table.rows, table.related).value();
  return builder.finish().value();
}

std::vector<std::vector<std::uint64_t>> cells_of(const AnnotationSpatialLevel& level) {
  std::vector<std::vector<std::uint64_t>> cells{{}};
  for (const std::uint64_t count : level.grid_shape) {
    std::vector<std::vector<std::uint64_t>> longer;
    for (const auto& cell : cells)
      for (std::uint64_t i = 0; i < count; ++i) longer.push_back(cell), longer.back().push_back(i);
    cells = longer;
  }
  return cells;
}

/// In how many cells of which level each id is.
std::map<std::uint64_t, std::map<std::size_t, std::set<std::vector<std::uint64_t>>>> where(const Collection& built) {
  std::map<std::uint64_t, std::map<std::size_t, std::set<std::vector<std::uint64_t>>>> found;
  const auto& levels = std::get<AnnotationInfo>(built.info()).spatial;
  for (std::size_t level = 0; level < levels.size(); ++level)
    for (const auto& cell : cells_of(levels[level]))
      if (const auto list = built.read_cell(level, cell).value()) {
        EXPECT_LE(list->ids.size(), levels[level].limit);
        for (const std::uint64_t id : list->ids) EXPECT_TRUE(found[id][level].insert(cell).second) << id;
      }
  return found;
}

struct Case {
  AnnotationType type;
  std::size_t vectors;
  bool sharded;
};
class AnnotationBuild : public testing::TestWithParam<Case> {};

TEST_P(AnnotationBuild, PutsEachAnnotationIntoOneLevelAndAllItsIndices) {
  const auto [type, vectors, sharded] = GetParam();
  const auto geometry = random_geometry(400, vectors, 30);
  const Table table = table_of(type, geometry);
  const auto store = memory_store();
  const auto report = build(store, info_of(type), table, {.limit = 20, .sharding = sharded ? Json("auto") : Json()});
  const Collection built = Collection::open(store).value();
  const auto& info = std::get<AnnotationInfo>(built.info());
  EXPECT_EQ(report.annotations, 400);
  EXPECT_EQ(report.levels, info.spatial.size());
  EXPECT_GT(report.levels, 2);
  EXPECT_EQ(report.related, 7);
  EXPECT_THAT(info.spatial[0].grid_shape, ElementsAre(1, 1, 1));
  EXPECT_THAT(info.spatial[1].grid_shape, ElementsAre(2, 2, 2)) << "z is as long as x in nanometres";

  const auto found = where(built);
  ASSERT_EQ(found.size(), 400);
  for (std::size_t row = 0; row < 400; ++row) {
    const std::uint64_t id = table.rows.ids[row];
    ASSERT_EQ(found.at(id).size(), 1) << "an annotation is in one level";
    const auto& [level, cells] = *found.at(id).begin();
    if (type == AnnotationType::point) {
      EXPECT_EQ(cells.size(), 1);
    }
    const auto one = built.read_annotation(id).value();
    ASSERT_TRUE(one);
    EXPECT_EQ(one->geometry, geometry[row]);
    EXPECT_EQ(one->properties[0].as<float>()[0], static_cast<float>(row)) << "the stored info lists them by size";
    EXPECT_EQ(one->properties[1].as<std::uint8_t>()[0], static_cast<std::uint8_t>(row));
    EXPECT_EQ(one->related[0].size(), row % 7 == 5 ? 1 : 2);
  }
  const auto related = built.read_related(0, 3).value();
  ASSERT_TRUE(related);
  EXPECT_EQ(related->ids.size(), 57);
  for (const std::uint64_t id : related->ids) EXPECT_EQ((id - 1000) / 3 % 7, 3);
  EXPECT_TRUE(check(store, {.data = true}).value().ok());
}

INSTANTIATE_TEST_SUITE_P(Types, AnnotationBuild,
                         testing::Values(Case{AnnotationType::point, 1, true}, Case{AnnotationType::point, 1, false},
                                         Case{AnnotationType::line, 2, true},
                                         Case{AnnotationType::axis_aligned_bounding_box, 2, false},
                                         Case{AnnotationType::ellipsoid, 2, true},
                                         Case{AnnotationType::polyline, 4, false}));

TEST(AnnotationBuilder, PutsALineIntoTheCellsThatItCrossesAndNoOthers) {
  const CellGrid grid{{0, 0}, {10, 10}, {4, 4}};
  const auto cells = [&](AnnotationType type, const std::vector<float>& vectors) {
    std::vector<Shape> met;
    CellFinder(type, grid).find(vectors, [&](const Shape& cell) { met.push_back(cell); });
    return met;
  };
  EXPECT_THAT(cells(AnnotationType::line, {1, 1, 35, 38}),
              testing::UnorderedElementsAre(Shape{0, 0}, Shape{0, 1}, Shape{1, 1}, Shape{1, 2}, Shape{2, 2},
                                            Shape{2, 3}, Shape{3, 3}));
  EXPECT_THAT(cells(AnnotationType::line, {25, 5, 5, 5}),
              testing::UnorderedElementsAre(Shape{0, 0}, Shape{1, 0}, Shape{2, 0}));
  EXPECT_EQ(cells(AnnotationType::axis_aligned_bounding_box, {25, 5, 5, 15}).size(), 6);
  EXPECT_THAT(cells(AnnotationType::ellipsoid, {15, 15, 6, 6}),
              testing::UnorderedElementsAre(Shape{1, 1}, Shape{0, 1}, Shape{2, 1}, Shape{1, 0}, Shape{1, 2}))
      << "a circle does not reach the corners of its box";
  EXPECT_THAT(cells(AnnotationType::point, {40, -1}), ElementsAre(Shape{3, 0})) << "the far edge is in the last cell";
  EXPECT_THAT(cells(AnnotationType::polyline, {5, 5, 15, 5, 5, 5}), ElementsAre(Shape{0, 0}, Shape{1, 0}));
}

TEST(AnnotationBuilder, WritesTheSameBytesInAnyOrderOfRows) {
  const auto geometry = random_geometry(200, 1, 0);
  const Table table = table_of(AnnotationType::point, geometry);
  const auto one = memory_store(), two = memory_store();
  build(one, info_of(AnnotationType::point), table, {.limit = 10});
  AnnotationBuilder builder = AnnotationBuilder::create(two, info_of(AnnotationType::point), {.limit = 10}).value();
  for (std::size_t row = geometry.size(); row-- > 0;) {
    Annotations single;
    single.ids = {table.rows.ids[row]};
    single.geometry = geometry[row];
    for (const Column& column : table.rows.properties) {
      const auto begin = column.bytes.begin() + static_cast<std::ptrdiff_t>(row * column.element_bytes());
      single.properties.push_back(
          {column.dtype, 1, {begin, begin + static_cast<std::ptrdiff_t>(column.element_bytes())}});
    }
    std::vector<std::uint64_t> ids{5};
    if (row % 7 != 5) ids.push_back(row % 7);
    const RelatedIds related{{static_cast<std::uint32_t>(ids.size())}, ids};
    builder.add(single, std::span(&related, 1)).value();
  }
  builder.finish().value();
  EXPECT_EQ(tree_of(*one), tree_of(*two));
}

TEST(AnnotationBuilder, EndsWithALevelForWhatNoGridSeparates) {
  const Table table = table_of(AnnotationType::point, std::vector<std::vector<float>>(90, {5, 5, 5}));
  const auto store = memory_store();
  EXPECT_EQ(build(store, info_of(AnnotationType::point), table, {.limit = 20}).levels, 1);
  EXPECT_EQ(std::get<AnnotationInfo>(Collection::open(store).value().info()).spatial[0].limit, 90);
}

TEST(AnnotationBuilder, MayHaveNoAnnotations) {
  const auto store = memory_store();
  const auto report = build(store, info_of(AnnotationType::point), table_of(AnnotationType::point, {}));
  EXPECT_EQ(report.cells, 0);
  EXPECT_TRUE(Collection::open(store).value().list([](std::uint64_t) { return false; }).value());
}

TEST(AnnotationBuilder, WritesNothingIfARowIsWrong) {
  const auto store = memory_store();
  const auto attempt = [&](const AnnotationInfo& info, const Table& table, AnnotationBuildOptions options = {}) {
    auto builder = AnnotationBuilder::create(store, info, std::move(options));
    if (!builder) return builder.error().text();
    auto added = builder->add(table.rows, table.related);
    if (!added) return added.error().text();
    return builder->finish().error().text();
  };
  const AnnotationInfo points = info_of(AnnotationType::point);
  Table table = table_of(AnnotationType::point, {{1, 2, 3}, {4, 5, 6}});
  table.rows.ids = {9, 9};
  EXPECT_THAT(attempt(points, table), HasSubstr("annotations 0 and 1 have the same id, 9"));
  table.rows.ids = {9, 10};
  table.rows.geometry[4] = NAN;
  EXPECT_THAT(attempt(points, table), HasSubstr("not a finite number"));
  table.rows.geometry[4] = 5;
  table.related[0].counts = {1, 1};
  EXPECT_THAT(attempt(points, table), HasSubstr("'segment'"));
  table = table_of(AnnotationType::point, {{1, 2, 3}, {4, 5, 6}});
  AnnotationInfo bounded = points;
  bounded.lower_bound = {0, 0, 0};
  bounded.upper_bound = {4, 4, 4};
  EXPECT_THAT(attempt(bounded, table), HasSubstr("annotation 1 lies outside of the bounds in dimension y"));
  EXPECT_THAT(attempt(points, table, {.limit = 0}), HasSubstr("limit"));
  EXPECT_THAT(attempt(points, table, {.sharding = Json("no")}), HasSubstr("sharding"));
  EXPECT_TRUE(tree_of(*store).empty());
}

TEST(AnnotationBuilder, ReplacesAnotherCollectionOnlyIfRequested) {
  const auto store = memory_store();
  const AnnotationInfo info = info_of(AnnotationType::point);
  build(store, info, table_of(AnnotationType::point, random_geometry(50, 1, 0)), {.limit = 5});
  const auto before = tree_of(*store);
  const Table fewer = table_of(AnnotationType::point, {{1, 2, 3}});
  AnnotationBuilder builder = AnnotationBuilder::create(store, info).value();
  builder.add(fewer.rows, fewer.related).value();
  EXPECT_EQ(builder.finish().error().code(), ErrorCode::conflict);
  EXPECT_EQ(tree_of(*store), before);
  build(store, info, fewer, {.overwrite = true});
  EXPECT_EQ(tree_of(*store).size(), 5) << "info, by_id, two related objects, one cell";
}

}  // namespace annotation_build_test
}  // namespace sherd::neuroglancer
