// A number m * 2^e is m * 5^k * 2^(e+k) / 10^k. For moderate k the product fits 128 bits, so that a shift rounds it
// exactly, half to even, to the integer whose digits are printed. Everything else is left to the standard library.
#include "netcdf/decimal.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

namespace sherd::netcdf {

namespace {

using Wide = unsigned __int128;

constexpr int kMostDigits = 15;  ///< of integers that are found by scaling

template <std::size_t count>
constexpr std::array<std::uint64_t, count> powers_of(std::uint64_t base) {
  std::array<std::uint64_t, count> powers{1};
  for (std::size_t i = 1; i < count; ++i) powers[i] = powers[i - 1] * base;
  return powers;
}
constexpr auto kFives = powers_of<28>(5);
constexpr auto kTens = powers_of<20>(10);

constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (int i = 0; i < 100; ++i) {
    pairs[static_cast<std::size_t>(2 * i)] = static_cast<char>('0' + i / 10);
    pairs[static_cast<std::size_t>(2 * i + 1)] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

/// mantissa * 2^exponent * 10^scale, rounded; nullopt if 128 bits do not hold it.
std::optional<std::uint64_t> scaled(std::uint64_t mantissa, int exponent, int scale) noexcept {
  Wide quotient = 0, rest = 0, half = 0;
  if (scale >= 0) {
    if (scale >= static_cast<int>(kFives.size())) return std::nullopt;
    const Wide product = static_cast<Wide>(mantissa) * kFives[static_cast<std::size_t>(scale)];
    const int right = -(exponent + scale);
    if (right <= 0) return static_cast<std::uint64_t>(product << static_cast<unsigned>(-right));
    if (right >= 127) return std::nullopt;
    quotient = product >> static_cast<unsigned>(right);
    half = static_cast<Wide>(1) << static_cast<unsigned>(right - 1);
    rest = product & (2 * half - 1);
  } else {
    if (-scale >= static_cast<int>(kTens.size()) || exponent > 64 || exponent < -60) return std::nullopt;
    Wide number = mantissa, divisor = 2 * static_cast<Wide>(kTens[static_cast<std::size_t>(-scale)]);
    number <<= static_cast<unsigned>(exponent > 0 ? exponent + 1 : 1);
    if (exponent < 0) divisor <<= static_cast<unsigned>(-exponent);
    quotient = number / divisor;
    rest = number % divisor;
    half = divisor / 2;
  }
  const bool up = rest > half || (rest == half && (quotient & 1U) != 0);
  return static_cast<std::uint64_t>(quotient) + (up ? 1 : 0);
}

struct Decimal {
  std::uint64_t digits;  ///< as an integer, zeros at the end included
  int exponent;          ///< of the first digit
};

std::optional<Decimal> decimal_of(double value, int digits) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>((bits >> 52U) & 0x7FFU);
  if (biased == 0 || digits < 1 || digits > kMostDigits) return std::nullopt;
  const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52U) - 1)) | (std::uint64_t{1} << 52U);
  const int binary = biased - 1023;
  // floor(binary * log10(2)): the exponent of the first digit, or one less.
  for (int exponent = (binary * 78913) >> 18;; ++exponent) {
    const auto number = scaled(mantissa, binary - 52, digits - 1 - exponent);
    if (!number) return std::nullopt;
    if (*number < kTens[static_cast<std::size_t>(digits)]) return Decimal{*number, exponent};
  }
}

/// The digits without zeros at their end; how many there are.
int print_digits(char* to, std::uint64_t number, int count) noexcept {
  int at = count;
  for (; at >= 2; at -= 2, number /= 100) std::memcpy(to + at - 2, kPairs.data() + 2 * (number % 100), 2);
  if (at == 1) *to = static_cast<char>('0' + number);
  while (count > 1 && to[count - 1] == '0') --count;
  return count;
}

char* print_exponent(char* to, int exponent) noexcept {
  *to++ = 'e';
  *to++ = exponent < 0 ? '-' : '+';
  const auto size = static_cast<unsigned>(exponent < 0 ? -exponent : exponent);
  std::memcpy(to, kPairs.data() + std::size_t{2} * size, 2);  // below 100, since 128 bits hold the number
  return to + 2;
}

}  // namespace

char* print_decimal(char* to, double value, int digits) noexcept {
  if (std::signbit(value)) {
    *to++ = '-';
    value = -value;
  }
  if (value == 0) {
    *to++ = '0';
    return to;
  }
  const auto decimal = decimal_of(value, digits);
  if (!decimal) return std::to_chars(to, to + kDecimalSize - 1, value, std::chars_format::general, digits).ptr;
  std::array<char, kMostDigits + 1> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  const int count = print_digits(text.data(), decimal->digits, digits);
  const int exponent = decimal->exponent;
  const auto put = [&](int from, int end) {
    if (from >= end) return;
    std::memcpy(to, text.data() + from, static_cast<std::size_t>(end - from));
    to += end - from;
  };
  if (exponent < -4 || exponent >= digits) {
    put(0, 1);
    if (count > 1) *to++ = '.';
    put(1, count);
    return print_exponent(to, exponent);
  }
  if (exponent < 0) {
    std::memcpy(to, "0.000", 5);
    to += 1 - exponent;
    put(0, count);
    return to;
  }
  const int whole = exponent + 1;
  put(0, whole);  // zeros that were left out of the count included
  if (count > whole) *to++ = '.';
  put(whole, count);
  return to;
}

}  // namespace sherd::netcdf
