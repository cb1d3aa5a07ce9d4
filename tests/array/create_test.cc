// What CreateOptions become: chosen chunk and shard shapes, codec lists, and the documents of new arrays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "array/create.hpp"
#include "sherd/sherd.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace create_test {

Json parsed(std::string_view text) { return Json::parse(text).value(); }

Array created(const CreateOptions& options) { return create_array(memory_store(), "", options).value(); }

std::string member(const CreateOptions& options, std::string_view name) {
  return created(options).metadata().find(name)->dump();
}

void expect_refused(const CreateOptions& options, ErrorCode code, std::string_view location) {
  auto store = memory_store();
  const auto array = create_array(store, "a", options);
  ASSERT_FALSE(array) << location;
  EXPECT_EQ(array.error().code(), code) << array.error().text();
  EXPECT_EQ(array.error().member(), location) << array.error().text();
  EXPECT_TRUE(store->list_dir("").value().objects.empty()) << "a refused creation wrote something";
  EXPECT_TRUE(store->list_dir("").value().prefixes.empty()) << "a refused creation wrote something";
}

TEST(Chunking, ChunksAreNearCubesOfPowersOfTwoWithinTheTarget) {
  const auto chosen = [](const Shape& shape, const DType& dtype, bool sharded) {
    return auto_chunks(shape, dtype, chunk_bytes_target(shape, dtype, sharded));
  };
  EXPECT_EQ(chosen({512, 512, 512}, DType::uint16, true), (Shape{64, 64, 128}));
  EXPECT_EQ(chosen({301, 370, 316}, DType::uint8, false), (Shape{64, 128, 128}));
  EXPECT_EQ(chosen({1000000}, DType::float64, false), (Shape{131072}));
  EXPECT_EQ(chosen({2000, 3000, 3}, DType::uint8, false), (Shape{512, 512, 3}));
  EXPECT_EQ(chosen({0, 480, 640}, DType::uint16, true), (Shape{1, 480, 640}));
  EXPECT_EQ(chosen({}, DType::float64, false), Shape{});
  EXPECT_EQ(chosen({7}, DType::string, false), Shape{7});
  EXPECT_EQ(chosen({0}, DType::uint8, false), Shape{1 << 20});
}

TEST(Chunking, ElementsLargerThanTheTargetAreChunksOfTheirOwn) {
  const DType huge = DType::raw(std::uint64_t{1} << 27).value();
  EXPECT_EQ(auto_chunks({10, 10}, huge, 1 << 20), (Shape{1, 1}));
}

TEST(Chunking, UnshardedChunksGrowWithTheArrayUpTo64MiB) {
  EXPECT_EQ(chunk_bytes_target({1024, 1024, 1024}, DType::uint8, false), std::uint64_t{1} << 20);
  EXPECT_EQ(chunk_bytes_target({4096, 2048, 2048}, DType::uint8, false), std::uint64_t{4} << 20 << 1);
  EXPECT_EQ(chunk_bytes_target({100000, 100000, 100000}, DType::uint8, false), std::uint64_t{64} << 20);
  EXPECT_EQ(chunk_bytes_target({100000, 100000, 100000}, DType::uint8, true), std::uint64_t{1} << 20);
}

TEST(Chunking, ShardsAreMultiplesOfChunksAndStopAtTheArray) {
  EXPECT_EQ(auto_shards({512, 512, 512}, DType::uint16, {64, 64, 128}), (Shape{256, 512, 512}));
  EXPECT_EQ(auto_shards({301, 370, 316}, DType::uint8, {64, 128, 128}), (Shape{320, 384, 384}));
  EXPECT_EQ(auto_shards({997, 13}, DType::uint8, {10, 10}), (Shape{1000, 20}));
  const Shape appended = auto_shards({0, 480, 640}, DType::uint16, {3, 480, 640});
  EXPECT_EQ(appended[0] % 3, 0U);
  EXPECT_GT(appended[0], 3U);
  EXPECT_EQ((Shape{appended[1], appended[2]}), (Shape{480, 640}));
}

