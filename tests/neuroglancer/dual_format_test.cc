// Dual-format arrays: writes through either counterpart, the link between them, how their names come to be different
// files, and copies.
#include <gmock/gmock.h>

#include <fstream>
#include <numeric>

#include "sherd/sharded_build.hpp"
#include "tests/neuroglancer/dual_format_testing.hpp"

namespace sherd {
namespace dual_format_test {

using namespace dual_format_testing;
using neuroglancer::json;
using neuroglancer::refusal;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace fs = std::filesystem;

// ---- arrays that can be both ----

struct Allowed {
  std::string name;
  std::function<void(CreateOptions&)> change;
  std::uint64_t shards;
};
const Allowed kAllowed[] = {
    {"Gzip", [](auto&) {}, 2 * 3 * 2},
    {"Raw", [](auto& o) { o.codecs = {{"bytes"}}; }, 12},
    {"WithAChecksum", [](auto& o) { o.codecs = {{"gzip:1", "crc32c"}}; }, 12},
    {"RawWithAChecksum", [](auto& o) { o.codecs = {{"bytes", "crc32c"}}; }, 12},
    {"ClippedAlongZ",
     [](auto& o) {
       o.shape[0] = 29;
       o.codecs = {{"bytes"}};
     },
     12},
    {"ClippedAlongZWithAChecksum",
     [](auto& o) {
       o.shape[0] = 25;
       o.codecs = {{"bytes", "crc32c"}};
     },
     12},
    {"OneShard", [](auto& o) { o.shards = o.shape; }, 1},
    {"OneHashedShard",
     [](auto& o) {
       o.shards = o.shape;
       o.volume = sharding(0, 3, 0, "murmurhash3_x86_128");
     },
     1},
    {"AShardBeyondTheArray", [](auto& o) { o.shards = {64, 128, 64}; }, 1},
    {"AnAxisWithoutBitsLeft",
     [](auto& o) {
       o.shape = {8, 48, 64};
       o.shards = {32, 16, 32};
     },
     6},
    {"GivenBits", [](auto& o) { o.volume = sharding(1, 2, 9); }, 12},
    {"IndexWithoutAChecksum", [](auto& o) { o.index_codecs = {{"bytes"}}; }, 12},
    {"OtherKeys", [](auto& o) { o.chunk_key_encoding = json(R"({"name": "v2"})"); }, 12},
};

class EveryDualFormatArray : public DualFormat, public testing::WithParamInterface<Allowed> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryDualFormatArray, testing::ValuesIn(kAllowed),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(EveryDualFormatArray, HasTheSameElementsAfterWritesToEitherFormat) {
  CreateOptions options = array_of();
  GetParam().change(options);
  const Array array = create_array(url(), options).value();
  auto expected = noise(*element_count(array.shape()));
  array.write(whole(array), std::span<const std::uint16_t>(expected)).value();
  EXPECT_EQ(elements(array), expected);
  EXPECT_EQ(voxels(), expected);
  expect_sound(GetParam().shards);

  const Shape shape = array.shape();
  const auto put = [&](const Box& box, std::uint16_t value) {
    for (std::uint64_t z = 0; z < box.shape[0]; ++z)
      for (std::uint64_t y = 0; y < box.shape[1]; ++y)
        for (std::uint64_t x = 0; x < box.shape[2]; ++x)
          expected[((box.origin[0] + z) * shape[1] + box.origin[1] + y) * shape[2] + box.origin[2] + x] = value;
  };
  const Box part{{3, 9, 5}, {5, 30, 40}};
  std::vector<std::uint16_t> same(*element_count(part.shape), 900);
  array.write(part, std::span<const std::uint16_t>(same)).value();
  put(part, 900);
  EXPECT_EQ(voxels(), expected);
  expect_sound(GetParam().shards);

