// Lists, paths and digits in the form that people and metadata use.
#pragma once

#include <string_view>
#include <vector>

namespace sherd {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// White space between the values of JSON.
[[nodiscard]] constexpr bool is_json_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The parts between separators, one more than there are separators; parts may be empty.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// "a/b" of "a/b/c"; empty if there is no '/'.
[[nodiscard]] constexpr std::string_view parent_path(std::string_view path) noexcept {
  const auto end = path.rfind('/');
  return end == std::string_view::npos ? std::string_view() : path.substr(0, end);
}

/// "c" of "a/b/c" and of "c".
[[nodiscard]] constexpr std::string_view last_segment(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace sherd
