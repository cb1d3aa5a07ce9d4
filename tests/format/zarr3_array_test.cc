// Zarr v3 array documents, member by member: what is read, and what is refused with which code and where.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sherd/sherd.hpp"
#include "tests/format/documents_testing.hpp"
#include "tests/format/zarr3_testing.hpp"

namespace sherd {
namespace zarr3_array_test {

class RefusedArray : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedArray, NamesCodeDocumentAndMember) {
  expect_refused(open_text(changed(GetParam().changes)), GetParam(), "a/zarr.json");
}

INSTANTIATE_TEST_SUITE_P(Members, RefusedArray,
                         testing::Values(Refusal{R"({"zarr_format": "-"})", corrupt_code, "zarr_format"},
                                         Refusal{R"({"zarr_format": "3"})", corrupt_code, "zarr_format"},
                                         Refusal{R"({"zarr_format": 2})", unsupported_code, "zarr_format"},
                                         Refusal{R"({"zarr_format": 3.0})", unsupported_code, "zarr_format"},
                                         Refusal{R"({"node_type": "-"})", corrupt_code, "node_type"},
                                         Refusal{R"({"node_type": "dataset"})", corrupt_code, "node_type"},
                                         Refusal{R"({"shape": "-"})", corrupt_code, "shape"},
                                         Refusal{R"({"data_type": "-"})", corrupt_code, "data_type"},
                                         Refusal{R"({"chunk_grid": "-"})", corrupt_code, "chunk_grid"},
                                         Refusal{R"({"chunk_key_encoding": "-"})", corrupt_code, "chunk_key_encoding"},
                                         Refusal{R"({"fill_value": "-"})", corrupt_code, "fill_value"},
                                         Refusal{R"({"codecs": "-"})", corrupt_code, "codecs"},
                                         Refusal{R"({"attributes": []})", corrupt_code, "attributes"},
                                         Refusal{R"({"attributes": null})", corrupt_code, "attributes"}));

INSTANTIATE_TEST_SUITE_P(
    UnknownMembers, RefusedArray,
    testing::Values(Refusal{R"({"extra": 1})", unsupported_code, "extra"},
                    Refusal{R"({"extra": false})", unsupported_code, "extra"},
                    Refusal{R"({"extra": {}})", unsupported_code, "extra"},
                    Refusal{R"({"extra": {"must_understand": true}})", unsupported_code, "extra"},
                    Refusal{R"({"extra": {"must_understand": "false"}})", unsupported_code, "extra"},
                    Refusal{R"({"extra": {"must_understand": 0}})", unsupported_code, "extra"},
                    Refusal{R"({"extra": [{"must_understand": false}]})", unsupported_code, "extra"},
                    Refusal{R"({"extra": {"configuration": {"must_understand": false}}})", unsupported_code, "extra"},
                    Refusal{R"({"consolidated_metadata": null})", unsupported_code, "consolidated_metadata"}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, RefusedArray,
    testing::Values(Refusal{R"({"shape": 10})", corrupt_code, "shape"},
                    Refusal{R"({"shape": [9223372036854775808, 1]})", corrupt_code, "shape[0]"},
                    Refusal{R"({"shape": [10, -1]})", corrupt_code, "shape[1]"},
                    Refusal{R"({"shape": [10, 1.5]})", corrupt_code, "shape[1]"},
                    Refusal{R"({"shape": [10, 1e2]})", corrupt_code, "shape[1]"},
                    Refusal{R"({"shape": ["3", 3]})", corrupt_code, "shape[0]"},
                    Refusal{R"({"shape": [null, 3]})", corrupt_code, "shape[0]"},
                    Refusal{R"({"shape": [4294967296, 4294967296]})", unsupported_code, "shape"},
                    Refusal{R"({"shape": [9223372036854775807, 0, 9223372036854775807]})", unsupported_code, "shape"},
                    Refusal{R"({"shape": [10]})", corrupt_code, "chunk_grid.configuration.chunk_shape"}));

INSTANTIATE_TEST_SUITE_P(DataTypes, RefusedArray,
                         testing::Values(Refusal{R"({"data_type": "float8_e4m4"})", unsupported_code, "data_type"},
                                         Refusal{R"({"data_type": "int128"})", unsupported_code, "data_type"},
                                         Refusal{R"({"data_type": {"name": "uint128", "must_understand": false}})",
                                                 unsupported_code, "data_type"},
                                         Refusal{R"({"data_type": "r12"})", corrupt_code, "data_type"},
                                         Refusal{R"({"data_type": "r1099511627776"})", unsupported_code, "data_type"}));

INSTANTIATE_TEST_SUITE_P(
    RegularGrids, RefusedArray,
    testing::Values(
        Refusal{R"({"chunk_grid": 5})", corrupt_code, "chunk_grid"},
        Refusal{R"({"chunk_grid": {}})", corrupt_code, "chunk_grid.name"},
        Refusal{R"({"chunk_grid": {"name": 1}})", corrupt_code, "chunk_grid.name"},
        Refusal{R"({"chunk_grid": "regular"})", corrupt_code, "chunk_grid.configuration.chunk_shape"},
        Refusal{R"({"chunk_grid": {"name": "hexagonal"}})", unsupported_code, "chunk_grid.name"},
        Refusal{R"({"chunk_grid": {"name": "hexagonal", "must_understand": false}})", unsupported_code,
                "chunk_grid.name"},
        Refusal{R"({"chunk_grid": {"name": "regular", "configuration": [5, 7]}})", corrupt_code,
                "chunk_grid.configuration"},
        Refusal{R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 7]}, "x": 1}})",
                unsupported_code, "chunk_grid.x"},
        Refusal{
            R"({"chunk_grid": {"name": "regular", "must_understand": 1, "configuration": {"chunk_shape": [5, 7]}}})",
            corrupt_code, "chunk_grid.must_understand"},
        Refusal{R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 7], "x": 1}}})",
                unsupported_code, "chunk_grid.configuration.x"},
        Refusal{R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0, 7]}}})", corrupt_code,
                "chunk_grid.configuration.chunk_shape[0]"},
        Refusal{R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5]}}})", corrupt_code,
                "chunk_grid.configuration.chunk_shape"},
        Refusal{R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 7, 1]}}})", corrupt_code,
                "chunk_grid.configuration.chunk_shape"},
        Refusal{R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4294967296, 4294967296]}}})",
                unsupported_code, "chunk_grid.configuration.chunk_shape"}));

