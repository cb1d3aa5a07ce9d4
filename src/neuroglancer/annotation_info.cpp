// The info document of annotations. Neuroglancer requires every member except `properties` (and `relationships` may be
// an empty list). cloud-volume omits by_id, relationships and spatial if the index does not exist, so they may be
// missing, and by_id is printed only if it has a key. A spatial level's `chunk_size` is required: the published schema
// calls it chunk_shape, which no reader knows. cloud-volume and Neuroglancer's Python reader take the order of
// `properties` for the order of the bytes, which is by size.
#include <algorithm>
#include <set>

#include "base/whole_number.hpp"
#include "neuroglancer/annotation_record.hpp"
#include "neuroglancer/document.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::string_view kAnnotationsType = "neuroglancer_annotations_v1";
// The specification has them in lower case. Neuroglancer reads them in any case, cloud-volume in upper case only.
constexpr std::array<std::string_view, 5> kAnnotationTypes{"POINT", "LINE", "AXIS_ALIGNED_BOUNDING_BOX", "ELLIPSOID",
                                                           "POLYLINE"};

// Neuroglancer's Python reader up to 2.41.2 aligns uint32 to 3 bytes instead of 4, so it finds one only after a
// multiple of 12 bytes: three properties of four bytes.
constexpr std::size_t kUint32Interval = 3;

Result<AnnotationType> parse_type(const std::string& name) {
  std::string upper = name;
  for (char& letter : upper)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  for (std::size_t i = 0; i < kAnnotationTypes.size(); ++i)
    if (upper == kAnnotationTypes[i]) return static_cast<AnnotationType>(i);
  return member_error("annotation_type", "\"" + name + "\" is not a type of annotation");
}

bool is_identifier(std::string_view id) {
  constexpr std::string_view lower = "abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !id.empty() && lower.find(id[0]) != lower.npos && id.find_first_not_of(all) == id.npos;
}

Result<std::vector<AnnotationDimension>> parse_dimensions(const Json* json) {
  if (json == nullptr || !json->is_object() || json->size() == 0)
    return member_error("dimensions", "must be an object with a member for each dimension, one at least");
  std::vector<AnnotationDimension> dimensions;
  for (const auto& [name, value] : json->members()) {
    const auto& pair = value.elements();
    if (pair.size() != 2 || !pair[1].is_string())
      return member_error("dimensions." + name, "must be an array of a scale and a unit");
    SHERD_TRY(scale, finite(pair[0]).in_member("dimensions." + name + "[0]"));
    dimensions.push_back({name, scale, pair[1].text()});
  }
  return dimensions;
}

Result<AnnotationProperty> parse_property(const Json& json) {
  SHERD_TRY(members, ObjectMembers::open(json));
  AnnotationProperty property;
  SHERD_TRY(id, members.text("id"));
  if (!is_identifier(id))
    return member_error("id", "\"" + id + "\" must be letters, digits and _, the first a lower-case letter");
  property.id = std::move(id);
  SHERD_TRY(type, members.text("type"));
  const PropertyKind* kind = property_kind(type);
  if (kind == nullptr) return member_error("type", "\"" + type + "\" is not a type of property");
  property.type = kind->type;
  SHERD_TRY(description, members.text("description", ""));
  property.description = std::move(description);
  if (members.find("enum_values") != nullptr) {
    SHERD_TRY(values, members.numbers("enum_values"));
    SHERD_TRY(labels, members.texts("enum_labels"));
    if (labels.size() != values.size())
      return member_error("enum_labels", "must have as many elements as enum_values: " + std::to_string(values.size()));
    property.enum_values = std::move(values);
    property.enum_labels = std::move(labels);
  } else if (members.find("enum_labels") != nullptr) {
    return member_error("enum_labels", "needs enum_values");
  }
  property.other = members.others();
  return property;
}

Result<Json> print_property(const AnnotationProperty& property) {
  Json json;
  json.set("id", property.id);
  json.set("type", property_kind(property.type).name);
  set_present(json, "description", property.description);
  if (!property.enum_values.empty() || !property.enum_labels.empty()) {
    json.set("enum_values", numbers_json(property.enum_values));
    json.set("enum_labels", texts_json(property.enum_labels));
  }
  return with_others(std::move(json), property.other);
}

// In the order in which they are stored.
std::vector<AnnotationProperty> by_size(std::vector<AnnotationProperty> properties) {
  std::ranges::stable_sort(properties, std::greater(), [](const AnnotationProperty& property) {
    return property_kind(property.type).dtype->word_size();
  });
  return properties;
}

