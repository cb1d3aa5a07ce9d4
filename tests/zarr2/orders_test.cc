// The orders of elements and of their bytes, and the checksum of zstd, that new arrays get, and what `check` says of
// documents that others refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/tools.hpp"
#include "tests/zarr2/zarr2_testing.hpp"

namespace sherd::v2 {
namespace orders_test {

using testing::HasSubstr;

TEST(V2Orders, OfNewArraysAreThoseThatAreAskedFor) {
  const auto document = [](CreateOptions options) {
    const auto store = memory_store();
    write(create_array(store, "a", options).value(), counted(35));
    EXPECT_EQ(elements(open_a(store).value()), counted(35));
    return parsed(text_at(*store, "a/.zarray"));
  };
  CreateOptions options = new_array();
  options.codecs = std::nullopt;
  options.big_endian = options.fortran_order = true;
  Json found = document(options);
  EXPECT_EQ(found.find("dtype")->text() + found.find("order")->text(), ">i4F");
  EXPECT_EQ(found.find("compressor")->find("id")->text(), "blosc");
  options.codecs = std::vector<Json>{"delta", "zlib:1"};
  found = document(options);
  EXPECT_EQ(found.find("filters")->dump(), R"([{"id":"delta","dtype":">i4"}])");
  options.codecs = std::vector<Json>{"bytes:little"};
  found = document(options);
  EXPECT_EQ(found.find("dtype")->text() + found.find("order")->text(), "<i4F") << "a codec says it";
  options.codecs = std::nullopt;
  options.raw_codecs = parsed(R"([{"name": "numcodecs.zlib", "configuration": {"level": 1}}])");
  found = document(options);
  EXPECT_EQ(found.find("dtype")->text() + found.find("order")->text(), ">i4F");
  options.raw_codecs = parsed(R"(["numcodecs.pcodec"])");
  EXPECT_THAT(create_array(memory_store(), "a", options).error().text(), HasSubstr("dtype: 'numcodecs.pcodec' has no"));
  options.raw_codecs = std::nullopt;
  options.format = "zarr3";
  const auto v3 = memory_store();
  create_array(v3, "a", options).value();
  EXPECT_EQ(parsed(text_at(*v3, "a/zarr.json")).find("codecs")->elements()[0].dump(),
            R"({"name":"bytes","configuration":{"endian":"little"}})");
}

TEST(V2Check, ReportsFillValuesAndAttributesThatOtherReadersRefuse) {
  const auto remark = [](std::string_view changes, std::string_view attributes = "{}") {
    const auto store = hierarchy(changed(changes));
    store->set("a/.zattrs", attributes).value();
    const CheckReport report = check(store).value();
    EXPECT_EQ(report.faults.size(), 1U);
    if (report.faults.empty()) return std::string();
    EXPECT_EQ(report.faults[0].code, "document_odd");
    EXPECT_EQ(report.faults[0].key, attributes == "{}" ? "a/.zarray" : "a/.zattrs");
    return report.faults[0].message;
  };
  EXPECT_THAT(remark(R"({"dtype": "<f4", "fill_value": "0x7fc00001"})"), HasSubstr("in hexadecimal"));
  EXPECT_THAT(remark(R"({"dtype": "<c8", "fill_value": [0, "0x7fc00001"]})"), HasSubstr("in hexadecimal"));
  EXPECT_THAT(remark(R"({"dtype": "<f4", "fill_value": "0"})"), HasSubstr("a number in a text"));
  EXPECT_THAT(remark(R"({"dtype": "|V3", "fill_value": "AA=="})"), HasSubstr("fewer bytes than an element"));
  EXPECT_THAT(remark("{}", R"({"x": NaN})"), HasSubstr("NaN or Infinity without quotes"));
  const auto store = hierarchy();
  store->set(".zattrs", R"({"x": [1, -Infinity]})").value();
  const CheckReport of_group = check(store).value();
  ASSERT_EQ(of_group.faults.size(), 1U);
  EXPECT_EQ(of_group.faults[0].key, ".zattrs");
  EXPECT_THAT(of_group.faults[0].message, HasSubstr("NaN or Infinity without quotes"));
}

TEST(V2Check, ReportsStaleConsolidatedMetadataByTheirDocument) {
  const auto store = hierarchy();
  open_group(store, {.writable = true}).value().consolidate().value();
  store->set("a/.zarray", changed(R"({"shape": [9, 5]})")).value();
  const CheckReport report = check(store).value();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_EQ(report.faults[0].code, "consolidated_stale");
  EXPECT_EQ(report.faults[0].key, ".zmetadata");
}

TEST(V2Zstd, HasAChecksumIfTheCallerAsksForOne) {
  const auto compressor = [](Store& store, const std::string& path) {
    return parsed(text_at(store, path + "/.zarray")).find("compressor")->dump();
  };
  const std::string with = R"({"id":"zstd","level":3,"checksum":true})", without = R"({"id":"zstd","level":3})";
  const Json asked = parsed(R"({"name": "zstd", "configuration": {"level": 3, "checksum": true}})");
  const Json plain = parsed(R"({"name": "zstd", "configuration": {"level": 3}})");
  const auto v2 = memory_store(), other = memory_store(), plainly = memory_store(), asking = memory_store();
  for (const auto& [path, codec] : {std::pair("a", asked), std::pair("b", plain), std::pair("c", Json("zstd:3"))}) {
    CreateOptions options = new_array();
    options.codecs = std::vector<Json>{codec};
    create_array(v2, path, options).value();
    EXPECT_EQ(compressor(*v2, path), path == std::string("a") ? with : without);
  }
  for (const bool sharded : {false, true}) {
    const auto v3 = memory_store(), back = memory_store();
    copy(v2, v3, {.auto_shards = sharded, .format = "zarr3"}).value();
    copy(v3, back, {.shards = Shape{}, .format = "zarr2"}).value();
    for (const char* path : {"a", "b", "c"}) EXPECT_EQ(compressor(*back, path), without) << sharded;
  }
  create_array(other, "d", {.shape = {4}, .dtype = DType::int8}).value();  // its zstd has a checksum by default
  copy(other, plainly, {.format = "zarr2"}).value();
  EXPECT_EQ(compressor(*plainly, "d"), without);
  copy(other, asking, {.codecs = std::vector<Json>{asked}, .format = "zarr2"}).value();
  EXPECT_EQ(compressor(*asking, "d"), with);
}

}  // namespace orders_test
}  // namespace sherd::v2
