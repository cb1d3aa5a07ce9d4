// A number m * 2^e is m * 5^k * 2^(e+k) / 10^k. For moderate k the product fits in 128 bits, so a shift rounds it
// exactly, half to even, to the integer whose digits are printed. The standard library handles all other numbers.
#include "netcdf/cdl/decimal.hpp"

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

constexpr int kMostDigits = 15;  ///< of integers computed by scaling

template <std::size_t count>
constexpr std::array<std::uint64_t, count> powers_of(std::uint64_t base) {
  std::array<std::uint64_t, count> powers{1};
  for (std::size_t i = 1; i < count; ++i) powers[i] = powers[i - 1] * base;
  return powers;
}
constexpr auto kFives = powers_of<28>(5);
constexpr auto kTens = powers_of<20>(10);

/// The product shifted to the right, rounded half to even.
template <class Integer>
std::uint64_t shifted(Integer product, int right) noexcept {
  const Integer half = static_cast<Integer>(1) << static_cast<unsigned>(right - 1);
  const Integer quotient = product >> static_cast<unsigned>(right), rest = product & (2 * half - 1);
  const bool up = rest > half || (rest == half && (quotient & 1U) != 0);
  return static_cast<std::uint64_t>(quotient) + (up ? 1 : 0);
}

/// mantissa * 2^exponent * 10^scale, rounded; nullopt if 128 bits do not hold it.
std::optional<std::uint64_t> scaled(std::uint64_t mantissa, int exponent, int scale) noexcept {
  if (scale >= 0) {
    if (scale >= static_cast<int>(kFives.size())) return std::nullopt;
    const std::uint64_t five = kFives[static_cast<std::size_t>(scale)];
    const Wide product = static_cast<Wide>(mantissa) * five;
    const int right = -(exponent + scale);
    if (right <= 0) return static_cast<std::uint64_t>(product << static_cast<unsigned>(-right));
    if (right >= 127) return std::nullopt;
    // Most floats fit in one word.
    if (right < 64 && (product >> 64U) == 0) return shifted(static_cast<std::uint64_t>(product), right);
    return shifted(product, right);
  }
  if (-scale >= static_cast<int>(kTens.size()) || exponent > 64 || exponent < -60) return std::nullopt;
  Wide number = mantissa, divisor = 2 * static_cast<Wide>(kTens[static_cast<std::size_t>(-scale)]);
  number <<= static_cast<unsigned>(exponent > 0 ? exponent + 1 : 1);
  if (exponent < 0) divisor <<= static_cast<unsigned>(-exponent);
  const Wide quotient = number / divisor, rest = number % divisor, half = divisor / 2;
  const bool up = rest > half || (rest == half && (quotient & 1U) != 0);
  return static_cast<std::uint64_t>(quotient) + (up ? 1 : 0);
}

struct Decimal {
  std::uint64_t digits;  ///< as an integer, including trailing zeros
  int exponent;          ///< of the first digit
};

std::optional<Decimal> decimal_of(double value, int digits) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>((bits >> 52U) & 0x7FFU);
  if (biased == 0 || digits < 1 || digits > kMostDigits) return std::nullopt;
  const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52U) - 1)) | (std::uint64_t{1} << 52U);
  const int binary = biased - 1023, zeros = std::countr_zero(mantissa);
  // floor(binary * log10(2)): the exponent of the first digit, or one less.
  for (int exponent = (binary * 78913) >> 18;; ++exponent) {
    const auto number = scaled(mantissa >> static_cast<unsigned>(zeros), binary - 52 + zeros, digits - 1 - exponent);
    if (!number) return std::nullopt;
    if (*number < kTens[static_cast<std::size_t>(digits)]) return Decimal{*number, exponent};
  }
}

/// The eight digits of a number below 10^8, the first one in the lowest byte. Halves, quarters and eighths of the word
/// are divided simultaneously, by multiplication.
std::uint64_t eight_digits(std::uint64_t number) noexcept {
  const std::uint64_t fours = number / 10000 | (number % 10000) << 32U;
  const std::uint64_t hundreds = ((fours * 10486) >> 20U) & 0x0000007F0000007F;
  const std::uint64_t twos = hundreds + ((fours - 100 * hundreds) << 16U);
  const std::uint64_t tens = ((twos * 103) >> 10U) & 0x000F000F000F000F;
  return tens + ((twos - 10 * tens) << 8U);
}

/// The digits of a decimal, and bytes after them that are copied with the last one.
struct DigitText {
  std::array<char, 32> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): as much as is used
  int count;                  ///< without zeros at the end
};

/// Copies a constant size, even if only a part of it is needed.
void put_sixteen(char* to, const char* from) noexcept { std::memcpy(to, from, 16); }

constexpr std::uint64_t kZeros = 0x3030303030303030;

void print_digits(DigitText& to, std::uint64_t number, int count) noexcept {
  if (count <= 8) {
    const std::uint64_t digits = eight_digits(number) >> static_cast<unsigned>(8 * (8 - count));
    const std::uint64_t text = digits + kZeros;
    std::memcpy(to.text.data(), &text, 8);
    to.count = digits == 0 ? 1 : 8 - std::countl_zero(digits) / 8;
  } else {
    const std::uint64_t high = eight_digits(number / 100'000'000), low = eight_digits(number % 100'000'000);
    const std::array text{high + kZeros, low + kZeros};
    const int skipped = 16 - count;
    std::memcpy(to.text.data(), reinterpret_cast<const char*>(text.data()) + skipped, static_cast<std::size_t>(count));
    to.count = (low == 0 ? 8 - std::countl_zero(high) / 8 : 16 - std::countl_zero(low) / 8) - skipped;
  }
}

char* print_exponent(char* to, int exponent) noexcept {
  *to++ = 'e';
  *to++ = exponent < 0 ? '-' : '+';
  const int size = exponent < 0 ? -exponent : exponent;  // below 100, since 128 bits hold the number
  *to++ = static_cast<char>('0' + size / 10);
  *to++ = static_cast<char>('0' + size % 10);
  return to;
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
  DigitText number;
  print_digits(number, decimal->digits, digits);
  const char* const text = number.text.data();
  const int count = number.count, exponent = decimal->exponent;
  const bool scientific = exponent < -4 || exponent >= digits;
  if (exponent < 0 && !scientific) {
    std::memcpy(to, "0.000", 5);
    to += 1 - exponent;
    put_sixteen(to, text);
    return to + count;
  }
  const int whole = scientific ? 1 : exponent + 1;
  put_sixteen(to, text);  // including trailing zeros that are not in the count
  to += whole;
  if (count > whole) {
    *to++ = '.';
    put_sixteen(to, text + whole);
    to += count - whole;
  }
  return scientific ? print_exponent(to, exponent) : to;
}

}  // namespace sherd::netcdf