TEST(Chunking, ShardsHaveAtMost65536ChunksSoThatTheirIndexStaysSmall) {
  EXPECT_EQ(auto_shards({20000000}, DType::uint8, {1}), Shape{65536});
  EXPECT_EQ(auto_shards({0, 7}, DType::bool_, {1, 1}), (Shape{8192, 7}));
  EXPECT_EQ(auto_shards({0, 0, 0}, DType::int16, {1, 1, 1}), (Shape{32, 32, 64}));
  EXPECT_EQ(auto_shards({0}, DType::raw(std::uint64_t{1} << 30).value(), {1}), Shape{1});
}

TEST(Chunking, ShardsCanBeChosenForEmptyAxesAndForTinyChunks) {
  for (const Shape& shape : {Shape{0, 7}, Shape{7, 0}, Shape{0, 0}, Shape{20000000, 1}}) {
    const Array array = created({.shape = shape, .dtype = DType::bool_, .chunks = {1, 1}, .auto_shards = true});
    EXPECT_TRUE(array.shards().has_value());
  }
}

TEST(Chunking, ChunksInGivenShardsDivideThem) {
  EXPECT_EQ(dividing_chunks({64, 64}, {100, 256}), (Shape{50, 64}));
  EXPECT_EQ(dividing_chunks({64}, {997}), Shape{997});
  EXPECT_EQ(dividing_chunks({128}, {96}), Shape{96});
  const Array array = created({.shape = {1000, 1000}, .dtype = DType::float64, .shards = {1000, 500}});
  EXPECT_EQ(array.shards(), (Shape{1000, 500}));
  EXPECT_EQ(1000 % array.chunks()[0], 0U);
  EXPECT_EQ(500 % array.chunks()[1], 0U);
}

TEST(CreateArray, WritesTheCanonicalDocument) {
  auto store = memory_store();
  create_array(store, "",
               {.shape = {10, 20},
                .dtype = DType::uint16,
                .chunks = {5, 10},
                .fill_value = Json(7),
                .dimension_names = std::vector<std::optional<std::string>>{"y", std::nullopt},
                .attributes = parsed(R"({"b": 1.50, "a": "x"})")})
      .value();
  EXPECT_EQ(*store->get("zarr.json").value(), R"({
  "shape": [
    10,
    20
  ],
  "data_type": "uint16",
  "chunk_grid": {
    "name": "regular",
    "configuration": {
      "chunk_shape": [
        5,
        10
      ]
    }
  },
  "chunk_key_encoding": {
    "name": "default",
    "configuration": {
      "separator": "/"
    }
  },
  "fill_value": 7,
  "codecs": [
    {
      "name": "bytes",
      "configuration": {
        "endian": "little"
      }
    },
    {
      "name": "zstd",
      "configuration": {
        "level": 3,
        "checksum": true
      }
    }
  ],
  "attributes": {
    "b": 1.50,
    "a": "x"
  },
  "dimension_names": [
    "y",
    null
  ],
  "zarr_format": 3,
  "node_type": "array"
})");
}

TEST(CreateArray, BuildsTheCodecChainOfShards) {
  EXPECT_EQ(member({.shape = {64, 64},
                    .dtype = DType::uint8,
                    .chunks = {8, 8},
                    .shards = {32, 32},
                    .codecs = std::vector<Json>{"gzip:5"},
                    .index_location = IndexLocation::start},
                   "codecs"),
            parsed(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8],
              "codecs": [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 5}}],
              "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
              "index_location": "start"}}])")
                .dump());
  EXPECT_EQ(member({.shape = {64, 64},
                    .dtype = DType::uint8,
                    .chunks = {8, 8},
                    .shards = {32, 32},
                    .codecs = std::vector<Json>{},
                    .index_codecs = std::vector<Json>{"bytes:big"}},
                   "codecs"),
            parsed(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8],
              "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
              "index_location": "end"}}])")
                .dump());
}

