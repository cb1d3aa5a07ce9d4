// NumPy's names of types, read and written; structs whose fields differ in their byte order, which NumPy has and Zarr
// v3 has not; and the number 0 as a text.
#include "format/numpy_type.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/zarr2/zarr2_testing.hpp"

namespace sherd::v2 {
namespace numpy_type_test {

using testing::HasSubstr;

constexpr const char* kMixed =
    R"([["a","<i2"],["b",">i4"],["c","|u1"],["d",[["e",">u2"],["f","<u2"]],[2]],["g",[["h",">u2",[2]]]]])";
const std::string kElement("\1\0\0\0\0\2\3\0\4\5\0\0\6\7\0\0\10\0\11", 19);

#pragma pack(push, 1)
struct Element {
  std::int16_t a;
  std::int32_t b;
  std::uint8_t c;
  std::uint16_t d[4];
  std::uint16_t g[2];
  bool operator==(const Element&) const = default;
};
#pragma pack(pop)
constexpr Element kNative{1, 2, 3, {4, 5, 6, 7}, {8, 9}};

std::string document() {
  return changed(R"({"shape": [2], "chunks": [2], "fill_value": "AQAAAAACAwAEBQAABgcAAAgACQ==", "dtype": )" +
                 std::string(kMixed) + "}");
}

Element element(const Array& array, std::uint64_t index) {
  Element found{};
  array.read(Box{{index}, {1}}, AnyView::dense(reinterpret_cast<std::byte*>(&found), array.dtype(), {1})).value();
  return found;
}

TEST(V2MixedOrders, AreReadAndWrittenBackUnchanged) {
  const auto store = hierarchy(document());
  const std::string zeros(19, '\0');
  store->set("a/0", kElement + zeros).value();
  Array array = open_a(store, true).value();
  EXPECT_EQ(element(array, 0), kNative);
  EXPECT_EQ(element(array, 1), Element{});
  const Element turned[] = {{}, kNative};
  array.write(Box{{0}, {2}}, ConstAnyView::dense(reinterpret_cast<const std::byte*>(turned), array.dtype(), {2}))
      .value();
  EXPECT_EQ(text_at(*store, "a/0"), zeros + kElement);
}

TEST(V2MixedOrders, CountInFillValues) {
  const Array array = open_a(hierarchy(document())).value();
  EXPECT_EQ(element(array, 1), kNative);
}

TEST(V2MixedOrders, AreKeptByCopiesWithinTheFormatAndByEdits) {
  const auto store = hierarchy(document()), copied = memory_store();
  store->set("a/0", kElement + kElement).value();
  copy(store, copied).value();
  EXPECT_EQ(text_at(*copied, "a/0"), text_at(*store, "a/0"));
  EXPECT_EQ(parsed(text_at(*copied, "a/.zarray")), parsed(text_at(*store, "a/.zarray")));
  Array array = open_a(copied, true).value();
  array.resize({3}).value();
  EXPECT_EQ(parsed(text_at(*copied, "a/.zarray")).find("dtype")->dump(), kMixed);
  EXPECT_EQ(element(open_a(copied).value(), 1), kNative);
}

TEST(V2MixedOrders, BecomeLittleEndianInZarr3) {
  const auto store = hierarchy(document()), copied = memory_store(), sharded = memory_store(), back = memory_store();
  store->set("a/0", kElement + kElement).value();
  copy(store, copied, {.format = "zarr3"}).value();
  copy(store, sharded, {.shards = Shape{2}, .format = "zarr3"}).value();
  EXPECT_EQ(parsed(text_at(*copied, "a/zarr.json")).find("codecs")->dump(),
            R"([{"name":"bytes","configuration":{"endian":"little"}}])");
  EXPECT_THAT(text_at(*sharded, "a/zarr.json"), testing::Not(HasSubstr("big")));
  copy(copied, back, {.format = "zarr2"}).value();
  for (const auto& each : {copied, sharded, back}) {
    EXPECT_EQ(element(open_a(each).value(), 0), kNative);
    EXPECT_EQ(element(open_a(each).value(), 1), kNative);
  }
}

TEST(V2MixedOrders, AreLittleEndianInACopyBack) {
  for (const char* changes : {R"({"filters": []})", R"({"fill_value": null, "order": "F"})"}) {
    const auto store = hierarchy(sherd::changed(document(), changes)), v3 = memory_store(), back = memory_store();
    store->set("a/0", kElement + std::string(19, '\2')).value();
    copy(store, v3, {.format = "zarr3"}).value();
    copy(v3, back, {.format = "zarr2"}).value();
    EXPECT_THAT(parsed(text_at(*back, "a/.zarray")).find("dtype")->dump(), testing::Not(HasSubstr(">")));
    EXPECT_EQ(element(open_a(back).value(), 0), kNative);
  }
}

TEST(V2MixedOrders, CannotBeStoredInZarr3) {
  const auto store = hierarchy(document()), copied = memory_store();
  copy(store, copied, {.format = "zarr3"}).value();
  std::string text = text_at(*copied, "a/zarr.json");
  const std::size_t at = text.find("\"little\"");
  text.replace(at, 8, R"(["little", "big", "little", "big", "big"])");
  copied->set("a/zarr.json", text).value();
  const auto opened = open_a(copied);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(opened.error().text(), HasSubstr("codecs[0].configuration.endian"));
}

TEST(V2FillValue, OfTextsOfFixedLengthThatIsZeroIsReportedByCheck) {
  for (const char* dtype : {"|S3", "<U3"}) {
    const auto report =
        check(hierarchy(changed(R"({"fill_value": 0, "dtype": ")" + std::string(dtype) + "\"}"))).value();
    ASSERT_EQ(report.faults.size(), 1U) << dtype;
    EXPECT_EQ(report.faults[0].code, "document_odd");
    EXPECT_THAT(report.faults[0].message, HasSubstr("the text \"0\""));
  }
}

// tensorstore, driver/zarr/dtype.cc.
TEST(V2Types, OfTensorstoreHaveItsNames) {
  for (const std::string name : {"bfloat16", "int2", "int4", "float8_e4m3fn", "float8_e5m2fnuz"}) {
    const auto store = hierarchy(changed(R"({"fill_value": 1, "dtype": ")" + name + "\"}"));
    Array array = open_a(store, true).value();
    EXPECT_EQ(array.dtype().name(), name);
    array.resize({9, 5}).value();
    const auto copied = memory_store(), back = memory_store();
    copy(store, copied, {.format = "zarr3"}).value();
    copy(copied, back, {.format = "zarr2"}).value();
    EXPECT_EQ(parsed(text_at(*back, "a/.zarray")).find("dtype")->text(), name);
    EXPECT_TRUE(std::ranges::equal(open_a(back).value().fill_value(), array.fill_value())) << name;
  }
  const auto base64 = hierarchy(changed(R"({"fill_value": "AQ==", "dtype": "float4_e2m1fn"})"));
  Array float4 = open_a(base64, true).value();
  EXPECT_EQ(float4.fill_value()[0], std::byte{1});
  float4.resize({9, 5}).value();
  EXPECT_EQ(parsed(text_at(*base64, "a/.zarray")).find("fill_value")->dump(), "\"AQ==\"");
  const std::string fields = R"([["a","bfloat16"],["b","int4"],["c","bfloat16",[2]]])";
  const auto store = hierarchy(changed(R"({"fill_value": null, "dtype": )" + fields + "}"));
  Array array = open_a(store, true).value();
  EXPECT_EQ(array.dtype().size(), 7U);
  array.resize({9, 5}).value();
  EXPECT_EQ(parsed(text_at(*store, "a/.zarray")).find("dtype")->dump(), fields);
  EXPECT_EQ(array_with(R"({"dtype": "float6_e2m3fn"})").error().code(), unsupported_code);
  CreateOptions big = new_array();
  big.dtype = DType::bfloat16;
  big.codecs.reset();
  big.raw_codecs = parsed(R"([{"name": "bytes", "configuration": {"endian": "big"}}])");
  EXPECT_THAT(create_array(memory_store(), "a", big).error().text(), HasSubstr("'bfloat16' is always little-endian"));
}

