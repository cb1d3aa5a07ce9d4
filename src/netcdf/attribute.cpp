// Numbers keep their text on the way in: a float is rounded once, from its decimal digits.
#include "netcdf/attribute.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/base64.hpp"
#include "base/lenient.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "netcdf/type.hpp"

namespace sherd::netcdf {

namespace {

/// A JSON string as printed by netcdf-c: characters have their short escapes, or none.
void print_string(const std::string& text, std::string& to) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  to += '"';
  for (const char c : text) {
    const std::size_t at = kEscaped.find(c);
    if (at != kEscaped.npos)
      (to += '\\') += kLetters[at];
    else if (static_cast<unsigned char>(c) < 0x20)
      to += Json(std::string(1, c)).dump().substr(1, 6);  // netcdf-c loses these characters
    else
      to += c;
  }
  to += '"';
}

/// Appends JSON as printed by netcdf-c: with spaces in objects, without spaces in lists.
void print(const Json& json, std::string& to) {
  if (json.is_string()) {
    const std::string_view bare = bare_number(json);
    if (bare.empty()) return print_string(json.text(), to);
    to += bare;
  } else if (json.is_object()) {
    to += '{';
    for (const Json::Member& each : json.members()) {
      if (&each != &json.members().front()) to += ", ";
      print_string(each.first, to);
      to += ": ";
      print(each.second, to);
    }
    to += '}';
  } else if (json.is_array()) {
    to += '[';
    for (const Json& each : json.elements()) {
      if (&each != &json.elements().front()) to += ',';
      print(each, to);
    }
    to += ']';
  } else {
    to += json.dump();
  }
}

std::string printed(const Json& json) {
  std::string text;
  print(json, text);
  return text;
}

std::string text_of(const Json& json) { return json.is_string() ? json.text() : printed(json); }

/// A number in a JSON number; in a string, as netcdf-c writes NaN; or in a bool.
std::optional<std::string_view> number_text(const Json& json) {
  if (json.is_bool()) return *json.as_bool() ? "1" : "0";
  if (json.is_number() || json.is_string()) return json.text();
  return std::nullopt;
}

/// Whether an unsigned decimal number is less than 1, judging by the position of its first non-zero digit.
bool is_below_one(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find_first_of("eE"));
  std::string_view power = text.substr(std::min(digits.size() + 1, text.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  constexpr std::int64_t kFarthest = std::int64_t{1} << 62U;
  if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec == std::errc::result_out_of_range)
    exponent = kFarthest;
  if (exponent == kFarthest && power.starts_with('-')) exponent = -kFarthest;
  exponent = std::clamp(exponent, -kFarthest, kFarthest);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_not_of("0.");
  if (first == digits.npos) return true;
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);  // 1: of ones, -1: of tenths
  return (place > 0 ? place - 1 : place) + exponent < 0;
}

template <class T>
std::optional<T> parse_integer(std::string_view text) {
  if (const auto value = parse_number<T>(text)) return value;
  const auto real = parse_float<double>(text);  // 3.0 and 1e3 are integers, too
  if (!real || std::trunc(*real) != *real) return std::nullopt;
  // 2^digits is exact, and is the first value that is too large.
  const double bound = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (*real >= bound || *real < (std::is_signed_v<T> ? -bound : 0.0)) return std::nullopt;
  return static_cast<T>(*real);
}

template <class T>
std::optional<T> parse_value(std::string_view text) {
  if constexpr (std::is_floating_point_v<T>)
    return parse_float<T>(text);
  else
    return parse_integer<T>(text);
}

template <class T>
Result<void> add_value(const Json& json, std::vector<T>& to) {
  const auto text = number_text(json);
  const auto value = text ? parse_value<T>(*text) : std::nullopt;
  if (!value) return invalid_argument("the value " + printed(json).substr(0, 80) + " is not a number of this type");
  to.push_back(*value);
  return {};
}

