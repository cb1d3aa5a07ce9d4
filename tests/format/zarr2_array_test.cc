// The documents of Zarr v2, member by member: what is read, and what is rejected with which code and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/zarr2/zarr2_testing.hpp"

namespace sherd::v2 {
namespace zarr2_array_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class V2RefusedArray : public testing::TestWithParam<Refusal> {};

TEST_P(V2RefusedArray, NamesCodeDocumentAndMember) {
  expect_refused(array_with(GetParam().changes), GetParam(), "a/.zarray");
}

INSTANTIATE_TEST_SUITE_P(Members, V2RefusedArray,
                         testing::Values(Refusal{R"({"shape": "-"})", corrupt_code, "shape"},
                                         Refusal{R"({"chunks": "-"})", corrupt_code, "chunks"},
                                         Refusal{R"({"dtype": "-"})", corrupt_code, "dtype"},
                                         Refusal{R"({"compressor": "-"})", corrupt_code, "compressor"},
                                         Refusal{R"({"filters": "-"})", corrupt_code, "filters"},
                                         Refusal{R"({"order": "-"})", corrupt_code, "order"},
                                         Refusal{R"({"order": "A"})", corrupt_code, "order"},
                                         Refusal{R"({"fill_value": "-"})", corrupt_code, "fill_value"},
                                         Refusal{R"({"fill_value": "x"})", corrupt_code, "fill_value"},
                                         Refusal{R"({"fill_value": 0.5})", corrupt_code, "fill_value"},
                                         Refusal{R"({"dimension_separator": "-x"})", corrupt_code,
                                                 "dimension_separator"},
                                         Refusal{R"({"zarr_format": 3})", corrupt_code, "zarr_format"},
                                         Refusal{R"({"zarr_format": "-"})", corrupt_code, "zarr_format"}));

INSTANTIATE_TEST_SUITE_P(Lengths, V2RefusedArray,
                         testing::Values(Refusal{R"({"shape": 7})", corrupt_code, "shape"},
                                         Refusal{R"({"shape": [7, -1]})", corrupt_code, "shape[1]"},
                                         Refusal{R"({"shape": [7, 9223372036854775808]})", corrupt_code, "shape[1]"},
                                         Refusal{R"({"shape": [4294967296, 4294967296]})", unsupported_code, "shape"},
                                         Refusal{R"({"chunks": [2]})", corrupt_code, "chunks"},
                                         Refusal{R"({"chunks": [2, 0]})", corrupt_code, "chunks[1]"},
                                         Refusal{R"({"chunks": [4294967296, 4294967296]})", unsupported_code,
                                                 "chunks"}));

INSTANTIATE_TEST_SUITE_P(
    DataTypes, V2RefusedArray,
    testing::Values(
        Refusal{R"({"dtype": "<i3"})", unsupported_code, "dtype"},
        Refusal{R"({"dtype": "<f16"})", unsupported_code, "dtype"},
        Refusal{R"({"dtype": "float64"})", unsupported_code, "dtype"},
        Refusal{R"({"dtype": "i4"})", corrupt_code, "dtype"}, Refusal{R"({"dtype": 4})", corrupt_code, "dtype"},
        Refusal{R"({"dtype": "|S0"})", corrupt_code, "dtype"},
        Refusal{R"({"dtype": [["a", "<i2", [3, 0]]]})", corrupt_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", "<i2", "3"]]})", corrupt_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", "<i2", 65537]]})", unsupported_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", "|u1", [40000]], ["b", "|u1", [40000]]]})", unsupported_code, "dtype[1][2]"},
        Refusal{R"({"dtype": [["a", "|u1", [1024, 1024, 512]]]})", unsupported_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", ">u2", [1024, 1024, 256]]]})", unsupported_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", "|u1", [4294967296, 4294967296, 0]]]})", unsupported_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", "|u1", [4294967296, 4294967296]]]})", unsupported_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", [["b", "<i2", [256]]], [257]]]})", unsupported_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", [["b", [["c", "<i2", 64]], 64]], 17]]})", unsupported_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", [["b", "<i2"], ["c", "<i2"]], [32769]]]})", unsupported_code, "dtype[0][2]"},
        Refusal{R"({"dtype": [["a", "<i2", [3], 4]]})", corrupt_code, "dtype[0]"},
        Refusal{R"({"dtype": [["a", "|O"]]})", unsupported_code, "dtype[0][1]"},
        Refusal{R"({"dtype": [["a", "<c32"]]})", unsupported_code, "dtype[0][1]"},
        Refusal{R"({"dtype": "|O"})", corrupt_code, "filters"}));

INSTANTIATE_TEST_SUITE_P(
    Codecs, V2RefusedArray,
    testing::Values(
        Refusal{R"({"compressor": 1})", corrupt_code, "compressor"},
        Refusal{R"({"compressor": {"level": 1}})", corrupt_code, "compressor.id"},
        Refusal{R"({"filters": {}})", corrupt_code, "filters"},
        Refusal{R"({"filters": [1]})", corrupt_code, "filters[0]"},
        Refusal{R"({"filters": [{"id": "pickle", "protocol": 4}]})", unsupported_code, "filters[0].id"},
        Refusal{R"({"compressor": {"id": "imagecodecs_jpeg2k"}})", unsupported_code, "compressor.id"},
        Refusal{R"({"compressor": {"id": "nonesuch"}})", unsupported_code, "compressor.id"},
        Refusal{R"({"filters": [{"id": "delta", "dtype": ">i4"}]})", unsupported_code, "filters[0].dtype"},
        Refusal{R"({"dtype": ">i4", "compressor": {"id": "pcodec"}})", unsupported_code, "compressor"},
        Refusal{R"({"filters": [{"id": "zlib"}, {"id": "delta", "dtype": "<i4"}]})", corrupt_code, "filters[1]"},
        Refusal{R"({"order": "F", "filters": [{"id": "delta"}]})", corrupt_code, "filters[0].dtype"},
        Refusal{R"({"filters": [{"id": "crc32"}, {"id": "shuffle", "elementsize": -1}]})", corrupt_code,
                "filters[1].elementsize"},
        Refusal{R"({"order": "F", "filters": [{"id": "delta", "dtype": "<i4"}, {"id": "crc32"}],
                                "compressor": {"id": "zlib", "level": 99}})",
                corrupt_code, "compressor.level"},
        Refusal{R"({"dtype": "<f4", "compressor": {"id": "pcodec", "level": 99}})", corrupt_code, "compressor.level"},
        Refusal{R"({"dtype": "|O", "fill_value": "", "filters": [{"id": "categorize", "labels": 1}]})", corrupt_code,
                "filters[0].labels"}));

