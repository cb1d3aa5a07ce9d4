// ncgen's suffixes: b s l ll for 1, 2, 4 and 8 bytes, with u for unsigned; f and d for reals.
#include "netcdf/cdl/number.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "base/try.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/cdl/text.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The integer type of a suffix; int64 for "ll". nullopt for other text.
std::optional<Type> integer_type_of(std::string_view suffix) {
  struct Row {
    std::string_view suffix;
    Type type;
  };
  constexpr Row rows[] = {{"b", Type::int8},    {"ub", Type::uint8},  {"bu", Type::uint8}, {"s", Type::int16},
                          {"us", Type::uint16}, {"su", Type::uint16}, {"l", Type::int32},  {"u", Type::uint32},
                          {"ul", Type::uint32}, {"lu", Type::uint32}, {"ll", Type::int64}, {"ull", Type::uint64},
                          {"llu", Type::uint64}};
  for (const Row& row : rows)
    if (row.suffix == suffix) return row.type;
  return std::nullopt;
}

struct Width {
  unsigned bits = 0;
  bool is_signed = false;
};
Width width_of(Type type) {
  switch (type) {
    case Type::int8:
      return {8, true};
    case Type::int16:
      return {16, true};
    case Type::int32:
      return {32, true};
    case Type::int64:
      return {64, true};
    case Type::uint8:
      return {8, false};
    case Type::uint16:
      return {16, false};
    case Type::uint32:
      return {32, false};
    default:
      return {64, false};
  }
}

/// The bits in a type of an integer given by sign and magnitude; nullopt if they do not fit. Signed types accept the
/// values of the unsigned type of their size.
std::optional<std::int64_t> fitted(bool negative, std::uint64_t magnitude, Type type, bool may_wrap) {
  const auto [bits, is_signed] = width_of(type);
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  if (negative) {
    if (magnitude > half || (!is_signed && !may_wrap && magnitude > 0)) return std::nullopt;
    const std::uint64_t value = ~magnitude + 1;
    if (is_signed || bits == 64) return static_cast<std::int64_t>(value);
    return static_cast<std::int64_t>(value & ((half << 1U) - 1));
  }
  if (bits < 64 && magnitude >= half << 1U) return std::nullopt;
  if (!is_signed || magnitude < half) return static_cast<std::int64_t>(magnitude);
  if (bits == 64) return static_cast<std::int64_t>(magnitude);
  return static_cast<std::int64_t>(magnitude) - static_cast<std::int64_t>(half << 1U);
}

/// The type of an integer without suffix: int, then uint, then int64 if it is negative and uint64 otherwise.
Type plain_type(bool negative, std::uint64_t magnitude) {
  if (negative) return magnitude <= std::uint64_t{1} << 31U ? Type::int32 : Type::int64;
  if (magnitude < std::uint64_t{1} << 31U) return Type::int32;
  return magnitude < std::uint64_t{1} << 32U ? Type::uint32 : Type::uint64;
}

Error out_of_range(std::string_view text) {
  return corrupt("the number " + std::string(text.substr(0, 80)) + " is out of range");
}

struct Sign {
  bool given = false, negative = false;
};

Result<CdlNumber> parse_integer(std::string_view text, Sign sign, std::string_view digits, int base,
                                std::string_view suffix) {
  CdlNumber number;
  number.hexadecimal = base == 16;
  std::uint64_t magnitude = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (failed == std::errc::result_out_of_range) return out_of_range(text);
  if (failed != std::errc() || end != digits.data() + digits.size())
    return corrupt("'" + std::string(text.substr(0, 80)) +
                   (base == 8 ? "' begins with 0, so it is octal, and has a digit above 7" : "' is not a number"));
  const auto tagged = suffix.empty() ? plain_type(sign.negative, magnitude) : integer_type_of(suffix);
  if (!tagged) return corrupt("'" + std::string(text.substr(0, 80)) + "' has an unknown suffix");
  number.type = *tagged;
  auto bits = fitted(sign.negative, magnitude, number.type, false);
  if (!bits && suffix.find('l') != suffix.npos && suffix.find("ll") == suffix.npos) {
    number.type =
        number.type == Type::int32 ? Type::int64 : Type::uint64;  // the suffix l means long, whatever the size
    bits = fitted(sign.negative, magnitude, number.type, false);
  }
  if (!bits) return out_of_range(text);
  number.bits = *bits;
  return number;
}

Result<CdlNumber> parse_real(std::string_view text, std::string_view digits, std::string_view suffix) {
  CdlNumber number;
  if (!suffix.empty() && suffix != "f" && suffix != "d" && suffix != "l")
    return corrupt("'" + std::string(text.substr(0, 80)) + "' has an unknown suffix");
  number.type = suffix == "f" ? Type::float32 : Type::float64;
  const std::optional<double> value =
      suffix == "f" ? std::optional<double>(parse_float<float>(digits)) : parse_float<double>(digits);
  if (!value) return corrupt("'" + std::string(text.substr(0, 80)) + "' is not a number");
  number.real = *value;
  return number;
}

