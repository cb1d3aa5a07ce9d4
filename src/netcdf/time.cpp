// Dates as printed by ncdump -t. Hours are added in the same order as in cdtime, so that fractions of seconds are
// rounded in the same way.
#include "netcdf/time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "base/text.hpp"
#include "netcdf/cdl/text.hpp"

namespace sherd::netcdf {

namespace {

struct Date {
  std::int64_t year = 0;
  int month = 1, day = 1;
  double hour = 0;
};

/// The change from the Julian to the Gregorian calendar: this Gregorian day follows the Julian 4 October 1582.
constexpr Date kFirstGregorian{1582, 10, 15, 0}, kAfterLastJulian{1582, 10, 5, 0};
/// More hours than between any useful date and its epoch.
constexpr double kFarthest = 1e13;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

bool is_leap(std::int64_t year, Calendar calendar) {
  switch (calendar) {
    case Calendar::all_leap:
      return true;
    case Calendar::noleap:
    case Calendar::days_360:
    case Calendar::none:
      return false;
    case Calendar::julian:
      return year % 4 == 0;
    default:
      return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  }
}

/// Days of all earlier years, counted from year 0.
std::int64_t days_before(std::int64_t year, Calendar calendar) {
  const auto leap_years = [&](std::int64_t step) { return floor_div(year - 1, step) + 1; };  // 0 … year - 1
  switch (calendar) {
    case Calendar::all_leap:
      return 366 * year;
    case Calendar::noleap:
    case Calendar::none:
      return 365 * year;
    case Calendar::days_360:
      return 360 * year;
    case Calendar::julian:
      return 365 * year + leap_years(4);
    default:
      return 365 * year + leap_years(4) - leap_years(100) + leap_years(400);
  }
}

constexpr std::array<int, 12> kMonths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

int days_in(int month, std::int64_t year, Calendar calendar) {
  if (calendar == Calendar::days_360) return 30;
  return kMonths[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap(year, calendar) ? 1 : 0);
}

/// Hours since the beginning of 1970 in this calendar.
double hours_of(const Date& date, Calendar calendar) {
  std::int64_t days = days_before(date.year, calendar) - days_before(1970, calendar) + date.day - 1;
  for (int month = 1; month < date.month; ++month) days += days_in(month, date.year, calendar);
  return static_cast<double>(days) * 24.0 + date.hour;
}

Date date_of(double hours, Calendar calendar) {
  std::int64_t day = static_cast<std::int64_t>(std::floor(hours / 24.0));
  Date date;
  date.hour = hours - static_cast<double>(day) * 24.0;
  if (date.hour >= 24.0) {
    ++day;
    date.hour -= 24.0;
  }
  day += days_before(1970, calendar);
  date.year = floor_div(day, day < 0 ? 360 : 366);  // not after the required year, in any calendar
  while (days_before(date.year + 1, calendar) <= day) {
    // Jumps close to the year, and then advances by single years.
    const std::int64_t left = (day - days_before(date.year, calendar)) / 366;
    date.year += std::max<std::int64_t>(1, left);
  }
  std::int64_t rest = day - days_before(date.year, calendar);
  for (date.month = 1; date.month < 12 && rest >= days_in(date.month, date.year, calendar); ++date.month)
    rest -= days_in(date.month, date.year, calendar);
  date.day = static_cast<int>(rest) + 1;
  return date;
}

/// cdtime adds hours to those since 1979.
Date later(const Date& date, double hours, Calendar calendar) {
  const double from = hours_of({1979, 1, 1, 0}, calendar);
  return date_of(from + ((hours_of(date, calendar) - from) + hours), calendar);
}

bool is_before(const Date& a, const Date& b) {
  return std::tie(a.year, a.month, a.day, a.hour) < std::tie(b.year, b.month, b.day, b.hour);
}

Date later_mixed(const Date& date, double hours) {
  constexpr Calendar gregorian = Calendar::gregorian, julian = Calendar::julian;
  if (is_before(date, kFirstGregorian)) {
    const double left = hours_of(kAfterLastJulian, julian) - hours_of(date, julian);
    return hours <= left ? later(date, hours, julian) : later(kFirstGregorian, hours - left, gregorian);
  }
  const double back = hours_of(kFirstGregorian, gregorian) - hours_of(date, gregorian);
  return hours > back ? later(date, hours, gregorian) : later(kAfterLastJulian, hours - back, julian);
}

/// With as many parts as are non-zero, to the microsecond.
std::string print(const Date& date, Calendar calendar, char separator) {
  constexpr std::int64_t kSecond = 1000000;
  // A time rounded up to the end of a day is hour 24 of it, as in ncdump.
  const auto time = static_cast<std::int64_t>(std::llround(date.hour * 3600.0 * static_cast<double>(kSecond)));
  const auto second = static_cast<int>(time / kSecond % 60), fraction = static_cast<int>(time % kSecond);
  const auto minute = static_cast<int>(time / (60 * kSecond) % 60), hour = static_cast<int>(time / (3600 * kSecond));
  std::array<char, 64> text{};
  std::string result;
  if (calendar != Calendar::none) {
    std::snprintf(text.data(), text.size(), "%4.4lld-", static_cast<long long>(date.year));
    result = text.data();
  }
  std::snprintf(text.data(), text.size(), "%2.2d-%2.2d", date.month, date.day);
  result += text.data();
  if (time == 0) return result;
  std::snprintf(text.data(), text.size(), "%c%2.2d", separator, hour);
  result += text.data();
  if (time % (3600 * kSecond) == 0) return result;
  std::snprintf(text.data(), text.size(), ":%2.2d", minute);
  result += text.data();
  if (time % (60 * kSecond) == 0) return result;
  if (fraction == 0)
    std::snprintf(text.data(), text.size(), ":%2.2d", second);
  else
    std::snprintf(text.data(), text.size(), ":%d.%06d", second, fraction);
  return result + text.data();
}

struct Unit {
  double hours = 0, months = 0;
  double per_hour = 0;  ///< of units shorter than an hour, since dividing is exact where multiplying is not
};

/// Ignores case.
bool begins_with(std::string_view text, std::string_view beginning) {
  return equals_in_any_case(text.substr(0, beginning.size()), beginning);
}

std::optional<Unit> unit_called(std::string_view name) {
  const auto is = [&](std::string_view beginning, std::string_view abbreviation) {
    return begins_with(name, beginning) || (begins_with(name, abbreviation) && name.size() == abbreviation.size());
  };
  if (is("sec", "s")) return Unit{.per_hour = 3600};
  if (is("min", "mn")) return Unit{.per_hour = 60};
  if (is("hour", "hr")) return Unit{.hours = 1};
  if (is("day", "dy")) return Unit{.hours = 24};
  if (is("week", "wk")) return Unit{.hours = 168};
  if (is("month", "mo")) return Unit{.months = 1};
  if (is("season", "season")) return Unit{.months = 3};
  if (is("year", "yr")) return Unit{.months = 12};
  return std::nullopt;
}

Calendar calendar_called(std::string_view name) {
  constexpr std::pair<std::string_view, Calendar> names[] = {
      {"gregorian", Calendar::mixed},  {"standard", Calendar::mixed},    {"proleptic_gregorian", Calendar::gregorian},
      {"noleap", Calendar::noleap},    {"no_leap", Calendar::noleap},    {"365_day", Calendar::noleap},
      {"allleap", Calendar::all_leap}, {"all_leap", Calendar::all_leap}, {"366_day", Calendar::all_leap},
      {"360_day", Calendar::days_360}, {"julian", Calendar::julian},     {"none", Calendar::none}};
  if (!name.empty())
    for (const auto& [known, calendar] : names)
      if (begins_with(known, name)) return calendar;
  return Calendar::mixed;
}

/// Removes the first word of `text` and returns it; empty if there is none.
std::string_view take_word(std::string_view& text) {
  constexpr std::string_view kBlank = " \t\n\v\f\r";
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  const std::size_t end = std::min(text.find_first_of(kBlank, begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

/// The number at the beginning of a text, in any locale of the process; 0 if there is none.
double number_at(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Year, month and day; in a calendar whose dates have no year, month and day.
std::optional<Date> parse_day(const std::string& text, Calendar calendar) {
  long long year = 0;
  int month = 1, day = 1;
  const int count = std::sscanf(text.c_str(), "%lld-%d-%d", &year, &month, &day);
  if (count < 1 || std::abs(year) > 1000000) return std::nullopt;
  if (calendar == Calendar::none) {  // if there is a year, it is ignored
    if (count < 3 && year >= 1 && year <= 12) {
      day = count == 2 ? month : 1;
      month = static_cast<int>(year);
    }
    year = 1970;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  return Date{year, month, day, 0};
}

/// Hours since midnight.
std::optional<double> parse_clock(const std::string& text) {
  int hour = 0, minute = 0, seconds = 0;
  std::sscanf(text.c_str(), "%d:%d:%n", &hour, &minute, &seconds);
  const double second = seconds > 0 ? number_at(std::string_view(text).substr(static_cast<std::size_t>(seconds))) : 0;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || !(second >= 0 && second <= 60)) return std::nullopt;
  return hour + minute / 60.0 + second / 3600.0;
}

/// A day and optionally a time, after a blank or a T. Anything after it, such as a time zone, is ignored, as in ncdump.
std::optional<Date> parse_date(std::string_view text, Calendar calendar) {
  constexpr std::size_t kLongest = 80;
  std::string_view day = take_word(text), time;
  if (const std::size_t t = day.find('T'); t != day.npos) {
    time = day.substr(t + 1);
    day = day.substr(0, t);
  }
  if (time.empty()) time = take_word(text);
  auto date = parse_day(std::string(day.substr(0, kLongest)), calendar);
  const auto clock = parse_clock(std::string(time.substr(0, kLongest)));
  if (!date || !clock) return std::nullopt;
  date->hour = *clock;
  return date;
}

const std::string* text_attribute(const Variable& variable, std::string_view name) {
  const Values* values = variable.attribute(name);
  return values != nullptr ? std::get_if<std::string>(values) : nullptr;
}

}  // namespace

std::optional<TimeUnits> TimeUnits::parse(std::string_view units, std::string_view calendar) {
  const auto unit = unit_called(take_word(units));
  if (!unit || take_word(units) != "since") return std::nullopt;
  TimeUnits result;
  result.calendar_ = calendar_called(calendar);
  if (result.calendar_ == Calendar::none && unit->months == 12) return std::nullopt;  // there are no years
  const auto date = parse_date(units, result.calendar_);
  if (!date) return std::nullopt;
  result.months_ = unit->months > 0;
  result.unit_ = result.months_ ? unit->months : unit->per_hour > 0 ? -unit->per_hour : unit->hours;
  std::tie(result.year_, result.month_, result.day_, result.hour_) =
      std::tuple(date->year, date->month, date->day, date->hour);
  return result;
}

void TimeUnits::append_quoted(std::string& to, double value, char separator) const {
  const Date base{year_, month_, day_, hour_};
  const double amount = unit_ < 0 ? value / -unit_ : unit_ * value;
  if (!std::isfinite(value) || std::abs(amount) > kFarthest) {
    append_cdl_number(to, value, 15);
    return;
  }
  Date date = base;
  if (months_) {
    if (value != 0) {
      const auto months = static_cast<std::int64_t>(amount + (value < 0 ? -1e-10 : 1e-10)) + month_ - 1;
      date = {year_ + floor_div(months, 12), static_cast<int>(months - 12 * floor_div(months, 12)) + 1, 1, 0};
    }
  } else if (calendar_ == Calendar::mixed) {
    date = later_mixed(base, amount);
  } else {
    date = date_of(hours_of(base, calendar_) + amount, calendar_);
  }
  to += '"' + print(date, calendar_, separator) + '"';
}

std::optional<TimeUnits> time_units_of(const Variable& variable) {
  const std::string* units = text_attribute(variable, "units");
  if (units == nullptr) return std::nullopt;
  const std::string* calendar = text_attribute(variable, "calendar");
  return TimeUnits::parse(*units, calendar != nullptr ? std::string_view(*calendar) : std::string_view());
}

}  // namespace sherd::netcdf
