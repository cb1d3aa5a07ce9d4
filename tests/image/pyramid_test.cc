// Coarser resolutions that a copy makes: which there are, what their elements are, and that memory, threads and
// failures change nothing of them. tests/python compares elements of many types and shapes with NumPy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sherd/sherd.hpp"
#include "tests/copy/copy_testing.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace pyramid_test {

using namespace copy_testing;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kZyx{"z", "y", "x"};
constexpr Pyramid kMean{};
constexpr Pyramid kMode{.method = Pyramid::Method::mode};

template <class T>
std::vector<T> all_of(const Array& array) {
  std::vector<T> values(*element_count(array.shape()));
  array.read(Box{Shape(array.ndim(), 0), array.shape()}, std::span<T>(values)).value();
  return values;
}

// One row of elements and the level above it.
template <class T>
std::vector<T> half_of(const std::vector<T>& values, const Pyramid& pyramid) {
  const auto store = memory_store();
  CreateOptions options{.shape = {1, 1, values.size()}, .dtype = DType::of<T>()};
  const Array array = create_array(store, "", options).value();
  array.write(Box{{0, 0, 0}, array.shape()}, std::span<const T>(values)).value();
  Pyramid one = pyramid;
  one.levels = 1;
  const auto copied = memory_store();
  copy(store, copied, {.axes = kZyx, .pyramid = one}).value();
  return all_of<T>(open_array(copied, {.path = "1"}).value());
}

TEST(Pyramid, MeansAreExactAndRoundedHalfToEven) {
  EXPECT_THAT((half_of<std::uint8_t>({1, 2, 2, 3, 255, 254, 7}, kMean)), ElementsAre(2, 2, 254, 7));
  EXPECT_THAT((half_of<std::int8_t>({-128, -127, -1, 0, -1, -2, 127, 126}, kMean)), ElementsAre(-128, 0, -2, 126));
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT((half_of<std::uint64_t>({most, most - 1, most, most, (1ULL << 53) + 1, (1ULL << 53) + 3}, kMean)),
              ElementsAre(most - 1, most, (1ULL << 53) + 2));
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT((half_of<std::int64_t>({least, least + 1, least, least + 2}, kMean)), ElementsAre(least, least + 1));
  EXPECT_THAT((half_of<float>({0.5F, 1.0F, 3e38F, 3e38F}, kMean)), ElementsAre(0.75F, 3e38F));
}

TEST(Pyramid, ProgressHasOneTotalForAllLevelsAndEndsThere) {
  const auto store = memory_store();
  const Array array =
      create_array(store, "", {.shape = {1, 512, 512}, .dtype = DType::uint8, .chunks = {1, 64, 64}}).value();
  array.write(Box{{0, 0, 0}, array.shape()}, std::span<const std::uint8_t>(std::vector<std::uint8_t>(512 * 512, 7)))
      .value();
  CopyOptions options{.axes = kZyx, .pyramid = kMean};
  std::vector<Progress> seen;
  options.config.progress = [&](const Progress& progress) { seen.push_back(progress); };
  copy(store, memory_store(), options).value();
  ASSERT_FALSE(seen.empty());
  EXPECT_GT(seen.back().total, 512U * 512U);
  EXPECT_EQ(seen.back().done, seen.back().total);
  for (const Progress& each : seen) EXPECT_EQ(each.total, seen.back().total);
}

TEST(Pyramid, ModesAreTheSmallestOfTheMostFrequent) {
  EXPECT_THAT((half_of<std::uint32_t>({9, 4, 0, 7, 5, 5, 6}, kMode)), ElementsAre(4, 0, 5, 6));
  Pyramid ignoring = kMode;
  ignoring.ignore_zero = true;
  EXPECT_THAT((half_of<std::uint32_t>({9, 4, 0, 7, 0, 0, 3, 0}, ignoring)), ElementsAre(4, 7, 0, 3));
  constexpr std::uint64_t high = (1ULL << 53) + 1;
  EXPECT_THAT((half_of<std::uint64_t>({high + 1, high, ~0ULL, ~0ULL}, kMode)), ElementsAre(high, ~0ULL));
  EXPECT_THAT((half_of<std::int16_t>({3, -3, -1, -2}, kMode)), ElementsAre(-3, -2));
}

std::shared_ptr<Store> image(const Shape& shape, const Shape& chunks, const Shape& shards,
                             const Json& attributes = {}) {
  const auto store = memory_store();
  CreateOptions options{.shape = shape, .dtype = DType::uint16, .chunks = chunks, .shards = shards};
  if (!attributes.is_null()) options.attributes = attributes;
  const Array array = create_array(store, "", options).value();
  const auto values = noise(*element_count(shape));
  array.write(Box{Shape(shape.size(), 0), shape}, std::span<const std::uint16_t>(values)).value();
  return store;
}

