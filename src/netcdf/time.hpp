// Numbers of a time unit as dates, in the calendars of the CF conventions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// `none` has the days of a year that comes again and again: its dates have no year.
enum class Calendar : std::uint8_t { mixed, gregorian, julian, noleap, all_leap, days_360, none };

/// "days since 2000-01-01" with a calendar.
class TimeUnits {
 public:
  /// nullopt if the text is not a time unit with a date.
  static std::optional<TimeUnits> parse(std::string_view units, std::string_view calendar);
  /// The date in quotes; what is not a date is printed as CDL prints numbers.
  void append_quoted(std::string& to, double value, char separator) const;

 private:
  Calendar calendar_ = Calendar::mixed;
  bool months_ = false;  ///< counted in months of the calendar, not in hours
  double unit_ = 1;      ///< hours, or months
  std::int64_t year_ = 0;
  int month_ = 1, day_ = 1;
  double hour_ = 0;
};

/// Of a variable with `units` and perhaps `calendar`.
[[nodiscard]] std::optional<TimeUnits> time_units_of(const Variable& variable);

}  // namespace sherd::netcdf