TEST(V2Array, OfPickledObjectsIsRefusedWithTheReason) {
  EXPECT_THAT(array_with(R"({"dtype": "|O", "filters": [{"id": "pickle"}]})").error().text(),
              HasSubstr("executes code from the stored data"));
}

TEST(V2Array, OfLongDoublesIsRefusedWithTheReason) {
  for (const char* dtype : {"<f16", "<f12", ">c32", "<c24"})
    EXPECT_THAT(array_with(R"({"dtype": ")" + std::string(dtype) + "\"}").error().text(),
                HasSubstr("long double, whose bytes differ between machines"));
}

TEST(V2Codec, HasTheLevelThatNumcodecsMeansByMinusOne) {
  const auto copied = memory_store();
  copy(hierarchy(changed(R"({"compressor": {"id": "gzip", "level": -1}})")), copied, {.format = "zarr3"}).value();
  EXPECT_EQ(open_a(copied).value().metadata().find("codecs")->elements()[1].find("configuration")->dump(),
            R"({"level":6})");
}

std::vector<std::string> texts(const Array& array) {
  std::vector<VarBytes> found(element_count(array.shape()).value());
  VarBytesArena arena;
  array
      .read(Box{Shape(array.ndim(), 0), array.shape()},
            AnyView::dense(reinterpret_cast<std::byte*>(found.data()), array.dtype(), array.shape()), &arena)
      .value();
  std::vector<std::string> values;
  for (const VarBytes& each : found) values.emplace_back(each.view());
  return values;
}

