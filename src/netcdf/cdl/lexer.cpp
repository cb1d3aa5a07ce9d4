// The rules of ncgen's lexer: a name may contain almost any character after a `\`, and a number or a keyword ends
// before the first character that it cannot contain.
#include "netcdf/cdl/lexer.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "netcdf/cdl/text.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::string_view kMarks = "{}(),;:=*";
constexpr std::string_view kSections[] = {"types", "dimensions", "variables", "data", "group"};
constexpr std::size_t kShownBytes = 40;  ///< bytes of a text shown in a message

bool begins_name(char c) noexcept {
  return is_letter(c) || c == '_' || c == '\\' || static_cast<unsigned char>(c) >= 0x80;
}
/// `%` is only read by ncgen after a backslash, which ncdump does not print before it.
bool continues_name(char c) noexcept {
  return begins_name(c) || is_digit(c) || c == '.' || c == '@' || c == '+' || c == '-' || c == '%';
}
bool continues_number(char c) noexcept { return is_letter(c) || is_digit(c) || c == '.' || c == '_'; }

int octal_digit(char c) noexcept { return c >= '0' && c <= '7' ? c - '0' : -1; }
int hex_digit(char c) noexcept {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The character after a backslash that is neither octal nor hexadecimal; `?` is the one that ncgen reads.
char simple_escape(char c) noexcept {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '?':
      return '\177';
    default:
      return c;
  }
}

std::string quoted(std::string_view text) {
  std::string shown = "'" + std::string(text.substr(0, kShownBytes));
  return shown + (text.size() > kShownBytes ? "…'" : "'");
}

}  // namespace

std::string from_latin1(std::string_view text) {
  std::string utf8;
  for (const char c : text) append_utf8(static_cast<unsigned char>(c), utf8);
  return utf8;
}

std::string to_string(const CdlPosition& position) {
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

Error at(const CdlPosition& position, Error error) { return std::move(error).in(to_string(position)); }

std::string CdlToken::utf8() const { return latin1 ? from_latin1(text) : text; }

std::string CdlToken::shown() const {
  switch (kind) {
    case Kind::end:
      return "the end of the text";
    case Kind::mark:
      return std::string("'") + mark + "'";
    case Kind::section:
      return "'" + text + ":'";
    case Kind::text: {
      std::string shown;
      const std::string whole = utf8();
      append_cdl_text(shown, std::string_view(whole).substr(0, kShownBytes), TextUse::string);
      return shown;
    }
    case Kind::number:
      return "the number " + to_string(number);
    default:
      return quoted(text);
  }
}

Result<std::string> unescaped_cdl_name(std::string_view name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\') ++i;
    if (i == name.size()) return corrupt("a name ends with '\\'");
    if (static_cast<unsigned char>(name[i]) < 0x20 || name[i] == '\177')
      return corrupt("a name has a control character");
    plain += name[i];
  }
  if (plain.find('/') != plain.npos) return corrupt("a name has a '/'");
  if (!is_utf8(plain)) return corrupt("a name is not valid UTF-8");
  return plain;
}

CdlLexer::CdlLexer(std::string_view text) : rest_(text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (rest_.starts_with(kMark)) rest_.remove_prefix(kMark.size());
  latin1_ = !is_utf8(rest_);
  begin_line(0);
}

std::uint64_t CdlLexer::first_latin1_line() const noexcept {
  if (!latin1_) return 0;
  std::uint64_t line = 1;
  for (std::size_t at = 0; at < rest_.size(); ++line) {
    const std::size_t end = std::min(rest_.find('\n', at), rest_.size());
    if (!is_utf8(rest_.substr(at, end - at))) return line;
    at = end + 1;
  }
  return line;
}

/// In a line that is not UTF-8 each byte is a column.
void CdlLexer::begin_line(std::size_t at) noexcept {
  if (latin1_) latin1_line_ = !is_utf8(rest_.substr(at, rest_.find('\n', at) - at));
}

void CdlLexer::advance(std::size_t count) noexcept {
  count = std::min(count, rest_.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (rest_[i] == '\n') {
      position_ = {position_.line + 1, 1};
      begin_line(i + 1);
    } else if (latin1_line_ || (static_cast<unsigned char>(rest_[i]) & 0xC0U) != 0x80) {
      ++position_.column;
    }
  }
  rest_.remove_prefix(count);
}

Result<void> CdlLexer::skip_space() {
  while (!rest_.empty()) {
    if (std::string_view(" \t\r\n\f\v").find(rest_.front()) != std::string_view::npos) {
      advance(1);
    } else if (rest_.starts_with("//")) {
      advance(std::min(rest_.find('\n'), rest_.size()));
    } else if (rest_.starts_with("/*")) {
      const std::size_t end = rest_.find("*/", 2);
      if (end == rest_.npos) return error("a comment that begins with /* has no end");
      advance(end + 2);
    } else {
      break;
    }
  }
  return {};
}

Result<void> CdlLexer::next(CdlToken& token) {
  SHERD_TRY(skip_space());
  token.position = position_;
  token.escaped = token.latin1 = false;
  token.text.clear();
  if (rest_.empty()) {
    token.kind = CdlToken::Kind::end;
    return {};
  }
  const char c = rest_.front();
  if (kMarks.find(c) != kMarks.npos) {
    token.kind = CdlToken::Kind::mark;
    token.mark = c;
    advance(1);
    return {};
  }
  if (c == '"') return text(token);
  if (c == '\'') return character(token);
  if (c == '/') return path(token);
  if (is_digit(c) || c == '.' || c == '-' || c == '+') return number(token);
  if (begins_name(c)) return word(token);
  std::string shown;
  append_cdl_text(shown, rest_.substr(0, 1), TextUse::data);
  return error("the character " + shown + " has no meaning here");
}

