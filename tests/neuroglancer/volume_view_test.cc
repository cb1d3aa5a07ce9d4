// The conditions under which one file can be a Zarr shard and a Neuroglancer shard: each has its own error.
#include <gmock/gmock.h>

#include "tests/neuroglancer/dual_format_testing.hpp"

namespace sherd {
namespace volume_view_test {

using namespace dual_format_testing;
using neuroglancer::json;
using neuroglancer::refusal;
using testing::HasSubstr;

struct Refused {
  std::string name;
  std::function<void(CreateOptions&)> change;
  std::string member;
  std::string message;
};

const Json kTranspose = json(R"({"name": "transpose", "configuration": {"order": [2, 1, 0]}})");
const Json kBigEndian = json(R"({"name": "bytes", "configuration": {"endian": "big"}})");

const Refused kRefused[] = {
    {"NoShards", [](auto& o) { o.shards = {}; }, "shards", "must be sharded"},
    {"TwoDimensions",
     [](auto& o) {
       o.shape = {48, 64};
       o.chunks = {8, 16};
       o.shards = {16, 32};
     },
     "shape", "z,y,x or c,z,y,x"},
    {"ShardsOfDifferentShapes",
     [](auto& o) {
       o.shards = {};
       o.chunk_grid = json(R"({"name": "rectilinear", "configuration": {"kind": "inline",
                              "chunk_shapes": [[16, 16], 16, 32]}})");
     },
     "chunk_grid", "one shape"},
    {"IndexAtTheStart", [](auto& o) { o.index_location = IndexLocation::start; }, "index_location", "at the end"},
    {"CodecBehindTheShard",
     [](auto& o) {
       o.shards = {};
       o.chunks = {};
       o.chunk_grid = json(R"({"name": "regular", "configuration": {"chunk_shape": [16, 16, 32]}})");
       o.raw_codecs = json(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8, 16],
                              "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                              "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}},
                              {"name": "crc32c"}])");
     },
     "codecs", "'crc32c' is after 'sharding_indexed'"},
    {"TransposeBeforeTheShard",
     [](auto& o) {
       o.shards = {};
       o.chunks = {};
       o.chunk_grid = json(R"({"name": "regular", "configuration": {"chunk_shape": [16, 16, 32]}})");
       o.raw_codecs = json(R"([{"name": "transpose", "configuration": {"order": [0, 1, 2]}},
                              {"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8, 16],
                              "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                              "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}])");
     },
     "codecs", "'transpose' is before 'sharding_indexed'"},
    {"BigEndian", [](auto& o) { o.codecs = {{kBigEndian}}; }, "codecs", "big-endian"},
    {"AnotherCompressor", [](auto& o) { o.codecs = {{"zstd:3"}}; }, "codecs", "not 'zstd'"},
    {"AChecksumInsideTheCompressor", [](auto& o) { o.codecs = {{"crc32c", "gzip:1"}}; }, "codecs", "not 'gzip'"},
    {"GzipTwice", [](auto& o) { o.codecs = {{"gzip:1", "gzip:1"}}; }, "codecs", "not 'gzip'"},
    {"AnotherArrayCodec",
     [](auto& o) { o.codecs = {{json(R"({"name": "numcodecs.delta", "configuration": {"dtype": "<u2"}})")}}; },
     "codecs", "here is 'numcodecs.delta'"},
    {"XIsNotTheFastest", [](auto& o) { o.dimension_names = {{"x", "y", "z"}}; }, "dimension_names",
     "dimension 0 is called 'x' and would be Neuroglancer's z"},
    {"ADataTypeOfItsOwn", [](auto& o) { o.dtype = DType::float64; }, "dtype",
     "float64 is not a type of Neuroglancer's"},
    {"Int64", [](auto& o) { o.dtype = DType::int64; }, "dtype", "int64"},
    {"ChannelsInSeveralChunks",
     [](auto& o) {
       o.shape = {2, 32, 48, 64};
       o.chunks = {1, 8, 8, 16};
       o.shards = {2, 16, 16, 32};
     },
     "chunks", "all channels must be in one chunk"},
    {"AnotherFillValue", [](auto& o) { o.fill_value = Json(7); }, "fill_value", "must be 0, or every chunk stored"},
    {"ClippedX", [](auto& o) { o.shape[2] = 63; }, "shape", "the length 63 of x is not a multiple of the chunk's 16"},
    {"ClippedY",
     [](auto& o) {
       o.shape[1] = 47;
       o.codecs = {{"bytes"}};
     },
     "shape", "the length 47 of y"},
    {"ClippedZCompressed", [](auto& o) { o.shape[0] = 31; }, "shape", "without 'gzip'"},
    {"ClippedZOfChannels",
     [](auto& o) {
       o.shape = {2, 31, 48, 64};
       o.chunks = {2, 8, 8, 16};
       o.shards = {2, 16, 16, 32};
       o.codecs = {{"bytes"}};
     },
     "shape", "with one channel"},
    {"NoElements", [](auto& o) { o.shape[1] = 0; }, "shape", "has no chunks"},
    {"ShardsThatAreNoBoxes", [](auto& o) { o.shards = {16, 32, 32}; }, "shards",
     "not boxes of the compressed Morton code"},
    {"TooFewBits", [](auto& o) { o.volume = sharding(2, 1, 3); }, "sharding",
     "6 together, and the chunks' numbers have 7"},
    {"OtherBoxes", [](auto& o) { o.volume = sharding(1, 1, 5); }, "sharding", "boxes of (2, 2, 1, 1) chunks"},
    {"AHash", [](auto& o) { o.volume = sharding(2, 1, 4, "murmurhash3_x86_128"); }, "sharding", "with a hash"},
    {"OneShardOfThePart", [](auto& o) { o.volume = sharding(2, 1, 0); }, "sharding", "boxes of (4, 8, 4, 1) chunks"},
    {"AnotherEncoding", [](auto& o) { o.volume = sharding(2, 1, 4, "identity", "raw"); }, "sharding", "data_encoding"},
    {"AKeyOfTheArrays", [](auto& o) { o.volume = json(R"({"key": "c"})"); }, "volume.key",
     "next to the array's chunks"},
    {"VoxelsWithoutASize", [](auto& o) { o.volume = json(R"({"resolution": [0, 2, -1]})"); }, "volume.resolution",
     "must be three numbers above 0"},
    {"AnUnknownMember", [](auto& o) { o.volume = json(R"({"keys": "c"})"); }, "volume.keys", "is unknown"},
    {"AnotherFormat", [](auto& o) { o.format = "draft2022"; }, "", "needs a Zarr v3 array"},
};

class DualFormatCondition : public testing::TestWithParam<Refused> {};
INSTANTIATE_TEST_SUITE_P(Of, DualFormatCondition, testing::ValuesIn(kRefused),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(DualFormatCondition, IsNamedIfItFails) {
  const TempDir directory;
  CreateOptions options = array_of();
  GetParam().change(options);
  const auto made = create_array(directory / "a.zarr", options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::invalid_argument) << made.error().text();
  EXPECT_THAT(made.error().message(), HasSubstr(GetParam().message));
  EXPECT_EQ(made.error().member(), GetParam().member);
  EXPECT_TRUE(directory.contents().empty());
}

TEST_F(DualFormat, NeedsAStoreWithHardLinks) {
  EXPECT_THAT(refusal(create_array(memory_store(), "a", array_of()), ErrorCode::unsupported), HasSubstr("hard links"));
}

TEST_F(DualFormat, IsRequiredForVolumeOptions) {
  CreateOptions options = array_of();
  options.volume = json("{}");
  options.config.layout = Layout::plain;
  EXPECT_THAT(refusal(create_array(url(), options), ErrorCode::invalid_argument), HasSubstr("zarr+neuroglancer"));
}

}  // namespace volume_view_test
}  // namespace sherd
