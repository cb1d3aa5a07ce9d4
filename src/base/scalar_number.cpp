// Integers and floats of metadata, bit for bit. Numbers are read from their text and rounded once, half to even. A
// float without decimal text (a NaN, an infinity) is a word or the hexadecimal digits of its bits, with its exact width
// (Zarr v3.1, "fill value").
#include "base/scalar_number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float_format.hpp"
#include "base/scalar_dtype.hpp"
#include "base/try.hpp"

namespace sherd {

namespace {

using Kind = DType::Kind;

// A float type: its format, and the position of its numbers.
struct FloatType {
  DType::Kind kind;
  FloatFormat format;

  [[nodiscard]] std::size_t bytes() const { return format.bits <= 8 ? 1 : static_cast<std::size_t>(format.bits) / 8; }
  [[nodiscard]] std::string name() const { return kind_name(kind); }
};

FloatType float_type(Kind kind) { return {kind, *float_format(kind)}; }

template <class T>
void store(std::byte* to, std::uint64_t value) {
  const auto word = static_cast<T>(value);
  std::memcpy(to, &word, sizeof word);
}
template <class T>
std::uint64_t load(const std::byte* from) {
  T word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

void store_word(std::byte* to, std::size_t bytes, std::uint64_t value) {
  switch (bytes) {
    case 1:
      return store<std::uint8_t>(to, value);
    case 2:
      return store<std::uint16_t>(to, value);
    case 4:
      return store<std::uint32_t>(to, value);
    default:
      return store<std::uint64_t>(to, value);
  }
}

std::uint64_t load_word(const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return load<std::uint8_t>(from);
    case 2:
      return load<std::uint16_t>(from);
    case 4:
      return load<std::uint32_t>(from);
    default:
      return load<std::uint64_t>(from);
  }
}

// A decimal number without its sign: 0.digits * 10^exponent, with no zeros at either end of the digits.
struct Decimal {
  std::string digits;
  std::int64_t exponent = 0;
};

Decimal decimal(std::string_view text) {
  Decimal number;
  const auto e = std::min(text.find_first_of("eE"), text.size());
  if (e != text.size()) {
    const std::string_view power = text.substr(e + (text[e + 1] == '+' ? 2 : 1));
    std::from_chars(power.data(), power.data() + power.size(), number.exponent);
  }
  bool fraction = false;
  for (const char c : text.substr(0, e)) {
    if (c == '.') fraction = true;
    if (c < '0' || c > '9') continue;
    const bool leading = c == '0' && number.digits.empty();
    if (!leading) number.digits += c;
    number.exponent += static_cast<int>(!fraction && !leading) - static_cast<int>(fraction && leading);
  }
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  return number;
}

// Whether the number in the text is below (-1), equal to (0) or above (1) `value`, which has few bits, so that 160
// digits hold it exactly. Signs are ignored.
int compare_exactly(std::string_view text, double value) {
  std::array<char, 200> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific, 160).ptr;
  const Decimal a = decimal(text), b = decimal({digits.data(), end});
  if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
  const int order = a.digits.compare(b.digits);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// The bits of a magnitude in a format narrower than double, largest() + 1 if it is too large. `value` is the double
// nearest to the number `text`. Rounding the double rounds the number correctly, unless the double is halfway between
// two values; then the text decides. Without text, the double is the number.
std::uint64_t narrow(double value, std::string_view text, const FloatFormat& format) {
  const std::uint64_t too_large = format.largest() + 1;
  if (value == 0) return 0;
  if (std::isinf(value)) return too_large;
  const int exponent = std::max(std::ilogb(value), format.least());
  const double scaled = std::ldexp(value, format.fraction - exponent);
  const double whole = std::floor(scaled);
  const double rest = scaled - whole;
  auto significand = static_cast<std::uint64_t>(whole);
  if (rest > 0.5) {
    ++significand;
  } else if (rest == 0.5) {
    const int side = text.empty() ? 0 : compare_exactly(text, value);
    significand += side > 0 || (side == 0 && significand % 2 == 1);
  }
  // The leading bit of a normal number's significand carries into the exponent, as does a carry from rounding.
  const std::uint64_t bits = (static_cast<std::uint64_t>(exponent - format.least()) << format.fraction) + significand;
  // Without subnormal numbers, the smallest one has no bits at all.
  const bool from_zero = format.specials == FloatFormat::Specials::scale && bits != 0;
  return std::min(from_zero ? bits - 1 : bits, too_large);
}

std::optional<std::uint64_t> parse_bits(std::string_view text, const FloatType& type) {
  if (!text.starts_with("0x") || text.size() != 2 + 2 * type.bytes()) return std::nullopt;
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (error != std::errc{} || end != text.data() + text.size() || bits > type.format.all()) return std::nullopt;
  return bits;
}

std::string hex(std::uint64_t bits, std::size_t bytes) {
  std::array<char, 16> digits;
  const std::string text(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16).ptr);
  return "0x" + std::string(2 * bytes - text.size(), '0') + text;
}

double magnitude_of(std::uint64_t bits, const FloatFormat& format) {
  if (format.specials == FloatFormat::Specials::scale) return std::ldexp(1.0, static_cast<int>(bits) - format.bias);
  const std::uint64_t one = std::uint64_t{1} << format.fraction;
  const auto exponent = static_cast<int>(bits >> format.fraction);
  const auto significand = static_cast<double>(exponent == 0 ? bits : (bits & (one - 1)) | one);
  return std::ldexp(significand, std::max(exponent, 1) - 1 + format.least() - format.fraction);
}

// The shortest decimal that is read as these bits, whether a reader rounds it directly or through a double. One-byte
// numbers are written exactly, because readers round values halfway between two of them differently.
Json shortest(double magnitude, std::uint64_t bits, const FloatFormat& format) {
  for (int digits = format.fraction * 3 / 10; format.bits > 8 && format.bits < 64 && digits < 17; ++digits) {
    std::array<char, 40> text;
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), magnitude, std::chars_format::scientific, digits - 1).ptr;
    double candidate = 0;
    std::from_chars(text.data(), end, candidate);
    const Json number(candidate);
    if (narrow(candidate, number.text(), format) == bits && narrow(candidate, {}, format) == bits) return number;
  }
  return magnitude;
}

