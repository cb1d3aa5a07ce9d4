// The names of units recommended by OME-NGFF 0.5, and other spellings from OME-XML and ImageJ.
#include "ome/units.hpp"

#include <algorithm>
#include <iterator>

namespace sherd {
namespace {

using UnitKind = Unit::Kind;
constexpr Unit kUnits[] = {{UnitKind::length, "nanometer", "nm", 1},     {UnitKind::length, "micrometer", "um", 1e3},
                           {UnitKind::length, "millimeter", "mm", 1e6},  {UnitKind::length, "centimeter", "cm", 1e7},
                           {UnitKind::length, "decimeter", "dm", 1e8},   {UnitKind::length, "meter", "m", 1e9},
                           {UnitKind::length, "kilometer", "km", 1e12},  {UnitKind::length, "picometer", "pm", 1e-3},
                           {UnitKind::length, "femtometer", "fm", 1e-6}, {UnitKind::length, "angstrom", "angstrom", .1},
                           {UnitKind::length, "inch", "in", 2.54e7},     {UnitKind::length, "foot", "ft", 3.048e8},
                           {UnitKind::length, "yard", "yd", 9.144e8},    {UnitKind::length, "mile", "mi", 1.609344e12},
                           {UnitKind::time, "second", "s", 1},           {UnitKind::time, "millisecond", "ms", 1e-3},
                           {UnitKind::time, "microsecond", "us", 1e-6},  {UnitKind::time, "nanosecond", "ns", 1e-9},
                           {UnitKind::time, "picosecond", "ps", 1e-12},  {UnitKind::time, "femtosecond", "fs", 1e-15},
                           {UnitKind::time, "minute", "min", 60},        {UnitKind::time, "hour", "h", 3600},
                           {UnitKind::time, "day", "d", 86400}};

struct UnitSpelling {
  std::string_view text, sign;
};
// A micro sign, a Greek mu, the micro sign in Latin-1, and ImageJ's escape.
constexpr UnitSpelling kSpellings[] = {
    {"\u00b5m", "um"}, {"\u03bcm", "um"},  {"\xb5m", "um"},   {"\\u00B5m", "um"},     {"micron", "um"},
    {"microns", "um"}, {"\u00b5s", "us"},  {"\u03bcs", "us"}, {"\u00c5", "angstrom"}, {"\u212b", "angstrom"},
    {"inches", "in"},  {"sec", "s"},       {"seconds", "s"},  {"msec", "ms"},         {"usec", "us"},
    {"hr", "h"},       {"minutes", "min"}, {"hours", "h"},    {"days", "d"}};

std::optional<double> size_of(std::string_view text, UnitKind kind) noexcept {
  const Unit* unit = find_unit(text);
  return unit != nullptr && unit->kind == kind ? std::optional(unit->size) : std::nullopt;
}

}  // namespace

std::optional<double> nanometres(std::string_view unit) noexcept { return size_of(unit, UnitKind::length); }
std::optional<double> seconds(std::string_view unit) noexcept { return size_of(unit, UnitKind::time); }

const Unit* find_unit(std::string_view text) noexcept {
  const auto* spelling = std::ranges::find(kSpellings, text, &UnitSpelling::text);
  const std::string_view sign = spelling == std::end(kSpellings) ? text : spelling->sign;
  const auto* found =
      std::ranges::find_if(kUnits, [&](const Unit& unit) { return unit.name == text || unit.sign == sign; });
  return found == std::end(kUnits) ? nullptr : found;
}

}  // namespace sherd
