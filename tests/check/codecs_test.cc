// check(): spellings of codecs that are read though no specification has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"

namespace sherd {
namespace codecs_test {

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
      {R"({"name": "bytes", "configuration": {"endian": "little"}},
          {"name": "numcodecs.shuffle", "configuration": {"elementsize": 0}})",
       "'elementsize' is 0"},
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

struct Spelling {
  std::string_view dtype, fill, codec, remark;
};

// zarrita of 2023 (bool), zarr-python 3.0 (names of types, base64), and writers that fill in every member of a codec.
TEST(Check, DocumentsSpelledAsNoSpecificationHasThemAreWarnedOf) {
  constexpr std::string_view kPlain = R"({"name": "bytes"})";
  for (const Spelling& row :
       {Spelling{R"("bool")", "0", kPlain, "'fill_value' of a bool is 0"},
        Spelling{R"("bool")", "1", kPlain, "'fill_value' of a bool is 1"},
        Spelling{R"("bool")", R"("0")", kPlain, "'fill_value' of a bool is \"0\""},
        Spelling{R"({"name": "raw_bytes", "configuration": {"length_bytes": 2}})", "[0, 0]", kPlain,
                 "'raw_bytes' is read as 'r16'"},
        Spelling{R"("r16")", R"("AAA=")", kPlain, "raw bytes is base64"},
        Spelling{R"({"name": "structured", "configuration": {"fields": [["a", "uint8"]]}})", R"("AA==")", kPlain,
                 "'structured' is read as 'struct'"},
        Spelling{R"({"name": "struct", "configuration": {"fields": [["a", "uint8"]]}})", R"({"a": 0})", kPlain,
                 "the fields of a 'struct' are pairs"},
        Spelling{R"({"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "uint8"}]}})",
                 R"("AA==")", kPlain, "'fill_value' of a 'struct' is base64"},
        Spelling{R"("float8_e8m0fnu")", "0.0", kPlain, "'fill_value' 0.0 is not a number of float8_e8m0fnu"},
        Spelling{R"("uint8")", "0", R"({"name": "bytes", "must_understand": true})", "has 'must_understand'"},
        Spelling{R"("uint8")", "0", R"({"name": "bytes", "configuration": null})", "has null as its configuration"}}) {
    auto store = memory_store();
    store
        ->set("zarr.json", R"({"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": )" +
                               std::string(row.dtype) + R"(,
          "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
          "chunk_key_encoding": {"name": "default"}, "fill_value": )" +
                               std::string(row.fill) + R"(, "codecs": [)" + std::string(row.codec) + "]}")
        .value();
    const auto report = check(store, {.data = false});
    ASSERT_TRUE(report) << row.remark << report.error().text();
    EXPECT_TRUE(report->ok());
    ASSERT_EQ(report->faults.size(), 1U) << row.remark;
    EXPECT_EQ(report->faults[0].code, "document_odd");
    EXPECT_THAT(report->faults[0].message, HasSubstr(row.remark));
  }
}

TEST(Check, OfAByteOrderNothingIsSaidWhereCodecsMakeBytes) {
  auto store = memory_store();
  store
      ->set("zarr.json", R"({"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float32",
          "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
          "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [
          {"name": "cast_value", "configuration": {"data_type": "uint8"}}, {"name": "bytes"}]})")
      .value();
  EXPECT_TRUE(check(store).value().faults.empty());
}

// zarr-extensions says that they follow the codec `bytes`; zarr-python does not (a golden array of tests/interop).
TEST(Structured, FillValuesInBase64AreLittleEndianAsInZarrPython) {
  const auto fill = [](std::string_view codecs) {
    auto store = memory_store();
    store
        ->set("zarr.json", R"({"zarr_format": 3, "node_type": "array", "shape": [4], "data_type":
            {"name": "structured", "configuration": {"fields": [["x", "int16"], ["y", "uint8"]]}},
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": "AAEC", "codecs": [)" +
                               std::string(codecs) + "]}")
        .value();
    const Array array = open_array(store).value();
    std::int16_t x = 0;
    std::memcpy(&x, array.fill_value().data(), 2);
    return x;
  };
  const std::string big = R"({"name": "bytes", "configuration": {"endian": "big"}})";
  EXPECT_EQ(fill(big), 256);
  EXPECT_EQ(fill(R"({"name": "bytes", "configuration": {"endian": "little"}})"), 256);
  EXPECT_EQ(fill(R"({"name": "bytes"})"), 256);
}

TEST(Check, MembersThatAreNullInsteadOfAbsentAreWarnedOf) {
  for (const std::string member : {"dimension_names", "storage_transformers"}) {
    auto store = memory_store();
    store
        ->set("zarr.json", R"({"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8",
          "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
          "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [{"name": "bytes"}], ")" +
                               member + R"(": null})")
        .value();
    const CheckReport report = check(store, {.data = false}).value();
    EXPECT_TRUE(report.ok());
    ASSERT_EQ(report.faults.size(), 1U) << member;
    EXPECT_EQ(report.faults[0].code, "document_odd");
    EXPECT_THAT(report.faults[0].message, HasSubstr("'" + member + "' is null"));
  }
}

TEST(Check, OtherFillValuesOfBoolsAreRefused) {
  for (const std::string_view fill : {"2", "-1", "1.5", R"("1")", R"("true")", R"("")", "[]", "null"}) {
    auto store = memory_store();
    store
        ->set("zarr.json", R"({"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "bool",
          "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
          "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}], "fill_value": )" +
                               std::string(fill) + "}")
        .value();
    const auto array = open_array(store);
    ASSERT_FALSE(array) << fill;
    EXPECT_EQ(array.error().member(), "fill_value") << fill;
  }
}

}  // namespace codecs_test
}  // namespace sherd
