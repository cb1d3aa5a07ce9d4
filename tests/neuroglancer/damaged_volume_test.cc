// Volumes that are wrong: info documents, whose member the error names, and shards, whose key it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/try.hpp"
#include "sherd/precomputed.hpp"
#include "sherd/sherd.hpp"

namespace sherd {
namespace damaged_volume_test {

using testing::HasSubstr;

Json parsed(std::string_view text) { return Json::parse(text).value(); }

constexpr std::string_view kSharding =
    R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 1, "hash": "identity", "minishard_bits": 1,
        "shard_bits": 1, "minishard_index_encoding": "raw", "data_encoding": "raw"})";

// 8 chunks of 64 bytes: two shards of two minishards of two chunks, with everything raw.
Json good_scale() {
  Json scale = parsed(R"({"key": "s", "size": [8, 8, 8], "resolution": [8, 8, 40], "voxel_offset": [-3, 7, 0],
                          "chunk_sizes": [[4, 4, 4]], "encoding": "raw"})");
  scale.set("sharding", parsed(kSharding));
  return scale;
}

Json info_of(Json scale) {
  Json info = parsed(R"({"type": "image", "data_type": "uint8", "num_channels": 1})");
  info.set("scales", Json(Json::Array{std::move(scale)}));
  return info;
}

std::shared_ptr<Store> store_of(std::string_view info) {
  auto store = memory_store();
  store->set("info", info).value();
  return store;
}

Result<std::vector<std::uint8_t>> read_all(const Array& array) {
  std::vector<std::uint8_t> values(element_count(array.shape()).value());
  SHERD_TRY(array.read(Box{Shape(4, 0), array.shape()}, std::span<std::uint8_t>(values)));
  return values;
}

// ---- info documents ----

TEST(VolumeInfo, HasADirectoryOfItsOwnForEachScale) {
  for (const char* key : {"s", "./s/", "a/../s", "info"}) {
    Json other = good_scale();
    other.set("key", key);
    Json info = info_of(good_scale());
    info.set("scales", Json(Json::Array{good_scale(), other}));
    const auto array = open_array(store_of(info.dump()));
    ASSERT_FALSE(array) << key;
    EXPECT_EQ(array.error().member(), "scales[1].key");
  }
}

TEST(VolumeInfo, AcceptsIntegersWithAZeroFraction) {
  const auto store = store_of(info_of(good_scale()).dump());
  const std::vector<std::uint8_t> values(512, 7);
  open_array(store, {.writable = true})
      .value()
      .write(Box{Shape(4, 0), {8, 8, 8, 1}}, std::span<const std::uint8_t>(values))
      .value();
  Json scale = good_scale();
  scale.set("size", parsed("[8.0, 8e0, 80.0e-1]"));
  scale.set("voxel_offset", parsed("[-3.0, 7.0, -0.0]"));
  scale.set("chunk_sizes", parsed("[[4.0, 4, 0.4E1]]"));
  scale.set("jpeg_quality", parsed("75.0"));
  scale.set("sharding", parsed(kSharding));
  for (const char* member : {"preshift_bits", "minishard_bits", "shard_bits"})
    scale.find("sharding")->set(member, parsed("1.0"));
  Json info = info_of(std::move(scale));
  info.set("num_channels", parsed("1.0"));
  store->set("info", info.dump()).value();
  const auto array = open_array(store);
  ASSERT_TRUE(array) << array.error().text();
  EXPECT_EQ(read_all(*array).value(), values);
  EXPECT_TRUE(check(store, {.data = true}).value().faults.empty());
}

TEST(VolumeInfo, DamageIsReportedOnce) {
  const auto store = store_of(info_of(good_scale()).dump());
  for (const char* key : {"s/0.shard", "s/1.shard", "meshes/1"}) store->set(key, "").value();
  Json scale = good_scale();
  scale.find("sharding")->set("preshift_bits", 99);
  store->set("info", info_of(std::move(scale)).dump()).value();
  const auto report = check(store).value();
  ASSERT_EQ(report.faults.size(), 1U) << report.to_json().dump(2);
  EXPECT_EQ(report.faults[0].code, "document_corrupt");
  EXPECT_EQ(report.documents, 1U);
}