std::vector<Shape> shapes_in(const std::shared_ptr<Store>& store) {
  std::vector<Shape> shapes;
  const Group group = open_group(store).value();
  const auto members = group.members().value();
  for (const auto& [name, type] : members) shapes.push_back(std::get<Array>(group.open(name).value()).shape());
  return shapes;
}

TEST(Pyramid, EndsWhenOneChunkHoldsTheImageOrAtTheGivenLevel) {
  const auto store = image({3, 1, 37, 50}, {1, 1, 10, 10}, {});
  const std::vector<std::string> axes{"c", "z", "y", "x"};
  const auto made = [&](std::optional<std::uint64_t> levels) {
    const auto to = memory_store();
    copy(store, to, {.axes = axes, .pyramid = Pyramid{.levels = levels}}).value();
    return shapes_in(to);
  };
  EXPECT_THAT(made({}), ElementsAre(Shape{3, 1, 37, 50}, Shape{3, 1, 19, 25}, Shape{3, 1, 10, 13}, Shape{3, 1, 5, 7}))
      << "neither channels nor a single plane are halved";
  EXPECT_THAT(made(1), ElementsAre(Shape{3, 1, 37, 50}, Shape{3, 1, 19, 25}));
  EXPECT_THAT(made(0), ElementsAre(Shape{3, 1, 37, 50}));
  EXPECT_EQ(made(99).back(), (Shape{3, 1, 1, 1})) << "there is nothing coarser than one voxel";
}

TEST(Pyramid, IsAnOmeNgffGroupWhoseLevelsCoverTheSameSpace) {
  const auto store =
      image({4, 6, 9}, {4, 6, 4}, {}, json(R"({"spacing": [2, 1, 0.5], "units": ["um", "um", "um"], "note": 1})"));
  const auto to = memory_store();
  copy(store, to, {.axes = kZyx, .pyramid = Pyramid{.levels = 1, .factors = {{"", 2}, {"", 2}, {"", 2}}}}).value();
  const Group group = open_group(to).value();
  EXPECT_EQ(*group.attributes().find("ome"), json(R"({"version": "0.5", "multiscales": [{"axes": [
    {"name": "z", "type": "space", "unit": "micrometer"}, {"name": "y", "type": "space", "unit": "micrometer"},
    {"name": "x", "type": "space", "unit": "micrometer"}], "datasets": [
    {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [2, 1, 0.5]}, {"type": "translation", "translation": [0, 0, 0]}]},
    {"path": "1", "coordinateTransformations": [{"type": "scale", "scale": [4, 2, 1]}, {"type": "translation", "translation": [1, 0.5, 0.25]}]}]}]})"));
  EXPECT_EQ(open_array(to, {.path = "0"}).value().attributes().find("note")->text(), "1");
  EXPECT_EQ(open_array(to, {.path = "1"}).value().dimension_names(),
            (std::vector<std::optional<std::string>>{"z", "y", "x"}));
}

// Shapes of the levels of an image of 16 planes of 64 x 64 pixels in chunks of 16.
std::vector<Shape> levels_of(const std::string& attributes, const Pyramid& pyramid) {
  const auto to = memory_store();
  copy(image({16, 64, 64}, {16, 16, 16}, {}, json(attributes.c_str())), to, {.axes = kZyx, .pyramid = pyramid}).value();
  return shapes_in(to);
}

TEST(Pyramid, HalvesOnlyAxesOfLessThanTwiceTheFinestSpacing) {
  EXPECT_THAT(levels_of(R"({"spacing": [40, 4, 4]})", {}),
              ElementsAre(Shape{16, 64, 64}, Shape{16, 32, 32}, Shape{16, 16, 16}));
  EXPECT_THAT(levels_of(R"({"spacing": [16, 8, 8]})", {.levels = 2}),
              ElementsAre(Shape{16, 64, 64}, Shape{16, 32, 32}, Shape{8, 16, 16}))
      << "pixels as wide as planes are thick";
  EXPECT_THAT(levels_of(R"({"spacing": [15, 8, 8]})", {.levels = 1}), ElementsAre(Shape{16, 64, 64}, Shape{8, 32, 32}));
  EXPECT_THAT(levels_of(R"({"spacing": [0.04, 4, 4], "units": ["um", "nm", "nm"]})", {.levels = 1}),
              ElementsAre(Shape{16, 64, 64}, Shape{16, 32, 32}));
  EXPECT_THAT(levels_of("{}", {.levels = 1}), ElementsAre(Shape{16, 64, 64}, Shape{8, 32, 32}));
}

