// Properties of segments: one info document with `inline` ids (decimal strings) and, for each property, one value per
// segment. Each type of property has its own members; a document that has them in other types is refused, as are values
// that their data_type cannot hold. Source: Neuroglancer's docs/datasource/precomputed, "Segment Properties Format".
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "base/scalar_number.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "neuroglancer/document.hpp"

namespace sherd::neuroglancer {
namespace {

using Type = SegmentProperty::Type;

constexpr std::string_view kPropertiesType = "neuroglancer_segment_properties";
constexpr std::array<std::string_view, 5> kPropertyTypes{"label", "description", "string", "tags", "number"};

bool is_text(Type type) { return type <= Type::string; }

Result<std::uint64_t> parse_id(const Json& json) {
  const auto id = json.is_string() ? parse_number<std::uint64_t>(json.text()) : std::nullopt;
  if (!id) return invalid_argument("must be a string of a decimal number below 2^64");
  return *id;
}

bool is_number_type(const DType& dtype) {
  return dtype == DType::float32 || dtype == DType::uint8 || dtype == DType::int8 || dtype == DType::uint16 ||
         dtype == DType::int16 || dtype == DType::uint32 || dtype == DType::int32;
}

template <class T>
Result<void> add_integer(double value, std::vector<std::byte>& bytes) {
  if (value != std::trunc(value) || value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
    return invalid_argument("is not a value of its data_type");
  const auto integer = static_cast<T>(value);
  const auto* from = reinterpret_cast<const std::byte*>(&integer);
  bytes.insert(bytes.end(), from, from + sizeof integer);
  return {};
}

Result<void> add_number(double value, Column& column) {
  switch (column.dtype.kind()) {
    case DType::Kind::uint8:
      return add_integer<std::uint8_t>(value, column.bytes);
    case DType::Kind::int8:
      return add_integer<std::int8_t>(value, column.bytes);
    case DType::Kind::uint16:
      return add_integer<std::uint16_t>(value, column.bytes);
    case DType::Kind::int16:
      return add_integer<std::int16_t>(value, column.bytes);
    case DType::Kind::uint32:
      return add_integer<std::uint32_t>(value, column.bytes);
    case DType::Kind::int32:
      return add_integer<std::int32_t>(value, column.bytes);
    default:
      break;
  }
  const auto single = static_cast<float>(value);
  if (!std::isfinite(single)) return invalid_argument("is not a value of its data_type");
  const auto* from = reinterpret_cast<const std::byte*>(&single);
  column.bytes.insert(column.bytes.end(), from, from + sizeof single);
  return {};
}

Result<void> parse_numbers(ObjectMembers& members, SegmentProperty& property) {
  SHERD_TRY(name, members.text("data_type"));
  const auto dtype = DType::parse(name);
  if (!dtype || !is_number_type(*dtype))
    return member_error("data_type",
                        "\"" + name + "\" is not a type of number: float32 or an integer of at most 32 bits is");
  property.numbers.dtype = *dtype;
  return members.each("values", false, [&property](const Json& json) -> Result<void> {
    SHERD_TRY(value, finite(json));
    return add_number(value, property.numbers);
  });
}

Result<void> check_tags(const std::vector<std::string>& tags) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::string location = "tags[" + std::to_string(i) + "]";
    if (tags[i].find(' ') != std::string::npos) return member_error(location, "must not contain spaces");
    if (tags[i].starts_with('#')) return member_error(location, "must be given without the #");
    if (!seen.insert(tags[i]).second) return member_error(location, "\"" + tags[i] + "\" is repeated");
  }
  return {};
}

Result<std::vector<std::uint32_t>> parse_tag_numbers(const Json& json, std::size_t tags) {
  if (!json.is_array()) return invalid_argument("must be an array of indices of tags, in ascending order");
  std::vector<std::uint32_t> numbers;
  for (const Json& element : json.elements()) {
    const auto number = whole_uint(element);
    if (!number || *number >= tags || (!numbers.empty() && *number <= numbers.back()))
      return invalid_argument("must be indices, in ascending order, of the " + std::to_string(tags) + " tags");
    numbers.push_back(static_cast<std::uint32_t>(*number));
  }
  return numbers;
}

Result<void> parse_tags(ObjectMembers& members, SegmentProperty& property) {
  SHERD_TRY(tags, members.texts("tags"));
  SHERD_TRY(check_tags(tags));
  property.tags = std::move(tags);
  if (members.find("tag_descriptions") != nullptr) {
    SHERD_TRY(descriptions, members.texts("tag_descriptions"));
    if (descriptions.size() != property.tags.size())
      return member_error("tag_descriptions", "must have as many elements as tags");
    property.tag_descriptions = std::move(descriptions);
  }
  return members.each("values", false, [&property](const Json& json) -> Result<void> {
    SHERD_TRY(numbers, parse_tag_numbers(json, property.tags.size()));
    property.tag_values.push_back(std::move(numbers));
    return {};
  });
}

std::size_t value_count(const SegmentProperty& property) {
  if (is_text(property.type)) return property.texts.size();
  if (property.type == Type::tags) return property.tag_values.size();
  return property.numbers.bytes.size() / property.numbers.element_bytes();
}

Result<SegmentProperty> parse_property(const Json& json, std::size_t ids) {
  SHERD_TRY(members, ObjectMembers::open(json));
  SegmentProperty property;
  SHERD_TRY(id, members.text("id"));
  property.id = std::move(id);
  SHERD_TRY(type, members.text("type"));
  const auto* found = std::find(kPropertyTypes.begin(), kPropertyTypes.end(), type);
  if (found == kPropertyTypes.end()) return member_error("type", "\"" + type + "\" is not a type of property");
  property.type = static_cast<Type>(found - kPropertyTypes.begin());
  SHERD_TRY(description, members.text("description", ""));
  property.description = std::move(description);
  if (property.type == Type::number) {
    SHERD_TRY(parse_numbers(members, property));
  } else if (property.type == Type::tags) {
    SHERD_TRY(parse_tags(members, property));
  } else {
    SHERD_TRY(texts, members.texts("values"));
    property.texts = std::move(texts);
  }
  if (value_count(property) != ids)
    return member_error("values", "has " + std::to_string(value_count(property)) + " elements, but there are " +
                                      std::to_string(ids) + " ids");
  property.other = members.others();
  return property;
}

Result<Json> numbers_of(const Column& column) {
  if (!is_number_type(column.dtype) || column.components != 1 || column.bytes.size() % column.dtype.size() != 0)
    return invalid_argument("numbers are one float32 or one integer of at most 32 bits per segment");
  Json::Array values;
  for (std::size_t at = 0; at < column.bytes.size(); at += column.dtype.size()) {
    const std::byte* element = column.bytes.data() + at;
    values.push_back(column.dtype == DType::float32 ? print_float(element, DType::Kind::float32)
                                                    : print_integer(element, column.dtype));
  }
  return Json(std::move(values));
}

Json tag_numbers(const std::vector<std::vector<std::uint32_t>>& values) {
  Json::Array lists;
  for (const auto& numbers : values) {
    Json::Array list;
    for (const std::uint32_t number : numbers) list.emplace_back(static_cast<std::uint64_t>(number));
    lists.emplace_back(std::move(list));
  }
  return Json(std::move(lists));
}

Result<Json> print_property(const SegmentProperty& property) {
  Json json;
  json.set("id", property.id);
  json.set("type", kPropertyTypes[static_cast<std::size_t>(property.type)]);
  set_present(json, "description", property.description);
  if (property.type == Type::number) {
    SHERD_TRY(values, numbers_of(property.numbers));
    json.set("data_type", property.numbers.dtype.name());
    json.set("values", std::move(values));
  } else if (property.type == Type::tags) {
    if (!property.description.empty()) return member_error("description", "tags have descriptions of their own");
    json.set("tags", texts_json(property.tags));
    if (!property.tag_descriptions.empty()) json.set("tag_descriptions", texts_json(property.tag_descriptions));
    json.set("values", tag_numbers(property.tag_values));
  } else {
    json.set("values", texts_json(property.texts));
  }
  return with_others(std::move(json), property.other);
}

// At most one label, one description and one property of tags.
Result<void> check_single(const std::vector<SegmentProperty>& properties) {
  for (const Type type : {Type::label, Type::description, Type::tags}) {
    const auto is = [type](const SegmentProperty& property) { return property.type == type; };
    if (std::count_if(properties.begin(), properties.end(), is) > 1)
      return member_error("properties",
                          "at most one can be of type " + std::string(kPropertyTypes[static_cast<std::size_t>(type)]));
  }
  return {};
}

Result<void> parse_inline(const Json& json, SegmentProperties& properties) {
  SHERD_TRY(members, ObjectMembers::open(json));
  SHERD_TRY(members.each("ids", false, [&properties](const Json& element) -> Result<void> {
    SHERD_TRY(id, parse_id(element));
    properties.ids.push_back(id);
    return {};
  }));
  SHERD_TRY(members.each("properties", false, [&properties](const Json& element) -> Result<void> {
    SHERD_TRY(property, parse_property(element, properties.ids.size()));
    properties.properties.push_back(std::move(property));
    return {};
  }));
  SHERD_TRY(check_single(properties.properties));
  properties.inline_other = members.others();
  return {};
}

}  // namespace

Result<SegmentProperties> SegmentProperties::parse(const Json& document) {
  SHERD_TRY(members, ObjectMembers::open(document, kPropertiesType));
  SegmentProperties properties;
  const Json* inlined = members.find("inline");
  if (inlined == nullptr) return member_error("inline", "must be an object");
  SHERD_TRY(parse_inline(*inlined, properties).in_member("inline"));
  properties.other = members.others();
  return properties;
}

Result<Json> SegmentProperties::print() const {
  Json::Array texts;
  for (const std::uint64_t id : ids) texts.emplace_back(std::to_string(id));
  Json::Array list;
  for (std::size_t i = 0; i < properties.size(); ++i) {
    SHERD_TRY(json, print_property(properties[i]).in_member("inline.properties[" + std::to_string(i) + "]"));
    list.push_back(std::move(json));
  }
  Json inlined;
  inlined.set("ids", Json(std::move(texts)));
  inlined.set("properties", Json(std::move(list)));
  SHERD_TRY(whole, with_others(std::move(inlined), inline_other));
  Json document;
  document.set("@type", kPropertiesType);
  document.set("inline", std::move(whole));
  return checked_print<SegmentProperties>(std::move(document), other);
}

}  // namespace sherd::neuroglancer
