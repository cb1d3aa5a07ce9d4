// Reads sizes with binary and decimal units, and prints them with binary units. A plain number is a count of bytes; a
// fraction needs a unit and is rounded to whole bytes.
#include "base/size.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

namespace sherd {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr Unit kByteUnits[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
                               {"PiB", 0x1p50}, {"kB", 1e3},     {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
                               {"TB", 1e12},    {"PB", 1e15},    {"K", 0x1p10},   {"M", 0x1p20},   {"G", 0x1p30},
                               {"T", 0x1p40},   {"P", 0x1p50}};
constexpr std::size_t kBinaryUnits = 6;

std::optional<double> unit_bytes(std::string_view name) {
  if (name.empty()) return 1;
  for (const Unit& unit : kByteUnits)
    if (unit.name == name) return unit.bytes;
  return std::nullopt;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto wrong = [&] {
    return invalid_argument("'" + std::string(text) + "' is not a size; write it as 64MiB or 67108864");
  };
  const char* const end = text.data() + text.size();
  std::uint64_t whole = 0;
  if (const auto parsed = std::from_chars(text.data(), end, whole); parsed.ec == std::errc{} && parsed.ptr == end)
    return whole;
  double number = 0;
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  std::string_view rest(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  const auto unit = unit_bytes(rest);
  if (parsed.ec != std::errc{} || !unit || !(number >= 0) || number * *unit >= 0x1p63) return wrong();
  return static_cast<std::uint64_t>(std::llround(number * *unit));
}

std::string print_bytes(std::uint64_t bytes) {
  std::size_t unit = 0;
  double value = static_cast<double>(bytes);
  while (value >= 1023.995 && unit + 1 < kBinaryUnits) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 40> text;
  const int digits = unit == 0 || value == std::floor(value) ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, std::string(kByteUnits[unit].name).c_str());
  return text.data();
}

}  // namespace sherd
