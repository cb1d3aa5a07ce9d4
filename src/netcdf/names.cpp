// The rules of netcdf-c's NC_check_name().
#include "netcdf/names.hpp"

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace sherd::netcdf {

std::optional<std::string> fault_of_name(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > kMaxName)
    return "it has " + std::to_string(name.size()) + " bytes, and names have at most " + std::to_string(kMaxName);
  if (!is_utf8(name)) return "it is not valid UTF-8";
  const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < 0x20) || c == 0x7F; };
  for (const char c : name) {
    if (c == '/') return "it has a '/'";
    if (is_control(c)) return "it has a control character";
  }
  const char first = name.front();
  const bool is_ascii = static_cast<unsigned char>(first) < 0x80;
  const bool begins_well = is_letter(first) || is_digit(first) || first == '_';
  if (is_ascii && !begins_well) return "it begins with neither a letter nor a digit nor '_'";
  if (name.back() == ' ') return "it ends with a space";
  return std::nullopt;
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kShown = 80;
  if (name.size() <= kShown) return std::string(name);
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80) --end;
  return std::string(name.substr(0, end)) + "…";
}

Result<void> check_netcdf_name(std::string_view name, std::string_view what) {
  const auto fault = fault_of_name(name);
  if (!fault) return {};
  return invalid_argument("netCDF does not allow the name '" + shown_name(name) + "' for " + std::string(what) + ": " +
                          *fault);
}

}  // namespace sherd::netcdf