TEST(Pyramid, HasTheFactorsThatAreGiven) {
  const std::vector<Shape> planes{{16, 64, 64}, {16, 32, 32}, {16, 16, 16}};
  EXPECT_EQ(levels_of("{}", {.factors = {{"", 1}, {"", 2}, {"", 2}}}), planes);
  EXPECT_EQ(levels_of("{}", {.factors = {{"y", 2}, {"x", 2}}}), planes);
  EXPECT_THAT(levels_of(R"({"spacing": [40, 4, 4]})", {.levels = 1, .factors = {{"z", 2}}}),
              ElementsAre(Shape{16, 64, 64}, Shape{8, 64, 64}));
}

TEST(Pyramid, HalvesTimeOnlyByName) {
  const auto store = image({4, 4, 4, 4, 2}, {4, 4, 4, 4, 2}, {});
  const auto made = [&](const Pyramid& pyramid) {
    const auto to = memory_store();
    copy(store, to, {.axes = {"t", "z", "y", "x", "c"}, .pyramid = pyramid}).value();
    return shapes_in(to).back();
  };
  EXPECT_EQ(made({.levels = 1}), (Shape{4, 2, 2, 2, 2}));
  EXPECT_EQ(made({.levels = 1, .factors = {{"t", 2}, {"z", 2}, {"y", 2}, {"x", 2}}}), (Shape{2, 2, 2, 2, 2}));
}

TEST(Pyramid, RefusesFactorsThatDoNotFitTheAxes) {
  using Factors = std::vector<Pyramid::Factor>;
  const auto refusal = [](Factors factors) {
    const auto to = memory_store();
    const auto made =
        copy(image({4, 4, 2}, {4, 4, 2}, {}), to, {.axes = {"z", "y", "c"}, .pyramid = Pyramid{.factors = factors}});
    EXPECT_EQ(made.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(made.error().member(), "factors");
    EXPECT_TRUE(to->list_dir("").value().objects.empty());
    return made.error().message();
  };
  EXPECT_THAT(refusal({{"", 2}}), HasSubstr("1 factors for the axes c, z, y"));
  EXPECT_THAT(refusal({{"x", 2}}), HasSubstr("has no axis 'x'"));
  EXPECT_THAT(refusal({{"z", 1}}), HasSubstr("every factor is 1"));
  EXPECT_THAT(refusal({{"z", 2}, {"", 2}}), HasSubstr("name every axis"));
  EXPECT_THAT(refusal({{"z", 0}}), HasSubstr("a factor of 0"));
  EXPECT_THAT(refusal({{"z", 512}, {"y", 2}}), HasSubstr("more than 512"));
}

TEST(Pyramid, OfAVolumeAtAnOddOffsetIsAlignedWithIt) {
  const auto store = image({4, 4, 7}, {4, 4, 4}, {}, json(R"({"voxel_offset": [0, -2, -3]})"));
  const auto to = memory_store();
  copy(store, to, {.format = "precomputed", .axes = kZyx, .pyramid = Pyramid{.levels = 2}}).value();
  const Json info = *Json::parse(to->get("info").value().value());
  const Json::Array scales = info.find("scales")->elements();
  EXPECT_EQ(*scales[1].find("voxel_offset"), json("[-2, -1, 0]"));
  EXPECT_EQ(*scales[1].find("size"), json("[4, 2, 2]")) << "-3 … 3 in pairs are -4 -3, -2 -1, 0 1, 2 3";
  EXPECT_EQ(*scales[2].find("voxel_offset"), json("[-1, -1, 0]"));
  EXPECT_EQ(*scales[2].find("size"), json("[2, 2, 1]")) << "-1 and 0 along y are not a pair";
  const auto fine = all_of<std::uint16_t>(open_array(store).value());
  const auto coarse = all_of<std::uint16_t>(open_array(to, {.scale = 1}).value());  // x, y, z, channel
  double sum = 0;
  for (const std::uint64_t z : {0, 1})
    for (const std::uint64_t y : {0, 1}) sum += fine[(z * 4 + y) * 7];
  EXPECT_EQ(coarse.front(), std::nearbyint(sum / 4)) << "of one voxel along x";
}

TEST(Pyramid, ReadsAndWritesOnlyStoredRegions) {
  const auto store = memory_store();
  CreateOptions options{.shape = {64, 64, 64}, .dtype = DType::uint8, .chunks = {8, 8, 8}, .shards = {16, 16, 16}};
  options.fill_value = Json(5);
  const Array array = create_array(store, "", options).value();
  const std::vector<std::uint8_t> some(8 * 8 * 8, 9);
  array.write(Box{{40, 0, 8}, {8, 8, 8}}, std::span<const std::uint8_t>(some)).value();
  const auto to = memory_store();
  const CopyReport report = copy(store, to, {.axes = kZyx, .pyramid = kMean}).value();
  EXPECT_EQ(report.shards, 4U) << "one at each of 64, 32, 16 and 8";
  EXPECT_EQ(report.chunks_moved, 1U);
  EXPECT_EQ(report.chunks_encoded, 3U);
  const auto half = all_of<std::uint8_t>(open_array(to, {.path = "1"}).value());
  EXPECT_EQ(std::ranges::count(half, 9), 4 * 4 * 4);
  EXPECT_EQ(std::ranges::count(half, 5), 32 * 32 * 32 - 4 * 4 * 4);
}

struct Way {
  const char* format;
  Shape shards;
};
class PyramidOf : public testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] CopyOptions options() const { return {.format = GetParam().format, .axes = kZyx, .pyramid = kMean}; }
  const std::shared_ptr<Store> source_ =
      image({31, 45, 70}, {8, 8, 16}, GetParam().shards, json(R"({"voxel_offset": [1, 0, -5]})"));
};

