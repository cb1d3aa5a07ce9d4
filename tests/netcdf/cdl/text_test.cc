// Numbers and texts as CDL has them, for any locale of the process.
#include "netcdf/cdl/text.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>

#include "netcdf/time.hpp"
#include "tests/netcdf/netcdf_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::netcdf {
namespace text_test {

std::string printed_attribute(Values values, const Digits& digits) {
  return cdl_attribute({"a", std::move(values)}, digits);
}
std::string number(double value, int digits = 15) { return printed_attribute(std::vector<double>{value}, {7, digits}); }
std::string formatted(const char* format, double value) {
  std::string text;
  CFormat::parse(format, Type::float64).value().append(text, value);
  return text;
}

TEST(AttributeNumber, HasADecimalPointWithoutTrailingZeros) {
  EXPECT_EQ(number(2.5), "2.5");
  EXPECT_EQ(number(2), "2.");
  EXPECT_EQ(number(0), "0.");
  EXPECT_EQ(number(-0.0), "-0.");
  EXPECT_EQ(number(1e30), "1.e+30");
  EXPECT_EQ(number(1.25e-30), "1.25e-30");
  EXPECT_EQ(number(100000), "100000.");
  EXPECT_EQ(number(123456, 3), "1.23e+05");
  EXPECT_EQ(number(999.9, 3), "1.e+03");
  EXPECT_EQ(number(0.0001), "0.0001");
  EXPECT_EQ(number(0.00001), "1.e-05");
  EXPECT_EQ(number(7, 0), "7.");
  EXPECT_EQ(number(0.1, 17), "0.10000000000000001");
  EXPECT_EQ(printed_attribute(std::vector<float>{1e10F, 0.1F}, {}), "1.e+10f, 0.1f");
}

TEST(Numbers, AreWrittenWithPointsInALocaleWithCommas) {
  const TempDir made;  // Debian's package `locales` has the sources of locales
  const std::string command = "localedef -i de_DE -f UTF-8 " + made.path() + "/de_DE.UTF-8";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no locale can be made; install Debian's package locales";
  ::setenv("LOCPATH", made.path().c_str(), 1);
  const std::string before = std::setlocale(LC_ALL, nullptr);
  ASSERT_NE(std::setlocale(LC_ALL, "de_DE.UTF-8"), nullptr);
  const std::string comma = std::localeconv()->decimal_point;
  std::string date;
  TimeUnits::parse("seconds since 2000-01-01 10:20:30.5", "")->append_quoted(date, 0, ' ');
  const std::string attribute = number(1.5), data = formatted("%8.3f", 1.5);
  const std::string locale_after = std::localeconv()->decimal_point;
  std::setlocale(LC_ALL, before.c_str());
  ::unsetenv("LOCPATH");
  EXPECT_EQ(comma, ",");
  EXPECT_EQ(attribute, "1.5");
  EXPECT_EQ(data, "   1.500");
  EXPECT_EQ(date, "\"2000-01-01 10:20:30.500000\"");
  EXPECT_EQ(locale_after, ",");
}

}  // namespace text_test
}  // namespace sherd::netcdf
