// JSON values as text: compact on one line, or indented like Python's json.dumps(indent=n), as zarr-python writes
// documents. Parsed strings are printed as they were spelled; in other strings and in keys only the characters that
// JSON requires are escaped, and everything else remains UTF-8.
#include "sherd/json.hpp"

namespace sherd {

namespace {

// The two-letter escape of a control character, or 0.
char short_escape(char c) {
  switch (c) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

void print_string(std::string_view text, std::string& to) {
  constexpr std::string_view kHex = "0123456789abcdef";
  to += '"';
  std::size_t run = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    to.append(text, run, i - run);
    run = i + 1;
    if (const char letter = short_escape(text[i])) {
      to += '\\';
      to += letter;
    } else {
      to += "\\u00";
      to += kHex[c >> 4];
      to += kHex[c & 15];
    }
  }
  to.append(text, run, text.size() - run);
  to += '"';
}

}  // namespace

class Json::Printer {
 public:
  explicit Printer(int indent) : indent_(indent > 0 ? static_cast<std::size_t>(indent) : 0) {}

  void print(const Json& value) {
    switch (value.type()) {
      case Json::Type::null:
        text_ += "null";
        break;
      case Json::Type::boolean:
        text_ += *value.as_bool() ? "true" : "false";
        break;
      case Json::Type::number:
        text_ += value.text();
        break;
      case Json::Type::string:
        if (const auto* escaped = std::get_if<Escaped>(&value.value_))
          text_ += (*escaped)->written;
        else
          print_string(value.text(), text_);
        break;
      case Json::Type::array:
        print_all('[', value.elements(), ']', [this](const Json& element) { print(element); });
        break;
      case Json::Type::object:
        print_all('{', value.members(), '}', [this](const Json::Member& member) {
          print_string(member.first, text_);
          text_ += indent_ ? ": " : ":";
          print(member.second);
        });
        break;
    }
  }

  std::string take() && { return std::move(text_); }

 private:
  template <class Items, class Print>
  void print_all(char open, const Items& items, char close, Print&& print_item) {
    text_ += open;
    ++depth_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) text_ += ',';
      first = false;
      new_line();
      print_item(item);
    }
    --depth_;
    if (!first) new_line();
    text_ += close;
  }

  void new_line() {
    if (indent_) text_.append(1, '\n').append(depth_ * indent_, ' ');
  }

  std::string text_;
  std::size_t indent_;
  std::size_t depth_ = 0;
};

std::string Json::dump(int indent) const {
  Printer printer(indent);
  printer.print(*this);
  return std::move(printer).take();
}

}  // namespace sherd
