// Numbers of any type in one exact form, sign · significand · 2^exponent, from which they are rounded once to any other
// type.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>

#include "base/float_format.hpp"

namespace sherd {

enum class Rounding : std::uint8_t { nearest_even, nearest_away, towards_zero, towards_positive, towards_negative };
/// How numbers are treated that are too large for a type, or too small for one without zero.
enum class OutOfRange : std::uint8_t {
  error,
  clamp,    ///< the nearest number, or infinity if the type has it
  wrap,     ///< modulo 2^bits; integers only
  special,  ///< in floats: infinity, else NaN, else the nearest number; an error in integers
};

struct RoundingRules {
  Rounding rounding = Rounding::nearest_even;
  OutOfRange out_of_range = OutOfRange::error;
};

/// One number, exactly. Numbers of one type are equal if all members are equal; zeros differ only in `negative`.
struct Real {
  enum class Kind : std::uint8_t { finite, infinite, nan } kind = Kind::finite;
  bool negative = false;
  int exponent = 0;
  std::uint64_t significand = 0;

  [[nodiscard]] auto key() const noexcept {
    const bool sign = negative && (kind == Kind::infinite || significand != 0);
    return std::tuple(kind, sign, exponent, significand);
  }
};

/// An integer type: its C++ type, and how many of its bits are used.
template <class T, int Bits = 8 * sizeof(T)>
struct IntegerNumber {
  using Word = T;
  static constexpr bool is_integer = true;
  static constexpr std::uint64_t most = ~std::uint64_t{0} >>
                                        (64 - Bits + (std::is_signed_v<T> ? 1 : 0));  ///< largest positive magnitude
  static constexpr std::uint64_t least = std::is_signed_v<T> ? most + 1 : 0;

  [[nodiscard]] static T extended(T value) noexcept {
    constexpr int unused = 8 * static_cast<int>(sizeof(T)) - Bits;
    if constexpr (unused == 0) return value;
    return static_cast<T>(static_cast<T>(value << unused) >> unused);
  }
  [[nodiscard]] static Real load(Word word) noexcept {
    const T value = extended(word);
    const auto bits = static_cast<std::uint64_t>(value);
    return {.negative = value < 0, .significand = value < 0 ? 0 - bits : bits};
  }
};

/// A float type, by its format.
template <FloatFormat Format>
struct FloatNumber {
  using Word =
      std::conditional_t<Format.bits <= 8, std::uint8_t,
                         std::conditional_t<Format.bits == 16, std::uint16_t,
                                            std::conditional_t<Format.bits == 32, std::uint32_t, std::uint64_t>>>;
  static constexpr bool is_integer = false;