// numcodecs stores the nested lists of the array, and zarr-python 2 and 3 read them as if columns came first.
TEST(V2Objects, InOrderFAreTheRowsThatJson2AndMsgpack2Store) {
  for (const auto& [filter, chunk] :
       {std::pair<std::string, std::string>{"json2", R"([["a","b","c"],["d","e","f"],"|O",[2,3]])"},
        {"msgpack2",
         "\x94\x93\xa1"
         "a\xa1"
         "b\xa1"
         "c\x93\xa1"
         "d\xa1"
         "e\xa1"
         "f\xa2|O\x92\2\3"}}) {
    const auto store =
        hierarchy(changed(R"({"dtype": "|O", "fill_value": 0, "shape": [2, 3], "chunks": [2, 3], "order": "F",
      "filters": [{"id": ")" +
                          filter + R"("}]})"));
    store->set("a/0.0", chunk).value();
    const Array array = open_a(store, true).value();
    EXPECT_THAT(texts(array), ElementsAre("a", "b", "c", "d", "e", "f")) << filter;
    const std::vector<VarBytes> g{{"a", 1}};
    array
        .write(Box{{0, 0}, {1, 1}},
               ConstAnyView::dense(reinterpret_cast<const std::byte*>(g.data()), DType::string, {1, 1}))
        .value();
    EXPECT_EQ(text_at(*store, "a/0.0"), chunk) << filter;
    EXPECT_EQ(check(store).value().faults.at(0).code, "document_odd");
    const auto v3 = memory_store(), back = memory_store();
    EXPECT_EQ(copy(store, v3, {.format = "zarr3"}).value().chunks_encoded, 0U) << filter;
    EXPECT_THAT(texts(open_a(v3).value()), ElementsAre("a", "b", "c", "d", "e", "f")) << filter;
    EXPECT_EQ(copy(v3, back, {.format = "zarr2"}).value().chunks_encoded, 0U) << filter;
    EXPECT_EQ(text_at(*back, "a/0.0"), chunk) << filter;
    CreateOptions options{.shape = {2, 3}, .dtype = DType::string, .chunks = {2, 3}, .format = "zarr2"};
    options.codecs = std::vector<Json>{parsed(R"({"name": "transpose", "configuration": {"order": [1, 0]}})"),
                                       Json("numcodecs." + filter)};
    EXPECT_EQ(code_of(create_array(memory_store(), "a", options)), ErrorCode::unsupported);
  }
}

TEST(V2Objects, OfEveryCodecForTextsAndBytesAreReadAndWritten) {
  const auto word = [](std::string_view text) {
    return std::string{static_cast<char>(text.size()), '\0', '\0', '\0'} + std::string(text);
  };
  struct Case {
    std::string filter, chunk;
    DType dtype;
  };
  const std::string items = std::string("\2\0\0\0", 4) + word("a") + word("bcd!");
  for (const Case& each :
       {Case{R"({"id": "vlen-utf8"})", items, DType::string}, Case{R"({"id": "vlen-bytes"})", items, DType::bytes},
        Case{R"({"id": "vlen-array", "dtype": "|u1"})", items, DType::bytes},
        Case{R"({"id": "json2", "encoding": "utf-8"})", R"(["a","bcd!","|O",[2]])", DType::string},
        Case{R"({"id": "msgpack2"})",
             "\x94\xa1"
             "a\xa4"
             "bcd!\xa2|O\x91\2",
             DType::string}}) {
    const auto store = hierarchy(
        changed(R"({"dtype": "|O", "fill_value": 0, "shape": [4], "chunks": [2], "filters": [)" + each.filter + "]}"));
    store->set("a/0", each.chunk).value();
    const Array array = open_a(store, true).value();
    EXPECT_EQ(array.dtype(), each.dtype) << each.filter;
    EXPECT_THAT(texts(array), ElementsAre("a", "bcd!", "", "")) << each.filter;
    const std::vector<VarBytes> values{{"a", 1}, {"bcd!", 4}};
    array.write(Box{{2}, {2}}, ConstAnyView::dense(reinterpret_cast<const std::byte*>(values.data()), each.dtype, {2}))
        .value();
    EXPECT_EQ(text_at(*store, "a/1"), each.chunk) << each.filter;
    const auto copied = memory_store(), back = memory_store();
    EXPECT_EQ(copy(store, copied, {.format = "zarr3"}).value().chunks_encoded, 0U) << each.filter;
    copy(copied, back, {.format = "zarr2"}).value();
    EXPECT_EQ(text_at(*back, "a/1"), each.chunk) << each.filter;
    EXPECT_EQ(parsed(text_at(*back, "a/.zarray")).find("filters")->dump(), "[" + parsed(each.filter).dump() + "]");
  }
}