INSTANTIATE_TEST_SUITE_P(
    RectilinearGrids, RefusedArray,
    testing::Values(
        Refusal{R"({"chunk_grid": {"name": "rectilinear", "configuration": {"chunk_shapes": [5, 7]}}})", corrupt_code,
                "chunk_grid.configuration.kind"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "array", "chunk_shapes": [5, 7]}}})",
            unsupported_code, "chunk_grid.configuration.kind"},
        Refusal{R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline"}}})", corrupt_code,
                "chunk_grid.configuration.chunk_shapes"},
        Refusal{R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [5]}}})",
                corrupt_code, "chunk_grid.configuration.chunk_shapes"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [5, 7], "x": 0}}})",
            unsupported_code, "chunk_grid.configuration.x"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [0, 7]}}})",
            corrupt_code, "chunk_grid.configuration.chunk_shapes[0]"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[5, 4], 7]}}})",
            corrupt_code, "chunk_grid.configuration.chunk_shapes[0]"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[], 7]}}})",
            corrupt_code, "chunk_grid.configuration.chunk_shapes[0]"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [5, [20, 0]]}}})",
            corrupt_code, "chunk_grid.configuration.chunk_shapes[1][1]"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [5, [[20]]]}}})",
            corrupt_code, "chunk_grid.configuration.chunk_shapes[1][0]"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [5, [[0, 3], 20]]}}})",
            corrupt_code, "chunk_grid.configuration.chunk_shapes[1][0][0]"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [5, [[20, 0]]]}}})",
            corrupt_code, "chunk_grid.configuration.chunk_shapes[1][0][1]"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [5, [[4294967296, 4294967296]]]}}})",
            unsupported_code, "chunk_grid.configuration.chunk_shapes[1]"},
        Refusal{
            R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [4294967296, [4294967296]]}}})",
            unsupported_code, "chunk_grid.configuration.chunk_shapes"}));

INSTANTIATE_TEST_SUITE_P(
    KeyEncodings, RefusedArray,
    testing::Values(Refusal{R"({"chunk_key_encoding": null})", corrupt_code, "chunk_key_encoding"},
                    Refusal{R"({"chunk_key_encoding": {"name": "fanout", "must_understand": false}})", unsupported_code,
                            "chunk_key_encoding.name"},
                    Refusal{R"({"chunk_key_encoding": {"name": "default", "configuration": {"separator": "-"}}})",
                            corrupt_code, "chunk_key_encoding.configuration.separator"},
                    Refusal{R"({"chunk_key_encoding": {"name": "default", "configuration": {"separator": ""}}})",
                            corrupt_code, "chunk_key_encoding.configuration.separator"},
                    Refusal{R"({"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "//"}}})",
                            corrupt_code, "chunk_key_encoding.configuration.separator"},
                    Refusal{R"({"chunk_key_encoding": {"name": "v2", "configuration": {"separator": 47}}})",
                            corrupt_code, "chunk_key_encoding.configuration.separator"},
                    Refusal{R"({"chunk_key_encoding": {"name": "v2", "configuration": {"sep": "/"}}})",
                            unsupported_code, "chunk_key_encoding.configuration.sep"}));

