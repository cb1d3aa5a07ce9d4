// The rules are those of netcdf-c 4.9.0, determined by running it; tests/netcdf compares both.
#include "netcdf/cdl/text.hpp"

#include <locale.h>  // NOLINT(modernize-deprecated-headers): uselocale is POSIX

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace sherd::netcdf {

namespace {

/// Like printf's %.*g, in any locale of the process. There is always a decimal point: "2." and "1.e+30".
std::string attribute_number(double value, int digits) {
  std::string text;
  append_cdl_number(text, value, digits);
  if (text.find('.') == text.npos) text.insert(std::min(text.find('e'), text.size()), 1, '.');
  return text;
}

std::string_view special(double value) {
  if (std::isnan(value)) return "NaN";
  return value < 0 ? "-Infinity" : "Infinity";
}

void append_escape(std::string& to, unsigned char c) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\%03o", c);
  to += text.data();
}

/// The letter of CDL's escape for a character; 0 if there is none.
char escape_letter(char c, TextUse use) {
  switch (c) {
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
    case '\v':
      return use == TextUse::string ? 'n' : 'v';  // as ncdump does
    case '\\':
    case '\'':
    case '"':
      return c;
    default:
      return 0;
  }
}

template <class T>
std::string attribute_value(T value, const Digits& digits) {
  if constexpr (std::is_same_v<T, float>) {
    if (!std::isfinite(value)) return std::string(special(value)) + "f";
    return attribute_number(value, digits.of_float) + "f";
  } else if constexpr (std::is_same_v<T, double>) {
    return std::isfinite(value) ? attribute_number(value, digits.of_double) : std::string(special(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    std::string text;
    append_cdl_text(text, value, TextUse::attribute);
    return text;
  } else {
    constexpr std::string_view suffixes[] = {"b", "s", "", "LL", "UB", "US", "U", "ULL"};
    constexpr std::size_t width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::to_string(value) + std::string(suffixes[width + (std::is_unsigned_v<T> ? 4 : 0)]);
  }
}

/// The locale "C" for this thread, in which the decimal point is a point.
class PlainLocale {
 public:
  PlainLocale() noexcept : before_(uselocale(plain())) {}
  ~PlainLocale() { uselocale(before_); }
  PlainLocale(const PlainLocale&) = delete;
  PlainLocale& operator=(const PlainLocale&) = delete;

 private:
  static locale_t plain() noexcept {
    static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }
  locale_t before_;
};

template <class T>
void append_printed(std::string& to, const std::string& format, T value) {
  const PlainLocale locale;
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  to += text.data();
}

}  // namespace

std::string cdl_name(std::string_view name) {
  constexpr std::string_view kSpecial = " !\"#$&'()*,:;<=>?[]\\^`{|}~";
  std::string text;
  if (!name.empty() && name.front() >= '0' && name.front() <= '9') text += '\\';
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\%%%.2x", byte);
      text += escaped.data();
      continue;
    }
    if (kSpecial.find(c) != kSpecial.npos) text += '\\';
    text += c;
  }
  return text;
}

void append_cdl_text(std::string& to, std::string_view text, TextUse use) {
  if (use != TextUse::string)
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  to += '"';
  append_cdl_characters(to, text, use);
  to += '"';
}

void append_cdl_characters(std::string& to, std::string_view text, TextUse use) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const char letter = escape_letter(c, use); letter != 0) {
      to += '\\';
      to += letter;
      if (c == '\n' && use == TextUse::data) to += "\",\n    \"";
    } else if (byte < 0x20 || byte == 0x7f || (byte > 0x7f && use == TextUse::data)) {
      append_escape(to, byte);
    } else {
      to += c;
    }
  }
}

std::string cdl_attribute(const Attribute& attribute, const Digits& digits) {
  return std::visit(
      [&](const auto& list) -> std::string {
        if (list.empty()) return "\"\"";
        std::string text;
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(list)>, std::string>) {
          append_cdl_text(text, list, TextUse::attribute);
        } else {
          for (std::size_t i = 0; i < list.size(); ++i) {
            if (!text.empty()) text += ", ";
            if (std::ranges::binary_search(attribute.nulls, i))
              text += kNil;
            else
              text += attribute_value(list[i], digits);
          }
        }
        return text;
      },
      attribute.values);
}

char* print_cdl_number(char* to, double value, int digits) {
  if (std::isfinite(value)) return print_decimal(to, value, digits);
  return std::ranges::copy(special(value), to).out;
}

char* print_cdl_number(char* to, float value, int digits) {
  to = print_cdl_number(to, static_cast<double>(value), digits);
  if (!std::isfinite(value)) *to++ = 'f';
  return to;
}

std::optional<CFormat> CFormat::parse(std::string_view text, Type type) {
  constexpr std::size_t kLongest = 100;
  constexpr std::string_view kFlags = "-+ #0", kLength = "hlqLjzt", kNumbers = "0123456789";
  const std::size_t at = text.find('%');
  if (at == text.npos || text.size() >= kLongest || text.find('\0') != text.npos) return std::nullopt;
  CFormat format;
  format.before_ = text.substr(0, at);
  std::string_view rest = text.substr(at + 1);
  const auto take = [&](std::string_view some, std::size_t most) {
    std::size_t length = 0;
    while (length < rest.size() && some.find(rest[length]) != some.npos) ++length;
    const bool ok = length <= most;
    format.conversion_ += rest.substr(0, length);
    rest.remove_prefix(length);
    return ok;
  };
  format.conversion_ = "%";
  if (!take(kFlags, 5) || !take(kNumbers, 2)) return std::nullopt;
  if (rest.starts_with('.')) {
    format.conversion_ += '.';
    rest.remove_prefix(1);
    if (!take(kNumbers, 2)) return std::nullopt;
  }
  std::size_t shorter = 0;
  for (; !rest.empty() && kLength.find(rest.front()) != kLength.npos; rest.remove_prefix(1))
    if (rest.front() == 'h') ++shorter;
  if (type != Type::int64 && type != Type::uint64) format.bits_ = shorter == 0 ? 32 : shorter == 1 ? 16 : 8;
  const bool is_float = type == Type::float32 || type == Type::float64;
  const std::string_view types = is_float ? "eEfFgGaA" : type == Type::character ? "cdiuxXo" : "diuxXo";
  if (rest.empty() || types.find(rest.front()) == types.npos) return std::nullopt;
  format.type_ = rest.front() == 'i' ? 'd' : rest.front();
  format.after_ = rest.substr(1);
  if (format.after_.find('%') != std::string::npos) return std::nullopt;
  return format;
}

void CFormat::append(std::string& to, double value) const {
  to += before_;
  append_printed(to, conversion_ + type_, value);
  to += after_;
}

void CFormat::append(std::string& to, std::int64_t value) const {
  to += before_;
  if (type_ == 'c')
    append_printed(to, conversion_ + 'c', static_cast<int>(value));
  else
    append_printed(to, conversion_ + "ll" + type_, static_cast<long long>(type_ == 'd' ? value : as_unsigned(value)));
  to += after_;
}

std::int64_t CFormat::as_unsigned(std::int64_t value) const {
  constexpr unsigned kWhole = 64, kInt = 32;
  if (value >= 0 || bits_ == kWhole) return value;
  const bool fits = value >= -(std::int64_t{1} << (bits_ - 1));
  return value & ((std::int64_t{1} << (fits ? bits_ : kInt)) - 1);
}

void CFormat::append(std::string& to, std::uint64_t value) const { append(to, static_cast<std::int64_t>(value)); }

}  // namespace sherd::netcdf