struct Reading {
  std::string changes;
  std::string dtype, fill_value;
};
void PrintTo(const Reading& reading, std::ostream* out) { *out << reading.changes; }
class V2ReadArray : public testing::TestWithParam<Reading> {};

TEST_P(V2ReadArray, HasATypeAndAFillValue) {
  const auto copied = memory_store();
  copy(hierarchy(changed(GetParam().changes)), copied, {.format = "zarr3"}).value();
  const Json v3 = open_a(copied).value().metadata();
  EXPECT_EQ(v3.find("data_type")->dump(), GetParam().dtype);
  EXPECT_EQ(v3.find("fill_value")->dump(), GetParam().fill_value);
}

INSTANTIATE_TEST_SUITE_P(
    Types, V2ReadArray,
    testing::Values(Reading{R"({"dtype": "|b1", "fill_value": true})", R"("bool")", "true"},
                    Reading{R"({"dtype": "|b1", "fill_value": 1})", R"("bool")", "true"},
                    Reading{R"({"dtype": "|b1", "fill_value": 0})", R"("bool")", "false"},
                    Reading{R"({"dtype": ">u2", "fill_value": 7})", R"("uint16")", "7"},
                    Reading{R"({"dtype": "<i8", "fill_value": 7.0})", R"("int64")", "7"},
                    Reading{R"({"dtype": "<i8", "fill_value": null})", R"("int64")", "0"},
                    Reading{R"({"dtype": "<f2", "fill_value": "NaN"})", R"("float16")", R"("NaN")"},
                    Reading{R"({"dtype": "<f4", "fill_value": "-Infinity"})", R"("float32")", R"("-Infinity")"},
                    Reading{R"({"dtype": ">f8", "fill_value": 1})", R"("float64")", "1.0"},
                    Reading{R"({"dtype": "<c16", "fill_value": ["NaN", 1.5]})", R"("complex128")", R"(["NaN",1.5])"},
                    Reading{R"({"dtype": "|S3", "fill_value": "YWI="})",
                            R"({"name":"null_terminated_bytes","configuration":{"length_bytes":3}})", R"("YWI=")"},
                    Reading{R"({"dtype": "|S3", "fill_value": ""})",
                            R"({"name":"null_terminated_bytes","configuration":{"length_bytes":3}})", R"("")"},
                    Reading{R"({"dtype": ">S3", "fill_value": "*"})",
                            R"({"name":"null_terminated_bytes","configuration":{"length_bytes":3}})", R"("Kg==")"},
                    Reading{R"({"dtype": "|S3", "fill_value": 0})",
                            R"({"name":"null_terminated_bytes","configuration":{"length_bytes":3}})", R"("MA==")"},
                    Reading{R"({"dtype": "|V2", "fill_value": "AQI="})", R"("r16")", "[1,2]"},
                    Reading{R"({"dtype": ">U2", "fill_value": "é"})",
                            R"({"name":"fixed_length_utf32","configuration":{"length_bytes":8}})", R"("é")"},
                    Reading{R"({"dtype": ">U2", "fill_value": 0})",
                            R"({"name":"fixed_length_utf32","configuration":{"length_bytes":8}})", R"("0")"},
                    Reading{R"({"dtype": "<M8[25us]", "fill_value": 5})",
                            R"({"name":"numpy.datetime64","configuration":{"unit":"us","scale_factor":25}})", "5"},
                    Reading{R"({"dtype": ">m8[D]", "fill_value": -9223372036854775808})",
                            R"({"name":"numpy.timedelta64","configuration":{"unit":"D","scale_factor":1}})",
                            R"("NaT")"}));