TEST(CreateArray, CompletesCodecListsAndModernizesNames) {
  const auto codecs = [](const DType& dtype, std::vector<Json> list) {
    return member({.shape = {4, 4}, .dtype = dtype, .codecs = std::move(list)}, "codecs");
  };
  const Json transpose = parsed(R"({"name": "transpose", "configuration": {"order": [1, 0]}})");
  EXPECT_EQ(codecs(DType::int32, {transpose, "crc32c"}),
            parsed(R"([{"name": "transpose", "configuration": {"order": [1, 0]}},
                       {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}])")
                .dump());
  EXPECT_EQ(codecs(DType::int32, {parsed(R"({"name": "endian", "configuration": {"endian": "big"}})")}),
            R"([{"name":"bytes","configuration":{"endian":"big"}}])");
  EXPECT_EQ(codecs(DType::uint8, {parsed(R"({"name": "numcodecs.crc32c"})")}),
            R"([{"name":"bytes"},{"name":"numcodecs.crc32c","configuration":{}}])");
  EXPECT_EQ(codecs(DType::string, {}), R"([{"name":"vlen-utf8","configuration":{}}])");
  EXPECT_EQ(codecs(DType::bytes, {}), R"([{"name":"vlen-bytes","configuration":{}}])");
}

// zarr-python accepts names of numcodecs only with a configuration, and no gzip without a level.
TEST(CreateArray, WritesDefaultsForOmittedCodecMembers) {
  const auto last = [](std::string_view codec, const DType& dtype = DType::int16) {
    const Json given = codec.starts_with('{') ? parsed(codec) : Json(codec);
    const Json list = parsed(member({.shape = {4}, .dtype = dtype, .codecs = std::vector<Json>{given}}, "codecs"));
    return list.elements().back().dump();
  };
  for (const char* name : {"crc32", "adler32", "fletcher32"}) {
    const std::string full = R"({"name":"numcodecs.)" + std::string(name) + R"(","configuration":{}})";
    EXPECT_EQ(last(name), full);
    EXPECT_EQ(last(R"({"name": "numcodecs.)" + std::string(name) + "\"}"), full);
  }
  EXPECT_EQ(last(R"({"name": "gzip"})"), R"({"name":"gzip","configuration":{"level":5}})");
  EXPECT_EQ(last(R"({"name": "zstd", "configuration": {"checksum": true}})"),
            R"({"name":"zstd","configuration":{"checksum":true,"level":3}})");
  EXPECT_EQ(last(R"({"name": "numcodecs.zlib"})"), R"({"name":"numcodecs.zlib","configuration":{"level":1}})");
  EXPECT_EQ(last(R"({"name": "numcodecs.lzma", "configuration": {"filters": [{"id": 33}]}})"),
            R"({"name":"numcodecs.lzma","configuration":{"filters":[{"id":33}],"format":1,"check":-1,"preset":null}})")
      << "Python's lzma refuses a preset together with filters";
  EXPECT_EQ(
      last(R"({"name": "blosc", "configuration": {"cname": "lz4"}})"),
      R"({"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":2,"blocksize":0}})");
  EXPECT_EQ(last(R"({"name": "bytes"})"), R"({"name":"bytes","configuration":{"endian":"little"}})");
}

TEST(CreateArray, WritesDefaultsForOmittedMembersInsideShardsAndWholeChains) {
  const Json chain = parsed(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [2],
      "codecs": ["bytes", {"name": "numcodecs.crc32"}], "index_codecs": [{"name": "bytes"}, {"name": "crc32c"}]}}])");
  EXPECT_EQ(member({.shape = {4}, .dtype = DType::int16, .raw_codecs = chain}, "codecs"),
            R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[2],"codecs":[{"name":"bytes",)"
            R"("configuration":{"endian":"little"}},{"name":"numcodecs.crc32","configuration":{}}],)"
            R"("index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}]}}])");
}

