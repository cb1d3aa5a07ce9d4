// The chunk grid: cells of one dimension, and keys of chunks in every encoding.
#include "node/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace sherd {
namespace grid_test {

using testing::ElementsAre;
using testing::Pair;

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

TEST(AxisGrid, HasCellsOfOneLength) {
  const AxisGrid axis(10);
  EXPECT_TRUE(axis.regular());
  EXPECT_EQ(axis.cell_of(0), 0U);
  EXPECT_EQ(axis.cell_of(9), 0U);
  EXPECT_EQ(axis.cell_of(10), 1U);
  EXPECT_EQ(axis.begin(3), 30U);
  EXPECT_EQ(axis.length(3), 10U);
  EXPECT_EQ(axis.end(), kNoEnd);
}

TEST(AxisGrid, CountsThePartialCellAtTheEndOfTheArray) {
  const AxisGrid axis(10);
  EXPECT_EQ(axis.count(0), 0U);
  EXPECT_EQ(axis.count(1), 1U);
  EXPECT_EQ(axis.count(20), 2U);
  EXPECT_EQ(axis.count(21), 3U);
}

TEST(AxisGrid, ClipsItsLastCellWhereItHasAnEnd) {
  const AxisGrid axis(10, 25);
  EXPECT_EQ(axis.length(1), 10U);
  EXPECT_EQ(axis.length(2), 5U);
  EXPECT_EQ(axis.first_length(), 10U);
  EXPECT_EQ(axis.end(), 25U);
  EXPECT_EQ(AxisGrid(10, 4).first_length(), 10U) << "as if it were not clipped";
}

TEST(AxisGrid, HasRunsOfCellsOfDifferentLengths) {
  const AxisGrid axis({{10, 2}, {5, 3}, {7, 1}});  // 0 10 | 20 25 30 | 35, end 42
  EXPECT_FALSE(axis.regular());
  EXPECT_EQ(axis.first_length(), 10U);
  const std::vector<std::uint64_t> begins{0, 10, 20, 25, 30, 35, 42};
  for (std::uint64_t cell = 0; cell < 6; ++cell) {
    EXPECT_EQ(axis.begin(cell), begins[cell]);
    EXPECT_EQ(axis.length(cell), begins[cell + 1] - begins[cell]);
    for (std::uint64_t at = begins[cell]; at < begins[cell + 1]; ++at) EXPECT_EQ(axis.cell_of(at), cell) << at;
  }
  EXPECT_EQ(axis.count(42), 6U);
  EXPECT_EQ(axis.count(20), 2U);
  EXPECT_EQ(axis.count(21), 3U);
}

TEST(AxisGrid, IgnoresRunsOfNoCells) {
  const AxisGrid axis({{4, 0}, {3, 2}, {9, 0}, {2, 1}});
  EXPECT_EQ(axis.begin(1), 3U);
  EXPECT_EQ(axis.length(2), 2U);
  EXPECT_EQ(axis.count(8), 3U);
}

TEST(AxisGrid, DescribesItsCellsAsRuns) {
  const AxisGrid regular(10);
  EXPECT_THAT(regular.runs(0), ElementsAre());
  EXPECT_THAT(regular.runs(30), ElementsAre(Pair(10, 3)));
  EXPECT_THAT(regular.runs(34), ElementsAre(Pair(10, 3), Pair(4, 1)));
  EXPECT_THAT(regular.runs(4), ElementsAre(Pair(4, 1)));
  const AxisGrid rectilinear({{10, 2}, {5, 2}, {5, 1}});
  EXPECT_THAT(rectilinear.runs(35), ElementsAre(Pair(10, 2), Pair(5, 3))) << "runs of one length are joined";
  EXPECT_THAT(rectilinear.runs(33), ElementsAre(Pair(10, 2), Pair(5, 2), Pair(3, 1)));
  EXPECT_THAT(rectilinear.runs(12), ElementsAre(Pair(10, 1), Pair(2, 1)));
}

TEST(AxisGrid, HasNoCellsWhoseCoordinatesOverflow) {
  const AxisGrid axis(std::uint64_t{1} << 40);
  EXPECT_TRUE(axis.has((std::uint64_t{1} << 24) - 2));
  EXPECT_FALSE(axis.has(std::uint64_t{1} << 24));
  EXPECT_FALSE(axis.has(kNoEnd));
}

ArraySpec regular_array(const Shape& shape, const Shape& chunks, const KeyEncoding& keys = {}) {
  ArraySpec spec;
  spec.shape = shape;
  spec.dtype = DType::uint8;
  spec.grid = RegularGrid{.chunk_shape = chunks};
  spec.keys = keys;
  return spec;
}

TEST(ChunkGrid, FindsTheBoxOfACellInEachDimension) {
  const ChunkGrid grid(regular_array({100, 7}, {30, 4}));
  EXPECT_EQ(grid.count({100, 7}), (Shape{4, 2}));
  EXPECT_EQ(grid.count({100, 0}), (Shape{4, 0}));
  EXPECT_EQ(grid.cell_begin({3, 1}), (Shape{90, 4}));
  EXPECT_EQ(grid.cell_shape({3, 1}), (Shape{30, 4})) << "edge chunks have the declared shape";
}

TEST(ChunkGrid, ClipsEdgeChunksWhereTheFormatDoes) {
  ArraySpec spec = regular_array({100, 7}, {30, 4});
  spec.grid = RegularGrid{.chunk_shape = {30, 4}, .clipped = true};
  EXPECT_EQ(ChunkGrid(spec).cell_shape({3, 1}), (Shape{10, 3}));
}

TEST(ChunkGrid, MixesRegularAndRectilinearDimensions) {
  ArraySpec spec = regular_array({12, 12}, {});
  spec.grid = RectilinearGrid{{{.regular = 5, .runs = {}}, {.regular = {}, .runs = {{4, 2}, {6, 1}}}}};
  const ChunkGrid grid(spec);
  EXPECT_EQ(grid.count(spec.shape), (Shape{3, 3}));
  EXPECT_EQ(grid.cell_begin({2, 2}), (Shape{10, 8}));
  EXPECT_EQ(grid.cell_shape({2, 2}), (Shape{5, 6}));
}

struct Keys {
  KeyEncoding encoding;
  const char* of_cell_1_23;
  const char* of_scalar;
};

const Keys kEncodings[] = {
    {{KeyEncoding::Kind::standard, '/'}, "c/1/23", "c"},
    {{KeyEncoding::Kind::standard, '.'}, "c.1.23", "c"},
    {{KeyEncoding::Kind::v2, '.'}, "1.23", "0"},
    {{KeyEncoding::Kind::v2, '/'}, "1/23", "0"},
    {{KeyEncoding::Kind::joined, '/'}, "c1/23", "c0"},
    {{.kind = KeyEncoding::Kind::joined, .separator = '/', .bare = true}, "c1/23", "c"},
};

TEST(ChunkKey, IsWrittenAndParsedInEveryEncoding) {
  for (const auto& [encoding, key, scalar] : kEncodings) {
    const ChunkGrid grid(regular_array({1000, 1000}, {10, 10}, encoding));
    EXPECT_EQ(grid.key({1, 23}), key);
    EXPECT_EQ(grid.parse_key(key), (Shape{1, 23})) << key;
    const ChunkGrid none(regular_array({}, {}, encoding));
    EXPECT_EQ(none.key({}), scalar);
    EXPECT_EQ(none.parse_key(scalar), Shape{}) << scalar;
    EXPECT_EQ(none.parse_key(key), std::nullopt) << key;
  }
}

TEST(ChunkKey, HasOneSpelling) {
  const ChunkGrid grid(regular_array({1000, 1000}, {10, 10}));
  EXPECT_EQ(grid.parse_key("c/0/0"), (Shape{0, 0}));
  for (const char* key : {"",
                          "c",
                          "c/",
                          "c/1",
                          "c/1/",
                          "c/1/2/3",
                          "c/1/2/",
                          "c/01/2",
                          "c/1/02",
                          "c//2",
                          "c/+1/2",
                          "c/-1/2",
                          "c/1/2x",
                          "c/1 /2",
                          "c.1.2",
                          "1/2",
                          "d/1/2",
                          "C/1/2",
                          "c/1/99999999999999999999",
                          "c/1/18446744073709551615"})
    EXPECT_EQ(grid.parse_key(key), std::nullopt) << key;
}

TEST(ChunkKey, MayBeBeyondTheEndOfTheArray) {
  const ChunkGrid grid(regular_array({10, 10}, {10, 10}));
  EXPECT_EQ(grid.parse_key("c/7/0"), (Shape{7, 0})) << "what another program has left there is a chunk, too";
}

TEST(ChunkKey, OfRangesHasTheCoordinatesOfTheClippedChunk) {
  ArraySpec spec =
      regular_array({100, 70}, {64, 64}, {.kind = KeyEncoding::Kind::ranges, .offsets = {5, -3}, .order = {1, 0}});
  spec.grid = RegularGrid{.chunk_shape = {64, 64}, .clipped = true};
  const ChunkGrid grid(spec);
  EXPECT_EQ(grid.key({0, 0}), "5-69_-3-61") << "dimension 1 comes first";
  EXPECT_EQ(grid.key({1, 1}), "69-75_61-97");
  EXPECT_EQ(grid.parse_key("69-75_61-97"), (Shape{1, 1}));
  for (const char* key : {"", "5-69", "5-69_-3-61_0-1", "5-69_-3-62", "6-70_-3-61", "05-69_-3-61", "4-69_-3-61",
                          "69-133_61-125", "5-69_-3-61 ", "5_-3"})
    EXPECT_EQ(grid.parse_key(key), std::nullopt) << key;
}

// An array of 8 x 8 chunks; each shard is a box of 4 x 2.
ArraySpec array_of_ids(bool hashed) {
  const Uint64Sharding sharding{.preshift_bits = 2, .minishard_bits = 1, .shard_bits = 3};
  ArraySpec spec = regular_array({80, 80}, hashed ? Shape{10, 10} : Shape{40, 20});
  spec.grid = RegularGrid{.chunk_shape = hashed ? Shape{10, 10} : Shape{40, 20}, .clipped = true};
  spec.ids = IdSharding{.sharding = sharding, .chunk_shape = {10, 10}, .grid = {8, 8}, .hashed = hashed};
  return spec;
}

TEST(ChunkKey, OfAShardOfIdsIsTheNumberOfTheShard) {
  const ChunkGrid grid(array_of_ids(false));
  std::set<std::string> keys;
  for (std::uint64_t x = 0; x < 2; ++x)
    for (std::uint64_t y = 0; y < 4; ++y) {
      const std::string key = grid.key({x, y});
      EXPECT_EQ(grid.parse_key(key), (Shape{x, y})) << key;
      keys.insert(key);
    }
  EXPECT_EQ(keys, (std::set<std::string>{"0.shard", "1.shard", "2.shard", "3.shard", "4.shard", "5.shard", "6.shard",
                                         "7.shard"}));
  EXPECT_EQ(grid.first_id({0, 0}), 0U);
  EXPECT_EQ(grid.first_id({1, 3}) % 8, 0U) << "the ids of a box begin at a multiple of their number";
  for (const char* key : {"", "0", ".shard", "0.shar", "8x.shard", "00.shard", "F.shard", "0/0.shard"})
    EXPECT_EQ(grid.parse_key(key), std::nullopt) << key;
}

TEST(ChunkKey, OfAHashedChunkIsItsId) {
  const ChunkGrid grid(array_of_ids(true));
  std::set<std::string> keys;
  for (std::uint64_t x = 0; x < 8; ++x)
    for (std::uint64_t y = 0; y < 8; ++y) {
      const std::string key = grid.key({x, y});
      EXPECT_EQ(key, std::to_string(grid.first_id({x, y})));
      EXPECT_EQ(grid.parse_key(key), (Shape{x, y})) << key;
      keys.insert(key);
    }
  EXPECT_EQ(keys.size(), 64U);
  for (const char* key : {"", "x", "01", "-1", "1.shard", "64"}) EXPECT_EQ(grid.parse_key(key), std::nullopt) << key;
}

TEST(ChunkGrid, HasTheIdZeroWhereChunksHaveNone) { EXPECT_EQ(ChunkGrid(regular_array({100}, {10})).first_id({7}), 0U); }

}  // namespace grid_test
}  // namespace sherd
