// Annotations as bytes. A record is the geometry, the properties and up to 3 zero bytes:
//
//   [polyline: u32 points] f32 vector[vectors][rank] | properties: those of 4-byte words, of 2-byte words, then bytes
//
// An object of the index by id is a record and, for each relationship, u32 n | u64 id[n]. An object of the other
// indexes is u64 count | record[count] | u64 id[count]. Source: Neuroglancer's docs/datasource/precomputed, "Annotation
// format".
#include <algorithm>
#include <array>
#include <cmath>

#include "neuroglancer/annotation_record.hpp"
#include "neuroglancer/words.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::size_t kAlignment = 4;

struct Record {
  std::size_t rank;
  std::size_t vectors;               ///< 0: polylines
  std::vector<std::size_t> order;    ///< of the properties as stored
  std::vector<std::size_t> offsets;  ///< of each property within the properties, in the info's order
  std::size_t property_bytes = 0;    ///< with padding
  [[nodiscard]] bool is_polyline() const { return vectors == 0; }
  /// Without a polyline's points.
  [[nodiscard]] std::size_t fixed_bytes() const {
    return (is_polyline() ? sizeof(std::uint32_t) : vectors * rank * sizeof(float)) + property_bytes;
  }
};

Record record_of(const AnnotationInfo& info) {
  Record record{info.dimensions.size(), vector_count(info.type), {}, std::vector<std::size_t>(info.properties.size())};
  for (const std::size_t word_size : {4U, 2U, 1U})
    for (std::size_t i = 0; i < info.properties.size(); ++i) {
      const Column column = empty_column(info.properties[i]);
      if (column.dtype.word_size() != word_size) continue;
      record.order.push_back(i);
      record.offsets[i] = record.property_bytes;
      record.property_bytes += column.element_bytes();
    }
  record.property_bytes = ceil_div(record.property_bytes, kAlignment) * kAlignment;
  return record;
}

std::vector<Column> columns_of(const AnnotationInfo& info, std::size_t count) {
  std::vector<Column> columns;
  for (const AnnotationProperty& property : info.properties) {
    columns.push_back(empty_column(property));
    columns.back().bytes.resize(count * columns.back().element_bytes());
  }
  return columns;
}

// The properties of element `at`, from a record's bytes.
void scatter(const Record& record, Bytes bytes, std::vector<Column>& columns, std::size_t at) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    const std::size_t size = column.element_bytes();
    copy_words(bytes.subspan(record.offsets[i], size), std::span(column.bytes).subspan(at * size, size),
               column.dtype.word_size());
  }
}

void gather(const Record& record, const std::vector<Column>& columns, std::size_t at, WordWriter& writer) {
  std::size_t written = 0;
  for (const std::size_t i : record.order) {
    const std::size_t size = columns[i].element_bytes();
    writer.bytes(std::span(columns[i].bytes).subspan(at * size, size), columns[i].dtype.word_size());
    written += size;
  }
  writer.zeros(record.property_bytes - written);
}

// One record; its vectors are appended to `geometry`. Returns how many there are.
Result<std::uint32_t> read_record(WordReader& reader, const Record& record, std::vector<float>& geometry,
                                  std::vector<Column>& columns, std::size_t at) {
  auto vectors = static_cast<std::uint32_t>(record.vectors);
  if (record.is_polyline()) {
    SHERD_TRY(points, reader.word<std::uint32_t>("the number of points"));
    vectors = points;
  }
  SHERD_TRY(bytes, reader.take(vectors, record.rank * sizeof(float), record.is_polyline() ? "points" : "vectors"));
  const std::size_t before = geometry.size();
  geometry.resize(before + bytes.size() / sizeof(float));
  copy_words(bytes, std::as_writable_bytes(std::span(geometry).subspan(before)), sizeof(float));
  SHERD_TRY(properties, reader.take(1, record.property_bytes, "set of properties"));
  scatter(record, properties, columns, at);
  return vectors;
}

void write_record(const Record& record, std::span<const float> vectors, const std::vector<Column>& columns,
                  std::size_t at, WordWriter& writer) {
  if (record.is_polyline()) writer.word(static_cast<std::uint32_t>(vectors.size() / record.rank));
  writer.words<float>(vectors);
  gather(record, columns, at, writer);
}

