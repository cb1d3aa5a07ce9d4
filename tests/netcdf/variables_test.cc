// Variables that a release of netcdf-c stores differently than its metadata say.
#include "tests/netcdf/generations_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::netcdf::generations_testing {
namespace variables_test {

TEST(Release, DecidesTheByteOrderOfBigEndianData) {
  const auto texts = [](const std::string& release) {
    return Texts{{".zgroup", R"({"zarr_format": 2, "_nczarr_group": {"dims": {"x": 1}, "vars": ["v"], "groups": []}})"},
                 {".zattrs", R"({"_NCProperties": "version=2,netcdf=)" + release + R"(,nczarr=2.0.0"})"},
                 {"v/.zarray", v2_array("[1]", ">i4", "_nczarr_array", R"(["/x"])")},
                 {"v/0", std::string("\1\0\0\0", 4)}};
  };
  const auto value = [&](const std::string& release) {
    return open_texts(texts(release)).value().root().variable("v")->read().value();
  };
  EXPECT_EQ(value("4.9.2"), Values(std::vector<std::int32_t>{1}));
  EXPECT_EQ(value("4.9.3-development"), Values(std::vector<std::int32_t>{1}));  // of netCDF4 1.6.5
  EXPECT_EQ(value("4.9.3"), Values(std::vector<std::int32_t>{16777216}));
  EXPECT_EQ(value("4.10.1"), Values(std::vector<std::int32_t>{16777216}));
}

TEST(Release, OfTheNewestGenerationSwapsBytesInItsDevelopmentToo) {
  const Texts texts{{".zgroup", R"({"zarr_format": 2})"},
                    {".zattrs", R"({"_NCProperties": "version=2,netcdf=4.9.3-development,nczarr=2.0.0",
                      "_nczarr_superblock": {"version": "2.0.0"},
                      "_nczarr_group": {"dimensions": {"x": 1}, "arrays": ["v"], "groups": []}})"},
                    {"v/.zarray", zarray("[1]", ">i4")},
                    {"v/.zattrs", R"({"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}})"},
                    {"v/0", std::string("\0\0\0\1", 4)}};
  EXPECT_EQ(open_texts(texts).value().root().variable("v")->read().value(), Values(std::vector<std::int32_t>{1}));
}

TEST(Release, WritesFillValuesWithSixDigitsWhichAreMeantExactly) {
  const Dataset dataset =
      open_texts(
          {{".zgroup", R"({"zarr_format": 2, "_nczarr_group": {"dims": {"x": 1}, "vars": ["v"], "groups": []}})"},
           {"v/.zarray", R"({"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<f8", "fill_value":
                    9.96921e+36, "order": "C", "compressor": null, "filters": null,
                    "_nczarr_array": {"dimrefs": ["/x"], "storage": "chunked"}})"}})
          .value();
  EXPECT_EQ(dataset.root().variable("v")->read().value(), default_fill(Type::float64));
}

TEST(Release, WritesFillValuesOfTextAsText) {
  for (const char* sample : {"nczarr/4.9.1/a491-nczarr_file", "nczarr/4.10.1/a4101-nczarr_file"}) {
    const Dataset dataset = Dataset::open(test_data(sample)).value();
    EXPECT_EQ(dataset.root().variable("cfill")->read().value(), Values("****"));
    EXPECT_EQ(dataset.root().variable("vstrf")->read().value(), Values(std::vector<std::string>{"q", "zz", "r", "s"}));
  }
}

}  // namespace variables_test
}  // namespace sherd::netcdf::generations_testing