TEST(VolumeInfo, MayHaveOneScaleInsideAnothersDirectory) {
  for (const Json& sharding : {Json(), parsed(kSharding)}) {
    Json outer = good_scale(), inner = good_scale();
    outer.set("key", "k");
    inner.set("key", "k/lo");
    for (Json* scale : {&outer, &inner}) scale->set("sharding", sharding);
    Json info = info_of(outer);
    info.set("scales", Json(Json::Array{outer, inner}));
    const auto store = store_of(info.dump());
    const std::vector<std::uint8_t> values(512, 7);
    for (const char* path : {"k", "scale1"})
      open_array(store, {.path = path, .writable = true})
          .value()
          .write(Box{Shape(4, 0), {8, 8, 8, 1}}, std::span<const std::uint8_t>(values))
          .value();
    const auto sound = check(store, {.data = true}).value();
    EXPECT_TRUE(sound.faults.empty()) << sound.to_json().dump(2);
    EXPECT_EQ(sound.chunks, 16U);
    for (const char* key : {"k/notes", "k/lo/notes", "k/other/notes"}) store->set(key, "").value();
    EXPECT_EQ(check(store).value().faults.size(), 3U) << "each once";
  }
}

struct Wrong {
  std::string name;
  std::string member;  ///< of the scale, or of the info where it begins with "/"
  std::string value;   ///< as JSON
  ErrorCode code = ErrorCode::corrupt;
  std::string named = {};  ///< what the error calls the member, where that is not its name
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

std::string sharding_with(std::string_view member, std::string_view value) {
  Json sharding = parsed(kSharding);
  sharding.set(member, parsed(value));
  return sharding.dump();
}

class WrongVolumeInfo : public testing::TestWithParam<Wrong> {};

TEST_P(WrongVolumeInfo, IsRefusedAndTheErrorNamesMemberAndKey) {
  const Wrong& wrong = GetParam();
  const bool of_info = wrong.member.starts_with('/');
  const std::string member = of_info ? wrong.member.substr(1) : wrong.member;
  Json scale = good_scale();
  if (!of_info) scale.set(member, parsed(wrong.value));
  Json info = info_of(std::move(scale));
  if (of_info) info.set(member, parsed(wrong.value));
  const auto store = store_of(info.dump());

  const auto array = open_array(store);

  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().code(), wrong.code) << array.error().text();
  EXPECT_EQ(array.error().key(), "info");
  const std::string named = wrong.named.empty() ? member : wrong.named;
  EXPECT_EQ(array.error().member(), of_info ? named : "scales[0]." + named) << array.error().text();
  const auto report = check(store).value();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_EQ(report.faults[0].key, "info");
  EXPECT_FALSE(report.ok());
}

constexpr ErrorCode unsupported_code = ErrorCode::unsupported;