std::size_t CdlLexer::name_length(std::size_t begin) const noexcept {
  std::size_t end = begin;
  while (end < rest_.size() && continues_name(rest_[end])) end += rest_[end] == '\\' ? 2 : 1;
  return std::min(end, rest_.size()) - begin;
}

Result<void> CdlLexer::word(CdlToken& token) {
  const std::string_view written = rest_.substr(0, name_length(0));
  const std::string recoded = latin1_ && !is_utf8(written) ? from_latin1(written) : std::string();
  const std::string_view name = recoded.empty() ? written : recoded;
  auto plain = unescaped_cdl_name(name);
  if (!plain) return at(position_, std::move(plain).error());
  token.kind = CdlToken::Kind::word;
  token.escaped = name.size() != plain->size();
  token.text = *std::move(plain);
  advance(written.size());
  if (!token.escaped && peek() == ':' && std::ranges::find(kSections, token.text) != std::end(kSections)) {
    token.kind = CdlToken::Kind::section;
    advance(1);
  }
  return {};
}

Result<void> CdlLexer::path(CdlToken& token) {
  token.kind = CdlToken::Kind::path;
  std::size_t end = 0;
  while (peek(end) == '/' && begins_name(peek(end + 1))) end += 1 + name_length(end + 1);
  if (end == 0) return error("a '/' begins the path of a variable or a dimension, and a name must follow it");
  token.text = rest_.substr(0, end);
  if (latin1_ && !is_utf8(token.text)) token.text = from_latin1(token.text);
  advance(end);
  return {};
}

Result<char> CdlLexer::escape() {
  // At the backslash.
  if (rest_.size() < 2) return error("the text ends after '\\'");
  if (octal_digit(peek(1)) >= 0) {
    int code = 0;
    std::size_t length = 1;
    for (; length < 4 && octal_digit(peek(length)) >= 0; ++length) code = code * 8 + octal_digit(peek(length));
    if (code > 0xFF) return error("an octal escape is above \\377");
    advance(length);
    return static_cast<char>(code);
  }
  if (peek(1) == 'x' || peek(1) == 'X') {
    const int high = hex_digit(peek(2)), low = high < 0 ? -1 : hex_digit(peek(3));
    if (low < 0) return error("an escape \\x needs two hexadecimal digits");
    advance(4);
    return static_cast<char>(high * 16 + low);
  }
  const char c = simple_escape(peek(1));
  advance(2);
  return c;
}

Result<void> CdlLexer::text(CdlToken& token) {
  const CdlPosition begin = position_;
  token.kind = CdlToken::Kind::text;
  advance(1);
  while (true) {
    const std::size_t plain = std::min(rest_.find_first_of("\"\\"), rest_.size());
    token.text += rest_.substr(0, plain);
    advance(plain);
    if (rest_.empty()) return cdl_error(begin, "a text that begins with \" has no end");
    if (peek() == '"') break;
    SHERD_TRY(c, escape());
    token.text += c;
  }
  token.latin1 = latin1_ && !is_utf8(token.text);
  advance(1);
  return {};
}

Result<void> CdlLexer::character(CdlToken& token) {
  const CdlPosition begin = position_;
  advance(1);
  char c = peek();
  if (rest_.size() < 2 || c == '\'' || c == '\n') return cdl_error(begin, "one character must follow '");
  if (c == '\\') {
    SHERD_TRY(escaped, escape());
    c = escaped;
  } else {
    advance(1);
  }
  if (peek() != '\'')
    return cdl_error(begin, "one character is expected between single quotes; write a text in double quotes");
  advance(1);
  token.kind = CdlToken::Kind::number;
  token.number = {Type::int8, static_cast<signed char>(c), 0, false};
  return {};
}

Result<void> CdlLexer::number(CdlToken& token) {
  std::size_t end = 1;
  while (end < rest_.size()) {
    const bool exponent_sign = (rest_[end] == '-' || rest_[end] == '+') && end > 1 &&
                               (rest_[end - 1] == 'e' || rest_[end - 1] == 'E') &&
                               !rest_.substr(0, end).starts_with("0x");
    if (!continues_number(rest_[end]) && !exponent_sign) break;
    ++end;
  }
  const std::string_view all = rest_.substr(0, end);
  token.kind = CdlToken::Kind::number;
  if (const auto special = special_cdl_number(all)) {
    token.number = *special;
  } else {
    auto parsed = parse_cdl_number(all);
    if (!parsed) {
      std::move(parsed.error()).in(to_string(position_));
      return std::move(parsed).error();
    }
    token.number = *parsed;
  }
  advance(end);
  return {};
}

Result<std::string> CdlLexer::dataset_name() {
  SHERD_TRY(skip_space());
  const std::size_t end = rest_.find('{');
  if (end == rest_.npos) return error("'{' is expected after the name of the dataset");
  std::string_view name = rest_.substr(0, end);
  while (!name.empty() && static_cast<unsigned char>(name.back()) <= ' ') name.remove_suffix(1);
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 1 < name.size()) ++i;
    plain += name[i];
  }
  advance(end);
  return latin1_ && !is_utf8(plain) ? from_latin1(plain) : plain;
}

Error CdlTokens::unexpected(std::string_view wanted) const {
  return cdl_error(token_.position, std::string(wanted) + " is expected, not " + token_.shown());
}

Result<void> CdlTokens::expect(char mark) {
  if (!token_.is(mark)) return unexpected(std::string("'") + mark + "'");
  return next();
}

Result<bool> CdlTokens::accept(char mark) {
  if (!token_.is(mark)) return false;
  SHERD_TRY(next());
  return true;
}

}  // namespace sherd::netcdf
