// check(): spellings of codecs that are read though no specification has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"

namespace sherd {
namespace {

using ::testing::HasSubstr;

// What GDAL 3.10, netcdf-c 4.9 and drafts before 2023 write, in and out of shards.
TEST(Check, CodecsSpelledAsNoSpecificationHasThemAreWarnedOf) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"name": "endian", "configuration": {"endian": "little"}})", "'endian' is read as 'bytes'"},
      {R"({"name": "transpose", "configuration": {"order": "F"}}, {"name": "bytes", "configuration": {"endian": "big"}})",
       "the order \"F\""},
      {R"({"name": "bytes", "configuration": {"endian": "little"}},
          {"name": "numcodecs.zlib", "configuration": {"level": "5"}})",
       "'level' is a string"},
      {R"({"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zlib"})", "read as 'numcodecs.zlib'"}};
  for (const auto& [codecs, remark] : rows) {
    for (const bool sharded : {false, true}) {
      auto store = memory_store();
      const std::string chain = sharded ? R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2],
          "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "codecs": [)" +
                                              std::string(codecs) + "]}}"
                                        : std::string(codecs);
      store
          ->set("zarr.json",
                R"({"zarr_format": 3, "node_type": "array", "shape": [4, 4], "data_type": "uint16",
          "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
          "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [)" +
                    chain + "]}")
          .value();
      const CheckReport report = check(store, {.data = false}).value();
      EXPECT_TRUE(report.ok());
      ASSERT_EQ(report.faults.size(), 1u);
      EXPECT_EQ(report.faults[0].code, "document_odd");
      EXPECT_THAT(report.faults[0].message, HasSubstr(remark));
    }
  }
}

}  // namespace
}  // namespace sherd
