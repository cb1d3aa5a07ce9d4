// Reads and writes the members that Neuroglancer's info documents share. A null member counts as absent, since Python
// writers leave `"sharding": null`; null is never written.
#include "neuroglancer/document.hpp"

#include <algorithm>
#include <cmath>

#include "base/whole_number.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::uint64_t kLargest = std::uint64_t{1} << 62U;  // so that no sum of an offset and a size overflows

}  // namespace

std::string plain_path(const std::string& key) { return path_below("", key).value_or(key); }

Result<std::string> directory_of(const std::string& path, const std::string& key) {
  const auto directory = path_below(path, key);
  if (!directory) return unsupported("is outside the store").in_member("key");
  if (directory->empty()) return std::string();
  if (const auto valid = check_key(*directory); !valid)
    return unsupported("cannot be part of a key: " + std::string(valid.error().message())).in_member("key");
  return *directory;
}

Error member_error(std::string_view key, std::string message) {
  return invalid_argument(std::move(message)).in_member(key);
}

Result<double> finite(const Json& value) {
  const auto number = value.as_double();
  if (!number || !std::isfinite(*number)) return invalid_argument("must be a finite number");
  return *number;
}

Result<ObjectMembers> ObjectMembers::open(const Json& json, std::string_view type) {
  if (!json.is_object()) return invalid_argument("must be an object");
  ObjectMembers members(json);
  if (type.empty()) return members;
  SHERD_TRY(found, members.text("@type"));
  if (found != type)
    return unsupported("must be \"" + std::string(type) + "\", not \"" + found + "\"").in_member("@type");
  return members;
}

const Json* ObjectMembers::find(std::string_view key) {
  known_.emplace_back(key);
  const Json* found = object_->find(key);
  return found != nullptr && !found->is_null() ? found : nullptr;
}

Result<std::string> ObjectMembers::text(std::string_view key, std::optional<std::string_view> absent) {
  const Json* found = find(key);
  if (found == nullptr && absent) return std::string(*absent);
  if (found == nullptr || !found->is_string()) return member_error(key, "must be a string");
  return found->text();
}

Result<double> ObjectMembers::number(std::string_view key) {
  const Json* found = find(key);
  if (found == nullptr) return member_error(key, "must be a finite number");
  return finite(*found).in_member(key);
}

Result<std::uint64_t> ObjectMembers::integer(std::string_view key, std::uint64_t low, std::uint64_t high) {
  const Json* found = find(key);
  const auto value = found != nullptr ? whole_uint(*found) : std::nullopt;
  if (!value || *value < low || *value > high)
    return member_error(key, "must be an integer from " + std::to_string(low) + " to " + std::to_string(high));
  return *value;
}

Result<Triple> parse_triple(const Json& value, std::uint64_t low) {
  Triple triple{};
  bool right = value.is_array() && value.elements().size() == triple.size();
  for (std::size_t d = 0; right && d < triple.size(); ++d) {
    const auto number = whole_uint(value.elements()[d]);
    right = number && *number >= low && *number <= kLargest;
    if (right) triple[d] = *number;
  }
  if (right) return triple;
  return invalid_argument("must be three integers of at least " + std::to_string(low));
}

Result<Triple> ObjectMembers::triple(std::string_view key, std::uint64_t low) {
  const Json* found = find(key);
  return parse_triple(found != nullptr ? *found : Json(), low).in_member(key);
}

Result<std::vector<double>> ObjectMembers::numbers(std::string_view key, std::optional<std::size_t> count) {
  std::vector<double> values;
  SHERD_TRY(each(key, false, [&values](const Json& element) -> Result<void> {
    SHERD_TRY(value, finite(element));
    values.push_back(value);
    return {};
  }));
  if (count && values.size() != *count)
    return member_error(key,
                        "has " + std::to_string(values.size()) + " elements, and must have " + std::to_string(*count));
  return values;
}

Result<std::vector<std::string>> ObjectMembers::texts(std::string_view key) {
  std::vector<std::string> values;
  SHERD_TRY(each(key, false, [&values](const Json& element) -> Result<void> {
    if (!element.is_string()) return invalid_argument("must be a string");
    values.push_back(element.text());
    return {};
  }));
  return values;
}

Result<Transform> ObjectMembers::transform() {
  if (find("transform") == nullptr) return kIdentity;
  SHERD_TRY(values, numbers("transform", kIdentity.size()));
  Transform transform;
  std::copy(values.begin(), values.end(), transform.begin());
  return transform;
}

Result<Json> ObjectMembers::sharding() {
  const Json* found = find("sharding");
  if (found == nullptr) return Json();
  if (!found->is_object()) return member_error("sharding", "must be an object");
  return *found;
}

Result<void> ObjectMembers::each(std::string_view key, bool optional,
                                 const std::function<Result<void>(const Json&)>& parse) {
  const Json* found = find(key);
  if (found == nullptr && optional) return {};
  if (found == nullptr || !found->is_array()) return member_error(key, "must be an array");
  const Json::Array& elements = found->elements();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    auto parsed = parse(elements[i]);
    if (!parsed) return std::move(parsed).error().in_member(std::string(key) + "[" + std::to_string(i) + "]");
  }
  return {};
}

Json ObjectMembers::others() const {
  Json::Object rest;
  for (const auto& member : object_->members())
    if (std::find(known_.begin(), known_.end(), member.first) == known_.end()) rest.push_back(member);
  return rest.empty() ? Json() : Json(std::move(rest));
}

Json number_json(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::abs(value) < kExact && value == std::trunc(value)) return Json(static_cast<std::int64_t>(value));
  return Json(value);
}

Json numbers_json(std::span<const double> values) {
  Json::Array elements;
  elements.reserve(values.size());
  for (const double value : values) elements.push_back(number_json(value));
  return Json(std::move(elements));
}

std::string key_of_resolution(std::span<const double> nanometres) {
  std::string key;
  for (const double each : nanometres) key += (key.empty() ? "" : "_") + number_json(each).dump();
  return key;
}

Json texts_json(const std::vector<std::string>& values) { return Json(Json::Array(values.begin(), values.end())); }

void set_present(Json& document, std::string_view key, Json value) {
  if (value.is_null() || (value.is_string() && value.text().empty())) return;
  document.set(key, std::move(value));
}

Result<Json> with_others(Json document, const Json& others) {
  for (const auto& [key, value] : others.members()) {
    if (document.find(key) != nullptr) return member_error(key, "is a known member, but given among the unknown ones");
    document.set(key, value);
  }
  return document;
}

}  // namespace sherd::neuroglancer
