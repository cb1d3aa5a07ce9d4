#include "netcdf/cdl/number.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "tests/netcdf/cdl/cdl_testing.hpp"

namespace sherd::netcdf {
namespace number_test {

TEST(CdlNumberSuffixes, DecideTheType) {
  const std::pair<const char*, Type> rows[] = {{"1b", Type::int8},    {"1ub", Type::uint8},  {"1BU", Type::uint8},
                                               {"1s", Type::int16},   {"1us", Type::uint16}, {"1l", Type::int32},
                                               {"1u", Type::uint32},  {"1LL", Type::int64},  {"1ull", Type::uint64},
                                               {"1f", Type::float32}, {"1d", Type::float64}, {"1.L", Type::float64}};
  for (const auto& [text, type] : rows) EXPECT_EQ(parse_cdl_number(text).value().type, type) << text;
}

TEST(CdlNumbersWithoutSuffix, HaveTheFirstTypeThatHoldsThem) {
  const std::pair<const char*, Type> rows[] = {
      {"2147483647", Type::int32},  {"2147483648", Type::uint32}, {"4294967296", Type::uint64},
      {"-2147483648", Type::int32}, {"-2147483649", Type::int64}, {"1.5", Type::float64},
      {"5000000000l", Type::int64}, {"0xffffffff", Type::uint32}, {"037777777777", Type::uint32}};
  for (const auto& [text, type] : rows) EXPECT_EQ(parse_cdl_number(text).value().type, type) << text;
}

TEST(CdlNumberConversions, WrapWithinASizeAndDropFractions) {
  const auto fault_in = [](Values values, const char* text) {
    const auto done = append_cdl_number(values, parse_cdl_number(text).value());
    return done.has_value() ? "" : done.error().text();
  };
  Values bytes = std::vector<std::int8_t>{}, unsigned_bytes = std::vector<std::uint8_t>{}, texts = std::string();
  for (const char* text : {"255", "-128", "2.9", "-2.9"})
    append_cdl_number(bytes, parse_cdl_number(text).value()).value();
  EXPECT_EQ(bytes, Values(std::vector<std::int8_t>{-1, -128, 2, -2}));
  append_cdl_number(unsigned_bytes, parse_cdl_number("-1").value()).value();
  EXPECT_EQ(unsigned_bytes, Values(std::vector<std::uint8_t>{255}));
  append_cdl_number(texts, parse_cdl_number("65b").value()).value();
  EXPECT_EQ(texts, Values(std::string("A")));
  EXPECT_EQ(fault_in(bytes, "256"), "256 does not fit into the type byte");
  EXPECT_EQ(fault_in(bytes, "-129"), "-129 does not fit into the type byte");
  EXPECT_EQ(fault_in(texts, "65"), "a character or a text is expected, not the number 65");
}

TEST(SpecialCdlNumbers, AreNotANumberAndTheInfinities) {
  EXPECT_EQ(special_cdl_number("NaNf")->type, Type::float32);
  EXPECT_EQ(special_cdl_number("-Infinity")->real, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(special_cdl_number("Inff")->type, Type::float32);
  EXPECT_FALSE(special_cdl_number("Inf"));
}

TEST(CdlNumbers, ThatAreMalformedAreRefused) {
  for (const std::string text : {"08",
                                 "1x",
                                 "0x",
                                 "0x1g",
                                 "1bb",
                                 "1.5s",
                                 ".",
                                 "-",
                                 "+.",
                                 "1e",
                                 "1.5e+",
                                 "-1u",
                                 "300b",
                                 "70000s",

                                 "18446744073709551616",
                                 "-9223372036854775809",
                                 "1_0",
                                 "'ab'",
                                 "''",
                                 "'a",
                                 "-infinity"})
    EXPECT_FALSE(Cdl::parse("netcdf x { :a = " + text + " ; }")) << text;
}

TEST(CdlNumbers, MayBeOctalOrHexadecimal) {
  EXPECT_EQ(attribute_of("010, 0, 00"), "8, 0, 0");
  EXPECT_EQ(attribute_of("0x7f, 0X10"), "127, 16");
  EXPECT_EQ(attribute_of("0x7fs"), "127s");
  EXPECT_EQ(attribute_of("0xffull"), "255ULL");
  EXPECT_EQ(attribute_of("65535s, 255s"), "-1s, 255s");
  EXPECT_EQ(attribute_of("-200000000000L"), "-200000000000LL");
}

}  // namespace number_test
}  // namespace sherd::netcdf
