// Lines of a text in memory and the words in them, with errors that name the line.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "sherd/result.hpp"

namespace sherd {

class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  /// Moves to the next line; false if there is none.
  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    return true;
  }
  /// The next word of the line; empty at its end.
  std::string_view word() {
    constexpr std::string_view kSpace = " \t\r\f\v";
    line_.remove_prefix(std::min(line_.find_first_not_of(kSpace), line_.size()));
    const std::string_view word = line_.substr(0, line_.find_first_of(kSpace));
    line_.remove_prefix(word.size());
    return word;
  }
  /// The text after the line.
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  [[nodiscard]] Error error(const std::string& what) const {
    return corrupt("line " + std::to_string(number_) + ": " + what);
  }
  /// A finite number.
  Result<double> real(std::string_view what) {
    const std::string_view text = word();
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    if (const auto value = parse_number<double>(digits); value && std::isfinite(*value)) return *value;
    return error(quoted(text) + " is not " + std::string(what));
  }
  Result<std::int64_t> integer(std::string_view what) {
    const std::string_view text = word();
    if (const auto value = parse_integer(text)) return *value;
    return error(quoted(text) + " is not " + std::string(what));
  }
  static std::optional<std::int64_t> parse_integer(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    return parse_number<std::int64_t>(text);
  }
  /// The beginning of a word, for an error.
  static std::string quoted(std::string_view text) {
    constexpr std::size_t kMost = 32;
    return "'" + std::string(text.substr(0, kMost)) + (text.size() > kMost ? "…'" : "'");
  }

 private:
  std::string_view rest_, line_;
  std::uint64_t number_ = 0;
};

/// The shortest text that reads back as the same number.
inline void append_number(std::string& text, float value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace sherd
