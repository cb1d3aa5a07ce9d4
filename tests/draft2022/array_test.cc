// Array documents and the entry point of the 2022 draft, member by member: what is read, and what is refused with which
// code and where.
#include <gtest/gtest.h>

#include "tests/draft2022/draft2022_testing.hpp"

namespace sherd::draft {
namespace array_test {

class DraftRefusedArray : public testing::TestWithParam<Refusal> {};

TEST_P(DraftRefusedArray, NamesCodeDocumentAndMember) {
  const auto store = hierarchy(changed(kArray, GetParam().changes));
  expect_refused(open(store, {.path = "a"}), GetParam(), "meta/root/a.array.json");
}

INSTANTIATE_TEST_SUITE_P(
    Members, DraftRefusedArray,
    testing::Values(Refusal{R"({"shape": "-"})", corrupt_code, "shape"},
                    Refusal{R"({"data_type": "-"})", corrupt_code, "data_type"},
                    Refusal{R"({"chunk_grid": "-"})", corrupt_code, "chunk_grid"},
                    Refusal{R"({"chunk_memory_layout": "-"})", corrupt_code, "chunk_memory_layout"},
                    Refusal{R"({"chunk_memory_layout": "A"})", corrupt_code, "chunk_memory_layout"},
                    Refusal{R"({"fill_value": "-"})", corrupt_code, "fill_value"},
                    Refusal{R"({"fill_value": "x"})", corrupt_code, "fill_value"},
                    Refusal{R"({"attributes": []})", corrupt_code, "attributes"},
                    Refusal{R"({"extra": {"must_understand": false}})", unsupported_code, "extra"},
                    Refusal{R"({"zarr_format": 3})", unsupported_code, "zarr_format"},
                    Refusal{R"({"extensions": {}})", corrupt_code, "extensions"},
                    Refusal{R"({"extensions": [1]})", corrupt_code, "extensions[0]"},
                    Refusal{R"({"extensions": [{"extension": "http://x"}]})", unsupported_code, "extensions[0]"},
                    Refusal{R"({"extensions": [{"extension": "http://x", "must_understand": true}]})", unsupported_code,
                            "extensions[0]"}));

INSTANTIATE_TEST_SUITE_P(
    Lengths, DraftRefusedArray,
    testing::Values(Refusal{R"({"shape": 7})", corrupt_code, "shape"},
                    Refusal{R"({"shape": [7, -1]})", corrupt_code, "shape[1]"},
                    Refusal{R"({"shape": [7, 9223372036854775808]})", corrupt_code, "shape[1]"},
                    Refusal{R"({"shape": [4294967296, 4294967296]})", unsupported_code, "shape"},
                    Refusal{R"({"chunk_grid": []})", corrupt_code, "chunk_grid"},
                    Refusal{R"({"chunk_grid": {"type": "hexagonal", "chunk_shape": [2, 2], "separator": "/"}})",
                            unsupported_code, "chunk_grid.type"},
                    Refusal{R"({"chunk_grid": {"type": "regular", "separator": "/"}})", corrupt_code,
                            "chunk_grid.chunk_shape"},
                    Refusal{R"({"chunk_grid": {"type": "regular", "chunk_shape": [2, 0], "separator": "/"}})",
                            corrupt_code, "chunk_grid.chunk_shape[1]"},
                    Refusal{R"({"chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"}})",
                            corrupt_code, "chunk_grid.chunk_shape"},
                    Refusal{R"({"chunk_grid": {"type": "regular", "chunk_shape": [2, 2], "separator": "-"}})",
                            corrupt_code, "chunk_grid.separator"},
                    Refusal{R"({"chunk_grid": {"type": "regular", "chunk_shape": [2, 2], "order": "C"}})",
                            unsupported_code, "chunk_grid.order"}));

INSTANTIATE_TEST_SUITE_P(
    DataTypes, DraftRefusedArray,
    testing::Values(Refusal{R"({"data_type": "<i3"})", unsupported_code, "data_type"},
                    Refusal{R"({"data_type": "i4"})", corrupt_code, "data_type"},
                    Refusal{R"({"data_type": ""})", unsupported_code, "data_type"},
                    Refusal{R"({"data_type": "string"})", unsupported_code, "data_type"},
                    Refusal{R"({"data_type": 4})", corrupt_code, "data_type"},
                    Refusal{R"({"data_type": "|S0"})", corrupt_code, "data_type"},
                    Refusal{R"({"data_type": "|S99999999999999999999"})", corrupt_code, "data_type"},
                    Refusal{R"({"data_type": "<M8[25years]"})", corrupt_code, "data_type"},
                    Refusal{R"({"data_type": "<M8[99999999999s]"})", unsupported_code, "data_type"},
                    Refusal{R"({"data_type": {"extension": "x", "fallback": null}})", corrupt_code, "data_type.type"},
                    Refusal{R"({"data_type": {"extension": "x", "type": "quaternion"}})", unsupported_code,
                            "data_type.type"},
                    Refusal{R"({"data_type": {"extension": "x", "type": "quaternion", "fallback": "octonion"}})",
                            unsupported_code, "data_type.fallback"},
                    Refusal{R"({"data_type": {"type": "<c8", "x": 1}})", unsupported_code, "data_type.x"},
                    Refusal{R"({"data_type": [["a", "<i2", [0]]]})", corrupt_code, "data_type[0][2]"},
                    Refusal{R"({"data_type": [["a"]]})", corrupt_code, "data_type[0]"}));

std::string nested_type(int depth) {
  std::string type = "\"|u1\"";
  for (int i = 0; i < depth; ++i) type = "[[\"a\", " + type + "]]";
  return "{\"fill_value\": null, \"data_type\": " + type + "}";
}
std::string nested_location(int depth) {
  std::string location = "data_type";
  for (int i = 0; i < depth; ++i) location += "[0][1]";
  return location;
}
INSTANTIATE_TEST_SUITE_P(DeepTypes, DraftRefusedArray,
                         testing::Values(Refusal{nested_type(30), unsupported_code, nested_location(17)}));

INSTANTIATE_TEST_SUITE_P(
    Codecs, DraftRefusedArray,
    testing::Values(
        Refusal{R"({"compressor": 1})", corrupt_code, "compressor"},
        Refusal{R"({"compressor": {"configuration": {}}})", corrupt_code, "compressor.codec"},
        Refusal{R"({"compressor": {"codec": "https://purl.org/zarr/spec/codec/"}})", unsupported_code,
                "compressor.codec"},
        Refusal{R"({"compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/2.0"}})", unsupported_code,
                "compressor.codec"},
        Refusal{R"({"compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/1.0", "configuration": 5}})",
                corrupt_code, "compressor.configuration"},
        Refusal{R"({"compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/1.0"}, "codecs": []})", corrupt_code,
                "codecs"},
        Refusal{R"({"codecs": {}})", corrupt_code, "codecs"},
        Refusal{R"({"codecs": [{"type": "https://example.org/x/1.0"}]})", unsupported_code, "codecs[0].codec"},
        Refusal{R"({"attributes": {"filters": [{"id": "pickle", "protocol": 5}]}})", unsupported_code,
                "codecs[1].name"}));

std::string stack_of(int depth) {
  std::string list;
  for (int i = 0; i < depth; ++i) list += (i == 0 ? "" : ",") + indexed("[1, 1]");
  return transformers(list);
}
const std::string kCounts = "storage_transformers[0].configuration.chunks_per_shard";
INSTANTIATE_TEST_SUITE_P(
    Transformers, DraftRefusedArray,
    testing::Values(Refusal{R"({"storage_transformers": {}})", corrupt_code, "storage_transformers"},
                    Refusal{R"({"storage_transformers": [1]})", corrupt_code, "storage_transformers[0]"},
                    Refusal{transformers(indexed("\"2\"")), corrupt_code, kCounts},
                    Refusal{transformers(indexed("[2, 0]")), corrupt_code, kCounts + "[1]"},
                    Refusal{transformers(indexed("[2, 1.5]")), corrupt_code, kCounts + "[1]"},
                    Refusal{transformers(indexed("[2, 2, 2]")), corrupt_code, kCounts},
                    Refusal{transformers(indexed("[9223372036854775807, 9223372036854775807]")), unsupported_code,
                            "storage_transformers[0]"},
                    Refusal{transformers(indexed("[1073741824, 1073741824]")), unsupported_code,
                            "storage_transformers[0]"},
                    Refusal{transformers(indexed("[65536, 65536]")), unsupported_code, "codecs[0].configuration"},
                    Refusal{stack_of(17), unsupported_code, "storage_transformers"}));

class DraftRefusedEntryPoint : public testing::TestWithParam<Refusal> {};

TEST_P(DraftRefusedEntryPoint, NamesCodeDocumentAndMember) {
  const auto store = hierarchy(kArray);
  store->set("zarr.json", changed(kEntryPoint, GetParam().changes)).value();
  expect_refused(open(store, {.path = "a"}), GetParam(), "zarr.json");
}

INSTANTIATE_TEST_SUITE_P(
    Members, DraftRefusedEntryPoint,
    testing::Values(
        Refusal{R"({"extra": 1})", unsupported_code, "extra"},
        Refusal{R"({"zarr_format": "https://purl.org/zarr/spec/v3#array"})", unsupported_code, "zarr_format"},
        Refusal{R"({"metadata_encoding": "https://example.org/cbor"})", unsupported_code, "metadata_encoding"},
        Refusal{R"({"metadata_encoding": 1})", unsupported_code, "metadata_encoding"},
        Refusal{R"({"metadata_key_suffix": 1})", corrupt_code, "metadata_key_suffix"},
        Refusal{R"({"metadata_key_suffix": "/../x"})", corrupt_code, "metadata_key_suffix"},
        Refusal{R"({"extensions": [{"extension": "http://x", "must_understand": true}]})", unsupported_code,
                "extensions[0]"}));

class DraftEntryPoint : public testing::TestWithParam<std::string> {};

TEST_P(DraftEntryPoint, IsRead) {
  const auto store = hierarchy(kArray);
  store->set("zarr.json", changed(kEntryPoint, GetParam())).value();
  EXPECT_EQ(open_array(store, {.path = "a"}).value().format(), "draft2022");
}

INSTANTIATE_TEST_SUITE_P(
    InEveryForm, DraftEntryPoint,
    testing::Values("{}",
                    R"({"zarr_format": "https://purl.org/zarr/spec/core/3.0",
                        "metadata_encoding": "https://purl.org/zarr/spec/core/3.0"})",
                    R"({"zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0"})",
                    R"({"extensions": [{"extension": "http://x", "must_understand": false, "configuration": {}}]})"));

struct Reading {
  std::string changes;
  std::string dtype;
  std::string codecs;
};
void PrintTo(const Reading& reading, std::ostream* out) { *out << reading.changes; }

class DraftReadArray : public testing::TestWithParam<Reading> {};

TEST_P(DraftReadArray, IsLoweredAndKeptVerbatim) {
  const std::string text = changed(kArray, GetParam().changes);
  const auto store = hierarchy(text);
  Array array = open_array(store, {.path = "a", .writable = true}).value();
  EXPECT_EQ(array.dtype().name(), GetParam().dtype);
  EXPECT_EQ(array.codecs(), Json::parse(GetParam().codecs).value()) << array.codecs().dump();
  EXPECT_EQ(array.metadata(), Json::parse(text).value());
  array.update_attributes(Json::parse(R"({"new": 1})").value()).value();
  Json document = Json::parse(store->get("meta/root/a.array.json").value().value()).value();
  document.find("attributes")->erase("new");
  EXPECT_EQ(document.dump(), Json::parse(text).value().dump());
}

constexpr const char* kLittle = R"([{"name": "bytes", "configuration": {"endian": "little"}}])";
constexpr const char* kPlain = R"([{"name": "bytes"}])";

INSTANTIATE_TEST_SUITE_P(
    Types, DraftReadArray,
    testing::Values(
        Reading{R"({"data_type": "bool", "fill_value": true})", "bool", kPlain},
        Reading{R"({"data_type": "|u1", "fill_value": 1})", "uint8", kPlain},
        Reading{R"({"data_type": ">f2", "fill_value": "+Infinity"})", "float16",
                R"([{"name": "bytes", "configuration": {"endian": "big"}}])"},
        Reading{R"({"data_type": "float64", "fill_value": "-Infinity"})", "float64", kLittle},
        Reading{R"({"data_type": "<f4", "fill_value": "0x7fc00001"})", "float32", kLittle},
        Reading{R"({"data_type": {"extension": "x", "type": "<c8", "fallback": null}, "fill_value": [1, "NaN"]})",
                "complex64", kLittle},
        Reading{R"({"data_type": {"extension": "x", "type": "<M8[25us]"}, "fill_value": -9223372036854775808})",
                "numpy.datetime64", kLittle},
        Reading{R"({"data_type": {"extension": "x", "type": "|S4"}, "fill_value": "eHk="})", "null_terminated_bytes",
                kPlain},
        Reading{R"({"data_type": {"extension": "x", "type": "<U3"}, "fill_value": "ab"})", "fixed_length_utf32",
                kLittle},
        Reading{R"({"data_type": {"extension": "x", "type": [["a", "<i2"], ["b", "<f8"]]}, "fill_value": null})",
                "struct", kLittle},
        Reading{R"({"data_type": {"extension": "x", "type": "quaternion", "fallback": "<i4"}})", "int32", kLittle}));

INSTANTIATE_TEST_SUITE_P(
    Extensions, DraftReadArray,
    testing::Values(
        Reading{R"({"extensions": [{"extension": "http://x", "must_understand": false, "b": 1.50, "a": [1e2]}]})",
                "int32", kLittle},
        Reading{R"({"dimension_separator": "/", "compressor": null})", "int32", kLittle}));

INSTANTIATE_TEST_SUITE_P(
    Codecs, DraftReadArray,
    testing::Values(
        Reading{R"({"chunk_memory_layout": "F"})", "int32",
                R"([{"name": "transpose", "configuration": {"order": [1, 0]}},
                    {"name": "bytes", "configuration": {"endian": "little"}}])"},
        Reading{
            R"({"compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/1.0", "configuration": {"level": 5}}})",
            "int32",
            R"([{"name": "bytes", "configuration": {"endian": "little"}},
                    {"name": "gzip", "configuration": {"level": 5}}])"},
        Reading{R"({"compressor": {"codec": "https://purl.org/zarr/spec/codec/blosc/1.0",
                                   "configuration": {"cname": "zstd", "clevel": 3, "shuffle": -1, "blocksize": 0}}})",
                "int32",
                R"([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "blosc", "configuration":
                    {"cname": "zstd", "clevel": 3, "shuffle": "shuffle", "blocksize": 0, "typesize": 4}}])"},
        Reading{R"({"codecs": [{"type": "https://purl.org/zarr/spec/codec/zlib/1.0", "configuration": {"level": 1}}]})",
                "int32",
                R"([{"name": "bytes", "configuration": {"endian": "little"}},
                    {"name": "numcodecs.zlib", "configuration": {"level": 1}}])"},
        Reading{R"({"attributes": {"filters": [{"id": "delta", "dtype": "<i4", "astype": "<i4"},
                                               {"id": "shuffle", "elementsize": 4}]}})",
                "int32",
                R"([{"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i4"}},
                    {"name": "bytes", "configuration": {"endian": "little"}},
                    {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}])"}));