TEST(CreateArray, KeepsNumcodecsNames) {
  for (const char* name : {"zstd", "gzip", "crc32c", "blosc", "zlib", "crc32"}) {
    const std::string given = "numcodecs." + std::string(name);
    const Json list =
        parsed(member({.shape = {4}, .dtype = DType::int16, .codecs = std::vector<Json>{given}}, "codecs"));
    EXPECT_EQ(list.elements().back().find("name")->text(), given);
  }
}

TEST(CreateArray, GivesElementsThatAFilterMakesWiderAByteOrder) {
  const std::pair<DType, const char*> rows[] = {
      {DType::uint8, R"({"name": "cast_value", "configuration": {"data_type": "int32"}})"},
      {DType::int8, R"({"name": "numcodecs.astype", "configuration": {"encode_dtype": "<f8", "decode_dtype": "|i1"}})"},
      {DType::bool_, R"("numcodecs.packbits")"}};
  for (const auto& [dtype, filter] : rows) {
    const auto store = memory_store();
    Array array =
        create_array(store, "", {.shape = {4}, .dtype = dtype, .codecs = std::vector<Json>{parsed(filter)}}).value();
    EXPECT_EQ(array.codecs().elements()[1].find("configuration")->dump(), R"({"endian":"little"})");
    const std::vector<std::byte> values(4, std::byte{1});
    array.write(Box{{0}, {4}}, ConstAnyView::dense(values.data(), dtype, {4})).value();
    std::vector<std::byte> read(4);
    array.read(Box{{0}, {4}}, AnyView::dense(read.data(), dtype, {4})).value();
    EXPECT_EQ(read, values);
  }
  const Json transpose = parsed(R"({"name": "transpose", "configuration": {"order": [1, 0]}})");
  const std::string kept =
      member({.shape = {4, 4}, .dtype = DType::uint8, .codecs = std::vector<Json>{transpose}}, "codecs");
  EXPECT_EQ(kept.find("endian"), std::string::npos);
}

TEST(CreateArray, DoesNotCompleteCodecsOfExistingDocuments) {
  const auto store = memory_store();
  create_array(store, "", {.shape = {4}, .dtype = DType::uint8, .codecs = std::vector<Json>{"gzip"}}).value();
  Json document = parsed(store->get("zarr.json").value().value());
  const Json bare = parsed(R"(["bytes", {"name": "gzip"}])");
  document.set("codecs", bare);
  store->set("zarr.json", document.dump()).value();
  Array array = open_array(store, {.writable = true}).value();
  array.set_attributes(parsed(R"({"a": 1})")).value();
  array.resize({8}).value();
  EXPECT_EQ(*parsed(store->get("zarr.json").value().value()).find("codecs"), bare);
}

TEST(CreateArray, KnowsShortFormsInAWholeChainAndItsShards) {
  EXPECT_EQ(member({.shape = {4}, .dtype = DType::int16, .raw_codecs = parsed(R"(["bytes", "gzip:9"])")}, "codecs"),
            R"([{"name":"bytes","configuration":{"endian":"little"}},{"name":"gzip","configuration":{"level":9}}])");
  const Json chain = parsed(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [2],
      "codecs": ["bytes", "gzip:9"], "index_codecs": ["bytes", "crc32c"]}}])");
  EXPECT_EQ(member({.shape = {4}, .dtype = DType::int16, .raw_codecs = chain}, "codecs"),
            R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[2],"codecs":[{"name":"bytes",)"
            R"("configuration":{"endian":"little"}},{"name":"gzip","configuration":{"level":9}}],)"
            R"("index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}]}}])");
}

TEST(CreateArray, WritesAGivenChainVerbatim) {
  const Json chain = parsed(
      R"([{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 9}}])");
  EXPECT_EQ(member({.shape = {4}, .dtype = DType::int16, .raw_codecs = chain}, "codecs"), chain.dump());
}

