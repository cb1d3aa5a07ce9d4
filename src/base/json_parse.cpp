// From text to Json: strict RFC 8259, without recursion. The values are counted first, so that a document with too many
// is refused before memory is allocated, and every container is allocated once, with the right size. Strings are
// checked for valid UTF-8 while they are scanned, eight bytes at a time as far as possible. Line and column are counted
// only for an error.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <memory_resource>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "sherd/json.hpp"

namespace sherd {

namespace {

constexpr std::uint64_t kDeepest = 4096;    // destruction, comparison and printing recurse
constexpr std::size_t kFewMembers = 16;     // below this, comparing all pairs of keys is fastest
constexpr std::size_t kFewContainers = 16;  // most documents have fewer; reserving them saves reallocations

// The number of bytes of a string that can be copied unchanged: up to a quote, a backslash, a control character or a
// byte above 127.
std::size_t plain_run(const char* at, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  const char* const begin = at;
  if constexpr (std::endian::native == std::endian::little) {
    while (end - at >= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      // A byte below n borrows from its high bit when n is subtracted; false alarms lie above the first true one.
      const std::uint64_t quote = word ^ (kOnes * '"'), backslash = word ^ (kOnes * '\\');
      const std::uint64_t found = (word | (word - kOnes * 0x20) | (quote - kOnes) | (backslash - kOnes)) & kHighs;
      if (found) {
        at += std::countr_zero(found) / 8;
        break;
      }
      at += 8;
    }
  }
  const auto plain = [](char c) { return static_cast<unsigned char>(c) - 0x20u < 0x60u && c != '"' && c != '\\'; };
  while (at != end && plain(*at)) ++at;
  return static_cast<std::size_t>(at - begin);
}

// A key that occurs twice, or nullptr. For many members, the hashes are sorted, then the keys with equal hashes, so
// there is no worst case that a document could exploit.
const std::string* duplicate_key(std::span<const Json::Member> members) {
  if (members.size() <= kFewMembers) {
    for (std::size_t i = 1; i < members.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (members[i].first == members[j].first) return &members[i].first;
    return nullptr;
  }
  constexpr std::uint64_t kIndex = 0xFFFFFFFF;  // parse() refuses texts of this size
  std::vector<std::uint64_t> order(members.size());
  for (std::size_t i = 0; i < members.size(); ++i)
    order[i] = (std::hash<std::string_view>()(members[i].first) & ~kIndex) | i;
  std::sort(order.begin(), order.end());
  const auto key = [&](std::uint64_t entry) -> const std::string& { return members[entry & kIndex].first; };
  for (auto run = order.begin(); run != order.end();) {
    auto end = run + 1;
    while (end != order.end() && (*end & ~kIndex) == (*run & ~kIndex)) ++end;
    std::sort(run, end, [&](std::uint64_t a, std::uint64_t b) { return key(a) < key(b); });
    const auto twice = std::adjacent_find(run, end, [&](std::uint64_t a, std::uint64_t b) { return key(a) == key(b); });
    if (twice != end) return &key(*twice);
    run = end;
  }
  return nullptr;
}

// The first character behind an indentation, if it is a multiple of four spaces as in most documents.
const char* skip_indentation(const char* at, const char* end) {
  while (end - at >= 4 && std::memcmp(at, "    ", 4) == 0) at += 4;
  return at;
}

// Whether a character outside of strings decides about the number of values, or precedes an indentation.
bool is_structural(char c) {
  static constexpr auto kTable = [] {
    std::array<bool, 256> table{};
    for (const unsigned char each : {'"', ',', '[', ']', '{', '}', '\n'}) table[each] = true;
    return table;
  }();
  return kTable[static_cast<unsigned char>(c)];
}

/// The number of values in each container, in the order of the opening brackets.
using Counts = std::pmr::vector<std::uint32_t>;

// Looks only for commas, quotes and brackets. So it is right for JSON and meaningless for other text, for which the
// parser reports an error. nullopt if there are more than `max_values`; no text can have more values than are counted
// here.
std::optional<Counts> count_values(std::string_view text, std::uint64_t max_depth, std::uint64_t max_values,
                                   std::pmr::memory_resource& memory) {
  Counts counts(&memory);
  std::pmr::vector<std::size_t> open(&memory);
  counts.reserve(std::min(text.size(), kFewContainers));
  open.reserve(std::min(text.size(), kFewContainers));
  std::uint64_t values = 1;
  const auto count = [&] {
    ++counts[open.back()];
    return ++values <= max_values;
  };
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end; ++at) {
    const char c = *at;
    if (!is_structural(c)) continue;
    if (c == '"') {
      ++at;
      while ((at += plain_run(at, end)) != end && *at != '"') at += *at == '\\' && end - at > 1 ? 2 : 1;
      if (at == end) break;
    } else if (c == '\n') {
      at = skip_indentation(at + 1, end) - 1;
    } else if (c == ',') {
      if (!open.empty() && !count()) return std::nullopt;
    } else if (c == ']' || c == '}') {
      if (!open.empty()) open.pop_back();
    } else {
      if (open.size() >= max_depth) return counts;  // the parser goes no deeper either
      open.push_back(counts.size());
      counts.push_back(0);
      while (end - at > 1 && is_json_space(at[1])) at = at[1] == '\n' ? skip_indentation(at + 2, end) - 1 : at + 1;
      const bool is_empty = end - at > 1 && (at[1] == ']' || at[1] == '}');
      if (!is_empty && !count()) return std::nullopt;
    }
  }
  return counts;
}

}  // namespace

class Json::Parser {
 public:
  Parser(std::string_view text, std::uint64_t max_depth, Counts counts, std::pmr::memory_resource& memory)
      : begin_(text.data()),
        at_(begin_),
        end_(begin_ + text.size()),
        max_depth_(std::min(max_depth, kDeepest)),
        counts_(std::move(counts)),
        frames_(&memory) {
    frames_.reserve(std::min(counts_.size(), kFewContainers / 2));
  }