template <class T>
std::optional<T> converted(const CdlNumber& number) {
  const bool is_real = number.type == Type::float32 || number.type == Type::float64;
  const bool is_unsigned64 = number.type == Type::uint64;
  if constexpr (std::is_floating_point_v<T>) {
    if (is_real) return static_cast<T>(number.real);
    return is_unsigned64 ? static_cast<T>(static_cast<std::uint64_t>(number.bits)) : static_cast<T>(number.bits);
  } else {
    if (is_real) {
      const double whole = std::trunc(number.real);
      const double bound = std::ldexp(1.0, std::numeric_limits<T>::digits);
      if (!(whole < bound) || whole < (std::is_signed_v<T> ? -bound : 0.0)) return std::nullopt;
      return static_cast<T>(whole);
    }
    const bool negative = !is_unsigned64 && number.bits < 0;
    const auto magnitude = static_cast<std::uint64_t>(number.bits);
    constexpr std::size_t rank = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    constexpr Type types[] = {Type::int8,  Type::int16,  Type::int32,  Type::int64,
                              Type::uint8, Type::uint16, Type::uint32, Type::uint64};
    const Type type = types[rank + (std::is_signed_v<T> ? 0 : 4)];
    const auto bits = fitted(negative, negative ? ~magnitude + 1 : magnitude, type, true);
    return bits ? std::optional(static_cast<T>(*bits)) : std::nullopt;
  }
}

Error does_not_fit(const CdlNumber& number, Type type) {
  return corrupt(to_string(number) + " does not fit into the type " + std::string(to_string(type)));
}

/// A number as a string has it: as C prints it.
std::string printed(const CdlNumber& number) {
  const bool is_real = number.type == Type::float32 || number.type == Type::float64;
  if (!is_real || std::isfinite(number.real)) return to_string(number);
  if (std::isnan(number.real)) return "nan";
  return number.real < 0 ? "-inf" : "inf";
}

}  // namespace

Result<CdlNumber> parse_cdl_number(std::string_view text) {
  std::string_view rest = text;
  Sign sign;
  if (rest.starts_with('-') || rest.starts_with('+')) {
    sign = {true, rest.front() == '-'};
    rest.remove_prefix(1);
  }
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    rest.remove_prefix(2);
    const std::size_t end = std::min(rest.find_first_not_of("0123456789abcdefABCDEF"), rest.size());
    return parse_integer(text, sign, rest.substr(0, end), 16, lowered(rest.substr(end)));
  }
  const bool is_real =
      rest.find('.') != rest.npos || (rest.find_first_of("eE") != rest.npos && rest.find_first_of("eE") > 0);
  std::size_t end = rest.find_last_not_of(kLetters);
  end = end == rest.npos ? 0 : end + 1;
  const std::string suffix = lowered(rest.substr(end));
  const std::string_view digits = rest.substr(0, end);
  if (is_real || suffix == "f" || suffix == "d") {
    if (digits.find_first_of(kDigits) == digits.npos)
      return corrupt("'" + std::string(text.substr(0, 80)) + "' is not a number");
    std::string with_sign(sign.negative ? "-" : "");
    with_sign += digits;
    return parse_real(text, with_sign, suffix);
  }
  const bool octal = digits.size() > 1 && digits.front() == '0';
  return parse_integer(text, sign, digits, octal ? 8 : 10, suffix);
}

std::optional<CdlNumber> special_cdl_number(std::string_view word) noexcept {
  CdlNumber number;
  number.type = Type::float64;
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  number.real = std::numeric_limits<double>::quiet_NaN();
  if (word == "NaN" || word == "nan") return number;
  if (word != "Infinity" && word != "DoubleInf") {
    number.type = Type::float32;
    if (word == "NaNf" || word == "nanf") return number;
    if (word != "Infinityf" && word != "Inff" && word != "FloatInf") return std::nullopt;
  }
  number.real = std::numeric_limits<double>::infinity();
  if (negative) number.real = -number.real;
  return number;
}

Result<void> append_cdl_number(Values& to, const CdlNumber& number) {
  const Type type = type_of(to);
  return std::visit(
      [&](auto& list) -> Result<void> {
        using List = std::remove_cvref_t<decltype(list)>;
        if constexpr (std::is_same_v<List, std::vector<std::string>>) {
          list.push_back(printed(number));
        } else if constexpr (std::is_same_v<List, std::string>) {
          if (number.type != Type::int8 && number.type != Type::uint8)
            return corrupt("a character or a text is expected, not the number " + to_string(number));
          list.push_back(static_cast<char>(number.bits));
        } else {
          const auto value = converted<typename List::value_type>(number);
          if (!value) return does_not_fit(number, type);
          list.push_back(*value);
        }
        return {};
      },
      to);
}

std::string to_string(const CdlNumber& number) {
  if (number.type == Type::float32 || number.type == Type::float64) {
    std::string text;
    append_cdl_number(text, number.real, 8);
    return text;
  }
  if (number.type == Type::uint64) return std::to_string(static_cast<std::uint64_t>(number.bits));
  return std::to_string(number.bits);
}

}  // namespace sherd::netcdf