TEST(CreateArray, AcceptsGridsAndKeyEncodingsInTheirMetadataForm) {
  const Json grid =
      parsed(R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [3, [[2, 2], 4]]}})");
  const CreateOptions options{
      .shape = {5, 8}, .dtype = DType::uint8, .chunk_grid = grid, .chunk_key_encoding = Json("v2")};
  EXPECT_EQ(member(options, "chunk_grid"), grid.dump());
  EXPECT_EQ(member(options, "chunk_key_encoding"), R"({"name":"v2","configuration":{"separator":"."}})");
}

TEST(CreateArray, CreatesRectilinearShardsOfEqualChunks) {
  const Json grid =
      parsed(R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[4, 8], [[6, 2], 2]]}})");
  const CreateOptions options{.shape = {12, 14}, .dtype = DType::uint8, .chunks = {2, 2}, .chunk_grid = grid};
  const Array array = created(options);
  EXPECT_EQ(array.chunks(), Shape({2, 2}));
  EXPECT_EQ(array.shards(), Shape()) << "sharded, but of no single shape";
  std::vector<std::uint8_t> values(12 * 14);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i);
  array.write(Box{{0, 0}, {12, 14}}, std::span(values)).value();
  std::vector<std::uint8_t> read(values.size());
  array.read(Box{{0, 0}, {12, 14}}, std::span(read)).value();
  EXPECT_EQ(read, values);
  EXPECT_EQ(array.stored().value().objects, 6U);
  EXPECT_EQ(array.nchunks_initialized().value(), 42U);
  CreateOptions odd = options;
  odd.chunks = {3, 2};
  EXPECT_EQ(create_array(memory_store(), "", odd).error().code(), ErrorCode::invalid_argument);
}

TEST(CreateArray, ReportsShardLengthsClippedToTheArray) {
  using Runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  const Json grid = parsed(
      R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [3, [2, 2, [1, 3], 4, 5]]}})");
  Array array = created({.shape = {5, 8}, .dtype = DType::uint8, .chunk_grid = grid});
  EXPECT_EQ(array.edges(0), (Runs{{3, 1}, {2, 1}}));
  EXPECT_EQ(array.edges(1), (Runs{{2, 2}, {1, 3}, {1, 1}})) << "the last one cut off, what lies behind it left out";
  array.resize({0, 5}).value();
  EXPECT_EQ(array.edges(0), Runs());
  EXPECT_EQ(array.edges(1), (Runs{{2, 2}, {1, 1}}));
  EXPECT_EQ(created({.shape = {10}, .dtype = DType::uint8, .chunks = {2}, .shards = {4}}).edges(0),
            (Runs{{4, 2}, {2, 1}}));
}

TEST(CreateArray, NamesCodecsThatThisVersionDoesNotSupport) {
  for (const std::string name : {"wavpack", "imagecodecs_jpeg2k"}) {
    for (const Json& codec : {Json(name), Json(name + ":1"), Json(Json::Object{{"name", name}})}) {
      const auto array =
          create_array(memory_store(), "", {.shape = {4}, .dtype = DType::int16, .codecs = std::vector{codec}});
      ASSERT_FALSE(array) << name;
      EXPECT_EQ(array.error().code(), ErrorCode::unsupported);
      EXPECT_THAT(array.error().message(),
                  testing::StartsWith("the codec '" + name + "' is not supported by this version"));
    }
  }
}

