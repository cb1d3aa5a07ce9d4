// Numbers as seen by numcodecs' filters: the element types with arithmetic, their numpy names, and numpy's conversions
// between them.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "codec/configuration.hpp"

namespace sherd {

/// Integers of 8 to 64 bits, float32 and float64.
[[nodiscard]] bool is_number(const DType& dtype) noexcept;
/// These and float16: the types with which numpy calculates.
[[nodiscard]] bool is_calculable(const DType& dtype) noexcept;
[[nodiscard]] bool is_integer(const DType& dtype) noexcept;
/// Numbers, booleans and float16: the types between which numpy casts.
[[nodiscard]] bool is_numeric(const DType& dtype) noexcept;
/// Numbers and 16-bit floats.
[[nodiscard]] bool is_real(const DType& dtype) noexcept;
/// numpy's name with byte order: "<i4", "|u1". `dtype` must be numeric.
[[nodiscard]] std::string numpy_name(const DType& dtype);
/// A member that is numpy's name of a number type ("<i4", "uint16", "f8"). If absent or null: `absent`, or
/// invalid_argument without it. Other types and non-native byte order are unsupported.
Result<DType> number_member(Configuration& configuration, std::string_view key, std::optional<DType> absent = {});
/// As number_member, but also for float16.
Result<DType> calculable_member(Configuration& configuration, std::string_view key, std::optional<DType> absent = {});
/// The type of encoded elements, as calculable_member; nullopt: that of the decoded ones.
Result<std::optional<DType>> astype_member(Configuration& configuration);
/// As number_member, but for every numeric type.
Result<DType> numeric_member(Configuration& configuration, std::string_view key, std::optional<DType> absent = {});
/// Whether elements of `dtype` are, bit for bit, numbers of the type `number`: the same type, the integer of other
/// signedness, or the counts of datetime64 and timedelta64.
[[nodiscard]] bool viewed_as(const DType& dtype, const DType& number) noexcept;

/// Like numpy's astype: integers wrap, fractions are cut off. Where C++ leaves the conversion of a float undefined, the
/// result is that of x86: the lowest bits of the smallest int32 (for 8 and 16 bits and int32) or int64 (otherwise).
template <class To, class From>
[[nodiscard]] inline To convert_number(From value) noexcept {
  if constexpr (!std::is_arithmetic_v<From>) {
    return convert_number<To>(static_cast<float>(value.value()));
  } else if constexpr (!std::is_arithmetic_v<To>) {
    return To(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<From> || std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else {
    using Wide = std::conditional_t<sizeof(To) < 4 || std::is_same_v<To, std::int32_t>, std::int32_t, std::int64_t>;
    constexpr From limit = sizeof(Wide) == 4 ? From(2147483648.0) : From(9223372036854775808.0);
    if constexpr (std::is_same_v<To, std::uint64_t>) {
      if (value >= limit && value < 2 * limit) return static_cast<To>(value);
    }
    const bool fits = value >= -limit && value < limit;
    return static_cast<To>(fits ? static_cast<Wide>(value) : std::numeric_limits<Wide>::min());
  }
}

/// A 16-bit float as stored; calculations are made in float or double and rounded half to even.
template <int Fraction>
struct SmallFloat {
  static constexpr int fraction = Fraction;
  static constexpr int bias = (1 << (14 - Fraction)) - 1;
  static constexpr std::uint16_t infinity = static_cast<std::uint16_t>(0x7fff >> Fraction << Fraction);

  std::uint16_t bits = 0;

  SmallFloat() = default;
  explicit SmallFloat(double value) noexcept : bits(rounded(std::fabs(value))) {
    if (std::signbit(value)) bits |= 0x8000;
  }

  [[nodiscard]] double value() const noexcept {
    const unsigned magnitude = bits & 0x7fffU;
    const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
    if (magnitude >> Fraction == 0) return sign * std::ldexp(magnitude, 1 - bias - Fraction);
    const bool finite = magnitude < infinity;
    const std::uint64_t exponent = finite ? (magnitude >> Fraction) + 1023 - bias : 2047;
    const std::uint64_t rest = magnitude & ((1U << Fraction) - 1);
    return std::copysign(std::bit_cast<double>(exponent << 52 | rest << (52 - Fraction)), sign);
  }

 private:
  static std::uint16_t rounded(double magnitude) noexcept {
    if (std::isnan(magnitude)) return infinity | 1U << (Fraction - 1);
    if (magnitude < std::ldexp(1.0, 1 - bias))
      return static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, bias - 1 + Fraction)));
    if (magnitude >= std::ldexp(1.0, bias + 1)) return infinity;
    constexpr int dropped = 52 - Fraction;
    auto word = std::bit_cast<std::uint64_t>(magnitude) - (std::uint64_t{1023 - bias} << 52);
    word += (std::uint64_t{1} << (dropped - 1)) - 1 + (word >> dropped & 1);
    return static_cast<std::uint16_t>(word >> dropped);
  }
};
using Float16 = SmallFloat<10>;
using BFloat16 = SmallFloat<7>;