  Result<Json> run() {
    if (std::string_view(begin_, end_).starts_with("\xEF\xBB\xBF"))
      fail("the document begins with a byte order mark; store it as UTF-8 without one");
    else if (skip_space(); at_ == end_)
      fail("the document is empty");
    else
      while (parse_value() && after_value()) {
      }
    if (error_) return *std::move(error_);
    return std::move(root_);
  }

 private:
  // A container that is not closed. It is where it will stay: an ancestor gets its next value only after this is
  // closed.
  struct Frame {
    const char* open;  // the bracket
    Array* elements;   // nullptr for an object
    Object* members;
  };

  // Begins or completes the value at at_; leaves at_ after it, or before the first value of a container.
  bool parse_value() {
    for (;;) {
      const char c = peek();
      if (c == '[' || c == '{') {
        if (!open(c == '{')) return false;
        skip_space();
        if (peek() == (c == '{' ? '}' : ']')) return close();
        if (c == '{' && !parse_key()) return false;
        continue;
      }
      if (c == '"') return parse_string() && add_string();
      if (c == '-' || is_digit(c)) return parse_number();
      return parse_word();
    }
  }

  // Consumes the comma and the next key, or closes containers; false at the end of the document or an error.
  bool after_value() {
    for (;;) {
      skip_space();
      if (frames_.empty()) return at_ == end_ ? false : fail("there is more text after the document's end");
      const bool is_object = frames_.back().members != nullptr;
      if (peek() == ',') {
        ++at_;
        skip_space();
        return !is_object || parse_key();
      }
      if (at_ == end_ || *at_ != (is_object ? '}' : ']'))
        return unexpected(is_object ? "',' or '}' after a member" : "',' or ']' after an element");
      if (!close()) return false;
    }
  }

  bool open(bool is_object) {
    if (frames_.size() >= max_depth_) {
      fail("nested deeper than the limit json_depth = " + std::to_string(max_depth_));
      error_ = unsupported(error_->message());
      return false;
    }
    // Without a count the text is not JSON, and an error will follow.
    const std::size_t count = containers_ < counts_.size() ? counts_[containers_] : 0;
    ++containers_;
    Json& container = next_value();
    Frame frame{at_++, nullptr, nullptr};
    if (is_object) {
      frame.members = &container.value_.emplace<Object>();
      frame.members->reserve(count);
    } else {
      frame.elements = &container.value_.emplace<Array>();
      frame.elements->reserve(count);
    }
    frames_.push_back(frame);
    return true;
  }