// A format that has only powers of two has no zero. 0 then means its smallest value, which tensorstore writes as 0.0.
Result<std::uint64_t> parse_number(const Json& json, const FloatType& type) {
  const double value = *json.as_double();
  const bool negative = std::signbit(value);
  const double magnitude = std::abs(value);
  const FloatFormat& format = type.format;
  if (type.bytes() == sizeof value) return format.word(negative, std::bit_cast<std::uint64_t>(magnitude));
  const std::uint64_t bits = narrow(magnitude, json.text(), format);
  const bool is_scale = format.specials == FloatFormat::Specials::scale;
  if (bits <= format.largest() && !(is_scale && negative)) return format.word(negative, bits);
  if (format.infinity()) return format.word(negative, *format.infinity());
  return invalid_argument(
      json.text() + " does not fit " + type.name() + ", whose " +
      (is_scale && bits <= format.largest()
           ? "numbers are powers of two"
           : "largest number is " + shortest(magnitude_of(format.largest(), format), format.largest(), format).text()));
}

template <class T>
Error out_of_range(const std::string& text, std::string_view name, T least = std::numeric_limits<T>::min(),
                   T most = std::numeric_limits<T>::max()) {
  return invalid_argument(text + " does not fit " + std::string(name) + " (" + std::to_string(least) + " to " +
                          std::to_string(most) + ")");
}

template <class T>
Result<std::uint64_t> parse_as(const Json& json, const DType& dtype) {
  if constexpr (std::is_signed_v<T>) {
    const auto value = json.as_int();
    if (!value || *value < std::numeric_limits<T>::min() || *value > std::numeric_limits<T>::max())
      return out_of_range<T>(json.text(), dtype.name());
    return static_cast<std::uint64_t>(*value);
  } else {
    const auto value = json.as_uint();
    if (!value || *value > std::numeric_limits<T>::max()) return out_of_range<T>(json.text(), dtype.name());
    return *value;
  }
}

// Integers of fewer than eight bits.
Result<std::uint64_t> parse_narrow(const Json& json, const DType& dtype, NarrowNumbers numbers) {
  const std::int64_t count = std::int64_t{1} << numbers.bits;
  const std::int64_t least = numbers.is_signed ? -count / 2 : 0;
  const std::int64_t most = least + count - 1;
  const auto value = json.as_int();
  if (!value || *value < least || *value > most) return out_of_range(json.text(), dtype.name(), least, most);
  return static_cast<std::uint64_t>(*value);
}