  const Array volume = open("precomputed", true);
  const Box there{{2, 11, 1, 0}, {50, 20, 6, 1}};
  same.assign(*element_count(there.shape), 901);
  volume.write(there, std::span<const std::uint16_t>(same)).value();
  put({{1, 11, 2}, {6, 20, 50}}, 901);
  EXPECT_EQ(voxels(), expected);
  EXPECT_EQ(elements(open("zarr3")), expected);
  expect_sound(GetParam().shards);
}

TEST_F(DualFormat, AllowsChannelsAndAnyDimensionOrder) {
  CreateOptions options{
      .shape = {64, 48, 32, 2},
      .dtype = DType::uint16,
      .chunks = {16, 8, 8, 2},
      .shards = {32, 16, 16, 2},
      .codecs = {{json(R"({"name": "transpose", "configuration": {"order": [3, 2, 1, 0]}})"), "gzip:1"}},
      .dimension_names = {{"x", "y", "z", "c"}},
      .config = dual_format()};
  const Array array = create_array(url(), options).value();
  const auto values = noise(*element_count(array.shape()));
  array.write(whole(array), std::span<const std::uint16_t>(values)).value();
  EXPECT_EQ(elements(open("precomputed")), values);
  expect_sound(12);
}

TEST_F(DualFormat, ReadsAndWritesSelectionsOfTheVolume) {
  const Array array = create_array(url(), array_of()).value();
  const Array volume = open("precomputed", true);
  const std::vector<std::uint16_t> twice{1, 2, 3, 4, 5, 6};
  // Lists, a negative step, and the channel named twice: of what goes to one element the last one stays.
  const auto lists = Selection::orthogonal({Range{3, 1}, Indices{40, 7, 8}, Range{9, 1}, Indices{0, 0}});
  volume
      .write(lists, ConstAnyView::dense(reinterpret_cast<const std::byte*>(twice.data()), DType::uint16, {1, 3, 1, 2}))
      .value();
  const auto seen = elements(array);
  const auto at = [&](std::size_t z, std::size_t y, std::size_t x) { return seen[(z * 48 + y) * 64 + x]; };
  EXPECT_THAT((std::vector{at(9, 40, 3), at(9, 7, 3), at(9, 8, 3)}), ElementsAre(2, 4, 6));
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 12);
}

TEST_F(DualFormat, StoresEveryChunkIfTheFillValueIsNotZero) {
  CreateOptions options = array_of();
  options.fill_value = Json(7);
  options.config.write_empty_chunks = true;
  create_array(url(), options).value();
  const std::vector<std::uint16_t> sevens(std::size_t{32} * 48 * 64, 7);
  EXPECT_EQ(voxels(), sevens);
  const Array array = open("zarr3", true);
  const std::vector<std::uint16_t> some(16 * 16 * 32, 7);
  array.write(Box{{0, 0, 0}, {16, 16, 32}}, std::span<const std::uint16_t>(some)).value();
  EXPECT_EQ(voxels(), sevens);
  expect_sound(12);
}

TEST_F(DualFormat, ErasesBothNamesOfAShardOfZeros) {
  const Array array = create_array(url(), array_of()).value();
  const auto values = noise(*element_count(array.shape()));
  array.write(whole(array), std::span<const std::uint16_t>(values)).value();
  const std::uint16_t zero = 0;
  open("precomputed", true).fill(Box{{0, 0, 0, 0}, {32, 16, 16, 1}}, std::as_bytes(std::span(&zero, 1))).value();
  EXPECT_FALSE(fs::exists(url() + "/c/0/0/0"));
  EXPECT_FALSE(fs::exists(url() + "/1_1_1/0.shard"));
  EXPECT_EQ(voxels(), elements(array));
  expect_sound(11);
}

TEST_F(DualFormat, IsOneNodeAndOverwrittenAsOne) {
  create_array(url(), array_of())
      .value()
      .write(Box{{0, 0, 0}, {1, 1, 1}}, std::span<const std::uint16_t>(noise(1)))
      .value();
  EXPECT_EQ(create_array(url(), array_of()).error().code(), ErrorCode::conflict);
  CreateOptions plain = array_of();
  plain.config.layout = Layout::plain;
  plain.overwrite = true;
  create_array(url(), plain).value();
  EXPECT_FALSE(fs::exists(url() + "/info"));
  EXPECT_FALSE(fs::exists(url() + "/1_1_1"));
}

TEST_F(DualFormat, KeepsTheGivenVolumeMetadata) {
  CreateOptions options = array_of();
  options.volume =
      json(R"({"type": "segmentation", "resolution": [8, 8.5, 40], "voxel_offset": [-3, 7, 0], "key": "labels"})");
  create_array(url(), options).value();
  const Array volume = open("precomputed");
  EXPECT_EQ(volume.attributes().find("type")->text(), "segmentation");
  EXPECT_EQ(volume.attributes().find("voxel_offset")->dump(), "[-3,7,0]");
  EXPECT_EQ(volume.attributes().find("resolution")->dump(), "[8,8.5,40]");
  EXPECT_TRUE(open_array(url() + "/labels", {.config = config_}));
}

// ---- the tie ----

TEST_F(DualFormat, KeepsItsLinkAndItsShape) {
  CreateOptions options = array_of();
  options.attributes = json(R"({"a": 1})");
  Array array = create_array(url(), options).value();
  array.set_attributes(json(R"({"b": 2})")).value();
  array.update_attributes(json(R"({"sherd_layout": null})")).value();
  array.update_attributes(json("{}"), std::vector<std::string>{"sherd_layout"}).value();
  EXPECT_EQ(open("zarr3").attributes(), json(R"({"b": 2, "sherd_layout": "zarr+neuroglancer"})"));
  EXPECT_THAT(refusal(array.resize({64, 48, 64}), ErrorCode::unsupported), HasSubstr("cannot be resized"));
  const auto frame = noise(48 * 64);
  EXPECT_THAT(refusal(array.append(ConstAnyView::dense(reinterpret_cast<const std::byte*>(frame.data()), DType::uint16,
                                                       {1, 48, 64})),
                      ErrorCode::unsupported),
              HasSubstr("cannot be resized"));
}

TEST_F(DualFormat, RefusesValuesById) {
  create_array(url(), array_of()).value();
  for (const char* location : {"", "/1_1_1"}) {
    const auto refused = neuroglancer::ShardedStore::open(url() + location, {}, {.writable = true});
    EXPECT_THAT(refusal(refused, ErrorCode::unsupported), HasSubstr("'sherd_layout'"));
    EXPECT_TRUE(neuroglancer::ShardedStore::open(url() + location));
  }
  const Json given = neuroglancer::ShardedStore::open(url()).value().sharding();
  EXPECT_THAT(
      refusal(neuroglancer::ShardedStore::open(url() + "/1_1_1", given, {.writable = true}), ErrorCode::unsupported),
      HasSubstr("'sherd_layout'"));
  const neuroglancer::BuildOptions replacing{.overwrite = true, .config = config_};
  EXPECT_THAT(refusal(neuroglancer::ShardedBuilder::create(url() + "/1_1_1", given, replacing), ErrorCode::unsupported),
              HasSubstr("'sherd_layout'"));
}

TEST_F(DualFormat, IsNotWrittenIfTheDocumentsDisagree) {
  create_array(url(), array_of()).value();
  const auto spoil = [&](const std::string& file, const std::string& from, const std::string& to) {
    auto store = file_store(url(), config_).value();
    std::string text = store->get(file).value().value();
    const std::string before = text;
    text.replace(text.find(from), from.size(), to);
    store->set(file, text).value();
    const auto refused = open_array(url(), {.writable = true, .config = config_});
    const std::string told = refusal(refused, ErrorCode::corrupt);
    EXPECT_TRUE(open_array(url(), {.config = config_})) << "it is read as if it had no counterpart";
    EXPECT_THAT(faults(), testing::Contains(StartsWith("counterpart_document")));
    store->set(file, before).value();
    return told;
  };
  EXPECT_THAT(spoil("info", "\"uint16\"", "\"uint32\""), HasSubstr("the data type uint16"));
  EXPECT_THAT(spoil("info", "\"minishard_bits\": 0", "\"minishard_bits\": 1"), HasSubstr("boxes"));
  EXPECT_THAT(spoil("info", "48", "40"), HasSubstr("the size (64, 48, 32, 1)"));
  EXPECT_THAT(spoil("info", "\"raw\"", "\"png\""), HasSubstr("chunks that are raw"));
  EXPECT_THAT(spoil("info", "sherd_layout", "someone_else"), HasSubstr("it does not exist"));
  EXPECT_THAT(spoil("zarr.json", "\"gzip\"", "\"zstd\""), HasSubstr("zstd"));
  fs::remove(url() + "/info");
  EXPECT_THAT(refusal(open_array(url(), {.writable = true, .config = config_}), ErrorCode::corrupt),
              HasSubstr("it does not exist; remove that member"));
  EXPECT_THAT(faults(), ElementsAre("counterpart_document info"));
}

TEST_F(DualFormat, IsReadOnlyIfItsLayoutIsUnknown) {
  create_array(url(), array_of()).value();
  auto store = file_store(url(), config_).value();
  std::string text = store->get("zarr.json").value().value();
  text.replace(text.find("zarr+neuroglancer"), 17, "zarr+something");
  store->set("zarr.json", text).value();
  EXPECT_THAT(refusal(open_array(url(), {.writable = true, .config = config_}), ErrorCode::unsupported),
              HasSubstr("unknown layout"));
  EXPECT_TRUE(open_array(url(), {.config = config_}));
}

// ---- divergence ----

class DivergedNames : public DualFormat {
 protected:
  void SetUp() override {
    const Array array = create_array(url(), array_of()).value();
    values_ = noise(*element_count(array.shape()));
    array.write(whole(array), std::span<const std::uint16_t>(values_)).value();
  }
  [[nodiscard]] Result<void> write(const std::string& format) const {
    const std::uint16_t value = 5;
    const Array array = open(format, true);
    Shape one(array.ndim(), 1);
    return array.fill(Box{Shape(array.ndim(), 0), one}, std::as_bytes(std::span(&value, 1)));
  }
  std::vector<std::uint16_t> values_;
  std::string first_ = url() + "/c/0/0/0", second_ = url() + "/1_1_1/0.shard";
};

TEST_F(DivergedNames, AreReportedAndNotWritten) {
  fs::copy_file(second_, second_ + ".copy");
  fs::rename(second_ + ".copy", second_);
  EXPECT_THAT(faults(), ElementsAre("counterpart_differs c/0/0/0"));
  EXPECT_EQ(write("zarr3").error().code(), ErrorCode::conflict);
  EXPECT_EQ(write("precomputed").error().code(), ErrorCode::conflict);
  const std::uint16_t zero = 0;
  EXPECT_EQ(open("zarr3", true).fill(Box{{0, 0, 0}, {16, 16, 32}}, std::as_bytes(std::span(&zero, 1))).error().code(),
            ErrorCode::conflict);
  EXPECT_EQ(elements(open("zarr3")), values_);
  fs::remove(second_);
  fs::create_hard_link(first_, second_);
  write("precomputed").value();
  expect_sound(12);
}

TEST_F(DivergedNames, AreReportedIfOneIsMissing) {
  fs::remove(second_);
  EXPECT_THAT(faults(), ElementsAre("counterpart_missing c/0/0/0"));
  write("precomputed").value();
  expect_sound(12);
  fs::remove(first_);
  EXPECT_THAT(faults(), ElementsAre("counterpart_missing c/0/0/0"));
  EXPECT_EQ(write("zarr3").error().code(), ErrorCode::conflict);
}

// A program that knows Zarr only has rewritten the shard, and the volume's name was taken away for that.
TEST_F(DivergedNames, AreJoinedByAWriteAfterOneIsRemoved) {
  CreateOptions plain = array_of();
  plain.config.layout = Layout::plain;
  plain.codecs = {{"gzip:6"}};
  const Array other = create_array(directory_ / "plain.zarr", plain).value();
  const auto values = noise(*element_count(plain.shape), 2);
  other.write(whole(other), std::span<const std::uint16_t>(values)).value();
  fs::remove(second_);
  fs::rename(directory_ / "plain.zarr/c/0/0/0", first_);
  fs::create_hard_link(first_, second_);
  EXPECT_FALSE(faults().empty());
  fs::remove(second_);
  write("zarr3").value();
  expect_sound(12);
  EXPECT_EQ(voxels(), elements(open("zarr3")));
  EXPECT_EQ(elements(open("zarr3"))[1], values[1]);
}

// ---- repairs ----

std::vector<std::string> repairs(const CheckReport& report) {
  std::vector<std::string> texts;
  for (const Repair& each : report.repaired)
    texts.push_back(each.action + " " + each.key + (each.backup.empty() ? "" : " backup " + each.backup));
  return texts;
}

TEST_F(DivergedNames, AreRepairedIfOneIsMissing) {
  for (const std::string& name : {second_, first_}) {
    fs::remove(name);
    EXPECT_THAT(repairs(check(url(), {.repair = RepairOptions{}}).value()),
                ElementsAre("name_added " + name.substr(url().size() + 1)));
    expect_sound(12);
    EXPECT_EQ(voxels(), values_);
    EXPECT_EQ(elements(open("zarr3")), values_);
  }
}

TEST_F(DivergedNames, AreRepairedAfterAWriterWasKilledBetweenThem) {
  fs::copy_file(first_, directory_ / "new");
  fs::create_hard_link(directory_ / "new", url() + "/1_1_1/.0.shard.sherd-link");
  fs::rename(directory_ / "new", first_);
  EXPECT_THAT(faults(), ElementsAre("warning counterpart_differs c/0/0/0"));
  EXPECT_THAT(repairs(check(url(), {.repair = RepairOptions{}}).value()), ElementsAre("name_added 1_1_1/0.shard"));
  expect_sound(12);
}

TEST_F(DivergedNames, OfAShardOfAnotherProgramAreRepairedWithBothIndexes) {
  CreateOptions plain = array_of();
  plain.config.layout = Layout::plain;
  plain.codecs = {{"gzip:6"}};
  const Array other = create_array(directory_ / "plain.zarr", plain).value();
  other.write(whole(other), std::span<const std::uint16_t>(values_)).value();
  fs::remove(second_);
  fs::rename(directory_ / "plain.zarr/c/0/0/0", first_);
  EXPECT_THAT(repairs(check(url(), {.repair = RepairOptions{}}).value()),
              ElementsAre("name_added 1_1_1/0.shard backup c/0/0/0.sherd-backup"));
  fs::remove(first_ + ".sherd-backup");
  expect_sound(12);
  EXPECT_EQ(voxels(), values_);
}

TEST_F(DivergedNames, ThatCannotBeRepairedSaySo) {
  fs::copy_file(second_, second_ + ".copy");
  fs::rename(second_ + ".copy", second_);
  const CheckReport differs = check(url(), {.repair = RepairOptions{}}).value();
  EXPECT_THAT(repairs(differs), ElementsAre());
  ASSERT_EQ(differs.faults.size(), 2U);
  EXPECT_EQ(differs.faults[1].code, "not_repaired");
  EXPECT_FALSE(differs.ok());
  fs::remove(first_);
  std::ofstream(second_, std::ios::app) << "no index of Zarr at the end";
  const CheckReport lacks = check(url(), {.repair = RepairOptions{}}).value();
  EXPECT_THAT(repairs(lacks), ElementsAre());
  EXPECT_FALSE(fs::exists(first_));
  EXPECT_THAT(lacks.faults.back().message, HasSubstr("no index of the Zarr array"));
}

TEST_F(DivergedNames, WithDifferentIndexesAreReported) {
  // The list of the one minishard is stored raw here, so that an offset in it can be changed.
  CreateOptions options = array_of();
  options.overwrite = true;
  options.volume = sharding(3, 0, 4);
  const Array array = create_array(url(), options).value();
  array.write(whole(array), std::span<const std::uint16_t>(values_)).value();
  auto store = file_store(url(), config_).value();
  const auto source = store->open("c/0/0/0").value();
  std::uint64_t location[2];
  const RangeRead range{0, std::as_writable_bytes(std::span(location))};
  source->read({&range, 1}).value();
  {
    std::fstream shard(first_, std::ios::in | std::ios::out | std::ios::binary);
    shard.seekp(static_cast<std::streamoff>(16 + location[0] + 8 * 8));  // the first of eight offsets
    const std::uint64_t off = 1;
    shard.write(reinterpret_cast<const char*>(&off), sizeof off);
  }
  const auto report = check(url()).value();
  ASSERT_FALSE(report.faults.empty());
  for (const Fault& fault : report.faults) EXPECT_EQ(fault.code, "counterpart_extents");
  EXPECT_THAT(report.faults.front().message, HasSubstr("the volume as chunk 0"));
  EXPECT_EQ(report.faults.size(), 8U) << "each offset counts from the one before";

  for (const char* format : {"zarr3", "precomputed"}) {
    const auto refused = write(format);
    ASSERT_FALSE(refused) << "one half would be made of the other, whichever is right";
    EXPECT_EQ(refused.error().code(), ErrorCode::corrupt);
    EXPECT_THAT(refused.error().message(), HasSubstr("two indices disagree"));
  }
  array.write(whole(array), std::span<const std::uint16_t>(values_)).value();
  EXPECT_TRUE(check(url()).value().faults.empty());
}

// ---- copies ----

TEST_F(DivergedNames, DoNotAriseFromCopiesInEitherDirection) {
  const std::string plain = directory_ / "plain.zarr", again = directory_ / "again.zarr",
                    volume = directory_ / "volume";
  CopyReport report = sherd::copy(url(), plain, {.config = config_}).value();
  EXPECT_EQ(report.chunks_encoded, 0U);
  EXPECT_EQ(open_array(plain).value().attributes(), json("{}"));
  EXPECT_FALSE(fs::exists(plain + "/info"));
  EXPECT_TRUE(check(plain).value().faults.empty());
  EXPECT_EQ(check(plain).value().dead_bytes, 0U) << "the second index is not copied";

  report = sherd::copy(plain, again, {.config = dual_format()}).value();
  EXPECT_EQ(report.chunks_encoded, 0U);
  EXPECT_EQ(report.chunks_moved, 4U * 6 * 4);
  EXPECT_TRUE(check(again, {.data = true}).value().faults.empty());
  EXPECT_EQ(elements(open_array(again, {.format = "zarr3"}).value()), values_);
  EXPECT_EQ(fs::hard_link_count(again + "/c/0/0/0"), 2U);
  sherd::copy(again, directory_ / "third.zarr", {.config = dual_format()}).value();
  EXPECT_TRUE(check(directory_ / "third.zarr", {.data = true}).value().faults.empty());
}

TEST_F(DualFormat, IsCreatedFromAVolume) {
  neuroglancer::VolumeInfo info;
  info.data_type = DType::uint16;
  info.scales.push_back({.key = "s0",
                         .size = {64, 48, 32},
                         .voxel_offset = {1, 2, 3},
                         .chunk_sizes = {{16, 8, 8}},
                         .resolution = {8, 8, 40}});
  info.scales[0].sharding = *sharding(2, 1, 4).find("sharding");
  const Array volume = neuroglancer::create_precomputed(directory_ / "volume", info).value();
  const auto values = noise(*element_count(volume.shape()));
  volume.write(whole(volume), std::span<const std::uint16_t>(values)).value();
  CopyOptions options{.format = "zarr3", .config = dual_format()};
  sherd::copy(directory_ / "volume/s0", url(), options).value();
  EXPECT_EQ(elements(open("precomputed")), values);
  EXPECT_EQ(elements(open("zarr3")), voxels());
  EXPECT_EQ(open("precomputed").attributes().find("voxel_offset")->dump(), "[1,2,3]");
  EXPECT_TRUE(fs::exists(url() + "/8_8_40/0.shard"));
  EXPECT_TRUE(check(url(), {.data = true}).value().faults.empty());
}

TEST_F(DualFormat, IsNotCopiedWithAnotherFillValue) {
  CreateOptions options = array_of();
  options.config.layout = Layout::plain;
  options.fill_value = Json(3);
  options.codecs = {{"gzip:1"}};
  create_array(url(), options).value();
  EXPECT_THAT(
      refusal(sherd::copy(url(), directory_ / "b.zarr", {.config = dual_format()}), ErrorCode::invalid_argument),
      HasSubstr("fill value must be 0"));
}

}  // namespace dual_format_test
}  // namespace sherd