INSTANTIATE_TEST_SUITE_P(
    Objects, V2ReadArray,
    testing::Values(
        Reading{R"({"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "fill_value": 0})", R"("string")", R"("")"},
        Reading{R"({"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "fill_value": "x"})", R"("string")", R"("x")"},
        Reading{R"({"dtype": "|O", "filters": [{"id": "vlen-bytes"}], "fill_value": null})", R"("bytes")", R"("")"}));

INSTANTIATE_TEST_SUITE_P(
    Structures, V2ReadArray,
    testing::Values(Reading{R"({"dtype": [["a", ">i2"], ["b", [["c", "|u1"]]]], "fill_value": "AAEC"})",
                            R"({"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int16"},)"
                            R"({"name":"b","data_type":{"name":"struct","configuration":{"fields":[{"name":"c",)"
                            R"("data_type":"uint8"}]}}}]}})",
                            R"({"a":1,"b":{"c":2}})"},
                    Reading{R"({"dtype": [["a", "|u1"], ["", "|V1"], ["b", "<i2"]], "fill_value": 0})",
                            R"({"name":"struct","configuration":{"fields":[{"name":"a","data_type":"uint8"},)"
                            R"({"name":"f1","data_type":"r8"},{"name":"b","data_type":"int16"}]}})",
                            R"({"a":0,"f1":[0],"b":0})"},
                    Reading{R"({"dtype": [["a", "<i2", [2]], ["b", "|u1", [1, 2]]], "fill_value": "AQACAAME"})",
                            R"({"name":"struct","configuration":{"fields":[{"name":"a","data_type":{"name":"struct",)"
                            R"("configuration":{"fields":[{"name":"0","data_type":"int16"},{"name":"1","data_type":)"
                            R"("int16"}]}}},{"name":"b","data_type":{"name":"struct","configuration":{"fields":[)"
                            R"({"name":"0","data_type":{"name":"struct","configuration":{"fields":[{"name":"0",)"
                            R"("data_type":"uint8"},{"name":"1","data_type":"uint8"}]}}}]}}}]}})",
                            R"({"a":{"0":1,"1":2},"b":{"0":{"0":3,"1":4}}})"}));

TEST(V2Array, WhoseFieldsAreArraysIsReadInEitherByteOrderAndCopied) {
  const auto store = hierarchy(
      changed(R"({"dtype": [["a", ">u2", [2]], ["b", ">u4", 1]], "fill_value": null, "shape": [1], "chunks": [1]})"));
  store->set("a/0", std::string_view("\0\1\0\2\0\0\0\3", 8)).value();
  std::vector<std::uint16_t> found(4);
  const Array array = open_a(store).value();
  array.read(Box{{0}, {1}}, AnyView::dense(reinterpret_cast<std::byte*>(found.data()), array.dtype(), {1})).value();
  EXPECT_EQ(found[0], 1);
  EXPECT_EQ(found[1], 2);
  std::uint32_t last = 0;
  std::memcpy(&last, &found[2], sizeof last);
  EXPECT_EQ(last, 3U);
  const auto copied = memory_store(), back = memory_store();
  copy(store, copied, {.format = "zarr3"}).value();
  copy(copied, back, {.format = "zarr2"}).value();
  EXPECT_EQ(tree_of(*back).at("a/0"), tree_of(*store).at("a/0"));
  EXPECT_EQ(parsed(text_at(*back, "a/.zarray")).find("dtype")->dump(), R"([["a",">u2",[2]],["b",">u4",[1]]])");
}

TEST(V2Array, MayHaveFieldsOfAsManyElementsAsAreAllowed) {
  for (const char* dtype : {R"([["a", ">u2", [256, 256]]])", R"([["a", [["b", "|u1", [16, 16]]], [16, 16]]])",
                            R"([["a", "|u1", [65535]], ["b", "|u1", 1], ["c", "<f8"]])"}) {
    const auto array =
        array_with(R"({"fill_value": null, "shape": [1], "chunks": [1], "dtype": )" + std::string(dtype) + "}");
    ASSERT_TRUE(array) << array.error().text();
    std::vector<std::byte> element(array->dtype().size(), std::byte{1});
    array->read(Box{{0}, {1}}, AnyView::dense(element.data(), array->dtype(), {1})).value();
    EXPECT_EQ(element, std::vector<std::byte>(element.size()));
  }
}