std::string shard(std::string_view chunk_shape, std::string_view codecs) {
  return R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": )" + std::string(chunk_shape) +
         R"(, "codecs": )" + std::string(codecs) + R"(, "index_codecs": )" + kLittle +
         R"(, "index_location": "end"}}])";
}
INSTANTIATE_TEST_SUITE_P(
    Transformers, DraftReadArray,
    testing::Values(
        Reading{R"({"storage_transformers": []})", "int32", kLittle},
        Reading{transformers(indexed("[2, 2]")), "int32", shard("[2, 2]", kLittle)},
        Reading{transformers(indexed("[2, 2]", "http://purl.org/zarr/spec/storage_transformers/sharding/1.0")), "int32",
                shard("[2, 2]", kLittle)},
        Reading{transformers(indexed("[2, 2]", "https://purl.org/zarr/spec/storage-transformers/sharding/1.0")),
                "int32", shard("[2, 2]", kLittle)},
        Reading{
            transformers(indexed("[2, 2]", "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0")),
            "int32", shard("[2, 2]", kLittle)},
        Reading{
            transformers(indexed("[2, 2]", "https://purl.org/zarr/spec/extensions/storage-transformers/sharding/1.0")),
            "int32", shard("[2, 2]", kLittle)},
        Reading{transformers(indexed("[3]")), "int32", shard("[2, 2]", kLittle)},
        Reading{transformers(indexed("3")), "int32", shard("[2, 2]", kLittle)},
        Reading{transformers(indexed("[2, 2]") + "," + indexed("[2, 1]")), "int32",
                shard("[4, 4]", shard("[2, 2]", kLittle))}));

