// The tokens of CDL, each with its line and column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "netcdf/cdl/number.hpp"

namespace sherd::netcdf {

/// The text in UTF-8, which has the same character for each byte of Latin-1.
[[nodiscard]] std::string from_latin1(std::string_view text);

/// Counted from 1; columns are characters.
struct CdlPosition {
  std::uint64_t line = 1, column = 1;
};
[[nodiscard]] std::string to_string(const CdlPosition& position);
/// Prefixes the message with a position: "line 3, column 7: …".
[[nodiscard]] Error at(const CdlPosition& position, Error error);
[[nodiscard]] inline Error cdl_error(const CdlPosition& position, std::string message) {
  return at(position, corrupt(std::move(message)));
}

struct CdlToken {
  enum class Kind : std::uint8_t {
    end,
    mark,     ///< one of { } ( ) , ; : = *
    word,     ///< a name or a keyword
    section,  ///< "types", "dimensions", "variables", "data" or "group" followed by a colon
    path,     ///< a name with the groups that contain it: "/g/x"
    text,     ///< in double quotes
    number,   ///< including a character in single quotes, which is a byte
  };
  Kind kind = Kind::end;
  CdlPosition position = {};
  char mark = 0;
  /// Of a word or a text: without escapes. Of a path: as written.
  std::string text = {};
  bool escaped = false;  ///< of a word: it is a name, even if it looks like a keyword
  bool latin1 = false;   ///< of a text: it is not UTF-8, nor is the file
  CdlNumber number = {};

  [[nodiscard]] bool is(char which) const noexcept { return kind == Kind::mark && mark == which; }
  [[nodiscard]] bool is_word(std::string_view which) const noexcept {
    return kind == Kind::word && !escaped && text == which;
  }
  /// The word for a string that is a null pointer.
  [[nodiscard]] bool is_null() const noexcept { return is_word("NIL") || is_word("Nil") || is_word("nil"); }
  /// Of a text: read as Latin-1 if it is not UTF-8.
  [[nodiscard]] std::string utf8() const;
  /// For messages: "'x'", "the end of the text".
  [[nodiscard]] std::string shown() const;
};

/// A name without its escapes; the error has no position.
[[nodiscard]] Result<std::string> unescaped_cdl_name(std::string_view name);

class CdlLexer {
 public:
  /// The text must outlive the lexer. A UTF-8 byte order mark at its start is skipped.
  explicit CdlLexer(std::string_view text);

  /// Reads the next token into `token`, reusing its memory.
  Result<void> next(CdlToken& token);
  /// The name of the dataset: all text up to the next `{`, trimmed and without escapes.
  [[nodiscard]] Result<std::string> dataset_name();
  /// The first line that is not UTF-8; 0 if all are. Call it before the first token.
  [[nodiscard]] std::uint64_t first_latin1_line() const noexcept;

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept { return rest_.size() > ahead ? rest_[ahead] : '\0'; }
  void advance(std::size_t count) noexcept;
  void begin_line(std::size_t at) noexcept;
  Result<void> skip_space();
  Result<void> word(CdlToken& token);
  Result<void> path(CdlToken& token);
  Result<void> text(CdlToken& token);
  Result<void> character(CdlToken& token);
  Result<void> number(CdlToken& token);
  Result<char> escape();
  [[nodiscard]] std::size_t name_length(std::size_t begin) const noexcept;
  [[nodiscard]] Error error(std::string message) const { return cdl_error(position_, std::move(message)); }

  std::string_view rest_;
  CdlPosition position_;
  bool latin1_ = false, latin1_line_ = false;  ///< not UTF-8: anywhere in the file, in the present line
};

/// The lexer with one token of lookahead.
class CdlTokens {
 public:
  explicit CdlTokens(std::string_view text) : lexer_(text) {}
  [[nodiscard]] const CdlToken& now() const noexcept { return token_; }
  [[nodiscard]] const CdlPosition& position() const noexcept { return token_.position; }
  Result<void> next() { return lexer_.next(token_); }
  /// Skips a mark, which must be present.
  Result<void> expect(char mark);
  /// Skips a mark if it is present; returns whether it was.
  Result<bool> accept(char mark);
  /// "';' is expected, not 'x'", with the position.
  [[nodiscard]] Error unexpected(std::string_view wanted) const;
  [[nodiscard]] CdlLexer& lexer() noexcept { return lexer_; }

 private:
  CdlLexer lexer_;
  CdlToken token_;
};

}  // namespace sherd::netcdf