/// a - b, a + b, a * b and a / b as in numpy: integers wrap, and every result of floats is rounded to their type.
template <class T>
[[nodiscard]] T number_difference(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else if constexpr (std::is_floating_point_v<T>)
    return a - b;
  else
    return T(a.value() - b.value());
}
template <class T>
[[nodiscard]] T number_sum(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return T(a.value() + b.value());
}
template <class T>
[[nodiscard]] T number_product(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return T(a.value() * b.value());
}
template <class T>
[[nodiscard]] T float_quotient(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>)
    return a / b;
  else
    return T(a.value() / b.value());
}

/// Calls visitor(T{}) with the C++ type of a number type.
template <class Visitor>
decltype(auto) visit_number(const DType& dtype, Visitor&& visitor) {
  switch (dtype.kind()) {
    case DType::Kind::int8:
      return visitor(std::int8_t{});
    case DType::Kind::int16:
      return visitor(std::int16_t{});
    case DType::Kind::int32:
      return visitor(std::int32_t{});
    case DType::Kind::int64:
      return visitor(std::int64_t{});
    case DType::Kind::uint16:
      return visitor(std::uint16_t{});
    case DType::Kind::uint32:
      return visitor(std::uint32_t{});
    case DType::Kind::uint64:
      return visitor(std::uint64_t{});
    case DType::Kind::float32:
      return visitor(float{});
    case DType::Kind::float64:
      return visitor(double{});
    default:
      return visitor(std::uint8_t{});
  }
}

/// visit_number() that also visits Float16.
template <class Visitor>
decltype(auto) visit_calculable(const DType& dtype, Visitor&& visitor) {
  if (dtype.kind() == DType::Kind::float16) return visitor(Float16{});
  return visit_number(dtype, std::forward<Visitor>(visitor));
}

/// visit_number() that also visits Float16 and BFloat16.
template <class Visitor>
decltype(auto) visit_real(const DType& dtype, Visitor&& visitor) {
  if (dtype.kind() == DType::Kind::bfloat16) return visitor(BFloat16{});
  return visit_calculable(dtype, std::forward<Visitor>(visitor));
}

/// Calls visitor(Word{}) with the unsigned type of this size: 1, 2, 4 or 8 bytes.
template <class Visitor>
decltype(auto) visit_word(std::size_t bytes, Visitor&& visitor) {
  switch (bytes) {
    case 1:
      return visitor(std::uint8_t{});
    case 2:
      return visitor(std::uint16_t{});
    case 4:
      return visitor(std::uint32_t{});
    default:
      return visitor(std::uint64_t{});
  }
}

/// Elements at unaligned addresses.
template <class T>
[[nodiscard]] inline T load_number(const std::byte* from, std::size_t index) noexcept {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}
template <class T>
inline void store_number(std::byte* to, std::size_t index, T value) noexcept {
  std::memcpy(to + index * sizeof(T), &value, sizeof(T));
}

}  // namespace sherd