Result<std::uint64_t> parse_word(const Json& json, const DType& dtype) {
  if (const auto numbers = narrow_numbers(dtype.kind())) return parse_narrow(json, dtype, *numbers);
  switch (dtype.kind()) {
    case Kind::int8:
      return parse_as<std::int8_t>(json, dtype);
    case Kind::int16:
      return parse_as<std::int16_t>(json, dtype);
    case Kind::int32:
      return parse_as<std::int32_t>(json, dtype);
    case Kind::uint8:
      return parse_as<std::uint8_t>(json, dtype);
    case Kind::uint16:
      return parse_as<std::uint16_t>(json, dtype);
    case Kind::uint32:
      return parse_as<std::uint32_t>(json, dtype);
    case Kind::uint64:
      return parse_as<std::uint64_t>(json, dtype);
    default:
      return parse_as<std::int64_t>(json, dtype);
  }
}

bool is_time(Kind kind) { return kind == Kind::datetime64 || kind == Kind::timedelta64; }

constexpr std::uint64_t kNotATime = std::uint64_t{1} << 63;

}  // namespace

Result<void> parse_integer(const Json& json, const DType& dtype, std::byte* to) {
  const bool time = is_time(dtype.kind());
  std::uint64_t word = kNotATime;
  if (!time || !json.is_string() || json.text() != "NaT") {
    if (!json.is_number() || json.text().find_first_of(".eE") != std::string::npos)
      return invalid_argument("a value of " + dtype.name() + " is a number without fraction and exponent" +
                              (time ? " or \"NaT\"" : ""));
    SHERD_TRY(value, parse_word(json, dtype));
    word = value;
  }
  store_word(to, dtype.size(), word);
  return {};
}

Json print_integer(const std::byte* element, const DType& dtype) {
  const std::uint64_t word = load_word(element, dtype.size());
  if (const auto numbers = narrow_numbers(dtype.kind())) {
    const std::uint64_t all = (std::uint64_t{1} << numbers->bits) - 1;
    const std::uint64_t sign = numbers->is_signed ? all / 2 + 1 : 0;
    return static_cast<std::int64_t>(((word & all) ^ sign) - sign);
  }
  switch (dtype.kind()) {
    case Kind::uint8:
    case Kind::uint16:
    case Kind::uint32:
    case Kind::uint64:
      return word;
    default:
      break;
  }
  if (is_time(dtype.kind()) && word == kNotATime) return "NaT";
  const auto unused = 64 - 8 * dtype.size();
  return static_cast<std::int64_t>(word << unused) >> unused;
}

Result<void> parse_float(const Json& json, Kind kind, std::byte* to) {
  const FloatType type = float_type(kind);
  const FloatFormat& format = type.format;
  std::optional<std::uint64_t> bits;
  if (json.is_number()) {
    SHERD_TRY(number, parse_number(json, type));
    bits = number;
  } else if (json.is_string()) {
    const std::string& text = json.text();
    const bool infinite = (text == "Infinity" || text == "-Infinity") && format.infinity();
    if (text == "NaN")
      bits = format.nan();
    else if (infinite)
      bits = format.word(text[0] == '-', *format.infinity());
    else
      bits = parse_bits(text, type);
  }
  if (!bits)
    return invalid_argument("a value of " + type.name() + " is a number" + (format.nan() ? ", \"NaN\"" : "") +
                            (format.infinity() ? R"(, "Infinity", "-Infinity")" : "") + " or \"0x\" with " +
                            std::to_string(2 * type.bytes()) + " hexadecimal digits");
  store_word(to, type.bytes(), *bits);
  return {};
}

Json print_float(const std::byte* element, Kind kind) {
  const FloatType type = float_type(kind);
  const FloatFormat& format = type.format;
  const std::uint64_t word = load_word(element, type.bytes()) & format.all();
  const std::uint64_t bits = word & format.magnitude();
  const bool negative = word != bits;
  if (word == format.nan()) return "NaN";
  if (format.is_nan(word)) return hex(word, type.bytes());
  if (bits == format.infinity()) return negative ? "-Infinity" : "Infinity";
  const Json magnitude = shortest(magnitude_of(bits, format), bits, format);
  return negative ? Json::number("-" + magnitude.text()) : magnitude;
}

}  // namespace sherd