INSTANTIATE_TEST_SUITE_P(
    FillValues, RefusedArray,
    testing::Values(Refusal{R"({"fill_value": null})", corrupt_code, "fill_value"},
                    Refusal{R"({"fill_value": 1.0})", corrupt_code, "fill_value"},
                    Refusal{R"({"fill_value": 1e2})", corrupt_code, "fill_value"},
                    Refusal{R"({"fill_value": 65536})", corrupt_code, "fill_value"},
                    Refusal{R"({"fill_value": -1})", corrupt_code, "fill_value"},
                    Refusal{R"({"fill_value": "0"})", corrupt_code, "fill_value"},
                    Refusal{R"({"data_type": "float32", "fill_value": "+Infinity"})", corrupt_code, "fill_value"},
                    Refusal{R"({"data_type": "float32", "fill_value": "0x7fc0"})", corrupt_code, "fill_value"},
                    Refusal{R"({"data_type": "bool", "fill_value": 2})", corrupt_code, "fill_value"},
                    Refusal{R"({"data_type": "complex64", "fill_value": [0, "x"]})", corrupt_code, "fill_value[1]"},
                    Refusal{R"({"data_type": "r16", "fill_value": [0]})", corrupt_code, "fill_value"},
                    Refusal{R"({"data_type": "r16", "fill_value": [0, 256]})", corrupt_code, "fill_value[1]"}));

INSTANTIATE_TEST_SUITE_P(
    Codecs, RefusedArray,
    testing::Values(
        Refusal{R"({"codecs": []})", corrupt_code, "codecs"}, Refusal{R"({"codecs": {}})", corrupt_code, "codecs"},
        Refusal{R"({"codecs": ["bytes"]})", corrupt_code, "codecs[0].configuration.endian"},
        Refusal{
            R"({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "bytes", "configuration": {"endian": "little"}}]})",
            corrupt_code, "codecs[1]"},
        Refusal{R"({"codecs": [{"name": "gzip", "configuration": {"level": 1}}]})", corrupt_code, "codecs[0]"},
        Refusal{R"({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "unheard_of"}]})",
                unsupported_code, "codecs[1].name"},
        Refusal{
            R"({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "unheard_of", "must_understand": false}]})",
            unsupported_code, "codecs[1].name"},
        Refusal{
            R"({"codecs": [{"name": "transpose", "configuration": {"order": [0, 0]}}, {"name": "bytes", "configuration": {"endian": "little"}}]})",
            corrupt_code, "codecs[0].configuration.order"},
        Refusal{
            R"({"codecs": [{"name": "transpose", "configuration": {"order": [-1, 0]}}, {"name": "bytes", "configuration": {"endian": "little"}}]})",
            corrupt_code, "codecs[0].configuration.order"},
        Refusal{
            R"({"codecs": [{"name": "transpose", "configuration": {"order": [0, 18446744073709551615]}}, {"name": "bytes", "configuration": {"endian": "little"}}]})",
            corrupt_code, "codecs[0].configuration.order"}));

INSTANTIATE_TEST_SUITE_P(
    Sharding, RefusedArray,
    testing::Values(
        Refusal{
            R"({"codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 7], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]})",
            corrupt_code, "codecs[0].configuration.chunk_shape"},
        Refusal{
            R"({"codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [10, 7], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]})",
            corrupt_code, "codecs[0].configuration.chunk_shape"},
        Refusal{
            R"({"codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [5, 7], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 1}}]}}]})",
            corrupt_code, "codecs[0].configuration"}));

INSTANTIATE_TEST_SUITE_P(
    OtherMembers, RefusedArray,
    testing::Values(Refusal{R"({"dimension_names": ["y"]})", corrupt_code, "dimension_names"},
                    Refusal{R"({"dimension_names": ["z", "y", "x"]})", corrupt_code, "dimension_names"},
                    Refusal{R"({"dimension_names": ["y", 1]})", corrupt_code, "dimension_names[1]"},
                    Refusal{R"({"dimension_names": "yx"})", corrupt_code, "dimension_names"},
                    Refusal{R"({"storage_transformers": {}})", corrupt_code, "storage_transformers"},
                    Refusal{R"({"storage_transformers": [{"name": "indexed"}]})", unsupported_code,
                            "storage_transformers[0]"},
                    Refusal{R"({"storage_transformers": [{"name": "indexed", "must_understand": false}]})",
                            unsupported_code, "storage_transformers[0]"}));

