// Numbers of CDL: parsing their text, and converting them to elements of a type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// A number with the type given by its suffix or, without one, by its size.
struct CdlNumber {
  Type type = Type::int32;  ///< not character or string
  std::int64_t bits = 0;    ///< of an integer; uint64 as its two's complement
  double real = 0;          ///< of float32 (exactly a float) and float64
  bool hexadecimal = false;
  friend bool operator==(const CdlNumber&, const CdlNumber&) = default;
};

/// `12`, `-1b`, `0x7fs`, `017`, `1.5e3f`, `10ULL`: digits with sign and suffix, without special values. The error has
/// no position.
[[nodiscard]] Result<CdlNumber> parse_cdl_number(std::string_view text);

/// NaN or an infinity, also as float: "NaNf", "-Infinity". nullopt for other words.
[[nodiscard]] std::optional<CdlNumber> special_cdl_number(std::string_view word) noexcept;

/// Appends the number to values of another type, converted as in C: reals lose their fraction, and an integer that fits
/// the unsigned type of the same size wraps (255 is the byte -1). invalid_argument if it does not fit at all. Strings
/// get its text; characters accept only bytes.
[[nodiscard]] Result<void> append_cdl_number(Values& to, const CdlNumber& number);

/// In the form used in errors and in strings.
[[nodiscard]] std::string to_string(const CdlNumber& number);

}  // namespace sherd::netcdf
