#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/netcdf/cdl/cdl_testing.hpp"

namespace sherd::netcdf {
namespace dump_test {

using testing::HasSubstr;
using testing::Not;

Dataset nested() {
  return dataset_of(R"(netcdf x {
  :title = "one" ;
dimensions: x = 2 ; t = unlimited ;
variables: int data(x), x(x), v(t) ; data :long_name = "n" ;
data: data = 1, 2 ; x = 3, 4 ;
group: g { dimensions: x = 3 ; variables: float v(/x), w(x) ; data: v = 5, 6 ; w = 7, 8, 9 ; }
})");
}
std::string fault_of(const DumpOptions& options) {
  const auto done = dump(nested(), options, [](std::string_view) -> Result<void> { return {}; });
  return done.has_value() ? "" : done.error().text();
}

TEST(DumpedHeader, HasDimensionsVariablesAttributesAndGroups) {
  EXPECT_EQ(header_of(nested()), R"(netcdf x {
dimensions:
	x = 2 ;
	t = UNLIMITED ; // (0 currently)
variables:
	int data(x) ;
		data :long_name = "n" ;
	int x(x) ;
	int v(t) ;

// global attributes:
		:title = "one" ;

group: g {
  dimensions:
  	x = 3 ;
  variables:
  	float v(/x) ;
  	float w(x) ;
  } // group g
}
)");
}

TEST(DumpedData, AreThoseOfTheChosenVariablesAndGroups) {
  EXPECT_THAT(text_of(nested()), HasSubstr("data:\n\n data = 1, 2 ;\n\n x = 3, 4 ;\n\ngroup: g {"));
  const std::string coordinates = text_of(nested(), {.coordinates_only = true});
  EXPECT_THAT(coordinates, HasSubstr(" x = 3, 4 ;"));
  for (const char* other : {" data = ", "5, 6", "7, 8"}) EXPECT_THAT(coordinates, Not(HasSubstr(other)));
  EXPECT_THAT(text_of(nested(), {.variables = {"/g/v"}}), HasSubstr("data:\n\n   v = 5, 6 ;\n  } // group g"));
  EXPECT_THAT(text_of(nested(), {.groups = {"/"}}), Not(HasSubstr("5, 6")));
}

TEST(DumpedSpecials, DescribeHowVariablesAreStored) {
  const Dataset dataset =
      dataset_of(with("int v(x) ; v:_ChunkSizes = 2 ; v:_DeflateLevel = 4 ; v:_Shuffle = \"true\" ; v:_Filter = "
                      "\"307,9\" ; v:_Endianness = \"big\" ; v:_NoFill = \"true\" ;"));
  EXPECT_THAT(text_of(dataset, {.header_only = true, .special_attributes = true}),
              HasSubstr("\t\tv:_Storage = \"chunked\" ;\n\t\tv:_ChunkSizes = 2 ;\n\t\tv:_Shuffle = \"true\" ;\n"
                        "\t\tv:_DeflateLevel = 4 ;\n\t\tv:_Filter = \"307,9\" ;\n\t\tv:_Endianness = \"big\" ;\n"
                        "\t\tv:_NoFill = \"true\" ;\n"));
}

TEST(DumpOptionsThatDoNotFit, AreRefusedByName) {
  EXPECT_EQ(fault_of({.variables = {"absent"}}), "the dataset has no variable 'absent'");
  EXPECT_EQ(fault_of({.groups = {"/g/h"}}), "the dataset has no group '/g/h'");
  EXPECT_EQ(fault_of({.line_length = 9}), "the length of lines must be 10 or more");
  EXPECT_EQ(fault_of({.double_digits = 21}), "the number of significant digits must be from 1 to 20");
  EXPECT_EQ(fault_of({}), "");
}

}  // namespace dump_test
}  // namespace sherd::netcdf
