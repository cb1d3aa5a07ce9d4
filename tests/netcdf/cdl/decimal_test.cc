// Numbers printed by scaling, compared with printf.
#include "netcdf/cdl/decimal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

namespace sherd::netcdf {
namespace decimal_test {

std::string printed(double value, int digits) {
  std::array<char, kDecimalSize> text{};
  return {text.data(), print_decimal(text.data(), value, digits)};
}

std::string expected(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

void expect_like_printf(double value, int digits) {
  if (!std::isfinite(value)) return;
  EXPECT_EQ(printed(value, digits), expected(value, digits)) << digits;
}

TEST(Decimal, OfNumbersInBetweenIsRoundedToEven) {
  EXPECT_EQ(printed(0.5, 1), "0.5");
  EXPECT_EQ(printed(2.5, 1), "2");
  EXPECT_EQ(printed(3.5, 1), "4");
  EXPECT_EQ(printed(0.125, 2), "0.12");
  EXPECT_EQ(printed(1000000.5, 7), "1000000");
  EXPECT_EQ(printed(std::nextafter(1000000.5, 2e6), 7), "1000001");
}

TEST(Decimal, HasAnExponentWherePrintfHasOne) {
  EXPECT_EQ(printed(9999999.6, 7), "1e+07");
  EXPECT_EQ(printed(-1234567, 7), "-1234567");
  EXPECT_EQ(printed(0.0001, 7), "0.0001");
  EXPECT_EQ(printed(0.00001, 7), "1e-05");
  EXPECT_EQ(printed(-0.0, 7), "-0");
  EXPECT_EQ(printed(std::numeric_limits<double>::denorm_min(), 15), "4.94065645841247e-324");
  EXPECT_EQ(printed(std::numeric_limits<double>::max(), 15), "1.79769313486232e+308");
}

TEST(Decimal, OfPowersOfTenAndTheirNeighboursIsThatOfPrintf) {
  for (int exponent = -40; exponent <= 40; ++exponent)
    for (int digits = 0; digits <= 20; ++digits) {
      const double power = std::pow(10, exponent);
      for (const double value : {power, std::nextafter(power, 0), std::nextafter(power, 1e300), 5 * power})
        expect_like_printf(value, digits);
    }
}

TEST(Decimal, OfAnyNumberIsThatOfPrintf) {
  std::mt19937_64 source(1);
  for (int i = 0; i < 20000; ++i) {
    const auto digits = static_cast<int>(1 + source() % 20);
    expect_like_printf(std::bit_cast<double>(source()), digits);
    expect_like_printf(std::bit_cast<float>(static_cast<std::uint32_t>(source())), i % 2 == 0 ? 7 : 9);
    const double whole = static_cast<double>(source() % 2000000000) - 1e9;
    const double tenths = whole / std::pow(10, static_cast<double>(source() % 24));
    expect_like_printf(tenths, digits);
    expect_like_printf(static_cast<float>(tenths), 7);
    expect_like_printf(std::ldexp(whole, static_cast<int>(source() % 80) - 60), digits);
  }
}

}  // namespace decimal_test
}  // namespace sherd::netcdf
