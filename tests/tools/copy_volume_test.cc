// Copies out of Neuroglancer's volumes into arrays, whose last chunks go on beyond the volume: those are encoded anew.
#include <gtest/gtest.h>

#include <numeric>

#include "sherd/sherd.hpp"

namespace sherd {
namespace {

using neuroglancer::create_precomputed;
using neuroglancer::VolumeInfo;

constexpr std::uint64_t kElements = 70 * 50 * 33;
const Box kAll{{0, 0, 0, 0}, {70, 50, 33, 1}};

Json sharding() {
  return *Json::parse(R"({"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 1,
    "minishard_bits": 2, "shard_bits": 10, "minishard_index_encoding": "gzip", "data_encoding": "gzip"})");
}

std::vector<std::uint16_t> fill(const std::shared_ptr<Store>& store, const Json& how, const std::string& encoding) {
  VolumeInfo info;
  info.data_type = DType::uint16;
  info.scales.push_back({.key = "s0", .size = {70, 50, 33}, .chunk_sizes = {{32, 16, 16}}, .resolution = {8, 8, 40}});
  info.scales[0].sharding = how;
  info.scales[0].encoding = encoding;
  std::vector<std::uint16_t> values(kElements);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  const Array array = create_precomputed(store, "", info).value();
  array.write(kAll, std::span<const std::uint16_t>(values)).value();
  return values;
}

// The copy's elements in the order of the volume's: its dimensions are z, y, x.
std::vector<std::uint16_t> all_of(const std::shared_ptr<Store>& store, const std::string& path) {
  std::vector<std::uint16_t> values(kElements);
  const StridedView<std::uint16_t> view(values.data(), {33, 50, 70}, {1, 33, 50 * 33});
  open_array(store, {.path = path}).value().read(Box{{0, 0, 0}, {33, 50, 70}}, view).value();
  return values;
}

class CopyVolume : public testing::TestWithParam<bool> {};

TEST_P(CopyVolume, ToZarrMovesWholeChunksAndEncodesThoseThatAreCutOff) {
  const auto volume = memory_store();
  const auto values = fill(volume, GetParam() ? sharding() : Json(), "raw");
  const auto zarr = memory_store();
  const CopyReport report = copy(volume, zarr, {.format = "zarr3"}).value();
  EXPECT_EQ(report.chunks_moved, 12U) << "2 x 3 x 2 chunks are whole";
  EXPECT_EQ(report.chunks_encoded, 24U);
  EXPECT_EQ(all_of(zarr, "s0"), values);
  EXPECT_TRUE(check(zarr, {.data = true}).value().ok());
  const Array array = open_array(zarr, {.path = "s0"}).value();
  EXPECT_EQ(array.chunks(), (Shape{16, 16, 32}));
  EXPECT_EQ(array.codecs().elements().back().find("name")->text(), GetParam() ? "sharding_indexed" : "bytes")
      << "dimensions in the order of the bytes need no transpose";
  EXPECT_EQ(array.shards().has_value(), GetParam());
}

TEST_P(CopyVolume, ToAVolumeKeepsEveryObject) {
  const auto volume = memory_store();
  const auto values = fill(volume, GetParam() ? sharding() : Json(), "raw");
  const auto twin = memory_store();
  const CopyReport report = copy(volume, twin).value();
  EXPECT_EQ(report.chunks_moved, 36U);
  EXPECT_EQ(report.chunks_encoded, 0U);
  volume
      ->list("",
             [&](const std::string& key, std::uint64_t) {
               EXPECT_EQ(twin->get(key).value(), volume->get(key).value()) << key;
               return true;
             })
      .value();
}

TEST_P(CopyVolume, WithOtherChunksOrAnEncodingThatZarrDoesNotKnowIsEncodedAnew) {
  const auto volume = memory_store();
  const auto values = fill(volume, GetParam() ? sharding() : Json(), "png");
  for (const auto& chunks : {std::optional<Shape>(), std::optional<Shape>({30, 30, 30})}) {
    const auto zarr = memory_store();
    const CopyReport report = copy(volume, zarr, {.chunks = chunks, .shards = Shape(), .format = "zarr3"}).value();
    EXPECT_EQ(report.chunks_moved, 0U);
    EXPECT_EQ(all_of(zarr, "s0"), values);
  }
}

INSTANTIATE_TEST_SUITE_P(Sharded, CopyVolume, testing::Bool());

}  // namespace
}  // namespace sherd
