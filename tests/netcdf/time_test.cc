// Numbers of a time unit as dates.
#include "netcdf/time.hpp"

#include <gtest/gtest.h>

namespace sherd::netcdf {
namespace time_test {

std::string date(double value, std::string_view units, std::string_view calendar) {
  std::string text;
  TimeUnits::parse(units, calendar).value().append_quoted(text, value, ' ');
  return text;
}

TEST(Date, LongBeforeYearZeroIsADayOfAMonthInEveryCalendar) {
  constexpr std::string_view kUnits = "days since 0001-01-01";
  EXPECT_EQ(date(-730000, kUnits, "proleptic_gregorian"), "\"-1998-05-01\"");
  EXPECT_EQ(date(-730000, kUnits, "noleap"), "\"-1999-01-01\"");
  EXPECT_EQ(date(-730000, kUnits, "360_day"), "\"-2027-03-21\"");
  EXPECT_EQ(date(-730000, kUnits, "julian"), "\"-1998-05-16\"");
  EXPECT_EQ(date(-732000, kUnits, "all_leap"), "\"-1999-01-01\"");
}

TEST(Date, IsFoundBackAcrossYearsInEveryCalendar) {
  for (const char* calendar : {"proleptic_gregorian", "noleap", "360_day", "julian", "all_leap", "standard"})
    for (const int year : {-100000, -4001, -1, 0, 1, 1999}) {
      const std::string units = "days since " + std::to_string(year) + "-12-30";
      const std::string later = date(1000, units, calendar);
      const std::string from_later = "days since " + later.substr(1, later.size() - 2);
      EXPECT_EQ(date(-1000, from_later, calendar), date(0, units, calendar)) << units << ", " << calendar;
    }
}

TEST(Date, HasFractionsOfSeconds) {
  EXPECT_EQ(date(0, "seconds since 2000-01-01 10:20:30.5", ""), "\"2000-01-01 10:20:30.500000\"");
  EXPECT_EQ(date(0, "seconds since 2000-01-01 10:20:+3", ""), "\"2000-01-01 10:20:03\"");
  EXPECT_EQ(date(0, "seconds since 2000-01-01 10:20:", ""), "\"2000-01-01 10:20\"");
  EXPECT_EQ(date(0, "seconds since 2000-01-01 10", ""), "\"2000-01-01 10\"");
}

TEST(Date, HasItsTimeAfterATOnlyIfThatFollowsTheDay) {
  EXPECT_EQ(date(1, "hour since 2000-01-01 12:00:00 UTC", ""), "\"2000-01-01 13\"");
  EXPECT_EQ(date(1, "Hours since 2000-01-01T12:00:00 UTC", ""), "\"2000-01-01 13\"");
  EXPECT_EQ(date(1, "HOURS since 2000-01-01T 12:00", ""), "\"2000-01-01 13\"");
}

TEST(Date, HasNoYearInACalendarWithoutYears) {
  EXPECT_EQ(date(58, "days since 1-1", "none"), "\"02-28\"");
  EXPECT_EQ(date(366, "days since 1-1", "NONE"), "\"01-02\"");
  EXPECT_EQ(date(1, "days since 1979-05-17 12:00", "none"), "\"05-18 12\"");
  EXPECT_EQ(date(-1, "days since 1979-05", "none"), "\"04-30\"");
  EXPECT_EQ(date(10, "months since 5-17", "none"), "\"03-01\"");
  EXPECT_FALSE(TimeUnits::parse("years since 1-1", "none").has_value());
  EXPECT_FALSE(TimeUnits::parse("days since 1979-13-01", "none").has_value());
}

}  // namespace time_test
}  // namespace sherd::netcdf
