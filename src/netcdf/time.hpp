// Converts numbers of a time unit to dates, in the calendars of the CF conventions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// `none` is a year that repeats: its dates have no year.
enum class Calendar : std::uint8_t { mixed, gregorian, julian, noleap, all_leap, days_360, none };

/// "days since 2000-01-01" with a calendar.
class TimeUnits {
 public:
  /// nullopt if the text is not a time unit with a date.
  static std::optional<TimeUnits> parse(std::string_view units, std::string_view calendar);
  /// Appends the date in quotes; a value that is not a date is printed as a CDL number.
  void append_quoted(std::string& to, double value, char separator) const;

 private:
  Calendar calendar_ = Calendar::mixed;
  bool months_ = false;  ///< counted in calendar months, not in hours
  double unit_ = 1;      ///< hours, or months
  std::int64_t year_ = 0;
  int month_ = 1, day_ = 1;
  double hour_ = 0;
};

/// Of a variable with `units` and optionally `calendar`.
[[nodiscard]] std::optional<TimeUnits> time_units_of(const Variable& variable);

}  // namespace sherd::netcdf