  bool close() {
    ++at_;
    const Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.members == nullptr) return true;
    if (const std::string* key = duplicate_key(*frame.members)) {
      at_ = frame.open;
      return fail("the key " + Json(*key).dump() + " appears twice in the object that begins here");
    }
    return true;
  }

  // Where the next value belongs, which is null there.
  Json& next_value() {
    if (frames_.empty()) return root_;
    const Frame& frame = frames_.back();
    return frame.members != nullptr ? frame.members->back().second : frame.elements->emplace_back();
  }

  bool parse_key() {
    if (peek() != '"') return unexpected("a key in double quotes");
    if (!parse_string()) return false;
    skip_space();
    if (peek() != ':') return unexpected("':' after the key");
    ++at_;
    skip_space();
    frames_.back().members->emplace_back(std::piecewise_construct, std::forward_as_tuple(text_), std::tuple());
    return true;
  }

  // The string at at_ into text_, which is in string_ if there are escapes.
  bool parse_string() {
    const char* const open = at_++;
    written_ = {};
    string_.clear();
    for (const char* run = at_;;) {
      at_ += plain_run(at_, end_);
      if (at_ == end_) {
        at_ = open;
        return fail("the string that begins here has no end");
      }
      if (*at_ == '"') {
        if (run == open + 1) {
          text_ = {run, at_++};
          return true;
        }
        string_.append(run, at_++);
        text_ = string_;
        written_ = {open, at_};
        return true;
      }
      if (*at_ == '\\') {
        string_.append(run, at_);
        if (!parse_escape()) return false;
        run = at_;
      } else if (static_cast<unsigned char>(*at_) < 0x20) {
        return fail("a control character is not escaped in a string");
      } else {
        const std::size_t length = utf8_length({at_, static_cast<std::size_t>(end_ - at_)});
        if (length == 0) return fail("the bytes are not valid UTF-8");
        at_ += length;
      }
    }
  }

  // A short string is copied, because its buffer is larger; a long one is moved, to avoid a second copy.
  std::string take_string() {
    constexpr std::size_t kShort = 4096;
    const bool is_moved = text_.size() > kShort && !written_.empty();
    return is_moved ? std::exchange(string_, {}) : std::string(text_);
  }

  // A string can be spelled differently only if it had an escape.
  bool add_string() {
    const std::string_view written = written_;
    Json& value = next_value();
    std::string& text = value.value_.emplace<std::string>(take_string());
    if (written.empty() || value.dump() == written) return true;
    value = Json(std::make_shared<const Spelling>(Spelling{std::move(text), std::string(written)}));
    return true;
  }

  bool parse_escape() {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char c = end_ - at_ > 1 ? at_[1] : '\0';
    if (c == 'u') return parse_code();
    const auto letter = c == '\0' ? std::string_view::npos : kLetters.find(c);
    if (letter == std::string_view::npos) return fail("unknown escape in a string");
    string_ += kMeanings[letter];
    at_ += 2;
    return true;
  }

  bool parse_code() {
    const auto unit = code_unit(at_);
    if (!unit) return fail("\\u must be followed by four hexadecimal digits");
    std::uint32_t code = *unit;
    std::size_t length = 6;
    if (code >= 0xD800 && code < 0xE000) {
      const auto low = code < 0xDC00 ? code_unit(at_ + 6) : std::nullopt;
      if (!low || *low < 0xDC00 || *low >= 0xE000) return fail("a string contains an unpaired surrogate");
      code = 0x10000 + ((code - 0xD800) << 10) + (*low - 0xDC00);
      length = 12;
    }
    append_utf8(code, string_);
    at_ += length;
    return true;
  }

