// A JSON value and its accessors. Numbers are kept as text, so that nothing is lost between reading a
// document and writing it again; they are converted only on request. json_parse.cpp parses, json_print.cpp
// prints.
#include "sherd/json.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace sherd {

namespace {

template <class T>
std::string number_text(T value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

// Like Python's repr: an exponent only if there would be too many digits, and always a sign that it is not an integer.
std::string double_text(double value) {
  std::array<char, 40> text;
  const double magnitude = std::abs(value);
  const bool plain = value == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  std::string shortest(text.data(), std::to_chars(text.data(), text.data() + text.size(), value, format).ptr);
  if (shortest.find_first_of(".e") == std::string::npos) shortest += ".0";
  return shortest;
}

const char* skip_digits(const char* at, const char* end) {
  while (at != end && *at >= '0' && *at <= '9') ++at;
  return at;
}

bool is_json_number(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at != end && *at == '-') ++at;
  const char* digits = at;
  at = skip_digits(at, end);
  if (at == digits || (*digits == '0' && at - digits > 1)) return false;
  if (at != end && *at == '.') {
    digits = ++at;
    at = skip_digits(at, end);
    if (at == digits) return false;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    if (++at != end && (*at == '+' || *at == '-')) ++at;
    digits = at;
    at = skip_digits(at, end);
    if (at == digits) return false;
  }
  return at == end;
}

// Whether the magnitude of a number that no double holds is too large (otherwise it is too small), judging by the power
// of ten of its first significant digit.
bool overflows(std::string_view text) {
  const auto e = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, e);
  std::int64_t exponent = 0;
  if (e != std::string_view::npos) {
    const std::string_view digits = text.substr(e + (text[e + 1] == '+' ? 2 : 1));
    if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec == std::errc::result_out_of_range)
      return digits[0] != '-';
  }
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  const auto first = mantissa.find_first_of("123456789");
  const auto offset = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  return exponent > -offset;
}

bool same_members(const Json::Object& a, const Json::Object& b) {
  if (a.size() != b.size()) return false;
  if (std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) { return x.first == y.first; }))
    return std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) { return x.second == y.second; });
  const auto sorted = [](const Json::Object& members) {
    std::vector<const Json::Member*> order;
    for (const Json::Member& member : members) order.push_back(&member);
    std::sort(order.begin(), order.end(), [](const auto* x, const auto* y) { return x->first < y->first; });
    return order;
  };
  const auto left = sorted(a), right = sorted(b);
  return std::equal(left.begin(), left.end(), right.begin(),
                    [](const auto* x, const auto* y) { return x->first == y->first && x->second == y->second; });
}

}  // namespace

Json::Json(bool value) : value_(value) {}
Json::Json(int value) : Json(Number{number_text(value)}) {}
Json::Json(std::int64_t value) : Json(Number{number_text(value)}) {}
Json::Json(std::uint64_t value) : Json(Number{number_text(value)}) {}
Json::Json(double value) {
  if (std::isfinite(value)) *this = Json(Number{double_text(value)});
}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : Json(std::string(value)) {}
Json::Json(const char* value) : Json(std::string(value)) {}
Json::Json(Array value) : value_(std::move(value)) {}
Json::Json(Object value) : value_(std::move(value)) {}

Json Json::numbers(const std::vector<std::uint64_t>& values) { return Array(values.begin(), values.end()); }

Json Json::number(std::string text) { return is_json_number(text) ? Json(Number{std::move(text)}) : Json(); }

std::optional<bool> Json::as_bool() const noexcept {
  if (!is_bool()) return std::nullopt;
  return *std::get_if<bool>(&value_);
}

std::optional<std::int64_t> Json::as_int() const noexcept {
  return is_number() ? parse_number<std::int64_t>(text()) : std::nullopt;
}

std::optional<std::uint64_t> Json::as_uint() const noexcept {
  if (!is_number()) return std::nullopt;
  return text() == "-0" ? 0 : parse_number<std::uint64_t>(text());
}

std::optional<double> Json::as_double() const noexcept {
  if (!is_number()) return std::nullopt;
  const std::string& digits = text();
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    value = overflows(digits) ? std::numeric_limits<double>::infinity() : 0.0;
    if (digits[0] == '-') value = -value;
  }
  return value;
}

const std::string& Json::text() const noexcept {
  static const std::string none;
  if (const auto* number = std::get_if<Number>(&value_)) return number->text;
  if (const auto* escaped = std::get_if<Escaped>(&value_)) return (*escaped)->text;
  const auto* text = std::get_if<std::string>(&value_);
  return text ? *text : none;
}

const Json::Array& Json::elements() const noexcept {
  static const Array none;
  const auto* elements = std::get_if<Array>(&value_);
  return elements ? *elements : none;
}

const Json::Object& Json::members() const noexcept {
  static const Object none;
  const auto* members = std::get_if<Object>(&value_);
  return members ? *members : none;
}

std::span<Json> Json::elements() noexcept {
  auto* elements = std::get_if<Array>(&value_);
  return elements ? std::span<Json>(*elements) : std::span<Json>();
}

std::span<Json::Member> Json::members() noexcept {
  auto* members = std::get_if<Object>(&value_);
  return members ? std::span<Member>(*members) : std::span<Member>();
}

const Json* Json::find(std::string_view key) const noexcept {
  for (const Member& member : members())
    if (member.first == key) return &member.second;
  return nullptr;
}

Json* Json::find(std::string_view key) noexcept { return const_cast<Json*>(std::as_const(*this).find(key)); }

Json& Json::set(std::string_view key, Json value) {
  if (Json* old = find(key)) return *old = std::move(value);
  if (is_null()) *this = Object();
  return std::get<Object>(value_).emplace_back(std::string(key), std::move(value)).second;
}

bool Json::erase(std::string_view key) {
  auto* members = std::get_if<Object>(&value_);
  return members && std::erase_if(*members, [key](const Member& member) { return member.first == key; }) != 0;
}

void Json::push_back(Json value) {
  if (is_null()) *this = Array();
  std::get<Array>(value_).push_back(std::move(value));
}

bool operator==(const Json& a, const Json& b) noexcept {
  if (a.type() != b.type()) return false;
  if (a.is_object()) return same_members(a.members(), b.members());
  return a.as_bool() == b.as_bool() && a.text() == b.text() && a.elements() == b.elements();
}

}  // namespace sherd