TEST(V2Documents, WithUnknownMembersKeepThemVerbatim) {
  const auto store =
      hierarchy(changed(R"({"_nczarr_array": {"dimrefs": ["/x", 1.50]}, "fill_value": 1e0, "dtype": "<f8"})"));
  store->set("a/.zattrs", R"({"b": 1.0, "a": "\u00e9"})").value();
  Array array = open_a(store, true).value();
  const std::string attributes = text_at(*store, "a/.zattrs");
  array.resize({9, 5}).value();
  EXPECT_EQ(text_at(*store, "a/.zattrs"), attributes) << "only the document that changes is replaced";
  EXPECT_EQ(array.metadata().find(".zarray")->find("_nczarr_array")->dump(), R"({"dimrefs":["/x",1.50]})");
  EXPECT_THAT(text_at(*store, "a/.zarray"), HasSubstr("\"fill_value\": 1e0"));
  const std::string document = text_at(*store, "a/.zarray");
  array.update_attributes(parsed(R"({"c": 2})")).value();
  EXPECT_EQ(text_at(*store, "a/.zarray"), document);
  EXPECT_EQ(parsed(text_at(*store, "a/.zattrs")).dump(), R"({"b":1.0,"a":"\u00e9","c":2})");
}

TEST(V2Documents, KeepTheOrderOfAttributesWhenOneIsChanged) {
  const auto store = hierarchy();
  store->set("a/.zattrs", R"({"first": 1, "_ARRAY_DIMENSIONS": ["y", "x"], "last": 2})").value();
  Array array = open_a(store, true).value();
  array.update_attributes(parsed(R"({"last": 3, "more": 4})")).value();
  EXPECT_EQ(parsed(text_at(*store, "a/.zattrs")).dump(),
            R"({"first":1,"_ARRAY_DIMENSIONS":["y","x"],"last":3,"more":4})");
  array.set_attributes(parsed(R"({"last": 3})")).value();
  EXPECT_EQ(parsed(text_at(*store, "a/.zattrs")).dump(), R"({"_ARRAY_DIMENSIONS":["y","x"],"last":3})");
}

TEST(V2Documents, ThatAreNotObjectsAreCorruptAndNamed) {
  for (const std::string name : {".zarray", ".zattrs"}) {
    const auto store = hierarchy();
    store->set("a/" + name, "[1]").value();
    const auto array = open_a(store);
    EXPECT_EQ(code_of(array), corrupt_code);
    EXPECT_EQ(array.error().key(), "a/" + name);
  }
  for (const std::string name : {".zgroup", ".zattrs"}) {
    const auto store = hierarchy();
    store->set(name, "{").value();
    const auto group = open_group(store);
    EXPECT_EQ(code_of(group), corrupt_code);
    EXPECT_EQ(group.error().key(), name);
  }
}

TEST(V2Documents, MayHaveAttributesThatPythonWroteAsNaN) {
  const auto store = hierarchy();
  const std::string text = R"({"_FillValue": NaN, "a\\\"NaN": [-Infinity, Infinity, "NaN"], "b": 1.0})";
  store->set("a/.zattrs", text).value();
  Array array = open_a(store, true).value();
  EXPECT_EQ(array.attributes().dump(), R"({"_FillValue":"NaN","a\\\"NaN":["-Infinity","Infinity","NaN"],"b":1.0})");
  array.resize({9, 5}).value();
  EXPECT_EQ(text_at(*store, "a/.zattrs"), text);
  array.update_attributes(Json::Object{{"new", "NaN"}}).value();
  EXPECT_THAT(text_at(*store, "a/.zattrs"), testing::HasSubstr(R"("_FillValue": NaN)"));
  store->set("a/.zattrs", R"({"x": NaNs})").value();
  EXPECT_EQ(code_of(open_a(store)), corrupt_code);
  store
      ->set("a/.zarray",
            changed(R"({"fill_value": "@"})").replace(changed(R"({"fill_value": "@"})").find("\"@\""), 3, "NaN"))
      .value();
  EXPECT_EQ(code_of(open_a(store)), corrupt_code) << "in .zarray it is the text \"NaN\"";
}

