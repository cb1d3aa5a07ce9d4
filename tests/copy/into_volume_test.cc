// Images that become volumes of Neuroglancer's: axes in any order, and whole chunks moved as they are. Voxels are
// compared by coordinates, for any order of the dimensions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/sherd.hpp"
#include "tests/copy/copy_testing.hpp"

namespace sherd {
namespace into_volume_test {

using namespace copy_testing;

// A volume of 37 x 20 x 18 voxels and its chunks, by axis.
std::uint64_t length_of(char axis, std::uint64_t channels) {
  return axis == 'x' ? 37 : axis == 'y' ? 20 : axis == 'z' ? 18 : channels;
}
std::uint64_t chunk_of(char axis, std::uint64_t channels) {
  return axis == 'x' ? 8 : axis == 'y' ? 5 : axis == 'z' ? 6 : channels;
}

// The value of a voxel.
std::uint16_t voxel(std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t c) {
  return static_cast<std::uint16_t>(1 + x + 40 * y + 900 * z + 17000 * c);
}

// The elements of an array whose dimensions are these axes, in C order.
std::vector<std::uint16_t> voxels(const std::string& axes, const Shape& shape) {
  std::vector<std::uint16_t> values;
  Shape at(shape.size(), 0);
  for (std::uint64_t i = 0; i < *element_count(shape); ++i) {
    const auto along = [&](char axis) { return axes.find(axis) == axes.npos ? 0 : at[axes.find(axis)]; };
    values.push_back(voxel(along('x'), along('y'), along('z'), along('c')));
    for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return values;
}

template <class T = std::uint16_t>
std::vector<T> all_of(const Array& array) {
  std::vector<T> values(*element_count(array.shape()));
  array.read(Box{Shape(array.ndim(), 0), array.shape()}, std::span<T>(values)).value();
  return values;
}

struct Kind {
  std::string axes;
  std::uint64_t channels;
  std::string codec;  // behind bytes
  bool sharded;
};

std::shared_ptr<Store> zarr_of(const Kind& kind) {
  CreateOptions options{.dtype = DType::uint16, .codecs = std::vector<Json>{"bytes"}};
  options.dimension_names.emplace();
  for (const char axis : kind.axes) {
    options.shape.push_back(length_of(axis, kind.channels));
    options.chunks.push_back(chunk_of(axis, kind.channels));
    options.dimension_names->emplace_back(axis == 'c' ? "Channel" : std::string(1, axis));
    if (kind.sharded) options.shards.push_back(options.chunks.back() * (axis == 'c' ? 1 : 2));
  }
  // The order in which a volume has its bytes: channel, z, y, x.
  Json order{Json::Array{}};
  for (const char axis : std::string("czyx"))
    if (kind.axes.find(axis) != kind.axes.npos) order.push_back(std::uint64_t{kind.axes.find(axis)});
  options.codecs->insert(options.codecs->begin(),
                         Json::Object{{"name", "transpose"}, {"configuration", Json::Object{{"order", order}}}});
  if (!kind.codec.empty()) options.codecs->push_back(kind.codec);
  const auto store = memory_store();
  const Array array = create_array(store, "", options).value();
  const auto values = voxels(kind.axes, options.shape);
  array.write(Box{Shape(array.ndim(), 0), array.shape()}, std::span<const std::uint16_t>(values)).value();
  return store;
}

class CopyIntoVolume : public testing::TestWithParam<Kind> {};

// 5 x 4 x 3 chunks, the last along x end at 37 and not at 40.
constexpr std::uint64_t kWhole = 4 * 4 * 3, kEdge = 4 * 3;

TEST_P(CopyIntoVolume, WholeChunksAreMovedAndClippedOnesEncoded) {
  const Kind& kind = GetParam();
  const auto zarr = zarr_of(kind);
  const auto volume = memory_store();
  const CopyReport there = copy(zarr, volume, {.format = "precomputed"}).value();
  EXPECT_EQ(there.chunks_moved, kWhole);
  EXPECT_EQ(there.chunks_encoded, kEdge);
  const Array scale = open_array(volume).value();
  EXPECT_EQ(scale.shape(), (Shape{37, 20, 18, kind.channels}));
  EXPECT_EQ(scale.chunks(), (Shape{8, 5, 6, kind.channels}));
  EXPECT_EQ(all_of(scale), voxels("xyzc", scale.shape()));
  EXPECT_TRUE(check(volume, {.data = true}).value().ok());

  const auto back = memory_store();
  std::vector<std::string> axes;
  for (const char axis : kind.axes) axes.emplace_back(1, axis);
  if (kind.axes.find('c') != kind.axes.npos && !kind.axes.starts_with('c')) {
    const auto refused = copy(volume, back, {.format = "zarr3", .axes = axes});
    ASSERT_FALSE(refused) << "OME-NGFF has channels before space";
    EXPECT_EQ(refused.error().member(), "axes");
    return;
  }
  const CopyReport home = copy(volume, back, {.format = "zarr3", .axes = axes}).value();
  EXPECT_EQ(home.chunks_moved, kWhole);
  EXPECT_EQ(home.chunks_encoded, kEdge);
  const Array again = open_array(back, {.path = "1_1_1"}).value();
  EXPECT_EQ(all_of(again), voxels(kind.axes, again.shape()));
  EXPECT_TRUE(check(back, {.data = true}).value().ok());
}

INSTANTIATE_TEST_SUITE_P(Kinds, CopyIntoVolume,
                         testing::Values(Kind{"zyx", 1, "", false}, Kind{"zyx", 1, "", true},
                                         Kind{"zyx", 1, "gzip:1", true}, Kind{"xzy", 1, "gzip:9", true},
                                         Kind{"czyx", 3, "", false}, Kind{"czyx", 3, "gzip:5", true},
                                         Kind{"yxcz", 3, "", true}, Kind{"zyxc", 3, "gzip:1", true},
                                         Kind{"yczx", 1, "", false}));

TEST(CopyIntoVolume, ChunksInAnotherOrderOrEncodingAreEncoded) {
  const auto zarr = memory_store();
  CreateOptions options{.shape = {18, 20, 37}, .dtype = DType::uint16, .chunks = {6, 5, 8}};
  options.dimension_names = {{"z", "y", "x"}};
  for (const char* codec : {"zstd:3", "transpose:2,1,0"}) {
    options.codecs = std::vector<Json>{codec};
    options.overwrite = true;
    const Array array = create_array(zarr, "", options).value();
    const auto values = voxels("zyx", options.shape);
    array.write(Box{{0, 0, 0}, options.shape}, std::span<const std::uint16_t>(values)).value();
    const auto volume = memory_store();
    const CopyReport report = copy(zarr, volume, {.format = "precomputed"}).value();
    EXPECT_EQ(report.chunks_moved, 0U) << codec;
    EXPECT_EQ(report.chunks_encoded, kWhole + kEdge) << codec;
    EXPECT_EQ(all_of(open_array(volume).value()), voxels("xyz", {37, 20, 18}));
  }
}

TEST(CopyIntoVolume, MissingChunksReadAsTheFillValue) {
  for (const bool sharded : {false, true}) {
    const auto zarr = memory_store();
    CreateOptions options{.shape = {12, 10, 16}, .dtype = DType::int16, .chunks = {6, 5, 8}, .fill_value = Json(-7)};
    options.dimension_names = {{"z", "y", "x"}};
    if (sharded) options.shards = {12, 10, 16};
    const Array array = create_array(zarr, "", options).value();
    const std::vector<std::int16_t> some(6 * 5 * 8, 3);
    array.write(Box{{6, 5, 8}, {6, 5, 8}}, std::span<const std::int16_t>(some)).value();
    const auto volume = memory_store();
    EXPECT_EQ(copy(zarr, volume, {.format = "precomputed"}).value().chunks_encoded, 8U);
    const auto values = all_of<std::int16_t>(open_array(volume).value());
    EXPECT_EQ(std::ranges::count(values, -7), 12 * 10 * 16 - 6 * 5 * 8);
    EXPECT_EQ(std::ranges::count(values, 3), 6 * 5 * 8);
  }
}

TEST(CopyIntoVolume, DoesNotListAllChunksInAdvance) {
  const auto zarr = memory_store();
  CreateOptions options{.shape = {std::uint64_t{1} << 29, std::uint64_t{1} << 29, 8},
                        .dtype = DType::uint8,
                        .chunks = {1, 1, 8},
                        .fill_value = Json(1)};
  options.dimension_names = {{"z", "y", "x"}};
  create_array(zarr, "", options).value();
  CopyOptions polled{.format = "precomputed"};
  int polls = 0;
  polled.config.interrupted = [&] { return ++polls > 100; };
  EXPECT_EQ(copy(zarr, memory_store(), polled).error().code(), ErrorCode::unavailable);
}

TEST(CopyIntoVolume, AcceptsEncodingShardingAndChunks) {
  const auto zarr = zarr_of({"zyx", 1, "", false});
  const auto volume = memory_store();
  const CopyReport report =
      copy(zarr, volume,
           {.chunks = Shape{16, 16, 16}, .format = "precomputed", .encoding = "png", .sharding = Json("auto")})
          .value();
  EXPECT_EQ(report.chunks_moved, 0U);
  const Json scale = info_of(volume).find("scales")->elements().front();
  EXPECT_EQ(scale.find("encoding")->text(), "png");
  EXPECT_EQ(*scale.find("chunk_sizes"), json("[[16, 16, 16]]"));
  ASSERT_NE(scale.find("sharding"), nullptr);
  EXPECT_EQ(scale.find("sharding")->find("data_encoding")->text(), "raw") << "png is compressed already";
  EXPECT_EQ(all_of(open_array(volume).value()), voxels("xyz", {37, 20, 18}));

  const auto other = memory_store();
  copy(volume, other, {.encoding = "raw", .sharding = Json()}).value();
  EXPECT_EQ(info_of(other).find("scales")->elements().front().find("sharding"), nullptr);
  EXPECT_EQ(all_of(open_array(other).value()), voxels("xyz", {37, 20, 18}));
}

}  // namespace into_volume_test
}  // namespace sherd
