// Rewrites a text into JSON in one pass, without recursion; the parser refuses text that is nested too deeply.
#include "base/lenient.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/try.hpp"

namespace sherd {

namespace {

/// A number that JSON lacks, and the string that it becomes. Json keeps how a string is spelled, and no writer spells
/// these words with an escape, so they can be recognized again.
struct Word {
  std::string_view text, spelled;
};
constexpr Word kWords[] = {
    {"NaN", R"("\u004eaN")"}, {"Infinity", R"("\u0049nfinity")"}, {"-Infinity", R"("\u002dInfinity")"}};

/// The text of a string with its quotes, or the rest of the text if it does not end.
std::string_view string_at(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return text.substr(0, i + 1);
  }
  return text;
}

struct Rewritten {
  std::string text;
  bool numbers = false;
  std::size_t end = 0;  ///< of the first value in the original
};

class Rewriter {
 public:
  Rewriter(std::string_view text, const Lenience& lenience)
      : rest_(text), size_(text.size()), points_(lenience.points), controls_(lenience.controls) {}

  Rewritten run() && {
    while (!rest_.empty() && !done_) step();
    result_.end = size_ - rest_.size();
    return std::move(result_);
  }

 private:
  void step() {
    const char c = rest_.front();
    if (c == '"') {
      string(string_at(rest_));
      return end_of_value();
    }
    for (const Word& word : kWords)
      if (rest_.starts_with(word.text)) {
        result_.text += word.spelled;
        result_.numbers = true;
        rest_.remove_prefix(word.text.size());
        return end_of_value();
      }
    if (is_digit(c) || c == '-') return number();
    if (c == '{' || c == '[') ++depth_;
    const bool closes = c == '}' || c == ']';
    take(1);
    if (closes && depth_ > 0 && --depth_ == 0) done_ = true;
  }

  void number() {
    std::size_t length = 1;
    while (length < rest_.size() &&
           (is_digit(rest_[length]) || std::string_view("+-.eE").find(rest_[length]) != std::string_view::npos))
      ++length;
    const std::string_view text = rest_.substr(0, length);
    if (const std::size_t point = text.find('.');
        points_ && point != text.npos && (point + 1 == length || !is_digit(text[point + 1]))) {
      result_.text += std::string(text.substr(0, point + 1)) + "0" + std::string(text.substr(point + 1));
      result_.numbers = true;
      rest_.remove_prefix(length);
    } else {
      take(length);
    }
    end_of_value();
  }

  void string(std::string_view text) {
    bool after_backslash = false;
    for (const char c : text) {
      if (controls_ && static_cast<unsigned char>(c) < 0x20 && !after_backslash) {
        const std::string quoted = Json(std::string(1, c)).dump();
        result_.text.append(quoted, 1, quoted.size() - 2);
      } else {
        result_.text += c;
      }
      after_backslash = c == '\\' && !after_backslash;
    }
    rest_.remove_prefix(text.size());
  }

  void take(std::size_t length) {
    result_.text += rest_.substr(0, length);
    rest_.remove_prefix(length);
  }
  void end_of_value() {
    if (depth_ == 0) done_ = true;
  }

  std::string_view rest_;
  std::size_t size_;
  bool points_, controls_;
  std::uint64_t depth_ = 0;
  bool done_ = false;
  Rewritten result_;
};

}  // namespace

Result<LenientJson> parse_lenient(std::string_view text, const Limits& limits, const Lenience& lenience) {
  auto strict = Json::parse(text, limits.json_depth, limits.json_values);
  if (strict) return LenientJson{*std::move(strict)};
  if (strict.error().code() != ErrorCode::corrupt) return std::move(strict).error();
  const Rewritten rewritten = Rewriter(text, lenience).run();
  auto json = Json::parse(rewritten.text, limits.json_depth, limits.json_values);
  if (!json) return json.error().code() == ErrorCode::corrupt ? std::move(strict).error() : std::move(json).error();
  std::string_view tail = text.substr(rewritten.end);
  while (!tail.empty() && is_json_space(tail.front())) tail.remove_prefix(1);
  if (!tail.empty() && !lenience.tails) return std::move(strict).error();
  return LenientJson{*std::move(json), !tail.empty(), rewritten.numbers};
}

std::string_view bare_number(const Json& json) {
  if (!json.is_string()) return {};
  for (const Word& word : kWords)
    if (json.text() == word.text && json.dump() == word.spelled) return word.text;
  return {};
}

Json bare_number_of(double value) {
  if (std::isfinite(value)) return {};
  return *Json::parse(kWords[std::isnan(value) ? 0 : value > 0 ? 1 : 2].spelled);
}

// The depth is limited, since the document was parsed; likewise in the next function.
bool has_bare_number(const Json& json, std::string_view except) {  // NOLINT(misc-no-recursion)
  const auto is_one = [&](const Json& each) { return has_bare_number(each, except); };
  return !bare_number(json).empty() || std::ranges::any_of(json.elements(), is_one) ||
         std::ranges::any_of(json.members(),
                             [&](const Json::Member& each) { return each.first != except && is_one(each.second); });
}

Json with_quoted_numbers(Json json) {  // NOLINT(misc-no-recursion)
  if (!bare_number(json).empty()) return json.text();
  for (Json& each : json.elements()) each = with_quoted_numbers(std::move(each));
  for (auto& [name, each] : json.members()) each = with_quoted_numbers(std::move(each));
  return json;
}

std::string dump_lenient(const Json& json, int indent) {
  std::string printed = json.dump(indent), text;
  std::string_view rest = printed;
  for (std::size_t quote = rest.find('"'); quote != rest.npos; quote = rest.find('"')) {
    const std::string_view string = string_at(rest.substr(quote));
    const auto* const word = std::ranges::find(kWords, string, &Word::spelled);
    text += rest.substr(0, quote);
    text += word == std::end(kWords) ? string : word->text;
    rest.remove_prefix(quote + string.size());
  }
  return text += rest;
}

}  // namespace sherd