// Reads the members key and sharding; the caller, who knows the other members, sets `other`.
Result<AnnotationIndex> parse_index(ObjectMembers& members) {
  AnnotationIndex index;
  SHERD_TRY(key, members.text("key"));
  index.key = std::move(key);
  SHERD_TRY(sharding, members.sharding());
  index.sharding = std::move(sharding);
  return index;
}

Result<Json> print_index(Json json, const AnnotationIndex& index) {
  json.set("key", index.key);
  set_present(json, "sharding", index.sharding);
  return with_others(std::move(json), index.other);
}

Result<AnnotationRelationship> parse_relationship(const Json& json) {
  SHERD_TRY(members, ObjectMembers::open(json));
  SHERD_TRY(id, members.text("id"));
  SHERD_TRY(index, parse_index(members));
  index.other = members.others();
  return AnnotationRelationship{std::move(id), std::move(index)};
}

Result<AnnotationSpatialLevel> parse_level(const Json& json, std::size_t rank) {
  SHERD_TRY(members, ObjectMembers::open(json));
  AnnotationSpatialLevel level;
  SHERD_TRY(index, parse_index(members));
  level.index = std::move(index);
  SHERD_TRY(members.each("grid_shape", false, [&level](const Json& element) -> Result<void> {
    const auto cells = whole_uint(element);
    if (!cells || *cells == 0) return invalid_argument("must be an integer of at least 1");
    level.grid_shape.push_back(*cells);
    return {};
  }));
  if (level.grid_shape.size() != rank) return member_error("grid_shape", "must have an element for each dimension");
  SHERD_TRY(size, members.numbers("chunk_size", rank));
  for (const double length : size)
    if (length <= 0) return member_error("chunk_size", "must be more than 0 in each dimension");
  level.chunk_size = std::move(size);
  SHERD_TRY(limit, members.integer("limit", 1, 0xFFFFFFFF));
  level.limit = limit;
  level.index.other = members.others();
  return level;
}

Result<Json> print_level(const AnnotationSpatialLevel& level) {
  Json json;
  json.set("grid_shape", Json::numbers(level.grid_shape));
  json.set("chunk_size", numbers_json(level.chunk_size));
  json.set("limit", level.limit);
  return print_index(std::move(json), level.index);
}

Result<Json> print_dimensions(const std::vector<AnnotationDimension>& dimensions) {
  Json::Object members;
  for (const AnnotationDimension& dimension : dimensions)
    members.emplace_back(dimension.name, Json(Json::Array{number_json(dimension.scale), dimension.unit}));
  Json json(std::move(members));
  std::set<std::string_view> names;
  for (const auto& [name, value] : json.members())
    if (!names.insert(name).second) return member_error("dimensions." + name, "is repeated");
  return json;
}

template <class T>
Result<Json> print_each(const std::vector<T>& values, Result<Json> (*print)(const T&)) {
  Json::Array elements;
  for (const T& value : values) {
    SHERD_TRY(json, print(value));
    elements.push_back(std::move(json));
  }
  return Json(std::move(elements));
}

template <class T>
Result<void> add(std::vector<T>& to, Result<T> value) {
  SHERD_TRY(parsed, std::move(value));
  to.push_back(std::move(parsed));
  return {};
}

Result<void> parse_indices(ObjectMembers& members, AnnotationInfo& info) {
  SHERD_TRY(members.each("relationships", true,
                         [&info](const Json& json) { return add(info.relationships, parse_relationship(json)); }));
  if (const Json* by_id = members.find("by_id"); by_id != nullptr) {
    SHERD_TRY(inner, ObjectMembers::open(*by_id).in_member("by_id"));
    SHERD_TRY(index, parse_index(inner).in_member("by_id"));
    info.by_id = std::move(index);
    info.by_id.other = inner.others();
  }
  return members.each("spatial", true, [&info](const Json& json) {
    return add(info.spatial, parse_level(json, info.dimensions.size()));
  });
}

// Objects of two indexes in one directory would overwrite each other.
Result<void> check_directories(const AnnotationInfo& info) {
  std::set<std::string> directories{"info"};
  const auto add = [&](const AnnotationIndex& index) -> Result<void> {
    if (directories.insert(plain_path(index.key)).second) return {};
    return member_error("key", "'" + index.key + "' is already in use; choose another key");
  };
  if (!info.by_id.key.empty()) SHERD_TRY(add(info.by_id).in_member("by_id"));
  for (std::size_t i = 0; i < info.relationships.size(); ++i)
    SHERD_TRY(add(info.relationships[i].index).in_member("relationships[" + std::to_string(i) + "]"));
  for (std::size_t i = 0; i < info.spatial.size(); ++i)
    SHERD_TRY(add(info.spatial[i].index).in_member("spatial[" + std::to_string(i) + "]"));
  return {};
}