  // The value of `\uXXXX` at `at`.
  [[nodiscard]] std::optional<std::uint32_t> code_unit(const char* at) const {
    if (end_ - at < 6 || at[0] != '\\' || at[1] != 'u') return std::nullopt;
    std::uint32_t value = 0;
    for (const char* digit = at + 2; digit != at + 6; ++digit) {
      const char c = static_cast<char>(*digit | 0x20);
      if (is_digit(*digit))
        value = value * 16 + static_cast<std::uint32_t>(*digit - '0');
      else if (c >= 'a' && c <= 'f')
        value = value * 16 + static_cast<std::uint32_t>(c - 'a' + 10);
      else
        return std::nullopt;
    }
    return value;
  }

  bool parse_number() {
    const char* const first = at_;
    if (*at_ == '-') ++at_;
    const char* const digits = at_;
    if (!skip_digits()) {
      at_ = first;
      return parse_word();
    }
    if (*digits == '0' && at_ - digits > 1) {
      at_ = digits;
      return fail("a number must not begin with 0");
    }
    if (peek() == '.') {
      ++at_;
      if (!skip_digits()) return unexpected("a digit after the decimal point");
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!skip_digits()) return unexpected("a digit in the exponent");
    }
    next_value().value_.emplace<Number>(Number{std::string(first, at_)});
    return true;
  }

  bool skip_digits() {
    const char* const first = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != first;
  }

  bool parse_word() {
    const std::string_view rest(at_, end_);
    const auto take = [&](std::string_view word) { return rest.starts_with(word) && (at_ += word.size(), true); };
    const auto add = [&](Json value) {
      next_value() = std::move(value);
      return true;
    };
    if (take("true")) return add(true);
    if (take("false")) return add(false);
    if (take("null")) return add({});
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
      if (rest.starts_with(word)) {
        fail(std::string(word) + " is not JSON; metadata writes it as the string \"" + std::string(word) + "\"");
        std::move(*error_).in_member(member());
        return false;
      }
    return unexpected("a value");
  }

  // The path of the value at at_, such as "attributes.offsets[2]".
  [[nodiscard]] std::string member() const {
    std::string path;
    for (const Frame& frame : frames_) {
      const std::size_t index = frame.elements == nullptr ? 0 : frame.elements->size() - (&frame != &frames_.back());
      if (frame.members == nullptr)
        path += "[" + std::to_string(index) + "]";
      else
        (path += path.empty() ? "" : ".") += frame.members->back().first;
    }
    return path;
  }

  [[nodiscard]] char peek() const { return at_ == end_ ? '\0' : *at_; }

  void skip_space() {
    while (at_ != end_ && is_json_space(*at_)) at_ = *at_ == '\n' ? skip_indentation(at_ + 1, end_) : at_ + 1;
  }

  bool unexpected(std::string_view wanted) {
    return fail((at_ == end_ ? "the document ends where " : "expected ") + std::string(wanted) +
                (at_ == end_ ? " was expected" : ""));
  }

  // An error at at_. Columns count characters, as editors do.
  bool fail(const std::string& what) {
    std::uint64_t line = 1, column = 1;
    for (const char* c = begin_; c != at_; ++c) {
      column = *c == '\n' ? 1 : column + ((static_cast<unsigned char>(*c) & 0xC0) != 0x80);
      line += *c == '\n';
    }
    error_ = corrupt("JSON, line " + std::to_string(line) + ", column " + std::to_string(column) + " (byte " +
                     std::to_string(at_ - begin_) + "): " + what);
    return false;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  std::uint64_t max_depth_;
  Counts counts_;
  std::size_t containers_ = 0;
  std::pmr::vector<Frame> frames_;
  std::string string_;
  std::string_view text_;     ///< of the last string
  std::string_view written_;  ///< the text of string_ with its quotes, if it has escapes
  Json root_;
  std::optional<Error> error_;
};

Result<Json> Json::parse(std::string_view text, std::uint64_t max_depth, std::uint64_t max_values) {
  if (text.size() >> 32)
    return unsupported("a JSON document of " + std::to_string(text.size()) + " bytes is too large");
  std::array<std::byte, 2048> few;  // enough for most documents
  std::pmr::monotonic_buffer_resource memory(few.data(), few.size());
  auto counts = count_values(text, max_depth, max_values, memory);
  if (!counts)
    return unsupported("the JSON document has more values than the limit json_values = " + std::to_string(max_values));
  return Parser(text, max_depth, *std::move(counts), memory).run();
}

}  // namespace sherd