// Neuroglancer counts a polyline's segments as points - 1, and shows nothing of a list that contains an empty one.
Error no_points() { return invalid_argument("a polyline needs at least one point"); }

Result<void> check_info(const AnnotationInfo& info) {
  return info.dimensions.empty() ? invalid_argument("the annotations' info has no dimensions") : Result<void>();
}

Result<void> check_columns(const std::vector<Column>& columns, const AnnotationInfo& info, std::size_t count) {
  if (columns.size() != info.properties.size())
    return invalid_argument("there are " + std::to_string(columns.size()) + " properties, but the info has " +
                            std::to_string(info.properties.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column expected = empty_column(info.properties[i]);
    if (!(columns[i].dtype == expected.dtype) || columns[i].components != expected.components ||
        columns[i].bytes.size() != count * expected.element_bytes())
      return invalid_argument("property '" + info.properties[i].id + "' must be " +
                              std::to_string(expected.components) + " x " + expected.dtype.name() + " for each of " +
                              std::to_string(count) + " annotations");
  }
  return {};
}

Result<Annotation> parse_annotation(Bytes bytes, const AnnotationInfo& info) {
  SHERD_TRY(check_info(info));
  const Record record = record_of(info);
  WordReader reader(bytes);
  Annotation annotation;
  annotation.properties = columns_of(info, 1);
  SHERD_TRY(read_record(reader, record, annotation.geometry, annotation.properties, 0));
  for (const AnnotationRelationship& relationship : info.relationships) {
    const auto location = [&relationship] { return "relationship '" + relationship.id + "'"; };
    SHERD_TRY(count, reader.word<std::uint32_t>("the number of ids").in(location));
    SHERD_TRY(ids, reader.words<std::uint64_t>(count, "ids").in(location));
    annotation.related.push_back(std::move(ids));
  }
  SHERD_TRY(reader.done());
  return annotation;
}

Result<Annotations> parse_annotations(Bytes bytes, const AnnotationInfo& info) {
  SHERD_TRY(check_info(info));
  const Record record = record_of(info);
  WordReader reader(bytes);
  SHERD_TRY(count, reader.word<std::uint64_t>("the number of annotations"));
  const std::size_t least = record.fixed_bytes() + sizeof(std::uint64_t);
  if (count > reader.left() / least)
    return corrupt(std::to_string(count) + " annotations of at least " + std::to_string(least) + " bytes, but only " +
                   std::to_string(reader.left()) + " are left");
  Annotations annotations;
  annotations.properties = columns_of(info, count);
  annotations.geometry.reserve(count * record.vectors * record.rank);
  for (std::size_t i = 0; i < count; ++i) {
    SHERD_TRY(vectors, read_record(reader, record, annotations.geometry, annotations.properties, i).in([i] {
      return "annotation " + std::to_string(i);
    }));
    if (record.is_polyline()) annotations.points.push_back(vectors);
  }
  SHERD_TRY(ids, reader.words<std::uint64_t>(count, "ids"));
  annotations.ids = std::move(ids);
  SHERD_TRY(reader.done());
  return annotations;
}

// The number of floats of all annotations must match the total.
Result<void> check_geometry(const Annotations& annotations, const Record& record) {
  std::uint64_t vectors = annotations.ids.size() * record.vectors;
  if (record.is_polyline()) {
    if (annotations.points.size() != annotations.ids.size())
      return invalid_argument(std::to_string(annotations.ids.size()) +
                              " polylines need one number of points each, but there are " +
                              std::to_string(annotations.points.size()));
    for (const std::uint32_t points : annotations.points) {
      if (points == 0) return no_points();
      vectors += points;
    }
  } else if (!annotations.points.empty()) {
    return invalid_argument("numbers of points can only be set for polylines");
  }
  if (annotations.geometry.size() != vectors * record.rank)
    return invalid_argument(std::to_string(vectors) + " vectors of " + std::to_string(record.rank) +
                            " floats are expected, but there are " + std::to_string(annotations.geometry.size()) +
                            " floats");
  return {};
}

}  // namespace

Column empty_column(const AnnotationProperty& property) {
  const PropertyKind& kind = property_kind(property.type);
  return {*kind.dtype, kind.components, {}};
}

std::size_t vector_count(AnnotationType type) noexcept {
  if (type == AnnotationType::polyline) return 0;
  return type == AnnotationType::point ? 1 : 2;
}