INSTANTIATE_TEST_SUITE_P(Info, WrongVolumeInfo,
                         testing::Values(Wrong{"AtType", "/@type", R"("neuroglancer_skeletons")", unsupported_code},
                                         Wrong{"Type", "/type", R"("picture")"}, Wrong{"NoType", "/type", "null"},
                                         Wrong{"DataType", "/data_type", R"("float64")"},
                                         Wrong{"DataTypeNumber", "/data_type", "8"},
                                         Wrong{"NoChannels", "/num_channels", "0"},
                                         Wrong{"HalfAChannel", "/num_channels", "1.5"},
                                         Wrong{"ManyChannels", "/num_channels", "9223372036854775808"},
                                         Wrong{"NoScales", "/scales", "[]"}, Wrong{"ScalesObject", "/scales", "{}"},
                                         Wrong{"ScaleNumber", "/scales", "[7]", ErrorCode::corrupt, "scales[0]"}),
                         [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Scale, WrongVolumeInfo,
    testing::Values(Wrong{"NoKey", "key", "null"}, Wrong{"KeyNumber", "key", "1"}, Wrong{"NoSize", "size", "null"},
                    Wrong{"TwoSizes", "size", "[8, 8]"}, Wrong{"NegativeSize", "size", "[8, -1, 8]"},
                    Wrong{"HalfASize", "size", "[8, 1.5, 8]"},
                    Wrong{"LargeSize", "size", "[8, 8, 9223372036854775808]"},
                    Wrong{"TextSize", "size", R"(["8", 8, 8])"}, Wrong{"NoChunks", "chunk_sizes", "[]"},
                    Wrong{"FlatChunks", "chunk_sizes", "[4, 4, 4]", ErrorCode::corrupt, "chunk_sizes[0]"},
                    Wrong{"EmptyChunk", "chunk_sizes", "[[4, 0, 4]]", ErrorCode::corrupt, "chunk_sizes[0]"},
                    Wrong{"LargeChunk", "chunk_sizes", "[[4, 4, 9223372036854775808]]", ErrorCode::corrupt,
                          "chunk_sizes[0]"},
                    Wrong{"TwoChunksSharded", "chunk_sizes", "[[4, 4, 4], [8, 8, 8]]"},
                    Wrong{"NoResolution", "resolution", "null"}, Wrong{"TwoResolutions", "resolution", "[8, 8]"},
                    Wrong{"TextResolution", "resolution", R"([8, 8, "x"])", ErrorCode::corrupt, "resolution[2]"},
                    Wrong{"FarOffset", "voxel_offset", "[0, 0, -9223372036854775808]"},
                    Wrong{"SizeNoDoubleHolds", "size", "[8, 8, 9007199254740993.5]"},
                    Wrong{"HalfAnOffset", "voxel_offset", "[0.5, 0, 0]"}, Wrong{"NoEncoding", "encoding", "null"},
                    Wrong{"NoBlocks", "encoding", R"("compressed_segmentation")", ErrorCode::corrupt,
                          "compressed_segmentation_block_size"},
                    Wrong{"Quality", "jpeg_quality", "101"}, Wrong{"Level", "png_level", "10"}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(Sharding, WrongVolumeInfo,
                         testing::Values(Wrong{"Number", "sharding", "7"},
                                         Wrong{"AtType", "sharding", sharding_with("@type", R"("other")"),
                                               unsupported_code, "sharding.@type"},
                                         Wrong{"Hash", "sharding", sharding_with("hash", R"("md5")"), unsupported_code,
                                               "sharding.hash"},
                                         Wrong{"Preshift", "sharding", sharding_with("preshift_bits", "65"),
                                               ErrorCode::corrupt, "sharding.preshift_bits"},
                                         Wrong{"Minishards", "sharding", sharding_with("minishard_bits", "64"),
                                               ErrorCode::corrupt, "sharding.minishard_bits"},
                                         Wrong{"Shards", "sharding", sharding_with("shard_bits", "64"),
                                               ErrorCode::corrupt, "sharding.shard_bits"},
                                         Wrong{"Encoding", "sharding", sharding_with("data_encoding", R"("zstd")"),
                                               ErrorCode::corrupt, "sharding.data_encoding"}),
                         [](const auto& param) { return param.param.name; });

TEST(DamagedVolume, OfMoreMortonBitsThanAnIdHasIsRefused) {
  Json scale = good_scale();
  scale.set("size", parsed("[4611686018427387904, 4611686018427387904, 1]"));
  const auto array = open_array(store_of(info_of(scale).dump()));
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().code(), ErrorCode::unsupported);
  EXPECT_EQ(array.error().key(), "info");
  EXPECT_EQ(array.error().member(), "scales[0].size") << array.error().text();
  EXPECT_THAT(array.error().text(), HasSubstr("120 bits"));
}

TEST(DamagedVolume, WithAnInvalidKeyIsNotRead) {
  for (const std::string& key : {std::string("../../outside"), std::string("a\0b", 3), std::string(256, 'a')}) {
    Json scale = good_scale();
    scale.set("key", key);
    const auto store = store_of(info_of(scale).dump());
    const Array array = open_array(store).value();
    std::uint8_t value = 0;
    const auto read = array.read(Box{Shape(4, 0), Shape(4, 1)}, std::span(&value, 1));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::unsupported);
    EXPECT_THAT(read.error().member(), HasSubstr("key"));
    const auto report = check(store).value();
    ASSERT_EQ(report.faults.size(), 1U);
    EXPECT_EQ(report.faults[0].code, "document_unsupported");
  }
}

TEST(DamagedVolume, WithVoxelsOfNoSizeCausesAWarning) {
  Json scale = good_scale();
  scale.set("resolution", parsed("[8, 0, -40]"));
  const auto store = store_of(info_of(scale).dump());
  const auto faults = check(store).value().faults;
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, "document_odd");
  EXPECT_THAT(faults[0].message, HasSubstr("must be three numbers above 0"));
  EXPECT_THAT(copy(store, memory_store(), {.format = "zarr3"}).error().member(), HasSubstr("scales[0]"));
}