class ReadArray : public testing::TestWithParam<std::string_view> {};

TEST_P(ReadArray, IsOpenedAndKeptVerbatim) {
  const std::string text = changed(GetParam());
  const auto node = open_text(text);
  ASSERT_TRUE(node) << node.error().text();
  const Array& array = std::get<Array>(*node);
  EXPECT_EQ(array.metadata().dump(), text);
}

INSTANTIATE_TEST_SUITE_P(
    Members, ReadArray,
    testing::Values(
        R"({})", R"({"attributes": {"a": [1, {"b": null}], "c": 1e400, "d": 0.10}})",
        R"({"extra": {"must_understand": false, "number": 1.50}})", R"({"storage_transformers": []})",
        R"({"storage_transformers": null})", R"({"dimension_names": null})", R"({"dimension_names": ["y", null]})",
        R"({"dimension_names": ["y", "y"]})", R"({"shape": [0, 20]})",
        R"({"shape": [], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}}})",
        R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [50, 70]}}})",
        R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [4, [[3, 4], 8]]}}})",
        R"({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[4, 4, 4, 4], 20]}}})",
        R"({"shape": [0, 20], "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[], 20]}}})",
        R"({"chunk_key_encoding": "default"})", R"({"chunk_key_encoding": "v2"})",
        R"({"chunk_key_encoding": {"name": "default", "configuration": {}}})",
        R"({"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}}})",
        R"({"chunk_key_encoding": {"name": "default", "must_understand": true}})",
        R"({"codecs": [{"name": "endian", "configuration": {"endian": "big"}}, "crc32c"]})",
        R"({"data_type": "uint8", "codecs": ["bytes"]})", R"({"data_type": {"name": "uint16"}})"));

TEST(Zarr3Documents, FillValuesArriveBitForBit) {
  struct Row {
    std::string_view dtype, fill;
    std::vector<unsigned> bytes;
  };
  const Row rows[] = {
      {"uint64", "18446744073709551615", {255, 255, 255, 255, 255, 255, 255, 255}},
      {"float32", "-0.0", {0, 0, 0, 0x80}},
      {"float32", "\"NaN\"", {0, 0, 0xc0, 0x7f}},
      {"float32", "\"0x7fc00001\"", {1, 0, 0xc0, 0x7f}},
      {"float16", "\"-Infinity\"", {0, 0xfc}},
      {"complex64", "[\"Infinity\", 1]", {0, 0, 0x80, 0x7f, 0, 0, 0x80, 0x3f}},
      {"r24", "[1, 2, 255]", {1, 2, 255}},
      {"bool", "true", {1}},
  };
  for (const Row& row : rows) {
    const auto node = open_text(
        changed("{\"data_type\": \"" + std::string(row.dtype) + "\", \"fill_value\": " + std::string(row.fill) + "}"));
    ASSERT_TRUE(node) << node.error().text();
    std::vector<unsigned> bytes;
    for (const std::byte byte : std::get<Array>(*node).fill_value()) bytes.push_back(std::to_integer<unsigned>(byte));
    EXPECT_EQ(bytes, row.bytes) << row.dtype << " " << row.fill;
  }
}

TEST(Zarr3Documents, ANullFillValueIsRefusedWithAdvice) {
  const auto node = open_text(changed(R"({"data_type": "float32", "fill_value": null})"));
  ASSERT_FALSE(node);
  EXPECT_NE(node.error().message().find("such as 0.0"), std::string::npos) << node.error().message();
}

TEST(Zarr3Documents, ShardsNestedTooDeepExceedALimit) {
  std::string codec = R"({"name": "bytes", "configuration": {"endian": "little"}})";
  for (int depth = 0; depth < 30; ++depth)
    codec = R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [5, 7], "codecs": [)" + codec +
            R"(], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}})";
  Json document = parsed(good_array);
  document.set("codecs", Json(Json::Array{parsed(codec)}));
  const auto node = open_text(document.dump());
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code(), ErrorCode::unsupported) << node.error().text();
  EXPECT_NE(node.error().text().find("shard_nesting"), std::string::npos) << node.error().text();
}

TEST(Zarr3Documents, ZeroDimensionsMayBeSharded) {
  const auto node =
      open_text(changed(R"({"shape": [], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}},
    "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]})"));
  ASSERT_TRUE(node) << node.error().text();
}

}  // namespace zarr3_array_test
}  // namespace sherd
