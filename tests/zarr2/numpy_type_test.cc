// Structs whose fields differ in their byte order, which NumPy has and Zarr v3 has not; and the number 0 as a text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/zarr2/zarr2_testing.hpp"

namespace sherd::v2 {
namespace {

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

}  // namespace
}  // namespace sherd::v2