Result<NumpyType> no_other(std::string_view name) { return unknown_numpy_type(name); }
Result<NumpyType> type_of(std::string_view json) { return parse_numpy_type(parsed(json), no_other); }

TEST(NumpyType, IsPrintedAsItIsRead) {
  for (const char* json :
       {R"("|b1")", R"("|i1")", R"("|u1")", R"("<i2")", R"(">u8")", R"("<f2")", R"(">c16")", R"("|S5")", R"("<U7")",
        R"("|V3")", R"("<M8")", R"("<M8[ns]")", R"(">m8[25us]")", R"([["a","|u1"]])", R"([["a",">i4",[2,3]]])",
        R"([["a",[["b","<f4"],["c","|S2"]]],["d","<u2"]])", R"([["a",[["b",">f4"],["c","<i2"]],[2]]])"}) {
    const auto type = type_of(json);
    ASSERT_TRUE(type) << json << type.error().text();
    EXPECT_EQ(print_numpy_type(*type).value().dump(), json);
  }
}

TEST(NumpyType, OfOneByteHasNoByteOrder) {
  for (const char* json : {R"("<i1")", R"(">S4")", R"(">b1")", R"("<V2")"}) {
    EXPECT_FALSE(has_byte_order(type_of(json).value().dtype)) << json;
    EXPECT_EQ(print_numpy_type(type_of(json).value()).value().text().front(), '|') << json;
    EXPECT_TRUE(bytes_spec(type_of(json).value()).configuration.is_null()) << json;
  }
  EXPECT_EQ(bytes_spec(type_of(R"(">i2")").value()).configuration.dump(), R"({"endian":"big"})");
  EXPECT_EQ(type_of(R"("|i2")").error().code(), ErrorCode::invalid_argument);
}

