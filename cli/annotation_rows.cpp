// CSV: a header line of names, then one line per annotation. The coordinates are in the columns x, y, z (the
// dimensions) for points; x1, y1, z1, x2, y2, z2 for lines and boxes; x, y, z, rx, ry, rz for ellipsoids. JSON: one
// object per line, with the coordinates in its member `point`, in `points` (lines, boxes, polylines), or in `center`
// and `radii`. In both: `id`, and the names of properties and relationships.
#include "cli/annotation_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/text.hpp"
#include "base/try.hpp"
#include "neuroglancer/annotation_record.hpp"
#include "sherd/numbers.hpp"

namespace sherd::cli {
namespace {

using neuroglancer::AnnotationInfo;
using neuroglancer::AnnotationProperty;
using neuroglancer::AnnotationType;

std::vector<std::string> coordinates_of(const AnnotationInfo& info) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& before, const std::string& after) {
    for (const auto& dimension : info.dimensions) names.push_back(before + dimension.name + after);
  };
  switch (info.type) {
    case AnnotationType::point:
      add("", "");
      break;
    case AnnotationType::line:
    case AnnotationType::axis_aligned_bounding_box:
      add("", "1"), add("", "2");
      break;
    case AnnotationType::ellipsoid:
      add("", ""), add("r", "");
      break;
    case AnnotationType::polyline:
      break;
  }
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Splits a line into fields. Fields that contain commas or quotes are quoted, and quotes inside them are doubled.
Result<std::vector<std::string>> split_csv(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"' && (quoted || fields.back().empty())) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return invalid_argument("a quoted value must end on the line on which it begins");
  return fields;
}

Result<float> coordinate_of(double value) {
  const auto at = static_cast<float>(value);
  if (std::isfinite(at)) return at;
  return invalid_argument("a coordinate must be a finite number in the range of float32");
}

Result<double> real_of(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (const auto value = parse_number<double>(text)) return *value;
  return invalid_argument("'" + std::string(text.substr(0, 40)) + "' is not a number");
}

Result<std::uint64_t> id_of(const Json& value) {
  const auto id = value.is_string() ? Json::number(value.text()).as_uint() : value.as_uint();
  if (id) return *id;
  return invalid_argument("an id must be an integer from 0 to 2^64-1");
}

/// Parses "12 34" or an empty text.
Result<std::vector<std::uint64_t>> ids_of(std::string_view text) {
  std::vector<std::uint64_t> ids;
  while (!(text = trimmed(text)).empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t;"));
    const auto id = parse_number<std::uint64_t>(word);
    if (!id)
      return invalid_argument("'" + std::string(word.substr(0, 40)) +
                              "' is not an id from 0 to 2^64-1; several are separated by spaces");
    ids.push_back(*id);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return ids;
}

/// "#rrggbb" or "#rrggbbaa".
std::optional<std::vector<std::byte>> colour_of(std::string_view text, std::size_t components) {
  if (text.size() != 1 + 2 * components || text[0] != '#') return std::nullopt;
  std::vector<std::byte> bytes;
  for (std::size_t i = 1; i < text.size(); i += 2) {
    unsigned value = 0;
    const auto [stop, failed] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (failed != std::errc() || stop != text.data() + i + 2) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

/// The value of a property's label.
std::optional<double> label_of(const AnnotationProperty& property, std::string_view text) {
  const auto found = std::ranges::find(property.enum_labels, text);
  if (found == property.enum_labels.end()) return std::nullopt;
  return property.enum_values[static_cast<std::size_t>(found - property.enum_labels.begin())];
}

/// One component of a property. A fraction is never converted to an integer.
Result<std::vector<std::byte>> number_bytes(const DType& dtype, double value) {
  std::vector<std::byte> bytes(dtype.size());
  const bool is_float = dtype == DType::float32;
  if (!is_float && value != std::trunc(value)) return invalid_argument("must be an integer");
  const double in_float = static_cast<double>(static_cast<float>(value));
  SHERD_TRY(from_doubles(dtype, std::span(is_float ? &in_float : &value, 1), bytes));
  return bytes;
}

/// The value of a property: a number, a text (a colour, a label, a number), a boolean, or a list of components.
Result<std::vector<std::byte>> bytes_of(const AnnotationProperty& property, const Json& value) {
  const auto column = neuroglancer::empty_column(property);
  if (value.is_string()) {
    if (column.components > 1) {
      if (auto colour = colour_of(value.text(), column.components)) return *std::move(colour);
      return invalid_argument(column.components == 3 ? "must be a colour such as #ff8000"
                                                     : "must be a colour such as #ff8000ff");
    }
    if (const auto number = label_of(property, value.text())) return number_bytes(column.dtype, *number);
    if (property.type == AnnotationProperty::Type::boolean && (value.text() == "true" || value.text() == "false"))
      return number_bytes(column.dtype, value.text() == "true" ? 1 : 0);
    SHERD_TRY(number, real_of(value.text()));
    return bytes_of(property, Json(number));
  }
  if (column.components > 1) {
    std::vector<std::byte> bytes;
    if (value.elements().size() != column.components)
      return invalid_argument("must be " + std::to_string(column.components) + " numbers from 0 to 255");
    for (const Json& each : value.elements()) {
      SHERD_TRY(byte, number_bytes(column.dtype, each.as_double().value_or(-1)));
      bytes.insert(bytes.end(), byte.begin(), byte.end());
    }
    return bytes;
  }
  const auto number = value.is_bool() ? std::optional(*value.as_bool() ? 1.0 : 0.0) : value.as_double();
  if (!number) return invalid_argument("must be a number");
  if (property.type == AnnotationProperty::Type::boolean && *number != 0 && *number != 1)
    return invalid_argument("must be true or false");
  return number_bytes(column.dtype, *number);
}

}  // namespace

AnnotationRows::AnnotationRows(const AnnotationInfo& info, bool json)
    : info_(info), json_(json), coordinates_(coordinates_of(info)) {
  (void)take();
}

AnnotationRows::Batch AnnotationRows::take() {
  Batch taken = std::move(batch_);
  batch_ = {};
  for (const AnnotationProperty& property : info_.properties)
    batch_.rows.properties.push_back(neuroglancer::empty_column(property));
  batch_.related.resize(info_.relationships.size());
  return taken;
}

AnnotationRows::Field AnnotationRows::field_of(std::string_view name) const {
  using Use = Field::Use;
  const auto in = [&](const auto& list, const auto& id, Use use) -> Field {
    const auto found = std::ranges::find_if(list, [&](const auto& each) { return id(each) == name; });
    return found == list.end() ? Field{} : Field{use, static_cast<std::size_t>(found - list.begin())};
  };
  const auto own_id = [](const auto& each) -> const std::string& { return each.id; };
  if (const Field field = in(info_.properties, own_id, Use::property); field.use != Use::none) return field;
  if (const Field field = in(info_.relationships, own_id, Use::relationship); field.use != Use::none) return field;
  if (const Field field = in(
          coordinates_, [](const std::string& each) -> const std::string& { return each; }, Use::coordinate);
      field.use != Use::none)
    return field;
  return name == "id" ? Field{Use::id} : Field{};
}

void AnnotationRows::note_unused(const std::string& name) {
  if (std::ranges::find(unused_, name) == unused_.end()) unused_.push_back(name);
}

Result<void> AnnotationRows::read_header(const std::string& text) {
  if (info_.type == AnnotationType::polyline)
    return invalid_argument("CSV cannot describe polylines, which have any number of points; use JSON lines");
  SHERD_TRY(names, split_csv(text.starts_with("\xEF\xBB\xBF") ? std::string_view(text).substr(3) : text));
  std::vector<std::string> seen;
  for (const std::string& each : names) {
    const std::string name(trimmed(each));
    if (std::ranges::find(seen, name) != seen.end()) return invalid_argument("the column '" + name + "' is repeated");
    seen.push_back(name);
    columns_.push_back(field_of(name));
    if (columns_.back().use == Field::Use::none) note_unused(name);
  }
  const auto require = [&](const std::string& name) -> Result<void> {
    if (std::ranges::find(seen, name) != seen.end()) return {};
    return invalid_argument("there is no column '" + name + "'; the first line names the columns, and here they are " +
                            listed(seen));
  };
  for (const std::string& name : coordinates_) SHERD_TRY(require(name));
  for (const auto& property : info_.properties) SHERD_TRY(require(property.id));
  for (const auto& relationship : info_.relationships) SHERD_TRY(require(relationship.id));
  return {};
}

Result<void> AnnotationRows::set_field(const Field& field, const std::string& text) {
  switch (field.use) {
    case Field::Use::none:
      return {};
    case Field::Use::id: {
      SHERD_TRY(id, id_of(Json(std::string(trimmed(text)))));
      id_ = id;
      return {};
    }
    case Field::Use::coordinate: {
      SHERD_TRY(value, real_of(text));
      SHERD_TRY(at, coordinate_of(value));
      geometry_[field.number] = at;
      return {};
    }
    case Field::Use::property:
      return set_property(field.number, Json(std::string(trimmed(text))));
    case Field::Use::relationship:
      break;
  }
  SHERD_TRY(ids, ids_of(text));
  related_[field.number] = std::move(ids);
  return {};
}

Result<void> AnnotationRows::set_property(std::size_t number, const Json& value) {
  SHERD_TRY(bytes, bytes_of(info_.properties[number], value));
  properties_[number] = std::move(bytes);
  return {};
}

Result<void> AnnotationRows::add_csv(const std::string& text) {
  if (columns_.empty()) return read_header(text);
  SHERD_TRY(fields, split_csv(text));
  if (fields.size() != columns_.size())
    return invalid_argument("has " + std::to_string(fields.size()) + " values, but there are " +
                            std::to_string(columns_.size()) + " columns");
  geometry_.assign(coordinates_.size(), 0);
  for (std::size_t i = 0; i < fields.size(); ++i)
    SHERD_TRY(set_field(columns_[i], fields[i]).in([&] { return "value " + std::to_string(i + 1); }));
  return finish_row();
}

Result<void> AnnotationRows::add_points(const Json& value) {
  const std::size_t rank = info_.dimensions.size();
  if (value.elements().size() != rank) return invalid_argument("must have " + std::to_string(rank) + " coordinates");
  for (const Json& each : value.elements()) {
    SHERD_TRY(at, coordinate_of(each.as_double().value_or(NAN)));
    geometry_.push_back(at);
  }
  return {};
}

Result<void> AnnotationRows::set_member(const std::string& name, const Json& value) {
  const bool point = info_.type == AnnotationType::point, ellipsoid = info_.type == AnnotationType::ellipsoid;
  if ((point && name == "point") || (ellipsoid && (name == "center" || name == "radii"))) return {};  // in order
  if (!point && !ellipsoid && name == "points") {
    for (const Json& each : value.elements()) SHERD_TRY(add_points(each));
    return {};
  }
  const Field field = field_of(name);
  if (field.use == Field::Use::id) {
    SHERD_TRY(id, id_of(value));
    id_ = id;
  } else if (field.use == Field::Use::property) {
    return set_property(field.number, value);
  } else if (field.use == Field::Use::relationship) {
    const Json list = value.is_array() ? value : Json(Json::Array{value});
    for (const Json& each : list.elements()) {
      SHERD_TRY(id, id_of(each));
      related_[field.number].push_back(id);
    }
  } else {
    note_unused(name);
  }
  return {};
}

Result<void> AnnotationRows::add_json(const std::string& text) {
  SHERD_TRY(json, Json::parse(text));
  if (!json.is_object()) return invalid_argument("must be a JSON object");
  geometry_.clear();
  const bool ellipsoid = info_.type == AnnotationType::ellipsoid;
  for (const char* name : ellipsoid ? std::vector{"center", "radii"} : std::vector{"point"}) {
    const Json* value = json.find(name);
    if (info_.type != AnnotationType::point && !ellipsoid) break;
    if (value == nullptr) return invalid_argument("the member '" + std::string(name) + "' is missing");
    SHERD_TRY(add_points(*value).in_member(name));
  }
  for (const auto& [name, value] : json.members()) SHERD_TRY(set_member(name, value).in_member(name));
  const std::size_t vectors = neuroglancer::vector_count(info_.type), rank = info_.dimensions.size();
  if (vectors == 0 ? geometry_.empty() : geometry_.size() != vectors * rank)
    return invalid_argument(vectors == 0 ? "must have one point or more" : "must have 2 points").in_member("points");
  return finish_row();
}

Result<void> AnnotationRows::finish_row() {
  for (std::size_t i = 0; i < properties_.size(); ++i)
    if (properties_[i].empty()) return invalid_argument("the property '" + info_.properties[i].id + "' is missing");
  auto& rows = batch_.rows;
  rows.ids.push_back(id_.value_or(next_id_));
  ++next_id_;
  rows.geometry.insert(rows.geometry.end(), geometry_.begin(), geometry_.end());
  if (info_.type == AnnotationType::polyline)
    rows.points.push_back(static_cast<std::uint32_t>(geometry_.size() / info_.dimensions.size()));
  for (std::size_t i = 0; i < properties_.size(); ++i)
    rows.properties[i].bytes.insert(rows.properties[i].bytes.end(), properties_[i].begin(), properties_[i].end());
  for (std::size_t i = 0; i < related_.size(); ++i) {
    batch_.related[i].counts.push_back(static_cast<std::uint32_t>(related_[i].size()));
    batch_.related[i].ids.insert(batch_.related[i].ids.end(), related_[i].begin(), related_[i].end());
  }
  return {};
}

Result<void> AnnotationRows::add(const InputLine& line) {
  id_.reset();
  properties_.assign(info_.properties.size(), {});
  related_.assign(info_.relationships.size(), {});
  return (json_ ? add_json(line.text) : add_csv(line.text)).in([&] { return "line " + std::to_string(line.number); });
}

}  // namespace sherd::cli
