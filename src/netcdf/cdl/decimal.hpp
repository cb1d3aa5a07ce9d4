// Prints floating-point numbers like printf, two to three times as fast as std::to_chars.
#pragma once

#include <cstddef>

namespace sherd::netcdf {

/// Larger than the longest text.
inline constexpr std::size_t kDecimalSize = 48;
/// Prints a finite number like printf's %.*g in the locale "C", with up to 20 digits. Returns the end of the text; `to`
/// has kDecimalSize bytes.
[[nodiscard]] char* print_decimal(char* to, double value, int digits) noexcept;

}  // namespace sherd::netcdf
