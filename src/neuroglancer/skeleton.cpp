// Skeletons: vertices joined by edges, with attributes of each vertex.
//
//   u32 vertices, u32 edges | f32 position[vertices][3] | u32 edge[edges][2] | each attribute:
//   value[vertices][components]
//
// The attributes are described only by the info document, not by the bytes.
// Source: Neuroglancer's docs/datasource/precomputed, "Skeleton format".
#include <set>

#include "neuroglancer/document.hpp"
#include "neuroglancer/words.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::string_view kSkeletonsType = "neuroglancer_skeletons";

Result<DType> attribute_type(const std::string& name) {
  auto type = DType::parse(name);
  using Kind = DType::Kind;
  const Kind kind = type ? type->kind() : Kind::string;
  if (kind == Kind::float16 || kind == Kind::float32 || kind == Kind::float64 ||
      (kind >= Kind::int8 && kind <= Kind::uint64))
    return type;
  return member_error("data_type", "\"" + name + "\" is not a type of vertex attributes: float32 or an integer is");
}

Result<VertexAttribute> parse_attribute(const Json& json) {
  SHERD_TRY(members, ObjectMembers::open(json));
  VertexAttribute attribute;
  SHERD_TRY(id, members.text("id"));
  if (id.empty()) return member_error("id", "must not be empty");
  SHERD_TRY(name, members.text("data_type"));
  SHERD_TRY(type, attribute_type(name));
  SHERD_TRY(components, members.integer("num_components", 1, 0xFFFF));
  attribute.id = std::move(id);
  attribute.data_type = type;
  attribute.num_components = static_cast<std::uint32_t>(components);
  attribute.other = members.others();
  return attribute;
}

Result<Json> print_attribute(const VertexAttribute& attribute) {
  Json json;
  json.set("id", attribute.id);
  json.set("data_type", attribute.data_type.name());
  json.set("num_components", static_cast<std::uint64_t>(attribute.num_components));
  return with_others(std::move(json), attribute.other);
}

std::string named(const VertexAttribute& attribute) { return "values of attribute '" + attribute.id + "'"; }

Result<Column> read_attribute(WordReader& reader, const VertexAttribute& attribute, std::uint32_t vertices) {
  Column column{attribute.data_type, attribute.num_components, {}};
  SHERD_TRY(bytes, reader.take(vertices, column.element_bytes(), named(attribute)));
  column.bytes.resize(bytes.size());
  copy_words(bytes, column.bytes, column.dtype.word_size());
  return column;
}

Result<void> check_column(const Column& column, const VertexAttribute& attribute, std::size_t vertices) {
  const auto wrong = [&attribute](const std::string& why) {
    return invalid_argument("attribute '" + attribute.id + "' " + why);
  };
  if (!(column.dtype == attribute.data_type) || column.components != attribute.num_components)
    return wrong("is " + std::to_string(column.components) + " x " + column.dtype.name() + ", and " +
                 std::to_string(attribute.num_components) + " x " + attribute.data_type.name() + " is described");
  if (column.bytes.size() != vertices * column.element_bytes())
    return wrong("has " + std::to_string(column.bytes.size()) + " bytes, and " + std::to_string(vertices) +
                 " vertices need " + std::to_string(vertices * column.element_bytes()));
  return {};
}

Result<Skeleton> parse_skeleton(Bytes bytes, std::span<const VertexAttribute> attributes) {
  WordReader reader(bytes);
  SHERD_TRY(vertices, reader.word<std::uint32_t>("the number of vertices"));
  SHERD_TRY(edges, reader.word<std::uint32_t>("the number of edges"));
  Skeleton skeleton;
  SHERD_TRY(positions, reader.words<float, Position>(vertices, "vertices"));
  skeleton.vertices = std::move(positions);
  SHERD_TRY(rows, reader.words<std::uint32_t, std::array<std::uint32_t, 2>>(edges, "edges"));
  skeleton.edges = std::move(rows);
  SHERD_TRY(check_indices<2>(skeleton.edges, vertices, "edge", ErrorCode::corrupt));
  for (const VertexAttribute& attribute : attributes) {
    SHERD_TRY(column, read_attribute(reader, attribute, vertices));
    skeleton.attributes.push_back(std::move(column));
  }
  SHERD_TRY(
      reader.done().in([&attributes] { return "after " + std::to_string(attributes.size()) + " vertex attributes"; }));
  return skeleton;
}

}  // namespace

Result<SkeletonInfo> SkeletonInfo::parse(const Json& document) {
  SHERD_TRY(members, ObjectMembers::open(document, kSkeletonsType));
  SkeletonInfo info;
  SHERD_TRY(transform, members.transform());
  info.transform = transform;
  std::set<std::string> ids;
  SHERD_TRY(members.each("vertex_attributes", true, [&](const Json& json) -> Result<void> {
    SHERD_TRY(attribute, parse_attribute(json));
    if (!ids.insert(attribute.id).second) return member_error("id", "'" + attribute.id + "' is repeated");
    info.vertex_attributes.push_back(std::move(attribute));
    return {};
  }));
  SHERD_TRY(members.rest(info));
  return info;
}

Result<Json> SkeletonInfo::print() const {
  Json document;
  document.set("@type", kSkeletonsType);
  document.set("transform", numbers_json(transform));
  Json::Array attributes;
  for (const VertexAttribute& attribute : vertex_attributes) {
    SHERD_TRY(json, print_attribute(attribute));
    attributes.push_back(std::move(json));
  }
  document.set("vertex_attributes", Json(std::move(attributes)));
  set_present(document, "sharding", sharding);
  set_present(document, "segment_properties", segment_properties);
  return checked_print<SkeletonInfo>(std::move(document), other);
}

Result<Skeleton> Skeleton::parse(Bytes bytes, std::span<const VertexAttribute> attributes) {
  return parse_skeleton(bytes, attributes).in([] { return "skeleton"; });
}

Result<std::string> Skeleton::print(std::span<const VertexAttribute> described) const {
  if (attributes.size() != described.size())
    return invalid_argument("the skeleton has " + std::to_string(attributes.size()) + " vertex attributes, but " +
                            std::to_string(described.size()) + " are described");
  SHERD_TRY(check_indices<2>(edges, vertices.size(), "edge", ErrorCode::invalid_argument));
  SHERD_TRY(vertex_count, count32(vertices.size(), "vertices"));
  SHERD_TRY(edge_count, count32(edges.size(), "edges"));
  WordWriter writer;
  writer.word(vertex_count);
  writer.word(edge_count);
  writer.words<float>(std::span(vertices));
  writer.words<std::uint32_t>(std::span(edges));
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    SHERD_TRY(check_column(attributes[i], described[i], vertices.size()));
    writer.bytes(attributes[i].bytes, attributes[i].dtype.word_size());
  }
  return std::move(writer).finish();
}

}  // namespace sherd::neuroglancer