TEST(V2Filters, OfForeignByteOrderWorkOnNumbers) {
  const auto store = hierarchy(changed(
      R"({"dtype": ">i4", "shape": [4], "chunks": [4], "filters": [{"id": "delta", "dtype": ">i4", "astype": ">i2"}]})"));
  store->set("a/0", std::string_view("\0\5\0\1\0\1\377\377", 8)).value();
  EXPECT_THAT(elements(open_a(store).value()), ElementsAre(5, 6, 7, 6));
  Array array = open_a(store, true).value();
  write(array, {5, 6, 7, 6});
  EXPECT_EQ(text_at(*store, "a/0"), std::string("\0\5\0\1\0\1\377\377", 8));
  const auto copied = memory_store(), back = memory_store();
  copy(store, copied, {.format = "zarr3"}).value();
  copy(copied, back, {.format = "zarr2"}).value();
  EXPECT_EQ(open_a(back).value().metadata().find(".zarray")->find("filters")->dump(),
            R"([{"id":"delta","dtype":">i4","astype":">i2"}])");
  EXPECT_EQ(elements(open_a(back).value()), elements(array));
}

TEST(V2Filters, MayWidenElementsThatHaveNoByteOrder) {
  struct Case {
    std::string dtype, filter, chunk;
  };
  for (const Case& each :
       {Case{"|u1", R"({"id": "delta", "dtype": "|u1", "astype": "<i2"})", std::string("\1\0\0\0\1\0\376\0", 8)},
        Case{"|u1", R"({"id": "delta", "dtype": "|u1", "astype": ">u2"})", std::string("\0\1\0\0\0\1\0\376", 8)},
        Case{"|b1", R"({"id": "astype", "encode_dtype": ">i2", "decode_dtype": "|b1"})",
             std::string("\0\1\0\1\0\1\0\0", 8)},
        Case{"|i1", R"({"id": "fixedscaleoffset", "offset": 0, "scale": 1, "dtype": "|i1", "astype": "<i2"})",
             std::string("\1\0\1\0\2\0\0\0", 8)}}) {
    const auto store = hierarchy(changed(R"({"shape": [4], "chunks": [4], "fill_value": 0, "dtype": ")" + each.dtype +
                                         R"(", "filters": [)" + each.filter + "]}"));
    Array array = open_a(store, true).value();
    const bool is_bool = each.dtype == "|b1";
    const std::vector<std::uint8_t> values =
        is_bool ? std::vector<std::uint8_t>{1, 1, 1, 0} : std::vector<std::uint8_t>{1, 1, 2, 0};
    array
        .write(Box{{0}, {4}},
               ConstAnyView::dense(reinterpret_cast<const std::byte*>(values.data()), array.dtype(), {4}))
        .value();
    EXPECT_EQ(text_at(*store, "a/0"), each.chunk) << each.filter;
    std::vector<std::uint8_t> found(4);
    array.read(Box{{0}, {4}}, AnyView::dense(reinterpret_cast<std::byte*>(found.data()), array.dtype(), {4})).value();
    EXPECT_EQ(found, values) << each.filter;
    const auto copied = memory_store(), back = memory_store();
    copy(store, copied, {.format = "zarr3"}).value();
    copy(copied, back, {.format = "zarr2"}).value();
    EXPECT_EQ(parsed(text_at(*back, "a/.zarray")).find("filters")->dump(), "[" + parsed(each.filter).dump() + "]");
    EXPECT_EQ(text_at(*back, "a/0"), each.chunk) << each.filter;
  }
}

TEST(V2Filters, AsNetcdfWritesThemAreReadWithARemark) {
  const auto store =
      hierarchy(changed(R"({"shape": [2], "chunks": [2], "filters": [{"id": "shuffle", "elementsize": "0"}],
      "compressor": {"id": "zlib", "level": "5"}})"));
  write(open_a(store, true).value(), {1, 2});
  EXPECT_THAT(elements(open_a(store).value()), ElementsAre(1, 2));
  const CheckReport report = check(store).value();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.faults.size(), 3U);
  for (const Fault& fault : report.faults) EXPECT_EQ(fault.code, "document_odd");
}