TEST(DraftDocuments, BytesThatAreNotAJsonObjectAreCorrupt) {
  for (const std::string_view text : {"", "[]", "1", "{", "\"x\"", "{\"shape\": [1], \"shape\": [2]}", "{} {}"}) {
    const auto store = hierarchy(text);
    EXPECT_EQ(open(store, {.path = "a"}).error().code(), ErrorCode::corrupt) << text;
    store->set("meta/root/g.group.json", text).value();
    const auto group = open(store, {.path = "g"});
    ASSERT_FALSE(group) << text;
    EXPECT_EQ(group.error().key(), "meta/root/g.group.json");
  }
}

TEST(DraftDocuments, LimitsAreNamedInTheError) {
  const auto store = hierarchy(changed(kArray, R"({"attributes": {"a": [[[[1]]]]}})"));
  Config config;
  config.limits.metadata_bytes = 100;
  EXPECT_NE(open(store, {.path = "a", .config = config}).error().text().find("metadata_bytes"), std::string::npos);
  config = {};
  config.limits.json_depth = 4;
  EXPECT_NE(open(store, {.path = "a", .config = config}).error().text().find("json_depth"), std::string::npos);
  config = {};
  config.limits.dimensions = 1;
  EXPECT_NE(open(store, {.path = "a", .config = config}).error().text().find("dimensions"), std::string::npos);
}