TEST(CreateArray, KeepsFillValuesBitForBit) {
  const auto fill = [](const DType& dtype, std::string_view text) {
    return member({.shape = {1}, .dtype = dtype, .fill_value = parsed(text)}, "fill_value");
  };
  EXPECT_EQ(fill(DType::uint64, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(fill(DType::float32, R"("0x7fc00001")"), R"("0x7fc00001")");
  EXPECT_EQ(fill(DType::float64, R"("NaN")"), R"("NaN")");
  EXPECT_EQ(fill(DType::float64, "-0.0"), "-0.0");
  EXPECT_EQ(member({.shape = {1}, .dtype = DType::bool_}, "fill_value"), "false");
}

TEST(CreateArray, RefusesOpaqueShardsLargerThanTheChunkLimit) {
  const auto with = [](std::string_view around) {
    CreateOptions options{.shape = {64, 64}, .dtype = DType::uint8};
    options.chunk_grid = parsed(R"({"name": "regular", "configuration": {"chunk_shape": [64, 64]}})");
    options.raw_codecs = parsed(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8],
        "codecs": ["bytes"], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}})" +
                                std::string(around) + "]");
    options.config.limits.chunk_bytes = 1024;
    return create_array(memory_store(), "", options);
  };
  EXPECT_TRUE(with(""));
  EXPECT_EQ(with(R"(, "crc32c")").error().code(), ErrorCode::unsupported);
}

TEST(CreateArray, HasOpaqueShardsOfAnySizeWithoutALimitOfChunks) {
  CreateOptions options{.shape = {64, 64}, .dtype = DType::uint8};
  options.chunk_grid = parsed(R"({"name": "regular", "configuration": {"chunk_shape": [64, 64]}})");
  options.raw_codecs = parsed(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8],
      "codecs": ["bytes"], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}, "crc32c"])");
  options.config.limits.chunk_bytes = ~std::uint64_t{0};
  options.config.limits.index_bytes = 64 * 16;
  const Array array = create_array(memory_store(), "", options).value();
  const std::vector<std::uint8_t> ones(64 * 64, 1), two{2};
  array.write(Box{{0, 0}, {64, 64}}, std::span(ones)).value();
  array.write(Box{{9, 9}, {1, 1}}, std::span(two)).value();
  std::vector<std::uint8_t> found(3);
  array.read(Box{{9, 8}, {1, 3}}, std::span(found)).value();
  EXPECT_EQ(found, (std::vector<std::uint8_t>{1, 2, 1}));
}

TEST(CreateArray, RefusesBeforeAnythingIsWritten) {
  const auto invalid = ErrorCode::invalid_argument;
  const Shape shape{64, 64};
  expect_refused({.shape = shape, .chunks = {8}}, invalid, "chunks");
  expect_refused({.shape = shape, .chunks = {8, 0}}, invalid, "chunks[1]");
  expect_refused({.shape = shape, .chunks = {8, 8}, .shards = {32}}, invalid, "shards");
  expect_refused({.shape = shape, .chunks = {8, 8}, .shards = {32, 0}}, invalid, "shards[1]");
  expect_refused({.shape = shape, .chunks = {8, 8}, .shards = {32, 30}}, invalid, "shards[1]");
  expect_refused({.shape = shape, .shards = {32, 32}, .auto_shards = true}, invalid, "shards");
  expect_refused({.shape = shape, .index_location = IndexLocation::start}, invalid, "index_location");
  expect_refused({.shape = shape, .chunks = {8, 8}, .index_codecs = std::vector<Json>{"bytes"}}, invalid,
                 "index_codecs");
  expect_refused({.shape = shape, .codecs = std::vector<Json>{"zstd:x"}}, invalid, "codecs[0]");
  expect_refused({.shape = shape, .codecs = std::vector<Json>{"bytes", "ztsd"}}, invalid, "codecs[1]");
  expect_refused({.shape = shape, .codecs = std::vector<Json>{parsed(R"({"name": "ztsd"})")}}, invalid,
                 "codecs[0].name");
  expect_refused({.shape = shape, .raw_codecs = parsed(R"(["bytes", "ztsd"])")}, invalid, "raw_codecs[1]");
  expect_refused({.shape = shape, .codecs = std::vector<Json>{"bytes", "wavpack"}}, ErrorCode::unsupported,
                 "codecs[1]");
  expect_refused({.shape = shape, .codecs = std::vector<Json>{Json(3)}}, invalid, "codecs[0]");
  expect_refused({.shape = shape, .codecs = std::vector<Json>{}, .raw_codecs = parsed("[]")}, invalid, "raw_codecs");
  expect_refused({.shape = shape, .auto_shards = true, .raw_codecs = parsed("[]")}, invalid, "raw_codecs");
  const Json halves =
      parsed(R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [32, [32, 32]]}})");
  expect_refused({.shape = shape, .shards = {8, 8}, .chunk_grid = halves}, invalid, "chunk_grid");
  expect_refused({.shape = shape, .chunks = {8}, .chunk_grid = halves}, invalid, "chunks");
  expect_refused({.shape = shape, .chunks = {8, 8}, .raw_codecs = parsed("[]"), .chunk_grid = halves}, invalid,
                 "raw_codecs");
  expect_refused({.shape = shape, .fill_value = Json(256)}, invalid, "fill_value");
  expect_refused({.shape = shape, .fill_value = Json()}, invalid, "fill_value");
  expect_refused({.shape = shape, .dimension_names = std::vector<std::optional<std::string>>{"y"}}, invalid,
                 "dimension_names");
  expect_refused({.shape = shape, .attributes = Json(1)}, invalid, "attributes");
  expect_refused({.shape = Shape(33, 1)}, ErrorCode::unsupported, "shape");
  expect_refused({.shape = {std::uint64_t{1} << 40, std::uint64_t{1} << 40}}, ErrorCode::unsupported, "shape");
}

