// Words, numbers, lists and paths in the form that people, metadata and servers use. Letters are those of ASCII.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace sherd {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// In lower case.
[[nodiscard]] constexpr char lowered(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] inline std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lowered(c);
  return result;
}

/// Whether two texts differ at most in the case of letters.
[[nodiscard]] inline bool equals_in_any_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, [](char c) { return lowered(c); }, [](char c) { return lowered(c); });
}

/// White space between the values of JSON.
[[nodiscard]] constexpr bool is_json_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Without white space at its ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_json_space(text.back())) text.remove_suffix(1);
  return text;
}

/// A number that is the whole text; nullopt for any other text.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) noexcept {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

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