const PropertyKind& property_kind(AnnotationProperty::Type type) noexcept {
  using Type = AnnotationProperty::Type;
  static constexpr std::array<PropertyKind, 10> kinds{{{Type::rgb, "rgb", &DType::uint8, 3},
                                                       {Type::rgba, "rgba", &DType::uint8, 4},
                                                       {Type::uint8, "uint8", &DType::uint8, 1},
                                                       {Type::int8, "int8", &DType::int8, 1},
                                                       {Type::uint16, "uint16", &DType::uint16, 1},
                                                       {Type::int16, "int16", &DType::int16, 1},
                                                       {Type::uint32, "uint32", &DType::uint32, 1},
                                                       {Type::int32, "int32", &DType::int32, 1},
                                                       {Type::float32, "float32", &DType::float32, 1},
                                                       {Type::boolean, "bool", &DType::uint8, 1}}};
  return kinds[static_cast<std::size_t>(type)];
}

const PropertyKind* property_kind(std::string_view name) noexcept {
  using Type = AnnotationProperty::Type;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Type::boolean); ++i)
    if (const PropertyKind& kind = property_kind(static_cast<Type>(i)); kind.name == name) return &kind;
  return nullptr;
}

Result<Annotation> Annotation::parse(Bytes bytes, const AnnotationInfo& info) {
  return parse_annotation(bytes, info).in([] { return "annotation"; });
}

Result<std::string> Annotation::print(const AnnotationInfo& info) const {
  SHERD_TRY(check_info(info));
  const Record record = record_of(info);
  const std::size_t vector_floats = record.rank * std::max<std::size_t>(record.vectors, 1);
  if (record.is_polyline() ? geometry.size() % vector_floats != 0 : geometry.size() != vector_floats)
    return invalid_argument("the geometry has " + std::to_string(geometry.size()) + " floats, and " +
                            (record.is_polyline() ? "a multiple of " : "") + std::to_string(vector_floats) +
                            " are expected");
  if (geometry.empty()) return no_points();
  SHERD_TRY(check_columns(properties, info, 1));
  SHERD_TRY(count32(geometry.size() / record.rank, "points"));
  if (related.size() != info.relationships.size())
    return invalid_argument("there are " + std::to_string(related.size()) + " lists of related ids, but the info has " +
                            std::to_string(info.relationships.size()) + " relationships");
  WordWriter writer;
  write_record(record, geometry, properties, 0, writer);
  for (const auto& ids : related) {
    SHERD_TRY(count, count32(ids.size(), "ids"));
    writer.word(count);
    writer.words<std::uint64_t>(std::span(ids));
  }
  return std::move(writer).finish();
}

Result<void> check_annotations(const Annotations& annotations, const AnnotationInfo& info) {
  SHERD_TRY(check_info(info));
  SHERD_TRY(check_geometry(annotations, record_of(info)));
  SHERD_TRY(check_columns(annotations.properties, info, annotations.ids.size()));
  if (std::ranges::all_of(annotations.geometry, [](float at) { return std::isfinite(at); })) return {};
  return invalid_argument("a coordinate is not a finite number").in_member("geometry");
}

Result<Annotations> Annotations::parse(Bytes bytes, const AnnotationInfo& info) {
  return parse_annotations(bytes, info).in([] { return "annotations"; });
}

Result<std::string> Annotations::print(const AnnotationInfo& info) const {
  SHERD_TRY(check_info(info));
  const Record record = record_of(info);
  SHERD_TRY(check_geometry(*this, record));
  SHERD_TRY(check_columns(properties, info, ids.size()));
  WordWriter writer;
  writer.word(static_cast<std::uint64_t>(ids.size()));
  std::span<const float> rest = geometry;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t floats = record.rank * (record.is_polyline() ? points[i] : record.vectors);
    write_record(record, rest.first(floats), properties, i, writer);
    rest = rest.subspan(floats);
  }
  writer.words<std::uint64_t>(std::span(ids));
  return std::move(writer).finish();
}

std::string AnnotationSpatialLevel::cell_key(std::span<const std::uint64_t> cell) {
  std::string key;
  for (const std::uint64_t at : cell) key += (key.empty() ? "" : "_") + std::to_string(at);
  return key;
}

}  // namespace sherd::neuroglancer