TEST(DamagedVolume, WithoutVoxelsIsReadAsEmpty) {
  Json scale = good_scale();
  scale.set("size", parsed("[0, 8, 8]"));
  const auto store = store_of(info_of(scale).dump());
  const Array array = open_array(store).value();
  EXPECT_EQ(array.shape(), (Shape{0, 8, 8, 1}));
  EXPECT_EQ(read_all(array).value().size(), 0U);
  EXPECT_TRUE(check(store, {.data = true}).value().ok());
}

TEST(DamagedVolume, WithAChunkBeyondTheLimitIsRefusedBeforeItTakesMemory) {
  Json scale = good_scale();
  scale.set("size", parsed("[1048576, 1048576, 1048576]"));
  scale.set("chunk_sizes", parsed("[[1048576, 1048576, 1048576]]"));
  auto store = store_of(info_of(scale).dump());
  const auto array = open_array(store);
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().code(), ErrorCode::unsupported) << array.error().text();
  EXPECT_THAT(array.error().text(), HasSubstr("chunk_bytes"));
}

// ---- shards ----

constexpr const char* kShard = "s/0.shard";

// Shard 0 of the good volume: an array of 2 x 16 bytes, then chunks and lists.
struct DamagedShard {
  std::string name;
  std::function<void(std::string&)> damage;
  std::string says = {};
};
void PrintTo(const DamagedShard& row, std::ostream* out) { *out << row.name; }

std::uint64_t word(const std::string& bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}
void set_word(std::string& bytes, std::size_t at, std::uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}
/// Where the list of minishard 0 is: ids, offsets and sizes of two chunks.
std::size_t list(const std::string& bytes) { return 32 + word(bytes, 0); }

class DamagedShardOfAVolume : public testing::TestWithParam<DamagedShard> {};

TEST_P(DamagedShardOfAVolume, IsAnErrorWhenReadAndAFaultInACheck) {
  const auto store = store_of(info_of(good_scale()).dump());
  Array array = open_array(store, {.writable = true}).value();
  std::vector<std::uint8_t> values(512);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i % 251 + 1);
  array.write(Box{Shape(4, 0), array.shape()}, std::span<const std::uint8_t>(values)).value();
  ASSERT_EQ(read_all(open_array(store).value()).value(), values);
  std::string bytes = store->get(kShard).value().value();
  GetParam().damage(bytes);
  store->set(kShard, bytes).value();

  const auto read = read_all(open_array(store).value());

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::corrupt) << read.error().text();
  EXPECT_EQ(read.error().key(), kShard);
  EXPECT_THAT(read.error().text(), HasSubstr(GetParam().says));
  const auto report = check(store, {.data = true}).value();
  EXPECT_FALSE(report.ok());
  for (const Fault& fault : report.faults) EXPECT_EQ(fault.key, kShard) << fault.message;
}

