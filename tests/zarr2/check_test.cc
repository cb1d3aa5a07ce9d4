// What `check` says of documents of Zarr v2 that other readers refuse, or that are out of date.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/tools.hpp"
#include "tests/zarr2/zarr2_testing.hpp"

namespace sherd::v2 {
namespace {

using testing::HasSubstr;

TEST(V2Check, ReportsFillValuesAndAttributesThatOtherReadersRefuse) {
  const auto remark = [](std::string_view changes, std::string_view attributes = "{}") {
    const auto store = hierarchy(changed(changes));
    store->set("a/.zattrs", attributes).value();
    const CheckReport report = check(store).value();
    EXPECT_EQ(report.faults.size(), 1U);
    if (report.faults.empty()) return std::string();
    EXPECT_EQ(report.faults[0].code, "document_odd");
    return report.faults[0].message;
  };
  EXPECT_THAT(remark(R"({"dtype": "<f4", "fill_value": "0x7fc00001"})"), HasSubstr("in hexadecimal"));
  EXPECT_THAT(remark(R"({"dtype": "<c8", "fill_value": [0, "0x7fc00001"]})"), HasSubstr("in hexadecimal"));
  EXPECT_THAT(remark(R"({"dtype": "|V3", "fill_value": "AA=="})"), HasSubstr("fewer bytes than an element"));
  EXPECT_THAT(remark("{}", R"({"x": NaN})"), HasSubstr("NaN or Infinity without quotes"));
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

}  // namespace
}  // namespace sherd::v2