TEST(NumpyType, IsRefusedWithTheReasonAndThePlace) {
  struct Row {
    const char* json;
    ErrorCode code;
    const char *member, *reason;
  };
  const Row rows[] = {{R"("<i3")", ErrorCode::unsupported, "", "'<i3' is not a known data type"},
                      {R"("")", ErrorCode::unsupported, "", "not a known data type"},
                      {R"("<")", ErrorCode::unsupported, "", "not a known data type"},
                      {R"("<M8[25us")", ErrorCode::unsupported, "", "not a known data type"},
                      {R"("<M8[99999999999us]")", ErrorCode::unsupported, "", "not a known data type"},
                      {R"("<M4[us]")", ErrorCode::unsupported, "", "not a known data type"},
                      {R"("|S")", ErrorCode::unsupported, "", "not a known data type"},
                      {R"("|S0")", ErrorCode::invalid_argument, "", "'S0' does not have a valid size"},
                      {R"("|S-1")", ErrorCode::invalid_argument, "", "does not have a valid size"},
                      {R"("|V72057594037927937")", ErrorCode::invalid_argument, "", "does not have a valid size"},
                      {R"([["a"]])", ErrorCode::invalid_argument, "[0]", "a field is a list"},
                      {R"([["a","<i2"],[1,"<i2"]])", ErrorCode::invalid_argument, "[1]", "a field is a list"},
                      {R"([["a",[["b","x7"]]]])", ErrorCode::unsupported, "[0][1][0][1]", "'x7'"},
                      {R"([["a","<i2",[0]]])", ErrorCode::invalid_argument, "[0][2]", "must have elements"}};
  for (const Row& row : rows) {
    const auto type = type_of(row.json);
    ASSERT_FALSE(type) << row.json;
    EXPECT_EQ(type.error().code(), row.code) << row.json;
    EXPECT_EQ(type.error().member(), row.member) << row.json;
    EXPECT_THAT(type.error().text(), HasSubstr(row.reason)) << row.json;
  }
}

TEST(NumpyType, NestsSixteenStructsDeep) {
  const auto nested = [](int depth) {
    std::string json = R"("<i2")";
    for (int i = 0; i < depth; ++i) json = R"([["a",)" + json + "]]";
    return json;
  };
  EXPECT_TRUE(type_of(nested(16)));
  EXPECT_EQ(type_of(nested(17)).error().code(), ErrorCode::unsupported);
}

TEST(ArrayField, IsAStructOfNumberedElementsAndBack) {
  const DType element = DType::structure({{"a", DType::int16}, {"b", DType::uint8}}).value();
  const DType array = array_field(element, {3, 2}).value();
  EXPECT_EQ(array.size(), 3U * 2 * 3);
  EXPECT_EQ(array.fields().size(), 3U);
  const ArrayField back = as_array_field(array);
  EXPECT_EQ(back.shape, (Shape{3, 2}));
  EXPECT_EQ(back.element, element);
  EXPECT_EQ(array_field(element, {}).value(), element);
  const DType mixed = DType::structure({{"0", DType::int16}, {"1", DType::uint8}}).value();
  EXPECT_TRUE(as_array_field(mixed).shape.empty()) << "elements of an array have one type";
  const DType renamed = DType::structure({{"0", DType::int16}, {"2", DType::int16}}).value();
  EXPECT_TRUE(as_array_field(renamed).shape.empty());
}

TEST(ArrayField, HasAtMost65536ElementsCountingFields) {
  const DType pair = DType::structure({{"a", DType::int16}, {"b", DType::uint8}}).value();
  EXPECT_TRUE(array_field(DType::int16, {256, 256}));
  EXPECT_EQ(code_of(array_field(DType::int16, {256, 257})), ErrorCode::unsupported);
  EXPECT_TRUE(array_field(pair, {32768}));
  EXPECT_EQ(code_of(array_field(pair, {32769})), ErrorCode::unsupported);
  EXPECT_EQ(code_of(array_field(pair, {std::uint64_t{1} << 63, 4})), ErrorCode::unsupported);
}

TEST(NumpyFill, OfAnyTypeAndBytesIsReadAsItIsPrinted) {
  std::mt19937 random(7);
  for (const char* json : {R"("|u1")", R"(">i4")", R"("<u8")", R"("<f4")", R"(">f8")", R"("<c8")", R"("|S5")",
                           R"("|V3")", R"(">M8[s]")", R"("<m8")", R"([["a","<i2"],["b",">u4"],["c","|S2",[2]]])"}) {
    const NumpyType type = type_of(json).value();
    for (int i = 0; i < 50; ++i) {
      std::vector<std::byte> element(type.dtype.size());
      for (std::byte& byte : element) byte = static_cast<std::byte>(random());
      const Scalar fill(element);
      const Json printed = print_numpy_fill(fill, type);
      const auto read = parse_numpy_fill(printed, type);
      ASSERT_TRUE(read) << json << " " << printed.dump();
      EXPECT_TRUE(std::ranges::equal(read->bytes(), element)) << json << " " << printed.dump();
    }
  }
}

TEST(NumpyFill, OfBytesMayBeShorterThanTheElementButNotLonger) {
  const NumpyType text = type_of(R"("|S3")").value(), structure = type_of(R"([["a","|u1"],["b","|u1"]])").value();
  EXPECT_EQ(print_numpy_fill(parse_numpy_fill("QQ==", text).value(), text).text(), "QQAA");
  for (const char* wrong : {"QUJDRA==", "!", "QQ"})
    EXPECT_EQ(code_of(parse_numpy_fill(wrong, text)), ErrorCode::invalid_argument) << wrong;
  EXPECT_TRUE(parse_numpy_fill("AQI=", structure));
  EXPECT_EQ(code_of(parse_numpy_fill("AQ==", structure)), ErrorCode::invalid_argument) << "a struct is never shorter";
  EXPECT_EQ(print_numpy_fill(parse_numpy_fill(Json(0), structure).value(), structure).text(), "AAA=");
}

}  // namespace numpy_type_test
}  // namespace sherd::v2