TEST(DraftDocuments, GroupsHoldAttributesAndExtensionsOnly) {
  const auto store = empty_hierarchy();
  store->set("meta/root/g.group.json", R"({"attributes": {"a": 1}, "extensions": []})").value();
  EXPECT_EQ(open_group(store, {.path = "g"}).value().attributes().dump(), R"({"a":1})");
  store->set("meta/root/g.group.json", R"({"attributes": {}, "x": 1})").value();
  EXPECT_EQ(open(store, {.path = "g"}).error().member(), "x");
}

TEST(DraftDocuments, WithoutAnEntryPointAreNotFound) {
  const auto store = memory_store();
  for (const std::string format : {"", "draft2022"}) {
    const auto nothing = open(store, {.path = "a", .format = format});
    EXPECT_EQ(nothing.error().code(), ErrorCode::not_found);
    for (const char* const key : {"meta/root/a.array.json", "meta/root/a.group.json"})
      EXPECT_NE(nothing.error().text().find(key), std::string::npos) << nothing.error().text();
  }
  store->set("meta/root/a.array.json", kArray).value();
  const auto node = open(store, {.path = "a"});
  EXPECT_EQ(node.error().code(), ErrorCode::not_found);
  EXPECT_EQ(node.error().key(), "zarr.json");
  EXPECT_NE(node.error().text().find("draft2022"), std::string::npos);
}

