#include "remote/http.hpp"

#include <algorithm>

#include "base/text.hpp"

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

bool is_header_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 || c == '\t'; });
}

}  // namespace sherd::remote