Result<Json> print_relationship(const AnnotationRelationship& relationship) {
  Json json;
  json.set("id", relationship.id);
  return print_index(std::move(json), relationship.index);
}

}  // namespace

Result<AnnotationInfo> AnnotationInfo::parse(const Json& document) {
  SHERD_TRY(members, ObjectMembers::open(document, kAnnotationsType));
  AnnotationInfo info;
  SHERD_TRY(dimensions, parse_dimensions(members.find("dimensions")));
  info.dimensions = std::move(dimensions);
  SHERD_TRY(lower, members.numbers("lower_bound", info.dimensions.size()));
  info.lower_bound = std::move(lower);
  SHERD_TRY(upper, members.numbers("upper_bound", info.dimensions.size()));
  info.upper_bound = std::move(upper);
  SHERD_TRY(name, members.text("annotation_type"));
  SHERD_TRY(type, parse_type(name));
  info.type = type;
  std::set<std::string> ids;
  SHERD_TRY(members.each("properties", true, [&](const Json& json) -> Result<void> {
    SHERD_TRY(add(info.properties, parse_property(json)));
    const std::string& id = info.properties.back().id;
    return ids.insert(id).second ? Result<void>() : member_error("id", "'" + id + "' is repeated");
  }));
  info.properties = by_size(std::move(info.properties));
  SHERD_TRY(parse_indices(members, info));
  SHERD_TRY(check_directories(info));
  SHERD_TRY(properties, members.text("segment_properties", ""));
  info.segment_properties = std::move(properties);
  info.other = members.others();
  return info;
}

Result<Json> AnnotationInfo::print() const {
  Json document;
  document.set("@type", kAnnotationsType);
  SHERD_TRY(dimension_members, print_dimensions(dimensions));
  document.set("dimensions", std::move(dimension_members));
  document.set("lower_bound", numbers_json(lower_bound));
  document.set("upper_bound", numbers_json(upper_bound));
  document.set("annotation_type", kAnnotationTypes[static_cast<std::size_t>(type)]);
  SHERD_TRY(property_list, print_each(by_size(properties), print_property));
  document.set("properties", std::move(property_list));
  SHERD_TRY(relationship_list, print_each(relationships, print_relationship));
  document.set("relationships", std::move(relationship_list));
  if (!by_id.key.empty()) {
    SHERD_TRY(index, print_index(Json(), by_id).in_member("by_id"));
    document.set("by_id", std::move(index));
  }
  SHERD_TRY(levels, print_each(spatial, print_level));
  document.set("spatial", std::move(levels));
  set_present(document, "segment_properties", segment_properties);
  return checked_print<AnnotationInfo>(std::move(document), other);
}

std::vector<std::string> AnnotationInfo::warnings() const {
  using Type = AnnotationProperty::Type;
  std::vector<std::string> warnings;
  std::size_t at = 0;
  bool is_shifted = false;
  for (const AnnotationProperty& property : by_size(properties)) {
    const std::string name = "property '" + property.id + "' is of type ";
    if (property.type == Type::boolean)
      warnings.push_back(name +
                         "bool, with which cloud-volume, Neuroglancer's Python reader and viewers of "
                         "Neuroglancer up to 2.41.2 cannot open annotations; use uint8");
    if (property.type == Type::uint32 && at % kUint32Interval != 0 && !is_shifted) {
      is_shifted = true;
      warnings.push_back(name +
                         "uint32, for which Neuroglancer's Python reader up to 2.41.2 returns wrong numbers or an "
                         "error here; use int32 or float32");
    }
    ++at;
  }
  return warnings;
}

std::vector<std::size_t> readable_order(const std::vector<AnnotationProperty>& properties) {
  std::vector<std::size_t> uint32s, words, smaller, order;
  for (std::size_t i = 0; i < properties.size(); ++i) {
    const AnnotationProperty::Type type = properties[i].type;
    const bool is_word = property_kind(type).dtype->word_size() == sizeof(std::uint32_t);
    (type == AnnotationProperty::Type::uint32 ? uint32s : is_word ? words : smaller).push_back(i);
  }
  for (std::size_t u = 0, w = 0; u + w < uint32s.size() + words.size();) {
    const bool is_uint32 = u < uint32s.size() && ((u + w) % kUint32Interval == 0 || w == words.size());
    order.push_back(is_uint32 ? uint32s[u++] : words[w++]);
  }
  order.insert(order.end(), smaller.begin(), smaller.end());
  return order;
}

}  // namespace sherd::neuroglancer
