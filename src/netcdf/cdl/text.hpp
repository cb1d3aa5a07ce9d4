// Names, numbers and texts in CDL, byte for byte as printed by ncdump of netcdf-c 4.9.0.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "netcdf/cdl/decimal.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// A name with `\` before characters that have another meaning in CDL.
[[nodiscard]] std::string cdl_name(std::string_view name);

/// Significant digits of floats and doubles.
struct Digits {
  int of_float = 7, of_double = 15;
};

/// CDL's word for a string that is a null pointer.
inline constexpr std::string_view kNil = "NIL";

/// The values of an attribute with the suffixes of their types: `1b, 2b`, `1.5f`, `"text"`.
[[nodiscard]] std::string cdl_attribute(const Attribute& attribute, const Digits& digits);

/// Text in quotes without trailing NULs. In data, a text begins a new line after each "\n", and non-ASCII characters
/// are escaped.
enum class TextUse : std::uint8_t { attribute, data, string };
void append_cdl_text(std::string& to, std::string_view text, TextUse use);
/// A part of a text as append_cdl_text() escapes it, without quotes and with trailing NULs.
void append_cdl_characters(std::string& to, std::string_view text, TextUse use);

/// Prints like printf's %.*g; NaN, infinities and their suffixes as in CDL. Returns the end of the text; `to` has
/// kDecimalSize bytes.
[[nodiscard]] char* print_cdl_number(char* to, float value, int digits);
[[nodiscard]] char* print_cdl_number(char* to, double value, int digits);
template <class T>
void append_cdl_number(std::string& to, T value, int digits) {
  std::array<char, kDecimalSize> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  to.append(text.data(), print_cdl_number(text.data(), value, digits));
}

/// A format from the attribute C_format, used only if it is a single conversion that fits the type: `%8.3f`.
class CFormat {
 public:
  /// nullopt if the text does not have that form.
  static std::optional<CFormat> parse(std::string_view text, Type type);
  void append(std::string& to, double value) const;
  void append(std::string& to, std::int64_t value) const;
  void append(std::string& to, std::uint64_t value) const;

 private:
  /// A negative number as the bits that `%x` prints: as many as an int has, or as the format says if they are enough,
  /// or 64.
  [[nodiscard]] std::int64_t as_unsigned(std::int64_t value) const;

  std::string before_, conversion_, after_;  ///< the conversion without length modifier and type
  char type_ = 'd';
  unsigned bits_ = 64;  ///< of a negative number
};

}  // namespace sherd::netcdf
