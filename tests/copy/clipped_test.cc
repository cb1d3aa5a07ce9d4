// Copies of volumes whose last chunks end where the volume ends: clipped along any axis, in any encoding, into other
// shards, into unsharded volumes, into Zarr arrays and back.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <tuple>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/copy/copy_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace clipped_test {

using namespace copy_testing;
using neuroglancer::VolumeInfo;

Json sharding(const std::string& encoding, const std::string& hash) {
  return json((R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 1, "minishard_bits": 1, "shard_bits": 2,
    "hash": ")" +
               hash + R"(", "minishard_index_encoding": "gzip", "data_encoding": ")" + encoding + "\"}")
                  .c_str());
}

struct Codec {
  std::string encoding, compression;  ///< of chunks, and of what shards hold
  DType dtype;
};
const Codec kCodecs[] = {{"raw", "raw", DType::uint16},
                         {"raw", "gzip", DType::uint16},
                         {"compressed_segmentation", "raw", DType::uint32},
                         {"compressed_segmentation", "gzip", DType::uint32},
                         {"png", "raw", DType::uint8},
                         {"jpeg", "raw", DType::uint8}};
const Shape kShapes[] = {{16, 16, 16}, {21, 16, 16}, {16, 21, 16}, {16, 16, 21}, {21, 27, 19}, {5, 3, 2}};

class CopyClipped : public testing::TestWithParam<std::tuple<Codec, Shape>> {
 protected:
  [[nodiscard]] static const Codec& codec() { return std::get<0>(GetParam()); }
  [[nodiscard]] static const Shape& shape() { return std::get<1>(GetParam()); }

  static std::shared_ptr<Store> volume(const Json& how) {
    VolumeInfo info;
    info.data_type = codec().dtype;
    info.type =
        codec().encoding == "compressed_segmentation" ? VolumeInfo::Type::segmentation : VolumeInfo::Type::image;
    const Shape& size = shape();
    info.scales.push_back(
        {.key = "s0", .size = {size[0], size[1], size[2]}, .chunk_sizes = {{8, 8, 8}}, .resolution = {8, 8, 40}});
    info.scales[0].encoding = codec().encoding;
    if (codec().encoding == "compressed_segmentation") info.scales[0].block_size = {{4, 4, 4}};
    info.scales[0].sharding = how;
    auto store = memory_store();
    const Array array = neuroglancer::create_precomputed(store, "", info).value();
    std::vector<std::byte> values(*element_count(shape()) * codec().dtype.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = i % codec().dtype.size() == 0 ? std::byte(1 + i / 9 % 200) : std::byte(0);
    array.write(Box{Shape(4, 0), array.shape()}, ConstAnyView::dense(values.data(), codec().dtype, array.shape()))
        .value();
    return store;
  }
  static std::vector<std::byte> elements_of(const std::shared_ptr<Store>& store) {
    const Array array = open_array(store).value();
    std::vector<std::byte> values(*element_count(array.shape()) * array.dtype().size());
    array.read(Box{Shape(4, 0), array.shape()}, AnyView::dense(values.data(), array.dtype(), array.shape())).value();
    return values;
  }
};
INSTANTIATE_TEST_SUITE_P(Volumes, CopyClipped, testing::Combine(testing::ValuesIn(kCodecs), testing::ValuesIn(kShapes)),
                         [](const auto& each) {
                           const Codec& codec = std::get<0>(each.param);
                           std::string name = codec.encoding + "_" + codec.compression + "_of";
                           for (const auto length : std::get<1>(each.param)) name += "_" + std::to_string(length);
                           return name;
                         });

TEST_P(CopyClipped, IsTheSameVolumeInOtherShardsAndInNone) {
  const Json kinds[] = {{},
                        sharding(codec().compression, "identity"),
                        sharding(codec().compression, "murmurhash3_x86_128"),
                        Json("auto")};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto from = volume(kinds[i]);
    const auto expected = elements_of(from);
    for (std::size_t j = 0; j < 4; ++j) {
      SCOPED_TRACE(std::to_string(i) + " to " + std::to_string(j));
      const auto to = memory_store();
      const auto copied = sherd::copy(from, to, {.sharding = kinds[j]});
      ASSERT_TRUE(copied) << copied.error().text();
      EXPECT_EQ(elements_of(to), expected);
      const CheckReport report = check(to, {.data = true}).value();
      EXPECT_TRUE(report.faults.empty()) << report.to_json().dump(1);
    }
  }
}

TEST_P(CopyClipped, IsTheSameVolumeAfterItWasAnArray) {
  for (const Json& kind : {Json(), sharding(codec().compression, "identity")})
    for (const bool shards : {false, true}) {
      const auto from = volume(kind);
      const auto zarr = memory_store(), back = memory_store();
      sherd::copy(from, zarr, {.auto_shards = shards, .format = "zarr3"}).value();
      EXPECT_TRUE(check(zarr, {.data = true}).value().faults.empty());
      sherd::copy(zarr, back, {.format = "precomputed", .encoding = "raw", .sharding = kind}).value();
      EXPECT_TRUE(check(back, {.data = true}).value().faults.empty());
      EXPECT_EQ(elements_of(back), elements_of(from));
    }
}

// Both formats of such an array hold a whole number of chunks along all axes but the slowest.
TEST(CopyClippedDualFormat, IsTheSameVolumeInOtherShardsAndInNone) {
  const TempDir directory;
  for (const std::uint64_t depth : {16U, 21U, 5U}) {
    const std::string url = directory / ("dual" + std::to_string(depth));
    CreateOptions options{
        .shape = {depth, 16, 24}, .dtype = DType::uint16, .chunks = {8, 8, 8}, .shards = {16, 16, 16}};
    options.codecs = std::vector<Json>{"bytes"};
    options.dimension_names = std::vector<std::optional<std::string>>{"z", "y", "x"};
    options.config.layout = Layout::zarr_neuroglancer;
    const Array array = create_array(url, options).value();
    std::vector<std::uint16_t> values(*element_count(options.shape));
    std::iota(values.begin(), values.end(), std::uint16_t{1});
    array.write(Box{{0, 0, 0}, options.shape}, std::span<const std::uint16_t>(values)).value();
    for (const Json& how :
         {Json(), Json("auto"), sharding("raw", "murmurhash3_x86_128"), sharding("gzip", "identity")}) {
      SCOPED_TRACE(how.dump(0) + " of depth " + std::to_string(depth));
      const std::string copy = directory / "copy";
      const auto copied = sherd::copy(url, copy, {.overwrite = true, .format = "precomputed", .sharding = how});
      ASSERT_TRUE(copied) << copied.error().text();
      EXPECT_TRUE(check(copy, {.data = true}).value().faults.empty());
      std::vector<std::uint16_t> copied_values(values.size());
      const std::int64_t lines = 24, planes = 16 * lines;  // strides, so that elements come in the order of the array's
      const StridedView<std::uint16_t> view(copied_values.data(), {24, 16, depth, 1}, {1, lines, planes, planes});
      open_array(copy).value().read(Box{Shape(4, 0), {24, 16, depth, 1}}, view).value();
      EXPECT_EQ(copied_values, values);
    }
  }
}

}  // namespace clipped_test
}  // namespace sherd
