// Numbers as numcodecs' filters see them: the element types that have arithmetic, numpy's names for them, and its
// conversions from one to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "codec/configuration.hpp"

namespace sherd {

/// Integers of 8 to 64 bits, float32 and float64.
[[nodiscard]] bool is_number(const DType& dtype) noexcept;
[[nodiscard]] bool is_integer(const DType& dtype) noexcept;
/// numpy's name with byte order: "<i4", "|u1". `dtype` must be a number.
[[nodiscard]] std::string numpy_name(const DType& dtype);
/// A member that holds numpy's name of a number type ("<i4", "uint16", "f8"); absent or null: `absent`, and without
/// that invalid_argument. Other types and foreign byte order are unsupported.
Result<DType> number_member(Configuration& configuration, std::string_view key, std::optional<DType> absent = {});
/// True where elements of `dtype` are numbers of the type `number`, bit for bit: the same type, or an integer's other
/// signedness, or the counts of datetime64 and timedelta64.
[[nodiscard]] bool viewed_as(const DType& dtype, const DType& number) noexcept;

/// As numpy's astype: integers wrap, fractions are cut off. Where C++ leaves a float's conversion undefined, the result
/// is what x86 gives: of the smallest int32 (for 8 and 16 bits and int32) or int64 (otherwise), the lowest bits.
template <class To, class From>
[[nodiscard]] inline To convert_number(From value) noexcept {
  if constexpr (std::is_integral_v<From> || std::is_floating_point_v<To>) {
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

/// Elements at addresses of any alignment.
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