INSTANTIATE_TEST_SUITE_P(
    Damaged, DamagedShardOfAVolume,
    testing::Values(
        DamagedShard{"Empty", [](std::string& bytes) { bytes.clear(); }},
        DamagedShard{"HasNoWholeHead", [](std::string& bytes) { bytes.resize(31); }},
        DamagedShard{"EndsBehindItsHead", [](std::string& bytes) { bytes.resize(32); }},
        DamagedShard{"EndsInAList", [](std::string& bytes) { bytes.resize(bytes.size() - 1); }},
        DamagedShard{"HasAListOfOddSize", [](std::string& bytes) { set_word(bytes, 8, word(bytes, 8) - 1); }},
        DamagedShard{"HasAListThatEndsBeforeItBegins",
                     [](std::string& bytes) { set_word(bytes, 8, word(bytes, 0) - 1); }},
        DamagedShard{"HasAListBeyondItsEnd",
                     [](std::string& bytes) {
                       set_word(bytes, 0, bytes.size());
                       set_word(bytes, 8, bytes.size() + 48);
                     }},
        DamagedShard{"HasAListThatWraps",
                     [](std::string& bytes) {
                       set_word(bytes, 0, ~std::uint64_t{0} - 40);
                       set_word(bytes, 8, 7);
                     }},
        DamagedShard{"HasAChunkBeyondItsEnd",
                     [](std::string& bytes) { set_word(bytes, list(bytes) + 16, bytes.size()); }},
        DamagedShard{"HasAChunkThatWraps",
                     [](std::string& bytes) { set_word(bytes, list(bytes) + 16, ~std::uint64_t{0} - 41); }},
        DamagedShard{"HasAShortChunk", [](std::string& bytes) { set_word(bytes, list(bytes) + 32, 63); }, "64"},
        DamagedShard{"HasALongChunk", [](std::string& bytes) { set_word(bytes, list(bytes) + 32, 65); }, "64"},
        DamagedShard{"HasAnEmptyChunk", [](std::string& bytes) { set_word(bytes, list(bytes) + 32, 0); }},
        DamagedShard{"HasAHugeChunk",
                     [](std::string& bytes) { set_word(bytes, list(bytes) + 32, std::uint64_t{1} << 63); }}),
    [](const auto& param) { return param.param.name; });

TEST(DamagedVolume, WithAChunkInsideTheIndexIsReported) {
  const auto store = store_of(info_of(good_scale()).dump());
  Array array = open_array(store, {.writable = true}).value();
  const std::vector<std::uint8_t> values(512, 1);
  array.write(Box{Shape(4, 0), array.shape()}, std::span<const std::uint8_t>(values)).value();
  std::string bytes = store->get(kShard).value().value();
  set_word(bytes, list(bytes) + 16, ~std::uint64_t{0} - 31);  // -32: where the shard begins
  store->set(kShard, bytes).value();
  const auto report = check(store).value();
  EXPECT_FALSE(report.ok());
  for (const Fault& fault : report.faults) EXPECT_EQ(fault.key, kShard) << fault.message;
}

struct WrongId {
  std::string name;
  std::uint64_t id;  ///< of the second chunk in minishard 0 of shard 0, after id 0
  std::string code, says;
  bool ok;  ///< a warning only
};
void PrintTo(const WrongId& wrong, std::ostream* out) { *out << wrong.name; }

class WrongIdInAShard : public testing::TestWithParam<WrongId> {};