TEST(CreateArray, AppearsWithItsContentsOrNotAtAll) {
  const auto store = memory_store();
  create_group(store, "").value();
  CreateOptions options{.shape = {4}, .dtype = DType::uint8, .chunks = {2}};
  const auto fails = [](const Array& array) -> Result<void> {
    const std::vector<std::uint8_t> half{7, 7};
    auto written = array.write(Box{{0}, {2}}, std::span(half));
    if (!written) return written;
    return Error(ErrorCode::io, "the source ended");
  };
  const auto writes = [](const Array& array) {
    const std::vector<std::uint8_t> all{1, 2, 3, 4};
    return array.write(Box{{0}, {4}}, std::span(all));
  };
  options.contents = fails;
  EXPECT_EQ(create_array(store, "a", options).error().message(), "the source ended");
  EXPECT_EQ(keys_of(*store), (std::vector<std::string>{"zarr.json"}));

  options.contents = writes;
  const Array made = create_array(store, "a", options).value();
  EXPECT_EQ(keys_of(*store), (std::vector<std::string>{"a/c/0", "a/c/1", "a/zarr.json", "zarr.json"}));
  EXPECT_EQ(create_array(store, "a", options).error().code(), ErrorCode::conflict);

  options.overwrite = true;
  options.contents = fails;
  EXPECT_FALSE(create_array(store, "a", options));
  std::vector<std::uint8_t> values(4);
  made.read(Box{{0}, {4}}, std::span(values)).value();
  EXPECT_EQ(values, (std::vector<std::uint8_t>{1, 2, 3, 4}));
}

TEST(CreateArray, AcceptsShortFormsOfCodecsInsideShards) {
  CreateOptions options{.shape = {8}, .dtype = DType::uint16};
  options.chunks = {8};
  options.codecs = {{Json::parse(R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [4],
      "codecs": ["bytes:big", "zstd:7"], "index_codecs": ["bytes", "crc32c"]}})")
                         .value()}};
  const Json document = create_array(memory_store(), "", options).value().metadata();
  const Json& inside = *document.find("codecs")->elements()[0].find("configuration");
  const auto& codecs = inside.find("codecs")->elements();
  EXPECT_EQ(codecs[0].find("configuration")->find("endian")->text(), "big");
  EXPECT_EQ(codecs[1].find("configuration")->find("level")->as_int(), 7);
  EXPECT_EQ(inside.find("index_codecs")->elements()[0].find("configuration")->find("endian")->text(), "little");
}

}  // namespace create_test
}  // namespace sherd