Result<void> add_value(const Json& json, std::vector<std::string>& to) {
  to.push_back(text_of(json));
  return {};
}

template <class T>
std::string print_number(T value) {
  char text[64];
  const auto end = std::to_chars(std::begin(text), std::end(text), value);
  return {text, end.ptr};
}

template <class T>
Json number_json(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    std::string text = print_number(value);
    // Without its type, an integer would be read as an integer.
    if (text.find_first_of(".e") == text.npos) text += ".0";
    return Json::number(std::move(text));
  } else {
    return Json::number(print_number(value));
  }
}

Result<Json> text_json(const std::string& text) {
  if (!is_utf8(text)) return invalid_argument("the text is not valid UTF-8, so JSON cannot hold it");
  return Json(text);
}

Result<Json> character_json(const std::string& text, TextForm form) {
  const bool literal = form == TextForm::literal;
  // netcdf-c does not know the escape \u.
  const bool may_be_same =
      form == TextForm::same && (text.starts_with('{') || text.starts_with('[')) && text.find("\\u") == text.npos;
  auto parsed = literal || may_be_same ? Json::parse(text) : Result<Json>(corrupt("not looked at"));
  if (parsed && (literal || printed(*parsed) == text)) return parsed;
  return text_json(text);
}

/// The smallest type that holds these integers, which have no type.
Type integer_type(std::span<const Json> numbers) {
  constexpr Type types[] = {Type::int32, Type::uint32, Type::int64, Type::uint64};
  for (const Type type : types)
    if (std::ranges::all_of(numbers, [&](const Json& number) { return values_of_type(number, type).has_value(); }))
      return type;
  return Type::float64;
}

/// A number that JSON lacks, stored by writers as text.
bool is_special(const Json& value) {
  return value.text() == "NaN" || value.text() == "Infinity" || value.text() == "-Infinity";
}

bool is_integer_text(const Json& number) { return number.text().find_first_of(".eE") == std::string::npos; }

std::optional<Type> inferred_type(std::span<const Json> values) {
  if (values.empty()) return std::nullopt;
  if (std::ranges::all_of(values, &Json::is_bool)) return Type::uint8;
  const auto is_number = [](const Json& each) { return each.is_number() || !bare_number(each).empty(); };
  if (std::ranges::all_of(values, is_number))
    return std::ranges::all_of(values, is_integer_text) ? integer_type(values) : Type::float64;
  const auto is_real = [](const Json& each) { return each.is_number() || is_special(each); };
  if (std::ranges::any_of(values, &Json::is_number) && std::ranges::all_of(values, is_real)) return Type::float64;
  if (std::ranges::all_of(values, &Json::is_string)) return Type::string;
  return std::nullopt;
}

}  // namespace

template <class T>
std::optional<T> parse_float(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view name = negative ? text.substr(1) : text;
  if (name == "NaN" || name == "nan" || name == "NaNf") return std::numeric_limits<T>::quiet_NaN();
  if (name == "Infinity" || name == "inf" || name == "Infinityf") {
    const T infinity = std::numeric_limits<T>::infinity();
    return negative ? -infinity : infinity;
  }
  T value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (failed == std::errc::result_out_of_range) {  // too large, or too small to be anything but zero
    const T limit = is_below_one(name) ? T(0) : std::numeric_limits<T>::infinity();
    return negative ? -limit : limit;
  }
  return failed == std::errc() ? std::optional(value) : std::nullopt;
}

template std::optional<float> parse_float<float>(std::string_view text);
template std::optional<double> parse_float<double>(std::string_view text);

Result<Values> values_of_type(const Json& json, Type type) {
  if (type == Type::character) return Values(text_of(json));
  Values values = no_values(type);
  const bool is_list = json.is_array();
  auto added = std::visit(
      [&](auto& list) -> Result<void> {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(list)>, std::string>) {
          if (!is_list) return add_value(json, list);
          list.reserve(json.size());
          for (const Json& each : json.elements()) SHERD_TRY(add_value(each, list));
        }
        return {};
      },
      values);
  if (!added) return std::move(added).error();
  return values;
}

