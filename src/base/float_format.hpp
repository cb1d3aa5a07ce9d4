// The structure of binary floating-point types, one row each. Everything about the numbers of a type follows from its
// row: values, rounding, infinities and NaNs, text in metadata.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sherd/dtype.hpp"

namespace sherd {

/// From the highest bit down: a sign, an exponent, a fraction; exponent 0 is that of subnormal numbers.
struct FloatFormat {
  enum class Specials : std::uint8_t {
    ieee,   ///< the largest exponent: infinity if the fraction is 0, otherwise NaN
    fn,     ///< no infinity; NaN has all bits set, with either sign
    fnuz,   ///< no infinity; the pattern of -0 is NaN
    none,   ///< neither infinity nor NaN
    scale,  ///< powers of two only: no sign, no zero, no fraction; NaN has all bits set
  };
  int bits = 0;
  int fraction = 0;
  int bias = 0;
  Specials specials = Specials::ieee;

  /// All significant bits; in memory, narrower types have zeros above them.
  [[nodiscard]] constexpr std::uint64_t all() const noexcept { return ~std::uint64_t{0} >> (64 - bits); }
  [[nodiscard]] constexpr std::uint64_t sign() const noexcept {
    return specials == Specials::scale ? 0 : std::uint64_t{1} << (bits - 1);
  }
  /// The bits of a magnitude.
  [[nodiscard]] constexpr std::uint64_t magnitude() const noexcept { return all() & ~sign(); }
  [[nodiscard]] constexpr std::optional<std::uint64_t> infinity() const noexcept {
    if (specials != Specials::ieee) return std::nullopt;
    return magnitude() >> fraction << fraction;
  }
  /// The NaN to which "NaN" in metadata is converted.
  [[nodiscard]] constexpr std::optional<std::uint64_t> nan() const noexcept {
    switch (specials) {
      case Specials::ieee:
        return *infinity() | std::uint64_t{1} << (fraction - 1);
      case Specials::fnuz:
        return sign();
      case Specials::none:
        return std::nullopt;
      default:
        return magnitude();
    }
  }
  [[nodiscard]] constexpr bool is_nan(std::uint64_t word) const noexcept {
    switch (specials) {
      case Specials::ieee:
        return (word & magnitude()) > *infinity();
      case Specials::fnuz:
        return word == sign();
      case Specials::none:
        return false;
      default:
        return (word & magnitude()) == magnitude();
    }
  }
  /// The magnitude of the largest number.
  [[nodiscard]] constexpr std::uint64_t largest() const noexcept {
    if (infinity()) return *infinity() - 1;
    return specials == Specials::fn || specials == Specials::scale ? magnitude() - 1 : magnitude();
  }
  /// The exponent of the smallest normal number.
  [[nodiscard]] constexpr int least() const noexcept { return specials == Specials::scale ? -bias : 1 - bias; }
  /// The word of a number: some types have no negative zero.
  [[nodiscard]] constexpr std::uint64_t word(bool negative, std::uint64_t bits_of_magnitude) const noexcept {
    if (bits_of_magnitude == 0 && specials == Specials::fnuz) return 0;
    return negative ? sign() | bits_of_magnitude : bits_of_magnitude;
  }
};

struct FloatRow {
  DType::Kind kind;
  FloatFormat format;
};

// Bits, fraction, bias. The OCP's names are those of its "8-bit Floating Point" and "Microscaling Formats"
// specifications; the others are those of LLVM's APFloat, which ml_dtypes and zarr-extensions adopted.
inline constexpr std::array<FloatRow, 15> kFloats = {{
    {DType::Kind::float4_e2m1fn, {4, 1, 1, FloatFormat::Specials::none}},
    {DType::Kind::float6_e2m3fn, {6, 3, 1, FloatFormat::Specials::none}},
    {DType::Kind::float6_e3m2fn, {6, 2, 3, FloatFormat::Specials::none}},
    {DType::Kind::float8_e3m4, {8, 4, 3, FloatFormat::Specials::ieee}},
    {DType::Kind::float8_e4m3, {8, 3, 7, FloatFormat::Specials::ieee}},
    {DType::Kind::float8_e4m3b11fnuz, {8, 3, 11, FloatFormat::Specials::fnuz}},
    {DType::Kind::float8_e4m3fn, {8, 3, 7, FloatFormat::Specials::fn}},
    {DType::Kind::float8_e4m3fnuz, {8, 3, 8, FloatFormat::Specials::fnuz}},
    {DType::Kind::float8_e5m2, {8, 2, 15, FloatFormat::Specials::ieee}},
    {DType::Kind::float8_e5m2fnuz, {8, 2, 16, FloatFormat::Specials::fnuz}},
    {DType::Kind::float8_e8m0fnu, {8, 0, 127, FloatFormat::Specials::scale}},
    {DType::Kind::float16, {16, 10, 15, FloatFormat::Specials::ieee}},
    {DType::Kind::bfloat16, {16, 7, 127, FloatFormat::Specials::ieee}},
    {DType::Kind::float32, {32, 23, 127, FloatFormat::Specials::ieee}},
    {DType::Kind::float64, {64, 52, 1023, FloatFormat::Specials::ieee}},
}};

/// nullopt for types that are not real floats.
[[nodiscard]] constexpr std::optional<FloatFormat> float_format(DType::Kind kind) noexcept {
  for (const FloatRow& row : kFloats)
    if (row.kind == kind) return row.format;
  return std::nullopt;
}

/// The type of the two parts of a complex type; nullopt for other types.
[[nodiscard]] constexpr std::optional<DType::Kind> part_of_complex(DType::Kind kind) noexcept {
  using Kind = DType::Kind;
  if (kind == Kind::complex64) return Kind::float32;
  if (kind == Kind::complex128) return Kind::float64;
  if (kind == Kind::complex_float16) return Kind::float16;
  if (kind == Kind::complex_bfloat16) return Kind::bfloat16;
  if (kind < Kind::complex_float4_e2m1fn || kind > Kind::complex_float8_e8m0fnu) return std::nullopt;
  const int offset = static_cast<int>(kind) - static_cast<int>(Kind::complex_float4_e2m1fn);
  return static_cast<Kind>(static_cast<int>(Kind::float4_e2m1fn) + offset);
}

/// Numbers of fewer than eight bits, one byte each.
struct NarrowNumbers {
  unsigned bits = 8;
  bool is_signed = false;  ///< an integer whose sign bit is repeated in the bits above
};

/// The type of the bytes of an element if they are narrow numbers; those of a complex type are its two parts.
[[nodiscard]] constexpr std::optional<NarrowNumbers> narrow_numbers(DType::Kind kind) noexcept {
  using Kind = DType::Kind;
  switch (kind) {
    case Kind::int2:
      return NarrowNumbers{2, true};
    case Kind::int4:
      return NarrowNumbers{4, true};
    case Kind::uint2:
      return NarrowNumbers{2, false};
    case Kind::uint4:
      return NarrowNumbers{4, false};
    default:
      break;
  }
  const auto format = float_format(part_of_complex(kind).value_or(kind));
  if (!format || format->bits >= 8) return std::nullopt;
  return NarrowNumbers{static_cast<unsigned>(format->bits), false};
}

/// Numbers for which NumPy has no type: in its files they are opaque bytes (V1), as with ml_dtypes.
[[nodiscard]] constexpr bool is_opaque_to_numpy(DType::Kind kind) noexcept {
  return kind == DType::Kind::bfloat16 || (kind >= DType::Kind::int2 && kind < DType::Kind::optional);
}

}  // namespace sherd
