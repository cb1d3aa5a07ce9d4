#include "remote/http.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "remote/libraries.hpp"

namespace sherd::remote {

const std::string* find_header(const Headers& headers, std::string_view name) {
  const std::string wanted = lowered(name);
  const auto found =
      std::ranges::find_if(headers, [&](const Header& header) { return lowered(header.name) == wanted; });
  return found == headers.end() ? nullptr : &found->value;
}

std::string header_value(const Headers& headers, std::string_view name) {
  const std::string* const value = find_header(headers, name);
  return value != nullptr ? *value : std::string();
}

std::optional<std::chrono::sys_seconds> header_date(const Headers& headers, std::string_view name) {
  const std::string* const text = find_header(headers, name);
  const auto curl = load_curl();
  const time_t seconds = text != nullptr && curl ? (*curl)->curl_getdate(text->c_str(), nullptr) : -1;
  return seconds >= 0 ? std::optional(std::chrono::sys_seconds(std::chrono::seconds(seconds))) : std::nullopt;
}

bool is_header_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 || c == '\t'; });
}

}  // namespace sherd::remote