TEST(V2Filters, AsGdalWritesThemAreReadWithARemark) {
  const auto store =
      hierarchy(changed(R"({"shape": [2], "chunks": [2], "compressor": {"id": "lzma", "preset": 6, "delta": 1}})"));
  write(open_a(store, true).value(), {1, 2});
  EXPECT_THAT(elements(open_a(store).value()), ElementsAre(1, 2));
  const CheckReport report = check(store).value();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_THAT(report.faults[0].message, HasSubstr("GDAL"));
}

TEST(V2Keys, HaveEitherSeparatorAndZeroForAScalar) {
  const auto keys_with = [](std::string_view changes) {
    const auto store = hierarchy(changed(changes));
    Array array = open_a(store, true).value();
    array.fill(Box{Shape(array.ndim(), 0), array.shape()}, std::as_bytes(std::span("abc"))).value();
    return keys_of(*store).back();
  };
  EXPECT_EQ(keys_with(R"({"dimension_separator": "/"})"), "a/3/2");
  EXPECT_EQ(keys_with(R"({"dimension_separator": "."})"), "a/3.2");
  EXPECT_EQ(keys_with(R"({"dimension_separator": null})"), "a/3.2");
  EXPECT_EQ(keys_with(R"({"shape": [], "chunks": []})"), "a/0");
  EXPECT_EQ(keys_with(R"({"chunks": [10, 10]})"), "a/0.0");
}

TEST(V2Keys, OfDirectoriesAreFoundThoughTheDocumentDoesNotSaySo) {
  const auto store = hierarchy(changed(R"({"dimension_separator": "-", "chunks": [4, 4]})"));
  const auto nested = hierarchy(changed(R"({"dimension_separator": "/", "chunks": [4, 4]})"));
  write(open_a(nested, true).value(), counted(35));
  nested->erase("a/0/0").value();
  for (const std::string& key : keys_of(*nested))
    if (key.starts_with("a/0") || key.starts_with("a/1")) store->set(key, text_at(*nested, key)).value();
  Array array = open_a(store, true).value();
  EXPECT_EQ(elements(array), elements(open_a(nested).value()));
  array.update_attributes(parsed(R"({"x": 1})")).value();
  array.resize({9, 5}).value();
  EXPECT_EQ(array.resize({7, 5}).has_value(), true) << "an edit keeps where the chunks are";
  EXPECT_EQ(elements(array), elements(open_a(nested).value()));
  const CheckReport report = check(store).value();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_THAT(report.faults[0].message, HasSubstr("'dimension_separator' is missing"));
  const auto copied = memory_store();
  copy(store, copied).value();
  EXPECT_EQ(elements(open_a(copied).value()), elements(array));
}

TEST(V2Array, WithoutElementsMayHaveChunksOfNoLength) {
  const auto store = hierarchy(changed(R"({"shape": [0, 5], "chunks": [0, 5]})"));
  Array array = open_a(store, true).value();
  EXPECT_EQ(elements(array), counted(0));
  array.resize({2, 5}).value();
  write(array, counted(10));
  EXPECT_EQ(elements(open_a(store).value()), counted(10));
}

TEST(V2Array, InOrderFHasItsElementsTransposed) {
  const auto store = hierarchy(changed(R"({"order": "F", "shape": [2, 2], "dtype": "|u1", "fill_value": 0})"));
  store->set("a/0.0", "\1\2\3\4").value();
  std::vector<std::uint8_t> values(4);
  open_a(store).value().read(Box{{0, 0}, {2, 2}}, std::span(values)).value();
  EXPECT_THAT(values, ElementsAre(1, 3, 2, 4));
}

TEST(V2Array, NamesItsDimensionsWhereXarrayLooksForThem) {
  const auto store = hierarchy();
  store->set("a/.zattrs", R"({"_ARRAY_DIMENSIONS": ["y", "x"], "unit": "m"})").value();
  Array array = open_a(store, true).value();
  EXPECT_EQ(array.attributes().dump(), R"({"unit":"m"})");
  EXPECT_EQ(array.dimension_names()[1], "x");
  array.set_attributes(parsed(R"({"a": 1})")).value();
  EXPECT_EQ(parsed(text_at(*store, "a/.zattrs")).dump(), R"({"_ARRAY_DIMENSIONS":["y","x"],"a":1})");
}

}  // namespace zarr2_array_test
}  // namespace sherd::v2