TEST(DraftDocuments, OfZarrV3AreIgnored) {
  const auto store = memory_store();
  create_group(store, "").value();
  store->set("meta/root/a.array.json", kArray).value();
  EXPECT_EQ(open(store, {.path = "a"}).error().code(), ErrorCode::not_found);
  EXPECT_EQ(open_group(store, {}).value().format(), "zarr3");
}

TEST(DraftDocuments, MayEndInAnotherSuffix) {
  const auto store = memory_store();
  store->set("zarr.json", changed(kEntryPoint, R"({"metadata_key_suffix": ".meta"})")).value();
  store->set("meta/root/a.array.meta", kArray).value();
  store->set("meta/root/b.array.json", kArray).value();
  Group root = open_group(store, {.writable = true}).value();
  EXPECT_EQ(root.members().value(), (std::vector<std::pair<std::string, NodeType>>{{"a", NodeType::array}}));
  root.create_group("g/h").value();
  create_array(store, "x", {.shape = {4}, .dtype = DType::uint8}).value();
  EXPECT_TRUE(store->get("meta/root/g/h.group.meta").value());
  EXPECT_TRUE(store->get("meta/root/x.array.meta").value());
}

TEST(DraftFillValues, ThatAreNullReadAsZeroAndStayAsTheyAre) {
  const auto store = hierarchy(changed(kArray, R"({"fill_value": null})"));
  Array array = open_array(store, {.path = "a", .writable = true}).value();
  std::vector<std::int32_t> values(35, 7);
  array.read(Box{{0, 0}, {7, 5}}, std::span(values)).value();
  EXPECT_EQ(values, std::vector<std::int32_t>(35, 0));
  array.resize({9, 5}).value();
  EXPECT_TRUE(array.metadata().find("fill_value")->is_null());
}

