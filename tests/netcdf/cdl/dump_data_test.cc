#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/netcdf/cdl/cdl_testing.hpp"

namespace sherd::netcdf {
namespace dump_data_test {

using testing::HasSubstr;

/// The data section of a dataset as it is printed.
std::string data_section(const std::string& variables, const std::string& data, const DumpOptions& options = {}) {
  const std::string all = text_of(dataset_of(with(variables, data)), options);
  return all.substr(all.find("data:\n") + 6);
}

TEST(DumpedRows, HaveTheirIndicesBeforeThemOrBehindEachValue) {
  const std::string variables = "int v(y, x) ;", data = "v = 1, 2, 3, 4, 5, 6, 7, 8 ;";
  EXPECT_EQ(data_section(variables, data), "\n v =\n  1, 2, 3, 4,\n  5, 6, 7, 8 ;\n}\n");
  EXPECT_EQ(data_section(variables, data, {.row_comments = true}),
            "\n v =\n  // v(0, 0-3)\n    1, 2, 3, 4,\n  // v(1, 0-3)\n    5, 6, 7, 8 ;\n}\n");
  EXPECT_THAT(data_section(variables, data, {.row_comments = true, .fortran = true}), HasSubstr("// v(1-4 ,2)\n"));
  EXPECT_THAT(data_section(variables, data, {.value_comments = true}),
              HasSubstr("4,  // v(0,3)\n    5,   // v(1,0)\n    6,   // v(1,1)\n"));
  EXPECT_THAT(data_section(variables, data, {.value_comments = true, .fortran = true}), HasSubstr("8;  // v(4,2)\n"));
}

TEST(DumpedRows, AreDividedIntoLinesOfLimitedLength) {
  EXPECT_EQ(data_section("int v(x) ;", "v = 100, 200, 300, 400 ;", {.line_length = 10}),
            "\n v = \n    100, \n    200, \n    300, \n    400 ;\n}\n");
}

TEST(DumpedRows, OfUnlimitedDimensionsAreInBraces) {
  EXPECT_EQ(data_section("int v(t, u) ;", "v = {1, 2}, {3, 4} ;"), "\n v =\n  {1, 2},\n  {3, 4} ;\n}\n");
}

TEST(DumpedFillValues, AreUnderscoresButThoseOfBytesOnlyIfTheVariableHasOne) {
  EXPECT_EQ(data_of("float v(x) ;", "1, _, 2.5"), "1, _, 2.5, _");
  EXPECT_EQ(data_of("int v(x) ;", "-2147483647, 1, 2, 3"), "_, 1, 2, 3");
  EXPECT_EQ(data_of("byte v(x) ;", "-127, 1, 2, 3"), "-127, 1, 2, 3");
  EXPECT_EQ(data_of("byte v(x) ; v:_FillValue = 2b ;", "-127, 1, 2, 3"), "-127, 1, _, 3");
  EXPECT_EQ(data_of("double v(x) ; v:_FillValue = NaN ;", "NaN, 1, Infinity, 3"), "_, 1, Infinity, 3");
}

TEST(DumpedNumbers, HaveTheirFormatUnlessDigitsAreChosen) {
  const std::string variables = "float v(x) ; v:C_format = \"%6.2f\" ;", data = "v = 1, 2.345, NaN, 1e10 ;";
  EXPECT_EQ(data_section(variables, data), "\n v =   1.00,   2.35, NaNf, 10000000000.00 ;\n}\n");
  EXPECT_EQ(data_section(variables, data, {.float_digits = 2}), "\n v = 1, 2.3, NaNf, 1e+10 ;\n}\n");
}

TEST(CharacterRow, IsOneTextHoweverManyBlocksItIsReadIn) {
  constexpr std::size_t kChunk = std::size_t{1} << 19U, kBegin = kChunk - 1, kLast = 2 * kChunk + 100;
  std::string row(3 * kChunk, '\0');
  row.replace(kBegin, 2, "ab");
  row[kLast] = 'z';
  std::string document = zarray("[" + std::to_string(row.size()) + "]", ">S1");
  const std::size_t chunks = document.find("[", document.find("chunks"));
  document.replace(chunks, document.find("]", chunks) - chunks, "[" + std::to_string(kChunk));
  const auto dataset = open_texts({{".zgroup", R"({"zarr_format": 2, "_nczarr_group": {}})"},
                                   {"v/.zarray", document},
                                   {"v/0", row.substr(0, kChunk)},
                                   {"v/1", row.substr(kChunk, kChunk)},
                                   {"v/2", row.substr(2 * kChunk)},
                                   {"w/.zarray", zarray("[3]", ">S1")},
                                   {"w/0", std::string("\0\0\0", 3)}})
                           .value();
  std::string expected = " v = \"";
  for (std::size_t i = 0; i <= kLast; ++i) expected += row[i] == '\0' ? "\\000" : std::string(1, row[i]);
  const std::string printed = text_of(dataset);
  EXPECT_TRUE(printed.find(expected + "\" ;\n") != printed.npos) << printed.substr(0, 500);
  EXPECT_TRUE(printed.find(" w = \"\" ;\n") != printed.npos);
}

}  // namespace dump_data_test
}  // namespace sherd::netcdf
