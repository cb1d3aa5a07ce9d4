// Numbers of few bits: every pattern of every type as ml_dtypes has it (tests/data/codec/make_small_floats.py), and
// every place where rounding changes its mind.
#include "sherd/numbers.hpp"

#include <gmock/gmock.h>
#include <complex>
#include <cstring>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/float_format.hpp"
#include "base/narrow.hpp"
#include "base/scalar.hpp"
#include "sherd/json.hpp"
#include "tests/test_data.hpp"

namespace sherd {
namespace numbers_test {

using ::testing::HasSubstr;

Json golden() {
  std::ifstream file(test_data("codec/small_floats.json"));
  std::stringstream text;
  text << file.rdbuf();
  return *Json::parse(text.str()).value().find("types");
}

double from_digits(const std::string& digits) {
  if (digits == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>(static_cast<std::uint64_t>(std::stoull(digits, nullptr, 16)));
}

/// Equal bit for bit; all NaNs are.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

double value_of(const DType& dtype, std::byte element) {
  double value = 0;
  to_doubles(dtype, std::span(&element, 1), std::span(&value, 1)).value();
  return value;
}

std::optional<int> pattern_of(const DType& dtype, double value) {
  std::byte element{};
  if (!from_doubles(dtype, std::span(&value, 1), std::span(&element, 1))) return std::nullopt;
  return std::to_integer<int>(element);
}

TEST(Numbers, OfFewBitsHaveTheValuesOfMlDtypes) {
  const Json types = golden();
  ASSERT_EQ(types.size(), 15u);
  for (const auto& [name, type] : types.members()) {
    const DType dtype = DType::parse(name).value();
    ASSERT_EQ(dtype.size(), 1u) << name;
    const auto& values = type.find("values")->elements();
    const auto narrow = narrow_numbers(dtype.kind());
    ASSERT_EQ(values.size(), std::size_t{1} << (narrow ? narrow->bits : 8)) << name;
    for (std::size_t pattern = 0; pattern < 256; ++pattern) {
      const double expected = from_digits(values[pattern % values.size()].text());
      EXPECT_TRUE(same(value_of(dtype, static_cast<std::byte>(pattern)), expected))
          << name << " " << pattern << ": " << expected;
    }
  }
}

TEST(Numbers, AreRoundedAsMlDtypesRoundsThem) {
  const Json types = golden();
  for (const auto& [name, type] : types.members()) {
    const DType dtype = DType::parse(name).value();
    for (const Json& row : type.find("rounded")->elements()) {
      const double value = from_digits(row.elements()[0].text());
      const auto pattern = pattern_of(dtype, value);
      ASSERT_TRUE(pattern) << name << " " << value;
      if (row.elements()[1].is_string()) {
        EXPECT_TRUE(std::isnan(value_of(dtype, static_cast<std::byte>(*pattern)))) << name << " " << value;
      } else {
        EXPECT_EQ(*pattern, *row.elements()[1].as_int()) << name << " " << value;
      }
    }
  }
}

TEST(Numbers, OfFewBitsRoundTripThroughDoubles) {
  const Json types = golden();
  for (const auto& [name, type] : types.members()) {
    const DType dtype = DType::parse(name).value();
    const std::size_t count = type.find("values")->size();
    std::vector<std::byte> elements(count);
    for (std::size_t i = 0; i < count; ++i) elements[i] = static_cast<std::byte>(i);
    if (const auto narrow = narrow_numbers(dtype.kind())) normalize(*narrow, elements, elements);
    for (const std::byte element : elements) {
      const double value = value_of(dtype, element);
      if (std::isnan(value)) continue;
      EXPECT_EQ(pattern_of(dtype, value), std::to_integer<int>(element)) << name;
    }
  }
}

TEST(Numbers, OfWideTypesAreConvertedAsCppConvertsThem) {
  const float singles[] = {0.1F, -0.0F, 1e-45F, 3.4028235e38F, std::numeric_limits<float>::infinity()};
  double values[5];
  to_doubles(DType::float32, std::as_bytes(std::span(singles)), values).value();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(same(values[i], singles[i])) << singles[i];
  float back[5];
  from_doubles(DType::float32, values, std::as_writable_bytes(std::span(back))).value();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(same(back[i], singles[i])) << singles[i];
  const std::int64_t integers[] = {std::numeric_limits<std::int64_t>::min(), -1, 9007199254740993};
  to_doubles(DType::int64, std::as_bytes(std::span(integers)), std::span(values).first(3)).value();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(values[i], static_cast<double>(integers[i]));
}

TEST(Numbers, ThatATypeCannotHoldAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType& dtype : {DType::int2, DType::uint4, DType::int64, DType::float4_e2m1fn, DType::float6_e3m2fn})
    EXPECT_EQ(pattern_of(dtype, nan), std::nullopt) << dtype.name();
  for (const DType& dtype : {DType::int2, DType::uint4}) {
    EXPECT_EQ(pattern_of(dtype, infinity), std::nullopt) << dtype.name();
    EXPECT_EQ(pattern_of(dtype, 16), std::nullopt) << dtype.name();
    EXPECT_EQ(pattern_of(dtype, -3), std::nullopt) << dtype.name();
  }
  EXPECT_EQ(pattern_of(DType::int4, -8.4), 0xf8);
  EXPECT_EQ(pattern_of(DType::uint2, 2.5), 2);
  const double two[] = {0, 5};
  std::byte elements[2];
  EXPECT_THAT(from_doubles(DType::int2, two, elements).error().message(), HasSubstr("element 1, 5"));
  EXPECT_EQ(from_doubles(DType::int2, two, std::span(elements).first(1)).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(from_doubles(DType::string, {}, {}).error().code(), ErrorCode::invalid_argument);
}

TEST(Numbers, ThatAreComplexAreTwoDoubles) {
  const std::complex<float> singles[] = {{1.5F, -0.0F}, {-2, std::numeric_limits<float>::infinity()}};
  double values[4];
  to_doubles(DType::complex64, std::as_bytes(std::span(singles)), values).value();
  EXPECT_TRUE(same(values[0], 1.5) && same(values[1], -0.0) && same(values[2], -2));
  EXPECT_EQ(values[3], std::numeric_limits<double>::infinity());
  std::complex<float> back[2];
  from_doubles(DType::complex64, values, std::as_writable_bytes(std::span(back))).value();
  EXPECT_EQ(std::memcmp(singles, back, sizeof back), 0);
  const double parts[] = {0.5, -6};
  std::byte element[2];
  from_doubles(DType::complex_float4_e2m1fn, parts, element).value();
  EXPECT_EQ(std::to_integer<int>(element[0]), 0x01);
  EXPECT_EQ(std::to_integer<int>(element[1]) & 0x0f, 0x0f);
  EXPECT_EQ(to_doubles(DType::complex64, std::as_bytes(std::span(singles)), std::span(values).first(3)).error().code(),
            ErrorCode::invalid_argument);
}

TEST(Numbers, OfFewBitsAreNormalizedToTheirFormInMemory) {
  std::vector<std::byte> all(256 + 5);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i);
  for (const NarrowNumbers numbers : {NarrowNumbers{2, true}, NarrowNumbers{4, true}, NarrowNumbers{4, false},
                                      NarrowNumbers{6, false}, NarrowNumbers{2, false}}) {
    EXPECT_FALSE(is_normal(numbers, all));
    std::vector<std::byte> to(all.size());
    normalize(numbers, all, to);
    EXPECT_TRUE(is_normal(numbers, to));
    const int count = 1 << numbers.bits;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int low = static_cast<int>(i) % count;
      const int value = numbers.is_signed && low >= count / 2 ? low - count : low;
      ASSERT_EQ(to[i], static_cast<std::byte>(value)) << i;
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
      auto changed = to;
      changed[i] ^= std::byte{0x80};
      ASSERT_FALSE(is_normal(numbers, changed)) << i;
    }
  }
}

}  // namespace numbers_test
}  // namespace sherd