TEST(DraftFillValues, AreWrittenAndReadBitForBit) {
  const std::pair<DType, const char*> cases[] = {
      {DType::bool_, "true"},
      {DType::uint64, "18446744073709551615"},
      {DType::float64, "-0.0"},
      {DType::float32, "\"NaN\""},
      {DType::float32, "\"0x7fc00001\""},
      {DType::float16, "\"-Infinity\""},
      {DType::complex128, "[1.5, \"NaN\"]"},
      {DType::raw(24).value(), "[1, 2, 3]"},
      {DType::datetime64("ns").value(), "\"NaT\""},
      {DType::fixed_length_utf32(8).value(), "\"é\""},
      {DType::structure({{"a", DType::int16}, {"b", DType::float32}}).value(), "{\"a\": 258, \"b\": 1.5}"}};
  for (const auto& [dtype, json] : cases) {
    for (const char* endian : {"bytes:little", "bytes:big"}) {
      const auto store = memory_store();
      CreateOptions options{.shape = {3}, .dtype = dtype, .chunks = {2}, .format = "draft2022"};
      options.codecs = std::vector<Json>{endian};
      options.fill_value = Json::parse(json).value();
      const Array made = create_array(store, "a", options).value();
      const Array read = open_array(store, {.path = "a"}).value();
      EXPECT_TRUE(std::ranges::equal(made.fill_value(), read.fill_value())) << read.metadata().dump();
      EXPECT_EQ(read.dtype(), dtype) << read.metadata().dump();
      const auto again = memory_store();
      options.format = "zarr3";
      EXPECT_TRUE(std::ranges::equal(create_array(again, "a", options).value().fill_value(), read.fill_value()))
          << json;
    }
  }
}

}  // namespace array_test
}  // namespace sherd::draft