TEST_P(PyramidOf, AnyMemoryAndThreadsHasTheSameBytes) {
  std::optional<Tree> first;
  for (const std::uint64_t mebibytes : {8, 256})
    for (const unsigned threads : {1, 3}) {
      CopyOptions chosen = options();
      chosen.config.memory_budget = mebibytes << 20;
      chosen.config.threads = threads;
      const auto to = memory_store();
      copy(source_, to, chosen).value();
      if (!first) first = tree_of(*to);
      EXPECT_TRUE(tree_of(*to) == *first) << mebibytes << " MiB, " << threads << " threads";
      EXPECT_TRUE(check(to, {.data = true}).value().ok());
    }
}

TEST_P(PyramidOf, AFailureAtAnyCommitIsResumedToTheSameBytes) {
  CopyOptions chosen = options();
  chosen.config.threads = 1;
  const auto whole = memory_store();
  const CopyReport all = copy(source_, whole, chosen).value();
  const Tree expected = tree_of(*whole);
  for (int commits = 0;; commits += 3) {
    const auto beneath = memory_store();
    const auto failing = std::make_shared<TestStore>(beneath);
    failing->fail_from(commits);
    if (copy(source_, failing, chosen)) {
      EXPECT_GT(commits, 5);
      break;
    }
    EXPECT_FALSE(open(beneath));
    CopyOptions resumed = chosen;
    resumed.resume = true;
    if (commits > 0) {
      CopyOptions other = resumed;
      other.pyramid = kMode;
      EXPECT_EQ(copy(source_, beneath, other).error().code(), ErrorCode::conflict);
    }
    const CopyReport report = copy(source_, beneath, resumed).value();
    EXPECT_EQ(report.shards + report.shards_skipped, all.shards);
    EXPECT_TRUE(tree_of(*beneath) == expected) << "after " << commits << " commits";
    EXPECT_EQ(copy(source_, beneath, resumed).value().shards, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, PyramidOf,
                         testing::Values(Way{"zarr3", {}}, Way{"zarr3", {16, 16, 32}}, Way{"precomputed", {}},
                                         Way{"precomputed", {16, 16, 32}}));

#if SHERD_MEASURES_MEMORY
TEST(Pyramid, StaysWithinTheBudget) {
  const TempDir folder;
  make_sharded(folder / "a", {256, 512, 256}, {32, 64, 64});
  EXPECT_LE(growth_of_copy(folder / "a", folder / "b", {.axes = kZyx, .pyramid = Pyramid{.levels = 1}}, 32), 16U);
}
#endif

TEST(Pyramid, IsRefusedForTypesWithoutMeanOrMode) {
  const auto refusal = [](const DType& dtype, const Pyramid& pyramid) {
    const auto store = memory_store();
    create_array(store, "", {.shape = {4, 4, 4}, .dtype = dtype, .chunks = {2, 2, 2}}).value();
    const auto made = copy(store, memory_store(), {.axes = kZyx, .pyramid = pyramid});
    return made ? "made" : made.error().text();
  };
  EXPECT_EQ(refusal(DType::bool_, kMode), "made");
  EXPECT_EQ(refusal(DType::complex64, kMean), "made");
  EXPECT_THAT(refusal(DType::raw(32).value(), kMean), HasSubstr("pyramid: a pyramid can only be made of integers"));
  EXPECT_THAT(refusal(DType::float32, kMode), HasSubstr("use mean"));
  EXPECT_THAT(refusal(DType::uint8, Pyramid{.ignore_zero = true}),
              HasSubstr("zeros can only be ignored in a pyramid of modes"));
}

}  // namespace pyramid_test
}  // namespace sherd