  [[nodiscard]] static Real load(Word stored) noexcept {
    const std::uint64_t word = stored & Format.all();
    const bool negative = (word & Format.sign()) != 0;
    const std::uint64_t magnitude = word & Format.magnitude();
    if (Format.is_nan(word)) return {.kind = Real::Kind::nan};
    if (Format.infinity() && magnitude == *Format.infinity())
      return {.kind = Real::Kind::infinite, .negative = negative};
    if constexpr (Format.specials == FloatFormat::Specials::scale)
      return {.exponent = static_cast<int>(word) - Format.bias, .significand = 1};
    constexpr std::uint64_t one = std::uint64_t{1} << Format.fraction;
    const auto exponent = static_cast<int>(magnitude >> Format.fraction);
    return {.negative = negative,
            .exponent = std::max(exponent, 1) - Format.bias - Format.fraction,
            .significand = (magnitude & (one - 1)) | (exponent != 0 ? one : 0)};
  }
};

/// significand / 2^shift, rounded; shift > 0.
[[nodiscard]] inline std::uint64_t shifted_right(const Real& real, int shift, Rounding rounding) noexcept {
  const std::uint64_t whole = shift < 64 ? real.significand >> shift : 0;
  const std::uint64_t rest = shift < 64 ? real.significand - (whole << shift) : real.significand;
  if (rest == 0) return whole;
  const std::uint64_t half = shift <= 64 ? std::uint64_t{1} << (shift - 1) : 0;
  const bool above = shift <= 64 && rest > half;
  const bool tie = shift <= 64 && rest == half;
  bool up = false;
  switch (rounding) {
    case Rounding::nearest_even:
      up = above || (tie && whole % 2 == 1);
      break;
    case Rounding::nearest_away:
      up = above || tie;
      break;
    case Rounding::towards_zero:
      break;
    case Rounding::towards_positive:
      up = !real.negative;
      break;
    case Rounding::towards_negative:
      up = real.negative;
      break;
  }
  return whole + (up ? 1 : 0);
}

/// The number's word in an integer type; nullopt if the rules give none.
template <class T, int Bits>
[[nodiscard]] std::optional<T> word_of(IntegerNumber<T, Bits>, const Real& real, RoundingRules rules) noexcept {
  using Number = IntegerNumber<T, Bits>;
  if (real.kind != Real::Kind::finite) return std::nullopt;
  const int shift = real.exponent;
  std::uint64_t magnitude = real.significand;
  if (shift < 0) magnitude = shifted_right(real, -shift, rules.rounding);
  if (shift > 0) magnitude = shift < 64 ? magnitude << shift : 0;
  const bool lost = shift > 0 && (shift >= 64 || magnitude >> shift != real.significand) && real.significand != 0;
  const std::uint64_t limit = real.negative ? Number::least : Number::most;
  if (!lost && magnitude <= limit) return static_cast<T>(real.negative ? 0 - magnitude : magnitude);
  if (rules.out_of_range == OutOfRange::wrap)
    return Number::extended(static_cast<T>(real.negative ? 0 - magnitude : magnitude));
  if (rules.out_of_range != OutOfRange::clamp) return std::nullopt;
  return static_cast<T>(real.negative ? 0 - limit : limit);
}

/// The largest result of rounded_magnitude(). If exponent 0 is a normal number, words are one less.
template <FloatFormat Format>
inline constexpr std::uint64_t kLargestRounded =
    Format.largest() + (Format.specials == FloatFormat::Specials::scale ? 1 : 0);

/// The magnitude's bits of a finite number, rounded as if there were subnormal numbers; more than kLargestRounded if it
/// is too large.
template <FloatFormat Format>
[[nodiscard]] std::uint64_t rounded_magnitude(const Real& real, Rounding rounding) noexcept {
  constexpr std::uint64_t too_large = kLargestRounded<Format> + 1;
  const int leading = std::bit_width(real.significand) - 1 + real.exponent;
  if (leading > 2048) return too_large;
  const int exponent = std::max(leading, Format.least());
  const int shift = exponent - Format.fraction - real.exponent;
  const std::uint64_t digits = shift > 0 ? shifted_right(real, shift, rounding) : real.significand << -shift;
  const auto binade = static_cast<std::uint64_t>(exponent - Format.least());
  if (binade > kLargestRounded<Format> >> Format.fraction) return too_large;
  // The leading bit of a normal number carries into the exponent, as does a carry from rounding.
  return std::min((binade << Format.fraction) + digits, too_large);
}

/// `real` rounded to a number of a float type.
template <FloatFormat Format>
[[nodiscard]] std::optional<typename FloatNumber<Format>::Word> word_of(FloatNumber<Format>, const Real& real,
                                                                        RoundingRules rules) noexcept {
  using Word = typename FloatNumber<Format>::Word;
  const auto word = [](bool negative, std::uint64_t magnitude) {
    return static_cast<Word>(Format.word(negative, magnitude));
  };
  // Out of range: infinity if there is one, otherwise according to the rules.
  const auto beyond = [&](std::uint64_t nearest) -> std::optional<Word> {
    if (rules.out_of_range == OutOfRange::error || rules.out_of_range == OutOfRange::wrap) return std::nullopt;
    if (nearest == Format.largest() && Format.infinity()) return word(real.negative, *Format.infinity());
    if (rules.out_of_range == OutOfRange::special && Format.nan()) return static_cast<Word>(*Format.nan());
    return word(real.negative && Format.sign() != 0, nearest);
  };
  if (real.kind == Real::Kind::nan) {
    if (!Format.nan()) return std::nullopt;
    return static_cast<Word>(*Format.nan());
  }
  if (real.kind == Real::Kind::infinite) {
    if (Format.infinity()) return word(real.negative, *Format.infinity());
    return rules.out_of_range == OutOfRange::special ? beyond(Format.largest()) : std::nullopt;
  }
  if constexpr (Format.specials == FloatFormat::Specials::scale) {
    if (real.negative || real.significand == 0) return beyond(0);
    const std::uint64_t magnitude = rounded_magnitude<Format>(real, rules.rounding);
    if (magnitude > kLargestRounded<Format>) return beyond(Format.largest());
    // There is no number below the smallest one to round down to.
    const bool down = rules.rounding == Rounding::towards_zero || rules.rounding == Rounding::towards_negative;
    if (magnitude == 0) return down ? beyond(0) : std::optional<Word>(0);
    return static_cast<Word>(magnitude - 1);
  } else {
    if (real.significand == 0) return word(real.negative, 0);
    const std::uint64_t magnitude = rounded_magnitude<Format>(real, rules.rounding);
    return magnitude <= Format.largest() ? word(real.negative, magnitude) : beyond(Format.largest());
  }
}

/// Calls visitor(IntegerNumber or FloatNumber) for a real type; `otherwise()` for any other type.
template <class Visitor, class Otherwise>
decltype(auto) visit_real_number(DType::Kind kind, Visitor&& visitor, Otherwise&& otherwise) {
  using Kind = DType::Kind;
  switch (kind) {
    case Kind::int2:
      return visitor(IntegerNumber<std::int8_t, 2>{});
    case Kind::int4:
      return visitor(IntegerNumber<std::int8_t, 4>{});
    case Kind::int8:
      return visitor(IntegerNumber<std::int8_t>{});
    case Kind::int16:
      return visitor(IntegerNumber<std::int16_t>{});
    case Kind::int32:
      return visitor(IntegerNumber<std::int32_t>{});
    case Kind::int64:
      return visitor(IntegerNumber<std::int64_t>{});
    case Kind::uint2:
      return visitor(IntegerNumber<std::uint8_t, 2>{});
    case Kind::uint4:
      return visitor(IntegerNumber<std::uint8_t, 4>{});
    case Kind::uint8:
      return visitor(IntegerNumber<std::uint8_t>{});
    case Kind::uint16:
      return visitor(IntegerNumber<std::uint16_t>{});
    case Kind::uint32:
      return visitor(IntegerNumber<std::uint32_t>{});
    case Kind::uint64:
      return visitor(IntegerNumber<std::uint64_t>{});
#define SHERD_FLOAT(NAME) \
  case Kind::NAME:        \
    return visitor(FloatNumber<*float_format(Kind::NAME)>{})
      SHERD_FLOAT(float4_e2m1fn);
      SHERD_FLOAT(float6_e2m3fn);
      SHERD_FLOAT(float6_e3m2fn);
      SHERD_FLOAT(float8_e3m4);
      SHERD_FLOAT(float8_e4m3);
      SHERD_FLOAT(float8_e4m3b11fnuz);
      SHERD_FLOAT(float8_e4m3fn);
      SHERD_FLOAT(float8_e4m3fnuz);
      SHERD_FLOAT(float8_e5m2);
      SHERD_FLOAT(float8_e5m2fnuz);
      SHERD_FLOAT(float8_e8m0fnu);
      SHERD_FLOAT(float16);
      SHERD_FLOAT(bfloat16);
      SHERD_FLOAT(float32);
      SHERD_FLOAT(float64);
#undef SHERD_FLOAT
    default:
      return otherwise();
  }
}

/// The words of numbers in memory, at any alignment.
template <class Number>
[[nodiscard]] Real load_real(const std::byte* from, std::size_t index) noexcept {
  typename Number::Word word;
  std::memcpy(&word, from + index * sizeof word, sizeof word);
  return Number::load(word);
}
template <class Number>
[[nodiscard]] bool store_real(const Real& real, RoundingRules rules, std::byte* to, std::size_t index) noexcept {
  const auto word = word_of(Number{}, real, rules);
  if (word) std::memcpy(to + index * sizeof *word, &*word, sizeof *word);
  return word.has_value();
}

}  // namespace sherd
