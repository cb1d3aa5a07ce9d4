// Many regions of a volume in one call, for each way in which its chunks can be stored.
#include <gtest/gtest.h>

#include <numeric>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace read_many_test {

/// A cube of 48 voxels, alone or with a channel behind its dimensions: reads boxes, lists and points together, and each
/// of them alone.
void expect_together(const Array& array) {
  const auto of = [&](std::vector<Selection::Axis> axes) {
    if (array.ndim() == 4) axes.emplace_back(Range{0, 1});
    return Selection::orthogonal(std::move(axes));
  };
  std::vector<Selection> selections;
  for (std::uint64_t i = 0; i < 24; ++i) selections.push_back(of({Range{i, 20}, Range{38 - i, 10}, Range{i, 8}}));
  selections.push_back(selections[3]);
  selections.push_back(of({Indices{40, 3, 3}, Range{39, 40, -1}, Range{1, 10, 3}}));
  selections.push_back(of({Range{0, 48}, Range{0, 48}, Range{0, 48}}));
  std::vector<Indices> points{{0, 47, 9, 9}, {39, 0, 9, 9}, {1, 31, 2, 2}, {0, 0, 0, 0}};
  points.resize(array.ndim());
  selections.push_back(Selection::points(points));
  std::vector<std::vector<std::uint16_t>> memory;
  std::vector<Array::Region> regions;
  for (const Selection& selection : selections) {
    memory.emplace_back(*element_count(selection.shape()));
    auto* data = reinterpret_cast<std::byte*>(memory.back().data());
    regions.push_back({selection, AnyView::dense(data, DType::uint16, selection.shape())});
  }
  array.read(regions).value();
  for (std::size_t i = 0; i < selections.size(); ++i) {
    std::vector<std::uint16_t> alone(memory[i].size());
    array.read(selections[i], std::span(alone)).value();
    EXPECT_EQ(memory[i], alone) << "region " << i;
  }
}

void fill(const Array& array) {
  std::vector<std::uint16_t> values(*element_count(array.shape()));
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  array.write(Box{Shape(array.ndim(), 0), array.shape()}, std::span<const std::uint16_t>(values)).value();
}

Json sharding(const std::string& hash, std::uint64_t preshift, std::uint64_t minishard, std::uint64_t shard) {
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"hash", hash},
                      {"preshift_bits", preshift},
                      {"minishard_bits", minishard},
                      {"shard_bits", shard},
                      {"minishard_index_encoding", "gzip"},
                      {"data_encoding", "gzip"}};
}

TEST(ReadManyOfAVolume, EachRegionReadsWhatItReadsAlone) {
  const std::optional<Json> kinds[]{std::nullopt, sharding("identity", 3, 1, 4),
                                    sharding("murmurhash3_x86_128", 0, 2, 1)};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind ? kind->dump() : "no shards");
    neuroglancer::VolumeInfo info;
    info.data_type = DType::uint16;
    info.scales.push_back({.key = "s", .size = {48, 48, 48}, .chunk_sizes = {{8, 8, 8}}, .resolution = {8, 8, 8}});
    info.scales[0].encoding = "raw";
    if (kind) info.scales[0].sharding = *kind;
    const auto memory = memory_store();
    fill(neuroglancer::create_precomputed(memory, "", info).value());
    for (const CacheMode mode : {CacheMode::index, CacheMode::shard, CacheMode::chunks}) {
      expect_together(open_array(memory, {.config = {.cache = mode}}).value());
      expect_together(
          open_array(delayed_store(memory, std::chrono::microseconds(0), 8), {.config = {.cache = mode}}).value());
    }
  }
}

TEST(ReadManyOfAVolume, EachFormatOfADualFormatArrayReadsItsRegionsTogether) {
  const TempDir directory;
  CreateOptions options{.shape = {48, 48, 48}, .dtype = DType::uint16, .chunks = {8, 8, 8}, .shards = {16, 16, 16}};
  options.config.layout = Layout::zarr_neuroglancer;
  options.config.durable = false;
  fill(create_array(directory / "a.zarr", options).value());
  for (const char* format : {"zarr3", "precomputed"})
    expect_together(open_array(directory / "a.zarr", {.format = format}).value());
}

}  // namespace read_many_test
}  // namespace sherd
