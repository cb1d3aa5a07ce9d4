// Floating-point numbers as printf prints them, several times as fast as the standard library.
#pragma once

#include <cstddef>

namespace sherd::netcdf {

/// More than the longest text has.
inline constexpr std::size_t kDecimalSize = 48;
/// A finite number as printf's %.*g in the locale "C", with up to 20 digits. Returns where the text ends; `to` has
/// kDecimalSize bytes.
[[nodiscard]] char* print_decimal(char* to, double value, int digits) noexcept;

}  // namespace sherd::netcdf