Values inferred_values(const Json& json) {
  if (json.is_string() && bare_number(json).empty()) return json.text();
  const auto type = json.is_array() ? inferred_type(json.elements()) : inferred_type(std::span(&json, 1));
  auto values = type ? values_of_type(json, *type) : Result<Values>(Values(std::string()));
  if (type && values) return *std::move(values);
  return json.is_array() && json.size() == 0 ? std::string() : printed(json);
}

Result<Json> attribute_json(const Values& values, TextForm form) {
  return std::visit(
      [&](const auto& list) -> Result<Json> {
        using List = std::remove_cvref_t<decltype(list)>;
        if constexpr (std::is_same_v<List, std::string>) {
          return character_json(list, form);
        } else {
          Json::Array all;
          for (const auto& each : list) {
            if constexpr (std::is_same_v<List, std::vector<std::string>>) {
              SHERD_TRY(text, text_json(each));
              all.push_back(std::move(text));
            } else {
              all.push_back(number_json(each));
            }
          }
          if (all.size() == 1) return std::move(all.front());
          return Json(std::move(all));
        }
      },
      values);
}

void cut_final_nuls(Attribute& attribute) {
  if (attribute.name == kFillValue) return;
  const auto cut = [](std::string& text) { text.resize(text.find_last_not_of('\0') + 1); };
  if (auto* const text = std::get_if<std::string>(&attribute.values)) cut(*text);
  if (auto* const texts = std::get_if<std::vector<std::string>>(&attribute.values)) std::ranges::for_each(*texts, cut);
}

bool is_hidden_attribute(std::string_view name) noexcept {
  constexpr std::string_view names[] = {"_NCProperties",
                                        "_nczarr_group",
                                        "_nczarr_array",
                                        "_nczarr_superblock",
                                        "_nczarr_attr",
                                        "_NCZARR_SUPERBLOCK",
                                        "_NCZARR_GROUP",
                                        "_NCZARR_ARRAY",
                                        "_NCZARR_ATTR",
                                        "_nczarr_attrs",
                                        "_ARRAY_DIMENSIONS",
                                        "_Netcdf4Coordinates",
                                        "_Netcdf4Dimid",
                                        "CLASS",
                                        "NAME",
                                        "DIMENSION_LIST",
                                        "REFERENCE_LIST",
                                        "_nc3_strict",
                                        "_IsNetcdf4",
                                        "_SuperblockVersion"};
  return std::ranges::find(names, name) != std::end(names);
}

const Values* find_values(const std::vector<Attribute>& attributes, std::string_view name) noexcept {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found == attributes.end() ? nullptr : &found->values;
}

std::optional<std::uint64_t> string_length_in(const std::vector<Attribute>& attributes, std::string_view name) {
  const Values* found = find_values(attributes, name);
  const auto* numbers = found != nullptr ? std::get_if<std::vector<std::int32_t>>(found) : nullptr;
  if (numbers == nullptr || numbers->size() != 1 || numbers->front() < 1) return std::nullopt;
  return static_cast<std::uint64_t>(numbers->front());
}

std::optional<Json> fill_for_xarray(const Values& fill) {
  if (size_of(fill) != 1) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&fill))
    return Json(std::uint64_t{static_cast<unsigned char>(text->front())});
  double value = 0;
  if (const auto* floats = std::get_if<std::vector<float>>(&fill))
    value = floats->front();
  else if (const auto* doubles = std::get_if<std::vector<double>>(&fill))
    value = doubles->front();
  else
    return std::nullopt;
  return Json(encode_base64({reinterpret_cast<const char*>(&value), sizeof value}));
}

std::optional<double> float_of_xarray(const Json& fill) {
  const auto bytes = fill.is_string() ? decode_base64(fill.text()) : std::nullopt;
  double value = 0;
  if (!bytes || bytes->size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

}  // namespace sherd::netcdf