TEST_P(WrongIdInAShard, IsFoundByACheck) {
  const auto store = store_of(info_of(good_scale()).dump());
  const std::vector<std::uint8_t> values(512, 1);
  open_array(store, {.writable = true}).value().write(Box{{0, 0, 0, 0}, {8, 8, 8, 1}}, std::span(values)).value();
  std::string bytes = store->get(kShard).value().value();
  ASSERT_EQ(word(bytes, list(bytes)), 0U);
  set_word(bytes, list(bytes) + 8, GetParam().id);
  store->set(kShard, bytes).value();
  for (const bool data : {false, true}) {
    const auto report = check(store, {.data = data}).value();
    EXPECT_EQ(report.ok(), GetParam().ok);
    ASSERT_EQ(report.faults.size(), 1U);
    EXPECT_EQ(report.faults[0].code, GetParam().code);
    EXPECT_EQ(report.faults[0].key, kShard);
    EXPECT_THAT(report.faults[0].message, HasSubstr(GetParam().says));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Damaged, WrongIdInAShard,
    testing::Values(WrongId{"IsThereTwice", 0, "id_repeated", "chunk 0 appears more than once in minishard 0", true},
                    WrongId{"IsAnotherMinishards", 2, "id_misplaced", "belongs in minishard 1 of s/0.shard", false},
                    WrongId{"IsAnotherShards", 4, "id_misplaced", "belongs in minishard 0 of s/1.shard", false},
                    WrongId{"IsNoChunks", 8, "chunk_outside", "chunk 8 is outside the array's shape", true},
                    WrongId{"IsFarOut", std::uint64_t{1} << 63, "chunk_outside", "never read", true}),
    [](const auto& param) { return param.param.name; });

TEST(DamagedVolume, WithTwoChunkShapesSharingBytesReadsOnlyTheFittingOne) {
  Json scale = parsed(R"({"key": "s", "size": [5, 4, 4], "resolution": [8, 8, 8], "chunk_sizes": [[4, 4, 4]],
                          "encoding": "raw"})");
  scale.set("sharding", parsed(R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "identity",
                                   "minishard_bits": 0, "shard_bits": 0, "minishard_index_encoding": "raw",
                                   "data_encoding": "raw"})"));
  const auto store = store_of(info_of(scale).dump());
  std::string shard(16 + 16 + 48, 'v');
  constexpr std::uint64_t again = 0 - std::uint64_t{16};  // the second begins where the first does
  for (std::size_t i = 0; const std::uint64_t each : {16UL, 64UL}) set_word(shard, 8 * i++, each);
  for (std::size_t i = 4; const std::uint64_t each : {0UL, 1UL, 0UL, again, 16UL, 16UL}) set_word(shard, 8 * i++, each);
  store->set("s/0.shard", shard).value();
  const Array array = open_array(store, {.config = {.cache = CacheMode::chunks}}).value();
  std::vector<std::uint8_t> small(16), whole(64);
  array.read(Box{{4, 0, 0, 0}, {1, 4, 4, 1}}, std::span(small)).value();
  EXPECT_EQ(small, std::vector<std::uint8_t>(16, 'v'));
  EXPECT_EQ(array.read(Box{{0, 0, 0, 0}, {4, 4, 4, 1}}, std::span(whole)).error().code(), ErrorCode::corrupt);
  const CheckReport report = check(store).value();
  EXPECT_TRUE(std::any_of(report.faults.begin(), report.faults.end(), [](const Fault& fault) {
    return fault.code == std::string("chunk_size") && fault.slot == 0U;
  }));
}

TEST(DamagedVolume, WithAShortChunkOfItsOwnIsCorruptToo) {
  Json scale = good_scale();
  scale.set("sharding", Json());
  const auto store = store_of(info_of(scale).dump());
  store->set("s/-3-1_7-11_0-4", std::string(63, 'x')).value();
  const auto read = read_all(open_array(store).value());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(read.error().key(), "s/-3-1_7-11_0-4");
  const auto report = check(store, {.data = true}).value();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_EQ(report.faults[0].key, "s/-3-1_7-11_0-4");
}

TEST(Check, FindsTheChunksOfAScaleOfAnyKey) {
  for (const char* key : {"s", "x/y", "a/", "./a", "/a", "a//b", "b/../a", "."}) {
    for (const bool sharded : {false, true}) {
      Json scale = good_scale();
      scale.set("key", key);
      if (!sharded) scale.set("sharding", Json());
      const auto store = store_of(info_of(std::move(scale)).dump());
      const std::vector<std::uint8_t> ones(512, 1);
      open_array(store, {.writable = true}).value().write(Box{{0, 0, 0, 0}, {8, 8, 8, 1}}, std::span(ones)).value();
      const auto sound = check(store, {.data = true}).value();
      EXPECT_TRUE(sound.faults.empty()) << key;
      EXPECT_EQ(sound.chunks, 8U) << key;
      std::string chunk;
      store
          ->list("",
                 [&](const std::string& name, std::uint64_t) { return name != "info" ? chunk = name, false : true; })
          .value();
      store->set(chunk, "garbage").value();
      EXPECT_FALSE(check(store, {.data = true}).value().ok()) << key;
    }
  }
}

}  // namespace damaged_volume_test
}  // namespace sherd
